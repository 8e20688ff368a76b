import CLinux
import Glibc

/// The small files by which the kernel is asked and told: `/sys/power/state`, a clock's `wakealarm`.
///
/// Below a root that tests replace by a folder of plain files, and with a writer that they replace by one
/// that refuses as the kernel does.
struct KernelFiles {
  /// The longest text that is read of one.
  private static let capacity = 4_096
  /// How long a read may be held up; see ``readBounded(_:)``.
  private static let patience_us: Int64 = 50_000

  /// In front of each path; empty for the system's own.
  let root: String
  private let writer: (_ path: String, _ text: String) -> Int32

  /// - Parameters:
  ///   - root: In front of each path.
  ///   - writer: Writes; gives 0 or an error number. The path is a whole one.
  init(
    root: String = "", writer: @escaping (_ path: String, _ text: String) -> Int32 = KernelFiles.put
  ) {
    self.root = root
    self.writer = writer
  }

  /// What a file says, without the line's end; nil where there is none, or it cannot be read.
  func read(_ path: String) -> String? {
    unsafe text(SystemFiles.bytes(of: root + path, capacity: KernelFiles.capacity))
  }

  /// The same of a file that may keep its reader waiting for as long as it likes; nil if it does that
  /// for more than 50 ms.
  func readBounded(_ path: String) -> String? {
    unsafe text(
      SystemFiles.bytes(of: root + path, capacity: KernelFiles.capacity, flags: 0) {
        unsafe clinux_read_within($0, $1.baseAddress, $1.count, KernelFiles.patience_us)
      })
  }

  private func text(_ bytes: ArraySlice<UInt8>?) -> String? {
    guard let bytes else { return nil }
    return String(decoding: bytes.last == 0x0A ? bytes.dropLast() : bytes, as: UTF8.self)
  }

  /// Writes a text; gives 0 or an error number.
  func write(_ text: String, to path: String) -> Int32 { writer(root + path, text) }

  /// Whether this process may write a file that is there.
  func isWritable(_ path: String) -> Bool { unsafe access(root + path, W_OK) == 0 }

  /// Whether there is such a file.
  func exists(_ path: String) -> Bool { unsafe access(root + path, F_OK) == 0 }

  /// The names in a folder, in order.
  func names(in path: String) -> [String] { SystemFiles.names(in: root + path) }

  /// Writes with one call, as such files want it; never makes one.
  static func put(_ path: String, _ text: String) -> Int32 {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var text = text
    let count = text.withUTF8 { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count < 0 { return errno }
    return 0
  }
}

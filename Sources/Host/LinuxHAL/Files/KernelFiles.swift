import CLinux
import Glibc

/// Reads and writes control files of the kernel, such as `/sys/power/state` and a clock's `wakealarm`.
///
/// All paths are below a root. Tests use a folder of plain files as the root, and a writer that fails as the kernel
/// does.
struct KernelFiles {
  /// Maximum number of bytes read from a file.
  private static let capacity = 4_096
  /// Timeout of ``readBounded(_:)``, µs.
  private static let readTimeout_us: Int64 = 50_000

  /// Prefix of each path; empty for the system's own files.
  let root: String
  private let writer: (_ path: String, _ text: String) -> Int32

  /// - Parameters:
  ///   - root: Prefix of each path.
  ///   - writer: Writes a text to a path that includes the root; returns 0 or an error number.
  init(
    root: String = "",
    writer: @escaping (_ path: String, _ text: String) -> Int32 = KernelFiles.writeFile
  ) {
    self.root = root
    self.writer = writer
  }

  /// Content of a file without its final newline; nil if it is missing or unreadable.
  func read(_ path: String) -> String? {
    unsafe text(SystemFiles.bytes(of: root + path, capacity: KernelFiles.capacity))
  }

  /// The same for a file whose read may block; nil if it blocks for more than 50 ms.
  func readBounded(_ path: String) -> String? {
    unsafe text(
      SystemFiles.bytes(of: root + path, capacity: KernelFiles.capacity, flags: 0) {
        unsafe clinux_read_within($0, $1.baseAddress, $1.count, KernelFiles.readTimeout_us)
      })
  }

  private func text(_ bytes: ArraySlice<UInt8>?) -> String? {
    guard let bytes else { return nil }
    return String(decoding: bytes.last == 0x0A ? bytes.dropLast() : bytes, as: UTF8.self)
  }

  /// Writes a text; returns 0 or an error number.
  func write(_ text: String, to path: String) -> Int32 { writer(root + path, text) }

  /// Whether the file exists and this process may write it.
  func isWritable(_ path: String) -> Bool { unsafe access(root + path, W_OK) == 0 }

  /// Whether the file exists.
  func exists(_ path: String) -> Bool { unsafe access(root + path, F_OK) == 0 }

  /// Names in a folder, sorted.
  func names(in path: String) -> [String] { SystemFiles.names(in: root + path) }

  /// Writes with one call, as such files require; never creates a file.
  static func writeFile(_ path: String, _ text: String) -> Int32 {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var text = text
    let count = text.withUTF8 { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count < 0 { return errno }
    return 0
  }
}

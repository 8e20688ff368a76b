import Glibc
import LinuxHAL

/// The files by which Linux tells of a board: devices, `/proc`, `/sys`, `/etc`.
///
/// Below a root, which tests replace by a folder of their own.
public struct BoardFiles: Sendable {
  /// The longest text that is read of one file.
  private static let capacity = 16_384
  /// The most links that are followed from one name to the next.
  private static let linksLimit = 8

  /// In front of each path; empty for the system's own.
  public let root: String

  /// Creates the files below `root`.
  public init(root: String = "") { self.root = root }

  /// Where a file is.
  func place(_ path: String) -> String { root + path }

  /// What a small file says, without the line's end or a zero byte behind it; nil where it cannot be read.
  func text(_ path: String) -> String? {
    let descriptor = unsafe open(place(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: BoardFiles.capacity)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { return nil }
    var text = bytes.prefix(count)
    while let last = text.last, last == 0x0A || last == 0 { text = text.dropLast() }
    return KernelText.printable(text)
  }

  /// The words of a small file.
  func words(_ path: String) -> [String] {
    (text(path) ?? "").split { $0 == " " || $0 == "\n" || $0 == "\t" }.map(String.init)
  }

  /// The names in a folder, in order; none where there is no such folder.
  func names(_ path: String) -> [String] {
    guard let folder = unsafe opendir(place(path)) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Whether something of that name is there; a link that leads nowhere is not.
  func exists(_ path: String) -> Bool { unsafe access(place(path), F_OK) == 0 }

  /// Whether a name is there, even if it is a link that leads nowhere: a unit that is enabled.
  func isNamed(_ path: String) -> Bool { exists(path) || BoardFiles.link(place(path)) != nil }

  /// Whether this process may write it.
  func isWritable(_ path: String) -> Bool { unsafe access(place(path), W_OK) == 0 }

  /// What a path is in the end, links followed: a whole path of the system's; nil where nothing is there.
  func real(_ path: String) -> String? {
    guard let real = unsafe realpath(place(path), nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// All names by which a device goes, from the one given on: `serial0`, `ttyAMA0`.
  func deviceNames(_ path: String) -> [String] {
    var names: [String] = []
    var place = self.place(path)
    while names.count < BoardFiles.linksLimit {
      let cut = place.lastIndex(of: "/").map { place.index(after: $0) } ?? place.startIndex
      names.append(String(place[cut...]))
      guard let target = BoardFiles.link(place) else { break }
      place = target.hasPrefix("/") ? target : place[..<cut] + target
    }
    return names
  }

  /// Where a symbolic link leads, as a whole path of the system's.
  static func link(_ place: String) -> String? {
    var target = [UInt8](repeating: 0, count: 4_096)
    let length = unsafe target.withUnsafeMutableBytes { bytes in
      guard let start = unsafe bytes.bindMemory(to: CChar.self).baseAddress else { return -1 }
      return unsafe readlink(place, start, bytes.count)
    }
    return length < 0 ? nil : String(decoding: target.prefix(length), as: UTF8.self)
  }
}

import Glibc
import LinuxHAL

/// The files by which Linux tells of a board: devices, `/proc`, `/sys`, `/etc`.
///
/// Below a root, which tests replace by a folder of their own.
public struct BoardFiles: Sendable {
  /// The most links that are followed from one name to the next.
  private static let linksLimit = 8

  /// In front of each path; empty for the system's own.
  public let root: String

  /// Creates the files below `root`.
  public init(root: String = "") { self.root = root }

  /// Where a file is.
  func place(_ path: String) -> String { root + path }

  /// What a small file says, without the line's end or a zero byte behind it; nil where it cannot be read.
  func text(_ path: String) -> String? { SystemFiles.text(of: place(path)) }

  /// The words of a small file.
  func words(_ path: String) -> [String] {
    (text(path) ?? "").split { $0 == " " || $0 == "\n" || $0 == "\t" }.map(String.init)
  }

  /// The names in a folder, in order; none where there is no such folder.
  func names(_ path: String) -> [String] { SystemFiles.names(in: place(path)) }

  /// Whether something of that name is there; a link that leads nowhere is not.
  func exists(_ path: String) -> Bool { unsafe access(place(path), F_OK) == 0 }

  /// Whether a name is there, even if it is a link that leads nowhere: a unit that is enabled.
  func isNamed(_ path: String) -> Bool { exists(path) || SystemFiles.link(place(path)) != nil }

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
      guard let target = SystemFiles.link(place) else { break }
      place = target.hasPrefix("/") ? target : place[..<cut] + target
    }
    return names
  }
}

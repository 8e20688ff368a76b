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

  /// Whether a path is a device that bytes come from.
  func isDevice(_ path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT } == S_IFCHR }

  /// Whether a path is a folder.
  func isFolder(_ path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT } == S_IFDIR }

  /// Whether a path is a file itself, and no link to one.
  func isPlainFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(place(path), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe stat(place(path), &status) == 0 ? status : nil
  }

  /// What a path is that is no serial line, in words; nil where it is one, or that cannot be seen.
  func notALine(_ path: String) -> String? {
    guard let status = status(path) else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFCHR: break
    case S_IFDIR: return "a folder"
    case S_IFREG: return "a file"
    case _: return "a pipe, a socket or a disk"
    }
    // /dev/tty, /dev/console, /dev/ptmx; and the terminal at which the command was typed.
    if status.st_rdev >> 8 == 5 || BoardFiles.isOurTerminal(status) {
      return "a terminal that people sit at"
    }
    // A port of the kernel's need not be opened to see that it is one.
    if deviceNames(path).contains(where: { exists("/sys/class/tty/\($0)") }) { return nil }
    let descriptor = unsafe open(place(path), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return isatty(descriptor) == 1 ? nil : "another kind of device"
  }

  private static func isOurTerminal(_ device: stat) -> Bool {
    for descriptor in Int32(0)...2 where isatty(descriptor) == 1 {
      var ours = stat()
      guard unsafe fstat(descriptor, &ours) == 0 else { continue }
      if ours.st_rdev == device.st_rdev { return true }
    }
    return false
  }

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

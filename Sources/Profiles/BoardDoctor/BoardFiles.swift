import Glibc
import LinuxHAL

/// Read access to the files that describe a board on Linux: devices, `/proc`, `/sys`, `/etc`.
///
/// All paths are relative to a root, which tests replace by a temporary folder.
public struct BoardFiles: Sendable {
  /// Maximum number of symbolic links that are followed.
  private static let maxLinks = 8

  /// Prefix of each path; empty for the running system.
  public let root: String

  /// Creates the files below `root`.
  public init(root: String = "") { self.root = root }

  /// Path of a file including the root.
  func fullPath(_ path: String) -> String { root + path }

  /// Text of a small file without a trailing newline or NUL; nil if it cannot be read.
  func text(_ path: String) -> String? { SystemFiles.text(of: fullPath(path)) }

  /// Whitespace-separated words of a small file; empty if it cannot be read.
  func words(_ path: String) -> [String] {
    (text(path) ?? "").split { $0 == " " || $0 == "\n" || $0 == "\t" }.map(String.init)
  }

  /// Sorted names in a folder; empty if the folder does not exist.
  func names(_ path: String) -> [String] { SystemFiles.names(in: fullPath(path)) }

  /// Whether the file exists; false for a dangling symbolic link.
  func exists(_ path: String) -> Bool { unsafe access(fullPath(path), F_OK) == 0 }

  /// Whether the directory entry exists, even as a dangling symbolic link. systemd enables units by symbolic links.
  func entryExists(_ path: String) -> Bool {
    exists(path) || SystemFiles.linkTarget(fullPath(path)) != nil
  }

  /// Whether the path is a character device.
  func isDevice(_ path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT } == S_IFCHR }

  /// Whether the path is a folder.
  func isFolder(_ path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT } == S_IFDIR }

  /// Whether the path is a regular file and not a symbolic link.
  func isRegularFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(fullPath(path), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe stat(fullPath(path), &status) == 0 ? status : nil
  }

  /// Kind of the file if it is not a serial line, in words; nil if it is one or the kind is unknown.
  func kindIfNotSerialLine(_ path: String) -> String? {
    guard let status = status(path) else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFCHR: break
    case S_IFDIR: return "a folder"
    case S_IFREG: return "a file"
    case _: return "a pipe, a socket or a disk"
    }
    // /dev/tty, /dev/console, /dev/ptmx, and the terminal of this command.
    if status.st_rdev >> 8 == 5 || BoardFiles.isOwnTerminal(status) {
      return "an interactive terminal"
    }
    // A device with an entry in sysfs is a serial port and need not be opened.
    if deviceNames(path).contains(where: { exists("/sys/class/tty/\($0)") }) { return nil }
    let descriptor = unsafe open(fullPath(path), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return isatty(descriptor) == 1 ? nil : "another kind of device"
  }

  private static func isOwnTerminal(_ device: stat) -> Bool {
    (Int32(0)...2).contains { descriptor in
      var ownStatus = stat()
      return unsafe isatty(descriptor) == 1 && fstat(descriptor, &ownStatus) == 0
        && ownStatus.st_rdev == device.st_rdev
    }
  }

  /// Whether this process may write to the path.
  func isWritable(_ path: String) -> Bool { unsafe access(fullPath(path), W_OK) == 0 }

  /// Absolute path with all symbolic links resolved; nil if it cannot be resolved.
  func realPath(_ path: String) -> String? { SystemFiles.realPath(fullPath(path)) }

  /// Names of a device along its chain of symbolic links, first the given one: `serial0`, `ttyAMA0`.
  func deviceNames(_ path: String) -> [String] {
    var names: [String] = []
    var current = self.fullPath(path)
    while names.count < BoardFiles.maxLinks {
      let start = current.lastIndex(of: "/").map { current.index(after: $0) } ?? current.startIndex
      names.append(String(current[start...]))
      guard let target = SystemFiles.linkTarget(current) else { break }
      current = target.hasPrefix("/") ? target : current[..<start] + target
    }
    return names
  }
}

import CLinux
import Glibc
import LinuxHAL
import LocationTypes
import TextFormats

/// Wrappers for the POSIX calls that several commands use.
enum POSIX {
  /// The system's message for an error number (strerror(3)).
  static func reason(_ code: Int32) -> String { SystemError.reason(code) }

  /// Prints `text` and a line feed to standard error; write errors are ignored.
  static func printError(_ text: String) { printLine(text, to: STDERR_FILENO) }

  /// Whether `descriptor` is a terminal.
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The value of an environment variable; nil if it is not set.
  static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// Path of this program's file; nil if the system does not provide it.
  static var programPath: String? { SystemFiles.realPath("/proc/self/exe") }

  /// The folder of `path`.
  static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
  }

  /// Seconds of the monotonic clock (CLOCK_MONOTONIC).
  static var uptime: Double { Double(clinux_monotonic_us()) / 1e6 }

  /// Time since boot, including suspend (CLOCK_BOOTTIME).
  static var bootClock: Instant { Instant(microseconds: clinux_boot_us()) }

  /// UTC of the system clock (CLOCK_REALTIME).
  static var utc: UTCTime { UTCTime(microseconds: clinux_wall_us()) }

  /// Type of a file.
  enum FileKind: Equatable { case missing, regular, directory, device, fifo, other }

  /// Type of the file at `path`, following symbolic links.
  static func kind(of path: String) -> FileKind {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return .missing }
    return kind(of: status)
  }

  /// Type of an open file.
  static func kind(ofDescriptor descriptor: Int32) -> FileKind {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return .missing }
    return kind(of: status)
  }

  /// Whether the file at `path` is the one that is open as `descriptor`.
  static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
    var opened = stat()
    var named = stat()
    guard unsafe fstat(descriptor, &opened) == 0, unsafe stat(path, &named) == 0 else {
      return false
    }
    return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }

  private static func kind(of status: stat) -> FileKind {
    switch status.st_mode & S_IFMT {
    case S_IFREG: .regular
    case S_IFDIR: .directory
    case S_IFCHR: .device
    case S_IFIFO: .fifo
    default: .other
    }
  }

  /// Length of an open regular file, bytes; nil for other files.
  static func length(ofDescriptor descriptor: Int32) -> Int? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, kind(of: status) == .regular else { return nil }
    return Int(status.st_size)
  }
}

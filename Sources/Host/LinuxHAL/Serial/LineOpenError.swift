import Glibc

/// Why the receiver's line could not be opened, and what to do about it.
public enum LineOpenError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Nothing is there, or nothing is behind it.
  case missing(path: String)
  /// This user may not open it; the group that may, where there is one.
  case notPermitted(path: String, group: String?)
  /// What contains the process forbids it, whoever its user is.
  case forbidden(path: String)
  /// Another process has it.
  case busy(path: String)
  /// It is no serial line.
  case notATerminal(path: String)
  /// The port cannot do that speed.
  case speedRefused(path: String, baud: UInt32)
  /// The kernel refused for another reason.
  case refused(path: String, code: Int32)

  /// The error of an error number that opening or setting the line gave.
  public init(_ code: Int32, path: String, baud: UInt32) {
    self =
      switch code {
      case ENOENT, ENXIO, ENODEV, ENOTDIR, EIO: .missing(path: path)
      case EACCES: .notPermitted(path: path, group: LineOpenError.group(of: path))
      case EPERM: .forbidden(path: path)
      case EBUSY: .busy(path: path)
      case ENOTTY, EISDIR: .notATerminal(path: path)
      case EINVAL: .speedRefused(path: path, baud: baud)
      default: .refused(path: path, code: code)
      }
  }

  /// What is wrong and what helps, in one line.
  public var description: String {
    switch self {
    case .missing(let path):
      "'\(path)' is not there: connect the receiver, or name the line it is on"
    case .notPermitted(let path, let group?):
      "'\(path)' may not be opened by this user: add the user to the group \(group) "
        + "(usermod -aG \(group) USER), then log in or start the service anew"
    case .notPermitted(let path, nil):
      "'\(path)' may not be opened by this user, nor by its group: look at its owner and mode with "
        + "'ls -l \(path)', and at the folders above it"
    case .forbidden(let path):
      "'\(path)' is closed to this process, whoever its user is: in a unit of systemd name it in "
        + "DeviceAllow=, in a container pass it on"
    case .busy(let path):
      "'\(path)' is in use: end the program that has it open ('fuser \(path)' names it); "
        + "a login on the line is ended with 'systemctl disable --now serial-getty@…'"
    case .notATerminal(let path):
      "'\(path)' is no serial line: name the device that the receiver is on"
    case .speedRefused(let path, let baud):
      "'\(path)' cannot do \(baud) baud: choose another speed for the receiver"
    case .refused(let path, let code):
      "'\(path)' cannot be opened: \(SystemError.reason(code))"
    }
  }

  /// The group that may read and write what is at `path`; nil where none may, or it cannot be told.
  private static func group(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & 0o060 == 0o060 else { return nil }
    guard let entry = unsafe getgrgid(status.st_gid), let name = unsafe entry.pointee.gr_name
    else { return "\(status.st_gid)" }
    return unsafe String(cString: name)
  }
}

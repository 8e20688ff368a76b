import Glibc

/// Why the receiver's line could not be opened, and what to do about it.
public enum LineOpenError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Nothing is there, or nothing is behind it.
  case missing(path: String)
  /// This user may not open it.
  case notPermitted(path: String)
  /// Another process has it.
  case busy(path: String)
  /// It is no serial line.
  case notATerminal(path: String)
  /// The port cannot do that speed.
  case speedRefused(path: String, baud: UInt32)
  /// The kernel refused for another reason.
  case refused(path: String, code: Int32)

  init(_ code: Int32, path: String, baud: UInt32) {
    self =
      switch code {
      case ENOENT, ENXIO, ENODEV, ENOTDIR, EIO: .missing(path: path)
      case EACCES, EPERM: .notPermitted(path: path)
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
    case .notPermitted(let path):
      "'\(path)' may not be opened by this user: add the user to the group dialout "
        + "(usermod -aG dialout USER), then log in or start the service anew"
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
}

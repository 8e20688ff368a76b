import Glibc

/// Why the receiver's serial line cannot be opened. The description says how to fix it.
public enum LineOpenError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The device does not exist, or no hardware is attached to it.
  case missing(path: String)
  /// This user may not open the device. `group` is the group with access, if any.
  case notPermitted(path: String, group: String?)
  /// A sandbox or container denies access, independent of the user.
  case forbidden(path: String)
  /// Another process holds the line.
  case busy(path: String)
  /// The path is not a serial line.
  case notATerminal(path: String)
  /// The port does not support that speed.
  case speedRefused(path: String, baud: UInt32)
  /// The kernel refused for another reason.
  case refused(path: String, code: Int32)

  /// Creates the error for an error number from opening or configuring the line.
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

  /// What is wrong and how to fix it, in one line.
  public var description: String {
    switch self {
    case .missing(let path):
      "'\(path)' does not exist or has no device behind it: connect the receiver, or name the line that it is on"
    case .notPermitted(let path, let group?):
      "this user may not open '\(path)': add the user to the group \(group) "
        + "(usermod -aG \(group) USER), then log in again or restart the service"
    case .notPermitted(let path, nil):
      "neither this user nor the group of '\(path)' may open it: check its owner and mode with "
        + "'ls -l \(path)', and those of the folders above it"
    case .forbidden(let path):
      "this process may not open '\(path)', whatever its user: in a systemd unit add the device to "
        + "DeviceAllow=, in a container pass the device through"
    case .busy(let path):
      "'\(path)' is in use: end the program that has it open ('fuser \(path)' shows it); "
        + "stop a login on the line with 'systemctl disable --now serial-getty@…'"
    case .notATerminal(let path):
      "'\(path)' is not a serial line: name the device that the receiver is on"
    case .speedRefused(let path, let baud):
      "'\(path)' does not support \(baud) baud: choose another speed for the receiver"
    case .refused(let path, let code):
      "'\(path)' cannot be opened: \(SystemError.reason(code))"
    }
  }

  /// Group with read and write access to the file at `path`; nil if no group has access or it cannot be read.
  private static func group(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & 0o060 == 0o060 else { return nil }
    guard let entry = unsafe getgrgid(status.st_gid), let name = unsafe entry.pointee.gr_name
    else { return "\(status.st_gid)" }
    return unsafe String(cString: name)
  }
}

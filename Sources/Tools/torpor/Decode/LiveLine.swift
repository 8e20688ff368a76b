import BoardDoctor
import CLinux
import Glibc

/// Configures the serial line that `torpor decode` reads: raw mode and speed (`clinux_line_configure`).
///
/// The settings persist after the command ends, as with stty(1).
enum LiveLine {
  /// Sets raw mode and, if given, the speed in baud, and prevents further programs from opening the line (TIOCEXCL).
  ///
  /// A descriptor that is no terminal, or is a session's controlling terminal, is left unchanged.
  ///
  /// - Throws: ``CommandError`` with code 64 if `baud` is given for such a descriptor, 74 if the device refuses.
  static func prepare(_ descriptor: Int32, _ path: String, baud: Int?) throws(CommandError) {
    guard isatty(descriptor) == 1, tcgetpgrp(descriptor) < 0 else {
      if baud == nil { return }
      throw notSerialLine(path)
    }
    switch -clinux_line_configure(descriptor, UInt32(baud ?? 0)) {
    case 0: break
    case EINVAL:
      throw CommandError(.io, "'\(path)' does not support \(baud ?? 0) baud; try another --baud")
    case let code:
      throw CommandError(.io, "the line '\(path)' cannot be configured: \(POSIX.reason(code))")
    }
    for holder in LineHolders(of: path).processes {
      POSIX.printError(
        "torpor: \(holder.text) has '\(path)' open, too; each program receives only some of the bytes"
      )
    }
    // Later open(2) calls fail with EBUSY until the last descriptor is closed.
    _ = ioctl(descriptor, UInt(TIOCEXCL))
  }

  /// The error for `--baud` with an input that is no serial line.
  static func notSerialLine(_ name: String) -> CommandError {
    CommandError(
      .usage, "--baud sets the speed of a serial line, and '\(name)' is none; omit the option")
  }
}

import BoardDoctor
import Glibc
import LinuxHAL

/// A terminal line as a receiver's: bytes as they are, at a speed.
///
/// What is set stays set when the command ends, as with stty(1): the next program sets its own.
enum SerialLine {
  /// Makes the line raw, sets its speed if one is given, and takes it for this process alone.
  ///
  /// The terminal from which the command was started is left as it is.
  ///
  /// - Throws: ``CommandError`` with code 64 where `baud` makes no sense, 74 where the device refuses.
  static func prepare(_ descriptor: Int32, _ path: String, baud: Int?) throws(CommandError) {
    guard isatty(descriptor) == 1, tcgetpgrp(descriptor) < 0 else {
      if baud == nil { return }
      throw isNone(path)
    }
    var line = termios()
    guard unsafe tcgetattr(descriptor, &line) == 0 else { throw refused(path, errno) }
    let before = unsafe cfgetispeed(&line)
    unsafe cfmakeraw(&line)
    line.c_cflag |= tcflag_t(CLOCAL | CREAD)
    let code = baud.flatMap(NamedSpeed.code)
    if let code {
      unsafe cfsetispeed(&line, code)
      unsafe cfsetospeed(&line, code)
    }
    guard unsafe tcsetattr(descriptor, TCSANOW, &line) == 0 else { throw refused(path, errno) }
    // It says yes when it did a part of what it was asked: see tcsetattr(3).
    guard unsafe tcgetattr(descriptor, &line) == 0 else { throw refused(path, errno) }
    if let code {
      guard unsafe cfgetispeed(&line) == code else {
        throw CommandError(.io, "'\(path)' cannot do \(baud ?? 0) baud; try another --baud")
      }
      // What came at another speed is no text.
      if before != code { tcflush(descriptor, TCIFLUSH) }
    }
    for holder in LineHolders(of: path).processes {
      POSIX.tell("torpor: \(holder.text) has '\(path)' open too: each gets a part of the bytes")
    }
    // Whoever comes later is refused; it ends with the last one who has it open.
    _ = ioctl(descriptor, UInt(TIOCEXCL))
  }

  /// What to say where a speed is given for what has none.
  static func isNone(_ name: String) -> CommandError {
    CommandError(
      .usage, "--baud sets the speed of a serial line, and '\(name)' is none; leave it away")
  }

  private static func refused(_ path: String, _ code: Int32) -> CommandError {
    CommandError(.io, "the line '\(path)' cannot be set: \(POSIX.reason(code))")
  }
}

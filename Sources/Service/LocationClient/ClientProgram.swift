import CLinux
import Glibc

/// The frame of a program that uses the service: its output comes line by line, and an error ends it with a message.
public enum ClientProgram {
  /// The exit status of a program that an error has ended: `EX_UNAVAILABLE`.
  public static let failureStatus: Int32 = 69

  /// Runs a program and ends the process: with 0 when `body` returns, with ``failureStatus`` and the description of the
  /// error on standard error when it throws.
  ///
  ///     ClientProgram.main {
  ///       var session = try ClientSession(name: "trail-log")
  ///       …
  ///     }
  public static func main(_ body: () throws -> Void) -> Never {
    bufferLines()
    do {
      try body()
      exit(0)
    } catch {
      fail(error)
    }
  }

  /// Has standard output written line by line, also where it is a pipe or a file.
  public static func bufferLines() { clinux_line_buffer_output() }

  /// Writes what an error says to standard error, and ends the process with ``failureStatus``.
  public static func fail(_ error: any Error) -> Never {
    let line = Array("\(error)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(failureStatus)
  }
}

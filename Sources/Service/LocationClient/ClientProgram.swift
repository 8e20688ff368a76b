import CLinux
import Glibc
import TextFormats

/// Main function of a program that uses the service: line-buffered output, and a message and exit status for an error.
public enum ClientProgram {
  /// Exit status after an error: `EX_UNAVAILABLE`.
  public static let failureStatus: Int32 = 69

  /// Runs a program and ends the process: with 0 if `body` returns; if it throws, with ``failureStatus`` and the
  /// error's description on standard error.
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

  /// Sets standard output to line buffering, also for a pipe or a file.
  public static func bufferLines() { clinux_line_buffer_output() }

  /// Writes the description of an error to standard error, and ends the process with ``failureStatus``.
  public static func fail(_ error: any Error) -> Never {
    printLine("\(error)", to: STDERR_FILENO)
    exit(failureStatus)
  }
}

/// The failure of a command: the message to print and the exit code.
///
/// The message states the problem and how to fix it; `Torpor.main()` prints it to standard error after `torpor: `.
struct CommandError: Error, Equatable {
  /// Exit codes, with the numbers of `sysexits.h`.
  enum Code: Int32, CaseIterable {
    /// Options that are unknown, contradict each other or are out of range.
    case usage = 64
    /// The input is empty or not of the expected kind.
    case data = 65
    /// The input cannot be opened.
    case noInput = 66
    /// The service is not running, or does not have the requested data.
    case unavailable = 69
    /// An internal error of this program.
    case software = 70
    /// The output cannot be created.
    case cannotCreate = 73
    /// Reading or writing failed after the files were opened.
    case io = 74
    /// The reply of the service cannot be parsed.
    case protocolFault = 76
    /// The service or its socket refuses this user.
    case permission = 77
    /// A board profile is invalid, or the board does not exist.
    case config = 78

    /// Description for the manual page.
    var meaning: String {
      switch self {
      case .usage: "Wrong options: unknown, contradictory or out of range."
      case .data: "The input is empty, or not of the expected kind."
      case .noInput: "The input does not exist, is a directory, or cannot be read."
      case .unavailable: "The service is not running, or does not have the requested data."
      case .software: "An internal error of the program."
      case .cannotCreate: "The output cannot be created."
      case .io: "Reading or writing failed, or a device was disconnected."
      case .protocolFault: "The reply cannot be parsed: the service is another program or version."
      case .permission: "The service, or its socket, refuses this user."
      case .config: "A board profile is invalid, or no such board exists."
      }
    }
  }

  /// Exit code of the process.
  var code: Code
  /// Text to print; may have several lines.
  var message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

/// Writing to standard output failed with EPIPE, because the reader of the pipe (`head`, for example) has closed it:
/// the command stops and exits with 0.
struct BrokenPipe: Error {}

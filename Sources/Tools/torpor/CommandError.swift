/// Why a command could not do what was asked, in words for whoever typed it.
///
/// The message says what is wrong and what to do about it; it is printed after `torpor: `.
struct CommandError: Error, Equatable {
  /// How the process ends: the numbers of `sysexits.h`.
  enum Code: Int32, CaseIterable {
    /// Options that contradict each other or cannot be.
    case usage = 64
    /// The input is there and is not what it should be.
    case data = 65
    /// The input cannot be opened.
    case noInput = 66
    /// The service is not there, or does not have what is asked.
    case unavailable = 69
    /// A fault of this program itself.
    case software = 70
    /// The output cannot be made.
    case cannotCreate = 73
    /// Reading or writing failed on the way.
    case io = 74
    /// The service says what is not understood.
    case protocolFault = 76
    /// The service says that this user may not.
    case permission = 77
    /// A board profile is wrong.
    case config = 78

    /// What it means, for the manual page.
    var meaning: String {
      switch self {
      case .usage: "Wrong options: unknown, contradicting each other, out of range."
      case .data: "The input is empty, or is not what it should be."
      case .noInput: "The input is not there, is a directory, or may not be read."
      case .unavailable: "The service is not there, or does not have what is asked."
      case .software: "A fault of the program."
      case .cannotCreate: "The output cannot be made."
      case .io: "Reading or writing failed on the way; a device went away."
      case .protocolFault: "The service says what is not understood: another program, or version."
      case .permission: "The service, or its socket, says that this user may not."
      case .config: "A board profile is wrong, or there is no such board."
      }
    }
  }

  /// How the process ends.
  var code: Code
  /// What to print; may hold several lines.
  var message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

/// Whoever read our output has gone: not an error, but nothing further is of use to anyone.
struct ReaderGone: Error {}

import ArgumentParser
import LocationClient
import LocationTypes
import LocationWire

// Shared by the commands that query the service: the option for its socket, calls with their errors, and the formatting
// of its times.

/// The option `--socket`.
struct SocketOption: ParsableArguments {
  @Option(
    name: .customLong("socket"),
    help: ArgumentHelp(
      "The socket of the service; TORPOR_SOCKET sets it for all commands and programs.",
      valueName: "path"), completion: .file())
  var path = LocationConnection.defaultPath
}

extension SocketOption {
  /// Opens a connection to the service for `body`.
  ///
  /// - Throws: ``CommandError`` with the exit code of the service's or the connection's error.
  @discardableResult
  func request<Answer>(_ body: (inout LocationConnection) throws -> Answer) throws -> Answer {
    do {
      var connection = try LocationConnection(path: path)
      return try body(&connection)
    } catch let error as ClientError { throw CommandError(error) }
  }
}

extension Output {
  /// Writes a reply of the service to standard output as one line of JSON.
  static func print(reply: WireReply) throws {
    try print(ReplyEncoder.object(of: reply) + [UInt8(ascii: "\n")])
  }
}

extension CommandError {
  /// The error of a call or of the connection, with its exit code.
  init(_ error: ClientError) {
    let (code, option): (Code, String) =
      switch error {
      case .noSocket, .notASocket: (.unavailable, ", or give --socket")
      case .noService, .takenOver, .disconnected, .timedOut, .system: (.unavailable, "")
      case .truncated: (.io, "")
      case .connectionNotPermitted, .locationNotPermitted, .backgroundNotPermitted:
        (.permission, "")
      case .malformed: (.protocolFault, "")
      case .refused(let refusal): (CommandError.code(refusal), "")
      }
    self.init(code, error.description + option)
  }

  /// Error after another process has connected with this command's client name.
  static func takenOver(service: String) -> CommandError {
    CommandError(
      .unavailable,
      "another torpor command uses \(service) now; each user can have only one at a time")
  }

  private static func code(_ refusal: WireError) -> Code {
    switch refusal {
    case .permissionDenied, .notAuthorized: .permission
    case .invalidParameter, .unknownFix: .data
    case .methodNotFound, .methodNotImplemented, .interfaceNotFound, .other: .protocolFault
    case .expectedMore, .expectedUpgrade, .notConnected, .alreadyConnected, .unknownSession,
      .limitExceeded, .notAvailable, .decidedByFile, .unknownClient:
      .unavailable
    }
  }
}

/// Formats times of the service: absolute, and relative to its current time.
struct ServiceClock {
  /// Current time of the service.
  let now: FixTime

  /// `2026-11-22 09:41:07 UTC`, or the time since boot if UTC is unknown.
  func dateAndTime(_ time: FixTime) -> String {
    guard let utc = utc(of: time) else {
      return HumanFormat.duration(time.acquired - .boot) + " after boot"
    }
    return HumanFormat.dateAndTime(utc)
  }

  /// `09:41:07 UTC, 3 min ago`, with the date if it is another day; without UTC, `3 min ago`.
  func timeOfDay(_ time: FixTime) -> String {
    guard let utc = utc(of: time) else { return relative(time) }
    guard let today = self.utc(of: now), today.date == utc.date else {
      return "\(dateAndTime(time)), \(relative(time))"
    }
    return "\(HumanFormat.clock(utc.microsecondsOfDay / 1_000_000)) UTC, \(relative(time))"
  }

  /// Whether UTC is known for a time.
  func hasUTC(_ time: FixTime) -> Bool { utc(of: time) != nil }

  /// `3 min ago`, `in 20 s`, `now`.
  func relative(_ time: FixTime) -> String {
    let difference = time.acquired - now.acquired
    if difference.microseconds.magnitude < 500_000 { return "now" }
    return difference > .zero
      ? "in " + ServiceClock.short(difference) : ServiceClock.short(.zero - difference) + " ago"
  }

  /// A duration, without decimals below 10 s.
  static func short(_ length: Interval) -> String {
    length < .seconds(10)
      ? "\((length.microseconds + 500_000) / 1_000_000) s" : HumanFormat.duration(length)
  }

  private func utc(of time: FixTime) -> UTCTime? {
    if let utc = time.utc { return utc }
    guard let utc = now.utc else { return nil }
    return UTCTime(microseconds: utc.microseconds + (time.acquired - now.acquired).microseconds)
  }
}

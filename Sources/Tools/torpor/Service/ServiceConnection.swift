import ArgumentParser
import LocationClient
import LocationTypes
import LocationWire

/// Where the service listens.
struct SocketOption: ParsableArguments {
  @Option(
    name: .customLong("socket"),
    help: ArgumentHelp(
      "The socket of the service; TORPOR_SOCKET says it for all commands and programs.",
      valueName: "path"), completion: .file())
  var path = LocationConnection.defaultPath
}

extension SocketOption {
  /// A connection that has said nothing yet.
  func connect() throws(CommandError) -> LocationConnection {
    do { return try LocationConnection(path: path) } catch { throw CommandError(error) }
  }

  /// Asks one thing of the service.
  func ask(_ call: WireCall) throws(CommandError) -> WireReply {
    var connection = try connect()
    do { return try connection.call(call) } catch { throw CommandError(error) }
  }

  /// How the service is.
  func status() throws(CommandError) -> WireStatus {
    guard case .status(let status) = try ask(.getStatus) else { throw SocketOption.strange }
    return status
  }

  /// What to say of an answer to another question.
  static var strange: CommandError {
    CommandError(ClientError.malformed("an answer to another question"))
  }
}

extension CommandError {
  /// What the service, or the way to it, has to say.
  init(_ error: ClientError) {
    let code: Code =
      switch error {
      case .noService, .noSocket, .notASocket, .takenOver, .ended, .noAnswer,
        .system:
        .unavailable
      case .cutShort: .io
      case .mayNotConnect, .mayNotUse, .mayNotUseBackground: .permission
      case .malformed: .protocolFault
      case .refused(let refusal): CommandError.code(refusal)
      }
    self.init(code, error.description)
  }

  /// Another process has become the client that this command was.
  static func takenOver(what: String) -> CommandError {
    CommandError(
      .unavailable, "another torpor asks for \(what) now; there can be one of a user")
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

/// How a moment of the service is told: as a clock of this board shows it, and how far off it is.
struct ServiceClock {
  /// The service's now.
  let now: FixTime

  /// `2026-11-22 09:41:07 UTC`, or where no UTC is known how long after boot.
  func moment(_ time: FixTime) -> String {
    guard let utc = utc(of: time) else {
      return HumanFormat.duration(time.acquired - .boot) + " after boot"
    }
    var text = TextBuffer()
    text.add(day: utc.date)
    text.add(" ")
    text.add(hoursMinutesSeconds: utc.microsecondsOfDay / 1_000_000)
    return text.string + " UTC"
  }

  /// `09:41:07 UTC, 3 min ago`, of another day with its date; without UTC `3 min ago`.
  func timeOfDay(_ time: FixTime) -> String {
    guard let utc = utc(of: time) else { return distance(time) }
    guard let today = self.utc(of: now), today.date == utc.date else {
      return "\(moment(time)), \(distance(time))"
    }
    var text = TextBuffer()
    text.add(hoursMinutesSeconds: utc.microsecondsOfDay / 1_000_000)
    return "\(text.string) UTC, \(distance(time))"
  }

  /// Whether the moment has a date.
  func knows(_ time: FixTime) -> Bool { utc(of: time) != nil }

  /// `3 min ago`, `in 20 s`, `now`.
  func distance(_ time: FixTime) -> String {
    let off = time.acquired - now.acquired
    if off.microseconds.magnitude < 500_000 { return "now" }
    return off > .zero
      ? "in " + ServiceClock.short(off) : ServiceClock.short(.zero - off) + " ago"
  }

  /// A length of time as for people: no tenths.
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

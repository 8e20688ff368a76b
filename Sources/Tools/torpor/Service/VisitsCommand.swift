import ArgumentParser
import Glibc
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

/// `torpor visits`.
struct VisitsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "visits",
    abstract: "Tell visits to places as they begin and end, until an interrupt.",
    discussion: """
      It asks the service for visits as a client of its own, named torpor, and ends that with \
      itself: the service keeps no visits of others, and none from before. It takes the place of a \
      `torpor monitor --location` of the same user. A visit is told when \
      the board has stayed at a place for some minutes, and again when it has left.
      """)

  @OptionGroup var socket: SocketOption

  @Flag(help: "One JSON object a line, as the socket has a visit.")
  var json = false

  @Option(
    help: ArgumentHelp("End after so many arrivals and departures.", valueName: "number"),
    transform: VisitsCommand.count)
  var count: Int?

  func run() throws {
    do { try follow() } catch let error as ClientError { throw CommandError(error) }
  }

  private func follow() throws {
    var session = try ClientSession(name: ClientName.own, path: socket.path)
    guard session.session.authorization.isGranted else {
      throw CommandError(ClientError.mayNotUse(client: ClientName.own))
    }
    try StopSignals.install()
    try session.listen()
    _ = try session.call(.startVisits)
    var output = Output()
    var left = count ?? .max
    if !json { POSIX.tell("torpor: waiting for visits; end it with Ctrl-C") }
    while left > 0 {
      let end = try ServiceWait.wait(
        for: [session.descriptor], reader: output.reader, atMost: nil)
      switch end {
      case .pause: continue
      case .ready: break
      case .readerGone: left = 0
      case .stopped(let number):
        _ = try? session.call(.stopVisits)
        Interrupts.end(number)
      }
      while left > 0, let notice = try session.notice(within: .zero) {
        guard let number = try tell(notice, &output) else { continue }
        left -= 1
        try output.flush()
        // Printed is handled: it is not told again to the next one.
        if number > 0 { _ = try session.call(.acknowledgeEvents(number)) }
      }
    }
    _ = try session.call(.stopVisits)
    try output.finish()
  }

  /// Prints a visit; gives the number by which it is acknowledged, nil where it was none.
  private func tell(_ notice: WireNotice, _ output: inout Output) throws -> UInt32? {
    switch notice {
    case .visit(let visit, let number):
      let line = json ? ReplyEncoder.object(of: notice) : Array(VisitText.line(visit).utf8)
      try output.write(line + [UInt8(ascii: "\n")])
      return number
    case .authorization(let authorization, _) where !authorization.isGranted:
      throw CommandError(ClientError.mayNotUse(client: ClientName.own))
    case .takenOver:
      throw CommandError.takenOver(what: "visits")
    case .fixes, .report, .finished, .gap, .region, .live, .authorization, .paused, .resumed,
      .failure, .degraded, .session:
      return nil
    }
  }

  static func count(_ text: String) throws -> Int {
    guard let value = Int(text), value > 0 else {
      throw ValidationError("it should be a whole number, 1 or more")
    }
    return value
  }
}

/// A visit as people read it.
enum VisitText {
  /// `arrived 2026-11-22 09:41:07 UTC at 52.516274, 13.377704 (within 25 m)`.
  static func line(_ visit: Visit) -> String {
    let place =
      "\(degrees(visit.coordinate)) (within \(HumanFormat.distance(visit.horizontalAccuracy)))"
    guard let departure = visit.departure else {
      guard let arrival = visit.arrival else {
        return "is at \(place), since before it was looked for"
      }
      return "arrived \(moment(arrival)) at \(place)"
    }
    let stay =
      visit.arrival.map { " after " + HumanFormat.duration(departure.instant - $0.instant) } ?? ""
    return "left    \(moment(departure)) from \(place)\(stay)"
  }

  /// Latitude and longitude, as far as a receiver knows them: 0.1 m.
  static func degrees(_ place: Coordinate) -> String {
    var text = TextBuffer()
    text.add(place.latitude_e9, scale: 9, places: 6)
    text.add(", ")
    text.add(place.longitude_e9, scale: 9, places: 6)
    return text.string
  }

  private static func moment(_ moment: VisitMoment) -> String {
    ServiceClock(now: FixTime(acquired: moment.instant, utc: moment.utc)).moment(
      FixTime(acquired: moment.instant, utc: moment.utc))
  }
}

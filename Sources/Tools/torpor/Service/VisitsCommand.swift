import ArgumentParser
import Glibc
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import TextFormats

/// `torpor visits`.
struct VisitsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "visits",
    abstract: "Print arrivals and departures (visits) as they are detected, until Ctrl-C.",
    discussion: """
      The command starts the visit service as a client named torpor and stops it when it ends. \
      Visits of other clients and earlier visits are not shown. It replaces a \
      `torpor monitor --location` of the same user. The service reports a visit when the device has \
      stayed at a place for some minutes, and again when it has left.
      """)

  @OptionGroup var socket: SocketOption

  @Flag(help: "Print JSON Lines, the visit notices of the socket.")
  var json = false

  @Option(
    help: ArgumentHelp("End after so many arrivals and departures.", valueName: "number"),
    transform: VisitsCommand.count)
  var count: Int?

  func run() throws {
    do { try printVisits() } catch let error as ClientError { throw CommandError(error) }
  }

  private func printVisits() throws {
    var session = try ClientSession(name: ClientName.own, path: socket.path)
    guard session.session.authorization.isGranted else {
      throw CommandError(ClientError.locationNotPermitted(client: ClientName.own))
    }
    try StopSignals.install()
    try session.subscribe()
    try session.call(.startVisits)
    var output = Output()
    var remaining = count ?? .max
    if !json { POSIX.printError("torpor: waiting for visits; press Ctrl-C to end") }
    while remaining > 0 {
      let end = try ServiceWait.wait(
        for: [session.descriptor], output: output.outputPipe, timeout: nil)
      switch end {
      case .timeout: continue
      case .ready: break
      case .outputClosed: remaining = 0
      case .stopped(let number):
        _ = try? session.call(.stopVisits)
        SignalCleanup.removeAllAndRaise(number)
      }
      while remaining > 0, let notice = try session.nextNotice(within: .zero) {
        guard let number = try write(notice, &output) else { continue }
        remaining -= 1
        try output.flush()
        // Acknowledge the visit once it is printed, so that it is not delivered again.
        if number > 0 { try session.call(.acknowledgeEvents(number)) }
      }
    }
    try session.call(.stopVisits)
    try output.finish()
  }

  /// Prints a visit and returns the number that acknowledges it; nil for other notices.
  private func write(_ notice: WireNotice, _ output: inout Output) throws -> UInt32? {
    switch notice {
    case .visit(let visit, let number):
      let line = json ? ReplyEncoder.object(of: notice) : Array(VisitText.line(visit).utf8)
      try output.write(line + [UInt8(ascii: "\n")])
      return number
    case .authorization(let authorization, _) where !authorization.isGranted:
      throw CommandError(ClientError.locationNotPermitted(client: ClientName.own))
    case .takenOver:
      throw CommandError.takenOver(service: "visits")
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

/// Human-readable form of a visit.
enum VisitText {
  /// `arrived 2026-11-22 09:41:07 UTC at 52.516274, 13.377704 (within 25 m)`.
  static func line(_ visit: Visit) -> String {
    let position =
      "\(degrees(visit.coordinate)) (within \(HumanFormat.distance(visit.horizontalAccuracy)))"
    guard let departure = visit.departure else {
      guard let arrival = visit.arrival else {
        return "is at \(position), arrived before the visit service started"
      }
      return "arrived \(time(arrival)) at \(position)"
    }
    let stay =
      visit.arrival.map { " after " + HumanFormat.duration(departure.acquired - $0.acquired) } ?? ""
    return "left    \(time(departure)) from \(position)\(stay)"
  }

  /// Latitude and longitude with a resolution of 0.1 m.
  static func degrees(_ coordinate: Coordinate) -> String {
    var text = TextBuffer()
    text.add(coordinate.latitude_e9, scale: 9, places: 6)
    text.add(", ")
    text.add(coordinate.longitude_e9, scale: 9, places: 6)
    return text.string
  }

  private static func time(_ moment: FixTime) -> String {
    ServiceClock(now: moment).dateAndTime(moment)
  }
}

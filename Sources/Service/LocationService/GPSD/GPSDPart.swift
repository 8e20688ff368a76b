import BoardHardware
import GPSDProtocol
import GNSSProtocols
import LinuxHAL
import LocationTypes

/// The part of ``LocationServer`` that serves programs by gpsd's protocol: connections, the clients they belong to, and
/// the device that is reported to them.
///
/// # Problem
///
/// Programs written for gpsd hold a connection all day and expect a report each second. The service serves them as
/// clients, with consent, demands and limits, and with one report per fix: at the end of the turn in which a fix arrives
/// it is encoded once for each client and written once to each connection. There is no timer of its own except the
/// deadlines in ``deadline``.
///
/// # States of a client: see ``GPSDClient``; of a connection: see ``GPSDConnection``.
///
/// Owner: ``LocationServer``; the extensions in this folder carry out what concerns other parts.
struct GPSDPart {
  /// Time without a fix after which a live client receives a report of no fix: some programs end after 5 s of silence.
  static let silence = Interval.seconds(3)
  /// How long the receiver keeps running after a request for one report.
  static let pollTime = Interval.seconds(60)
  /// Age of a fix from which a request for one report is answered with no fix, unless the policy names another.
  static let staleAfter = Interval.seconds(120)

  /// Largest number of fixes of the past in one answer.
  static let historyLength: UInt64 = 128

  let device: GPSDDevice
  /// Name and version of the service.
  let service: String
  var connections: GPSDConnections
  /// Time of the first request for the device; nil before it.
  private var activated: UTCTime?
  /// Clients with at least one connection that requests data.
  private(set) var clients: [GPSDClient] = []
  /// Earliest time at which the service must run for a program.
  private(set) var deadline = Instant.distantFuture

  init(
    _ listeners: GPSDListeners, on events: EventWait, _ environment: LocationServer.Environment
  ) throws(SystemError) {
    connections = try GPSDConnections(listeners, on: events)
    let receiver = environment.receiver
    let isBinary = receiver.family.descriptor.commandProtocol == .ubx
    device = GPSDDevice(
      path: receiver.device ?? "/dev/torpor", driver: isBinary ? "u-blox" : "NMEA0183",
      isBinary: isBinary, speed_baud: receiver.speed_baud)
    service = "torpord-\(environment.version)"
  }

  /// Position in ``clients`` of the client with an index; nil if none of its programs requests data.
  func position(of client: Int) -> Int? { clients.firstIndex { $0.client == client } }

  /// Changes the state of a client.
  mutating func update<Result>(
    _ position: Int, _ body: (inout GPSDClient) -> Result
  ) -> Result { body(&clients[position]) }

  /// The time since which the device is active: that of the first request for it.
  mutating func activation(at time: UTCTime) -> UTCTime {
    let first = activated ?? time
    activated = first
    return first
  }

  /// Adds a client.
  mutating func add(_ client: GPSDClient) { clients.append(client) }

  /// Removes a client.
  mutating func remove(_ client: Int) { clients.removeAll { $0.client == client } }

  /// Sets the earliest time at which the service must run for a program.
  mutating func setDeadline(_ deadline: Instant) { self.deadline = deadline }

  /// Number of connections that request data.
  var watcherCount: Int { connections.slots.count { $0?.client != nil } }
}

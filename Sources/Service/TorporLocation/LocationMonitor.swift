import Glibc
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

/// Monitors conditions, and reports when they start or stop being satisfied (`CLMonitor`).
///
/// Conditions belong to the monitor's name and outlive the process: the next monitor of that name has them, with the
/// last handled event of each (REG-11, REG-13). A process can open a name only once at a time.
public final class LocationMonitor: Sendable {
  /// A circle to monitor.
  public struct CircularCondition: Equatable, Sendable {
    /// Center of the circle.
    public var center: Coordinate
    /// Radius in metres, above 0 (REG-3).
    public var radius: Double

    /// Creates a condition.
    public init(center: Coordinate, radius: Double) {
      self.center = center
      self.radius = radius
    }
  }

  /// A beacon to monitor. No board has a radio for beacons, so each one is reported as
  /// ``MonitorProblem/conditionUnsupported`` (REG-14).
  public struct BeaconIdentityCondition: Equatable, Sendable {
    /// Proximity UUID, as text.
    public var uuid: String
    /// Major value; nil for any.
    public var major: UInt16?
    /// Minor value; nil for any.
    public var minor: UInt16?

    /// Creates a condition.
    public init(uuid: String, major: UInt16? = nil, minor: UInt16? = nil) {
      self.uuid = uuid
      self.major = major
      self.minor = minor
    }
  }

  /// A change of a condition's state.
  public struct Event: Equatable, Sendable {
    /// Identifier of the condition, as given to ``LocationMonitor/add(_:identifier:assuming:)``.
    public let identifier: String
    /// New state.
    public let state: MonitorState
    /// Time of the change.
    public let date: FixTime
    /// Why the condition is not monitored; nil if it is.
    public let problem: MonitorProblem?
    let monitor: String
    let number: UInt32
  }

  /// A condition and its last handled event.
  public struct Record: Equatable, Sendable {
    /// The condition.
    public let condition: CircularCondition
    /// Last event that a loop over ``LocationMonitor/events`` has handled; nil if there was none since the condition
    /// was added (REG-13).
    public let lastEvent: Event?
  }

  /// Why a monitor cannot be opened.
  public enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// A monitor with this name is open in this process.
    case alreadyOpen(String)
    /// The name is invalid: 1 to 63 bytes, no control characters and no `/`.
    case invalidName(String)
    /// The service could not be called.
    case unreachable(ClientError)

    /// What is wrong and how to fix it, in one line.
    public var description: String {
      switch self {
      case .alreadyOpen(let name):
        "the monitor '\(name)' is already open: use that one, or release it first"
      case .invalidName(let name):
        "'\(name)' is no valid name of a monitor: use 1 to 63 bytes without control characters and '/'"
      case .unreachable(let error): error.description
      }
    }
  }

  /// Name of the monitor.
  public let name: String
  private let center: LocationCenter
  /// Connection on which the monitor is open.
  private let link: ServiceLink
  private let mailbox: Mailbox<Event>

  /// Opens a monitor. It closes on deinitialisation; its conditions stay monitored.
  public init(_ name: String, of center: LocationCenter = .shared) async throws(Refusal) {
    guard NameValidation.isValidRegion(name), name.utf8.count <= 63, !name.utf8.contains(0x2F)
    else {
      throw .invalidName(name)
    }
    let link = center.connection
    let mailbox: Mailbox<Event>?
    do throws(ClientError) {
      mailbox = try await link.perform { state throws(ClientError) in state.events.open(name) }
    } catch {
      throw .unreachable(error)
    }
    guard let mailbox else { throw .alreadyOpen(name) }
    self.name = name
    self.center = center
    self.link = link
    self.mailbox = mailbox
  }

  deinit {
    let name = name
    link.submit { $0.events.close(name) }
  }

  /// Monitors a condition; replaces one with the same identifier.
  ///
  /// An event with a ``Event/problem`` reports a condition that cannot be monitored or is not kept over a restart of
  /// the service (REG-2, REG-3, REG-14).
  ///
  /// - Parameters:
  ///   - identifier: Name within the monitor; together with the monitor's name and a separator at most 128 bytes.
  ///   - state: Assumed state: an event is reported only if the actual state differs (REG-12).
  public func add(
    _ condition: CircularCondition, identifier: String, assuming state: MonitorState = .unknown
  ) async throws(ClientError) {
    let region = WireRegion(
      .condition, name: key(identifier), center: condition.center, radius: condition.radius)
    do throws(ClientError) {
      try await center.send(.addRegion(region, assuming: state))
    } catch .refused(.notAvailable) {
      // The service could not store the condition, and monitors it only until the service ends.
      report(.persistenceUnavailable, .unknown, of: identifier)
    }
  }

  /// Reports ``MonitorProblem/conditionUnsupported``, because no board can monitor beacons (REG-14).
  public func add(
    _ condition: BeaconIdentityCondition, identifier: String
  ) {
    report(.conditionUnsupported, .unmonitored, of: identifier)
  }

  /// Adds an event that this library creates to the events of the service.
  private func report(
    _ problem: MonitorProblem, _ state: MonitorState, of identifier: String
  ) {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    let now = Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
    mailbox.put(
      Event(
        identifier: identifier, state: state, date: FixTime(acquired: now, utc: nil),
        problem: problem, monitor: name, number: 0))
  }

  /// Stops monitoring a condition.
  public func remove(_ identifier: String) async throws(ClientError) {
    try await center.send(.removeRegion(.condition, name: key(identifier)))
  }

  /// Identifiers of the monitor's conditions.
  public var identifiers: [String] {
    get async throws(ClientError) { try await monitored().map(\.identifier) }
  }

  /// The condition with that identifier; nil if none exists.
  public func record(for identifier: String) async throws(ClientError) -> Record? {
    try await monitored().first { $0.identifier == identifier }?.record
  }

  private func key(_ identifier: String) -> String { "\(name)/\(identifier)" }

  private func monitored() async throws(ClientError) -> [(identifier: String, record: Record)] {
    let regions = try await center.perform { state throws(ClientError) in
      try state.listRegions()
    }
    return regions.compactMap { monitored in
      guard monitored.region.kind == .condition,
        let parts = Event.parts(monitored.region.name), parts.monitor == name
      else { return nil }
      let condition = CircularCondition(
        center: monitored.region.center, radius: monitored.region.radius)
      let event = monitored.lastEvent.flatMap { Event($0, number: 0) }
      return (parts.identifier, Record(condition: condition, lastEvent: event))
    }
  }

  // MARK: Events

  /// Events of the conditions, including those from before this process. One loop at a time.
  ///
  /// An event counts as handled when the loop requests the next one (REG-13); an unhandled event is delivered again to
  /// the next process. The service accepts acknowledgements only in order, over all monitors of a program: an
  /// unhandled event, also of a monitor that is not open, delays the acknowledgement of later ones. If the connection
  /// is lost, open the monitor again.
  public var events: Events { Events(monitor: self) }

  /// The sequence of events.
  public struct Events: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = Event
    /// Error that ends a loop early.
    public typealias Failure = ClientError

    let monitor: LocationMonitor

    /// Starts a loop.
    public func makeAsyncIterator() -> Iterator { Iterator(monitor: monitor) }

    /// One loop.
    public struct Iterator: AsyncIteratorProtocol {
      let monitor: LocationMonitor
      private var last: UInt32 = 0

      init(monitor: LocationMonitor) { self.monitor = monitor }

      /// The next event; nil if the task was cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ClientError) -> Event? {
        let event = try await monitor.next(handled: last)
        last = event?.number ?? 0
        return event
      }
    }
  }

  /// Marks the event with that number as handled, if above 0, and returns the next event.
  private func next(handled number: UInt32) async throws(ClientError) -> Event? {
    if number > 0 {
      try await link.perform { state throws(ClientError) in
        guard let all = state.events.markHandled(number) else { return }
        try state.call(.acknowledgeEvents(all))
      }
    }
    return try await mailbox.next()
  }
}

extension LocationMonitor.Event {
  /// Creates the event of a monitor's condition; nil for any other event.
  init?(_ event: WireRegionEvent, number: UInt32) {
    guard event.kind == .condition, case .monitor(let state, let problem, let date) = event.change,
      let parts = LocationMonitor.Event.parts(event.name)
    else { return nil }
    monitor = parts.monitor
    identifier = parts.identifier
    self.state = state
    self.date = date
    self.problem = problem
    self.number = number
  }

  /// Splits the service's name of a condition into monitor and identifier.
  static func parts(_ name: String) -> (monitor: String, identifier: String)? {
    guard let slash = name.firstIndex(of: "/") else { return nil }
    return (String(name[..<slash]), String(name[name.index(after: slash)...]))
  }
}

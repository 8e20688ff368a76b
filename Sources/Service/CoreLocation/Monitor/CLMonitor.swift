import Foundation
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import Synchronization

/// A condition that a ``CLMonitor`` monitors.
public protocol CLCondition: Codable, Sendable {}

/// Monitors conditions, and reports when they start or stop being satisfied (contract section REG).
///
/// Conditions belong to the monitor's name and outlive the process: the next monitor of that name has them, with the
/// last handled event of each (REG-11, REG-13). Source: Apple's documentation of `CLMonitor`.
public actor CLMonitor {
  /// A circle on the WGS 84 ellipsoid.
  public struct CircularGeographicCondition: CLCondition {
    /// Centre of the circle.
    public let center: CLLocationCoordinate2D
    /// Radius of the circle, metres (REG-3).
    public let radius: CLLocationDistance

    /// Creates a condition; it is validated when it is added.
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
      self.center = center
      self.radius = radius
    }
  }

  /// Beacons in range. No board detects beacons, so each one is reported as `conditionUnsupported` (REG-14).
  public struct BeaconIdentityCondition: CLCondition {
    /// UUID of the beacons.
    public let uuid: UUID
    /// Most significant part of the identity; nil for any.
    public let major: CLBeaconMajorValue?
    /// Least significant part of the identity; nil for any.
    public let minor: CLBeaconMinorValue?

    /// Matches all beacons with this UUID.
    public init(uuid: UUID) {
      self.uuid = uuid
      major = nil
      minor = nil
    }

    /// Matches all beacons with this UUID and major value.
    public init(uuid: UUID, major: CLBeaconMajorValue) {
      self.uuid = uuid
      self.major = major
      minor = nil
    }

    /// Matches the beacons with this identity.
    public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
      self.uuid = uuid
      self.major = major
      self.minor = minor
    }
  }

  /// A change of a condition's state.
  public struct Event: Sendable {
    /// State of a condition, with Apple's raw values (REG-10).
    public enum State: Int, Sendable {
      /// Not decided yet.
      case unknown = 0
      /// The condition is satisfied.
      case satisfied = 1
      /// The condition is not satisfied.
      case unsatisfied = 2
      /// The condition is not monitored.
      case unmonitored = 3
    }

    /// Identifier of the condition.
    public let identifier: String
    /// The condition that was satisfied, if it is more specific than the one that was added; always nil.
    public let refinement: (any CLCondition)?
    /// New state.
    public let state: State
    /// Time of the change.
    public let date: Date
    private let problem: MonitorProblem?
    private let authorization: Authorization
    fileprivate let number: UInt32
    /// Whether a ``CLServiceSession`` is required, and there was none when the event was read (BKG-15). Events of the
    /// service wait until there is one.
    public let serviceSessionRequired: Bool

    fileprivate init(
      _ event: ConditionEvent, _ authorization: Authorization, lacksSession: Bool
    ) {
      identifier = event.identifier
      refinement = nil
      state = State(event.state)
      date = Date(event.date)
      problem = event.problem
      self.authorization = authorization
      number = event.number
      serviceSessionRequired = lacksSession
    }

    /// Whether the process has the greatest number of conditions already (REG-2), or the radius is invalid (REG-3).
    public var conditionLimitExceeded: Bool { problem == .conditionLimitExceeded }
    /// Whether the board cannot monitor such a condition (REG-14).
    public var conditionUnsupported: Bool { problem == .conditionUnsupported }
    /// Whether the condition could not be saved, and is monitored only until the service ends (REG-14).
    public var persistenceUnavailable: Bool { problem == .persistenceUnavailable }
    /// Whether accuracy is too low: false, because conditions are not monitored with reduced accuracy (REG-15).
    public var accuracyLimited: Bool { false }
    /// Whether the process may not use location.
    public var authorizationDenied: Bool { authorization == .denied }
    /// Whether no process may use location; false.
    public var authorizationDeniedGlobally: Bool { false }
    /// Whether an administrator's decision is pending.
    public var authorizationRequestInProgress: Bool { authorization == .notDetermined }
    /// Whether the process may neither use location nor request permission.
    public var authorizationRestricted: Bool { authorization == .restricted }
    /// Whether the process is not in use: false, because events wait until it is (BKG-14).
    public var insufficientlyInUse: Bool { false }
  }

  /// A condition and its last handled event.
  public struct Record: Sendable {
    /// The condition.
    public let condition: any CLCondition
    /// The last event that a loop over ``CLMonitor/events`` has handled, or the assumed state as an event (REG-13).
    public let lastEvent: Event
  }

  /// Name of the monitor.
  public nonisolated let name: String
  private nonisolated let session: LocationSession
  private nonisolated let queue: UpdateQueue<ConditionEvent>
  private var beacons: [String: BeaconIdentityCondition] = [:]

  /// Opens the monitor of that name. It closes when it is deallocated; its conditions stay monitored.
  ///
  /// - Precondition: The name has 1 to 63 bytes without control characters and `/`, and no monitor of that name is open
  ///   (REG-11).
  public init(_ name: String) async { self.init(name, of: .shared) }

  init(_ name: String, of session: LocationSession) {
    precondition(
      NameValidation.isValidRegion(name) && name.utf8.count <= 63 && !name.utf8.contains(0x2F),
      "'\(name)' is no valid name of a monitor: use 1 to 63 bytes without control characters and '/'"
    )
    guard let queue = session.change({ $0.openMonitor(name) }) else {
      preconditionFailure(
        "the monitor '\(name)' is already open: use that one, or release it first")
    }
    self.name = name
    self.session = session
    self.queue = queue
  }

  deinit {
    let name = name
    session.change { $0.closeMonitor(name) }
  }

  /// Monitors a condition; replaces one with the same identifier (REG-12).
  ///
  /// - Parameter state: The assumed state: an event is reported only if the actual state differs.
  public func add(
    _ condition: any CLCondition, identifier: String, assuming state: Event.State = .unknown
  ) {
    let key = key(identifier)
    if !(condition is CircularGeographicCondition) { remove(identifier) }
    beacons[identifier] = condition as? BeaconIdentityCondition
    guard let circle = condition as? CircularGeographicCondition,
      let center = Coordinate(circle.center), NameValidation.isValidRegion(key)
    else { return report(.conditionUnsupported, .unmonitored, of: identifier) }
    let region = WireRegion(.condition, name: key, center: center, radius: circle.radius)
    let assumed = MonitorState(state)
    session.change { $0.addCondition(region, assuming: assumed) }
    session.send(.addRegion(region, assuming: assumed)) { [weak self] result in
      guard case .failure(let error) = result, let self else { return }
      switch error {
      case .refused(.notAvailable):
        // The service could not store the condition, and monitors it only until the service ends.
        self.report(.persistenceUnavailable, .unknown, of: identifier, region)
      case .refused(.limitExceeded), .refused(.invalidParameter):
        self.report(.conditionLimitExceeded, .unmonitored, of: identifier, region)
      // Another reason, which the event's flags of authorization state, if it is that.
      default: self.report(nil, .unmonitored, of: identifier, region)
      }
    }
  }

  /// Adds an event that this library creates to the events of the service.
  private nonisolated func report(
    _ problem: MonitorProblem?, _ state: MonitorState, of identifier: String,
    _ region: WireRegion? = nil
  ) {
    let dropped = queue.put(
      ConditionEvent(
        monitor: name, identifier: identifier, state: state, problem: problem,
        date: FixTime(acquired: .now, utc: nil), region: region))
    if !dropped.isEmpty {
      session.change { state in for event in dropped { state.events.release(event.number) } }
    }
  }

  /// Ends the monitoring of a condition.
  public func remove(_ identifier: String) {
    let key = key(identifier)
    beacons[identifier] = nil
    guard session.change({ $0.conditions.removeValue(forKey: key) != nil || $0.isFirstConnection })
    else { return }
    session.send(.removeRegion(.condition, name: key))
  }

  /// Identifiers of the monitor's conditions, sorted.
  public var identifiers: [String] {
    let all = session.read { $0.conditions.keys.compactMap(ConditionEvent.parts) }
    return (all.filter { $0.monitor == name }.map(\.identifier) + beacons.keys).sorted()
  }

  /// The condition with that identifier, and its last handled event; nil if there is none.
  public func record(for identifier: String) -> Record? {
    let key = key(identifier)
    let (stored, authorization, lacksSession) = session.read {
      ($0.conditions[key], $0.demand.authorization, session.lacksSession($0))
    }
    if let stored {
      let condition = CircularGeographicCondition(
        center: CLLocationCoordinate2D(stored.region.center), radius: stored.region.radius)
      let last = stored.lastEvent.flatMap { ConditionEvent($0, number: 0, region: nil) }
      let assumed = ConditionEvent(
        monitor: name, identifier: identifier, state: last == nil ? stored.state : .unknown,
        problem: nil, date: FixTime(acquired: .now, utc: nil), number: 0)
      return Record(
        condition: condition,
        lastEvent: Event(last ?? assumed, authorization, lacksSession: lacksSession))
    }
    guard let beacon = beacons[identifier] else { return nil }
    let event = ConditionEvent(
      monitor: name, identifier: identifier, state: .unmonitored, problem: .conditionUnsupported,
      date: FixTime(acquired: .now, utc: nil), number: 0)
    return Record(
      condition: beacon, lastEvent: Event(event, authorization, lacksSession: lacksSession))
  }

  private nonisolated func key(_ identifier: String) -> String { "\(name)/\(identifier)" }

  // MARK: Events

  /// Events of the conditions, including those from before this process. One loop at a time.
  ///
  /// An event counts as handled when the loop requests the next one (REG-13); an unhandled event is delivered again to
  /// the next process.
  public var events: Events { Events(monitor: self) }

  /// A loop begins, which does not imply a service session if the process needs explicit ones (BKG-15).
  fileprivate nonisolated func beginLoop() { session.reportMissingSession() }

  /// Marks an event as handled, and returns the next one.
  fileprivate nonisolated func next(after last: ConditionEvent?) async throws(ClientError)
    -> ConditionEvent?
  {
    if let last { session.change { $0.finish(last) } }
    return try await queue.next()
  }

  /// Returns an event whose loop was left before it was handled to the queue.
  fileprivate nonisolated func putBack(_ event: ConditionEvent) {
    session.change { [queue] in $0.putBack(event, to: queue) }
  }

  fileprivate nonisolated func event(_ event: ConditionEvent) -> Event {
    let (authorization, lacksSession) = session.read {
      ($0.demand.authorization, session.lacksSession($0))
    }
    return Event(event, authorization, lacksSession: lacksSession)
  }

  /// The sequence of events.
  public struct Events: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = Event
    /// Error that ends a loop early.
    public typealias Failure = any Error

    let monitor: CLMonitor

    /// Starts a loop.
    public func makeAsyncIterator() -> Iterator { Iterator(monitor: monitor) }

    /// One loop.
    public struct Iterator: AsyncIteratorProtocol {
      /// An event.
      public typealias Element = Event
      /// Error that ends a loop early.
      public typealias Failure = any Error

      private let monitor: CLMonitor
      private var last: EventInHand?

      init(monitor: CLMonitor) {
        self.monitor = monitor
        monitor.beginLoop()
      }

      /// The next event; nil if the task was cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(any Error) -> Event? {
        let handled = last?.take()
        last = nil
        guard let event = try await monitor.next(after: handled) else { return nil }
        last = EventInHand(event, of: monitor)
        return monitor.event(event)
      }
    }
  }
}

/// The event that a loop handles. If the loop is left, the next one gets it again (REG-13).
private final class EventInHand: Sendable {
  private let monitor: CLMonitor
  private let event: Mutex<ConditionEvent?>

  init(_ event: ConditionEvent, of monitor: CLMonitor) {
    self.monitor = monitor
    self.event = Mutex(event)
  }

  deinit { if let event = take() { monitor.putBack(event) } }

  /// The event, once.
  func take() -> ConditionEvent? {
    event.withLock { event in
      defer { event = nil }
      return event
    }
  }
}

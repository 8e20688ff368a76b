import Glibc
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

/// Watches conditions, and tells when they begin and cease to hold (`CLMonitor`).
///
/// Conditions belong to the monitor's name and outlive the process: the next one that opens it finds them, with
/// the last event of each that was handled (REG-11, REG-13). A name is open once in a process.
public final class LocationMonitor: Sendable {
  /// A circle that is to be watched.
  public struct CircularCondition: Equatable, Sendable {
    /// The middle.
    public var center: Coordinate
    /// Metres, above 0 (REG-3).
    public var radius: Double

    /// Creates a condition.
    public init(center: Coordinate, radius: Double) {
      self.center = center
      self.radius = radius
    }
  }

  /// A beacon that is to be looked for. No board of this service has a radio for beacons, so that each is answered
  /// with ``MonitorProblem/conditionUnsupported`` (REG-14).
  public struct BeaconIdentityCondition: Equatable, Sendable {
    /// Its proximity UUID, as text.
    public var uuid: String
    /// Its major value; nil for any.
    public var major: UInt16?
    /// Its minor value; nil for any.
    public var minor: UInt16?

    /// Creates a condition.
    public init(uuid: String, major: UInt16? = nil, minor: UInt16? = nil) {
      self.uuid = uuid
      self.major = major
      self.minor = minor
    }
  }

  /// A condition that began or ceased to hold.
  public struct Event: Equatable, Sendable {
    /// Which condition, as ``LocationMonitor/add(_:identifier:assuming:)`` named it.
    public let identifier: String
    /// What it is now.
    public let state: MonitorState
    /// When that was settled.
    public let date: FixTime
    /// Why it is not monitored; nil where it is.
    public let problem: MonitorProblem?
    let monitor: String
    let number: UInt32
  }

  /// A condition, and what was handled of it last.
  public struct Record: Equatable, Sendable {
    /// The condition.
    public let condition: CircularCondition
    /// The last event that a loop over ``LocationMonitor/events`` has handled; nil where there was none
    /// since it was added (REG-13).
    public let lastEvent: Event?
  }

  /// Why a monitor cannot be opened.
  public enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// It is open in this process already.
    case alreadyOpen(String)
    /// The name cannot be one: 1 to 63 bytes, no control characters and no `/`.
    case invalidName(String)
    /// The service could not be asked.
    case unreachable(ClientError)

    /// What is wrong and what helps, in one line.
    public var description: String {
      switch self {
      case .alreadyOpen(let name):
        "the monitor '\(name)' is open already: use that one, or let it go first"
      case .invalidName(let name):
        "'\(name)' cannot name a monitor: it takes 1 to 63 bytes, no control characters and no '/'"
      case .unreachable(let error): error.description
      }
    }
  }

  /// Its name.
  public let name: String
  private let center: LocationCenter
  /// On which it is open.
  private let link: ServiceLink
  private let mailbox: Mailbox<Event>

  /// Opens a monitor; it is closed when nobody holds it any more, and its conditions go on.
  public init(_ name: String, of center: LocationCenter = .shared) async throws(Refusal) {
    guard WireName.isValidRegion(name), name.utf8.count <= 63, !name.utf8.contains(0x2F) else {
      throw .invalidName(name)
    }
    let link = center.connection
    let mailbox: Mailbox<Event>?
    do throws(ClientError) {
      mailbox = try await link.ask { state throws(ClientError) in state.events.open(name) }
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

  /// Watches a condition; one of the same identifier is replaced.
  ///
  /// That it cannot be watched, or is not kept over a restart of the service, comes as an event with a
  /// ``Event/problem`` (REG-2, REG-3, REG-14).
  ///
  /// - Parameters:
  ///   - identifier: Its name within the monitor; with the monitor's and a byte between at most 128 bytes.
  ///   - state: What it is taken to be: an event comes only if the truth differs (REG-12).
  public func add(
    _ condition: CircularCondition, identifier: String, assuming state: MonitorState = .unknown
  ) async throws(ClientError) {
    let region = WireRegion(
      .condition, name: key(identifier), center: condition.center, radius: condition.radius)
    do throws(ClientError) {
      try await center.done(.addRegion(region, assuming: state))
    } catch .refused(.notAvailable) {
      // The disk did not take it. It is monitored until the service ends.
      report(.persistenceUnavailable, .unknown, of: identifier)
    }
  }

  /// Refuses a condition that no board can watch: an event with ``MonitorProblem/conditionUnsupported`` (REG-14).
  public func add(
    _ condition: BeaconIdentityCondition, identifier: String
  ) {
    report(.conditionUnsupported, .unmonitored, of: identifier)
  }

  /// Puts an event of this library's own among those of the service.
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

  /// Watches a condition no longer.
  public func remove(_ identifier: String) async throws(ClientError) {
    try await center.done(.removeRegion(.condition, name: key(identifier)))
  }

  /// The identifiers of its conditions.
  public var identifiers: [String] {
    get async throws(ClientError) { try await monitored().map(\.identifier) }
  }

  /// A condition by its identifier; nil where there is none.
  public func record(for identifier: String) async throws(ClientError) -> Record? {
    try await monitored().first { $0.identifier == identifier }?.record
  }

  private func key(_ identifier: String) -> String { "\(name)/\(identifier)" }

  private func monitored() async throws(ClientError) -> [(identifier: String, record: Record)] {
    let regions = try await center.ask { state throws(ClientError) in
      guard case .regions(let regions) = try state.call(.listRegions) else {
        throw .malformed("another answer than regions")
      }
      return regions
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

  /// What conditions tell, of before this process too. One loop at a time.
  ///
  /// An event counts as handled when the loop comes back for the next one (REG-13); one that was not is told
  /// again to the next process. The service takes them in their order, over all monitors of a program: one
  /// that waits, for a monitor that is not open too, holds back what is told of later ones. Where the
  /// connection is lost, the monitor is to be opened anew.
  public var events: Events { Events(monitor: self) }

  /// Events as they come.
  public struct Events: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = Event
    /// Why a loop ends before its time.
    public typealias Failure = ClientError

    let monitor: LocationMonitor

    /// Begins a loop.
    public func makeAsyncIterator() -> Iterator { Iterator(monitor: monitor) }

    /// One loop.
    public struct Iterator: AsyncIteratorProtocol {
      let monitor: LocationMonitor
      private var last: UInt32 = 0

      init(monitor: LocationMonitor) { self.monitor = monitor }

      /// The next event; nil when the task was cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ClientError) -> Event? {
        let event = try await monitor.next(handled: last)
        last = event?.number ?? 0
        return event
      }
    }
  }

  /// The next event; the one of that number, if there was one, is handled.
  private func next(handled number: UInt32) async throws(ClientError) -> Event? {
    if number > 0 {
      try await link.ask { state throws(ClientError) in
        guard let all = state.events.handled(number) else { return }
        _ = try state.call(.acknowledgeEvents(all))
      }
    }
    return try await mailbox.next()
  }
}

extension LocationMonitor.Event {
  /// An event of a condition that a monitor has added; nil for anything else.
  init?(_ told: WireRegionEvent, number: UInt32) {
    guard told.kind == .condition, case .monitor(let state, let problem, let date) = told.what,
      let parts = LocationMonitor.Event.parts(told.name)
    else { return nil }
    monitor = parts.monitor
    identifier = parts.identifier
    self.state = state
    self.date = date
    self.problem = problem
    self.number = number
  }

  /// The service knows a condition by the monitor's name and its own.
  static func parts(_ name: String) -> (monitor: String, identifier: String)? {
    guard let slash = name.firstIndex(of: "/") else { return nil }
    return (String(name[..<slash]), String(name[name.index(after: slash)...]))
  }
}

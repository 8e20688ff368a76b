import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

/// An event of a monitor's condition, as the socket reports it.
struct ConditionEvent: Sendable, Equatable {
  let monitor: String
  let identifier: String
  let state: MonitorState
  let problem: MonitorProblem?
  let date: FixTime
  /// Number for the acknowledgement; 0 if there is none.
  private(set) var number: UInt32 = 0
  /// The condition to which it belongs; nil if it was removed, or is none of a circle.
  private(set) var region: WireRegion?
}

extension ConditionEvent {
  /// Converts the event of a monitor's condition; nil for any other event.
  init?(_ event: WireRegionEvent, number: UInt32, region: WireRegion?) {
    guard event.kind == .condition, case .monitor(let state, let problem, let date) = event.change,
      let parts = ConditionEvent.parts(event.name)
    else { return nil }
    self.init(
      monitor: parts.monitor, identifier: parts.identifier, state: state, problem: problem,
      date: date, number: number, region: region)
  }

  /// Splits the service's name of a condition into monitor and identifier, which may begin with a combining mark.
  static func parts(_ name: String) -> (monitor: String, identifier: String)? {
    let scalars = name.unicodeScalars
    guard let slash = scalars.firstIndex(of: "/") else { return nil }
    return (String(scalars[..<slash]), String(scalars[scalars.index(after: slash)...]))
  }
}

/// Routes condition events to their monitors. Events of a monitor that is not open wait for it.
struct MonitorEventRouter: Sendable {
  /// Maximum number of waiting events, as in the service.
  static let capacity = 64

  private var open: [String: UpdateQueue<ConditionEvent>] = [:]
  /// Events of monitors that are not open, oldest first.
  private(set) var unclaimed: [ConditionEvent] = []

  /// Whether a monitor is open.
  func isOpen(_ monitor: String) -> Bool { open[monitor] != nil }

  /// Opens a monitor; nil if it is already open (REG-11).
  mutating func open(_ monitor: String) -> UpdateQueue<ConditionEvent>? {
    guard open[monitor] == nil else { return nil }
    let queue = UpdateQueue<ConditionEvent>(capacity: MonitorEventRouter.capacity)
    open[monitor] = queue
    for event in unclaimed where event.monitor == monitor { queue.put(event) }
    unclaimed.removeAll { $0.monitor == monitor }
    return queue
  }

  /// Closes a monitor; its conditions stay monitored, and its unread events wait for the next one of that name.
  ///
  /// - Returns: The events that wait, and what results from the end of the queue.
  mutating func close(
    _ monitor: String
  ) -> (kept: [ConditionEvent], UpdateQueue<ConditionEvent>.Addition) {
    var addition = UpdateQueue<ConditionEvent>.Addition()
    guard let queue = open.removeValue(forKey: monitor) else { return ([], addition) }
    addition.wakeup = queue.end(nil)
    let kept = queue.removeAll()
    for event in kept { addition.dropped += keep(event) }
    return (kept, addition)
  }

  /// Routes an event to its monitor, or keeps it for that.
  mutating func route(_ event: ConditionEvent) -> UpdateQueue<ConditionEvent>.Addition {
    open[event.monitor]?.add(event) ?? UpdateQueue.Addition(dropped: keep(event))
  }

  /// Keeps an event; returns those that are dropped for it.
  private mutating func keep(_ event: ConditionEvent) -> [ConditionEvent] {
    unclaimed.append(event)
    return unclaimed.count > MonitorEventRouter.capacity ? [unclaimed.removeFirst()] : []
  }

  /// Removes and returns waiting events of a condition, by the service's name.
  mutating func removeEvents(
    of name: String, where shouldRemove: (ConditionEvent) -> Bool
  ) -> [ConditionEvent] {
    guard let parts = ConditionEvent.parts(name) else { return [] }
    return open[parts.monitor]?.removeAll {
      $0.identifier == parts.identifier && shouldRemove($0)
    } ?? []
  }

  /// Ends all monitors; returns what resumes their readers.
  func finish(_ error: ClientError) -> [UpdateQueue<ConditionEvent>.Wakeup] {
    open.values.compactMap { $0.end(error) }
  }
}

extension WireRegion {
  /// Shape of the region.
  var circle: Circle { Circle(center: center, radius: radius) }
}

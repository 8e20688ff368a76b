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
  let number: UInt32

  /// Converts the event of a monitor's condition; nil for any other event.
  init?(_ event: WireRegionEvent, number: UInt32) {
    guard event.kind == .condition, case .monitor(let state, let problem, let date) = event.change,
      let parts = ConditionEvent.parts(event.name)
    else { return nil }
    self.init(
      monitor: parts.monitor, identifier: parts.identifier, state: state, problem: problem,
      date: date, number: number)
  }

  init(
    monitor: String, identifier: String, state: MonitorState, problem: MonitorProblem?,
    date: FixTime, number: UInt32
  ) {
    self.monitor = monitor
    self.identifier = identifier
    self.state = state
    self.problem = problem
    self.date = date
    self.number = number
  }

  /// Splits the service's name of a condition into monitor and identifier.
  static func parts(_ name: String) -> (monitor: String, identifier: String)? {
    guard let slash = name.firstIndex(of: "/") else { return nil }
    return (String(name[..<slash]), String(name[name.index(after: slash)...]))
  }
}

/// Routes condition events to their monitors. Events of a monitor that is not open wait for it.
struct MonitorEventRouter: Sendable {
  /// Maximum number of waiting events, as in the service.
  static let capacity = 64

  private var open: [String: UpdateQueue<ConditionEvent>] = [:]
  /// Events of monitors that are not open, oldest first.
  private var unclaimed: [ConditionEvent] = []

  /// Opens a monitor; nil if it is already open (REG-11).
  mutating func open(_ monitor: String) -> UpdateQueue<ConditionEvent>? {
    guard open[monitor] == nil else { return nil }
    let queue = UpdateQueue<ConditionEvent> { waiting, event in
      if waiting.count == MonitorEventRouter.capacity { waiting.removeFirst() }
      waiting.append(event)
    }
    open[monitor] = queue
    for event in unclaimed where event.monitor == monitor { queue.put(event) }
    unclaimed.removeAll { $0.monitor == monitor }
    return queue
  }

  /// Closes a monitor; its conditions stay monitored, and its unread events wait for the next one of that name.
  mutating func close(_ monitor: String) {
    guard let queue = open.removeValue(forKey: monitor) else { return }
    queue.finish()
    for event in queue.removeAll() { keep(event) }
  }

  /// Routes an event; false if it is not one of a monitor.
  mutating func route(_ received: WireRegionEvent, number: UInt32) -> Bool {
    guard let event = ConditionEvent(received, number: number) else { return false }
    if let queue = open[event.monitor] { queue.put(event) } else { keep(event) }
    return true
  }

  private mutating func keep(_ event: ConditionEvent) {
    unclaimed.append(event)
    if unclaimed.count > MonitorEventRouter.capacity { unclaimed.removeFirst() }
  }

  /// Ends all monitors, because no connection can be opened any more.
  func finish(_ error: ClientError) { for queue in open.values { queue.finish(error) } }
}

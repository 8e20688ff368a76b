import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

/// Routes condition events to their monitors, and tracks which of them are handled.
///
/// The service accepts an acknowledgement for all events up to a number. A number is therefore acknowledged when it
/// and all earlier ones are handled, over all monitors. Events of a monitor that is not open wait as long as the
/// service keeps them.
struct MonitorEventRouter {
  /// Maximum number of waiting events, as in the service.
  static let capacity = 64

  typealias Event = LocationMonitor.Event

  private var open: [String: Mailbox<Event>] = [:]
  /// Events of monitors that are not open, oldest first.
  private var unclaimed: [Event] = []
  /// Numbers that were received and are not handled, in order.
  private var outstanding: [UInt32] = []
  private var newest: UInt32 = 0

  /// Opens a monitor; nil if it is already open (REG-11).
  mutating func open(_ monitor: String) -> Mailbox<Event>? {
    guard open[monitor] == nil else { return nil }
    let mailbox = Mailbox<Event> { waiting, event in
      if waiting.count == MonitorEventRouter.capacity { waiting.removeFirst() }
      waiting.append(event)
    }
    open[monitor] = mailbox
    for event in unclaimed where event.monitor == monitor { mailbox.put(event) }
    unclaimed.removeAll { $0.monitor == monitor }
    return mailbox
  }

  /// Closes a monitor; its conditions stay monitored.
  mutating func close(_ monitor: String) {
    guard let mailbox = open.removeValue(forKey: monitor) else { return }
    mailbox.finish()
    // Unread events go to the next monitor of that name.
    for event in mailbox.removeAll() { keepUnclaimed(event) }
  }

  /// Routes a received event.
  mutating func route(_ received: WireRegionEvent, number: UInt32) {
    guard let event = Event(received, number: number) else { return }
    if number > 0 {
      newest = max(newest, number)
      outstanding.append(number)
      if outstanding.count > MonitorEventRouter.capacity { outstanding.removeFirst() }
    }
    if let mailbox = open[event.monitor] { return mailbox.put(event) }
    keepUnclaimed(event)
  }

  private mutating func keepUnclaimed(_ event: Event) {
    unclaimed.append(event)
    if unclaimed.count > MonitorEventRouter.capacity { unclaimed.removeFirst() }
  }

  /// Marks an event as handled.
  ///
  /// - Returns: Number up to which all events are handled now; nil if that has not changed.
  mutating func markHandled(_ number: UInt32) -> UInt32? {
    guard let index = outstanding.firstIndex(of: number) else { return nil }
    outstanding.remove(at: index)
    guard index == 0 else { return nil }
    return outstanding.first.map { $0 - 1 } ?? newest
  }

  /// Ends all monitors when the connection has ended.
  func finish(_ error: ClientError) {
    for mailbox in open.values { mailbox.finish(error) }
  }
}

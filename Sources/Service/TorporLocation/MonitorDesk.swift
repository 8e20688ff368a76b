import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

/// Hands the events of conditions to the monitors they belong to, and knows what of them is handled.
///
/// The service takes an acknowledgement for all events up to a number. So a number is acknowledged when it and
/// all before it are handled, whichever monitor they are of; an event of a monitor that nobody has opened
/// waits, as long as the service keeps it.
struct MonitorDesk {
  /// The most events that wait: what the service keeps for a client.
  static let capacity = 64

  typealias Event = LocationMonitor.Event

  private var open: [String: Mailbox<Event>] = [:]
  /// Events of monitors that are not open, oldest first.
  private var unclaimed: [Event] = []
  /// Numbers that were told and are not handled, in their order.
  private var outstanding: [UInt32] = []
  private var newest: UInt32 = 0

  /// Opens a monitor; nil where it is open already (REG-11).
  mutating func open(_ monitor: String) -> Mailbox<Event>? {
    guard open[monitor] == nil else { return nil }
    let mailbox = Mailbox<Event> { waiting, event in
      if waiting.count == MonitorDesk.capacity { waiting.removeFirst() }
      waiting.append(event)
    }
    open[monitor] = mailbox
    for event in unclaimed where event.monitor == monitor { mailbox.put(event) }
    unclaimed.removeAll { $0.monitor == monitor }
    return mailbox
  }

  /// Closes a monitor; its conditions go on.
  mutating func close(_ monitor: String) {
    guard let mailbox = open.removeValue(forKey: monitor) else { return }
    mailbox.finish()
    // Nobody has read them; who opens it next does.
    for event in mailbox.takeAll() { keep(event) }
  }

  /// An event has come.
  mutating func take(_ told: WireRegionEvent, number: UInt32) {
    guard let event = Event(told, number: number) else { return }
    if number > 0 {
      newest = max(newest, number)
      outstanding.append(number)
      if outstanding.count > MonitorDesk.capacity { outstanding.removeFirst() }
    }
    if let mailbox = open[event.monitor] { return mailbox.put(event) }
    keep(event)
  }

  private mutating func keep(_ event: Event) {
    unclaimed.append(event)
    if unclaimed.count > MonitorDesk.capacity { unclaimed.removeFirst() }
  }

  /// An event is handled.
  ///
  /// - Returns: Up to which number all are handled now; nil where nothing is new.
  mutating func handled(_ number: UInt32) -> UInt32? {
    guard let place = outstanding.firstIndex(of: number) else { return nil }
    outstanding.remove(at: place)
    guard place == 0 else { return nil }
    return outstanding.first.map { $0 - 1 } ?? newest
  }

  /// The connection is over.
  func end(_ error: ClientError) {
    for mailbox in open.values { mailbox.finish(error) }
  }
}

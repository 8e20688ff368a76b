import LocationWire

/// Visits and region events that a client has not acknowledged, in the order in which they happened
/// (VIS-8, REG-13, BKG-4).
///
/// Each has a number, one higher than that of the event before, so that a client sees from a number
/// that is missing that the queue was full and its oldest went.
struct EventQueue {
  /// So many wait at the most.
  static let capacity = 64

  struct Event {
    let number: UInt32
    let notice: WireNotice
    /// The process that listens now was told of it.
    var isTold = false
  }

  private(set) var events: [Event] = []
  /// The number of the newest there ever was; 0 if there was none.
  private(set) var last: UInt32

  /// - Parameters:
  ///   - events: What came back from disk, in order.
  ///   - last: The newest number that was given.
  init(_ events: [Event] = [], last: UInt32 = 0) {
    self.events = Array(events.suffix(EventQueue.capacity))
    self.last = max(last, events.last?.number ?? 0)
  }

  /// Adds an event; gives it, and the number of the one that had to go for it.
  mutating func append(_ make: (UInt32) -> WireNotice) -> (added: Event, lost: UInt32?) {
    precondition(last < .max, "nobody lives to see four billion visits")
    last += 1
    let added = Event(number: last, notice: make(last))
    let lost = events.count == EventQueue.capacity ? events.removeFirst().number : nil
    events.append(added)
    return (added, lost)
  }

  /// Removes what was told and is handled; gives the numbers.
  mutating func acknowledge(through number: UInt32) -> [UInt32] {
    let handled = events.filter { $0.isTold && $0.number <= number }.map(\.number)
    events.removeAll { $0.isTold && $0.number <= number }
    return handled
  }

  /// The next to tell of those that may be told; it counts as told.
  mutating func next(where isWanted: (WireNotice) -> Bool) -> WireNotice? {
    guard let place = events.firstIndex(where: { !$0.isTold && isWanted($0.notice) }) else {
      return nil
    }
    events[place].isTold = true
    return events[place].notice
  }

  /// Another process is to be told all of it again.
  mutating func rewind() { for i in events.indices { events[i].isTold = false } }

  /// Removes those; gives the numbers.
  mutating func remove(where isGone: (WireNotice) -> Bool) -> [UInt32] {
    let gone = events.filter { isGone($0.notice) }.map(\.number)
    events.removeAll { isGone($0.notice) }
    return gone
  }
}

import LocationPolicy
import LocationWire

/// What a client is still to be sent, in the order in which it happened (REG-8, BKG-2).
///
/// An entry is one of two kinds:
/// - An *event*, a visit or an event of a region or condition, stays until the client has acknowledged it, and is
///   sent again to the client's next process (VIS-8, REG-13, BKG-4). It has a number, one higher than that of the
///   event before, so that a client recognises from a missing number that the queue was full and the oldest
///   event was removed. Events are durable; their rows in the state database belong to `LocationServer`.
/// - A *notice* is anything else. It is removed when it is written, or when the client's process ends.
///
/// An event that the client's process may not have yet (BKG-6, BKG-14) is passed over; it keeps its place.
struct NoticeQueue {
  /// How many events wait at most; the oldest is removed for one more.
  static let eventCapacity = 64
  /// How many notices wait at most.
  static let noticeCapacity = 256

  /// A visit, or an event of a region or condition.
  struct Event {
    let number: UInt32
    let notice: WireNotice
    /// The process that listens now was sent it.
    var isSent = false
  }

  /// One thing to send.
  enum Entry {
    case event(Event)
    case notice(Notice)
  }

  private(set) var entries: [Entry]
  /// The newest number there ever was; 0 if there was none.
  private(set) var lastNumber: UInt32
  private(set) var eventCount: Int
  /// Notices that are not written yet.
  var noticeCount: Int { entries.count - eventCount }

  /// - Parameters:
  ///   - events: What came back from disk, in order.
  ///   - last: The newest number that was given.
  init(_ events: [Event] = [], last: UInt32 = 0) {
    let kept = events.suffix(NoticeQueue.eventCapacity)
    entries = kept.map { .event($0) }
    eventCount = kept.count
    lastNumber = max(last, events.last?.number ?? 0)
  }

  /// The oldest event that was not acknowledged.
  var firstEvent: Event? { entries.lazy.compactMap(\.event).first }

  /// The notices that are not written yet.
  var notices: [Notice] { entries.compactMap(\.notice) }

  // MARK: What is added

  /// Adds an event; gives it, and the number of the one that was removed for it.
  mutating func appendEvent(_ make: (UInt32) -> WireNotice) -> (added: Event, lost: UInt32?) {
    precondition(lastNumber < .max, "nobody lives to see four billion visits")
    lastNumber += 1
    let added = Event(number: lastNumber, notice: make(lastNumber))
    var lost: UInt32?
    if eventCount == NoticeQueue.eventCapacity,
      let oldest = entries.firstIndex(where: { $0.event != nil })
    {
      lost = entries[oldest].event?.number
      entries.remove(at: oldest)
      eventCount -= 1
    }
    entries.append(.event(added))
    eventCount += 1
    return (added, lost)
  }

  /// Adds a notice.
  ///
  /// Where ``noticeCapacity`` notices wait, the oldest state of a silenced crossing is removed for it: a suspended
  /// client collects them without end.
  ///
  /// - Returns: false if there is no room.
  mutating func append(_ notice: Notice) -> Bool {
    if noticeCount == NoticeQueue.noticeCapacity {
      guard let oldest = entries.firstIndex(where: \.isSilencedCrossing) else { return false }
      entries.remove(at: oldest)
    }
    entries.append(.notice(notice))
    return true
  }

  // MARK: What is sent

  /// The place of the next entry to send; nil when nothing waits.
  ///
  /// - Parameter isWanted: Whether the process may have an event now.
  func nextPlace(where isWanted: (WireNotice) -> Bool) -> Int? {
    entries.firstIndex { entry in
      switch entry {
      case .event(let event): !event.isSent && isWanted(event.notice)
      case .notice: true
      }
    }
  }

  /// The entry at a place is written: an event stays until it is acknowledged, a notice is removed.
  mutating func markSent(at place: Int) {
    switch entries[place] {
    case .event(var event):
      event.isSent = true
      entries[place] = .event(event)
    case .notice: entries.remove(at: place)
    }
  }

  /// Of the notice at a place this is left to send.
  mutating func replaceNotice(at place: Int, with rest: Notice) {
    precondition(entries[place].notice != nil, "an event is sent at once")
    entries[place] = .notice(rest)
  }

  /// Another process is to be sent all events again.
  mutating func rewind() {
    for i in entries.indices {
      guard var event = entries[i].event else { continue }
      event.isSent = false
      entries[i] = .event(event)
    }
  }

  // MARK: What is removed

  /// Removes the events that were sent and are handled; gives their numbers.
  mutating func acknowledge(through number: UInt32) -> [UInt32] {
    removeEvents { $0.isSent && $0.number <= number }
  }

  /// Removes events; gives their numbers.
  mutating func removeEvents(where isGone: (Event) -> Bool) -> [UInt32] {
    let gone = entries.compactMap(\.event).filter(isGone).map(\.number)
    guard !gone.isEmpty else { return [] }
    entries.removeAll { $0.event.map(isGone) ?? false }
    eventCount -= gone.count
    return gone
  }

  /// Removes notices.
  mutating func removeNotices(where isGone: (Notice) -> Bool = { _ in true }) {
    entries.removeAll { $0.notice.map(isGone) ?? false }
  }
}

extension NoticeQueue.Entry {
  /// The event; nil for a notice.
  var event: NoticeQueue.Event? {
    switch self {
    case .event(let event): event
    case .notice: nil
    }
  }

  /// The notice; nil for an event.
  var notice: Notice? {
    switch self {
    case .event: nil
    case .notice(let notice): notice
    }
  }

  /// Whether it is the state of a crossing whose enter or exit the client has silenced (REG-9).
  fileprivate var isSilencedCrossing: Bool {
    if case .notice(.region(.crossedSilently)) = self { true } else { false }
  }
}

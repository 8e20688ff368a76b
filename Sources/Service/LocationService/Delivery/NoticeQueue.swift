import LocationPolicy
import LocationTypes
import LocationWire

/// Queue of a client's unsent notices and unacknowledged events, in the order of occurrence (REG-8, BKG-2).
///
/// An entry is one of two kinds:
/// - An *event*, a visit or an event of a region or condition, stays until the client has acknowledged it, and is
///   sent again to the client's next process (VIS-8, REG-13, BKG-4). It has a number, one higher than that of the
///   preceding event: a missing number shows the client that an event was removed, normally the oldest one of a
///   full queue. Events are durable; `LocationServer` maintains their rows in the state database.
/// - A *notice* is anything else. It is removed when it is sent, or when the client's process ends.
///
/// An event that the client's process may not receive yet (BKG-6, BKG-14) is skipped and keeps its position.
struct NoticeQueue {
  /// Maximum number of events. A further event removes the oldest.
  static let eventCapacity = 64
  /// Maximum number of notices.
  static let noticeCapacity = 256

  /// A visit, or an event of a region or condition.
  struct Event {
    let number: UInt32
    let notice: WireNotice
    /// Whether it was sent to the current notice connection.
    fileprivate(set) var isSent = false
  }

  /// One entry.
  enum Entry {
    case event(Event)
    case notice(Notice)
  }

  private(set) var entries: [Entry]
  /// Number of the newest event; 0 before the first.
  private(set) var lastNumber: UInt32
  private(set) var eventCount: Int
  /// Region of the enter or exit event just queued; its state notice follows.
  private var crossedRegion: RegionIdentifier?
  /// Number of unsent notices.
  var noticeCount: Int { entries.count - eventCount }

  /// - Parameters:
  ///   - events: Events restored from disk, in order.
  ///   - last: Number of the newest event that was ever queued.
  init(_ events: [Event] = [], last: UInt32 = 0) {
    let newest = events.suffix(NoticeQueue.eventCapacity)
    entries = newest.map { .event($0) }
    eventCount = newest.count
    lastNumber = max(last, events.last?.number ?? 0)
  }

  /// The oldest unacknowledged event; nil without one.
  var firstEvent: Event? { entries.lazy.compactMap(\.event).first }

  /// The unsent notices.
  var notices: [Notice] { entries.compactMap(\.notice) }

  // MARK: Adding

  /// Adds an event. Returns the event, and the number of the oldest one if that was removed from a full queue.
  mutating func appendEvent(_ make: (UInt32) -> WireNotice) -> (added: Event, lost: UInt32?) {
    precondition(lastNumber < .max, "event numbers are 32 bits and never reused")
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
  /// With ``noticeCapacity`` notices in the queue, the oldest state of a silenced crossing is removed: a suspended
  /// client accumulates them without bound.
  ///
  /// - Returns: false if the queue is full.
  mutating func append(_ notice: Notice) -> Bool {
    if noticeCount == NoticeQueue.noticeCapacity {
      guard let oldest = entries.firstIndex(where: \.isSilencedCrossing) else { return false }
      entries.remove(at: oldest)
    }
    entries.append(.notice(notice))
    return true
  }

  /// Records that the enter or exit event of a region was just queued.
  mutating func noteCrossing(of region: RegionIdentifier) { crossedRegion = region }

  /// The region of the preceding notice, if that was its enter or exit event.
  mutating func consumeCrossing() -> RegionIdentifier? {
    defer { crossedRegion = nil }
    return crossedRegion
  }

  // MARK: Sending

  /// Index of the next entry to send; nil without one.
  ///
  /// - Parameter mayReceive: Whether the process may receive an event now.
  func nextIndex(where mayReceive: (WireNotice) -> Bool) -> Int? {
    entries.firstIndex { entry in
      switch entry {
      case .event(let event): !event.isSent && mayReceive(event.notice)
      case .notice: true
      }
    }
  }

  /// Marks an entry as sent: an event stays until it is acknowledged, a notice is removed.
  mutating func markSent(at index: Int) {
    switch entries[index] {
    case .event(var event):
      event.isSent = true
      entries[index] = .event(event)
    case .notice: entries.remove(at: index)
    }
  }

  /// Replaces a partly sent notice by its remainder.
  mutating func replaceNotice(at index: Int, with remainder: Notice) {
    precondition(entries[index].notice != nil, "an event is sent as a whole")
    entries[index] = .notice(remainder)
  }

  /// Marks all events as unsent, for a new notice connection.
  mutating func markAllUnsent() {
    for i in entries.indices {
      guard var event = entries[i].event else { continue }
      event.isSent = false
      entries[i] = .event(event)
    }
  }

  // MARK: Removing

  /// Removes the sent events up to a number. Returns their numbers.
  mutating func acknowledge(through number: UInt32) -> [UInt32] {
    removeEvents { $0.isSent && $0.number <= number }
  }

  /// Removes events. Returns their numbers.
  mutating func removeEvents(where shouldRemove: (Event) -> Bool) -> [UInt32] {
    let removed = entries.compactMap(\.event).filter(shouldRemove).map(\.number)
    guard !removed.isEmpty else { return [] }
    entries.removeAll { $0.event.map(shouldRemove) ?? false }
    eventCount -= removed.count
    return removed
  }

  /// Removes notices.
  mutating func removeNotices(where shouldRemove: (Notice) -> Bool = { _ in true }) {
    entries.removeAll { $0.notice.map(shouldRemove) ?? false }
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

  /// Whether it is the state of a crossing whose enter or exit event the client has disabled (REG-9).
  fileprivate var isSilencedCrossing: Bool {
    if case .notice(.region(.crossedSilently)) = self { true } else { false }
  }
}

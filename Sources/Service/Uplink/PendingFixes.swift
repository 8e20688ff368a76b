import LocationTypes
import LocationWire
import UplinkPayload

/// Fixes, gaps and events that the service has delivered and the store has not confirmed yet.
///
/// It is no queue: all of it is kept by the service, and is delivered again to the next session if this program ends. It
/// keeps only what one session has received, up to ``limit`` entries.
///
/// Invariants: entries are in the order of delivery. ``next(limit:)`` returns the oldest entries as one message;
/// only ``confirm(_:)`` and ``removeAll()`` remove entries. A gap waits for the fix that follows it: only that fix can be
/// acknowledged to the service, and it may belong to another generation.
struct PendingFixes {
  /// Largest number of entries: the fixes of one message.
  static let limit = UplinkLimits.fixes

  private enum Entry {
    case fix(StoredFix)
    case gap(Gap)
    case event(number: UInt32, json: [UInt8])

    var name: FixName? { if case .fix(let stored) = self { stored.name } else { nil } }
  }

  private var entries: [Entry] = []
  private var confirmedCount = 0
  /// The last fix that was confirmed in this session.
  private(set) var preceding: FixName?
  /// Number of the last event that was confirmed in this session; nil if there is none.
  private(set) var confirmedEvent: UInt32?
  /// Number of entries that were confirmed in this session.
  private(set) var confirmations = 0
  /// Whether entries were dropped because there was no space. They are delivered again to the next session.
  private(set) var hasDropped = false

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }
  var isFull: Bool { entries.count >= PendingFixes.limit }
  /// Whether ``next(limit:)`` returns a message.
  var hasMessage: Bool {
    switch entries.first {
    case .fix, .event: true
    case .gap: entries.contains { $0.name != nil }
    case nil: false
    }
  }
  /// Number of the newest event of this session; nil if there is none.
  private(set) var newestEvent: UInt32?

  /// The oldest fix.
  var oldest: StoredFix? {
    for case .fix(let stored) in entries { return stored }
    return nil
  }

  /// Adds delivered fixes.
  mutating func add(_ fixes: [StoredFix]) {
    for fix in fixes { add(.fix(fix)) }
  }

  /// Adds a reported gap.
  mutating func add(_ gap: Gap) { add(.gap(gap)) }

  /// Adds an event, as JSON.
  mutating func add(event number: UInt32, _ json: [UInt8]) {
    add(.event(number: number, json: json))
    newestEvent = number
  }

  private mutating func add(_ entry: Entry) {
    // After a dropped entry, a later one must not be confirmed: that would acknowledge the dropped one.
    guard !isFull, !hasDropped else {
      hasDropped = true
      return
    }
    entries.append(entry)
  }

  /// UTC minus boot clock, from the first fix of a generation that has a date; nil if none has.
  func clockOffset(of generation: UInt32) -> Int64? {
    for case .fix(let stored) in entries where stored.name.generation == generation {
      if let utc = stored.fix.utc { return utc.microseconds - stored.fix.acquired.microseconds }
    }
    return nil
  }

  /// Whether all fixes of a generation are here or were confirmed, because a later one has begun; or no further fix can be
  /// added.
  func isComplete(_ generation: UInt32) -> Bool {
    isFull || hasDropped || entries.contains { $0.name.map { $0.generation > generation } ?? false }
  }

  /// Removes everything: the permission was revoked or reduced.
  mutating func removeAll() { self = PendingFixes() }

  /// The oldest entries that fit in one message with at most `limit` fixes; nil if there are none.
  func next(limit: Int = PendingFixes.limit) -> UplinkContent? {
    switch entries.first {
    case nil: return nil
    case .event(let number, let json): return .event(number: UInt64(number), json: json)
    case .gap(let gap):
      guard let following = entries.lazy.compactMap(\.name).first else { return nil }
      return .gap(gap, generation: following.generation)
    case .fix(let start):
      var fixes: [StoredFix] = []
      for entry in entries {
        guard case .fix(let fix) = entry, fixes.count < limit,
          fix.name.generation == start.name.generation,
          fixes.last.map({ fix.name.sequence > $0.name.sequence }) ?? true
        else { break }
        fixes.append(fix)
      }
      return .fixes(fixes)
    }
  }

  /// Removes the entries of a confirmed message: the content that ``next(limit:)`` has returned.
  mutating func confirm(_ content: UplinkContent) {
    entries.removeFirst(content.count)
    confirmations += content.count
    switch content {
    case .fixes(let fixes):
      if let last = fixes.last { preceding = last.name }
      confirmedCount += fixes.count
    case .event(let number, _): confirmedEvent = UInt32(number)
    case .gap: break
    }
  }

  /// Number of fixes that were confirmed since the last call.
  mutating func takeConfirmedCount() -> Int {
    defer { confirmedCount = 0 }
    return confirmedCount
  }
}

extension UplinkContent {
  /// Last level of the topic.
  var topic: String {
    switch self {
    case .fixes: "fixes"
    case .gap: "gap"
    case .event: "event"
    }
  }

  /// Number of entries of ``PendingFixes``.
  var count: Int { if case .fixes(let fixes) = self { fixes.count } else { 1 } }
}

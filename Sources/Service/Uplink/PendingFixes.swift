import LocationTypes
import LocationWire
import UplinkPayload

/// Fixes and gaps that the service has delivered and the store has not confirmed yet.
///
/// It is no queue: all of it is in the ring, and is delivered again to the next session if this program ends. It keeps
/// only what one session has received, up to ``limit`` fixes.
///
/// Invariants: entries are in the order of delivery. ``next()`` returns the oldest entries as one message; only
/// ``confirm(_:)`` and ``removeAll()`` remove entries. A gap waits for the fix that follows it: only that fix can be
/// acknowledged to the service, and it may belong to another generation.
struct PendingFixes {
  /// Largest number of entries: the fixes of one message.
  static let limit = UplinkLimits.fixes

  private enum Entry {
    case fix(StoredFix)
    case gap(Gap)

    var name: FixName? { if case .fix(let stored) = self { stored.name } else { nil } }
  }

  /// What a message contains, to compare with a receipt.
  struct Part: Equatable {
    /// Content of the message.
    let content: UplinkContent
    /// Name of the last fix; nil for a gap.
    let last: FixName?
    /// Number of entries.
    fileprivate let count: Int
  }

  private var entries: [Entry] = []
  private var confirmedCount = 0
  /// The last fix that was confirmed in this session.
  private(set) var preceding: FixName?
  /// Whether fixes were dropped because there was no space. They are delivered again to the next session.
  private(set) var hasDropped = false

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }
  var isFull: Bool { entries.count >= PendingFixes.limit }
  /// Whether ``next()`` returns a message.
  var hasMessage: Bool { entries.contains { $0.name != nil } }
  /// The newest fix.
  var last: FixName? { entries.last { $0.name != nil }?.name }

  /// Adds delivered fixes.
  mutating func add(_ fixes: [StoredFix]) {
    for fix in fixes { add(.fix(fix)) }
  }

  /// Adds a reported gap.
  mutating func add(_ gap: Gap) { add(.gap(gap)) }

  private mutating func add(_ entry: Entry) {
    // After a dropped entry, a later one must not be confirmed: that would acknowledge the dropped one.
    guard !isFull, !hasDropped else {
      hasDropped = true
      return
    }
    entries.append(entry)
  }

  /// Removes everything: the permission was revoked.
  mutating func removeAll() { self = PendingFixes() }

  /// The oldest entries that fit in one message; nil if there are none.
  func next() -> Part? {
    guard let first = entries.first else { return nil }
    switch first {
    case .gap(let gap):
      guard let following = entries.lazy.compactMap(\.name).first else { return nil }
      return Part(
        content: .gap(gap, generation: following.generation), last: nil, count: 1)
    case .fix(let start):
      var fixes: [StoredFix] = []
      for entry in entries {
        guard case .fix(let fix) = entry, fix.name.generation == start.name.generation,
          fixes.last.map({ fix.name.sequence > $0.name.sequence }) ?? true
        else { break }
        fixes.append(fix)
      }
      return Part(content: .fixes(fixes), last: fixes.last?.name, count: fixes.count)
    }
  }

  /// Removes the entries of a confirmed part.
  mutating func confirm(_ part: Part) {
    entries.removeFirst(part.count)
    guard let last = part.last else { return }
    preceding = last
    confirmedCount += part.count
  }

  /// Number of fixes that were confirmed since the last call.
  mutating func takeConfirmedCount() -> Int {
    defer { confirmedCount = 0 }
    return confirmedCount
  }
}

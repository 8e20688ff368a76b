import LocationTypes

/// How soon a program says that it has handled what it was told.
///
/// An acknowledgement counts for all before it, so one for many fixes does; until it is said they come
/// again to a program that died (RNG-3), and a board that sleeps between fixes stays awake for it, the
/// profile's `delivery_hold_s` at the most (RNG-8).
public enum AcknowledgementPace: Equatable, Sendable {
  /// At once.
  case atOnce
  /// When so many fixes were handled, or the oldest of them so long ago.
  case relaxed(fixes: Int, within: Interval)

  /// For a program that is told every fix on a board that does not sleep: 30 fixes or 30 seconds.
  public static let relaxed = AcknowledgementPace.relaxed(fixes: 30, within: .seconds(30))
}

/// What a program has handled and not acknowledged yet.
struct HandledFixes {
  private(set) var newest: FixName?
  private var count = 0
  private var since = Instant.boot

  /// Notes one more; an older one than before says nothing new.
  mutating func add(_ name: FixName, at now: Instant) {
    if let newest, (name.generation, name.sequence) <= (newest.generation, newest.sequence) {
      return
    }
    if newest == nil { since = now }
    newest = name
    count += 1
  }

  /// When it is to be said, if nothing else comes.
  func deadline(_ pace: AcknowledgementPace) -> Instant {
    guard newest != nil else { return .distantFuture }
    switch pace {
    case .atOnce: return since
    case .relaxed(let fixes, let limit): return count >= fixes ? since : since + limit
    }
  }

  /// What is to be said now, which is forgotten; nil for nothing.
  mutating func take(_ pace: AcknowledgementPace, at now: Instant) -> FixName? {
    guard deadline(pace) <= now else { return nil }
    return takeAll()
  }

  /// All there is.
  mutating func takeAll() -> FixName? {
    defer { self = HandledFixes() }
    return newest
  }
}

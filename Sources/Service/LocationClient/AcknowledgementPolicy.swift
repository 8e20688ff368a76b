import LocationTypes

/// When a program acknowledges the fixes that it has handled.
///
/// An acknowledgement covers all earlier fixes, so one for many fixes is enough. Unacknowledged fixes are delivered
/// again after a crash of the program (RNG-3), and a board that sleeps between fixes stays awake until the
/// acknowledgement, at most for the profile's `delivery_hold_s` (RNG-8).
public enum AcknowledgementPolicy: Equatable, Sendable {
  /// Immediately after each fix.
  case immediate
  /// After that number of fixes, or when the oldest one was handled that long ago.
  case batched(fixes: Int, within: Interval)

  /// For a program that receives every fix on a board that does not sleep: 30 fixes or 30 seconds.
  public static let batched = AcknowledgementPolicy.batched(fixes: 30, within: .seconds(30))
}

/// The fixes that were handled and not acknowledged yet.
struct HandledFixes {
  private(set) var newest: FixName?
  private var count = 0
  private var since = Instant.boot

  /// Adds a handled fix; ignores one that is older than the newest.
  mutating func add(_ name: FixName, at now: Instant) {
    if let newest, name <= newest { return }
    if newest == nil { since = now }
    newest = name
    count += 1
  }

  /// Time at which to acknowledge if no other fix is handled.
  func deadline(_ policy: AcknowledgementPolicy) -> Instant {
    guard newest != nil else { return .distantFuture }
    switch policy {
    case .immediate: return since
    case .batched(let fixes, let limit): return count >= fixes ? since : since + limit
    }
  }

  /// Name to acknowledge now, which is then cleared; nil if no acknowledgement is due.
  mutating func consumeDue(_ policy: AcknowledgementPolicy, at now: Instant) -> FixName? {
    guard deadline(policy) <= now else { return nil }
    return consumeAll()
  }

  /// The newest handled fix, due or not; clears it.
  mutating func consumeAll() -> FixName? {
    defer { self = HandledFixes() }
    return newest
  }
}

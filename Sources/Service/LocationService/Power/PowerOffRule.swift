import LinuxHAL
import LocationTypes

/// Decides when the board may be off: no program uses the service, and nothing is planned for long enough.
struct PowerOffRule {
  /// Delay before the next attempt after a refusal, doubled after each, up to the longest (PWR-4).
  static let firstPause = Interval.seconds(60)
  static let longestPause = Interval.seconds(3_600)

  /// Shortest off time that saves energy. Also the time without callers that is required before, so that a person or
  /// a program can connect after each start.
  let shortest: Interval
  /// Time from the alarm until the service runs.
  let lead: Interval
  /// Time since which no program uses the service; nil if one does.
  private(set) var deserted: Instant?
  /// Why the board stays on although it could be off; nil if switching off was not refused.
  private(set) var refusal: SleepHindrance?
  private var notBefore = Instant.boot
  private var pause = PowerOffRule.firstPause

  init(shortest: Interval, lead: Interval) {
    self.shortest = shortest
    self.lead = lead
  }

  /// Updates whether the service is in use, and checks whether switching off may be attempted.
  ///
  /// - Parameters:
  ///   - present: Number of connections that have made a call.
  ///   - end: Time at which the service must run again; nil if the board must not be off.
  /// - Returns: Whether to attempt it now.
  mutating func look(present: Int, until end: Instant?, at now: Instant) -> Bool {
    deserted = present == 0 ? deserted ?? now : nil
    guard let end, let deserted, now - deserted >= shortest, end - lead - now >= shortest else {
      refusal = nil
      notBefore = .boot
      pause = PowerOffRule.firstPause
      return false
    }
    return now >= notBefore
  }

  /// Records that an attempt was refused.
  ///
  /// - Returns: Whether the reason has changed.
  mutating func refuse(_ hindrance: SleepHindrance, at now: Instant) -> Bool {
    defer { refusal = hindrance }
    notBefore = now + pause
    pause = min(pause * 2, PowerOffRule.longestPause)
    return hindrance != refusal
  }

  /// Time of the next check if nothing happens before; nil if no check is needed.
  func nextLook(until end: Instant?, at now: Instant) -> Instant? {
    guard let end, let deserted else { return nil }
    let next = max(deserted + shortest, notBefore)
    return next > now && end - lead - next >= shortest ? next : nil
  }
}

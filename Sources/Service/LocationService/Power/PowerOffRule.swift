import LinuxHAL
import LocationTypes

/// When the board may be off: nobody is there, and nothing is to be done for long enough.
struct PowerOffRule {
  /// How long after a refusal it is asked again; doubled by each that follows, up to the longest (PWR-4).
  static let firstPause = Interval.seconds(60)
  static let longestPause = Interval.seconds(3_600)

  /// The shortest time that is worth it. It is also how long nobody must have been there, which is the time
  /// that a person or a program has after each start.
  let shortest: Interval
  /// From the alarm until the service runs.
  let lead: Interval
  /// Since when nobody is there.
  private(set) var deserted: Instant?
  /// Why the board stays on although it could be off; nil where it was not refused.
  private(set) var refusal: SleepHindrance?
  private var notBefore = Instant.boot
  private var pause = PowerOffRule.firstPause

  init(shortest: Interval, lead: Interval) {
    self.shortest = shortest
    self.lead = lead
  }

  /// Looks who is there, and whether the board could be off but for what may refuse it.
  ///
  /// - Parameters:
  ///   - present: How many are there.
  ///   - end: When the service must run again; nil where the board may not be off.
  /// - Returns: Whether it is to be asked now.
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

  /// It was asked, and something is against it.
  ///
  /// - Returns: Whether that is news.
  mutating func refuse(_ hindrance: SleepHindrance, at now: Instant) -> Bool {
    defer { refusal = hindrance }
    notBefore = now + pause
    pause = min(pause * 2, PowerOffRule.longestPause)
    return hindrance != refusal
  }

  /// When it is to be looked at again, if nothing happens; nil where that changes nothing.
  func nextLook(until end: Instant?, at now: Instant) -> Instant? {
    guard let end, let deserted else { return nil }
    let next = max(deserted + shortest, notBefore)
    return next > now && end - lead - next >= shortest ? next : nil
  }
}

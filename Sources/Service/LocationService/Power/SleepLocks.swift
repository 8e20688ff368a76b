import LocationTypes

/// Somebody's locks against sleep, as systemd's login manager has them: while there is one, no fix stays behind
/// for a board that will not sleep (DEF-28).
struct SleepLocks {
  /// How long after it was seen a lock is looked at again, if nothing happens; doubled each time up to the
  /// longest, so that its end is seen after no more time than it held, and one of days costs a wake an hour.
  static let firstPause = Interval.seconds(60)
  static let longestPause = Interval.seconds(3_600)

  /// Whether there was one when it was looked last.
  private(set) var isHeld = false
  /// When it must be looked again; `.distantFuture` for never.
  private(set) var due = Instant.distantFuture
  private var pause = SleepLocks.firstPause

  /// Looks, where that may matter: where the board would be suspended, or one was held.
  ///
  /// - Parameter holder: Asks the system.
  /// - Returns: Whether there is one; nil where that has not changed.
  mutating func look(
    wouldSuspend: Bool, at now: Instant, holder: () -> String?
  ) -> Bool? {
    guard wouldSuspend || isHeld else { return nil }
    let before = isHeld
    isHeld = holder() != nil
    if !isHeld {
      pause = SleepLocks.firstPause
      due = .distantFuture
    } else if !before || now >= due {
      due = now + pause
      pause = min(pause * 2, SleepLocks.longestPause)
    }
    return isHeld == before ? nil : isHeld
  }
}

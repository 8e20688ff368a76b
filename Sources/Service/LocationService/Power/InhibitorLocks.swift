import LocationTypes

/// Checks for sleep inhibitor locks of systemd-logind. While one is held, fixes are not deferred for a board that will
/// not sleep (DEF-28).
struct InhibitorLocks {
  /// Whether a lock was held at the last check.
  private(set) var isHeld = false
  /// Time of the next check; `.distantFuture` for never.
  var due: Instant { isHeld ? recheck.nextTime : .distantFuture }
  /// Interval between checks while a lock is held: a release is detected at the latest after the time that the lock was
  /// held plus a minute, and a lock of days costs one wake per hour.
  private var recheck = RetryBackoff(initial: .seconds(60), longest: .seconds(3_600))

  /// Checks, if the board would be suspended or a lock was held.
  ///
  /// - Parameter holder: Queries the system for the holder of a lock.
  /// - Returns: Whether a lock is held; nil if that has not changed.
  mutating func check(
    wouldSuspend: Bool, at now: Instant, holder: () -> String?
  ) -> Bool? {
    guard wouldSuspend || isHeld else { return nil }
    let wasHeld = isHeld
    isHeld = holder() != nil
    if !isHeld {
      recheck.reset()
    } else if !recheck.isWaiting(at: now) {
      recheck.recordFailure(at: now)
    }
    return isHeld == wasHeld ? nil : isHeld
  }
}

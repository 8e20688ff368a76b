import LocationTypes

/// Somebody's locks against sleep, as systemd's login manager has them: while there is one, no fix stays behind
/// for a board that will not sleep (DEF-28).
struct SleepLocks {
  /// How often a lock that holds is looked at: whoever has it keeps the board awake anyway.
  static let pace = Interval.seconds(60)

  /// Whether there was one when it was looked last.
  private(set) var isHeld = false
  /// When it was looked last, while one is held.
  private var looked = Instant.boot

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
    looked = now
    return isHeld == before ? nil : isHeld
  }

  /// When it must be looked again; `.distantFuture` for never.
  var due: Instant { isHeld ? looked + SleepLocks.pace : .distantFuture }
}

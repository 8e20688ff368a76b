import LinuxHAL
import LocationTypes

/// Decides when the board may be off: no program uses the service, and nothing is planned for long enough.
struct PowerOffRule {
  /// Shortest off time that saves energy. Also the time without callers that is required before, so that a person can
  /// log in after switching the board on.
  let minimumOffTime: Interval
  /// Time without callers that is required after a start by the board's own alarm, when only programs that the system
  /// starts can be expected. Shorter than any profile's `minimumOffTime`.
  static let unusedTimeAfterAlarm = Interval.seconds(30)
  /// Time from the alarm until the service runs.
  let startupTime: Interval
  /// Whether the board's own alarm started it, and since then only programs have used the service that it launched
  /// itself.
  private var isUnattended: Bool
  /// Time since which no program uses the service; nil if one does.
  private(set) var unusedSince: Instant?
  /// Why the board stays on although it could be off; nil if switching off was not refused.
  private(set) var blocker: SleepBlocker?
  /// Back-off after refusals (PWR-4).
  private var retry = RetryBackoff(initial: .seconds(60), longest: .seconds(3_600))

  init(minimumOffTime: Interval, startupTime: Interval, startedByAlarm: Bool) {
    isUnattended = startedByAlarm
    self.minimumOffTime = minimumOffTime
    self.startupTime = startupTime
  }

  /// Updates whether the service is in use, and checks whether switching off may be attempted.
  ///
  /// - Parameters:
  ///   - callers: Number of connections that have made a call.
  ///   - isAttended: Whether one of them belongs to a program that the service has not launched.
  ///   - end: Time at which the service must run again; nil if the board must not be off.
  /// - Returns: Whether to attempt to switch the board off now.
  mutating func check(
    callers: Int, isAttended: Bool, until end: Instant?, at now: Instant
  ) -> Bool {
    unusedSince = callers == 0 ? unusedSince ?? now : nil
    if isAttended { isUnattended = false }
    guard let end, let unusedSince, now - unusedSince >= requiredUnusedTime,
      end - startupTime - now >= minimumOffTime
    else {
      blocker = nil
      retry.reset()
      return false
    }
    return !retry.isWaiting(at: now)
  }

  private var requiredUnusedTime: Interval {
    isUnattended ? PowerOffRule.unusedTimeAfterAlarm : minimumOffTime
  }

  /// Records that an attempt was refused.
  ///
  /// - Returns: Whether the reason has changed.
  mutating func recordRefusal(_ blocker: SleepBlocker, at now: Instant) -> Bool {
    defer { self.blocker = blocker }
    retry.recordFailure(at: now)
    return blocker != self.blocker
  }

  /// Time of the next check if nothing happens before; nil if no check is needed.
  func nextCheck(until end: Instant?, at now: Instant) -> Instant? {
    guard let end, let unusedSince else { return nil }
    let next = max(unusedSince + requiredUnusedTime, retry.nextTime)
    return next > now && end - startupTime - next >= minimumOffTime ? next : nil
  }
}

import LinuxHAL
import LocationPolicy
import LocationTypes

/// Prepares to switch the board off when ``PowerOffRule`` permits it.
///
/// Owner: ``LocationService``, which ends after a successful attempt.
struct PowerOffControl {
  /// Result of an attempt.
  enum Outcome: Equatable {
    /// The rule does not permit it now.
    case notNow
    /// The system refused; nil for the same reason as before.
    case refused(SleepBlocker?)
    /// The alarm is set, and the intent is on the disk. The board will be off for that time.
    case prepared(Interval)
  }

  private let board: BoardPowerOff
  private var rule: PowerOffRule<SleepBlocker>
  /// Whether the engine plans for a board that may be switched off.
  private var isPlanned = false

  /// Nil if the board has no alarm, or saves nothing while off.
  ///
  /// - Parameters:
  ///   - parameters: The engine's parameters of the board while it may be switched off.
  ///   - cause: How the board was started; nil if the service had not switched it off.
  ///   - now: Current time.
  init?(
    _ board: BoardPowerOff, _ parameters: BoardParameters, after cause: WakeIntent.StartCause?,
    at now: Instant
  ) {
    guard board.isPossible,
      var rule = PowerOffRule<SleepBlocker>(parameters, startedByAlarm: cause == .byAlarm)
    else { return nil }
    if cause == .sameBoot { rule.recordFailure(at: now) }
    self.board = board
    self.rule = rule
  }

  /// Why the board stays on although it could be off; nil if it does not.
  var blocker: SleepBlocker? { rule.refusal }

  /// Returns whether the engine is to plan for a board that may be switched off, if that has changed.
  ///
  /// - Parameter mayBeOff: Whether no program uses the service, and no line must wake the board.
  mutating func planChange(mayBeOff: Bool) -> Bool? {
    let mayBeOff = mayBeOff && rule.refusal == nil
    guard mayBeOff != isPlanned else { return nil }
    isPlanned = mayBeOff
    return mayBeOff
  }

  /// Time of the next check if nothing happens before; nil if no check is needed.
  func nextCheck(until end: Instant?, at now: Instant) -> Instant? {
    rule.nextCheck(until: end, at: now)
  }

  /// Checks the rule, and prepares to switch the board off if it permits that.
  ///
  /// - Parameters:
  ///   - callers: Number of connections that have made a call.
  ///   - isAttended: Whether one of them belongs to a program that the service has not launched.
  ///   - end: Time at which the service must run again; nil if the board must not be off.
  mutating func attempt(
    callers: Int, isAttended: Bool, until end: Instant?, at now: Instant
  ) -> Outcome {
    guard rule.check(callers: callers, isAttended: isAttended, until: end, at: now), let end else {
      return .notNow
    }
    if let blocker = board.prepare(until: end) {
      return .refused(rule.recordRefusal(blocker, at: now) ? blocker : nil)
    }
    return .prepared(end - now)
  }
}

import LinuxHAL
import LocationPolicy
import LocationRuntime
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

  /// Returns whether the engine is to plan for a board that may be switched off, if that has changed.
  ///
  /// - Parameter mayBeOff: Whether no program uses the service, and no line must wake the board.
  fileprivate mutating func planChange(mayBeOff: Bool) -> Bool? {
    let mayBeOff = mayBeOff && rule.refusal == nil
    guard mayBeOff != isPlanned else { return nil }
    isPlanned = mayBeOff
    return mayBeOff
  }

  /// Time of the next check if nothing happens before; nil if no check is needed.
  fileprivate func nextCheck(until end: Instant?, at now: Instant) -> Instant? {
    rule.nextCheck(until: end, at: now)
  }

  /// Checks the rule, and prepares to switch the board off if it permits that.
  ///
  /// - Parameters:
  ///   - use: How programs use the service.
  ///   - end: Time at which the service must run again; nil if the board must not be off.
  fileprivate mutating func attempt(
    _ use: ServiceUse, until end: Instant?, at now: Instant
  ) -> Outcome {
    guard rule.check(use, until: end, at: now), let end else { return .notNow }
    if let blocker = board.prepare(until: end, at: now) {
      return .refused(rule.recordRefusal(blocker, at: now) ? blocker : nil)
    }
    return .prepared(end - now)
  }

  /// Why the board stays on although it could be off; nil if it does not.
  fileprivate var blocker: SleepBlocker? { rule.refusal }
}

extension LocationLoop where Board: ~Copyable, Clients == LocationServer {
  /// Has the engine plan for a board that may be switched off while no program uses the service and no line must wake
  /// the board (PWR-14). Called before each turn.
  mutating func planPowerOff(_ control: inout PowerOffControl?) {
    guard control != nil else { return }
    let mayBeOff = clients.serviceUse.programs == 0 && !engine.usesMotionLine
    if let change = control?.planChange(mayBeOff: mayBeOff) { allowPowerOff(change) }
  }

  /// Time of the next check whether the board may be off; `.distantFuture` for never.
  func powerOffDue(_ control: PowerOffControl?, at now: Instant) -> Instant {
    control?.nextCheck(until: plannedPowerOffEnd, at: now) ?? .distantFuture
  }

  /// Checks the rule after a turn, and prepares to switch the board off if it permits that. Reports the reason if the
  /// board stays on although it could be off.
  mutating func attemptPowerOff(
    _ control: inout PowerOffControl?, at now: Instant
  ) -> PowerOffControl.Outcome {
    guard let outcome = control?.attempt(clients.serviceUse, until: plannedPowerOffEnd, at: now)
    else { return .notNow }
    clients.setPowerOffBlocker(control?.blocker)
    return outcome
  }

  /// Time at which the service must run again; nil if the board must not be off, or no wake time is planned.
  private var plannedPowerOffEnd: Instant? {
    guard let end = powerOffEnd, end < .distantFuture else { return nil }
    return end
  }
}

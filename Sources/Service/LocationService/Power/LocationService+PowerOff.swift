import LinuxHAL
import LocationTypes

// The deepest sleep state: the board is off until an alarm, if its profile permits that. It ends all programs,
// including this service, so the decision is made here and not in the engine's plan.

extension LocationService {
  /// Time of the next check whether the board may be off; `.distantFuture` for never.
  var powerOffDue: Instant {
    powerOffRule?.nextCheck(until: powerOffEnd, at: now) ?? .distantFuture
  }

  /// Time at which the service must run again; nil if the board must not be off, or no wake time is planned.
  ///
  /// The board may be off if it may sleep and the receiver is asleep. While it is off, only the alarm can wake it and
  /// motion is not detected, so a board with a motion line in use stays on.
  private var powerOffEnd: Instant? {
    guard let plan = loop.planned, plan.board >= .idle, !loop.engine.isSleepInhibited,
      plan.wake < .distantFuture, !loop.engine.isReceiverAwake, !loop.engine.usesMotionLine
    else { return nil }
    return plan.wake
  }

  /// Whether to switch the board off now. Sets the alarm and writes the intent to the disk before returning true.
  mutating func preparePowerOff() -> Bool {
    guard let powerOff, var rule = powerOffRule else { return false }
    let now = self.now
    let end = powerOffEnd
    defer {
      powerOffRule = rule
      loop.clients.power.setPowerOffBlocker(rule.blocker)
    }
    guard rule.check(callers: loop.clients.callerCount, until: end, at: now), let end else {
      return false
    }
    if let blocker = powerOff.prepare(until: end) {
      if rule.recordRefusal(blocker, at: now) {
        log.write(.notice, "the board stays on although it could be off: \(blocker)")
      }
      return false
    }
    log.write(.notice, "the board is switched off for \(Int((end - now).seconds)) s")
    return true
  }
}

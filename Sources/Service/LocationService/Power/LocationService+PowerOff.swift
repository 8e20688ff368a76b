import LinuxHAL
import LocationTypes

// The deepest sleep: the board is off until an alarm, where its profile has that. It ends every program
// and the service too, so it is here that it is decided, and not in the engine's plan.

extension LocationService {
  /// When it is worth looking whether the board may be off; `.distantFuture` for never.
  var powerOffDue: Instant { offRule?.nextLook(until: offEnd, at: now) ?? .distantFuture }

  /// When the service must run again; nil where the board may not be off, or nothing would wake it for
  /// anything.
  ///
  /// It may be off where it may sleep and the receiver rests. A board that is switched on by nothing but
  /// its alarm hears no motion; so one that makes use of that stays on.
  private var offEnd: Instant? {
    guard let plan = loop.planned, plan.board >= .idle, !loop.engine.isSleepInhibited,
      plan.wake < .distantFuture, !loop.engine.isReceiverAwake, !loop.engine.usesMotionLine
    else { return nil }
    return plan.wake
  }

  /// Whether the board is to be switched off now; then its alarm is set, and the wish on the disk.
  mutating func isToPowerOff() -> Bool {
    guard let powerOff, var rule = offRule else { return false }
    let now = self.now
    let end = offEnd
    defer {
      offRule = rule
      loop.clients.staysOn = rule.refusal
    }
    guard rule.look(present: loop.clients.presentCount, until: end, at: now), let end else {
      return false
    }
    if let hindrance = powerOff.prepare(until: end) {
      if rule.refuse(hindrance, at: now) {
        log.write(.notice, "the board stays on where it could be off: \(hindrance)")
      }
      return false
    }
    log.write(.notice, "the board is switched off for \(Int((end - now).seconds)) s")
    return true
  }
}

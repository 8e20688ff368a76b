import LinuxHAL
import LocationTypes

// The deepest sleep: the board is off until an alarm, where its profile has that. It ends every program
// and the service too, so it is here that it is decided, and not in the engine's plan.

/// When the board may be off: nobody is there, and nothing is to be done for long enough.
struct PowerOffRule {
  /// The shortest time that is worth it. It is also how long nobody must have been there, which is the time
  /// that a person or a program has after each start.
  let shortest: Interval
  /// From the alarm until the service runs.
  let lead: Interval
  /// Since when nobody is there.
  private(set) var deserted: Instant?

  init(shortest: Interval, lead: Interval) {
    self.shortest = shortest
    self.lead = lead
  }

  /// Looks who is there.
  mutating func see(clients: Int, at now: Instant) {
    deserted = clients == 0 ? deserted ?? now : nil
  }

  /// When it is to be looked at again, if nothing happens; nil where that changes nothing.
  ///
  /// - Parameter end: When the service must run again; nil where the board may not be off.
  func nextLook(until end: Instant?) -> Instant? {
    guard let end, let deserted, end - lead - (deserted + shortest) >= shortest else { return nil }
    return deserted + shortest
  }

  /// Whether the board may be off now.
  func holds(until end: Instant?, at now: Instant) -> Bool {
    guard let end, let deserted else { return false }
    return now - deserted >= shortest && end - lead - now >= shortest
  }
}

extension LocationService {
  /// When it is worth looking whether the board may be off; `.distantFuture` for never.
  var powerOffDue: Instant {
    // What is against it now is looked at again when something wakes the service.
    guard toldPowerOff == nil else { return .distantFuture }
    return offRule?.nextLook(until: offEnd) ?? .distantFuture
  }

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
    guard let powerOff, offRule != nil else { return false }
    let now = self.now
    offRule?.see(clients: loop.clients.connectedCount, at: now)
    guard let end = offEnd, offRule?.holds(until: end, at: now) == true else { return false }
    let hindrance = powerOff.prepare(until: end)
    if let hindrance, hindrance != toldPowerOff {
      log.write(.notice, "the board stays on where it could be off: \(hindrance)")
    }
    toldPowerOff = hindrance
    loop.clients.staysOn = hindrance
    guard hindrance == nil else { return false }
    log.write(.notice, "the board is switched off for \(Int((end - now).seconds)) s")
    return true
  }
}

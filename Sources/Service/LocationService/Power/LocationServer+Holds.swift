import LinuxHAL
import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Reasons why the board does not sleep as deeply as it could.

extension LocationServer {
  /// All reasons that the caller may see. Without permission to know the location, only those of board and system.
  func holds(
    _ engine: borrowing Engine, _ effects: Effects, mayReadLocation: Bool, at now: Instant,
    names: (Int) -> WireClientName?
  ) -> [WireHold] {
    var holds: [WireHold] = []
    let blocker = suspender?.blocker
    if mayReadLocation {
      holds = clientHolds(engine, at: now, names: names)
      if let reason = engine.sleepObstacle(effects).map(WireHoldReason.init) {
        let isListed = reason == .receiverRuns && holds.contains { $0.reason == .everyFix }
        // A lock is added below, for all callers; `soon` mostly results from a reason listed above.
        let isLock = reason == .inhibited && blocker?.isInhibitorLock == true
        if !isListed, !isLock, reason != .soon || holds.isEmpty {
          holds.append(WireHold(reason, detail: missingPinNote(for: reason)))
        }
      }
    }
    if !engine.canSuspend { holds.append(WireHold(.noSuspend)) }
    if let blocker,
      blocker.isPermanent || blocker.isInhibitorLock
        || (mayReadLocation && effects.board >= .suspended && !blocker.isTransient)
    {
      let pinNote =
        blocker == .noWakeTime ? missingPinNote(for: .system).map { "; \($0)" } ?? "" : ""
      holds.append(WireHold(.system, detail: blocker.description + pinNote))
    }
    if let powerOffBlocker {
      holds.append(WireHold(.staysOn, detail: powerOffBlocker.description))
    }
    return holds
  }

  /// Clients with an unacknowledged batch, and clients that require every fix immediately.
  private func clientHolds(
    _ engine: borrowing Engine, at now: Instant, names: (Int) -> WireClientName?
  ) -> [WireHold] {
    var holds: [WireHold] = []
    for i in clients.indices {
      let needs = engine.usage(of: ClientID(i), at: now)
      if let until = needs.acknowledgementDeadline, until > now {
        holds.append(WireHold(.acknowledgement, client: names(i)))
      }
      if case .live = needs.demand { holds.append(WireHold(.everyFix, client: names(i))) }
    }
    return holds
  }

  /// The note that a line is missing because of `--no-pins`.
  private func missingPinNote(for reason: WireHoldReason) -> String? {
    switch reason {
    case .receiverCannotSleep, .system:
      environment.ignoresPins
        ? "torpord runs with --no-pins, so no line of the profile is used" : nil
    case .inhibited, .acknowledgement, .everyFix, .receiverRuns, .receiverBusy, .receiverCannotWake,
      .noSuspend, .soon, .staysOn:
      nil
    }
  }
}

extension WireHoldReason {
  fileprivate init(_ obstacle: SleepObstacle) {
    switch obstacle {
    case .inhibited: self = .inhibited
    case .receiverSends: self = .receiverRuns
    case .receiverCannotSleep: self = .receiverCannotSleep
    case .receiverBusy: self = .receiverBusy
    case .receiverCannotWake: self = .receiverCannotWake
    case .wakeTooSoon: self = .soon
    }
  }
}

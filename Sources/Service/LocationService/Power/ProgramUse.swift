import LocationPolicy
import LocationTypes

/// What programs have used the service in this run, for the decision to switch the board off (PWR-14).
///
/// Connections show who uses the service now. Two things leave no connection at the end of a turn: a program that
/// calls and disconnects within that turn, and a program that the service has started and that has not connected yet.
/// Both are recorded here. Owner: ``LocationServer``. O(1).
struct ProgramUse {
  /// Last time at which a program disconnected.
  private(set) var lastEnd = Instant.boot
  /// Last time at which the service started a program.
  private(set) var lastLaunch = Instant.boot
  /// Whether a program has called that the service had not launched.
  private(set) var wasAttended = false

  /// Records that a program which has made a call disconnects.
  mutating func recordDisconnect(wasLaunched: Bool, at now: Instant) {
    lastEnd = now
    if !wasLaunched { wasAttended = true }
  }

  /// Records that the service has started a program.
  mutating func recordLaunch(at now: Instant) { lastLaunch = now }
}

extension LocationServer {
  /// How programs use the service.
  var serviceUse: ServiceUse {
    ServiceUse(
      programs: callerCount, isAttended: programUse.wasAttended || isAttended,
      lastEnd: programUse.lastEnd, lastLaunch: programUse.lastLaunch)
  }

  /// Number of open connections that have made a call, by clients or other programs.
  private var callerCount: Int {
    connections.slots.count { $0?.hasMadeCall == true } + gpsd.watcherCount
  }

  /// Whether a program is connected that the service has not launched itself, for example a person's command.
  private var isAttended: Bool {
    gpsd.watcherCount > 0
      || connections.slots.contains { slot in
        guard let slot, slot.hasMadeCall else { return false }
        return !slot.isLaunched
      }
  }
}

import LocationTypes

/// Decides when the board is switched off: no program uses the service, and the wait until it must run again is long
/// enough for that to save energy (``BoardParameters/isOffCheapest(for:)``).
///
/// Owner: the caller that switches the board off, `LocationService` or the simulation. `Refusal` is the reason why an
/// attempt was refused. Pure: time is an argument. O(1).
package struct PowerOffRule<Refusal: Equatable & Sendable> {
  /// Energies and times of the board.
  private let board: BoardParameters
  /// Time on without programs that is required after a start by hand.
  private let attendedTime: Interval
  /// Whether the board's own alarm started it, and since then only programs have used the service that it launched
  /// itself (``ServiceUse/isAttended``).
  private var isUnattended: Bool
  /// Time since which no program uses the service; nil if one does.
  package private(set) var unusedSince: Instant?
  /// Why the board stays on although it could be off; nil if switching off was not refused.
  package private(set) var refusal: Refusal?
  /// Back-off after refusals (PWR-4).
  private var retry = RetryBackoff(initial: .seconds(60), longest: PowerOffRule.longestRetry)
  /// Earliest time of the next attempt, after a power-off that failed or the start of a program.
  private var earliest = Instant.boot

  /// Time after which a failed power-off is attempted again.
  private static var longestRetry: Interval { .seconds(3_600) }

  /// Creates the rule for a board that has just started; nil if it cannot be switched off.
  ///
  /// - Parameters:
  ///   - board: Its parameters while it may be switched off.
  ///   - startedByAlarm: Whether its own alarm has started it.
  package init?(_ board: BoardParameters, startedByAlarm: Bool) {
    guard let off = board.off else { return nil }
    self.board = board
    attendedTime = off.shortest
    isUnattended = startedByAlarm
  }

  /// Updates whether the service is in use, and checks whether switching off may be attempted.
  ///
  /// - Parameters:
  ///   - use: How programs use the service.
  ///   - end: Time at which the service must run again; nil if the board must not be off.
  /// - Returns: Whether to attempt to switch the board off now.
  package mutating func check(_ use: ServiceUse, until end: Instant?, at now: Instant) -> Bool {
    unusedSince = use.programs == 0 ? max(unusedSince ?? now, use.lastEnd) : nil
    if use.isAttended { isUnattended = false }
    // A program that the service has just started gets time to connect.
    earliest = max(earliest, use.lastLaunch + PowerOffParameters.unattendedTime)
    guard let end, let unusedSince, now - unusedSince >= requiredUnusedTime, now >= earliest,
      board.isOffCheapest(for: end - now)
    else {
      refusal = nil
      retry.reset()
      return false
    }
    return !retry.isWaiting(at: now)
  }

  private var requiredUnusedTime: Interval {
    isUnattended ? PowerOffParameters.unattendedTime : attendedTime
  }

  /// Records that an attempt was refused.
  ///
  /// - Returns: Whether the reason has changed.
  package mutating func recordRefusal(_ refusal: Refusal, at now: Instant) -> Bool {
    defer { self.refusal = refusal }
    retry.recordFailure(at: now)
    return refusal != self.refusal
  }

  /// Records that the board was to be switched off in the last run of the service, and stayed on: the next attempt ends
  /// that run again, so it follows an hour later (PWR-4).
  package mutating func recordFailure(at now: Instant) {
    earliest = now + PowerOffRule.longestRetry
  }

  /// Time of the next check if nothing happens before; nil if no check is needed.
  package func nextCheck(until end: Instant?, at now: Instant) -> Instant? {
    guard let end, let unusedSince else { return nil }
    let next = max(max(unusedSince + requiredUnusedTime, retry.nextTime), earliest)
    return next > now && board.isOffCheapest(for: end - next) ? next : nil
  }
}

/// How programs use the service, as ``PowerOffRule`` needs it.
package struct ServiceUse: Equatable, Sendable {
  /// Number of programs that use it now.
  package let programs: Int
  /// Whether one that uses it, or has used it in this run, was not launched by the service.
  package let isAttended: Bool
  /// Last time at which a program stopped using it; boot if none did.
  package let lastEnd: Instant
  /// Last time at which the service started a program; boot if it did not.
  package let lastLaunch: Instant

  /// Creates a value; without arguments that of a service that no program has used.
  package init(
    programs: Int = 0, isAttended: Bool = false, lastEnd: Instant = .boot,
    lastLaunch: Instant = .boot
  ) {
    self.programs = programs
    self.isAttended = isAttended
    self.lastEnd = lastEnd
    self.lastLaunch = lastLaunch
  }
}

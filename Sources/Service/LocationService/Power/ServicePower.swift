import BoardHardware
import LinuxHAL
import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

/// The service's records and reports of power: the receiver's state, the energy ledger, what keeps the board from
/// sleeping, and a requested flush.
///
/// # Problem
///
/// The engine decides what the hardware does; ``LocationServer`` only reports it. Three callers need the same facts at
/// different times: the log when the receiver stops or resumes responding, a status call, and `LocationService` after
/// an attempt to switch the board off. They are collected here, from the engine's reports and the kernel's counters.
///
/// # States
///
/// The energy ledger is opened in the first turn and then stays open. The receiver's states are those of
/// ``ReceiverMonitor``, those of a flush of ``FlushRequest``.
///
/// # Invariants
///
/// - Owner: ``LocationServer``. Nothing here changes the engine or the hardware, and nothing reads a client's record.
/// - A change of the receiver enters the ledger in the turn in which it is reported.
///
/// Bounded: no collection grows.
struct ServicePower {
  private(set) var receiver = ReceiverMonitor()
  /// A requested flush of all deferred fixes.
  private(set) var flush = FlushRequest.idle
  /// Suspends the board, and reports the reason if it cannot; nil if the board is never suspended.
  private var suspender: BoardSuspender?
  /// Why the board stays on although it could be off; nil if it does not.
  private var powerOffBlocker: SleepBlocker?
  /// Whether service levels are shed because of the battery (PWR-10).
  private(set) var hasShedLevels = false
  /// Energy ledger; nil before the first turn.
  private var energy: ServiceEnergy?
  private let settings: LocationServer.Environment
  private let events: EventWait

  /// - Parameters:
  ///   - settings: Power figures, settings of the receiver's line, and the reader of the kernel's counters.
  ///   - events: The service's wait, which counts wakes.
  init(_ settings: LocationServer.Environment, _ events: EventWait) {
    self.settings = settings
    self.events = events
  }

  /// Sets what suspends the board.
  mutating func setSuspender(_ suspender: BoardSuspender?) { self.suspender = suspender }

  /// Sets why the board stays on although it could be off; nil if it does not.
  mutating func setPowerOffBlocker(_ blocker: SleepBlocker?) { powerOffBlocker = blocker }

  /// Sets whether service levels are shed.
  mutating func setHasShedLevels(_ hasShed: Bool) { hasShedLevels = hasShed }

  // MARK: Flush

  /// Requests a flush of all deferred fixes.
  mutating func requestFlush() { flush = .requested }

  /// Starts a requested flush. Returns whether there was a request.
  mutating func startFlush() -> Bool {
    guard flush == .requested else { return false }
    flush = .started
    return true
  }

  /// Ends a started flush. Returns whether there was one to report.
  mutating func finishFlush() -> Bool {
    guard flush == .started else { return false }
    flush = .idle
    return true
  }

  // MARK: Receiver and energy

  /// Opens the energy ledger, in the first turn.
  mutating func openLedger(at now: Instant) {
    if energy == nil { energy = ServiceEnergy(settings.power, settings.usage(events), at: now) }
  }

  /// Updates the receiver's state from a report of the engine.
  ///
  /// - Returns: The line to log if the receiver stops or resumes responding; nil without a change.
  mutating func update(
    _ report: ReceiverReport, at now: Instant
  ) -> (priority: SystemLog.Priority, text: String)? {
    let (state, change) = receiver.update(
      report, hasBackup: settings.power.hasBackupSupply, at: now)
    if let state { energy?.setReceiver(state, at: now) }
    switch change {
    case .nothing: return nil
    case .lost:
      return (
        .warning,
        "the receiver does not answer: \(settings.receiver.suggestion(receiver.input(at: now)))"
      )
    case .streaming:
      return (
        .warning,
        "the receiver sends fixes, which are delivered, and answers no command: it cannot be put to sleep or "
          + "batch: \(settings.receiver.suggestion(receiver.input(at: now)))"
      )
    case .recovered: return (.notice, "the receiver responds")
    }
  }

  /// Records the end of a wait in the energy ledger.
  mutating func recordWake(for reason: WakeReason) {
    energy?.recordWake(for: reason, wakes: events.wakeCount)
  }

  /// Time and energy per state up to `now`; nil before the first turn.
  func ledger(at now: Instant) -> EnergyLedger? {
    energy?.closed(settings.usage(events), at: now)
  }

  /// The receiver's state for the socket.
  ///
  /// - Parameter isPermitted: Whether the caller may read where the board is, and so whether the receiver has a fix.
  func wireReceiver(
    _ report: ReceiverReport, isPermitted: Bool, at now: Instant, _ utcOffset: UTCOffset
  ) -> WireReceiver {
    // Update a copy: since the last turn, the silence may have become too long.
    var monitor = receiver
    _ = monitor.update(report, hasBackup: settings.power.hasBackupSupply, at: now)
    let since = isPermitted ? monitor.since : monitor.coarseSince
    var result = WireReceiver(
      isPermitted ? monitor.state : monitor.state.coarse, isAnswering: monitor.isResponding,
      since: FixTime(acquired: since, utc: isPermitted ? utcOffset.utc(since) : nil))
    if isPermitted {
      result.lastByte = monitor.lastInput.map { FixTime(acquired: $0, utc: utcOffset.utc($0)) }
      result.lastFix = monitor.lastFix.map { FixTime(acquired: $0, utc: utcOffset.utc($0)) }
    }
    if !monitor.isResponding {
      result.suggestion = settings.receiver.suggestion(monitor.input(at: now))
    }
    return result
  }

  // MARK: Holds

  /// Reasons why the board does not sleep as deeply as it could.
  ///
  /// - Parameter clientHolds: Reasons of clients; nil if the caller may not know them, which then also excludes the
  ///   receiver's reason.
  func holds(
    _ clientHolds: [WireHold]?, _ engine: borrowing Engine, _ effects: Effects
  ) -> [WireHold] {
    var holds = clientHolds ?? []
    let blocker = suspender?.blocker
    if clientHolds != nil, let reason = engine.sleepObstacle(effects).map(WireHoldReason.init) {
      let isListed = reason == .receiverRuns && holds.contains { $0.reason == .everyFix }
      // A lock is added below, for all callers; `soon` mostly results from a reason listed above.
      let isLock = reason == .inhibited && blocker?.isInhibitorLock == true
      if !isListed, !isLock, reason != .soon || holds.isEmpty {
        holds.append(WireHold(reason, detail: missingPinNote(for: reason)))
      }
    }
    if !engine.canSuspend { holds.append(WireHold(.noSuspend)) }
    if let blocker,
      blocker.isPermanent || blocker.isInhibitorLock
        || (clientHolds != nil && effects.board >= .suspended && !blocker.isTransient)
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

  /// The note that a line is missing because of `--no-pins`.
  private func missingPinNote(for reason: WireHoldReason) -> String? {
    switch reason {
    case .receiverCannotSleep, .system:
      settings.ignoresPins ? "torpord runs with --no-pins, so no line of the profile is used" : nil
    case .inhibited, .acknowledgement, .client, .everyFix, .receiverRuns, .receiverBusy,
      .receiverCannotWake,
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

import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// The receiver control of ``Engine``: the mode of the receiver, its driver, its buffer, and whether it works.
///
/// **Problem.** The plan of a step requires a `ReceiverMode`. The driver reaches it over many steps, may find the
/// receiver silent, or is refused. This type commands the driver, draws the conclusions from its observations, and
/// answers from one place whether the receiver is awake, acquiring, lost, silent or holds fixes. ``FixSchedule``, which
/// it owns, decides when the receiver is on for single fixes; this type adds whether the receiver, awake for any reason,
/// has given a fix.
///
/// **States.** They are independent of each other:
///
/// ```
/// mode      nil -- setMode(_:at:) --> ReceiverMode, the one that was last commanded
///
/// activity  asleep ---- an awake mode ----> acquiring ---- fix ----> found
///           asleep <--- off or standby ---- acquiring, found
///
/// working   yes -- driver reports lost; or a receiver without commands is silent --> lost
///           lost -- mode reached (not off), recovered, refused; or a live epoch from a receiver without commands
///                                                                                --> yes
///
/// drain     none -- a client waits for the buffer, or a drain or distance check is due --> requested  (BufferDrain)
///           requested -- drained, refused, nothing buffered, or receiver lost --> none
/// ```
///
/// **Invariants.** The driver acts at most once per step, because it has one output buffer. The activity is
/// acquiring or found exactly while the mode is awake. ``FixSchedule`` receives every valid fix, so its `lastFixTime` is
/// the time of the newest one.
///
/// **Who changes what.** Only this type writes its properties. Each function that concerns the clients returns a
/// ``Change``, which `Engine` carries out. **Bounds.** Fixed size; O(1) for each function.
struct ReceiverControl: ~Copyable {
  /// What an observation of the driver means for the clients.
  enum Change: Sendable {
    /// Nothing.
    case none
    /// All fixes of the receiver's buffer are in the ring.
    case drainFinished
    /// The receiver is lost.
    case lost
  }

  /// Whether the receiver is awake, by the modes commanded, and has given a fix since it woke.
  private enum Activity: Sendable {
    /// Not awake; the time of the standby command that ended the last awake mode, nil if that was a power-off.
    case asleep(standbySince: Instant?)
    /// Awake, without a fix since; the time since the standby command before, nil without one.
    case acquiring(since: Instant, standbyTime: Interval?)
    /// Awake, with a fix since; whether the receiver was lost after the last fix, so that it must acquire again.
    case found(isLost: Bool)
  }

  // Not optional: without a receiver it is unused.
  private(set) var driver: ReceiverDriver
  /// Whether the board has a receiver.
  let isPresent: Bool
  /// Silence after which a receiver that should send counts as not responding, input buffering included.
  private let silenceTimeout: Interval
  /// Silence after which a receiver without commands is lost.
  private let lossTimeout: Interval
  /// How long bytes that keep arriving may postpone the driver's deadline.
  private let overdueTimeout: Interval
  /// State machine for single fixes; tracks the acquisitions.
  private(set) var schedule = FixSchedule()
  /// The mode that was last commanded; nil before the first plan.
  private(set) var mode: ReceiverMode?
  /// Whether the receiver is awake, and has given a fix since it woke.
  private var activity = Activity.asleep(standbySince: nil)
  /// Whether the receiver is lost.
  private(set) var isLost = false
  /// Time of the last fix from a receiver that answers no command (PWR-12).
  private var lastStreamedFixTime: Instant?
  /// Drains of the receiver's buffer.
  private(set) var drain = BufferDrain()
  /// Modes that the receiver refused.
  private var refusals = RefusedModes()
  /// Time since which the driver's deadline is postponed because bytes keep arriving.
  private var overdueSince: Instant?
  /// ``checkTime(isNeeded:_:at:)`` as of the last plan. Input since then can only have postponed it.
  private var checkDue = Instant.distantFuture

  init(_ setup: EngineSetup) {
    driver = ReceiverDriver(setup.receiver ?? ReceiverSetup(family: .passive))
    isPresent = setup.receiver != nil
    silenceTimeout =
      max(setup.receiverSilenceTimeout, setup.parameters.fixInterval * 2)
      + setup.parameters.inputBufferTime
    lossTimeout = max(setup.locationUnknownTimeout, silenceTimeout)
    overdueTimeout = setup.epochs.silenceTimeout
  }

  // MARK: Driver

  /// Sends the driver an event; its pin, line speed and bytes become effects.
  ///
  /// - Precondition: The driver has not acted in this step.
  mutating func command(
    _ event: DriverEvent, at now: Instant, _ effects: inout Effects
  ) -> DriverObservation {
    guard isPresent else { return .none }
    precondition(!effects.hasDriverActed, "the driver must act at most once per step")
    let answer = driver.handle(event, at: now)
    effects.pin = answer.pin
    effects.lineSpeed = answer.lineSpeed
    effects.aiding = answer.aiding
    effects.hasOutput = driver.status.hasOutgoing
    return answer.observation
  }

  /// Applies an observation of the driver. `head`: the ring's head.
  mutating func apply(_ observation: DriverObservation, head: UInt64, at now: Instant) -> Change {
    switch observation {
    case .none: return .none
    case .reached(let reached):
      refusals.remove(reached)
      // Switching a receiver off does not show that it works.
      if reached != .off { isLost = false }
      return finishDrainIfEmpty(head: head, at: now)
    case .recovered:
      refusals.removeAll()
      isLost = false
      return finishDrainIfEmpty(head: head, at: now)
    case .drained: return finishDrain(head: head, at: now)
    case .lost: return lose()
    case .refused(let refused):
      refusals.insert(refused, at: now)
      isLost = false
      return finishDrain(head: head, at: now)
    }
  }

  /// Records the loss of the receiver (DEF-43). The driver keeps trying.
  mutating func lose() -> Change {
    drain.cancel()
    guard !isLost else { return .none }
    isLost = true
    switch activity {
    case .asleep, .acquiring: break
    case .found: activity = .found(isLost: true)
    }
    return .lost
  }

  /// Finishes a drain, or the wait for one if the receiver holds no fixes.
  mutating func finishDrain(head: UInt64, at now: Instant) -> Change {
    drain.finish(head: head, at: now)
    return .drainFinished
  }

  /// Finishes the drain if the receiver holds no fixes.
  private mutating func finishDrainIfEmpty(head: UInt64, at now: Instant) -> Change {
    mayHoldFixes ? .none : finishDrain(head: head, at: now)
  }

  /// Requests a drain; the caller then sends the driver `.drain`.
  mutating func requestDrain() { drain.request() }

  /// Commands a mode; the caller then sends the driver `.goal`.
  mutating func setMode(_ new: ReceiverMode, at now: Instant) {
    switch activity {
    case .asleep(let standbySince):
      guard new.isAwake else { break }
      activity = .acquiring(since: now, standbyTime: standbySince.map { now - $0 })
    case .acquiring, .found:
      guard !new.isAwake else { break }
      activity = .asleep(standbySince: new == .standby ? now : nil)
    }
    if case .batching = new { drain.beginBatching(at: now) }
    mode = new
  }

  /// Asks the driver for its decision about an epoch.
  mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    // A receiver without commands cannot answer a probe; its data shows that it has recovered (DEF-43).
    if !driver.usesMessages, epoch.origin == .live { isLost = false }
    let admission = driver.admit(epoch, at: now)
    switch admission {
    case .accept: if driver.status.isStreaming, epoch.fix != nil { lastStreamedFixTime = now }
    case .hold, .drop: break
    }
    return admission
  }

  /// The next epoch that the driver held back and has released.
  mutating func nextReleasedEpoch() -> Epoch? {
    isPresent && driver.status.hasReleasedEpoch ? driver.nextReleasedEpoch() : nil
  }

  /// Passes UTC at zero of the boot clock, µs, to the driver.
  mutating func setClock(bootUTC_us: Int64) { driver.setClock(bootUTC_us: bootUTC_us) }

  /// Records that an earlier run of the service may have left fixes in the receiver's buffer.
  mutating func expectBufferedFixes() { driver.expectBufferedFixes() }

  /// Records that the receiver's output up to `now` was lost, because the board was suspended.
  mutating func noteLostInput(at now: Instant) {
    driver.restartSilenceTimeout(at: now)
    schedule.noteLostInput(at: now)
  }

  /// Whether the driver's deadline has passed and must be handled now. Records since when it is postponed.
  ///
  /// Bytes that have just arrived may be the awaited answer and are processed first, but on a line without pauses only
  /// for a limited time.
  mutating func mustHandleDeadline(lastByteTime: Instant, at now: Instant) -> Bool {
    guard isPresent, let deadline = driver.status.deadline, deadline <= now else {
      overdueSince = nil
      return false
    }
    let since = overdueSince ?? now
    guard lastByteTime < now || now - since >= overdueTimeout else {
      overdueSince = since
      return false
    }
    overdueSince = nil
    return true
  }

  // MARK: Single fixes

  /// Passes an event to the schedule.
  @discardableResult
  mutating func handle(
    _ event: FixSchedule.Event, _ parameters: PlannerParameters, at now: Instant
  ) -> FixSchedule.Decision {
    switch event {
    case .fix, .drained: noteFix()
    case .plan, .searchRequested: break
    }
    return schedule.handle(event, parameters, at: now)
  }

  /// Records that a valid fix was received. A fix from a receiver that should be asleep begins nothing.
  private mutating func noteFix() {
    switch activity {
    case .asleep: break
    case .acquiring, .found: activity = .found(isLost: false)
    }
  }

  /// Keeps a receiver on that is already on; see `FixSchedule.keepOn(at:)`.
  mutating func keepOn(at now: Instant) -> Bool { schedule.keepOn(at: now) }

  /// Start of the acquisition that the present mode began; nil while the receiver has a fix or is not awake.
  var acquiringSince: Instant? {
    switch activity {
    case .asleep, .found: nil
    case .acquiring(let since, _): since
    }
  }

  /// Time between the last standby command and the start of the acquisition; nil if none is in progress, or if the
  /// receiver was switched off instead.
  var standbyTime: Interval? {
    switch activity {
    case .asleep, .found: nil
    case .acquiring(_, let standbyTime): standbyTime
    }
  }

  /// Time since which an awake receiver gave no fix, or its input was not read; nil while it is not awake.
  func withoutFixSince(_ input: borrowing InputStage) -> Instant? {
    switch activity {
    case .asleep: nil
    case .acquiring(let since, _): max(since, input.discardTime)
    case .found: max(schedule.lastFixTime, input.discardTime)
    }
  }

  // MARK: Status

  /// Whether the receiver should be acquiring or tracking.
  var isAwake: Bool {
    switch activity {
    case .asleep: false
    case .acquiring, .found: true
    }
  }

  /// Whether the receiver may hold fixes that are not in the ring.
  var mayHoldFixes: Bool { isPresent && driver.status.mayBufferFixes }

  /// Whether its buffer is being drained.
  var isDraining: Bool { isPresent && driver.status.isDraining }

  /// Whether no command is in progress between board and receiver.
  var isQuiescent: Bool { !isPresent || driver.status.isQuiescent }

  /// Whether no command is in progress and the receiver holds no fixes.
  var isIdle: Bool {
    isPresent && driver.status.isQuiescent && !driver.status.isDraining && !mayHoldFixes
  }

  /// Whether the receiver sleeps if commanded: it is not lost, and answers commands.
  var canSleep: Bool { isPresent && !isLost && !driver.status.isStreaming }

  /// Time at which the board must be awake to observe a receiver that was trusted to sleep; `.distantFuture` if it need
  /// not.
  var sleepCheck: Instant {
    isPresent ? driver.status.sleepCheck ?? .distantFuture : .distantFuture
  }

  /// The driver's deadline; `.distantFuture` without one.
  var deadline: Instant { isPresent ? driver.status.deadline ?? .distantFuture : .distantFuture }

  /// Whether the receiver may batch. A lost receiver, or one that answers no command, does not batch: the board would
  /// sleep while it sends.
  func mayBatch(at now: Instant) -> Bool {
    refusals.mayBatch(at: now) && !isLost && !(isPresent && driver.status.isStreaming)
  }

  /// Whether the receiver may use its own duty cycle.
  func mayUseDutyCycle(at now: Instant) -> Bool { refusals.mayUseDutyCycle(at: now) }

  /// Lower bound for the age of the current entry of the receiver's buffer: the entries behind it were measured later,
  /// one interval apart.
  func minimumEntryAge(_ fixInterval: Interval) -> Interval {
    fixInterval * Int64(isPresent ? driver.status.remainingEntries : 0)
  }

  /// Whether a receiver that answers no command sends fixes (PWR-12).
  func isStreaming(at now: Instant) -> Bool {
    guard isPresent, driver.status.isStreaming, let lastStreamedFixTime else { return false }
    return now - lastStreamedFixTime <= silenceTimeout
  }

  /// Whether no fix can come at present: the receiver is missing, it is lost and does not stream, or it is needed and
  /// silent.
  func isUnavailable(isNeeded: Bool, _ input: borrowing InputStage, at now: Instant) -> Bool {
    guard isPresent else { return true }
    if isLost { return !isStreaming(at: now) }
    return (isNeeded || schedule.isOn) && isSilent(input, at: now)
  }

  /// Whether an awake receiver has no fix: none came since it woke or was lost, or none for longer than
  /// ``silenceTimeout``.
  func isWithoutFix(_ input: borrowing InputStage, at now: Instant) -> Bool {
    switch activity {
    case .asleep: return false
    case .acquiring, .found(isLost: true): return true
    case .found(isLost: false): break
    }
    guard let quietSince = withoutFixSince(input), !mayHoldFixes else { return false }
    return now - quietSince > silenceTimeout
  }

  /// Whether a receiver that should send was silent for longer than ``silenceTimeout``.
  func isSilent(_ input: borrowing InputStage, at now: Instant) -> Bool {
    switch driver.status.activity {
    case .off, .standby, .starting, .batching, .lost: return false
    case .running, .powersave: break
    }
    guard isAwake, !mayHoldFixes else { return false }
    return now - silenceStart(input) > silenceTimeout
  }

  /// Time of the last data from an awake receiver, or of the start of the wait for it.
  private func silenceStart(_ input: borrowing InputStage) -> Instant {
    // For a receiver without commands only complete epochs count.
    let lastInput = driver.usesMessages ? input.lastByteTime : input.lastEpochTime
    return max(max(lastInput, input.discardTime), acquiringSince ?? .boot)
  }

  // MARK: Check

  /// Computes the time of the next check of the receiver, also while all clients are suspended (DEF-43): a lost
  /// receiver is retried, and one without commands counts as lost after a long silence. `.distantFuture` while no client
  /// needs the receiver.
  mutating func planCheck(
    isNeeded: Bool, _ input: borrowing InputStage, at now: Instant
  ) -> Instant {
    checkDue = checkTime(isNeeded: isNeeded, input, at: now)
    return checkDue
  }

  /// Whether the check is due and finds that the receiver without commands is lost.
  func isCheckDue(isNeeded: Bool, _ input: borrowing InputStage, at now: Instant) -> Bool {
    checkDue <= now && checkTime(isNeeded: isNeeded, input, at: now) <= now
  }

  private func checkTime(
    isNeeded: Bool, _ input: borrowing InputStage, at now: Instant
  ) -> Instant {
    guard isPresent, isNeeded || schedule.isOn else { return .distantFuture }
    switch driver.status.activity {
    case .lost:
      guard let due = driver.status.deadline, due > now else { return .distantFuture }
      return due
    case .running:
      guard !driver.usesMessages, !isLost, isAwake else { return .distantFuture }
      return silenceStart(input) + lossTimeout
    case .off, .standby, .starting, .powersave, .batching: return .distantFuture
    }
  }
}

/// The modes that a receiver has refused, with the times of their retries.
///
/// A refusal may be temporary, for example if the line garbled a command or the receiver was starting.
private struct RefusedModes: Sendable {
  private var batching = RetryBackoff(initial: .seconds(60), longest: .seconds(3_600))
  private var powersave = RetryBackoff(initial: .seconds(60), longest: .seconds(3_600))

  /// The receiver refused a mode.
  mutating func insert(_ mode: ReceiverMode, at now: Instant) {
    switch mode {
    case .batching: batching.recordFailure(at: now)
    case .powersave: powersave.recordFailure(at: now)
    case .off, .standby, .tracking: break
    }
  }

  /// The receiver reached a mode.
  mutating func remove(_ mode: ReceiverMode) {
    switch mode {
    case .batching: batching.reset()
    case .powersave: powersave.reset()
    case .off, .standby, .tracking: break
    }
  }

  /// The receiver was lost and may have been replaced.
  mutating func removeAll() { self = RefusedModes() }

  func mayBatch(at now: Instant) -> Bool { !batching.isWaiting(at: now) }
  func mayUseDutyCycle(at now: Instant) -> Bool { !powersave.isWaiting(at: now) }
}

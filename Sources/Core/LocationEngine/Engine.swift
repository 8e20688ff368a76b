import DeferralCache
import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// The core of the location service: a state machine with events as input and bounded effects as output.
///
/// **Problem.** Many clients with different demands share one GNSS receiver and one board that should sleep. The
/// engine decodes the receiver's bytes, stores fixes in the ring, applies each client's policy, plans receiver and
/// board, and commands the receiver's driver. Its caller owns all I/O: it passes the memory of ring and clients, sends
/// every event with its time, executes the effects in their order, and then sends the next event. The engine reads no
/// clock, allocates nothing, calls no callback, and is mutated in place. It depends on the other core modules only,
/// not on a HAL.
///
/// **One step.** `step(bytes:at:)` and `step(_:at:)` run these phases:
///
/// ```
///   bytes --> consume: at most one epoch,         event --> request, pin, motion,
///             one driver answer or one                      battery, fault, time
///             driver observation                                |
///                |                                              |
///      bytes in the middle of an epoch,                         |
///      and the last plan is still valid?                        |
///         | yes            | no                                 |
///         |                +----------------+-----------------+
///         |                                 v
///         |            deadlines of driver and line, held fix, receiver check
///         |                                 v
///         |            clients: time, engagement -> sum of demands
///         |                                 v
///         |            FixSchedule: single fixes, held fix
///         |                                 v
///         |            work left? -- yes --> Effects.needsProceed, no plan yet
///         |                | no
///         |                v
///         |            Planner.plan -> new goal or drain for the driver, notices
///         |                | goal, drain or notices: Effects.needsProceed
///         v                v
///      finishPlan: input mode, wake time --> Effects (board state, wake, wakesOnInput)
/// ```
///
/// While `needsProceed` is set, the caller must send ``Event/proceed`` at the same time before any new bytes.
///
/// **Parts.** Each has its own file and alone writes its state:
///
/// - ``InputStage``: bytes to messages and epochs, with their arrival times.
/// - ``ReceiverControl``: mode, driver, buffer and acquisitions of the receiver (with ``FixSchedule``).
/// - ``FixPipeline``: epochs to fixes in the ring; the fix that is held back.
/// - ``ClientTable``: the clients.
///
/// This type routes between them: it draws the consequences of a step for all parts, and computes the plan.
///
/// **Invariants.**
///
/// - Time never goes back, and every wake time is at least 1 ms ahead, so the caller cannot loop without progress.
/// - Measurement times of fixes never decrease in the ring, even if UTC steps.
/// - The driver acts at most once per step, because it has one output buffer.
/// - A fix is stored only if a client needs it, with full accuracy only if a client may receive that (RNG-6). Before
///   the ring's head passes a cursor, the cursor advances and records the gap (RNG-4).
/// - A deferral's end that waits for buffered fixes is reported after the drain or after the loss of the receiver.
///
/// **Who may change what.** Only this file writes the stored properties; each part writes its own. Clients change
/// through `handle(_:of:)`, the phases above, ``restore(_:from:startingAt:)``, ``resume(_:from:after:)``, ``resumeSpeed(after:)``,
/// ``noteDiscardedInput(at:)`` and ``nextNotice()``. The status only reads.
///
/// **Bounds.** A step is O(clients in use) plus O(bytes). It appends at most one fix. A drain without a result doubles
/// the time to the next one, at most 12 times. A refused mode is retried with exponential back-off (``RetryBackoff``).
public struct Engine: ~Copyable {
  let setup: EngineSetup
  private(set) var planner: Planner
  private(set) var input: InputStage
  private(set) var receiver: ReceiverControl
  private(set) var fixes: FixPipeline
  private(set) var clients: ClientTable
  /// Start times for clients with an accuracy bound.
  private var movement = MovementPlanner()
  /// Time of the last step.
  private(set) var now = Instant.boot
  /// Latest time of the next step by the last plan.
  private var plannedWake = Instant.distantFuture
  /// Time until which the plan stays valid if only bytes arrive that complete no epoch.
  private var planValidUntil = Instant.boot
  /// Sum of the demands at the end of the last step.
  private(set) var demand = DemandSummary()
  /// Whether a sleep inhibitor is active (DEF-28).
  private(set) var isInhibited = false
  /// Whether the service ends and no client is served.
  private(set) var isEnding = false
  /// Last state of the motion sensor; `.moving` until it reports one, `.absent` on a board without one.
  private(set) var motionLine = MotionLine.absent
  /// Service levels that the battery's charge sheds.
  private(set) var battery: BatteryMonitor

  /// Creates an engine with an opened ring and memory for its clients.
  ///
  /// - Parameters:
  ///   - ring: The deferral cache, opened or recovered.
  ///   - clients: Memory for the largest number of clients; uninitialised, must outlive the engine.
  /// - Precondition: N ≤ R / 2 (RNG-1), so that a client at its limit is flushed long before its fixes are
  ///   overwritten.
  @unsafe public init(
    _ setup: EngineSetup, ring: consuming FixRing, clients: UnsafeMutableBufferPointer<Client>
  ) {
    let limit = setup.parameters.deferralLimit
    precondition(
      limit >= 1 && limit <= ring.capacity / 2,
      "RNG-1: the deferral limit must be ≤ R / 2")
    self.setup = setup
    planner = Planner(setup.parameters)
    unsafe self.clients = ClientTable(clients, head: ring.head)
    fixes = FixPipeline(setup, ring: ring)
    input = InputStage(setup)
    receiver = ReceiverControl(setup)
    battery = BatteryMonitor(setup.battery)
    if setup.parameters.usesMotionLine { setMotionLine(.moving) }
  }

  /// Processes bytes from the receiver and returns the effects.
  ///
  /// Bytes are not a case of ``Event``, whose largest case would then be a chunk. The engine keeps its own copy of the
  /// bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes in the order of their arrival, at most `ByteChunk.capacity`; may be empty.
  ///   - now: Time of the boot clock; not before that of the previous step.
  /// - Complexity: O(bytes), and O(clients in use) where they complete an epoch or a driver answer.
  /// - Precondition: The previous bytes are processed: no effects request ``Event/proceed``.
  public mutating func step(bytes new: Span<UInt8>, at now: Instant) -> Effects {
    advance(to: now)
    var effects = Effects()
    input.receive(new, at: now)
    consume(&effects)
    if keepsPlan(effects) { continuePlan(&effects) } else { makePlan(&effects) }
    return effects
  }

  /// Processes one event and returns the effects.
  ///
  /// - Parameter now: Time of the boot clock; not before that of the previous step.
  /// - Complexity: O(clients in use).
  public mutating func step(_ event: Event, at now: Instant) -> Effects {
    advance(to: now)
    var effects = Effects()
    switch event {
    case .proceed: consume(&effects)
    case .batchPin: drive(.batchPin, &effects)
    case .motion(let level):
      if setup.parameters.usesMotionLine { setMotionLine(level == .active ? .moving : .still) }
    case .battery(let charge): battery.update(charge: charge)
    case .time: break
    case .request(let client, let request): handle(request, of: client)
    case .sleepInhibitor(let isOn): isInhibited = isOn
    case .powerOff(let isAllowed): setPowerOffAllowed(isAllowed)
    case .watchSatellites(let isOn):
      input.setWatchingSatellites(isOn)
      drive(.satellites(isOn), &effects)
    case .end: isEnding = true
    case .lineFault: drive(.lineFault, &effects)
    case .pinFault(let pin): drive(.pinFault(pin), &effects)
    }
    makePlan(&effects)
    return effects
  }

  /// Records the receiver's last pulse per second before the next bytes. It gives the exact time of a fix at a whole
  /// second (STD-7). This is no step and has no effects.
  ///
  /// - Parameter pulse: Time on the boot clock; not in the future, and at most one second before the first of those
  ///   bytes.
  public mutating func recordPulse(at pulse: Instant) { input.recordPulse(at: pulse) }

  /// Records the arrival of the next bytes' first one, after a silence: the time of their epoch's arrival for
  /// ``epochTime``. This is no step and has no effects.
  ///
  /// - Parameter start: Time on the boot clock; not in the future.
  public mutating func recordInputStart(at start: Instant) { input.recordInputStart(at: start) }

  /// Restores a client after a restart of the service (BKG-20): its unacknowledged fixes are undelivered again, and so
  /// are the fixes that a batching receiver recorded during the downtime.
  ///
  /// The other durable state is restored by requests: authorization and accuracy before the client connects, services
  /// and regions after it, regions with ``Request/addRegion(_:assuming:)``. O(1).
  ///
  /// - Parameter start: Start time of the service; nil if the time since the ring's newest fix is unknown and no
  ///   recorded fixes are expected from the receiver.
  /// - Precondition: No step was executed yet.
  public mutating func restore(
    _ client: ClientID, from bookmark: ClientBookmark, startingAt start: Instant? = nil
  ) {
    precondition(now == .boot, "restore clients before the first step")
    clients.activate(client.index)
    clients[client.index] = Client(restoring: bookmark, in: fixes.ring)
    if let start {
      clients[client.index].resumeRecording(
        from: bookmark, at: start, recorder: downtimeRecording(for: bookmark),
        slack: setup.parameters.fixInterval * 2, limit: setup.parameters.deferralLimit,
        in: fixes.ring)
    }
  }

  /// Continues a restored client's services after the board was off, from the fixes in the ring (PWR-14); see
  /// `Client.resume(from:after:in:)`. O(fixes in the ring).
  ///
  /// - Precondition: No step was executed yet.
  public mutating func resume(
    _ client: ClientID, from bookmark: ClientBookmark, after off: TimeOff
  ) {
    precondition(now == .boot, "resume services before the first step")
    clients[client.index].resume(from: bookmark, after: off, in: fixes.ring)
  }

  /// Continues the estimate of the device's speed after the board was off, from the newest fixes in the ring.
  ///
  /// - Precondition: No step was executed yet.
  public mutating func resumeSpeed(after off: TimeOff) {
    precondition(now == .boot, "resume the estimate before the first step")
    fixes.resumeSpeed(after: off)
  }

  /// Whether the receiver recorded fixes for a client while the service was down; if so, the driver expects them.
  private mutating func downtimeRecording(for bookmark: ClientBookmark) -> DowntimeRecording {
    guard bookmark.isOpenEnded, receiver.isPresent, setup.receiver?.batch != nil else {
      return .none
    }
    receiver.expectBufferedFixes()
    return receiver.mayHoldFixes ? .holdsFixes : .lostFixes
  }

  /// The bytes to write to the receiver when ``Effects/hasOutput`` is set.
  public var output: FrameBuffer { receiver.isPresent ? receiver.driver.outgoing : FrameBuffer() }

  /// The frame to store when ``Effects/aiding`` requires it; read it before the next step.
  public var aidingFrame: ByteChunk { input.aidingFrame }

  /// The next notice for a client; nil when all are reported.
  ///
  /// The notices of one client come in their order, one client after the other. Not inlined, so that `make firmware`
  /// counts its code as the engine's and not as that of its only caller.
  @inline(never)
  public mutating func nextNotice() -> ClientNotice? {
    clients.nextNotice(in: fixes.ring, hold: now + setup.deliveryHold)
  }

  /// Records that the fixes in these bytes of the ring's memory are durable; see `FixRing.markSynced(_:)`.
  public mutating func markSynced(_ bytes: UnsyncedBytes) { fixes.markSynced(bytes) }

  /// Marks the ring as closed at the end of the service; nothing more is appended. Then sync ``unsynced`` twice.
  public mutating func closeRing() { fixes.closeRing() }

  /// Calls `body` with a client's record, for status displays and tests; with a new record if it was never connected.
  public func withClient<Result>(
    _ client: ClientID, _ body: (borrowing Client) -> Result
  ) -> Result {
    clients.withClient(client.index, body)
  }
}

// MARK: - From bytes to the ring: messages, epochs, fixes

extension Engine {
  /// Processes pending input in order: epochs that the driver held back, an epoch that was completed together with
  /// another, the remaining bytes. Stops after one epoch, one driver answer or one observation.
  private mutating func consume(_ effects: inout Effects) {
    if let epoch = receiver.nextReleasedEpoch() {
      append(epoch, &effects)
      effects.needsProceed = true
    } else if let epoch = input.nextPendingEpoch() {
      admit(epoch, &effects)
      effects.needsProceed = true
    } else {
      while let message = input.nextMessage() {
        if process(message, &effects) { break }
      }
    }
  }

  /// Completes the epoch in progress after a silence on the line.
  private mutating func closeEpoch(_ effects: inout Effects) {
    while let message = input.finishMessage(at: now) {
      if process(message, &effects) { return }
    }
    guard let epoch = input.closeEpoch() else { return }
    admit(epoch, &effects)
    effects.needsProceed = true
  }

  /// Processes one message; true when the step is complete. Not inlined, because it has two callers.
  @inline(never)
  private mutating func process(
    _ message: GNSSMessage, _ effects: inout Effects
  ) -> Bool {
    let usesMessages = receiver.driver.usesMessages
    let observation =
      usesMessages ? receiver.command(.message(message), at: now, &effects) : .none
    var isComplete = effects.hasDriverActed
    if case .none = observation {} else { isComplete = true }
    var epoch = Epoch()
    if input.add(message, at: now, into: &epoch) {
      admitCompleted(epoch, &effects)
      isComplete = true
    }
    if usesMessages { apply(observation) }
    if isComplete { effects.needsProceed = true }
    return isComplete
  }

  /// Processes the epoch that a message has completed.
  private mutating func admitCompleted(_ epoch: Epoch, _ effects: inout Effects) {
    admit(epoch, &effects)
    if epoch.origin == .live { input.beginNextEpoch(at: now) }
  }

  private mutating func admit(_ epoch: Epoch, _ effects: inout Effects) {
    var epoch = epoch
    input.setArrival(of: &epoch, at: now)
    guard receiver.isPresent else { return }
    switch receiver.admit(epoch, at: now) {
    case .accept: append(epoch, &effects)
    case .hold, .drop: break
    }
  }

  /// Stores a valid fix and applies every client's policy; an invalid one is ignored (DEF-24). A fix may be held back
  /// because a better one is expected (PWR-7), but only if no client needs every fix, and never if it comes from the
  /// receiver's buffer.
  private mutating func append(_ epoch: Epoch, _ effects: inout Effects) {
    guard let received = epoch.fix else { return }
    if let utc = received.utc { updateClock(utc, received, epoch.origin) }
    let fix = fixes.complete(received, epoch.origin)
    let event: FixSchedule.Event =
      switch epoch.origin {
      case .live:
        .fix(accuracy: FixPipeline.accuracy(of: fix), measured: fix.acquired, demand.need)
      case .batch: .drained
      }
    let decision = receiver.handle(event, planner.parameters, at: now)
    if decision == .use || demand.needsEveryFix {
      deliver(fixes.best(of: fix, mayReplace: !demand.needsEveryFix), &effects)
    } else {
      fixes.hold(fix)
    }
  }

  /// Updates the offset of UTC, which the driver uses too.
  private mutating func updateClock(_ utc: UTCTime, _ fix: Fix, _ origin: EpochOrigin) {
    let received = fix.acquired
    switch origin {
    case .live:
      let pulse = input.takePulse(of: utc, received: received, at: now)
      fixes.updateClock(utc, received: received, pulse: pulse)
      fixes.recordEpochTime(
        fix, utc, start: input.takeInputStart(before: received, at: now), pulse: pulse,
        leapChange: input.assembler.leapChange)
    case .batch:
      let age = receiver.minimumEntryAge(setup.parameters.fixInterval)
      fixes.updateClockFromBatch(utc, received: received - age)
    }
    if let bootUTC_us = fixes.clock.bootUTC_us { receiver.setClock(bootUTC_us: bootUTC_us) }
  }

  /// Delivers a held fix when refining has ended without a better one, or a client cannot wait longer.
  private mutating func releaseHeldFix(_ effects: inout Effects) {
    guard fixes.held != nil, effects.appended == nil else { return }
    let isOver = receiver.schedule.state != .refining || demand.need.until <= now
    guard isOver || demand.needsEveryFix, let fix = fixes.takeHeld() else { return }
    deliver(fix, &effects)
    effects.needsProceed = true
  }

  private mutating func deliver(_ fix: Fix, _ effects: inout Effects) {
    fixes.noteDelivered(fix)
    if demand.bound < .infinity {
      movement.accept(
        fix, within: demand.bound, accuracy: FixPipeline.accuracy(of: fix),
        planner.parameters.receiver.withDutyCycle(receiver.schedule.usesDutyCycle),
        receiver.schedule.predictor, at: now)
    }
    store(fix, &effects)
  }

  /// Stores a fix that a client needs; other fixes are not stored. If no client may receive it with full accuracy, it
  /// is stored with reduced accuracy (RNG-6).
  private mutating func store(_ fix: Fix, _ effects: inout Effects) {
    var isNeeded = false
    var isPrecise = false
    for i in clients.indices where clients[i].mayNeed(fix) {
      isNeeded = true
      isPrecise = clients[i].mayReceive(fix)
      if isPrecise { break }
    }
    guard isNeeded else { return }
    if fixes.isFull { clients.prepareOverwrite(in: fixes.ring) }
    let stored = fixes.append(fix, isPrecise: isPrecise)
    effects.appended = stored.name
    let context = context
    for i in clients.indices { clients[i].accept(stored, context) }
  }
}

// MARK: - The receiver

extension Engine {
  /// Sends the driver an event and applies its observation.
  private mutating func drive(_ event: DriverEvent, _ effects: inout Effects) {
    apply(receiver.command(event, at: now, &effects))
  }

  /// Applies an observation of the driver.
  private mutating func apply(_ observation: DriverObservation) {
    if case .none = observation { return }
    carryOut(receiver.apply(observation, head: fixes.ring.head, at: now))
  }

  /// Reports to the clients the end of a drain or the loss of the receiver.
  private mutating func carryOut(_ change: ReceiverControl.Change) {
    switch change {
    case .none: break
    case .drainFinished:
      // Report the ends of deferrals that waited for the fixes.
      let context = context
      for i in clients.indices { clients[i].drainFinished(context) }
    case .lost:
      // Deferrals end, clients are notified (DEF-43).
      let context = context
      for i in clients.indices { clients[i].receiverLost(context) }
    }
  }

  /// Schedules the next check of client `i`'s distance criterion while fixes stay in the receiver's buffer (DEF-21).
  ///
  /// The time of the next check is computed after the previous one and not changed in between: otherwise a client with
  /// frequent requests would postpone the check forever.
  private mutating func scheduleDistanceCheck(_ i: Int) {
    let receiverBuffers = receiver.mayHoldFixes
    guard let metresLeft = clients[i].distanceToCheck(receiverBuffers: receiverBuffers) else {
      return
    }
    let newest = fixes.newest?.fix
    var speed = newest?.speed
    // The speed of an old fix is not used.
    if let newest, now - newest.acquired > Client.freshness { speed = nil }
    clients[i].scheduleDistanceCheck(
      at: planner.distanceCheck(metresLeft: metresLeft, speed: speed, at: now))
  }
}

// MARK: - The end of every step: requests, deadlines, plan

extension Engine {
  /// Executes a client's request; a new client is put into use first.
  mutating func handle(_ request: Request, of id: ClientID) {
    clients.activate(id.index)
    let context = context
    let wasAuthorized = clients[id.index].isAuthorized
    let couldReceiveFixes = clients[id.index].canReceiveFixes
    clients[id.index].handle(request, in: fixes.ring, context)
    let losesFixes = couldReceiveFixes && !clients[id.index].canReceiveFixes
    let losesAuthorization = wasAuthorized && !clients[id.index].isAuthorized
    if losesFixes || losesAuthorization {
      // No client may receive these fixes any more (RNG-6).
      fixes.erase(below: clients.neededFrom(head: fixes.ring.head))
    }
    // Report `locationUnknown` immediately if no fix can come (STD-10).
    if request.startsService,
      receiver.isUnavailable(isNeeded: demand.needsEveryFix, input, at: now)
    {
      clients[id.index].reportLocationUnknown(context)
    }
    guard request.mayStartAcquisition else { return }
    // A client that may not receive fixes is no reason to search.
    let need = clients[id.index].fixNeed(
      at: now, speed: fixes.plausibleSpeed, line: motionLine)
    if need.isRequired || clients[id.index].demand(at: now) != .none {
      receiver.handle(.searchRequested, planner.parameters, at: now)
    }
  }

  /// State of ring, receiver and board that a client's methods use in this step. Not inlined, because ten
  /// functions use it (decision 0162).
  var context: ClientContext {
    @inline(never) get {
      ClientContext(
        now: now, head: fixes.ring.head, newest: fixes.newest,
        receiverBuffers: receiver.mayHoldFixes, isDraining: receiver.isDraining,
        isDeferralAvailable: isDeferralAvailable && !receiver.isLost,
        deferralLimit: setup.parameters.deferralLimit, deliveryHold: setup.deliveryHold,
        hasReceiver: receiver.isPresent && (!receiver.isLost || receiver.isStreaming(at: now)),
        motionLine: motionLine, shed: battery.shed)
    }
  }

  /// Whether the input cannot change the plan: bytes in the middle of an epoch, from an idle receiver, before the next
  /// due time.
  private func keepsPlan(_ effects: Effects) -> Bool {
    guard now < planValidUntil, input.lastByteTime == now, !effects.needsProceed,
      !effects.hasDriverActed, input.isMidEpoch
    else { return false }
    return receiver.isIdle && receiver.deadline > now
  }

  /// Whether the receiver sends although no client needs it, so that until the next request its data need not be read
  /// and nothing is due.
  ///
  /// A caller that waits without reading must call ``noteDiscardedInput(at:)`` afterwards.
  public var isReceiverUnneeded: Bool {
    !demand.needsEveryFix && !demand.need.isRequired && demand.bound == .infinity
      && receiver.isIdle && receiver.isAwake && !isBusy && !isInhibited && !isEnding
      && demand.check == .distantFuture && receiver.schedule.wake == .distantFuture
      && receiver.deadline == .distantFuture && clients.acknowledgementDeadline(at: now) == nil
  }

  /// Records that buffered input was discarded unread, so that silence does not mean that the receiver is lost.
  public mutating func noteDiscardedInput(at now: Instant) {
    let context = context
    for i in clients.indices {
      clients[i].beginUnrecorded(context)
    }
    input.noteDiscarded(at: now)
  }

  /// Records that the board was suspended until `now`; `byInput`: bytes of the receiver have ended it. All input since the
  /// start of the suspend was lost, and silence means nothing.
  public mutating func noteResume(byInput: Bool, at now: Instant) {
    input.noteResume(byInput: byInput, at: now)
    receiver.noteLostInput(at: now)
  }

  /// Begins a step. A step that is much later than planned means that the program was stopped or the board was
  /// suspended from outside, so the receiver's data was not read either.
  mutating func advance(to now: Instant) {
    precondition(now >= self.now, "the boot clock never goes back")
    self.now = now
    guard now - plannedWake > Engine.wakeTolerance else { return }
    plannedWake = .distantFuture
    input.noteDiscarded(at: now)
  }

  /// Largest normal delay of a step: alarm resolution plus resume time.
  private static var wakeTolerance: Interval { .seconds(2) }

  /// Keeps the plan while an epoch is in progress.
  private mutating func continuePlan(_ effects: inout Effects) {
    // For a check that is due now, the drain has already been requested.
    effects.wake = demand.check > now ? demand.check : .distantFuture
    finishPlan(&effects)
  }

  /// Completes a step: processes deadlines and clients, then computes the plan unless another step follows.
  private mutating func makePlan(_ effects: inout Effects) {
    planValidUntil = .boot
    if !effects.needsProceed { handleDeadlines(&effects) }
    releaseHeldFix(&effects)
    if receiver.isCheckDue(isNeeded: demand.needsEveryFix, input, at: now) {
      carryOut(receiver.lose())
    }
    planner.parameters.batch = receiver.mayBatch(at: now) ? setup.parameters.batch : nil
    planner.parameters.receiver.powersave_mW =
      receiver.mayUseDutyCycle(at: now) ? setup.parameters.receiver.powersave_mW : nil
    // Satellites in view are used while the receiver still acquires.
    planner.parameters.inputBufferTime =
      input.isWatchingSatellites ? .zero : setup.parameters.inputBufferTime
    demand = updateClients()
    if isEnding { demand = DemandSummary() }
    planSingleFixes()
    releaseHeldFix(&effects)
    // If another step follows, that step computes the plan.
    guard !effects.hasDriverActed && !effects.needsProceed else { return checkNotices(&effects) }
    let plan = planner.plan(plannerInput(demand), isInhibited: isInhibited, at: now)
    commandReceiver(plan.receiver, demand, &effects)
    checkNotices(&effects)
    guard !effects.needsProceed else { return }
    effects.board = plan.board
    effects.wake = plan.wake
    // A receiver that does not sleep would wake a suspended board with every message.
    effects.wakesOnInput =
      plan.wakesOnInput && (plan.board < .suspended || receiver.canSleep)
    input.setReadDelayed(false)
    // The times of single fixes are recomputed in each step.
    if !demand.need.isRequired, receiver.isIdle {
      planValidUntil = min(plan.wake, receiver.deadline)
    }
    finishPlan(&effects)
  }

  /// Requests another step if there are notices or effects of the driver: a plan is valid only after the notices are
  /// delivered and the effects executed.
  private mutating func checkNotices(_ effects: inout Effects) {
    effects.hasNotices = clients.hasNotices
    if effects.hasDriverActed || effects.hasNotices { effects.needsProceed = true }
  }

  /// Adds the wake times that line and driver need, and sets the input mode.
  private mutating func finishPlan(_ effects: inout Effects) {
    if isBusy { waitForReceiver(&effects) }
    // The driver's silence timeouts do not apply while messages are buffered on purpose, nor while the board is suspended.
    if isBusy || (effects.wakesOnInput && effects.board < .suspended) {
      effects.wake = min(effects.wake, receiver.deadline)
    }
    if let end = input.listeningEnd(at: now) { effects.wake = min(effects.wake, end) }
    input.setBuffering(!effects.wakesOnInput && !isBusy, at: now)
    // At least 1 ms, so that no profile can cause a busy loop.
    effects.wake = max(effects.wake, now + .milliseconds(1))
    plannedWake = effects.wake
  }

  /// Handles the deadlines of driver and line that have passed.
  private mutating func handleDeadlines(_ effects: inout Effects) {
    let isDue = receiver.mustHandleDeadline(lastByteTime: input.lastByteTime, at: now)
    if isDue && !effects.hasDriverActed {
      drive(.deadline, &effects)
      effects.needsProceed = true
    } else if let closeTime = input.closeTime, closeTime <= now, !effects.hasDriverActed {
      closeEpoch(&effects)
    }
  }

  /// Updates all clients for the time of the step, engages or disengages deferrals, and returns the sum of the
  /// demands.
  private mutating func updateClients() -> DemandSummary {
    let context = context
    var demand = DemandSummary()
    var hasFullQueue = false
    for i in clients.indices {
      let check = clients[i].elapse(context)
      if check > now { demand.addCheck(at: check) }
      hasFullQueue = hasFullQueue || clients[i].isQueueFull
      if clients[i].deferral.state != .idle { scheduleDistanceCheck(i) }
      let clientDemand = clients[i].demand(at: now)
      demand.add(clientDemand)
      // No accuracy bound applies before the client's first fix, which is therefore needed now (STD-3).
      if case .within(let metres) = clientDemand, clients[i].awaitsFirstFix(context) {
        demand.need.add(due: now, accuracy: metres * Engine.accuracyShare)
      }
    }
    if demand.live == 0 {
      for i in clients.indices {
        demand.need.add(clients[i].fixNeed(at: now, speed: fixes.plausibleSpeed, line: motionLine))
      }
    }
    if hasFullQueue { noteRecording(demand.needsEveryFix, context) }
    let mayDefer = planner.mayDefer(demand, isInhibited: isInhibited) && !receiver.isLost
    for i in clients.indices where clients[i].deferral.state != .idle {
      clients[i].updateEngagement(mayDefer, context)
      addDeadline(of: i, &demand)
    }
    addDeadlines(&demand)
    return demand
  }

  /// Records gaps for suspended clients whose queue is full (BKG-5): a gap ends when another client needs every fix,
  /// and begins when the receiver is not awake. While it is awake for single fixes, a gap neither begins nor ends.
  private func noteRecording(_ isRecorded: Bool, _ context: ClientContext) {
    guard isRecorded || !receiver.isAwake else { return }
    for i in clients.indices where clients[i].isQueueFull {
      if isRecorded {
        clients[i].endUnrecorded(context)
      } else {
        clients[i].beginUnrecorded(context)
      }
    }
  }

  /// Updates the schedule for clients that need single fixes.
  private mutating func planSingleFixes() {
    // While a client needs every fix (`demand.live` > 0), the receiver is on, and single fixes need no start time.
    if demand.bound == .infinity {
      movement.expire()
    } else if demand.live == 0 {
      let start = movement.startTime(within: demand.bound, at: now)
      let due =
        start > now
        ? receiver.schedule.fixTime(startingAt: start, planner.parameters.receiver) : now
      demand.need.add(due: due, accuracy: demand.bound * Engine.accuracyShare)
    }
    guard receiver.isPresent else { return }
    if demand.needsEveryFix, receiver.keepOn(at: now) { return }
    let wasSearching = receiver.schedule.isOn
    receiver.handle(
      .plan(demand.need, isKeptOn: demand.needsEveryFix), planner.parameters, at: now)
    // The acquisition has failed: the services that needed it compute a new due time.
    if wasSearching, receiver.schedule.state == .backedOff {
      let context = context
      for i in clients.indices {
        clients[i].acquisitionFailed(at: now)
        if clients[i].execution != .suspended { clients[i].reportLocationUnknown(context) }
      }
    }
  }

  /// Sets the state of the motion line.
  private mutating func setMotionLine(_ line: MotionLine) {
    if motionLine == .still, line == .moving {
      receiver.handle(.searchRequested, planner.parameters, at: now)
    }
    motionLine = line
    movement.motionLineChanged(line, at: now)
    for i in clients.indices { clients[i].motionLineChanged(line, at: now) }
  }

  /// Plans with the energies of a board that may be switched off, or of one that stays on.
  private mutating func setPowerOffAllowed(_ isAllowed: Bool) {
    guard let unattended = setup.parameters.unattendedBoard else { return }
    planner.parameters.receiver.board = isAllowed ? unattended : setup.parameters.receiver.board
  }

  /// Share of an accuracy bound that a fix's own error may use.
  private static let accuracyShare = 0.2

  /// Adds the end of a client's deferral, also in the foreground (DEF-18).
  private func addDeadline(of i: Int, _ demand: inout DemandSummary) {
    guard clients[i].execution != .suspended, let criteria = clients[i].deferral.criteria,
      criteria.deadline > now
    else { return }
    demand.addCheck(at: criteria.deadline)
  }

  /// Adds wake times that apply whatever the clients demand: the checks of the receiver (DEF-43, PWR-4), and the report
  /// that the location is unknown (STD-10).
  private mutating func addDeadlines(_ demand: inout DemandSummary) {
    demand.addCheck(
      at: receiver.planCheck(isNeeded: demand.needsEveryFix, input, at: now))
    if receiver.sleepCheck > now { demand.addCheck(at: receiver.sleepCheck) }
    guard let quietSince = receiver.withoutFixSince(input), !receiver.mayHoldFixes else { return }
    let due = quietSince + setup.locationUnknownTimeout
    if due <= now {
      let context = context
      for i in clients.indices where clients[i].execution != .suspended {
        clients[i].reportLocationUnknown(context)
      }
    } else if demand.live > 0 || (receiver.schedule.isOn && !demand.needsEveryFix) {
      demand.addCheck(at: due)
    }
  }

  /// Sends the driver either a new goal or a drain command, if the plan requires one.
  private mutating func commandReceiver(
    _ mode: ReceiverMode, _ demand: DemandSummary, _ effects: inout Effects
  ) {
    if mode != receiver.mode {
      receiver.setMode(mode, at: now)
      drive(.goal(mode), &effects)
      effects.needsProceed = true
      return
    }
    var isWaiting = false
    var check = drainDue
    for i in clients.indices {
      if clients[i].isWaitingForDrain { isWaiting = true }
      check = min(check, clients[i].distanceCheck)
    }
    if isWaiting && !receiver.mayHoldFixes {
      carryOut(receiver.finishDrain(head: fixes.ring.head, at: now))
    } else if receiver.mayHoldFixes && !receiver.drain.isRequested
      && (isWaiting || check <= checkHorizon)
    {
      receiver.requestDrain()
      drive(.drain, &effects)
      effects.needsProceed = true
    }
  }

  /// Drains and distance checks that are due by this time are executed now: the board may have woken a little early,
  /// and their time need not be exact. It is `now` right after a drain, when no new fixes can be in the buffer.
  private var checkHorizon: Instant {
    now - receiver.drain.lastTime > planner.parameters.maximumAlarmLead
      ? now + planner.parameters.maximumAlarmLead : now
  }

  /// Latest time to drain the receiver's buffer, independent of its pin; earlier if a client that has not deferred
  /// needs a fix.
  private var drainDue: Instant {
    // A lost receiver cannot be drained.
    guard receiver.mayHoldFixes, !receiver.isLost else { return .distantFuture }
    let needed = max(demand.need.due, receiver.drain.nextTime(setup.parameters.fixInterval))
    return min(receiver.drain.lastTime + planner.maximumDrainInterval, needed)
  }

  /// Whether a command, a drain or an epoch is in progress.
  var isBusy: Bool {
    receiver.isPresent
      && (!receiver.isQuiescent || receiver.isDraining || input.isMidEpoch
        || input.listeningEnd(at: now) != nil)
  }

  /// Plans the wait for the rest of an epoch or an answer: the board idles and is not suspended. Reading is delayed a
  /// little, so that not every byte causes a step.
  private mutating func waitForReceiver(_ effects: inout Effects) {
    let isReceiving = input.isMidEpoch || receiver.isDraining
    let silence = now - input.lastByteTime
    effects.board = .idle
    let delay = input.assembler.isEndReliable ? setup.readDelayToKnownEnd : setup.readDelay
    effects.wakesOnInput = !isReceiving || silence >= delay
    if !effects.wakesOnInput { effects.wake = min(effects.wake, now + delay) }
    input.setReadDelayed(!effects.wakesOnInput)
    if let closeTime = input.closeTime { effects.wake = min(effects.wake, closeTime) }
  }

  private func plannerInput(_ demand: DemandSummary) -> PlannerInput {
    var input = PlannerInput()
    input.demand = demand
    input.isBusy = isBusy
    input.acquiringSince = receiver.acquiringSince
    input.previousOffTime = receiver.standbyTime
    input.lastMessageTime = self.input.lastEpochTime
    if !demand.needsEveryFix { input.schedule = receiver.schedule }
    input.drainDue = drainDue
    input.acknowledgementDeadline = clients.acknowledgementDeadline(at: now)
    return input
  }
}

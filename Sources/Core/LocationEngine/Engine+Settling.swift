import DeferralCache
import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

// The end of every step: what time has brought, who may sleep, what the hardware is to do.

extension Engine {
  /// A client's request; a client that was never seen is put into use.
  mutating func handle(_ request: Request, of id: ClientID) {
    clients.use(id.index)
    let context = context
    let wasAuthorized = clients[id.index].isAuthorized
    let wasShown = clients[id.index].isShownFixes
    clients[id.index].takeSparedFix(context)
    clients[id.index].handle(request, in: ring, context)
    clients.stir(id.index)
    let losesShown = wasShown && !clients[id.index].isShownFixes
    let losesAll = wasAuthorized && !clients[id.index].isAuthorized
    if losesShown || losesAll { eraseUnneeded() }
    // Who starts while there is no receiver hears so at once, as in a long search (STD-10).
    if request.startsService, isReceiverAway { clients[id.index].locationUnknown(context) }
    guard request.wantsFix else { return }
    // Who gets nothing anyhow is no reason to search.
    let need = clients[id.index].need(
      at: now, fastest: pace.fastest(at: now), line: motionLine)
    if need.isAny || clients[id.index].demand(at: now) != .none {
      schedule.handle(.urged, planner.figures, at: now)
    }
  }

  /// All clients, for what may end the rest of any.
  mutating func stirAll() -> Range<Int> {
    takeSparedFixes()
    return clients.stirred()
  }

  /// Hands the newest fix to those who were spared it.
  func takeSparedFixes() {
    let context = context
    for i in 0..<clients.used where clients[i].mayLackAFix {
      clients[i].takeSparedFix(context)
    }
  }

  /// What no client may be shown any more is zeroed, for one of them lost the right to it (RNG-6).
  /// O(fixes that go).
  private mutating func eraseUnneeded() {
    var first = ring.head
    for i in 0..<clients.used { first = min(first, clients[i].neededFrom) }
    ring.erase(0..<first)
  }

  /// What a client must know of its surroundings; made where it is wanted, for it is large.
  @inline(__always) var context: ClientContext {
    ClientContext(
      now: now, head: ring.head, newest: newest, receiverBuffers: receiverBuffers,
      isDraining: hasDriver && driver.status.isDraining,
      isDeferralAvailable: isDeferralAvailable && !isReceiverLost,
      deferralLimit: setup.figures.deferralLimit, deliveryHold: setup.deliveryHold,
      hasReceiver: hasDriver && (!isReceiverLost || isReceiverStreaming), motionLine: motionLine,
      givenUp: battery.givenUp, travelled: way.length)
  }

  /// Whether what has just come changed nothing that a plan is made of: bytes in the middle of an
  /// epoch, from a receiver that has nothing else to do, before anything is due.
  func holdsStill(_ effects: Effects) -> Bool {
    guard now < standsUntil, lastByte == now, !effects.proceeds, !effects.isDriverDone, isMidEpoch
    else { return false }
    return isReceiverAtRest && (driver.status.deadline ?? .distantFuture) > now
  }

  /// No command is on its way, and no fix waits in the receiver.
  private var isReceiverAtRest: Bool {
    hasDriver && driver.status.isSettled && !driver.status.isDraining && !receiverBuffers
  }

  /// Whether nobody wants anything of a receiver that talks all the same: until somebody asks, nothing
  /// that it says need be heard, and no moment is waited for.
  ///
  /// Who waits like that calls ``overlook(at:)`` behind it.
  public var isUnwanted: Bool {
    !demand.wantsEveryFix && !demand.need.isAny && demand.bound == .infinity
      && isReceiverAtRest && isReceiverAwake && !isBusy && !isInhibited && !isEnding
      && demand.check == .distantFuture && schedule.wake == .distantFuture
      && driver.status.deadline == nil && acknowledgementDue == nil
  }

  /// Until when a delivery waits for its acknowledgement and the board is not suspended (RNG-8); nil where
  /// none does.
  private var acknowledgementDue: Instant? {
    var due: Instant?
    for i in clients.awake where clients.isAwake(i, at: now) {
      guard let hold = clients[i].awaitsAcknowledgementUntil, hold > now else { continue }
      due = max(due ?? hold, hold)
    }
    return due
  }

  /// Nobody listened to the receiver, and what it said meanwhile is thrown away: that it was not heard
  /// says nothing about it.
  public mutating func overlook(at now: Instant) {
    let context = context
    for i in clients.awake where clients.isAwake(i, at: now) {
      clients[i].noteUnrecorded(context)
    }
    if search.quietSince != nil { search.quietSince = now }
    overlookedAt = now
  }

  /// A step begins. One that comes long after it was due says that the program was stopped, or the board asleep
  /// without having been told to: nobody listened to the receiver either.
  mutating func advance(to now: Instant) {
    precondition(now >= self.now, "the boot clock never goes back")
    self.now = now
    guard now - plannedWake > Engine.latestWake else { return }
    plannedWake = .distantFuture
    if search.quietSince != nil { search.quietSince = now }
    overlookedAt = now
  }

  /// How late a step may come on a board that runs: its alarm's resolution, and what it takes to resume.
  private static var latestWake: Interval { .seconds(2) }

  /// Waits for the rest of an epoch while the plan stands.
  mutating func goOnWaiting(_ effects: inout Effects) {
    // A look that is due is on its way already: the drain.
    effects.wake = demand.check > now ? demand.check : .distantFuture
    isGathering = false
    finishPlan(&effects)
  }

  /// Brings time, clients and hardware together; then makes the plan, unless more is to be done.
  mutating func settle(_ effects: inout Effects) {
    standsUntil = .boot
    makePlan(&effects)
    assert(clients.hasNobodyMissed(at: now), "a client was stirred, and not looked at")
  }

  private mutating func makePlan(_ effects: inout Effects) {
    if !effects.proceeds { expire(&effects) }
    releaseHeld(&effects)
    if receiverCheckDue <= now, receiverCheck(demand) <= now { loseReceiver() }
    planner.figures.batch = mayBatch ? setup.figures.batch : nil
    planner.figures.receiver.powersave_mW =
      savingRefusal.holds(at: now) ? nil : setup.figures.receiver.powersave_mW
    demand = elapseClients()
    if isEnding { demand = DemandSummary() }
    planSingleFixes()
    releaseHeld(&effects)
    // Where another step follows, it makes the plan.
    guard !effects.isDriverDone && !effects.proceeds else { return lookForNotices(&effects) }
    let plan = planner.plan(situation(demand), isInhibited: isInhibited, at: now)
    steer(plan.receiver, demand, &effects)
    lookForNotices(&effects)
    guard !effects.proceeds else { return }
    effects.board = plan.board
    effects.wake = plan.wake
    effects.listens = plan.listens
    isGathering = false
    // Single fixes are reckoned anew each time.
    if !demand.need.isAny, isReceiverAtRest {
      standsUntil = min(plan.wake, driver.status.deadline ?? .distantFuture)
    }
    finishPlan(&effects)
  }

  /// Whether the receiver may be left to itself. Not one that is lost or answers no command: it gathers
  /// nothing, and the board would sleep over what it sends.
  private var mayBatch: Bool {
    !batchRefusal.holds(at: now) && !isReceiverLost && !(hasDriver && driver.status.isStreaming)
  }

  /// Notices must be told, and the driver's effects done, before a plan holds.
  private mutating func lookForNotices(_ effects: inout Effects) {
    effects.hasNotices = hasNotices
    if effects.isDriverDone || effects.hasNotices { effects.proceeds = true }
  }

  /// What the line and the driver need beside the plan.
  private mutating func finishPlan(_ effects: inout Effects) {
    if isBusy { waitForReceiver(&effects) }
    // While messages gather on purpose, the driver's watch over a silent line would be misled.
    if hasDriver, let deadline = driver.status.deadline, effects.listens || isBusy {
      effects.wake = min(effects.wake, deadline)
    }
    goDeaf(!effects.listens && !isBusy)
    // Never a busy loop, whatever a profile's figures say.
    effects.wake = max(effects.wake, now + .milliseconds(1))
    plannedWake = effects.wake
  }

  /// Notes that messages gather unheard from now on. Without one heard just before, their times are
  /// reckoned from now, which is late by less than an interval; but not between two chunks of what has
  /// gathered already, wherever it is cut.
  private mutating func goDeaf(_ willBeDeaf: Bool) {
    let isReading = backlogReadAt == now
    if willBeDeaf && !isDeaf && !isReading && now - lastEpoch > setup.figures.fixInterval {
      lastEpoch = now
    }
    isDeaf = willBeDeaf
  }

  /// Deadlines of driver and line that have come.
  private mutating func expire(_ effects: inout Effects) {
    if isDriverDue && !effects.isDriverDone {
      drive(.deadline, &effects)
      effects.proceeds = true
    } else if let patience, now - lastByte >= patience,
      !effects.isDriverDone
    {
      closeEpoch(&effects)
    }
  }

  /// Whether the driver's deadline has come.
  ///
  /// What has just arrived may be the answer it waits for, and is read to its end first; but on a
  /// line that is never silent only for so long.
  private var isDriverDue: Bool {
    mutating get {
      guard hasDriver, let deadline = driver.status.deadline, deadline <= now else {
        overdueSince = nil
        return false
      }
      let since = overdueSince ?? now
      guard lastByte < now || now - since >= setup.epochs.pause else {
        overdueSince = since
        return false
      }
      overdueSince = nil
      return true
    }
  }

  /// Lets each client see the time, and engage or not; gives the sum of what they want.
  private mutating func elapseClients() -> DemandSummary {
    let context = context
    var demand = DemandSummary()
    var hasFullQueue = false
    demand.look(at: clients.lookForAwake(at: now))
    for i in clients.awake where clients.isAwake(i, at: now) {
      if clients[i].mayLackAFix { clients[i].takeSparedFix(context) }
      clients[i].elapse(context)
      hasFullQueue = hasFullQueue || clients[i].isQueueFull
      lookAhead(i)
      let wanted = clients[i].demand(at: now)
      demand.add(wanted)
      // Whoever was told no place since its start is promised none yet (STD-3).
      if case .within(let metres) = wanted, clients[i].awaitsFirstFix(context) {
        demand.need.add(due: now, accuracy: metres * Engine.accuracyShare)
      }
      let check = clients[i].check
      if check > now { demand.look(at: check) }
      clients[i].rest(at: now)
    }
    if demand.live == 0 {
      let fastest = pace.fastest(at: now)
      for i in 0..<clients.used {
        if clients[i].mayLackAFix { clients[i].takeSparedFix(context) }
        demand.need.add(clients[i].need(at: now, fastest: fastest, line: motionLine))
      }
    }
    if hasFullQueue { noteRecording(demand.wantsEveryFix, context) }
    let may = planner.mayDefer(demand, isInhibited: isInhibited) && !isReceiverLost
    for i in clients.awake
    where clients.isAwake(i, at: now) && clients[i].deferral.state != .idle {
      clients[i].mayEngage(may, context)
    }
    promise(&demand)
    return demand
  }

  /// For the suspended clients whose queue is full (BKG-5): fixes are recorded while another client wants every
  /// fix, and while the receiver is awake for single fixes; otherwise a gap begins.
  private func noteRecording(_ isRecorded: Bool, _ context: ClientContext) {
    guard isRecorded || !isReceiverAwake else { return }
    for i in clients.awake where clients.isAwake(i, at: now) && clients[i].isQueueFull {
      if isRecorded {
        clients[i].endUnrecorded(context)
      } else {
        clients[i].noteUnrecorded(context)
      }
    }
  }

  /// Those who want single fixes, and not every one: when the receiver is on for them.
  private mutating func planSingleFixes() {
    // Where every fix comes at once, single ones come of themselves.
    if demand.bound == .infinity {
      movement.lapse()
    } else if demand.live == 0 {
      let start = movement.start(within: demand.bound, at: now)
      let due = start > now ? schedule.fixTime(ofStart: start, planner.figures.receiver) : now
      demand.need.add(due: due, accuracy: demand.bound * Engine.accuracyShare)
    }
    guard hasDriver else { return }
    if demand.wantsEveryFix, schedule.keepOn(at: now) { return }
    let wasSearching = schedule.isOn
    schedule.handle(
      .plan(demand.need, isOnAnyway: demand.wantsEveryFix), planner.figures, at: now)
    // A search that was given up: those it was for think again.
    if wasSearching, schedule.state == .backedOff {
      let context = context
      for i in stirAll() {
        clients[i].miss(at: now)
        if clients[i].execution != .suspended { clients[i].locationUnknown(context) }
      }
    }
  }

  /// What the motion sensor says, from now on.
  mutating func hearMotion(_ line: MotionLine) {
    if motionLine == .still, line == .moving { schedule.handle(.urged, planner.figures, at: now) }
    motionLine = line
    movement.hear(line, at: now)
    for i in stirAll() { clients[i].hear(line, at: now) }
  }

  /// The part of a promised distance that a fix's own error may take.
  static let accuracyShare = 0.2

  /// What clients were promised for a time that is still to come, whatever they demand: the end of a
  /// deferral in the foreground too (DEF-18), and word that there is no location (STD-10).
  private mutating func promise(_ demand: inout DemandSummary) {
    for i in clients.awake
    where clients.isAwake(i, at: now) && clients[i].execution != .suspended {
      guard let terms = clients[i].deferral.terms, terms.deadline > now else { continue }
      demand.look(at: terms.deadline)
    }
    receiverCheckDue = receiverCheck(demand)
    demand.look(at: receiverCheckDue)
    guard let quietSince = search.quietSince, !receiverBuffers else { return }
    let due = quietSince + setup.unknownAfter
    if due <= now {
      let context = context
      for i in clients.awake
      where clients.isAwake(i, at: now) && clients[i].execution != .suspended {
        clients[i].locationUnknown(context)
      }
    } else if demand.live > 0 || (schedule.isOn && !demand.wantsEveryFix) {
      demand.look(at: due)
    }
  }

  /// Tells the driver what the plan wants of the receiver, or to empty its buffer; one of them.
  private mutating func steer(
    _ planned: PlannedReceiver, _ demand: DemandSummary, _ effects: inout Effects
  ) {
    let wanted = Engine.goal(for: planned)
    if wanted != goal {
      note(wanted)
      drive(.goal(wanted), &effects)
      effects.proceeds = true
      return
    }
    var isWaiting = false
    var look = drainDue
    for i in clients.awake where clients.isAwake(i, at: now) {
      if clients[i].isWaitingForDrain { isWaiting = true }
      look = min(look, clients[i].distanceCheck)
    }
    if isWaiting && !receiverBuffers {
      finishDrain()
    } else if receiverBuffers && !isDrainAsked && (isWaiting || look <= lookableUntil) {
      isDrainAsked = true
      drive(.drain, &effects)
      effects.proceeds = true
    }
  }

  /// Looks that are due until then are made now: the board woke for them a little early, and they
  /// need not be exact. Not right after a drain, for then nothing new can have come.
  private var lookableUntil: Instant {
    now - drainedAt > planner.longestLead ? now + planner.longestLead : now
  }

  /// When the receiver's buffer must be looked into, pin or no pin; earlier where a fix out of it is
  /// due to somebody who has not deferred.
  private var drainDue: Instant {
    // Of one that is lost nothing is to be had.
    guard receiverBuffers, !isReceiverLost else { return .distantFuture }
    let needed = max(
      demand.need.due, drainedAt + setup.figures.fixInterval * (1 << emptyDrains))
    return min(drainedAt + planner.drainPatience, needed)
  }

  /// Something is on its way between board and receiver.
  var isBusy: Bool {
    guard hasDriver else { return false }
    return !driver.status.isSettled || driver.status.isDraining || isMidEpoch
  }

  /// While something is on its way the board idles and is not suspended; bytes are left to gather a
  /// little, so that it does not step for each.
  private mutating func waitForReceiver(_ effects: inout Effects) {
    let isStreaming = isMidEpoch || (hasDriver && driver.status.isDraining)
    let silence = now - lastByte
    effects.board = .idle
    let gather = assembler.isEndKnown ? setup.gatherToEnd : setup.gather
    effects.listens = !isStreaming || silence >= gather
    if !effects.listens { effects.wake = min(effects.wake, now + gather) }
    isGathering = !effects.listens
    if let patience {
      effects.wake = min(effects.wake, lastByte + patience)
    }
  }

  private func situation(_ demand: DemandSummary) -> Situation {
    var situation = Situation()
    situation.demand = demand
    situation.isBusy = isBusy
    situation.searchingSince = search.since
    situation.offBefore = search.offBefore
    situation.lastMessage = lastEpoch
    if !demand.wantsEveryFix { situation.schedule = schedule }
    situation.drainDue = drainDue
    situation.holdUntil = acknowledgementDue
    return situation
  }

  /// Whether a client must be told something.
  var hasNotices: Bool {
    for i in clients.awake where clients.isAwake(i, at: now) && clients[i].hasNotices {
      return true
    }
    return false
  }
}

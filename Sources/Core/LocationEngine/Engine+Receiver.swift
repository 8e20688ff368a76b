import DeferralCache
import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

// The receiver's driver: what it is told, what it tells.

extension Engine {
  /// Gives the driver an event and does what its observation means.
  mutating func drive(_ event: DriverEvent, _ effects: inout Effects) {
    observe(command(event, &effects))
  }

  /// Gives the driver an event; its pin, speed and bytes go into the effects.
  ///
  /// - Precondition: the driver has not had its turn in this step, for it has one output buffer.
  mutating func command(
    _ event: DriverEvent, _ effects: inout Effects
  ) -> DriverObservation {
    guard hasDriver else { return .none }
    precondition(!effects.isDriverDone, "the driver acts once a step")
    let answer = driver.handle(event, at: now)
    effects.pin = answer.pin
    effects.lineSpeed = answer.lineSpeed
    effects.aiding = answer.aiding
    effects.hasOutput = driver.status.hasOutgoing
    return answer.observation
  }

  /// What the driver saw, told to those it concerns.
  mutating func observe(_ observation: DriverObservation) {
    switch observation {
    case .none: break
    case .settled(let reached):
      if case .batching = reached { batchRefusal.forget() }
      if reached == .powersave { savingRefusal.forget() }
      // One that is switched off has not shown that it works.
      if reached == .off { endDrain() } else { receiverWorks() }
    case .recovered:
      batchRefusal.forget()
      savingRefusal.forget()
      receiverWorks()
    case .drained: finishDrain()
    case .lost: loseReceiver()
    case .refused(let refused):
      if case .batching = refused { batchRefusal.refuse(at: now) }
      if refused == .powersave { savingRefusal.refuse(at: now) }
      isReceiverLost = false
      finishDrain()
    }
  }

  private mutating func receiverWorks() {
    isReceiverLost = false
    endDrain()
  }

  /// Nothing is to be had of a receiver that holds nothing.
  private mutating func endDrain() {
    if !receiverBuffers { finishDrain() }
  }

  /// The receiver may hold fixes that are not in the ring.
  var receiverBuffers: Bool { hasDriver && driver.status.buffersFixes }

  /// How much older than now the entry out of the receiver's buffer is at least: those behind it were
  /// made later, an interval apart.
  var leastEntryAge: Interval {
    setup.figures.fixInterval * Int64(hasDriver ? driver.status.entriesBehind : 0)
  }

  /// All that the receiver held is in the ring: ends that waited for it are told now.
  mutating func finishDrain() {
    isDrainAsked = false
    drainedAt = now
    emptyDrains = ring.head == drainedHead ? min(emptyDrains + 1, 12) : 0
    drainedHead = ring.head
    let context = context
    for i in stirAll() {
      clients[i].drained(context)
      clients[i].distanceCheck = .distantFuture
    }
  }

  /// DEF-43: deferrals end, clients are told, the driver keeps trying.
  mutating func loseReceiver() {
    isDrainAsked = false
    guard !isReceiverLost else { return }
    isReceiverLost = true
    search.isInterrupted = true
    let context = context
    for i in stirAll() { clients[i].receiverLost(context) }
  }

  /// When the distance of client `i` must be looked at next, where fixes gather unseen (DEF-21).
  ///
  /// Reckoned from the last look, and not anew before the next one: a client that asks something
  /// now and then would put it off for ever.
  mutating func lookAhead(_ i: Int) {
    // A suspended client's end could not be delivered: no look is worth a wake (BKG-5).
    guard receiverBuffers, clients[i].execution != .suspended,
      let terms = clients[i].deferral.terms, terms.hasDistance
    else {
      clients[i].distanceCheck = .distantFuture
      return
    }
    guard clients[i].distanceCheck == .distantFuture else { return }
    var speed = newest?.fix.speed
    // How fast it was long ago says nothing.
    if let newest, now - newest.fix.acquired > Client.freshness { speed = nil }
    clients[i].distanceCheck = planner.distanceCheck(
      metresLeft: max(terms.distance - clients[i].deferral.meter.length, 0), speed: speed, at: now)
  }

  /// The driver's word for what the planner wants.
  static func goal(for planned: PlannedReceiver) -> ReceiverGoal {
    switch planned {
    case .off: .off
    case .standby: .standby
    case .tracking: .tracking
    case .powersave: .powersave
    case .batching(let watermark): .batching(watermark: watermark)
    }
  }

  /// Keeps account of when the receiver searches and how long it has slept.
  mutating func note(_ new: ReceiverGoal) {
    let wasAwake = goal.map(Engine.isAwake) ?? false
    if Engine.isAwake(new) && !wasAwake {
      search.begin(at: now)
    } else if !Engine.isAwake(new) && wasAwake {
      search.stop()
      search.sleptAt = new == .standby ? now : nil
    }
    if case .batching = new { drainedAt = now }
    goal = new
  }

  static func isAwake(_ goal: ReceiverGoal) -> Bool {
    switch goal {
    case .off, .standby: false
    case .tracking, .powersave, .batching: true
    }
  }
}

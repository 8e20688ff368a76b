import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

/// A call that waits to be sent.
struct OutgoingCall: Sendable {
  let call: WireCall
  /// Whether it is kept until a connection exists, because nothing else repeats it.
  var isKept = false
  /// Receives the reply, or why there is none.
  var completion: (@Sendable (Result<WireReply, ClientError>) -> Void)?
}

/// What a manager's mailbox receives.
enum MailboxItem: Sendable {
  case delivery(MergedDemand.Delivery)
  /// An event of a region; its region if it is known.
  case region(WireRegionEvent, WireRegion?, number: UInt32)
  /// Anything else that is reported to the delegate.
  case action(@Sendable (CLLocationManager) -> Void)
}

/// The state of a ``LocationSession``, guarded by its lock.
struct SessionState: Sendable {
  /// Whether the service can be reached.
  enum Phase: Equatable, Sendable {
    /// No attempt has ended yet.
    case starting
    case connected
    /// The last attempt failed, or the connection was lost.
    case absent
    /// Another process is this client now (AUT-2): no further attempt, because the two would replace each other.
    case takenOver
  }

  var phase = Phase.starting
  var demand = MergedDemand()
  var mailboxes: [MergedDemand.ManagerID: ManagerMailbox] = [:]
  var lastManager = 0
  var objects = ServiceObjects()
  var router = MonitorEventRouter()
  /// Regions of the location managers by identifier, including those of earlier processes (REG-1).
  var regions: [String: WireRegion] = [:]
  /// Conditions of all monitors by the service's name, with those of earlier processes (REG-11).
  var conditions: [String: WireMonitoredRegion] = [:]
  var outbox: [OutgoingCall] = []
  var fixes = FixLedger()
  var events = EventLedger()
  /// Region events that arrived before a manager existed, at most ``MonitorEventRouter/capacity``.
  var unclaimed: [MailboxItem] = []
  /// What is to be done after unlocking, because it runs code of the program.
  var wakeups: [@Sendable () -> Void] = []
  /// Names to acknowledge.
  var handledFix: FixName?
  var handledEvent: UInt32?
  /// Requests of states that the service has accepted and not answered, oldest first (REG-7).
  var stateRequests: [StateRequest] = []
  /// The region whose crossing was the last notice of a region, and whether that was resent.
  private var lastCrossing: (name: String, isResent: Bool)?
  /// The newest delivered fix (STD-8).
  var location: StoredFix?

  /// Whether no connection was opened yet.
  var isFirstConnection = true

  /// Adds the regions and conditions of earlier processes; those that this process has added meanwhile replace them.
  mutating func add(_ monitored: [WireMonitoredRegion]) {
    for entry in monitored where !removes(entry.region) {
      let name = entry.region.name
      switch entry.region.kind {
      case .region: regions[name] = regions[name] ?? entry.region
      case .condition: conditions[name] = conditions[name] ?? entry
      }
    }
  }

  /// Whether a call that waits to be sent removes the region.
  func removes(_ region: WireRegion) -> Bool {
    outbox.contains { $0.call == .removeRegion(region.kind, name: region.name) }
  }

  /// Queues a call. Without a connection it replaces an equal one, so that a program that repeats its calls does not fill
  /// the memory.
  mutating func queue(_ call: OutgoingCall) {
    if phase != .connected, call.completion == nil {
      outbox.removeAll { $0.completion == nil && $0.call == call.call }
    }
    outbox.append(call)
  }

  /// Carries out the effects of the demand: fills the outbox, the ledgers and the mailboxes.
  mutating func applyEffects() {
    let effects = demand.takeEffects()
    for call in effects.calls { outbox.append(OutgoingCall(call: call)) }
    if effects.dropsFixes {
      location = nil
      for mailbox in mailboxes.values { release(mailbox.dropFixes()) }
    }
    for (name, managers) in effects.received { fixes.add(name, managers: managers) }
    for name in effects.released { fixes.release(name) }
    for (number, receivers) in effects.visits { events.add(number, receivers: receivers) }
    for (manager, delivery) in effects.deliveries {
      mailboxes[manager]?.post(.delivery(delivery))
    }
  }

  /// Marks items as handled.
  mutating func release(_ items: [MailboxItem]) {
    for item in items {
      switch item {
      case .delivery(.fixes(let stored, _)): for fix in stored { fixes.release(fix.name) }
      case .delivery(.visit(_, let number)), .region(_, _, let number): events.release(number)
      case .delivery, .action: break
      }
    }
  }

  /// Collects what can be acknowledged. Every event that has arrived must have its receivers.
  mutating func consumeHandled() {
    handledFix = fixes.consumeHandled() ?? handledFix
    handledEvent = events.consumeHandled() ?? handledEvent
  }

  /// Whether notices stay with the service, because no manager handles its items in time.
  ///
  /// One manager whose thread does not run its loop does not keep the others from theirs.
  var isFull: Bool { !mailboxes.isEmpty && mailboxes.values.allSatisfy(\.isFull) }

  // MARK: Notices

  /// Handles notices that arrived together.
  mutating func receive(_ notices: [WireNotice], at now: Instant) {
    var batch: [StoredFix] = []
    for notice in notices {
      if case .fixes(let fixes) = notice {
        batch += fixes
        continue
      }
      demand.receive(batch, at: now)
      batch = []
      receive(notice, at: now)
    }
    demand.receive(batch, at: now)
    demand.endDue(at: now)
    applyEffects()
    consumeHandled()
  }

  private mutating func receive(_ notice: WireNotice, at now: Instant) {
    switch notice {
    case .fixes: break
    case .report(let stored): demand.receiveReport(stored)
    case .finished(let code): demand.receiveFinish(code, at: now)
    case .failure(let code): demand.receiveFailure(code, at: now)
    case .paused: demand.receivePause(at: now)
    case .resumed: demand.receiveResume(at: now)
    case .authorization(let authorization, let isReduced):
      demand.receiveAuthorization(authorization, isReduced: isReduced, at: now)
      for object in objects.all { object.authorizationChanged(authorization) }
    case .visit(let visit, let number):
      if recordArrival(number) { demand.receiveVisit(visit, number: number) }
    case .region(let event, let number):
      guard isNew(event, number: number) else { return }
      // Deliveries keep their order.
      applyEffects()
      receive(event, number: number)
    case .live, .session: wake(objects.receiver(of: notice)?.receive(notice))
    // Core Location has no callback for these.
    case .gap, .degraded, .takenOver: break
    }
  }

  /// Records the arrival of an event; false if it was resent after a loss of the connection.
  ///
  /// The service ignores the acknowledgement of an event that it has not sent on the present connection, so an event
  /// that was handled before is acknowledged again.
  private mutating func recordArrival(_ number: UInt32) -> Bool {
    guard !events.recordArrival(number) else { return true }
    if number <= events.acknowledged { handledEvent = events.acknowledged }
    return false
  }

  /// Whether an event of a region did not arrive before; the state after a resent crossing is resent too (REG-8).
  private mutating func isNew(_ event: WireRegionEvent, number: UInt32) -> Bool {
    let crossing = lastCrossing
    let isNew = recordArrival(number)
    lastCrossing = event.isCrossing ? (name: event.name, isResent: !isNew) : nil
    guard isNew, number == 0, event.kind == .region, case .determined = event.change else {
      return isNew
    }
    if let crossing, crossing.name == event.name { return !crossing.isResent }
    if let index = stateRequests.firstIndex(where: { $0.name == event.name }) {
      stateRequests.remove(at: index)
    }
    return true
  }

  private mutating func receive(_ event: WireRegionEvent, number: UInt32) {
    if event.kind == .condition { return receiveCondition(event, number: number) }
    let item = MailboxItem.region(event, regions[event.name], number: number)
    if case .failed = event.change { regions[event.name] = nil }
    guard !mailboxes.isEmpty else {
      events.add(number, receivers: 1)
      unclaimed.append(item)
      if unclaimed.count > MonitorEventRouter.capacity { release([unclaimed.removeFirst()]) }
      return
    }
    events.add(number, receivers: mailboxes.count)
    for mailbox in mailboxes.values { mailbox.post(item) }
  }

  // MARK: Monitors

  private mutating func receiveCondition(_ received: WireRegionEvent, number: UInt32) {
    guard
      let event = ConditionEvent(
        received, number: number, region: conditions[received.name]?.region)
    else { return }
    events.add(number, receivers: 1)
    let isOpen = router.isOpen(event.monitor)
    events.setUnclaimed(number, !isOpen)
    finish(router.route(event))
  }

  /// Opens a monitor, which gets the events that wait for it; nil if it is already open (REG-11).
  mutating func openMonitor(_ name: String) -> UpdateQueue<ConditionEvent>? {
    for event in router.unclaimed where event.monitor == name {
      events.setUnclaimed(event.number, false)
    }
    return router.open(name)
  }

  /// Closes a monitor; its unread events wait for the next one of that name.
  mutating func closeMonitor(_ name: String) {
    let (kept, addition) = router.close(name)
    for event in kept { events.setUnclaimed(event.number, true) }
    finish(addition)
  }

  /// An event was read, and its loop was left before it was handled: the next loop gets it (REG-13).
  mutating func putBack(_ event: ConditionEvent, to queue: UpdateQueue<ConditionEvent>) {
    finish(queue.putBack(event))
  }

  /// A loop has handled an event: it becomes the last one of its condition, unless another circle has replaced that
  /// (REG-13).
  mutating func finish(_ event: ConditionEvent) {
    let key = "\(event.monitor)/\(event.identifier)"
    if conditions[key]?.region.circle == event.region?.circle {
      conditions[key]?.lastEvent = WireRegionEvent(
        .condition, name: key, .monitor(event.state, event.problem, at: event.date))
    }
    events.release(event.number)
  }

  /// Adds a condition. Waiting events of another circle with that name are not delivered any more (REG-13).
  mutating func addCondition(_ region: WireRegion, assuming state: MonitorState) {
    for event in router.removeEvents(of: region.name, where: { $0.region?.circle != region.circle })
    {
      events.release(event.number)
    }
    conditions[region.name] = WireMonitoredRegion(region, state: state, lastEvent: nil)
  }

  /// Ends all monitors and requests of states, because no connection can be opened any more.
  mutating func finishEvents(_ error: ClientError) {
    for wakeup in router.finish(error) { wake(wakeup) }
    for request in stateRequests { answerUnknown(request) }
    stateRequests = []
  }

  private mutating func finish(_ addition: UpdateQueue<ConditionEvent>.Addition) {
    for event in addition.dropped { events.release(event.number) }
    wake(addition.wakeup)
  }

  private mutating func wake(_ wakeup: (@Sendable () -> Void)?) {
    if let wakeup { wakeups.append(wakeup) }
  }
}

extension WireRegionEvent {
  /// Whether the device crossed the boundary of a region; the region's state follows (REG-8).
  fileprivate var isCrossing: Bool {
    switch change {
    case .entered, .exited: kind == .region
    case .determined, .monitor, .failed: false
    }
  }
}

import LocationTypes

/// One slot of a ``RegionMonitor``: a region, its state, and its unreported crossings and answers.
struct RegionSlot: Sendable {
  /// Use of a slot.
  enum Use: UInt8, Sendable {
    /// No region.
    case free = 0
    /// A region is monitored.
    case live = 1
    /// The region is not monitored any more, but answers are unreported (REG-7).
    case leaving = 2
  }

  private(set) var use = Use.free
  /// Number of unreported crossings: 0, 1 or 2, the last ones.
  private(set) var pendingCrossings: UInt8 = 0
  /// Number of state requests that can be answered.
  private(set) var dueAnswers: UInt32 = 0
  /// Value of ``RegionMonitor/travelled``, metres, at which the slot may change; −∞ until a fix is checked, ∞ while the
  /// slot monitors no region.
  private(set) var changesAt = Double.infinity
  /// Fixes acquired earlier do not count.
  private(set) var since = Instant.boot
  /// Time at which the first waiting request is answered with `unknown`.
  private(set) var deadline = Instant.distantFuture
  private(set) var crossing = RegionCrossing()
  private(set) var region = Region.unset
  /// State that the client of a condition assumes: passed with the condition, or reported last.
  private(set) var assumedState = MonitorState.unknown
  /// Times at which the second last and the last crossing counted.
  private(set) var crossingTimes = (first: Instant.boot, last: Instant.boot)
  /// Number of state requests that wait for a decision.
  private(set) var waitingRequests: UInt32 = 0

  var state: RegionState { crossing.state }

  /// Value of ``RegionMonitor/travelled``, metres, at which the boundary itself may be reached; ∞ if the state is
  /// unknown or a crossing is started.
  var boundaryAt: Double {
    guard state != .unknown, crossing.pendingSince == nil else { return .infinity }
    return changesAt - region.shape.leastMargin
  }

  /// Whether a crossing or an answer is unreported.
  var hasEvents: Bool { pendingCrossings > 0 || dueAnswers > 0 }

  /// Starts to monitor another region. Waiting requests keep waiting.
  mutating func begin(_ region: Region, assuming assumed: MonitorState, at now: Instant) {
    use = .live
    self.region = region
    since = now
    changesAt = -.infinity
    pendingCrossings = 0
    switch region.identifier.kind {
    case .region:
      crossing = RegionCrossing(state: assumed.regionState)
      if state != .unknown { answerAll() }
    case .condition:
      crossing = RegionCrossing()
      assumedState = assumed
    }
  }

  /// Replaces the region by one with the same shape.
  mutating func update(_ region: Region) { self.region = region }

  /// Resets the state to `unknown` for fixes acquired from `now` on.
  mutating func restart(at now: Instant) {
    reset()
    since = now
    changesAt = -.infinity
  }

  /// Resets the state to `unknown`: unreported crossings are dropped, requests are answered.
  private mutating func reset() {
    crossing = RegionCrossing()
    pendingCrossings = 0
    answerAll()
  }

  /// Stops monitoring the region; unreported answers remain.
  mutating func stopMonitoring() {
    reset()
    changesAt = .infinity
    use = dueAnswers > 0 ? .leaving : .free
  }

  /// Sets the state that the client of a condition assumes (REG-12).
  mutating func assume(_ assumed: MonitorState, at now: Instant) {
    #if REACHED
      reach(1)
    #endif
    assumedState = assumed
    pendingCrossings = 0
    if state != .unknown && state.monitorState != assumedState { enqueueCrossing(at: now) }
  }

  /// Handles a fix.
  ///
  /// - Parameters:
  ///   - accuracy: Horizontal accuracy of the fix, metres.
  ///   - travelled: ``RegionMonitor/travelled`` at this position, metres.
  mutating func check(
    _ position: Coordinate, accuracy: Double, at time: Instant, travelled: Double
  ) {
    #if REACHED
      reach(4)
    #endif
    let placement = region.shape.classify(position, accuracy: accuracy)
    switch crossing.handle(placement, at: time) {
    case .none: break
    case .decided:
      answerAll()
      if region.identifier.kind == .condition && state.monitorState != assumedState {
        enqueueCrossing(at: time)
      }
    case .crossed: enqueueCrossing(at: time)
    }
    let distance = region.shape.distanceToChange(of: crossing, at: position)
    changesAt = travelled + (distance - RegionMonitor.distanceError)
  }

  /// When a started crossing may count: from then on each fix may change the slot. `.distantFuture` without a started
  /// crossing.
  var dwellEnd: Instant {
    crossing.pendingSince.map { $0 + RegionCrossing.dwell } ?? .distantFuture
  }

  /// Adds a request for the state.
  mutating func addRequest() { if waitingRequests < .max { waitingRequests += 1 } }

  /// Waiting requests are answered at `time` at the latest.
  mutating func limitWait(to time: Instant) { deadline = min(deadline, time) }

  /// Removes an answer to report; frees a slot whose region is not monitored any more when nothing is left.
  mutating func removeAnswer() {
    dueAnswers -= 1
    if use == .leaving && dueAnswers == 0 { use = .free }
  }

  /// All waiting requests can be answered.
  mutating func answerAll() {
    let (sum, over) = dueAnswers.addingReportingOverflow(waitingRequests)
    dueAnswers = over ? .max : sum
    waitingRequests = 0
    deadline = .distantFuture
  }

  /// Adds an unreported crossing. Of three, the first two cancel out, so that the reported sequence ends in the current
  /// state.
  private mutating func enqueueCrossing(at time: Instant) {
    pendingCrossings = pendingCrossings == 2 ? 1 : pendingCrossings + 1
    crossingTimes = (crossingTimes.last, time)
  }

  /// Time at which the next crossing to report counted.
  var firstCrossingTime: Instant {
    pendingCrossings == 2 ? crossingTimes.first : crossingTimes.last
  }

  /// Removes the next crossing to report; returns the state after it.
  mutating func popCrossing() -> RegionState {
    #if REACHED
      reach(7)
    #endif
    let next = pendingCrossings == 2 ? state.opposite : state
    pendingCrossings -= 1
    assumedState = next.monitorState
    return next
  }
}

#if REACHED
  extension RegionSlot {
    static let machine = TransitionCoverage(
      "RegionSlot", states: "free live leaving",
      events: "add assume remove reset fix request expire crossing answer",
      excluded: [
        ("free leaving", "assume remove reset fix request", "the slot monitors no circle"),
        ("free leaving", "expire", "no request of the slot waits"),
        ("free", "crossing answer", "the slot is free when everything is reported"),
        ("leaving", "crossing", "unreported crossings were dropped"),
      ])

    func reach(_ event: Int) { RegionSlot.machine.record(Int(use.rawValue), event) }
  }
#endif

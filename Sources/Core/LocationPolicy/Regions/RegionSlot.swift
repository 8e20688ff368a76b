import LocationTypes

/// One slot of a ``RegionMonitor``: a circle, its state, and its unreported crossings and answers.
struct RegionSlot: Sendable {
  /// Use of a slot.
  enum Use: UInt8, Sendable {
    /// No circle.
    case free = 0
    /// A circle is monitored.
    case live = 1
    /// The circle is not monitored any more, but answers are unreported (REG-7).
    case leaving = 2
  }

  var use = Use.free
  /// Number of unreported crossings: 0, 1 or 2, the last ones.
  var untold: UInt8 = 0
  var region = Region(
    RegionIdentifier(.region, 0), center: Coordinate(latitude_e9: 0, longitude_e9: 0), radius: 1)
  var crossing = RegionCrossing()
  /// State that the client of a condition assumes: given by it, or reported last.
  var told = MonitorState.unknown
  /// Earlier fixes do not count.
  var since = Instant.boot
  /// Times at which the second last and the last crossing counted.
  var times = (first: Instant.boot, last: Instant.boot)
  /// Number of state requests that wait for a decision, and number of requests that can be answered.
  var requests: UInt32 = 0
  var answers: UInt32 = 0
  /// Time at which the first waiting request is answered with `unknown`.
  var deadline = Instant.distantFuture

  var state: RegionState { crossing.state }

  /// Starts to monitor another circle. Waiting requests keep waiting.
  mutating func begin(_ region: Region, assuming assumed: MonitorState, at now: Instant) {
    use = .live
    self.region = region
    since = now
    untold = 0
    switch region.identifier.kind {
    case .region:
      crossing = RegionCrossing(state: assumed.regionState)
      if state != .unknown { answerAll() }
    case .condition:
      crossing = RegionCrossing()
      told = assumed
    }
  }

  /// Resets the state to `unknown`: unreported crossings are dropped, requests are answered.
  mutating func rest() {
    crossing = RegionCrossing()
    untold = 0
    answerAll()
  }

  /// Stops monitoring the circle; unreported answers remain.
  mutating func leave() {
    rest()
    use = .leaving
  }

  /// Sets the state that the client of a condition assumes (REG-12).
  mutating func believe(_ assumed: MonitorState, at now: Instant) {
    #if REACHED
      reach(1)
    #endif
    told = assumed
    untold = 0
    if state != .unknown && state.monitorState != told { owe(at: now) }
  }

  /// Handles a fix; returns true if waiting requests were answered.
  mutating func take(distance: Double, accuracy: Double, at time: Instant) -> Bool {
    #if REACHED
      reach(4)
    #endif
    let place = RegionPlace(distance: distance, accuracy: accuracy, radius: region.radius)
    let hadRequests = requests > 0
    switch crossing.handle(place, at: time) {
    case .none: break
    case .decided:
      answerAll()
      if region.identifier.kind == .condition && state.monitorState != told { owe(at: time) }
    case .crossed: owe(at: time)
    }
    return hadRequests && requests == 0
  }

  /// Distance that a device at `distance` from the centre can travel before the slot can change, metres.
  ///
  /// Only a fix past the boundary by the least margin starts a crossing, whatever its accuracy; and only a fix that is
  /// not past it by that much can end a started crossing before its 20 s are over.
  mutating func freedom(at distance: Double) -> Double {
    let margin = RegionPlace.leastMargin(radius: region.radius)
    let isPast = crossing.pendingSince != nil
    switch state {
    case .unknown: return 0
    case .inside:
      let past = distance - region.radius - margin
      return (isPast ? past : -past) - RegionReach.error
    case .outside:
      let past = region.radius - margin - distance
      return (isPast ? past : -past) - RegionReach.error
    }
  }

  /// When a started crossing may count: from then on each fix may change the slot. `.distantFuture` without a started
  /// crossing.
  var dwellsUntil: Instant {
    mutating get { crossing.pendingSince.map { $0 + RegionCrossing.dwell } ?? .distantFuture }
  }

  mutating func answerAll() {
    let (sum, over) = answers.addingReportingOverflow(requests)
    answers = over ? .max : sum
    requests = 0
    deadline = .distantFuture
  }

  /// Adds an unreported crossing. Of three, the first two cancel out, so that the reported sequence ends in the current
  /// state.
  mutating func owe(at time: Instant) {
    untold = untold == 2 ? 1 : untold + 1
    times = (times.last, time)
  }

  /// Time at which the next crossing to report counted.
  var firstTime: Instant { untold == 2 ? times.first : times.last }

  /// Removes the next crossing to report; returns the state after it.
  mutating func tellCrossing() -> RegionState {
    #if REACHED
      reach(7)
    #endif
    let next = untold == 2 ? state.opposite : state
    untold -= 1
    told = next.monitorState
    return next
  }
}

#if REACHED
  extension RegionSlot {
    static let machine = Machine(
      "RegionSlot", states: "free live leaving",
      events: "add believe remove turn fix request expire crossing answer",
      excluded: [
        ("free leaving", "believe remove turn fix request", "the slot monitors no circle"),
        ("free leaving", "expire", "no request of the slot waits"),
        ("free", "crossing answer", "the slot is free when everything is reported"),
        ("leaving", "crossing", "unreported crossings were dropped"),
      ])

    func reach(_ event: Int) { RegionSlot.machine.reach(Int(use.rawValue), event) }
  }
#endif

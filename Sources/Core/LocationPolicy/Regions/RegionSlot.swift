import LocationTypes

/// One circle of a ``RegionMonitor``, what is known of it and what must be told.
struct RegionSlot: Sendable {
  /// What a slot is used for.
  enum Use: UInt8, Sendable {
    /// Nothing.
    case free = 0
    /// A circle is monitored.
    case live = 1
    /// It is no longer, but answers are still to be told (REG-7).
    case leaving = 2
  }

  var use = Use.free
  /// Crossings that were not told: 0, the last, or the last two.
  var untold: UInt8 = 0
  var region = Region(
    RegionIdentifier(.region, 0), center: Coordinate(latitude_e9: 0, longitude_e9: 0), radius: 1)
  var crossing = RegionCrossing()
  /// What a condition's client believes.
  var told = MonitorState.unknown
  /// Fixes acquired before that do not count.
  var since = Instant.boot
  /// When the last crossing but one and the last counted.
  var times = (first: Instant.boot, last: Instant.boot)
  /// Requests for the state that wait for a decision, and those that may be answered.
  var requests: UInt32 = 0
  var answers: UInt32 = 0
  /// When the first that waits is given up.
  var deadline = Instant.distantFuture

  var state: RegionState { crossing.state }

  /// Monitors another circle. Requests that wait go on waiting.
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

  /// Forgets the state; what was not told is taken back, requests are answered.
  mutating func rest() {
    crossing = RegionCrossing()
    untold = 0
    answerAll()
  }

  /// Monitors its circle no longer; answers are still to be told.
  mutating func leave() {
    rest()
    use = .leaving
  }

  /// The client of a condition believes something else now (REG-12).
  mutating func believe(_ assumed: MonitorState, at now: Instant) {
    #if REACHED
      reach(1)
    #endif
    told = assumed
    untold = 0
    if state != .unknown && state.monitorState != told { owe(at: now) }
  }

  /// Takes a fix; true if requests were answered.
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

  /// Metres that a client at that distance from the centre can go while nothing changes.
  ///
  /// Only a fix past the boundary by the least margin begins a crossing, whatever its accuracy; and
  /// only one that is not past it by that much can end a crossing under way before its 20 s are over.
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

  /// When a crossing under way has kept the far side long enough: from then on each fix may change
  /// something; the far future while none is.
  var dwellsUntil: Instant {
    mutating get { crossing.pendingSince.map { $0 + RegionCrossing.dwell } ?? .distantFuture }
  }

  mutating func answerAll() {
    let (sum, over) = answers.addingReportingOverflow(requests)
    answers = over ? .max : sum
    requests = 0
    deadline = .distantFuture
  }

  /// A crossing must be told. Of three the first two cancel out: what stays ends in the state.
  mutating func owe(at time: Instant) {
    untold = untold == 2 ? 1 : untold + 1
    times = (times.last, time)
  }

  /// When the next crossing to tell counted.
  var firstTime: Instant { untold == 2 ? times.first : times.last }

  /// The state after the next crossing to tell.
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
        ("free leaving", "believe remove turn fix request", "no circle of it is monitored"),
        ("free leaving", "expire", "no request of it waits"),
        ("free", "crossing answer", "what is told frees it"),
        ("leaving", "crossing", "crossings that were not told are taken back"),
      ])

    func reach(_ event: Int) { RegionSlot.machine.reach(Int(use.rawValue), event) }
  }
#endif

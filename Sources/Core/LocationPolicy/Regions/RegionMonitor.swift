import LocationTypes

/// The regions and conditions of one client: at most ``capacity``, no heap (REG-1 … REG-16).
///
/// Give it every fix with ``take(_:)``, the time with ``elapse(to:)``, and pull ``nextEvent()``
/// until nil after each call. It looks at its circles only where one could change: it keeps the
/// distance that must be travelled before that. Large (see ``MemoryLayout``): mutate it
/// in place.
public struct RegionMonitor: Sendable {
  /// How many circles a client may have, regions and conditions together (REG-2).
  public static let capacity = 20
  /// How old the newest fix may be to decide a circle that is added.
  public static let freshness = Interval.seconds(10)

  /// The last fix that was taken.
  struct Newest: Sendable {
    var acquired: Instant
    var coordinate: Coordinate
    var accuracy_mm: Int32?
  }

  /// The numbers it goes by.
  public let limits: RegionLimits
  /// How many circles there are.
  public internal(set) var count = 0
  /// Monitoring rests, for accuracy is reduced (REG-15).
  public private(set) var isReduced = false
  /// Monitoring rests, for the client may not use location (AUT-3).
  public private(set) var isDenied = false
  /// Monitoring rests, for the battery is low (PWR-10).
  public private(set) var isGivenUp = false

  var reach = RegionReach()
  /// How far the reach's origin has moved all in all, metres: no slot's distance to its boundary has
  /// changed by more.
  private(set) var travelled = 0.0
  /// When the first crossing under way has kept the far side long enough.
  private(set) var dwellsUntil = Instant.distantFuture
  /// One bit for each slot with a crossing under way.
  private var crossings: UInt32 = 0
  /// nil until it is asked for: most fixes are taken while a receiver streams.
  var outlook: RegionOutlook?
  var newest: Newest?
  /// One bit for each slot that has something to tell.
  var due: UInt32 = 0
  /// What comes right after the event that was told last (REG-8).
  var following: RegionEvent?
  /// When the first waiting request for a state is given up (REG-7); the far future if none waits.
  public internal(set) var deadline = Instant.distantFuture
  var slots = InlineArray<20, RegionSlot>(repeating: RegionSlot())
  /// How far the monitor has come when something of a slot may change, metres on the scale of
  /// ``travelled``; −∞ before the first fix, ∞ while no circle is monitored. Side by side, for they are
  /// gone through more often than all else.
  private(set) var changesAt = InlineArray<20, Double>(repeating: .infinity)

  /// Monitors nothing yet.
  public init(limits: RegionLimits = RegionLimits()) { self.limits = limits }

  var isResting: Bool { isReduced || isDenied || isGivenUp }

  // MARK: What is monitored

  /// Starts to monitor a circle, in place of the one of the same identifier (REG-1).
  ///
  /// A circle of the same centre and radius goes on as it was. A fix younger than ``freshness``
  /// decides it at once; older ones never do. O(capacity).
  ///
  /// - Parameters:
  ///   - assumed: For a condition, what the client believes: it is told only if the truth differs
  ///     (REG-12). For a region, the state that came back from disk, from which it may be crossed.
  /// - Returns: The refusal that must be told at once (REG-2, REG-3); nil when it is monitored.
  public mutating func add(
    _ region: Region, assuming assumed: MonitorState = .unknown, at now: Instant
  ) -> RegionEvent? {
    guard limits.allow(region) else { return refusal(of: region, .conditionUnsupported, at: now) }
    guard let i = slot(of: region.identifier) ?? freeSlot() else {
      return refusal(of: region, .conditionLimitExceeded, at: now)
    }
    #if REACHED
      slots[i].reach(0)
    #endif
    if slots[i].use != .live {
      count += 1
      begin(region, assuming: assumed, in: i, at: now)
    } else if slots[i].region.center == region.center && slots[i].region.radius == region.radius {
      slots[i].region = region
      if region.identifier.kind == .condition { slots[i].believe(assumed, at: now) }
    } else {
      begin(region, assuming: assumed, in: i, at: now)
    }
    noteDue(i)
    return nil
  }

  private mutating func begin(
    _ region: Region, assuming assumed: MonitorState, in i: Int, at now: Instant
  ) {
    takeBack(region.identifier)
    slots[i].begin(region, assuming: assumed, at: now)
    changesAt[i] = -.infinity
    if !isResting, let newest, now - newest.acquired <= RegionMonitor.freshness {
      move(to: newest.coordinate)
      look(at: newest, in: i)
    }
    noteDeadline()
    survey()
  }

  private func refusal(
    of region: Region, _ problem: MonitorProblem, at now: Instant
  ) -> RegionEvent {
    switch region.identifier.kind {
    case .region: .failure(region.identifier, .regionMonitoringFailure)
    case .condition: .monitor(region.identifier, .unmonitored, problem, at: now)
    }
  }

  /// Stops monitoring: what was not told of it is taken back, requests that wait say `unknown`.
  public mutating func remove(_ identifier: RegionIdentifier) {
    guard let i = slot(of: identifier), slots[i].use == .live else { return }
    retire(i)
    survey()
  }

  /// Stops monitoring all circles, regions and conditions.
  public mutating func stopAll() {
    for i in 0..<RegionMonitor.capacity where slots[i].use == .live { retire(i) }
    survey()
  }

  private mutating func retire(_ i: Int) {
    #if REACHED
      slots[i].reach(2)
    #endif
    takeBack(slots[i].region.identifier)
    slots[i].leave()
    changesAt[i] = .infinity
    count -= 1
    noteDue(i)
    noteDeadline()
  }

  /// Accuracy is reduced: no states, no events; back at full accuracy all starts anew (REG-15).
  public mutating func setReduced(_ isReduced: Bool, at now: Instant) {
    let rested = isResting
    self.isReduced = isReduced
    if isResting != rested { turn(at: now) }
  }

  /// Location is denied: as ``setReduced(_:at:)``, and no fix is asked for (AUT-3).
  public mutating func setDenied(_ isDenied: Bool, at now: Instant) {
    let rested = isResting
    self.isDenied = isDenied
    if isResting != rested { turn(at: now) }
  }

  /// The battery is too low for it: as ``setDenied(_:at:)``.
  public mutating func setGivenUp(_ isGivenUp: Bool, at now: Instant) {
    let rested = isResting
    self.isGivenUp = isGivenUp
    if isResting != rested { turn(at: now) }
  }

  private mutating func turn(at now: Instant) {
    newest = nil
    following = nil
    for i in 0..<RegionMonitor.capacity where slots[i].use == .live {
      #if REACHED
        slots[i].reach(3)
      #endif
      slots[i].rest()
      changesAt[i] = -.infinity
      slots[i].since = now
      noteDue(i)
    }
    noteDeadline()
    survey()
  }

  // MARK: Fixes

  /// Takes the next fix; one that is not newer than the last is passed over.
  ///
  /// Fixes come in the order in which they were acquired, each, also when nothing is monitored.
  /// O(1) until that is travelled, else O(capacity).
  ///
  /// - Returns: Whether it was taken.
  @discardableResult public mutating func take(_ fix: Fix) -> Bool {
    guard !isResting else { return false }
    if let newest, fix.acquired <= newest.acquired { return false }
    newest = Newest(
      acquired: fix.acquired, coordinate: fix.coordinate, accuracy_mm: fix.horizontalAccuracy_mm)
    if fix.acquired >= dwellsUntil || reach.ends(before: fix.coordinate) { lookAround() }
    return true
  }

  /// Looks at the circles that the newest fix may change.
  private mutating func lookAround() {
    guard let newest else { return }
    move(to: newest.coordinate)
    let looked = newest.acquired >= dwellsUntil ? lookAtCrossings(newest) : 0
    var first = Double.infinity
    for i in 0..<RegionMonitor.capacity {
      if changesAt[i] <= travelled && slots[i].since <= newest.acquired
        && looked & 1 << UInt32(i) == 0
      {
        look(at: newest, in: i)
      }
      first = min(first, changesAt[i])
    }
    extend(to: first)
  }

  /// Looks at those that may count now; gives the bits of their slots.
  private mutating func lookAtCrossings(_ newest: Newest) -> UInt32 {
    var looked: UInt32 = 0
    var left = crossings
    while left != 0 {
      let i = left.trailingZeroBitCount
      left &= left - 1
      guard slots[i].dwellsUntil <= newest.acquired else { continue }
      look(at: newest, in: i)
      looked |= 1 << UInt32(i)
    }
    return looked
  }

  /// Whether a fix may change anything: false until enough was travelled, or a crossing may count.
  /// O(1), no sines.
  public func needsLook(at fix: Fix) -> Bool {
    !isResting && (fix.acquired >= dwellsUntil || reach.ends(before: fix.coordinate))
  }

  /// Metres that may be travelled from the newest fix on, and until when, before another one can change
  /// anything; −∞ before the first fix.
  var slack: (metres: Double, until: Instant) {
    mutating get {
      guard let newest else { return (-.infinity, dwellsUntil) }
      return (reach.slack(at: newest.coordinate), dwellsUntil)
    }
  }

  /// Counts from that place on.
  private mutating func move(to place: Coordinate) {
    guard reach.origin != place else { return }
    travelled += reach.move(to: place) + RegionReach.error
  }

  /// Sets how far from the origin, and until when, no circle can change.
  private mutating func survey() {
    var first = Double.infinity
    for i in 0..<RegionMonitor.capacity {
      first = min(first, changesAt[i])
      noteCrossing(i)
    }
    extend(to: first)
  }

  private mutating func extend(to first: Double) {
    outlook = nil
    reach.extend(to: first - travelled)
    dwellsUntil = .distantFuture
    var left = crossings
    while left != 0 {
      dwellsUntil = min(dwellsUntil, slots[left.trailingZeroBitCount].dwellsUntil)
      left &= left - 1
    }
  }

  private mutating func look(at fix: Newest, in i: Int) {
    let accuracy = accuracy(of: fix)
    let distance = slots[i].region.distance(to: fix.coordinate, accuracy)
    if slots[i].take(distance: distance, accuracy: accuracy, at: fix.acquired) { noteDeadline() }
    changesAt[i] = travelled + slots[i].freedom(at: distance)
    noteCrossing(i)
    noteDue(i)
  }

  private mutating func noteCrossing(_ i: Int) {
    let bit = UInt32(1) << UInt32(i)
    if slots[i].crossing.pendingSince != nil { crossings |= bit } else { crossings &= ~bit }
  }

  func accuracy(of fix: Newest) -> Double {
    fix.accuracy_mm.map { Double($0) / 1e3 } ?? limits.assumedAccuracy
  }

  // MARK: Slots

  func slot(of identifier: RegionIdentifier) -> Int? {
    for i in 0..<RegionMonitor.capacity
    where slots[i].use != .free && slots[i].region.identifier == identifier {
      return i
    }
    return nil
  }

  private func freeSlot() -> Int? {
    for i in 0..<RegionMonitor.capacity where slots[i].use == .free { return i }
    return nil
  }
}

extension RegionMonitor {
  /// Whether there is something to tell. O(1).
  public var hasEvents: Bool { due != 0 || following != nil }

  /// The next thing to tell, or nil when all is told; pull it after each call. O(1) when there is
  /// none, else O(capacity).
  ///
  /// Order: crossings as they counted, each enter or exit with its state right after it (REG-8);
  /// then answers. Of crossings of one circle that were not told in time the last two are kept; a
  /// third cancels the two before, so that what is told always ends in the state.
  public mutating func nextEvent() -> RegionEvent? {
    if let event = nextOfCrossing() { return event }
    guard due != 0 else { return nil }
    let i = due.trailingZeroBitCount
    #if REACHED
      slots[i].reach(8)
    #endif
    slots[i].answers -= 1
    let event = RegionEvent.determined(slots[i].region.identifier, slots[i].state)
    noteDue(i)
    return event
  }

  /// Whether ``nextOfCrossing()`` has something to tell. O(1) when there is nothing to tell at all.
  var hasCrossings: Bool {
    mutating get {
      if following != nil { return true }
      guard due != 0 else { return false }
      return firstCrossing() != nil
    }
  }

  /// The next enter or exit, event of a condition, or state right after a crossing; no answers.
  mutating func nextOfCrossing() -> RegionEvent? {
    if let event = following {
      following = nil
      return event
    }
    guard due != 0, let i = firstCrossing() else { return nil }
    let event = tellCrossing(of: i)
    noteDue(i)
    return event
  }

  private mutating func firstCrossing() -> Int? {
    var first: Int?
    for i in 0..<RegionMonitor.capacity where slots[i].untold > 0 {
      if let best = first, slots[best].firstTime <= slots[i].firstTime { continue }
      first = i
    }
    return first
  }

  private mutating func tellCrossing(of i: Int) -> RegionEvent {
    let time = slots[i].firstTime
    let region = slots[i].region
    let state = slots[i].tellCrossing()
    let determined = RegionEvent.determined(region.identifier, state)
    let silent = RegionEvent.crossedSilently(region.identifier, state)
    switch (region.identifier.kind, state) {
    case (.condition, .unknown), (.condition, .inside), (.condition, .outside):
      return .monitor(region.identifier, state.monitorState, nil, at: time)
    case (.region, .inside):
      guard region.notifyOnEntry else { return silent }
      following = determined
      return .entered(region.identifier, at: time)
    case (.region, .outside):
      guard region.notifyOnExit else { return silent }
      following = determined
      return .exited(region.identifier, at: time)
    case (.region, .unknown):
      preconditionFailure("a crossing ends in a known state")
    }
  }

  /// What follows is of a circle that is gone.
  private mutating func takeBack(_ identifier: RegionIdentifier) {
    if case .determined(identifier, _)? = following { following = nil }
  }

  // MARK: Requests

  /// `requestState(for:)`: exactly one ``RegionEvent/determined(_:_:)`` comes of it, later (REG-7).
  ///
  /// A known state is told at once, an unknown one when a fix decides it or, as `unknown`, when the
  /// wait is over. Calls that wait for the same region are answered together, none later than it
  /// asked for. O(capacity).
  ///
  /// - Returns: The answer, to be told by the caller, when no such region is monitored.
  public mutating func requestState(
    of identifier: RegionIdentifier, at now: Instant, timeout: Interval
  ) -> RegionEvent? {
    guard identifier.kind == .region, let i = slot(of: identifier), slots[i].use == .live else {
      return .determined(identifier, .unknown)
    }
    #if REACHED
      slots[i].reach(5)
    #endif
    if slots[i].requests < .max { slots[i].requests += 1 }
    if isResting || slots[i].state != .unknown {
      slots[i].answerAll()
      noteDue(i)
    } else {
      slots[i].deadline = min(slots[i].deadline, now + timeout)
      deadline = min(deadline, slots[i].deadline)
    }
    return nil
  }

  /// Gives up the requests whose wait is over: they are answered `unknown` (REG-7). O(1) before
  /// ``deadline``.
  public mutating func elapse(to now: Instant) {
    guard now >= deadline else { return }
    for i in 0..<RegionMonitor.capacity where slots[i].deadline <= now {
      #if REACHED
        slots[i].reach(6)
      #endif
      slots[i].answerAll()
      noteDue(i)
    }
    noteDeadline()
  }

  private mutating func noteDeadline() {
    deadline = .distantFuture
    for i in 0..<RegionMonitor.capacity { deadline = min(deadline, slots[i].deadline) }
  }

  /// Writes the slot's bit; a slot that leaves is free when all is told.
  private mutating func noteDue(_ i: Int) {
    let bit = UInt32(1) << UInt32(i)
    if slots[i].untold > 0 || slots[i].answers > 0 {
      due |= bit
    } else {
      due &= ~bit
      if slots[i].use == .leaving { slots[i].use = .free }
    }
  }

  // MARK: What is known

  /// The circle of that name, nil if there is none.
  public func region(_ identifier: RegionIdentifier) -> Region? {
    guard let i = slot(of: identifier), slots[i].use == .live else { return nil }
    return slots[i].region
  }

  /// The state of a circle; `unknown` if there is none (REG-10).
  public func state(of identifier: RegionIdentifier) -> RegionState {
    guard let i = slot(of: identifier), slots[i].use == .live else { return .unknown }
    return slots[i].state
  }

  /// The same in the monitor's words; `unmonitored` if there is none or monitoring rests (REG-15).
  public func monitorState(of identifier: RegionIdentifier) -> MonitorState {
    guard !isResting, let i = slot(of: identifier), slots[i].use == .live else {
      return .unmonitored
    }
    return slots[i].state.monitorState
  }

  /// The circle in a slot, 0 ..< ``capacity``, with what ``add(_:assuming:at:)`` needs to bring it
  /// back from disk: a region's state, or what a condition's client was told.
  public func record(at slot: Int) -> (region: Region, assuming: MonitorState)? {
    guard slots[slot].use == .live else { return nil }
    let held = slots[slot]
    switch held.region.identifier.kind {
    case .region: return (held.region, held.state.monitorState)
    case .condition: return (held.region, held.told)
    }
  }
}

extension RegionMonitor {
  /// When the next fix is needed (REG-16); the far future when nothing is monitored.
  ///
  /// - A circle whose state is known: (distance to its boundary − accuracy) / `fastest` after the
  ///   newest fix; not sooner than ``RegionLimits/stillWait`` after it while nothing moves.
  /// - A crossing under way: when its 20 s are over, moving or not.
  /// - An unknown state: as soon as may be; while nothing moves and nobody waits for an answer, as
  ///   if it were known. Now, if no fix was looked at yet.
  ///
  /// Never sooner than ``RegionLimits/shortestWait`` after the newest fix. O(capacity) the first time
  /// after a circle was looked at, else O(1). It is `mutating` for what it finds it keeps.
  ///
  /// - Parameters:
  ///   - now: The time; what is overdue is needed now.
  ///   - fastest: The speed in m/s that is plausible until then, above 0.
  ///   - line: ``MotionLine/still`` only if it said so ever since the newest fix.
  public mutating func nextFix(at now: Instant, fastest: Double, line: MotionLine) -> Instant {
    precondition(fastest > 0, "a fix is asked for because something may move")
    guard count > 0, !isResting else { return .distantFuture }
    guard let newest else { return now }
    let outlook = lookAhead()
    guard !outlook.isUnseen else { return now }
    let soonest = newest.acquired + limits.shortestWait
    let rested = line == .still ? max(soonest, newest.acquired + limits.stillWait) : soonest
    var next = Instant.distantFuture
    if outlook.dwellsUntil < next { next = max(soonest, outlook.dwellsUntil) }
    if outlook.isUndecided { next = min(next, deadline < .distantFuture ? soonest : rested) }
    guard outlook.nearest < .infinity else { return max(now, next) }
    let gap = outlook.nearest - reach.metres(to: newest.coordinate) - accuracy(of: newest)
    let wait = Interval(seconds: max(gap, 0) / fastest)
    return max(now, min(next, max(rested, newest.acquired + wait)))
  }

  private mutating func lookAhead() -> RegionOutlook {
    if let outlook { return outlook }
    var outlook = RegionOutlook()
    for i in 0..<RegionMonitor.capacity where slots[i].use == .live {
      slots[i].add(to: &outlook, changesAt: changesAt[i])
    }
    outlook.nearest -= travelled
    self.outlook = outlook
    return outlook
  }
}

/// What ``RegionMonitor/nextFix(at:fastest:line:)`` must know of all circles.
struct RegionOutlook: Sendable {
  /// Metres from the origin to the nearest boundary; ∞ if no state is known.
  var nearest = Double.infinity
  /// When the first crossing under way has kept the far side long enough.
  var dwellsUntil = Instant.distantFuture
  /// A fix was looked at, and decided nothing.
  var isUndecided = false
  /// No fix was looked at for some circle.
  var isUnseen = false
}

extension RegionSlot {
  /// Has this circle taken into account; `mutating` so that it is looked at in place.
  mutating func add(to outlook: inout RegionOutlook, changesAt: Double) {
    if changesAt == -.infinity { outlook.isUnseen = true }
    if crossing.pendingSince != nil {
      outlook.dwellsUntil = min(outlook.dwellsUntil, dwellsUntil)
    } else if crossing.state == .unknown {
      outlook.isUndecided = true
    } else {
      // At its boundary, at least.
      let margin = RegionPlace.leastMargin(radius: region.radius)
      outlook.nearest = min(outlook.nearest, changesAt - margin)
    }
  }
}

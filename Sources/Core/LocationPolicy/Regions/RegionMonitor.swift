import LocationTypes

/// The regions and conditions of one client: at most ``capacity`` circles, no heap memory (REG-1 to REG-16).
///
/// # Problem
///
/// A client may monitor 20 circles, and a streaming receiver delivers a fix every second. Checking each circle at each
/// fix would cost 20 geodesic distances per fix for circles that are mostly kilometres away. The monitor therefore
/// computes after each check how far the device can travel before any circle can change, and skips fixes within that
/// distance at the cost of a few multiplications. From the same distances it computes when the next fix is needed, so
/// that the receiver can be off in the meantime.
///
/// # Layers and states
///
/// ``RegionMonitor`` owns 20 ``RegionSlot`` values, each of which owns one ``RegionCrossing``. Slot:
///
///              add                        remove, answers unreported
///     free ───────────→ live ────────────────────────────────────────→ leaving
///      ↑                │  ↑                                            │   │
///      │  remove,       │  └───────── add of the same identifier ───────┘   │
///      ├────────────────┘                                                   │
///      │  nothing unreported                                                │
///      └─────────────────────── last answer reported ───────────────────────┘
///
/// Crossing of a live slot. *Past* means past the boundary by max(accuracy, 10 m), at most half a radius but never less
/// than the accuracy; fixes whose circle of accuracy touches the boundary change nothing.
///
///     unknown ── fix inside ────→ inside         state decided; requests answered (REG-6, REG-7)
///             └─ fix outside ───→ outside
///
///     inside ── fix past, outside ──→ inside, crossing started ── fix past, outside, ≥ 20 s later ──→ outside
///        ↑                                     │
///        └── any fix not past ─────────────────┘                 the same from outside to inside (REG-4)
///
/// The whole monitor is inactive while accuracy is reduced (REG-15), location is denied (AUT-3), or the battery's
/// charge sheds regions (PWR-10). Each change between active and inactive resets all live slots to `unknown`, drops
/// unreported crossings, and answers waiting requests; fixes acquired before the change do not count.
///
/// # How fixes are skipped
///
///     travelled           odometer of ``checkRadius``'s origin, metres; grows when the origin moves
///     changesAt[i]        value of `travelled` at which slot i may change; −∞ before its first fix, ∞ if not live
///     checkRadius         circle around the origin with radius min(changesAt) − travelled
///     dwellEnd            when the first started crossing may count
///
/// A fix within ``checkRadius`` and before ``dwellEnd`` only replaces ``newest``. Any other fix moves the origin to its
/// position and checks exactly the slots with `changesAt[i] <= travelled` or with a started crossing that may count
/// now. Moving the origin changes no slot's distance to its boundary by more than it adds to `travelled`, so the other
/// slots remain valid without being checked.
///
/// # Invariants
///
/// - ``count`` is the number of live slots.
/// - Bit i of ``dueSlots`` is set exactly if slot i has an unreported crossing or answer.
/// - After each call that adds, removes or checks circles, bit i of `activeCrossings` is set exactly if slot i has a
///   started crossing, and ``dwellEnd`` is the earliest of their dwell ends.
/// - ``deadline`` is the earliest deadline of the slots' waiting requests.
/// - A slot has at most two unreported crossings; the reported sequence always ends in the current state.
/// - Each request for a state gets exactly one answer (REG-7).
///
/// # Who changes what
///
/// Only this type writes its slots, and only ``RegionCrossing/handle(_:at:)`` decides a state. The caller passes every
/// fix to ``accept(_:)`` and the time to ``elapse(to:)``, and calls ``nextEvent()`` until nil after each call. The
/// value is large (see `MemoryLayout`): mutate it in place.
public struct RegionMonitor: ~Copyable, Sendable {
  private let marker = AddressOnly()
  /// Greatest number of circles of a client, regions and conditions together (REG-2).
  public static let capacity = 20
  /// Greatest age of the newest fix that may decide a circle when it is added.
  public static let freshness = Interval.seconds(10)

  /// The last fix that was accepted.
  struct Newest: Sendable {
    var acquired: Instant
    var coordinate: Coordinate
    var accuracy_mm: Int32?
  }

  /// Parameters of monitoring.
  public let limits: RegionLimits
  /// Number of monitored circles.
  public private(set) var count = 0
  /// Whether monitoring is inactive because accuracy is reduced (REG-15).
  public private(set) var isReduced = false
  /// Whether monitoring is inactive because the client may not use location (AUT-3).
  public private(set) var isDenied = false
  /// Whether monitoring is inactive because the battery is low (PWR-10).
  public private(set) var isShed = false

  private(set) var checkRadius = CheckRadius()
  /// Total movement of ``checkRadius``'s origin, metres: no slot's distance to its boundary has changed by more.
  private(set) var travelled = 0.0
  /// Earliest time at which a started crossing may count.
  private(set) var dwellEnd = Instant.distantFuture
  /// One bit per slot with a started crossing.
  private var activeCrossings: UInt32 = 0
  /// Input of ``nextFix(at:fastest:line:)``. Computed on demand, because most fixes come while a receiver streams and
  /// no next fix is computed; nil when outdated.
  private var summary: RegionSummary?
  private(set) var newest: Newest?
  /// One bit per slot with unreported events.
  private var dueSlots: UInt32 = 0
  /// Event that must immediately follow the event returned last (REG-8).
  private var followingEvent: RegionEvent?
  /// When the first waiting state request is answered with `unknown` (REG-7); `.distantFuture` if none waits.
  public private(set) var deadline = Instant.distantFuture
  private(set) var slots = InlineArray<20, RegionSlot>(repeating: RegionSlot())
  /// Value of ``travelled``, metres, at which each slot may change; −∞ before the first fix, ∞ while the slot monitors
  /// no circle. Stored contiguously, because they are read more often than everything else.
  private(set) var changesAt = InlineArray<20, Double>(repeating: .infinity)

  /// Creates a monitor without circles.
  public init(limits: RegionLimits = RegionLimits()) { self.limits = limits }

  var isInactive: Bool { isReduced || isDenied || isShed }

  // MARK: Monitored circles

  /// Starts to monitor a circle; replaces the one with the same identifier (REG-1).
  ///
  /// If centre and radius are unchanged, monitoring continues. A fix younger than ``freshness`` decides the state
  /// immediately; older ones never do. O(capacity).
  ///
  /// - Parameters:
  ///   - assumed: For a condition, the state that the client assumes: an event is reported only if the true state
  ///     differs (REG-12). For a region, the state restored from disk, from which a crossing is detected.
  /// - Returns: The refusal, which must be reported immediately (REG-2, REG-3); nil if the circle is monitored.
  public mutating func add(
    _ region: Region, assuming assumed: MonitorState = .unknown, at now: Instant
  ) -> RegionEvent? {
    guard limits.isValid(region) else { return refusal(of: region, .conditionUnsupported, at: now) }
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
      slots[i].update(region)
      if region.identifier.kind == .condition { slots[i].assume(assumed, at: now) }
    } else {
      begin(region, assuming: assumed, in: i, at: now)
    }
    noteDue(i)
    return nil
  }

  private mutating func begin(
    _ region: Region, assuming assumed: MonitorState, in i: Int, at now: Instant
  ) {
    dropFollowingEvent(of: region.identifier)
    slots[i].begin(region, assuming: assumed, at: now)
    changesAt[i] = -.infinity
    if !isInactive, let newest, now - newest.acquired <= RegionMonitor.freshness {
      move(to: newest.coordinate)
      check(at: newest, in: i)
    }
    noteDeadline()
    updateCheckRadius()
  }

  private func refusal(
    of region: Region, _ problem: MonitorProblem, at now: Instant
  ) -> RegionEvent {
    switch region.identifier.kind {
    case .region: .failure(region.identifier, .regionMonitoringFailure)
    case .condition: .monitor(region.identifier, .unmonitored, problem, at: now)
    }
  }

  /// Stops monitoring a circle: its unreported crossings are dropped, its waiting requests are answered with `unknown`.
  public mutating func remove(_ identifier: RegionIdentifier) {
    guard let i = slot(of: identifier), slots[i].use == .live else { return }
    retire(i)
    updateCheckRadius()
  }

  /// Stops monitoring all circles, regions and conditions.
  public mutating func stopAll() {
    for i in 0..<RegionMonitor.capacity where slots[i].use == .live { retire(i) }
    updateCheckRadius()
  }

  private mutating func retire(_ i: Int) {
    #if REACHED
      slots[i].reach(2)
    #endif
    dropFollowingEvent(of: slots[i].region.identifier)
    slots[i].stopMonitoring()
    changesAt[i] = .infinity
    count -= 1
    noteDue(i)
    noteDeadline()
  }

  /// Sets whether accuracy is reduced: no states and no events then; at full accuracy, monitoring restarts (REG-15).
  public mutating func setReduced(_ isReduced: Bool, at now: Instant) {
    let wasInactive = isInactive
    self.isReduced = isReduced
    if isInactive != wasInactive { resetAll(at: now) }
  }

  /// Sets whether location is denied: as ``setReduced(_:at:)``, and no fix is requested (AUT-3).
  public mutating func setDenied(_ isDenied: Bool, at now: Instant) {
    let wasInactive = isInactive
    self.isDenied = isDenied
    if isInactive != wasInactive { resetAll(at: now) }
  }

  /// Sets whether the battery is too low for monitoring: as ``setDenied(_:at:)``.
  public mutating func setShed(_ isShed: Bool, at now: Instant) {
    let wasInactive = isInactive
    self.isShed = isShed
    if isInactive != wasInactive { resetAll(at: now) }
  }

  private mutating func resetAll(at now: Instant) {
    newest = nil
    followingEvent = nil
    for i in 0..<RegionMonitor.capacity where slots[i].use == .live {
      #if REACHED
        slots[i].reach(3)
      #endif
      slots[i].restart(at: now)
      changesAt[i] = -.infinity
      noteDue(i)
    }
    noteDeadline()
    updateCheckRadius()
  }

  // MARK: Fixes

  /// Handles the next fix; one that is not newer than the last is ignored.
  ///
  /// The caller must pass every fix, in order of acquisition, even if nothing is monitored. O(1) while no circle can
  /// change, otherwise O(capacity).
  ///
  /// - Returns: Whether the fix was accepted.
  @discardableResult public mutating func accept(_ fix: Fix) -> Bool {
    guard !isInactive else { return false }
    if let newest, fix.acquired <= newest.acquired { return false }
    newest = Newest(
      acquired: fix.acquired, coordinate: fix.coordinate, accuracy_mm: fix.horizontalAccuracy_mm)
    if fix.acquired >= dwellEnd || checkRadius.isExceeded(at: fix.coordinate) { checkCircles() }
    return true
  }

  /// Checks the circles that the newest fix may change.
  private mutating func checkCircles() {
    guard let newest else { return }
    move(to: newest.coordinate)
    let checked = newest.acquired >= dwellEnd ? checkCrossings(newest) : 0
    var first = Double.infinity
    for i in 0..<RegionMonitor.capacity {
      if changesAt[i] <= travelled && slots[i].since <= newest.acquired
        && checked & 1 << UInt32(i) == 0
      {
        check(at: newest, in: i)
      }
      first = min(first, changesAt[i])
    }
    setCheckRadius(first)
  }

  /// Checks the slots whose started crossing may count now; returns their bits.
  private mutating func checkCrossings(_ newest: Newest) -> UInt32 {
    var checked: UInt32 = 0
    var remaining = activeCrossings
    while remaining != 0 {
      let i = remaining.trailingZeroBitCount
      remaining &= remaining - 1
      guard slots[i].dwellEnd <= newest.acquired else { continue }
      check(at: newest, in: i)
      checked |= 1 << UInt32(i)
    }
    return checked
  }

  /// Whether a fix may change anything: false until the device has travelled far enough or a started crossing may
  /// count. O(1), without trigonometry.
  public func needsCheck(at fix: Fix) -> Bool {
    !isInactive && (fix.acquired >= dwellEnd || checkRadius.isExceeded(at: fix.coordinate))
  }

  /// Distance in metres that can be travelled from the newest fix, and the time until which no other fix can change
  /// anything; −∞ before the first fix.
  var slack: (metres: Double, until: Instant) {
    guard let newest else { return (-.infinity, dwellEnd) }
    return (checkRadius.slack(at: newest.coordinate), dwellEnd)
  }

  /// Moves the origin of ``checkRadius`` to a position and adds the distance to ``travelled``.
  private mutating func move(to coordinate: Coordinate) {
    guard checkRadius.origin != coordinate else { return }
    travelled += checkRadius.move(to: coordinate) + CheckRadius.distanceError
  }

  /// Updates ``checkRadius`` and ``dwellEnd``: until then no circle can change.
  private mutating func updateCheckRadius() {
    var first = Double.infinity
    for i in 0..<RegionMonitor.capacity {
      first = min(first, changesAt[i])
      noteCrossing(i)
    }
    setCheckRadius(first)
  }

  private mutating func setCheckRadius(_ first: Double) {
    summary = nil
    checkRadius.setRadius(first - travelled)
    dwellEnd = .distantFuture
    var remaining = activeCrossings
    while remaining != 0 {
      dwellEnd = min(dwellEnd, slots[remaining.trailingZeroBitCount].dwellEnd)
      remaining &= remaining - 1
    }
  }

  private mutating func check(at fix: Newest, in i: Int) {
    let accuracy = accuracy(of: fix)
    let distance = slots[i].region.distance(to: fix.coordinate, accuracy)
    if slots[i].accept(distance: distance, accuracy: accuracy, at: fix.acquired) { noteDeadline() }
    changesAt[i] = travelled + slots[i].distanceToNextChange(at: distance)
    noteCrossing(i)
    noteDue(i)
  }

  private mutating func noteCrossing(_ i: Int) {
    let bit = UInt32(1) << UInt32(i)
    if slots[i].crossing.pendingSince != nil {
      activeCrossings |= bit
    } else {
      activeCrossings &= ~bit
    }
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
  /// Whether an event is pending. O(1).
  public var hasEvents: Bool { dueSlots != 0 || !followingEvent.isNil }

  /// Returns the next event, or nil; call it after each call until nil. O(1) if nothing is pending, otherwise
  /// O(capacity).
  ///
  /// Order: crossings in the order in which they counted, each enter or exit immediately followed by its state (REG-8);
  /// then answers. Of one circle's unreported crossings the last two are kept; a third one cancels the previous two, so
  /// that what is reported always ends in the current state.
  public mutating func nextEvent() -> RegionEvent? {
    if let event = nextCrossingEvent() { return event }
    guard dueSlots != 0 else { return nil }
    let i = dueSlots.trailingZeroBitCount
    #if REACHED
      slots[i].reach(8)
    #endif
    slots[i].removeAnswer()
    let event = RegionEvent.determined(slots[i].region.identifier, slots[i].state)
    noteDue(i)
    return event
  }

  /// Whether ``nextCrossingEvent()`` returns an event. O(1) if nothing is pending.
  var hasCrossings: Bool {
    if !followingEvent.isNil { return true }
    guard dueSlots != 0 else { return false }
    return firstCrossing() != nil
  }

  /// Returns the next enter or exit, condition event, or state that follows a crossing; no answers.
  mutating func nextCrossingEvent() -> RegionEvent? {
    if let event = followingEvent {
      followingEvent = nil
      return event
    }
    guard dueSlots != 0, let i = firstCrossing() else { return nil }
    let event = popCrossing(of: i)
    noteDue(i)
    return event
  }

  private func firstCrossing() -> Int? {
    var first: Int?
    for i in 0..<RegionMonitor.capacity where slots[i].pendingCrossings > 0 {
      if let best = first, slots[best].firstCrossingTime <= slots[i].firstCrossingTime { continue }
      first = i
    }
    return first
  }

  private mutating func popCrossing(of i: Int) -> RegionEvent {
    let time = slots[i].firstCrossingTime
    let region = slots[i].region
    let state = slots[i].popCrossing()
    let determined = RegionEvent.determined(region.identifier, state)
    let silent = RegionEvent.crossedSilently(region.identifier, state)
    switch (region.identifier.kind, state) {
    case (.condition, .unknown), (.condition, .inside), (.condition, .outside):
      return .monitor(region.identifier, state.monitorState, nil, at: time)
    case (.region, .inside):
      guard region.notifyOnEntry else { return silent }
      followingEvent = determined
      return .entered(region.identifier, at: time)
    case (.region, .outside):
      guard region.notifyOnExit else { return silent }
      followingEvent = determined
      return .exited(region.identifier, at: time)
    case (.region, .unknown):
      preconditionFailure("a crossing ends in a known state")
    }
  }

  /// Drops the event that would follow, because its circle is no longer monitored.
  private mutating func dropFollowingEvent(of identifier: RegionIdentifier) {
    if case .determined(identifier, _)? = followingEvent { followingEvent = nil }
  }

  // MARK: Requests

  /// `requestState(for:)`: produces exactly one ``RegionEvent/determined(_:_:)``, later (REG-7).
  ///
  /// A known state is reported immediately, an unknown one when a fix decides it or, as `unknown`, when the time limit
  /// is over. Requests that wait for the same region are answered together, none later than its own time limit.
  /// O(capacity).
  ///
  /// - Returns: The answer, which the caller must report, if no such region is monitored.
  public mutating func requestState(
    of identifier: RegionIdentifier, at now: Instant, timeout: Interval
  ) -> RegionEvent? {
    guard identifier.kind == .region, let i = slot(of: identifier), slots[i].use == .live else {
      return .determined(identifier, .unknown)
    }
    #if REACHED
      slots[i].reach(5)
    #endif
    slots[i].addRequest()
    if isInactive || slots[i].state != .unknown {
      slots[i].answerAll()
      noteDue(i)
    } else {
      slots[i].limitWait(to: now + timeout)
      deadline = min(deadline, slots[i].deadline)
    }
    return nil
  }

  /// Answers the requests whose time limit is over with `unknown` (REG-7). O(1) before ``deadline``.
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

  /// Updates the slot's bit; a leaving slot is freed when everything is reported.
  private mutating func noteDue(_ i: Int) {
    let bit = UInt32(1) << UInt32(i)
    if slots[i].pendingCrossings > 0 || slots[i].dueAnswers > 0 {
      dueSlots |= bit
    } else {
      dueSlots &= ~bit
      slots[i].release()
    }
  }

  // MARK: State

  /// The monitored circle with that identifier; nil if none exists.
  public func region(_ identifier: RegionIdentifier) -> Region? {
    guard let i = slot(of: identifier), slots[i].use == .live else { return nil }
    return slots[i].region
  }

  /// State of a circle; `unknown` if it is not monitored (REG-10).
  public func state(of identifier: RegionIdentifier) -> RegionState {
    guard let i = slot(of: identifier), slots[i].use == .live else { return .unknown }
    return slots[i].state
  }

  /// State of a circle as a `CLMonitor` state; `unmonitored` if it is not monitored or monitoring is inactive (REG-15).
  public func monitorState(of identifier: RegionIdentifier) -> MonitorState {
    guard !isInactive, let i = slot(of: identifier), slots[i].use == .live else {
      return .unmonitored
    }
    return slots[i].state.monitorState
  }

  /// The circle in a slot, 0 ..< ``capacity``, with the state that ``add(_:assuming:at:)`` needs to restore it from
  /// disk: the region's state, or the state that the condition's client assumes.
  public func record(at slot: Int) -> (region: Region, assuming: MonitorState)? {
    guard slots[slot].use == .live else { return nil }
    let entry = slots[slot]
    switch entry.region.identifier.kind {
    case .region: return (entry.region, entry.state.monitorState)
    case .condition: return (entry.region, entry.assumedState)
    }
  }
}

extension RegionMonitor {
  /// When the next fix is needed (REG-16); `.distantFuture` if nothing is monitored.
  ///
  /// - A circle with a known state: (distance to its boundary − accuracy) / `fastest` after the newest fix; at least
  ///   ``RegionLimits/stillWait`` after it while the line reports no motion.
  /// - A started crossing: when its 20 s are over, with or without motion.
  /// - An unknown state: as soon as possible. While the line reports no motion and no request waits, as for a known
  ///   state. Immediately, if no fix was checked yet.
  ///
  /// Never sooner than ``RegionLimits/shortestWait`` after the newest fix. O(capacity) the first time after a circle
  /// was checked, otherwise O(1). `mutating` because it caches the summary.
  ///
  /// - Parameters:
  ///   - now: The time; an overdue fix is needed now.
  ///   - fastest: Greatest plausible speed until then, m/s, above 0.
  ///   - line: ``MotionLine/still`` only if the line has reported it ever since the newest fix.
  public mutating func nextFix(at now: Instant, fastest: Double, line: MotionLine) -> Instant {
    precondition(fastest > 0, "fastest must be above 0")
    guard count > 0, !isInactive else { return .distantFuture }
    guard let newest else { return now }
    let summary = currentSummary()
    guard !summary.isUnchecked else { return now }
    let soonest = newest.acquired + limits.shortestWait
    let stillDue = line == .still ? max(soonest, newest.acquired + limits.stillWait) : soonest
    var next = Instant.distantFuture
    if summary.dwellEnd < next { next = max(soonest, summary.dwellEnd) }
    if summary.isUndecided { next = min(next, deadline < .distantFuture ? soonest : stillDue) }
    guard summary.nearest < .infinity else { return max(now, next) }
    let distance =
      summary.nearest - checkRadius.metres(to: newest.coordinate) - accuracy(of: newest)
    let wait = Interval(seconds: max(distance, 0) / fastest)
    return max(now, min(next, max(stillDue, newest.acquired + wait)))
  }

  private mutating func currentSummary() -> RegionSummary {
    if let summary { return summary }
    var newSummary = RegionSummary()
    for i in 0..<RegionMonitor.capacity where slots[i].use == .live {
      slots[i].add(to: &newSummary, changesAt: changesAt[i])
    }
    newSummary.nearest -= travelled
    self.summary = newSummary
    return newSummary
  }
}

/// The properties of all circles from which ``RegionMonitor/nextFix(at:fastest:line:)`` computes its result.
struct RegionSummary: Sendable {
  /// Distance from the origin to the nearest boundary, metres; ∞ if no state is known.
  var nearest = Double.infinity
  /// Earliest time at which a started crossing may count.
  var dwellEnd = Instant.distantFuture
  /// Whether a checked fix left some state undecided.
  var isUndecided = false
  /// Whether some circle has not been checked with any fix.
  var isUnchecked = false
}

extension RegionSlot {
  /// Adds this circle to the summary.
  func add(to summary: inout RegionSummary, changesAt: Double) {
    if changesAt == -.infinity { summary.isUnchecked = true }
    if crossing.pendingSince != nil {
      summary.dwellEnd = min(summary.dwellEnd, dwellEnd)
    } else if crossing.state == .unknown {
      summary.isUndecided = true
    } else {
      // Distance to the boundary itself, at least.
      let margin = RegionPlacement.leastMargin(radius: region.radius)
      summary.nearest = min(summary.nearest, changesAt - margin)
    }
  }
}

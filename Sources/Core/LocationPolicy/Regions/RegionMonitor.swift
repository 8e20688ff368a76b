import LocationTypes

/// The regions and conditions of one client: at most ``capacity``, no heap memory (REG-1 to REG-16).
///
/// # Problem
///
/// A client may monitor 20 regions, and a streaming receiver delivers a fix every second. Measuring each region at each
/// fix would cost 20 distances per fix for regions that are mostly kilometres away. The monitor therefore computes how
/// far the device can travel before any region can change, and ignores fixes within that distance at the cost of a few
/// multiplications. From the same distances it computes when the next fix is needed, so that the receiver can be off in
/// the meantime.
///
/// # Layers and states
///
/// ``RegionMonitor`` owns 20 ``RegionSlot`` values, each of which owns one ``RegionCrossing``. The shape of a region is
/// known to ``RegionShape`` only. Slot:
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
/// # Which fixes are checked
///
///     travelled         odometer of ``checkRadius``'s origin, metres; grows when the origin moves
///     slot.changesAt    value of `travelled` at which the slot may change; −∞ before its first fix, ∞ if not live
///     checkRadius       circle around the origin with radius min(changesAt) − travelled
///     dwellEnd          when the first started crossing may count
///
/// A fix within ``checkRadius`` and before ``dwellEnd`` only replaces ``newest``. Any other fix moves the origin to its
/// position and checks the slots with `changesAt <= travelled` or with a started crossing that may count now. Moving
/// the origin changes no slot's distance to its boundary by more than it adds to `travelled`, so the other slots remain
/// valid without being checked.
///
/// # Invariants
///
/// - ``refresh()`` follows each change of a slot; until the next one, ``count``, ``hasEvents``, ``deadline``,
///   ``dwellEnd``, the nearest boundary and the radius of ``checkRadius`` are those of the slots.
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
  /// Greatest number of regions of a client, regions and conditions together (REG-2).
  public static let capacity = 20
  /// Greatest age of the newest fix that may decide a region when it is added.
  public static let freshness = Interval.seconds(10)
  /// Upper bound, metres, of the sum of the errors of two distances of one region, doubled and rounded up: each is
  /// exact to 1 cm.
  static let distanceError = 0.05

  /// The last fix that was accepted.
  struct Newest: Sendable {
    var acquired: Instant
    var coordinate: Coordinate
    var accuracy_mm: Int32?
  }

  // The first four and `nearestBoundary` are computed by ``refresh()``. What each fix needs precedes the slots.
  /// Number of monitored regions.
  public private(set) var count = 0
  /// Whether an event is pending. O(1).
  public private(set) var hasEvents = false
  /// When the first waiting state request is answered with `unknown` (REG-7); `.distantFuture` if none waits.
  public private(set) var deadline = Instant.distantFuture
  /// Earliest time at which a started crossing may count.
  private(set) var dwellEnd = Instant.distantFuture
  /// Whether monitoring is inactive: accuracy is reduced (REG-15), location is denied (AUT-3), or the battery is low
  /// (PWR-10).
  public private(set) var isInactive = false
  private(set) var newest: Newest?
  private(set) var checkRadius = CheckRadius()
  /// Total movement of ``checkRadius``'s origin, metres: no slot's distance to its boundary has changed by more.
  private(set) var travelled = 0.0
  /// Distance from the origin to the nearest boundary of a region with a known state and without a started crossing,
  /// metres; ∞ if none exists.
  private var nearestBoundary = Double.infinity
  /// Event that must immediately follow the event returned last (REG-8).
  private var followingEvent: RegionEvent?
  /// Parameters of monitoring.
  public let limits: RegionLimits
  /// The regions and conditions.
  private(set) var slots = InlineArray<20, RegionSlot>(repeating: RegionSlot())

  /// Creates a monitor without regions.
  init(limits: RegionLimits = .standard) {
    precondition(
      limits.maximumRadius > 0 && limits.assumedAccuracy > 0, "radius and accuracy must be above 0")
    precondition(limits.shortestWait > .zero && limits.stillWait > .zero, "waits must be above 0")
    self.limits = limits
  }

  private mutating func refresh() {
    count = 0
    hasEvents = !followingEvent.isNil
    deadline = .distantFuture
    dwellEnd = .distantFuture
    var (change, boundary) = (Double.infinity, Double.infinity)
    for i in 0..<RegionMonitor.capacity where slots[i].use != .free {
      if slots[i].use == .live { count += 1 }
      if slots[i].hasEvents { hasEvents = true }
      deadline = min(deadline, slots[i].deadline)
      dwellEnd = min(dwellEnd, slots[i].dwellEnd)
      change = min(change, slots[i].changesAt)
      boundary = min(boundary, slots[i].boundaryAt)
    }
    nearestBoundary = boundary - travelled
    checkRadius.setRadius(change - travelled)
  }

  // MARK: Monitored regions

  /// Starts to monitor a region; replaces the one with the same identifier (REG-1).
  ///
  /// If the shape is unchanged, monitoring continues. A fix younger than ``freshness`` decides the state immediately;
  /// older ones never do. O(capacity).
  ///
  /// - Parameters:
  ///   - assumed: For a condition, the state that the client assumes: an event is reported only if the true state
  ///     differs (REG-12). For a region, the state restored from disk, from which a crossing is detected.
  /// - Returns: The refusal, which must be reported immediately (REG-2, REG-3); nil if the region is monitored.
  public mutating func add(
    _ region: Region, assuming assumed: MonitorState = .unknown, at now: Instant
  ) -> RegionEvent? {
    guard region.shape.isValid(limits) else {
      return refusal(of: region, .conditionUnsupported, at: now)
    }
    guard let i = slot(of: region.identifier) ?? freeSlot() else {
      return refusal(of: region, .conditionLimitExceeded, at: now)
    }
    #if REACHED
      slots[i].reach(0)
    #endif
    if slots[i].use == .live && slots[i].region.shape == region.shape {
      slots[i].update(region)
      if region.identifier.kind == .condition { slots[i].assume(assumed, at: now) }
    } else {
      dropFollowingEvent(of: region.identifier)
      slots[i].begin(region, assuming: assumed, at: now)
      if !isInactive, let newest, now - newest.acquired <= RegionMonitor.freshness {
        moveOrigin(to: newest)
        check(i, at: newest)
      }
    }
    refresh()
    return nil
  }

  private func refusal(
    of region: Region, _ problem: MonitorProblem, at now: Instant
  ) -> RegionEvent {
    switch region.identifier.kind {
    case .region: .failure(region.identifier, .regionMonitoringFailure)
    case .condition: .monitor(region.identifier, .unmonitored, problem, at: now)
    }
  }

  /// Stops monitoring a region: its unreported crossings are dropped, its waiting requests are answered with `unknown`.
  public mutating func remove(_ identifier: RegionIdentifier) {
    guard let i = liveSlot(of: identifier) else { return }
    #if REACHED
      slots[i].reach(2)
    #endif
    dropFollowingEvent(of: identifier)
    slots[i].stopMonitoring()
    refresh()
  }

  /// Sets whether monitoring is inactive: no states and no events then; when it is active again, monitoring restarts
  /// (REG-15).
  public mutating func setInactive(_ isInactive: Bool, at now: Instant) {
    guard isInactive != self.isInactive else { return }
    self.isInactive = isInactive
    newest = nil
    followingEvent = nil
    for i in 0..<RegionMonitor.capacity where slots[i].use == .live {
      #if REACHED
        slots[i].reach(3)
      #endif
      slots[i].restart(at: now)
    }
    refresh()
  }

  // MARK: Fixes

  /// Handles the next fix; one that is not newer than the last is ignored.
  ///
  /// The caller must pass every fix, in order of acquisition, even if nothing is monitored. O(1) while no region can
  /// change, otherwise O(capacity).
  public mutating func accept(_ fix: Fix) {
    guard !isInactive else { return }
    if let newest, fix.acquired <= newest.acquired { return }
    let newest = Newest(
      acquired: fix.acquired, coordinate: fix.coordinate, accuracy_mm: fix.horizontalAccuracy_mm)
    self.newest = newest
    if needsCheck(at: fix) { checkSlots(at: newest) }
  }

  /// Checks the slots that may change. Not inlined, so that a fix that changes nothing saves no registers.
  @inline(never) private mutating func checkSlots(at newest: Newest) {
    moveOrigin(to: newest)
    for i in 0..<RegionMonitor.capacity
    where slots[i].since <= newest.acquired
      && (slots[i].changesAt <= travelled || slots[i].dwellEnd <= newest.acquired)
    {
      check(i, at: newest)
    }
    refresh()
  }

  /// Whether a fix may change anything: false until the device has travelled far enough or a started crossing may
  /// count. O(1), without trigonometry.
  func needsCheck(at fix: Fix) -> Bool {
    !isInactive && (fix.acquired >= dwellEnd || checkRadius.isExceeded(at: fix.coordinate))
  }

  private mutating func moveOrigin(to fix: Newest) {
    guard checkRadius.origin != fix.coordinate else { return }
    travelled += checkRadius.move(to: fix.coordinate) + RegionMonitor.distanceError
  }

  private mutating func check(_ i: Int, at fix: Newest) {
    slots[i].check(
      fix.coordinate, accuracy: accuracy(of: fix), at: fix.acquired, travelled: travelled)
  }

  private func accuracy(of fix: Newest) -> Double {
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

  private func liveSlot(of identifier: RegionIdentifier) -> Int? {
    guard let i = slot(of: identifier), slots[i].use == .live else { return nil }
    return i
  }

  private func freeSlot() -> Int? {
    for i in 0..<RegionMonitor.capacity where slots[i].use == .free { return i }
    return nil
  }
}

// MARK: - Events

extension RegionMonitor {
  /// Returns the next event, or nil; call it after each call until nil. O(1) if nothing is pending, otherwise
  /// O(capacity).
  ///
  /// Order: crossings in the order in which they counted, each enter or exit immediately followed by its state (REG-8);
  /// then answers. Of one region's unreported crossings the last two are kept; a third one cancels the previous two, so
  /// that what is reported always ends in the current state.
  public mutating func nextEvent() -> RegionEvent? {
    if let event = nextCrossingEvent() { return event }
    guard hasEvents else { return nil }
    for i in 0..<RegionMonitor.capacity where slots[i].dueAnswers > 0 {
      #if REACHED
        slots[i].reach(8)
      #endif
      let event = RegionEvent.determined(slots[i].region.identifier, slots[i].state)
      slots[i].removeAnswer()
      refresh()
      return event
    }
    return nil
  }

  /// Whether ``nextCrossingEvent()`` returns an event. O(1) if nothing is pending.
  var hasCrossings: Bool { hasEvents && (!followingEvent.isNil || firstCrossing() != nil) }

  /// Returns the next enter or exit, condition event, or state that follows a crossing; no answers.
  mutating func nextCrossingEvent() -> RegionEvent? {
    guard hasEvents else { return nil }
    defer { refresh() }
    if let event = followingEvent {
      followingEvent = nil
      return event
    }
    return firstCrossing().map { popCrossing(of: $0) }
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

  /// Drops the event that would follow, because its region is no longer monitored.
  private mutating func dropFollowingEvent(of identifier: RegionIdentifier) {
    if case .determined(identifier, _)? = followingEvent { followingEvent = nil }
  }
}

// MARK: - Requests and state

extension RegionMonitor {
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
    guard identifier.kind == .region, let i = liveSlot(of: identifier) else {
      return .determined(identifier, .unknown)
    }
    #if REACHED
      slots[i].reach(5)
    #endif
    slots[i].addRequest()
    if isInactive || slots[i].state != .unknown {
      slots[i].answerAll()
    } else {
      slots[i].limitWait(to: now + timeout)
    }
    refresh()
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
    }
    refresh()
  }

  /// The monitored region with that identifier; nil if none exists.
  public func region(_ identifier: RegionIdentifier) -> Region? {
    liveSlot(of: identifier).map { slots[$0].region }
  }

  /// The region in a slot, 0 ..< ``capacity``, with the state that ``add(_:assuming:at:)`` needs to restore it from
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

// MARK: - Demand

extension RegionMonitor {
  /// When the next fix is needed (REG-16); `.distantFuture` if nothing is monitored.
  ///
  /// - A region with a known state: when (distance to its boundary − accuracy) can have been travelled since the newest
  ///   fix; at least ``RegionLimits/stillWait`` after it while the line reports no motion.
  /// - A started crossing: when its 20 s are over, with or without motion.
  /// - An unknown state: as soon as possible. While the line reports no motion and no request waits, as for a known
  ///   state. Immediately, if no fix was checked yet.
  ///
  /// Never sooner than ``RegionLimits/shortestWait`` after the newest fix. O(capacity).
  ///
  /// - Parameters:
  ///   - now: The time; an overdue fix is needed now.
  ///   - speed: Plausible speed of the device.
  ///   - line: ``MotionLine/still`` only if the line has reported it ever since the newest fix.
  public func nextFix(at now: Instant, speed: PlausibleSpeed, line: MotionLine) -> Instant {
    guard count > 0, !isInactive else { return .distantFuture }
    guard let newest else { return now }
    let soonest = newest.acquired + limits.shortestWait
    let stillDue = line == .still ? max(soonest, newest.acquired + limits.stillWait) : soonest
    var next = dwellEnd < .distantFuture ? max(soonest, dwellEnd) : .distantFuture
    for i in 0..<RegionMonitor.capacity where slots[i].use == .live {
      if slots[i].changesAt == -.infinity { return now }
      if slots[i].state == .unknown {
        next = min(next, deadline < .distantFuture ? soonest : stillDue)
      }
    }
    guard nearestBoundary < .infinity else { return max(now, next) }
    let distance =
      nearestBoundary - checkRadius.metres(to: newest.coordinate) - accuracy(of: newest)
    let wait = speed.shortestTime(toTravel: max(distance, 0), after: newest.acquired)
    return max(now, min(next, max(stillDue, newest.acquired + wait)))
  }
}

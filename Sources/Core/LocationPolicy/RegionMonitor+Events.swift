import LocationTypes

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
  mutating func takeBack(_ identifier: RegionIdentifier) {
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

  mutating func noteDeadline() {
    deadline = .distantFuture
    for i in 0..<RegionMonitor.capacity { deadline = min(deadline, slots[i].deadline) }
  }

  /// Writes the slot's bit; a slot that leaves is free when all is told.
  mutating func noteDue(_ i: Int) {
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

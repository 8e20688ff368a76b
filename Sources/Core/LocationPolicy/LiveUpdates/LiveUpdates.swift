import DeferralCache
import LocationTypes

/// The live updates of one client: up to ``capacity`` independent iterators (LIV-9).
///
/// Flags belong to the client, stationary state to each iterator. Each iterator has at most one pending element: the
/// latest flags and stationary state, and the newest fix (LIV-10). Uses no heap memory. Values that are read in every
/// step are computed when something changes, so that reading is O(1).
public struct LiveUpdates: Sendable {
  /// Greatest number of open iterators of a client.
  public static let capacity = 4

  /// Flags that are set now.
  public private(set) var flags = LiveFlags.empty
  /// Number of open iterators.
  public private(set) var count = 0
  /// Whether ``nextElement()`` returns an element.
  public private(set) var hasElements = false
  /// Whether an iterator needs every fix now.
  public private(set) var isLive = false
  /// When ``elapse(at:)`` is due; `.distantFuture` if never.
  public private(set) var check = Instant.distantFuture
  private var iterators = InlineArray<4, LiveIterator?>(repeating: nil)
  private var line = MotionLine.absent
  private var lineSince = Instant.boot

  /// Recomputes the values that are read in every step; called after each change.
  private mutating func refresh() {
    count = 0
    hasElements = false
    isLive = false
    check = .distantFuture
    for i in 0..<LiveUpdates.capacity {
      guard let iterator = iterators[i] else { continue }
      count += 1
      if iterator.hasElement(flags) { hasElements = true }
      guard !isWithheld else { continue }
      if !iterator.monitor.isPaused { isLive = true }
      check = min(check, iterator.monitor.check)
    }
  }

  /// Opens an iterator; returns its number, or nil if all are in use. Its first element reports the flags, if any is
  /// set.
  public mutating func open(_ configuration: LiveConfiguration) -> Int? {
    #if REACHED
      reach(0)
    #endif
    for i in 0..<LiveUpdates.capacity where iterators[i].isNil {
      iterators[i] = LiveIterator(configuration, line, since: lineSince)
      refresh()
      return i
    }
    return nil
  }

  /// Closes an iterator, which receives no more elements. Closing it again does nothing.
  ///
  /// - Precondition: `iterator` came from ``open(_:)``.
  public mutating func close(_ iterator: Int) {
    precondition((0..<LiveUpdates.capacity).contains(iterator), "no such iterator")
    #if REACHED
      reach(1)
    #endif
    guard count > 0 else { return }
    iterators[iterator] = nil
    refresh()
  }

  /// Whether the flags prevent delivery of locations.
  public var isWithheld: Bool { flags.containsAny(of: .withholding) }

  /// Sets all flags; each change produces one element (LIV-7).
  ///
  /// If the flags withhold locations, pending fixes and the stationary state are discarded; a change of accuracy
  /// discards them too: a reduced client must not receive a precise fix (AUT-6), and a coarse fix 4 km away is no
  /// movement.
  public mutating func set(_ flags: LiveFlags) {
    #if REACHED
      reach(2)
    #endif
    let changesAccuracy =
      self.flags.containsAny(of: .accuracyLimited) != flags.containsAny(of: .accuracyLimited)
    self.flags = flags
    defer { refresh() }
    guard isWithheld || changesAccuracy else { return }
    for i in 0..<LiveUpdates.capacity { iterators[i]?.withhold(line, since: lineSince) }
  }

  /// Handles a fix; for a client with reduced accuracy, the coarse one (AUT-6).
  public mutating func accept(_ stored: StoredFix) {
    #if REACHED
      reach(3)
    #endif
    guard count > 0, !isWithheld else { return }
    for i in 0..<LiveUpdates.capacity { iterators[i]?.accept(stored) }
    refresh()
  }

  /// Handles an acquisition while stationary that ended without a fix.
  public mutating func acquisitionFailed(at now: Instant) {
    #if REACHED
      reach(4)
    #endif
    handle(.noFix(at: now))
  }

  /// Handles the passage of time; due at ``check``.
  public mutating func elapse(at now: Instant) {
    #if REACHED
      reach(5)
    #endif
    handle(.time(now))
  }

  /// Handles a report of the motion line.
  public mutating func motionLineChanged(_ newLine: MotionLine, at now: Instant) {
    #if REACHED
      reach(6)
    #endif
    if newLine != line {
      line = newLine
      lineSince = now
    }
    guard count > 0 else { return }
    // Also while locations are withheld: nothing is reported then, but the line's state stays valid.
    for i in 0..<LiveUpdates.capacity { iterators[i]?.handle(.line(newLine, at: now)) }
    refresh()
  }

  private mutating func handle(_ event: PauseMonitor.Event) {
    guard count > 0, !isWithheld else { return }
    for i in 0..<LiveUpdates.capacity { iterators[i]?.handle(event) }
    refresh()
  }

  /// Returns the next pending element, or nil; call after each step until nil.
  public mutating func nextElement() -> LiveElement? {
    guard hasElements else { return nil }
    defer { refresh() }
    for i in 0..<LiveUpdates.capacity {
      if let element = iterators[i]?.nextElement(i, flags) { return element }
    }
    return nil
  }
}

// MARK: - Demand

extension LiveUpdates {
  /// When a stationary iterator needs its next fix, as ``PauseMonitor/nextFix(at:speed:line:)``; `.distantFuture` if
  /// none does.
  public func nextFix(at now: Instant, speed: PlausibleSpeed, line: MotionLine) -> Instant {
    guard count > 0, !isWithheld else { return .distantFuture }
    var next = Instant.distantFuture
    for i in 0..<LiveUpdates.capacity {
      if let iterator = iterators[i] {
        next = min(next, iterator.monitor.nextFix(at: now, speed: speed, line: line))
      }
    }
    return next
  }
}

#if REACHED
  extension LiveUpdates {
    /// The rows: no iterator is open, iterators are open, iterators are open and locations are withheld.
    static let machine = TransitionCoverage(
      "LiveUpdates", states: "closed open withheld", events: "open close set fix miss time line",
      excluded: [
        ("closed", "set", "flags are computed only while an iterator is open"),
        ("closed withheld", "time", "no check is due"),
        ("withheld", "fix", "a client that may not use location receives no fix"),
      ])

    func reach(_ event: Int) {
      LiveUpdates.machine.record(count == 0 ? 0 : isWithheld ? 2 : 1, event)
    }
  }
#endif

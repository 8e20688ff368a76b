import DeferralCache
import LocationTypes

/// The live updates of one client: a few iterators, each for itself (LIV-9).
///
/// Flags belong to the client, standing still to each iterator. What waits to be told is one element
/// an iterator: flags and stationary in their latest state, and the newest fix (LIV-10). Holds no
/// heap memory. What is asked each step was reckoned when something changed: O(1).
public struct LiveUpdates: Sendable {
  /// How many iterators a client may have at once.
  public static let capacity = 4

  /// The flags that hold now.
  public private(set) var flags = LiveFlags.empty
  /// How many iterators are open.
  public private(set) var count = 0
  /// Whether ``nextElement()`` has something to tell.
  public private(set) var hasElements = false
  /// Whether an iterator wants every fix now.
  public private(set) var isLive = false
  /// When ``elapse(at:)`` is due; `.distantFuture` if never.
  public private(set) var check = Instant.distantFuture
  private var iterators = InlineArray<4, LiveIterator?>(repeating: nil)
  private var line = MotionLine.absent
  private var lineSince = Instant.boot

  /// No iterator is open.
  public init() {}

  /// Reckons anew what is asked each step; after each change.
  private mutating func reckon() {
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

  /// Opens an iterator; nil when all places are taken. It is told the flags first, if there are any.
  public mutating func open(_ configuration: LiveConfiguration) -> Int? {
    #if REACHED
      reach(0)
    #endif
    for i in 0..<LiveUpdates.capacity where iterators[i] == nil {
      iterators[i] = LiveIterator(configuration, line, since: lineSince)
      reckon()
      return i
    }
    return nil
  }

  /// Closes an iterator; nothing more is told to it. A closed one stays closed.
  ///
  /// - Precondition: `iterator` came from ``open(_:)``.
  public mutating func close(_ iterator: Int) {
    precondition((0..<LiveUpdates.capacity).contains(iterator), "open gave another number")
    #if REACHED
      reach(1)
    #endif
    guard count > 0 else { return }
    iterators[iterator] = nil
    reckon()
  }

  /// Whether locations may be told at all.
  public var isWithheld: Bool { flags.holdsAny(of: .withholding) }

  /// Sets all flags; each change makes one element (LIV-7).
  ///
  /// Those that withhold erase what waits, and a change of accuracy too: a precise fix is not for a
  /// reduced client (AUT-6), and a coarse one 4 km away is no movement.
  public mutating func set(_ flags: LiveFlags) {
    #if REACHED
      reach(2)
    #endif
    let changesAccuracy =
      self.flags.holdsAny(of: .accuracyLimited) != flags.holdsAny(of: .accuracyLimited)
    self.flags = flags
    defer { reckon() }
    guard isWithheld || changesAccuracy else { return }
    for i in 0..<LiveUpdates.capacity { iterators[i]?.withhold(line, since: lineSince) }
  }

  /// A fix was made; a reduced client's is the coarse one (AUT-6).
  public mutating func take(_ stored: StoredFix) {
    #if REACHED
      reach(3)
    #endif
    guard count > 0, !isWithheld else { return }
    for i in 0..<LiveUpdates.capacity { iterators[i]?.take(stored) }
    reckon()
  }

  /// A look while standing found nothing.
  public mutating func miss(at now: Instant) {
    #if REACHED
      reach(4)
    #endif
    handle(.noFix(at: now))
  }

  /// Time passed; due at ``check``.
  public mutating func elapse(at now: Instant) {
    #if REACHED
      reach(5)
    #endif
    handle(.time(now))
  }

  /// The motion line says something.
  public mutating func hear(_ said: MotionLine, at now: Instant) {
    #if REACHED
      reach(6)
    #endif
    if said != line {
      line = said
      lineSince = now
    }
    guard count > 0 else { return }
    // Also while locations are withheld: it tells nobody, and the word holds later.
    for i in 0..<LiveUpdates.capacity { iterators[i]?.handle(.line(said, at: now)) }
    reckon()
  }

  private mutating func handle(_ event: PauseMonitor.Event) {
    guard count > 0, !isWithheld else { return }
    for i in 0..<LiveUpdates.capacity { iterators[i]?.handle(event) }
    reckon()
  }

  /// The next element to tell, or nil when all is told; called after each step until nil.
  public mutating func nextElement() -> LiveElement? {
    guard hasElements else { return nil }
    defer { reckon() }
    for i in 0..<LiveUpdates.capacity {
      if let element = iterators[i]?.nextElement(i, flags) { return element }
    }
    return nil
  }
}

// MARK: - Demand

extension LiveUpdates {
  /// When an iterator that stands wants its next fix, as ``PauseMonitor/nextFix(at:fastest:line:)``;
  /// `.distantFuture` if none does.
  public func nextFix(at now: Instant, fastest: Double, line: MotionLine) -> Instant {
    guard count > 0, !isWithheld else { return .distantFuture }
    var next = Instant.distantFuture
    for i in 0..<LiveUpdates.capacity {
      if let iterator = iterators[i] {
        next = min(next, iterator.monitor.nextFix(at: now, fastest: fastest, line: line))
      }
    }
    return next
  }
}

#if REACHED
  extension LiveUpdates {
    /// The rows: no iterator, some, some that must be shown nothing.
    static let machine = Machine(
      "LiveUpdates", states: "closed open withheld", events: "open close set fix miss time line",
      excluded: [
        ("closed", "set", "flags are reckoned while an iterator is open"),
        ("closed withheld", "time", "nothing of them is due"),
        ("withheld", "fix", "a client that may not use location is given none"),
      ])

    func reach(_ event: Int) {
      LiveUpdates.machine.reach(count == 0 ? 0 : isWithheld ? 2 : 1, event)
    }
  }
#endif

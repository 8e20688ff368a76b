import DeferralCache
import LocationTypes

/// One element of the sequence of live updates.
public struct LiveElement: Equatable, Sendable {
  /// Whose it is: what ``LiveUpdates/open(_:)`` gave.
  public var iterator: Int
  /// The fix, if there is one (LIV-3).
  public var location: StoredFix?
  /// All flags that hold now.
  public var flags: LiveFlags
  /// Whether the wearer stands; nothing else makes it true (LIV-5).
  public var isStationary: Bool
  /// Fixes since the last element that came too fast to be told (LIV-10); held at its maximum.
  public var dropped: UInt32

  /// Creates an element.
  public init(
    iterator: Int, location: StoredFix?, flags: LiveFlags, isStationary: Bool, dropped: UInt32
  ) {
    self.iterator = iterator
    self.location = location
    self.flags = flags
    self.isStationary = isStationary
    self.dropped = dropped
  }
}

/// One iterator: its stillness, what it was told, and the one fix that waits for it.
struct LiveIterator: Sendable {
  let configuration: LiveConfiguration
  private(set) var monitor: PauseMonitor
  private var toldFlags = LiveFlags.empty
  private var toldStationary = false
  private var waiting: StoredFix?
  private var dropped: UInt32 = 0

  init(_ configuration: LiveConfiguration, _ line: MotionLine, since: Instant) {
    self.configuration = configuration
    monitor = LiveIterator.monitor(for: configuration, line, since)
  }

  private static func monitor(
    for configuration: LiveConfiguration, _ line: MotionLine, _ since: Instant
  ) -> PauseMonitor {
    var monitor = PauseMonitor(configuration.activity)
    _ = monitor.handle(.line(line, at: since))
    _ = monitor.handle(.start)
    return monitor
  }

  /// Nothing more is shown of what was before: no fix, and not whether the wearer stands.
  mutating func withhold(_ line: MotionLine, since: Instant) {
    monitor = LiveIterator.monitor(for: configuration, line, since)
    waiting = nil
    dropped = 0
  }

  mutating func take(_ stored: StoredFix) {
    switch monitor.handle(.fix(stored.fix)) {
    case .pause, .resume: break
    case .nothing: if monitor.isPaused { return }
    }
    if waiting != nil { countDropped() }
    waiting = stored
  }

  mutating func handle(_ event: PauseMonitor.Event) { _ = monitor.handle(event) }

  /// Whether ``nextElement(_:_:)`` has something to tell.
  func hasElement(_ flags: LiveFlags) -> Bool {
    let isStationary = monitor.isPaused
    let isSilent = isStationary && toldStationary
    return (waiting != nil && !isSilent) || flags != toldFlags || isStationary != toldStationary
  }

  /// The element that is due, if one is.
  mutating func nextElement(_ iterator: Int, _ flags: LiveFlags) -> LiveElement? {
    // It stands as it was told before, and what it did meanwhile came too fast: silence.
    if monitor.isPaused, toldStationary, waiting != nil {
      waiting = nil
      countDropped()
    }
    let isStationary = monitor.isPaused
    guard waiting != nil || flags != toldFlags || isStationary != toldStationary else { return nil }
    let element = LiveElement(
      iterator: iterator, location: waiting, flags: flags, isStationary: isStationary,
      dropped: dropped)
    toldFlags = flags
    toldStationary = isStationary
    waiting = nil
    dropped = 0
    return element
  }

  private mutating func countDropped() { if dropped < .max { dropped += 1 } }
}

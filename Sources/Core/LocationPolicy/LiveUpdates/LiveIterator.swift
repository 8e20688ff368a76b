import DeferralCache
import LocationTypes

/// One element of the sequence of live updates.
public struct LiveElement: Equatable, Sendable {
  /// Number of its iterator, as returned by ``LiveUpdates/open(_:)``.
  public var iterator: Int
  /// The fix; nil if the element has none (LIV-3).
  public var location: StoredFix?
  /// All flags that are set now.
  public var flags: LiveFlags
  /// Whether the device is stationary; nothing else makes it true (LIV-5).
  public var isStationary: Bool
  /// Number of fixes since the last element that were dropped: newer ones replaced them (LIV-10), or they belong to a
  /// movement too short to report. Saturates at its maximum.
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

/// One iterator: its stillness detection, its last reported element, and its pending fix.
struct LiveIterator: Sendable {
  let configuration: LiveConfiguration
  private(set) var monitor: PauseMonitor
  private var reportedFlags = LiveFlags.empty
  private var reportedStationary = false
  private var pendingFix: StoredFix?
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

  /// Discards the pending fix and the stationary state.
  mutating func withhold(_ line: MotionLine, since: Instant) {
    monitor = LiveIterator.monitor(for: configuration, line, since)
    pendingFix = nil
    dropped = 0
  }

  mutating func accept(_ stored: StoredFix) {
    switch monitor.handle(.fix(stored.fix)) {
    case .pause, .resume: break
    case .nothing: if monitor.isPaused { return }
    }
    if !pendingFix.isNil { countDropped() }
    pendingFix = stored
  }

  mutating func handle(_ event: PauseMonitor.Event) { _ = monitor.handle(event) }

  /// Whether ``nextElement(_:_:)`` returns an element.
  func hasElement(_ flags: LiveFlags) -> Bool {
    let isStationary = monitor.isPaused
    let isSilent = isStationary && reportedStationary
    return (!pendingFix.isNil && !isSilent) || flags != reportedFlags
      || isStationary != reportedStationary
  }

  /// Returns the pending element; nil if none exists.
  mutating func nextElement(_ iterator: Int, _ flags: LiveFlags) -> LiveElement? {
    // The device is stationary as already reported; a movement since then was too short to report.
    if monitor.isPaused, reportedStationary, !pendingFix.isNil {
      pendingFix = nil
      countDropped()
    }
    guard hasElement(flags) else { return nil }
    let element = LiveElement(
      iterator: iterator, location: pendingFix, flags: flags, isStationary: monitor.isPaused,
      dropped: dropped)
    reportedFlags = flags
    reportedStationary = monitor.isPaused
    pendingFix = nil
    dropped = 0
    return element
  }

  private mutating func countDropped() { if dropped < .max { dropped += 1 } }
}

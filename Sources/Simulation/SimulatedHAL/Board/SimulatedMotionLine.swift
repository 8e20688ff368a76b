import LocationTypes

/// Output line of the simulated motion sensor: active while the device moves. O(periods) over a run.
struct SimulatedMotionLine: Sendable {
  /// Periods in which the line is active, ascending and disjoint; nil for a board without a sensor.
  private let activePeriods: [Range<Instant>]?
  /// Number of periods that are over.
  private var index = 0
  private var lastReported: PinLevel?

  init(_ periods: [Range<Instant>]?) {
    if let periods {
      precondition(
        zip(periods, periods.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound },
        "periods of motion are ascending and disjoint")
    }
    activePeriods = periods
  }

  /// Returns the next time after `time` at which the line changes; nil if it does not change again.
  mutating func nextEdge(after time: Instant) -> Instant? {
    guard let activePeriods else { return nil }
    while index < activePeriods.count, activePeriods[index].upperBound <= time { index += 1 }
    guard index < activePeriods.count else { return nil }
    let period = activePeriods[index]
    return period.lowerBound > time ? period.lowerBound : period.upperBound
  }

  private mutating func level(at time: Instant) -> PinLevel? {
    guard let activePeriods else { return nil }
    _ = nextEdge(after: time)
    guard index < activePeriods.count else { return .inactive }
    return activePeriods[index].contains(time) ? .active : .inactive
  }

  /// Whether the level differs from the one reported last.
  mutating func hasChanged(at time: Instant) -> Bool { level(at: time) != lastReported }

  /// Returns the level if it differs from the one reported last, and records it as reported.
  mutating func consumeChange(at time: Instant) -> PinLevel? {
    let level = level(at: time)
    guard level != lastReported else { return nil }
    lastReported = level
    return level
  }
}

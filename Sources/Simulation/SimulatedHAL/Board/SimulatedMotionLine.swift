import LocationTypes

/// Output line of the simulated motion sensor: active while the device moves. O(periods) over a run.
struct SimulatedMotionLine: Sendable {
  /// Periods in which the line is active, ascending and disjoint; nil for a board without a sensor.
  private let activePeriods: [Range<Instant>]?
  /// Number of periods that are over.
  private var index = 0
  private var lastReported: PinLevel?

  init(_ spells: [Range<Instant>]?) {
    if let spells {
      for i in spells.indices.dropFirst() {
        precondition(
          spells[i - 1].upperBound < spells[i].lowerBound,
          "periods of motion are ascending and disjoint")
      }
    }
    self.activePeriods = spells
  }

  /// Returns the next time after `time` at which the line changes.
  mutating func nextEdge(after time: Instant) -> Instant? {
    guard let activePeriods else { return nil }
    while index < activePeriods.count, activePeriods[index].upperBound <= time { index += 1 }
    guard index < activePeriods.count else { return nil }
    let spell = activePeriods[index]
    return spell.lowerBound > time ? spell.lowerBound : spell.upperBound
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

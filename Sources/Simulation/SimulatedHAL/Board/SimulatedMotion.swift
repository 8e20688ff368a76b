import LocationTypes

/// Output line of the simulated motion sensor: active while the device moves. O(periods) over a run.
struct SimulatedMotion: Sendable {
  /// Periods in which the line is active, ascending and disjoint; nil for a board without a sensor.
  private let spells: [Range<Instant>]?
  /// Number of periods that are over.
  private var index = 0
  private var told: PinLevel?

  init(_ spells: [Range<Instant>]?) {
    if let spells {
      for i in spells.indices.dropFirst() {
        precondition(
          spells[i - 1].upperBound < spells[i].lowerBound,
          "periods of motion are ascending "
            + "and disjoint")
      }
    }
    self.spells = spells
  }

  /// Returns the next time after `time` at which the line changes.
  mutating func nextEdge(after time: Instant) -> Instant? {
    guard let spells else { return nil }
    while index < spells.count, spells[index].upperBound <= time { index += 1 }
    guard index < spells.count else { return nil }
    let spell = spells[index]
    return spell.lowerBound > time ? spell.lowerBound : spell.upperBound
  }

  private mutating func level(at time: Instant) -> PinLevel? {
    guard let spells else { return nil }
    _ = nextEdge(after: time)
    guard index < spells.count else { return .inactive }
    return spells[index].contains(time) ? .active : .inactive
  }

  /// Whether the level differs from the one reported last.
  mutating func isNews(at time: Instant) -> Bool { level(at: time) != told }

  /// Returns the level if it differs from the one reported last, and records it as reported.
  mutating func takeNews(at time: Instant) -> PinLevel? {
    let level = level(at: time)
    guard level != told else { return nil }
    told = level
    return level
  }
}

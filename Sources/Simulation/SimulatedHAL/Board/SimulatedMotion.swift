import LocationTypes

/// The motion sensor's line: active while it sees motion. O(spells) over a run.
struct SimulatedMotion: Sendable {
  /// When it is active; in order, apart from each other. Nil on a board without a sensor.
  private let spells: [Range<Instant>]?
  /// Spells that are over.
  private var index = 0
  private var told: PinLevel?

  init(_ spells: [Range<Instant>]?) {
    if let spells {
      for i in spells.indices.dropFirst() {
        precondition(
          spells[i - 1].upperBound < spells[i].lowerBound, "spells of motion are apart, in order")
      }
    }
    self.spells = spells
  }

  /// The next moment after `time` at which the line changes.
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

  /// Whether the line says something else than was told.
  mutating func isNews(at time: Instant) -> Bool { level(at: time) != told }

  /// What the line says, if that is not what was told; it counts as told then.
  mutating func takeNews(at time: Instant) -> PinLevel? {
    let level = level(at: time)
    guard level != told else { return nil }
    told = level
    return level
  }
}

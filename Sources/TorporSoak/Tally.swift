import LocationPolicy

/// What a run has gone through, added up.
struct Tally: Sendable {
  /// Fixes that the engine took into its ring.
  var fixes = 0
  /// Things that went wrong on purpose: each piece of garbage, each spell without sky counts once.
  var faults = 0
  /// Steps of engines that were fed directly.
  var steps = 0
  /// Fixes of ``fixes`` that came through the loop and the simulated board.
  var boardFixes = 0
  /// Batches that clients were given.
  var batches = 0
  /// Gaps that clients were told.
  var gaps = 0
  /// Finishes that clients were told.
  var finishes = 0
  /// Pauses and resumes, region crossings, visits.
  var turns = 0
  /// Runs: one for each seed.
  var runs = 0
  /// How often a deferral in a state (row) saw an event (column).
  var pairs = [Int](repeating: 0, count: 18)
  /// What was wrong, with the seed that shows it again.
  var failure: Failure?

  /// A broken invariant.
  struct Failure: Sendable {
    /// Reproduces it.
    var seed: UInt64
    /// What was wrong, and when.
    var text: String
  }

  /// The events of a deferral, in the order of the columns.
  enum Column: Int, CaseIterable {
    case call = 0
    case fix = 1
    case time = 2
    case mayEngage = 3
    case mayNotEngage = 4
    case end = 5
  }

  /// Counts a pair.
  mutating func note(_ state: Deferral.State, _ event: Column) {
    pairs[Int(state.rawValue) * Column.allCases.count + event.rawValue] += 1
  }

  /// Whether an engine can give that event in that state: it asks no idle deferral to engage.
  static func isReachable(_ index: Int) -> Bool {
    index != Column.mayEngage.rawValue && index != Column.mayNotEngage.rawValue
  }

  /// Pairs that can be reached.
  static var reachable: Int { (0..<18).count(where: isReachable) }
  /// Pairs of those that were.
  var reached: Int { pairs.indices.count { Tally.isReachable($0) && pairs[$0] > 0 } }

  /// The names of those that were not.
  var missing: [String] {
    let states = ["idle", "armed", "engaged"]
    return pairs.indices.filter { Tally.isReachable($0) && pairs[$0] == 0 }.map { index in
      let columns = Column.allCases
      return "(\(states[index / columns.count]), \(columns[index % columns.count]))"
    }
  }

  /// Adds another's figures; keeps the first failure.
  mutating func add(_ other: Tally) {
    fixes += other.fixes
    faults += other.faults
    steps += other.steps
    boardFixes += other.boardFixes
    batches += other.batches
    gaps += other.gaps
    finishes += other.finishes
    turns += other.turns
    runs += other.runs
    for index in pairs.indices { pairs[index] += other.pairs[index] }
    failure = failure ?? other.failure
  }
}

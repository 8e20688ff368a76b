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
  /// Events of drivers that were fed directly.
  var driverEvents = 0
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
  /// What the run did.
  var digest = BehaviourDigest()
  /// The digest of each seed.
  var digests: [UInt64: BehaviourDigest] = [:]
  /// What was wrong, with the seed that shows it again.
  var failure: Failure?

  /// A broken invariant.
  struct Failure: Sendable {
    /// Reproduces it.
    var seed: UInt64
    /// What was wrong, and when.
    var text: String
  }

  /// Adds another's figures; keeps the first failure.
  mutating func add(_ other: Tally) {
    fixes += other.fixes
    faults += other.faults
    steps += other.steps
    boardFixes += other.boardFixes
    driverEvents += other.driverEvents
    batches += other.batches
    gaps += other.gaps
    finishes += other.finishes
    turns += other.turns
    runs += other.runs
    digests.merge(other.digests) { first, _ in first }
    failure = failure ?? other.failure
  }
}

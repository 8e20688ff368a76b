import LocationTypes

/// Totals of one or more soak runs.
struct SoakTotals: Sendable {
  /// Number of fixes appended to rings.
  var fixes = 0
  /// Number of injected faults: each piece of garbage and each period without satellites counts once.
  var faults = 0
  /// Number of engine steps in runs without a board.
  var steps = 0
  /// Number of ``fixes`` from runs on the simulated board.
  var boardFixes = 0
  /// Number of driver events in runs without an engine.
  var driverEvents = 0
  /// Number of batches delivered to clients.
  var batches = 0
  /// Number of gaps reported to clients.
  var gaps = 0
  /// Number of finishes reported to clients.
  var finishes = 0
  /// Number of pauses, resumes, region crossings and visits.
  var transitions = 0
  /// Number of runs: one per seed.
  var runs = 0
  /// Digest of the current run.
  var digest = BehaviourDigest()
  /// Digest per seed.
  var digests: [UInt64: BehaviourDigest] = [:]
  /// The first violation, with its seed.
  var failure: Failure?

  /// A violated invariant.
  struct Failure: Sendable {
    /// Seed that reproduces it.
    var seed: UInt64
    /// The violation and its time.
    var text: String
  }

  /// Records a violation; keeps the first.
  mutating func fail(_ text: String, seed: UInt64, at now: Instant) {
    failure = failure ?? Failure(seed: seed, text: "\(text), at \(now.seconds) s")
  }

  /// Adds another run's totals; keeps the first failure.
  mutating func add(_ other: SoakTotals) {
    fixes += other.fixes
    faults += other.faults
    steps += other.steps
    boardFixes += other.boardFixes
    driverEvents += other.driverEvents
    batches += other.batches
    gaps += other.gaps
    finishes += other.finishes
    transitions += other.transitions
    runs += other.runs
    digests.merge(other.digests) { first, _ in first }
    failure = failure ?? other.failure
  }
}

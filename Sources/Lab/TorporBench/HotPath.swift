import CBench

/// A job whose cost is measured.
///
/// The initialiser prepares everything; a turn is the job alone. Conforming types are structs, because the
/// exclusivity checks of class properties would be counted with the job.
protocol HotPath: ~Copyable, SendableMetatype {
  /// Unit of one turn: sentence, frame, fix, step.
  var unit: String { get }
  /// Performs the job `turns` times; the result depends on all turns, so that the optimiser removes none.
  mutating func run(_ turns: Int) -> UInt64
  /// Number of turns that covers cheap and expensive cases; the minimum of a round.
  var cycle: Int { get }
}

extension HotPath where Self: ~Copyable {
  var cycle: Int { 1_024 }
}

/// Measured cost of a hot path, per turn.
struct Measurement {
  var name: String
  var unit: String
  /// From the difference of two runs under callgrind; nil without valgrind.
  var instructions: Double?
  /// Largest number of instructions that is permitted; nil for no limit.
  var budget: Double?
  /// Best of several rounds.
  var nanoseconds: Double
  /// Allocations and reallocations per turn, by any code in the process.
  var allocations: Double

  /// Whether it takes more instructions than permitted, or allocates although it has a budget.
  var isOverBudget: Bool {
    guard let budget else { return false }
    return instructions ?? 0 > budget || allocations > 0
  }
}

/// Measures hot paths.
struct HotPathTimer {
  /// Minimum number of rounds; the best round counts.
  var minimumRounds = 15
  /// Minimum duration of all rounds.
  var minimumTotal_ns: UInt64 = 600_000_000
  /// Minimum duration of a round: far shorter than a scheduler time slice, so that some rounds are undisturbed.
  var minimumRound_ns: UInt64 = 300_000
  /// Minimum number of turns for counting allocations, so that a buffer that grows once is negligible.
  var allocatingTurns = 32_768
  /// Number of turns of the shorter run under callgrind; the longer run has twice as many.
  var countedTurns = 4_200
  /// Whether instructions are counted with valgrind.
  var countsInstructions = true

  /// Measures `path` under the name `name`.
  func measure<Path: HotPath & ~Copyable>(
    _ name: String, budget: Double?, _ path: inout Path
  ) -> Measurement {
    let turns = turnsPerRound(&path)
    let allocations = allocationsPerTurn(&path, max(turns, allocatingTurns))
    var best = UInt64.max
    let end = bench_now_ns() + minimumTotal_ns
    var round = 0
    while round < minimumRounds || bench_now_ns() < end {
      best = min(best, time { path.run(turns) })
      round += 1
    }
    return Measurement(
      name: name, unit: path.unit,
      instructions: countsInstructions ? slope(name) : nil, budget: budget,
      nanoseconds: Double(best) / Double(turns), allocations: allocations)
  }

  private func turnsPerRound<Path: HotPath & ~Copyable>(_ path: inout Path) -> Int {
    var turns = path.cycle
    // Warm up: the first turns are slower.
    sink(path.run(turns))
    while time({ path.run(turns) }) < minimumRound_ns { turns *= 2 }
    return turns
  }

  private func allocationsPerTurn<Path: HotPath & ~Copyable>(
    _ path: inout Path, _ turns: Int
  ) -> Double {
    let before = heap_allocations_now()
    sink(path.run(turns))
    return Double(heap_allocations_now() - before) / Double(turns)
  }

  /// Whether allocations are counted: a known number of allocations must be counted exactly.
  ///
  /// A wrongly linked bench would report zero allocations otherwise.
  static func countsAllocations() -> Bool {
    let before = heap_allocations_now()
    let probes = (0..<10).map { _ in HeapProbe() }
    let count = heap_allocations_now() - before
    sink(UInt64(probes.count))
    // Ten objects and the array's storage.
    return count == 11
  }

  /// Instructions per turn, without start-up, which is the same in both runs.
  private func slope(_ name: String) -> Double? {
    let short = unsafe bench_instructions(name, UInt64(countedTurns))
    let long = unsafe bench_instructions(name, UInt64(2 * countedTurns))
    guard short > 0, long > short else { return nil }
    return Double(long - short) / Double(countedTurns)
  }

  private func time(_ body: () -> UInt64) -> UInt64 {
    let begin = bench_now_ns()
    sink(body())
    return bench_now_ns() - begin
  }
}

/// One object on the heap.
private final class HeapProbe {
  var value: UInt64 = 0
}

/// Consumes a result, so that the optimiser cannot remove its computation.
@inline(never) func sink(_ value: UInt64) {
  if value == 0x5EED_0F_0DD_BA11 { print("an unlikely sum") }
}

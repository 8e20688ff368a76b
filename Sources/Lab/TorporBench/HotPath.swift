import CBench

/// One job whose cost is measured: so and so many turns on demand, and the floor that goes with it.
///
/// Everything a job needs is laid out when it is made; a turn is the job alone. A value, not an object:
/// the checks for exclusive access to an object's fields would be counted with the job.
protocol HotPath: ~Copyable, SendableMetatype {
  /// What one turn handles: a sentence, a frame, a fix.
  var unit: String { get }
  /// Does the job `turns` times; the result depends on all of them, so that none is optimized away.
  mutating func run(_ turns: Int) -> UInt64
  /// The same number of turns of the least C can do.
  mutating func runFloor(_ turns: Int) -> UInt64
  /// Turns in which it meets what is cheap and what is not: no round has fewer.
  var cycle: Int { get }
}

extension HotPath where Self: ~Copyable {
  var cycle: Int { 1_024 }
}

/// What was measured of a hot path, per turn.
struct Measurement {
  var name: String
  var unit: String
  /// By slope between two runs under callgrind; nil without valgrind.
  var instructions: Double?
  /// The floor's, in the same way.
  var floorInstructions: Double?
  /// Best of several rounds.
  var nanoseconds: Double
  /// The floor's best, in turns with it.
  var floorNanoseconds: Double
  /// Allocations and reallocations per turn, by anyone in the process.
  var allocations: Double

  var ratio: Double { nanoseconds / floorNanoseconds }
}

/// Takes the measures of hot paths.
struct Stopwatch {
  /// Rounds of time, path and floor in turns, at least; the best counts.
  var rounds = 15
  /// For how long there are more of them.
  var timed_ns: UInt64 = 600_000_000
  /// How long one round lasts at least: far shorter than another program has the processor at a time, so
  /// that of both some rounds are disturbed by none.
  var round_ns: UInt64 = 300_000
  /// Turns whose allocations are counted, at least: a buffer that grows once is not to be seen.
  var allocatingTurns = 32_768
  /// Turns of the shorter run under callgrind; the longer one has twice as many.
  var countedTurns = 4_200
  /// Whether valgrind is asked.
  var countsInstructions = true

  /// Measures `path`, which is called `name`.
  func measure<Path: HotPath & ~Copyable>(_ name: String, _ path: inout Path) -> Measurement {
    let turns = turnsPerRound(&path)
    let allocations = allocationsPerTurn(&path, max(turns, allocatingTurns))
    var best = UInt64.max
    var bestFloor = UInt64.max
    let end = bench_now_ns() + timed_ns
    var round = 0
    while round < rounds || bench_now_ns() < end {
      best = min(best, time { path.run(turns) })
      bestFloor = min(bestFloor, time { path.runFloor(turns) })
      round += 1
    }
    return Measurement(
      name: name, unit: path.unit,
      instructions: countsInstructions ? slope(name) : nil,
      floorInstructions: countsInstructions ? slope(name + floorSuffix) : nil,
      nanoseconds: Double(best) / Double(turns),
      floorNanoseconds: Double(bestFloor) / Double(turns), allocations: allocations)
  }

  private func turnsPerRound<Path: HotPath & ~Copyable>(_ path: inout Path) -> Int {
    var turns = path.cycle
    // The first ones are slower than all that follow.
    sink(path.run(turns))
    while time({ path.run(turns) }) < round_ns { turns *= 2 }
    return turns
  }

  private func allocationsPerTurn<Path: HotPath & ~Copyable>(
    _ path: inout Path, _ turns: Int
  ) -> Double {
    let before = heap_counts_now()
    sink(path.run(turns))
    let after = heap_counts_now()
    let asked =
      (after.allocations + after.reallocations) - (before.allocations + before.reallocations)
    return Double(asked) / Double(turns)
  }

  /// Whether a heap allocation is seen at all: one that is made on purpose must be counted once.
  ///
  /// Zero allocations would otherwise be what a bench says that is linked wrongly.
  static func countsTheHeap() -> Bool {
    let before = heap_counts_now()
    let kept = (0..<10).map { _ in HeapProbe() }
    let after = heap_counts_now()
    sink(UInt64(kept.count))
    // Ten objects and the array's own storage.
    return after.allocations - before.allocations == 11
  }

  /// What a turn costs, without start-up and layout: they are the same in both runs.
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

/// Marks the floor of a path on the command line.
let floorSuffix = ".floor"

/// Takes a result, so that what made it cannot be left out.
@inline(never) func sink(_ value: UInt64) {
  if value == 0x5EED_0F_0DD_BA11 { print("an unlikely sum") }
}

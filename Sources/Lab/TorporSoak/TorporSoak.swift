import BoardProfiles
import Glibc
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// Soak test: random clients, services, sleeps and faults against the whole system.
///
///     TorporSoak [--seconds S] [--first N]   seeds from N on, for S seconds, on two threads
///     TorporSoak --runs R [--first N]        R seeds, without a time limit: the gate
///     TorporSoak --seed N                    repeats one run
///     TorporSoak … --digests FILE            compares the digest of each seed with the file
///     TorporSoak … --write-digests FILE      writes the digests
///
/// Exits with 1 and prints the seed if an invariant of the contract is violated. The gate also fails
/// below a minimum number of fixes or faults, or if a pair of state and event of a state machine was not reached.
@main struct TorporSoak {
  static let laneCount: UInt64 = 2
  /// Minimum totals of the gate.
  static let minimumFixes = 5_000_000
  static let minimumFaults = 100_000

  static func main() async {
    guard let options = SoakOptions(Array(CommandLine.arguments.dropFirst())) else {
      print(
        "usage: TorporSoak [--seconds S | --runs R] [--first N] | --seed N, "
          + "[--digests FILE | --write-digests FILE]")
      exit(2)
    }
    guard let profile = try? BoardCatalog.standard().find(BoardCatalog.defaultBoard) else {
      print("TorporSoak: no board '\(BoardCatalog.defaultBoard)'; run it in the project's folder")
      exit(2)
    }
    installTrapHandlers()
    let clock = ContinuousClock()
    let start = clock.now
    var tally = SoakTotals()
    if let seed = options.seed {
      tally = SoakRun(seed: seed, end: nil, profile: profile).run(lane: 0)
    } else {
      let task = SoakTask(options, start: start)
      print(task.title)
      await withTaskGroup(of: SoakTotals.self) { group in
        for lane in 0..<laneCount { group.addTask { task.run(lane, profile) } }
        for await part in group { tally.add(part) }
      }
    }
    report(tally, (clock.now - start) / .seconds(1))
    if let file = options.digests, !file.compareOrWrite(tally.digests) { exit(1) }
    if let failure = tally.failure {
      print("FAILED: \(failure.text)")
      print("Repeat with: TorporSoak --seed \(failure.seed)")
      exit(1)
    } else if options.runs != nil, options.digests?.writes != true {
      let failures = gateFailures(of: tally)
      for text in failures { print("FAILED: \(text)") }
      if !failures.isEmpty { exit(1) }
    }
  }

  /// The state machines of drivers and policy.
  private static var machines: [TransitionCoverage] { DriverMachines.all + PolicyMachines.all }

  private static func gateFailures(of tally: SoakTotals) -> [String] {
    var texts: [String] = []
    if tally.fixes < minimumFixes { texts.append("fewer than \(minimumFixes) fixes") }
    if tally.faults < minimumFaults { texts.append("fewer than \(minimumFaults) faults") }
    return texts + machines.flatMap(\.missing).map { "never reached: \($0)" }
  }

  private static func report(_ tally: SoakTotals, _ seconds: Double) {
    let rounded = (seconds * 10).rounded() / 10
    print("\(tally.runs) runs in \(rounded) s: \(tally.fixes) fixes, \(tally.faults) faults")
    print(
      "  on the simulated board: \(tally.boardFixes) fixes; fed directly: \(tally.steps) steps "
        + "of engines, \(tally.driverEvents) events of drivers")
    print(
      "  delivered: \(tally.batches) batches, \(tally.gaps) gaps, \(tally.finishes) finishes, "
        + "\(tally.transitions) pauses, crossings, visits")
    let reached = machines.reduce(0) { $0 + $1.reached }
    let reachable = machines.reduce(0) { $0 + $1.reachable }
    print("  pairs of state and event: \(reached) of \(reachable), of \(machines.count) machines")
    if let rarest = machines.compactMap(\.rarest).min(by: { $0.count < $1.count }) {
      print("  the rarest: \(rarest.pair), \(rarest.count) times")
    }
  }
}

/// A range of seeds, divided among threads.
struct SoakTask: Sendable {
  /// From the first seed to the one after the last.
  let seeds: Range<UInt64>
  /// Time limit; nil for none.
  let end: ContinuousClock.Instant?
  let title: String

  init(_ options: SoakOptions, start: ContinuousClock.Instant) {
    if let runs = options.runs {
      seeds = options.first..<(options.first + runs)
      end = nil
      title = "seeds \(seeds.lowerBound) to \(seeds.upperBound - 1)"
    } else {
      seeds = options.first..<(.max / 2 + 1)
      end = start + .seconds(options.seconds)
      title = "seeds from \(seeds.lowerBound) on, for \(options.seconds) s"
    }
  }

  /// Runs every second seed until the time limit or the first failure.
  func run(_ lane: UInt64, _ profile: BoardProfile) -> SoakTotals {
    var tally = SoakTotals()
    var seed = seeds.lowerBound + lane
    while seed < seeds.upperBound && tally.failure == nil {
      if let end, ContinuousClock.now >= end { break }
      tally.add(SoakRun(seed: seed, end: end, profile: profile).run(lane: Int(lane)))
      seed += TorporSoak.laneCount
    }
    return tally
  }
}

/// One seed's run: deterministic, except that it stops at the time limit.
struct SoakRun {
  let seed: UInt64
  let end: ContinuousClock.Instant?
  let profile: BoardProfile

  /// Length of a cycle of runs on a thread: one on the simulated board, two of a driver, one of a schedule, one of
  /// the energy order, the others of an engine.
  private static let cycleLength: UInt64 = 16

  func run(lane: Int) -> SoakTotals {
    TorporSoak.recordSeed(seed, lane: lane)
    var tally = totals()
    // The digest of an unfinished run depends on the machine's speed.
    if !isTimeUp { tally.digests[seed] = tally.digest }
    return tally
  }

  private func totals() -> SoakTotals {
    // Each thread runs all kinds, although its seeds are all odd or all even.
    switch seed / TorporSoak.laneCount % SoakRun.cycleLength {
    case 0: return BoardSoak(self).run()
    case 1: return DriverSoak(self).run()
    case 9: return DriverSoak(self, watchesSatellites: true).run()
    case 5:
      var soak = ScheduleSoak(self)
      return soak.run()
    case 13:
      var soak = EnergySoak(self)
      return soak.run()
    case 3: return EngineSoak(self, watchesSatellites: true).run()
    default: return EngineSoak(self).run()
    }
  }

  /// Whether satellites in view are watched in a run on the simulated board: in every second one of a thread.
  var watchesSatellitesOnBoard: Bool {
    seed / TorporSoak.laneCount / SoakRun.cycleLength % 2 == 1
  }

  /// Whether the time limit has passed; an unfinished run then ends without the checks at its end.
  var isTimeUp: Bool { end.map { ContinuousClock.now >= $0 } ?? false }
}

/// The command line; nil if it is invalid.
struct SoakOptions {
  var seconds: Int64 = 90
  var runs: UInt64?
  var first: UInt64 = 1
  var seed: UInt64?
  var digests: DigestFile?

  init?(_ arguments: [String]) {
    var remaining = arguments[...]
    while let word = remaining.popFirst() {
      guard let value = remaining.popFirst() else { return nil }
      switch word {
      case "--seconds":
        guard let number = Int64(value), number > 0 else { return nil }
        seconds = number
      case "--runs":
        guard let number = UInt64(value), number > 0, number < .max / 4 else { return nil }
        runs = number
      case "--first":
        guard let number = UInt64(value), number < .max / 4 else { return nil }
        first = number
      case "--seed":
        guard let number = UInt64(value), number < .max / 2 else { return nil }
        seed = number
      case "--digests": digests = DigestFile(path: value, writes: false)
      case "--write-digests": digests = DigestFile(path: value, writes: true)
      default: return nil
      }
    }
  }
}

import BoardProfiles

/// Random clients, services, sleeps and faults against the whole system, until time is up.
///
///     TorporSoak [--seconds S] [--first N]   seeds from N on, for S seconds, on two threads
///     TorporSoak --seed N                    one run again
///
/// Ends with 1 and the seed when an invariant of the contract is broken, or when a pair of a
/// deferral's state and event that can be reached was not.
@main struct TorporSoak {
  /// Every so many runs one is on the simulated board.
  static let boardEvery: UInt64 = 16
  static let lanes: UInt64 = 2

  static func main() async {
    guard let options = SoakOptions(Array(CommandLine.arguments.dropFirst())) else {
      print("usage: TorporSoak [--seconds S] [--first N] | --seed N")
      return stop(2)
    }
    guard let profile = try? BoardCatalog.standard().find(BoardCatalog.defaultBoard) else {
      print("TorporSoak: no board '\(BoardCatalog.defaultBoard)'; run it in the project's folder")
      return stop(2)
    }
    watchForTraps()
    let clock = ContinuousClock()
    let start = clock.now
    var tally = Tally()
    if let seed = options.seed {
      tally = run(seed, lane: 0, profile)
    } else {
      let end = start + .seconds(options.seconds)
      await withTaskGroup(of: Tally.self) { group in
        for lane in 0..<lanes {
          group.addTask { TorporSoak.lane(lane, from: options.first, until: end, profile) }
        }
        for await part in group { tally.add(part) }
      }
    }
    report(tally, (clock.now - start) / .seconds(1))
    if let failure = tally.failure {
      print("FAILED: \(failure.text)")
      print("Again with: TorporSoak --seed \(failure.seed)")
      stop(1)
    } else if options.seed == nil, tally.runs >= 8, !tally.missing.isEmpty {
      print("FAILED: never reached: \(tally.missing.joined(separator: " "))")
      stop(1)
    }
  }

  /// Every second seed, until time is up or something is wrong.
  static func lane(
    _ lane: UInt64, from first: UInt64, until end: ContinuousClock.Instant, _ profile: BoardProfile
  ) -> Tally {
    var tally = Tally()
    var seed = first + lane
    while ContinuousClock.now < end && tally.failure == nil {
      tally.add(run(seed, lane: Int(lane), profile))
      seed += lanes
    }
    return tally
  }

  /// One run; the same for the same seed.
  static func run(_ seed: UInt64, lane: Int, _ profile: BoardProfile) -> Tally {
    note(seed, lane: lane)
    // Both lanes get boards, though each has seeds of one parity.
    return seed / lanes % boardEvery == 0
      ? BoardWorld(seed: seed, profile).run() : StreamWorld(seed: seed).run()
  }

  private static func report(_ tally: Tally, _ seconds: Double) {
    let rounded = (seconds * 10).rounded() / 10
    print("\(tally.runs) runs in \(rounded) s: \(tally.fixes) fixes, \(tally.faults) faults")
    print("  on the simulated board: \(tally.boardFixes) fixes; fed directly: \(tally.steps) steps")
    print(
      "  told: \(tally.batches) batches, \(tally.gaps) gaps, \(tally.finishes) finishes, "
        + "\(tally.turns) pauses, crossings, visits")
    print("  pairs of a deferral's state and event: \(tally.reached) of \(Tally.reachable)")
  }
}

/// The command line. Nil if it is not understood.
struct SoakOptions {
  var seconds: Int64 = 90
  var first: UInt64 = 1
  var seed: UInt64?

  init?(_ arguments: [String]) {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      guard let value = rest.popFirst() else { return nil }
      switch word {
      case "--seconds":
        guard let number = Int64(value), number > 0 else { return nil }
        seconds = number
      case "--first":
        guard let number = UInt64(value), number < .max / 2 else { return nil }
        first = number
      case "--seed":
        guard let number = UInt64(value), number < .max / 2 else { return nil }
        seed = number
      default: return nil
      }
    }
  }
}

import CBench
import Glibc

/// Measures the hot paths: instructions, time, allocations (Docs/Decisions/0040). Fails if a path exceeds its budget.
///
///     TorporBench [--json] [--quick]         all measurements; --quick omits instructions
///     TorporBench --only NAME --turns N      one path alone, as callgrind runs it
@main struct TorporBench {
  /// All hot paths; each is created when it is measured.
  static let paths = [
    PathEntry("nmea-sentence") { SentencePath() },
    PathEntry("nmea-fix", budget: 2_500) { SentenceFixPath() },
    PathEntry("nav-pvt", budget: 1_000) { NavPVTPath() },
    PathEntry("ring-append") { RingAppendPath() },
    PathEntry("nmea-to-cache") { CachedFixPath.nmea() },
    PathEntry("ubx-to-cache") { CachedFixPath.ubx() },
    PathEntry("engine-step") { EngineStepPath() },
    PathEntry("engine-fix") { EngineFixPath() },
    PathEntry("engine-crowd") { ManyClientStepPath() },
    PathEntry("wire-record") { WireRecordPath() },
    PathEntry("wire-fix") { WireFixPath() },
    PathEntry("wire-call") { WireCallPath() },
    PathEntry("local-distance") { DistancePath.local() },
    PathEntry("geodesic-near") { DistancePath.near() },
    PathEntry("geodesic") { DistancePath.far() },
  ]

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let options = Options(arguments) else {
      print("usage: TorporBench [--json] [--quick] | --only NAME --turns N")
      print("names: " + paths.map(\.name).joined(separator: " "))
      return
    }
    if let only = options.only {
      run(only, options.turns)
    } else {
      report(options)
    }
  }

  /// Runs one path alone, for callgrind.
  private static func run(_ name: String, _ turns: Int) {
    for path in paths where path.name == name { path.run(turns) }
  }

  private static func report(_ options: Options) {
    precondition(
      HotPathTimer.countsAllocations(),
      "allocations are not counted: malloc is not replaced")
    var stopwatch = HotPathTimer()
    stopwatch.countsInstructions = options.countsInstructions
    var report = Report()
    for path in paths { report.measurements.append(path.measure(stopwatch)) }
    report.drive = DriveMeasurement.measure()
    report.days = SimulatedDay.Service.allCases.compactMap(SimulatedDay.measure)
    print(options.isJSON ? report.json : report.table)
    if !report.overBudget.isEmpty { exit(1) }
  }
}

/// The command line; nil if it is invalid.
struct Options {
  var isJSON = false
  var countsInstructions = true
  var only: String?
  var turns = 0

  init?(_ arguments: [String]) {
    var unread = arguments[...]
    while let word = unread.popFirst() {
      switch word {
      case "--json": isJSON = true
      case "--quick": countsInstructions = false
      case "--only":
        guard let name = unread.popFirst(), TorporBench.paths.contains(where: { $0.name == name })
        else { return nil }
        only = name
      case "--turns":
        guard let text = unread.popFirst(), let number = Int(text), number > 0 else { return nil }
        turns = number
      default: return nil
      }
    }
    if (only != nil) != (turns > 0) { return nil }
  }
}

/// A hot path with its name, type-erased.
struct PathEntry: Sendable {
  /// Name in tables and on the command line.
  let name: String
  /// Creates and measures the path.
  let measure: @Sendable (HotPathTimer) -> Measurement
  /// Creates the path and runs it for a number of turns.
  let run: @Sendable (_ turns: Int) -> Void

  /// `budget`: Largest number of instructions of a turn that is permitted.
  init<Path: HotPath & ~Copyable>(
    _ name: String, budget: Double? = nil, _ make: @escaping @Sendable () -> Path
  ) {
    self.name = name
    measure = { stopwatch in
      var path = make()
      return stopwatch.measure(name, budget: budget, &path)
    }
    run = { turns in
      var path = make()
      sink(path.run(turns))
    }
  }
}

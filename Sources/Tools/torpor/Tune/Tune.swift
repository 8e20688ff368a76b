import ArgumentParser
import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// `torpor tune`.
struct Tune: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compare what each service takes on tracks of your own, and tell the best for each.",
    usage: "torpor tune [<options>] --track <file> ...",
    discussion: """
      Simulates the board on each track with standard updates (best accuracy, and within 50, 100, \
      200 and 500 m), updates deferred for up to 10 min (with batching inside the receiver, where \
      the board has it, and without), significant change and visits, each without and with the \
      line of a motion sensor. At the end it tells what is best for each question, over all \
      tracks together, of which there may be 16.

        torpor tune --track walk.csv
        torpor tune --track mon.gpx tue.gpx --board mine.toml --battery 3000mAh@3.7V
      """)

  /// The most tracks for one call.
  static let mostTracks = 16

  @OptionGroup var track: TrackFiles
  @OptionGroup var board: BoardOption

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Tell how long this battery lasts: 3000mAh@3.7V, or 11.1Wh.", valueName: "battery"),
    transform: { try Battery($0) })
  var battery: Battery?

  @OptionGroup var chance: ChanceOptions

  @Flag(help: "One JSON object a line for each run and each pick.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print what is best alone, and not each run.")
  var quiet = false

  mutating func validate() throws {
    guard track.paths.count <= Tune.mostTracks else {
      throw ValidationError(
        "--track takes at most \(Tune.mostTracks) tracks, not \(track.paths.count); split them up")
    }
  }

  func run() throws {
    let profile = try board.profile()
    // All of them first: a slip in the last name is told before anything runs.
    let routes = try track.paths.map { (path: $0, route: try TrackFile.readWhole($0, for: "tune")) }
    let settings = TuneSetting.all(hasBatch: profile.receiver?.batch != nil)
    var report = TuneReport(profile.name, battery, isJSON: json, style: .ofStandardOutput)
    var sums = [TuneSum](repeating: TuneSum(), count: settings.count)
    var output = Output()
    var progress = Progress(recordsOnTerminal: false)
    let total = Double(routes.count * settings.count)
    for (number, (path, route)) in routes.enumerated() {
      var bench = TuneBench(profile, route, seed: chance.seed)
      bench.noise = chance.noise.model
      var runs: [TuneRun] = []
      for (index, setting) in settings.enumerated() {
        let done = Double(number * settings.count + index)
        let run = try bench.run(setting) { part in
          guard progress.isDue else { return }
          progress.show("\(Int((done + min(max(part, 0), 1)) / total * 100)) % of the runs")
        }
        sums[index].add(run)
        runs.append(run)
      }
      progress.clear()
      if !quiet { report.add(runs, path, route.duration) }
      try output.write(report.takeBytes())
      try output.flush()
    }
    report.finish(TunePick.best(of: settings, sums))
    try output.write(report.takeBytes())
    try output.finish()
  }
}

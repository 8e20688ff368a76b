import ArgumentParser
import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// `torpor tune`.
struct Tune: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compare the energy of the services on your own tracks, and recommend settings.",
    usage: "torpor tune [<options>] --track <file> ...",
    discussion: """
      Simulates the board on each track with standard updates (best accuracy, and within 50, 100, \
      200 and 500 m), updates deferred for up to 10 min (without batching in the receiver, and with \
      it if the board supports it), significant change and visits, each without and with a motion \
      sensor. On a board that can be switched off, also significant change and visits with a program \
      that is launched for each event, and the board off in between. At the end, it prints the best \
      setting for each use case over all tracks (at most 16).

      With --uplink, the program of each setting sends its fixes to a store, as torpor-uplink does: \
      deferred updates have the timeout --every, and the total includes the radio and the board that \
      waits for the answer. The figures of the radios are those of others; a board is not switched \
      off, because the program stays connected.

        torpor tune --track walk.csv
        torpor tune --track walk.csv --uplink lte-m --every 1h
        torpor tune --track mon.gpx tue.gpx --board mine.toml --battery 3000mAh@3.7V
      """)

  /// Largest number of tracks.
  static let maximumTracks = 16

  @OptionGroup var track: TrackFiles
  @OptionGroup var board: BoardOption

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Print the life of this battery: 3000mAh@3.7V, or 11.1Wh.", valueName: "battery"),
    transform: { try Battery($0) })
  var battery: Battery?

  @OptionGroup var uploads: UplinkOptions
  @OptionGroup var random: RandomOptions

  @Flag(help: "Print JSON Lines, one object for each run and each recommendation.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print only the recommendations, not each run.")
  var quiet = false

  mutating func validate() throws {
    guard track.paths.count <= Tune.maximumTracks else {
      throw ValidationError(
        "--track accepts at most \(Tune.maximumTracks) tracks, not \(track.paths.count); run the command several times"
      )
    }
  }

  func run() throws {
    let profile = try board.profile()
    // Read all tracks first, so that an error in the last one is reported before the runs.
    let routes = try track.paths.map { (path: $0, route: try TrackFile.readWhole($0, for: "tune")) }
    let uplink = uploads.uplink
    let settings = TuneSetting.all(
      hasBatch: profile.receiver?.batch != nil,
      canBeOff: profile.board.off != nil && uplink == nil,
      timeout: uplink?.every ?? TuneSetting.standardTimeout)
    var report = TuneReport(
      profile.name, battery, uplink, isJSON: json, style: .ofStandardOutput)
    var sums = [TuneSum](repeating: TuneSum(), count: settings.count)
    var output = Output()
    var progress = Progress(recordsOnTerminal: false)
    let total = Double(routes.count * settings.count)
    for (number, (path, route)) in routes.enumerated() {
      var simulation = TuneSimulation(profile, route, seed: random.seed)
      simulation.noise = random.noise.model
      simulation.uplink = uplink
      var runs: [TuneRun] = []
      for (index, setting) in settings.enumerated() {
        let done = Double(number * settings.count + index)
        let run = try simulation.run(setting) { part in
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
    report.finish(TuneRecommendation.best(of: settings, sums))
    try output.write(report.takeBytes())
    try output.finish()
  }
}

import ArgumentParser
import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL
import TextFormats

/// `torpor optimum`.
struct OptimumCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "optimum",
    abstract: "Compute the minimum energy with which a receiver can follow a track.",
    usage: "torpor optimum [<options>] --track <file> ... --accuracy <distance> ...",
    discussion: """
      At every second, the last reported position must be within the accuracy of the true position. \
      The command computes the receiver's energy for the best schedule, with the whole track known in \
      advance: the reference for every planner. With --total it computes the energy of receiver and \
      board together, for the schedule that is best for both. Times to fix and powers are those of \
      the board's profile.

        torpor optimum --track walk.csv --accuracy 100
        torpor optimum --track walk.csv --accuracy 100 --total
        torpor optimum --track mon.gpx tue.gpx --accuracy 50 200 1km --board mine.toml
      """)

  @OptionGroup var track: TrackFiles

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Largest error of the last report: metres, or 2km; each value gives a row.",
      valueName: "distance"),
    transform: OptimumCommand.accuracy)
  var accuracy: [Double]

  @OptionGroup var board: BoardOption

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Points further apart in time than this form a gap, which is excluded: seconds, 5min, or "
        + "unlimited.", valueName: "time"),
    transform: ArgumentValues.timeout)
  var gap = SampledTrack.gapLimit.seconds

  @Flag(help: "Also compute the minimum energy of receiver and board together.")
  var total = false

  @Flag(help: "Print JSON Lines, one object for each track and accuracy.")
  var json = false

  /// Largest accuracy, metres. Distances on the local plane are too inaccurate beyond it.
  static let largestAccuracy = 100_000.0

  /// Parses a distance of more than 0 and at most 100 km.
  static func accuracy(_ text: String) throws -> Double {
    try ArgumentValues.distance(text, atMost: largestAccuracy)
  }

  /// Rejects a negative accuracy, which the argument parser takes for an option: `accuracy` has several values.
  ///
  /// - Parameter words: The words of the command line after the program's name.
  /// - Throws: ``CommandError`` with code 64.
  static func checkSign(_ words: some Collection<String>) throws(CommandError) {
    guard words.first == configuration.commandName else { return }
    var option = ""
    for word in words.dropFirst() {
      let isNumber = word.hasPrefix("-") && word.dropFirst().first?.isNumber == true
      if isNumber, option == "--accuracy" {
        let limit = HumanFormat.distance(largestAccuracy)
        throw CommandError(
          .usage,
          "the value '\(word)' of --accuracy is negative; it should be metres, more than 0 and at most \(limit)"
        )
      }
      if word.hasPrefix("--") { option = word }
    }
  }

  func run() throws {
    let profile = try board.profile()
    guard let costs = ScheduleCosts(profile) else { return }
    let totalCosts = total ? ScheduleCosts(profile, .total) : nil
    var table = OptimumTable(
      profile.name, costs, totalCosts, isJSON: json, style: .ofStandardOutput)
    for path in track.paths {
      let seconds = try OptimumCommand.read(path, gapLimit: Interval(seconds: gap))
      for distance in accuracy {
        let departures = seconds.departures(beyond: distance)
        table.add(
          Optimum(departures: departures, costs),
          totalCosts.map { Optimum(departures: departures, $0) }, path, distance)
      }
    }
    try Output.print(table.bytes)
  }

  private static func read(
    _ path: String, gapLimit: Interval
  ) throws -> SampledTrack {
    SampledTrack(try TrackFile.readWhole(path, for: "optimum …"), gapLimit: gapLimit)
  }
}

/// Output of `torpor optimum`: a row or a JSON object for each track and accuracy.
struct OptimumTable: ~Copyable {
  private static let headers = [
    "track", "time", "accuracy", "energy", "mean power", "always on", "saved", "searches",
  ]

  private let board: String
  private let costs: ScheduleCosts
  /// Costs of receiver and board; nil without `--total`.
  private let totalCosts: ScheduleCosts?
  private let isJSON: Bool
  private let style: Style
  private var json = JSONOutput()
  private var table: TextTable

  init(
    _ board: String, _ costs: ScheduleCosts, _ totalCosts: ScheduleCosts?, isJSON: Bool,
    style: Style
  ) {
    self.board = board
    self.costs = costs
    self.totalCosts = totalCosts
    self.isJSON = isJSON
    self.style = style
    table = TextTable(
      totalCosts == nil
        ? OptimumTable.headers
        : [
          "track", "time", "accuracy", "total", "mean power", "saved", "searches", "receiver",
          "saved",
        ])
  }

  /// Adds the optimum of the receiver and, with `--total`, that of receiver and board.
  mutating func add(
    _ optimum: Optimum, _ total: Optimum?, _ path: String, _ accuracy_m: Double
  ) {
    guard !isJSON else {
      write(optimum, total, path, accuracy_m)
      return
    }
    func saved(_ optimum: Optimum) -> String {
      let share = (1 - optimum.energy_mJ / optimum.alwaysOn_mJ) * 100
      return optimum.alwaysOn_mJ > 0 ? HumanFormat.decimal(share, places: 1) + " %" : "-"
    }
    let row = [
      path.split(separator: "/").last.map(String.init) ?? path,
      HumanFormat.duration(.seconds(Int64(optimum.duration_s))), HumanFormat.distance(accuracy_m),
    ]
    guard let total else {
      table.add(
        row + [
          HumanFormat.energy(optimum.energy_mJ), HumanFormat.power(optimum.mean_mW),
          HumanFormat.energy(optimum.alwaysOn_mJ), saved(optimum),
          HumanFormat.count(optimum.acquisitions),
        ])
      return
    }
    table.add(
      row + [
        HumanFormat.energy(total.energy_mJ), HumanFormat.power(total.mean_mW), saved(total),
        HumanFormat.count(total.acquisitions), HumanFormat.energy(optimum.energy_mJ),
        saved(optimum),
      ])
  }

  private mutating func write(
    _ optimum: Optimum, _ total: Optimum?, _ path: String, _ accuracy_m: Double
  ) {
    let board = board
    json.line { json in
      json.member("track", path)
      json.member("board", board)
      json.member("duration_s", Int64(optimum.duration_s))
      json.member("accuracy_m", accuracy_m)
      OptimumTable.write(optimum, to: &json)
      if let total { json.object("total") { OptimumTable.write(total, to: &$0) } }
    }
  }

  private static func write(_ optimum: Optimum, to json: inout JSONOutput) {
    json.member("energy_mj", optimum.energy_mJ)
    json.member("mean_mw", optimum.mean_mW)
    json.member("always_on_mj", optimum.alwaysOn_mJ)
    json.member("fixes", Int64(optimum.fixes.count))
    json.member("searches", Int64(optimum.acquisitions))
    json.member("off_s", optimum.off_s)
    json.member("acquiring_s", optimum.acquiring_s)
    json.member("tracking_s", optimum.tracking_s)
  }

  /// The output, UTF-8.
  var bytes: [UInt8] {
    guard !isJSON else { return json.text.bytes }
    var text = TextBuffer()
    text.add("board \(board): ")
    describe(costs, to: &text)
    if let totalCosts {
      text.add("\nwith the board: ")
      describe(totalCosts, to: &text)
      if totalCosts.start_mJ > 0 {
        text.add(", resume \(HumanFormat.energy(totalCosts.start_mJ))")
      }
    }
    text.add("\n\n")
    table.write(to: &text, style: style)
    return text.bytes
  }

  private func describe(_ costs: ScheduleCosts, to text: inout TextBuffer) {
    text.add("tracking \(power(costs.track_mW))")
    if costs.on_mW < costs.track_mW { text.add(" (\(power(costs.on_mW)) in its duty cycle)") }
    text.add(", acquiring \(power(costs.acquire_mW)), off \(power(costs.off_mW))")
  }

  private func power(_ milliwatts: Double) -> String {
    HumanFormat.trimmed(Int64((milliwatts * 1e4).rounded()), scale: 4) + " mW"
  }
}

import ArgumentParser
import BoardProfiles
import LocationSimulation
import LocationTypes

/// `torpor replay`.
struct Replay: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a recording through the service's engine, at its own time.",
    discussion: """
      A background client asks for deferred updates and asks again whenever a deferral has ended. \
      What it is given, and when, is printed as it happens, in the recording's own time; the run \
      itself takes a moment. Without --distance and --timeout only a full cache flushes.

        torpor replay drive.nmea --timeout 600
        torpor replay drive.nmea --distance 5km --board myboard.toml --json
      """)

  @OptionGroup var deferral: DeferralOptions
  @OptionGroup var printing: PrintingOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Fixes the client may leave in the cache before it is flushed; the profile's if not given.",
      valueName: "fixes"),
    transform: Values.capacity)
  var capacity: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The day of the recording, YYYY-MM-DD; wins over its `# Date:` line.", valueName: "day"),
    transform: Values.date)
  var date: CalendarDate?

  @OptionGroup var checking: CheckingOptions

  @Argument(
    help: ArgumentHelp("The recording, or - for standard input.", valueName: "file"),
    completion: .file())
  var file: String

  func run() throws {
    try OutputPlaces.check(
      [("--trace", printing.trace)],
      inputs: [("the recording", file), ("the profile", deferral.profilePath)])
    let profile = try BoardProfile.named(deferral.board)
    try RunCheck.needsReceiver(profile)
    var input = try InputFile(file)
    let bytes = try input.readAll()
    let scan = RecordingScan(
      bytes, date: date, interval: profile.receiver?.fixInterval ?? .seconds(1),
      lineSpeed: UInt32(clamping: profile.receiver?.lineSpeed_baud ?? 115_200),
      checking.options)
    guard scan.epochs > 0 else {
      throw CommandError(
        .data,
        """
        there is no epoch in \(input.name): see what is in it with \
        `torpor decode --format jsonl \(file)`
        """)
    }
    let report = try RunReport(printing)
    report.begin(
      "\(input.name): \(Words.count(scan.epochs)) epochs, \(Words.duration(scan.end - .boot)); "
        + deferral.words)
    var session = Session(profile, deferral.script)
    session.deferralLimit = capacity
    let result = session.replay(
      scan, progress: { report.advance(to: $0) }, sink: { report.take($0) })
    try report.finish(result.summary)
    try RunCheck.check(result)
  }
}

/// What a deferring client asks for, and of which board.
struct DeferralOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A board's name (see `torpor board list`) or the path of a profile.", valueName: "board"),
    completion: Completions.boards)
  var board = "simulated"

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Deliver when this far has been travelled: metres, 2km, or unlimited.",
      valueName: "distance"),
    transform: Values.distance)
  var distance = Double.infinity

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Deliver when this long has passed: seconds, 10min, 1h, or unlimited.", valueName: "time"),
    transform: Values.timeout)
  var timeout = Double.infinity
}

extension DeferralOptions {
  /// The client that asks for this.
  var script: ClientScript {
    var script = ClientScript()
    script.distance = distance
    script.timeout = timeout
    return script
  }

  /// What is asked for in vain of a client that does not defer; nil if nothing.
  func unused(by service: String) -> String? {
    let given = [
      distance.isFinite ? "--distance" : nil, timeout.isFinite ? "--timeout" : nil,
    ].compactMap { $0 }
    guard !given.isEmpty else { return nil }
    return "--service \(service) defers nothing: \(given.joined(separator: " and ")) "
      + "changed nothing; leave --service away to defer"
  }

  /// The file of the board, where it is one and not a name.
  var profilePath: String? { BoardProfile.isPath(board) ? board : nil }

  /// What is asked for, in words.
  var words: String {
    let way = distance.isFinite ? Words.distance(distance) : "unlimited"
    let time = timeout.isFinite ? Words.duration(Interval(seconds: timeout)) : "unlimited"
    return "deferred: distance \(way), timeout \(time)"
  }
}

/// What to make of a run, before it begins and when it has ended.
enum RunCheck {
  /// - Throws: ``CommandError`` with code 78 where the board has no receiver.
  static func needsReceiver(_ profile: BoardProfile) throws(CommandError) {
    guard profile.receiver == nil else { return }
    throw CommandError(
      .config,
      "\(profile.name) has no receiver, so there is nothing to run; its profile needs [receiver]")
  }

  /// Tells what was not as it should be.
  ///
  /// - Throws: ``CommandError`` with code 70 when the engine did what a board must never be asked for.
  static func check(_ result: SessionResult) throws(CommandError) {
    if result.summary.fixes == 0 {
      System.tell("torpor: there was no fix: the way may end before the receiver's first one")
    }
    if !result.isDeferralAvailable {
      System.tell("torpor: this board cannot defer: it has no receiver, or cannot sleep (DEF-7)")
    }
    try checkRules(result)
  }

  /// Looks whether the engine kept the rules of the hardware.
  ///
  /// - Throws: ``CommandError`` with code 70 where it did not.
  static func checkRules(_ result: SessionResult) throws(CommandError) {
    guard let first = result.violations.first else { return }
    throw CommandError(
      .software,
      """
      the engine broke a rule of the hardware \(result.violations.count) times, first: \(first); \
      please report this with the command line
      """)
  }
}

/// How a run is told.
struct PrintingOptions: ParsableArguments {
  @Flag(help: "Print JSON Lines, the records of the trace and a summary, for programs.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print the summary alone.")
  var quiet = false

  @Option(
    help: ArgumentHelp(
      "Write everything that happened to this file as JSON Lines.", valueName: "file"),
    completion: .file())
  var trace: String?

  mutating func validate() throws {
    if trace == "-" {
      throw ValidationError("--trace writes a file; --json prints the trace to standard output")
    }
  }
}

import ArgumentParser
import BoardProfiles
import GNSSProtocols
import LocationSimulation
import LocationTypes
import SimulatedHAL

// Option groups that several commands share.

/// The option `--board`.
struct BoardOption: ParsableArguments {
  @Option(
    name: .customLong("board"),
    help: ArgumentHelp(
      "A board's name (see `torpor board list`), or the path of a profile or of its folder.",
      valueName: "board"),
    completion: Completions.boards)
  var name = BoardCatalog.defaultBoard
}

extension BoardOption {
  /// The profile of the board.
  ///
  /// - Throws: ``CommandError`` with code 78 if the board has no receiver, `ProfileErrors` if it does not exist or its
  ///   profile is invalid.
  func profile() throws -> BoardProfile {
    let profile = try BoardProfile.named(name)
    try RunCheck.checkReceiver(profile)
    return profile
  }

  /// Path of the profile; nil if no such board exists.
  var path: String? { try? BoardProfile.file(named: name) }
}

/// The route of the device: a recorded track, or a scenario.
struct RouteOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Follow this track, GPX or a table, instead of a scenario.", valueName: "file"),
    completion: .file(extensions: ["gpx", "csv"]))
  var track: String?

  @Option(
    help: ArgumentHelp(
      "How the user moves; if not given, a day, or in real time a drive.", valueName: "scenario"))
  var scenario: Scenario?

  mutating func validate() throws {
    if track != nil, scenario != nil {
      throw ValidationError("--track and --scenario exclude each other: give one of them")
    }
  }
}

extension Scenario: ExpressibleByArgument {}

/// The option `--track` with several files.
struct TrackFiles: ParsableArguments {
  @Option(
    name: .customLong("track"), parsing: .upToNextOption,
    help: ArgumentHelp("Tracks, GPX or tables as for `torpor simulate`.", valueName: "file"),
    completion: .file(extensions: ["gpx", "csv"]))
  var paths: [String]
}

/// Options for the random parts of a simulation.
struct RandomOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Error model of the simulated positions.", valueName: "noise"))
  var noise = NoiseName.real

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Seed of the random generator; the same seed gives the same run.", valueName: "number"),
    transform: ArgumentValues.seed)
  var seed: UInt64 = 1
}

/// Options for reading a recording: its date, and how strictly sentences are checked.
struct RecordingOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The day of the recording, YYYY-MM-DD; overrides its `# Date:` line.", valueName: "day"),
    transform: ArgumentValues.date)
  var date: CalendarDate?

  @Flag(
    help: """
      Also accept sentences without a checksum, which are ignored otherwise. A sentence with a \
      wrong checksum is always rejected.
      """)
  var allowMissingChecksum = false

  /// The decoder's options for these flags.
  var decoderOptions: DecoderOptions {
    var options = DecoderOptions()
    options.allowsMissingChecksum = allowMissingChecksum
    return options
  }
}

/// Values of `--noise`.
enum NoiseName: String, ExpressibleByArgument, CaseIterable {
  case none, real

  /// The error model of that name.
  var model: NoiseParameters? { self == .real ? NoiseParameters.real : nil }
}

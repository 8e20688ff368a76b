import ArgumentParser
import BoardProfiles
import GNSSProtocols
import LocationSimulation
import LocationTypes
import SimulatedHAL

// Options that several commands have, each said once.

/// Which board it is about.
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
  /// The profile, of a board that has a receiver.
  func profile() throws -> BoardProfile {
    let profile = try BoardProfile.named(name)
    try RunCheck.needsReceiver(profile)
    return profile
  }

  /// The file of its profile, where there is one.
  var path: String? { try? BoardProfile.file(named: name) }
}

/// Where the wearer goes: along a track, or as a scenario says.
struct WayOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Follow this track, GPX or a table, instead of a scenario.", valueName: "file"),
    completion: .file(extensions: ["gpx", "csv"]))
  var track: String?

  @Option(
    help: ArgumentHelp(
      "What the wearer does; if not given, a day, or in real time a drive.", valueName: "scenario"))
  var scenario: Scenario?

  mutating func validate() throws {
    if track != nil, scenario != nil {
      throw ValidationError("--track and --scenario exclude each other: give one of them")
    }
  }
}

extension Scenario: ExpressibleByArgument {}

/// The tracks to look at, one after the other.
struct TrackFiles: ParsableArguments {
  @Option(
    name: .customLong("track"), parsing: .upToNextOption,
    help: ArgumentHelp("Tracks, GPX or tables as `torpor simulate` takes.", valueName: "file"),
    completion: .file(extensions: ["gpx", "csv"]))
  var paths: [String]
}

/// What chance does in a simulation.
struct ChanceOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Errors of the simulated positions.", valueName: "noise"))
  var noise = NoiseName.real

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Where chance starts.", valueName: "number"),
    transform: ArgumentValues.seed)
  var seed: UInt64 = 1
}

/// When a recording was made.
struct RecordingOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The day of the recording, YYYY-MM-DD; wins over its `# Date:` line.", valueName: "day"),
    transform: ArgumentValues.date)
  var date: CalendarDate?

  @Flag(
    help: """
      Take sentences without a checksum too; without it they are passed over. A wrong checksum is \
      always refused.
      """)
  var allowMissingChecksum = false

  /// How strictly it is read.
  var checking: DecoderOptions {
    var options = DecoderOptions()
    options.allowsMissingChecksum = allowMissingChecksum
    return options
  }
}

/// Errors of simulated positions.
enum NoiseName: String, ExpressibleByArgument, CaseIterable {
  case none, real

  /// The same for a simulation.
  var model: SimulatedNoise { self == .real ? .real : .none }
}

import ArgumentParser

/// `torpor replay`.
struct Replay: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a recording through the service's engine, at its own time.",
    discussion: """
      A background client asks for deferred updates and asks again whenever a deferral has ended. \
      What it is given, and when, is printed as it happens, in the recording's own time; the run \
      itself takes a moment. Without --distance and --timeout only a full cache flushes.

        torpor replay drive.nmea --timeout 600
        torpor replay drive.nmea --distance 5km --board zero2w-max-m10s --json
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

  @Argument(
    help: ArgumentHelp("The recording: NMEA or UBX as the receiver sent it.", valueName: "file"),
    completion: .file())
  var file: String
}

/// What a deferring client asks for, and of which board.
struct DeferralOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A board's name (see `torpor board list`) or the path of a profile.", valueName: "board"))
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

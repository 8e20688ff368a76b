import ArgumentParser

/// `torpor simulate`.
struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Simulate a board, its receiver and a client, and make out the energy bill.",
    discussion: """
      The board lives on a virtual clock: its receiver sends the bytes a real one would along a \
      scenario or a recorded track, needs its time to the first fix, sleeps and batches; the \
      service's own engine runs on it. The bill compares with a receiver that is always on and a \
      board that is always awake. The same seed gives the same run.

        torpor simulate
        torpor simulate --scenario drive --hours 2 --timeout 10min --seed 7
        torpor simulate --track walk.csv --noise none --trace walk.jsonl

      A track is a table with a header line unix_time,lat,lon,alt,speed (seconds UTC, degrees, \
      metres, m/s; alt and speed may be empty), as `torpor decode --format csv` writes it.
      """)

  @OptionGroup var deferral: DeferralOptions
  @OptionGroup var printing: PrintingOptions

  @Option(
    help: ArgumentHelp("Follow this track instead of a scenario.", valueName: "csv"),
    completion: .file(extensions: ["csv"]))
  var track: String?

  @Option(help: ArgumentHelp("What the wearer does.", valueName: "scenario"))
  var scenario: ScenarioName?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long; a track ends by itself, a scenario takes 24 hours.", valueName: "hours"),
    transform: Values.hours)
  var hours: Double?

  @Option(
    help: ArgumentHelp(
      "standard gives every fix as it comes, deferred in batches.", valueName: "service"))
  var service = ServiceName.deferred

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Desired accuracy: best, navigation, or metres. Deferral needs best or navigation.",
      valueName: "accuracy"),
    transform: Values.accuracy)
  var accuracy = -1.0

  @Option(help: ArgumentHelp("Errors of the simulated positions.", valueName: "noise"))
  var noise = NoiseName.real

  @Option(
    help: ArgumentHelp(
      "Time to the first fix: the profile's median, or drawn anew each time.", valueName: "ttff"))
  var ttff = TimeToFixName.median

  @Option(help: ArgumentHelp("Where chance starts.", valueName: "number"))
  var seed: UInt64 = 1

  mutating func validate() throws {
    if track != nil, scenario != nil {
      throw ValidationError("--track and --scenario exclude each other: give one of them")
    }
  }
}

/// What the wearer of a simulated board does.
enum ScenarioName: String, ExpressibleByArgument, CaseIterable {
  case still, walk, loop, commute, drive, day
}

/// What a simulated client asks for.
enum ServiceName: String, ExpressibleByArgument, CaseIterable {
  case standard, deferred
}

/// Errors of simulated positions.
enum NoiseName: String, ExpressibleByArgument, CaseIterable {
  case none, real
}

/// How the time to the first fix comes about.
enum TimeToFixName: String, ExpressibleByArgument, CaseIterable {
  case median, sampled
}

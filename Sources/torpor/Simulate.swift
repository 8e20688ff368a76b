import ArgumentParser
import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL

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
        torpor simulate --service standard --accuracy 100 --report day.html --battery 11.1Wh
        torpor simulate --service live --battery 500mWh --charge 40

      A track is GPX 1.1 or 1.0 whose points have times, or a table whose header line begins with \
      unix_time,lat,lon,alt,speed (seconds UTC, degrees, metres, m/s; alt and speed may be empty); \
      further columns are passed over. What `torpor decode` writes as gpx or csv is one.
      """)

  @OptionGroup var deferral: DeferralOptions
  @OptionGroup var printing: PrintingOptions
  @OptionGroup var paper: ReportOptions

  @Option(
    help: ArgumentHelp(
      "Follow this track, GPX or a table, instead of a scenario.", valueName: "file"),
    completion: .file(extensions: ["gpx", "csv"]))
  var track: String?

  @Option(help: ArgumentHelp("What the wearer does; day if not given.", valueName: "scenario"))
  var scenario: Scenario?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long, if not as long as the track or the scenario (a day has 24).", valueName: "hours"),
    transform: Values.hours)
  var hours: Double?

  @Option(
    help: ArgumentHelp(
      "standard or deferred updates, significant change, visits, live updates, or one region "
        + "around the track's first point.", valueName: "service"))
  var service = ServiceName.deferred

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Desired accuracy: best (-1), navigation (-2), or metres. Deferral needs one of the first two.",
      valueName: "accuracy"),
    transform: Values.accuracy)
  var accuracy = -1.0

  @Flag(help: "Let updates pause by themselves while nobody moves.")
  var pause = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Radius of the region, for --service region.", valueName: "distance"),
    transform: Values.distance)
  var radius = 200.0

  @Flag(
    help:
      "Give the board a motion sensor, whether its profile has one or not: an accelerometer that wakes within 2 s, with one false alarm an hour."
  )
  var motion = false

  @Option(help: ArgumentHelp("Errors of the simulated positions.", valueName: "noise"))
  var noise = NoiseName.real

  @Option(
    help: ArgumentHelp(
      "Time to the first fix: the profile's median, or drawn anew each time.", valueName: "ttff"))
  var ttff = TimeToFixName.median

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Where chance starts.", valueName: "number"),
    transform: Values.seed)
  var seed: UInt64 = 1

  @Option(
    help: ArgumentHelp(
      "Write the bytes that the receiver sent to this file, for `torpor replay` and `decode`.",
      valueName: "file"),
    completion: .file())
  var bytes: String?

  mutating func validate() throws {
    if bytes == "-" {
      throw ValidationError("--bytes writes a file; give it a name")
    }
    if track != nil, scenario != nil {
      throw ValidationError("--track and --scenario exclude each other: give one of them")
    }
  }

  func run() throws {
    try OutputPlaces.check(
      [("--trace", printing.trace), ("--bytes", bytes), ("--report", paper.report)],
      inputs: [("the track", track), ("the profile", deferral.profilePath)])
    let profile = try BoardProfile.named(deferral.board)
    try RunCheck.needsReceiver(profile)
    let route = try makeTrack()
    let duration = hours.map { Interval(seconds: $0 * 3_600) } ?? route.duration
    var plan = SimulationPlan(track: route, duration: duration)
    plan.noise = noise == .real ? .real : .none
    plan.samplesTimeToFirstFix = ttff == .sampled
    plan.seed = seed
    if motion || profile.motion != nil {
      plan.motion =
        SimulatedAccelerometer(
          route, stillAfter: profile.motion?.stillAfter ?? .seconds(10), seed: seed
        ).spells
    }
    plan.battery = try simulatedBattery(profile)
    var script = deferral.script
    script.defers = service == .deferred
    script.service = scripted(route)
    script.pauses = pause
    script.accuracy = accuracy
    if !script.defers, let unused = deferral.unused(by: service.rawValue) {
      System.tell("torpor: \(unused)")
    }
    let report = try RunReport(printing)
    let recording = try bytes.map { try ByteRecording(path: $0) }
    let page = try makePage(profile, route, duration, script)
    report.begin("\(profile.name): \(wayName), \(Words.duration(duration)); \(asked(script))")
    var promise = script.bound_m.flatMap { PromiseTally(route, within: $0, profile) }
    let result = Session(profile, script).simulate(
      plan, progress: { report.advance(to: $0) },
      bytes: recording.map { recording in { recording.add($0) } },
      sink: {
        report.take($0)
        promise?.add($0)
        page?.add($0)
      })
    let kept = promise?.finish(at: .boot + min(duration, result.summary.duration))
    try report.finish(result.summary, promise: kept)
    try recording?.commit()
    try page?.commit(result.summary, kept.flatMap { kept in promise.map { (kept, $0.errors) } })
    if result.isBatteryEmpty {
      let life = Words.duration(result.summary.duration)
      System.tell("torpor: the battery was empty after \(life), and the run ends there")
    }
    try RunCheck.check(result)
  }

  /// The battery to run from, if that is asked for.
  private func simulatedBattery(_ profile: BoardProfile) throws -> SimulatedBattery? {
    guard let battery = paper.battery, let charge = paper.charge else { return nil }
    if profile.battery == nil {
      System.tell(
        "torpor: \(profile.name) gives nothing up however low its battery is: "
          + "its profile has no [battery]")
    }
    return SimulatedBattery(capacity_J: battery.energy_J, charge: charge)
  }

  private func makeTrack() throws -> Track {
    guard let track else {
      return (scenario ?? .day).track(
        seed: seed, duration: hours.map { Interval(seconds: $0 * 3_600) })
    }
    return try TrackFile.read(
      track, longest: hours == nil ? .seconds(Values.mostHours * 3_600) : nil)
  }

  private func scripted(_ route: Track) -> ScriptedService {
    switch service {
    case .standard, .deferred: .updates
    case .significant: .significantChange
    case .visits: .visits
    case .live: .live
    case .region: .region(route.points[0].coordinate, radius: radius)
    }
  }

  /// The page that is asked for, if one is.
  private func makePage(
    _ profile: BoardProfile, _ route: Track, _ duration: Interval, _ script: ClientScript
  ) throws -> ReportFile? {
    guard let path = paper.report else { return nil }
    var page = ReportPage(
      board: profile.name, way: wayName, asked: asked(script), track: route,
      length: duration, battery: paper.battery, sketch: RunSketch(duration, Plane(route)))
    page.settings = [
      ("board", deferral.board), ("way", track ?? page.way), ("length", Words.duration(duration)),
      ("service", service.rawValue),
      (
        "accuracy",
        accuracy == -1 ? "best" : accuracy == -2 ? "navigation" : Words.distance(accuracy)
      ),
      ("noise", noise.rawValue), ("time to the first fix", ttff.rawValue), ("seed", String(seed)),
      ("motion sensor", motion || profile.motion != nil ? "yes" : "no"),
    ]
    if service == .deferred { page.settings.append(("defers", deferral.words)) }
    if service == .region { page.settings.append(("radius", Words.distance(radius))) }
    if pause { page.settings.append(("pauses by itself", "yes")) }
    if let charge = paper.charge {
      page.settings.append(("battery's charge", "\(Words.decimal(charge, places: 1)) %"))
    }
    return try ReportFile(path: path, page)
  }

  /// What the client asks for, in words.
  private func asked(_ script: ClientScript) -> String {
    switch service {
    case .deferred: deferral.words
    case .standard:
      script.bound_m.map { "within \(Words.distance($0))" } ?? "every fix as it comes"
    case .significant: "significant change"
    case .visits: "visits"
    case .live: "live updates"
    case .region: "a region of \(Words.distance(radius))"
    }
  }
}

extension Simulate {
  /// The track's file without its folders, or the scenario.
  private var wayName: String {
    guard let track else { return (scenario ?? .day).rawValue }
    return track == "-" ? "standard input" : String(track.split(separator: "/").last ?? "")
  }
}

extension Scenario: ExpressibleByArgument {}

/// What a simulated client asks for.
enum ServiceName: String, ExpressibleByArgument, CaseIterable {
  case standard, deferred, significant, visits, live, region
}

/// Errors of simulated positions.
enum NoiseName: String, ExpressibleByArgument, CaseIterable {
  case none, real
}

/// How the time to the first fix comes about.
enum TimeToFixName: String, ExpressibleByArgument, CaseIterable {
  case median, sampled
}

import ArgumentParser
import BoardProfiles
import LocationPolicy
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// `torpor simulate`.
struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Simulate a board, its receiver and a client, and compute the energy.",
    discussion: """
      The simulation runs the service's engine on a virtual clock. The simulated receiver moves along \
      a scenario or a recorded track, sends the same data as a real one, needs its time to the first \
      fix, sleeps and batches. The energy is compared with gpsd and one client on the same board, \
      where the receiver tracks continuously and the board idles between fixes. The same seed gives \
      the same run.

        torpor simulate
        torpor simulate --scenario drive --hours 2 --timeout 10min --seed 7
        torpor simulate --track walk.csv --noise none --trace walk.jsonl
        torpor simulate --service standard --accuracy 100 --report day.html --battery 11.1Wh
        torpor simulate --service live --battery 500mWh --charge 40

      A track is a GPX 1.1 or 1.0 file whose points have times, or a table whose header line begins \
      with unix_time,lat,lon,alt,speed (seconds UTC, degrees, metres, m/s; alt and speed may be \
      empty); further columns are ignored. The gpx and csv output of `torpor decode` can be used.
      """)

  @OptionGroup var board: BoardOption
  @OptionGroup var deferral: DeferralOptions
  @OptionGroup var printing: PrintingOptions

  @Option(
    help: ArgumentHelp(
      "Write a report of the run to this file, an HTML page with map, power, fixes and energy.",
      valueName: "file"),
    completion: .file(extensions: ["html"]))
  var report: String?

  @OptionGroup var batteryOptions: BatteryOptions

  @OptionGroup var routeOptions: RouteOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Duration of the run; if not given, that of the track or the scenario (24 for a day).",
      valueName: "hours"),
    transform: ArgumentValues.hours)
  var hours: Double?

  @Option(
    help: ArgumentHelp(
      "standard or deferred updates, significant change, visits, live updates, one region "
        + "around the track's first point, or one fix an hour.", valueName: "service"))
  var service = ServiceName.deferred

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Desired accuracy: best (-1; if not given), navigation (-2), or metres. Deferred updates require "
        + "best or navigation.", valueName: "accuracy"),
    transform: ArgumentValues.accuracy)
  var accuracy: Double?

  @Flag(help: "Pause updates automatically while the device is stationary.")
  var pause = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Radius of the region, for --service region: more than 0, at most 100 km; 200 m if not given.",
      valueName: "distance"),
    transform: ArgumentValues.radius)
  var radius: Double?

  @Flag(
    help:
      "Simulate a motion sensor even if the profile has none: an accelerometer that detects motion within 2 s, with one false alarm an hour."
  )
  var motion = false

  @Flag(
    help:
      "The program is not connected, but launched for each event. A board whose profile has [board.off] is switched off in between."
  )
  var launched = false

  @OptionGroup var random: RandomOptions

  @Option(
    help: ArgumentHelp(
      "Time to first fix: the profile's median, or a random sample for each start.",
      valueName: "ttff"))
  var ttff = TimeToFixName.median

  @Option(
    help: ArgumentHelp(
      "Write the bytes that the receiver sent to this file, for `torpor replay` and `decode`.",
      valueName: "file"),
    completion: .file())
  var bytes: String?

  mutating func validate() throws {
    for (name, path) in [("--bytes", bytes), ("--report", report)] where path == "-" {
      throw ValidationError("\(name) writes a file; give it a name")
    }
    if batteryOptions.battery != nil, batteryOptions.charge == nil, report == nil {
      throw ValidationError(
        "--battery is only used in a report; add --report FILE, or simulate it with --charge 100")
    }
    if launched, !service.canBeLaunched {
      let others = ServiceName.allCases.filter(\.canBeLaunched).map(\.rawValue)
      throw ValidationError(
        "--launched requires --service \(others.joined(separator: ", ")): with "
          + "\(service.rawValue), the program stays connected")
    }
  }

  func run() throws {
    try OutputPaths.check(
      [("--trace", printing.trace), ("--bytes", bytes), ("--report", report)],
      inputs: [("the track", routeOptions.track), ("the profile", board.path)])
    let profile = try board.profile()
    let route = try makeTrack()
    let duration = hours.map { Interval(seconds: $0 * 3_600) } ?? route.duration
    var plan = SimulationPlan(track: route, duration: duration)
    plan.noise = random.noise.model
    plan.samplesTimeToFirstFix = ttff == .sampled
    plan.seed = random.seed
    if motion || profile.motion != nil {
      plan.motionPeriods =
        SimulatedAccelerometer(
          route, stillAfter: profile.motion?.stillAfter ?? .seconds(10), seed: random.seed
        ).activePeriods
    }
    plan.battery = try simulatedBattery(profile)
    let script = script(route)
    if launched, profile.board.off == nil {
      POSIX.printError(
        "torpor: \(profile.name) is never switched off: its profile has no [board.off]")
    }
    if let unused = ServiceOption.unused(givenOptions, by: service) {
      POSIX.printError("torpor: \(unused)")
    }
    var output = try RunReport(printing)
    let recording = try bytes.map { try ByteRecording(path: $0) }
    var page = try makeReport(profile, route, duration, script)
    output.writeHeadline(
      "board \(profile.name): \(routeName), \(HumanFormat.duration(duration)); \(requestText(script))"
    )
    var tally = script.bound_m.flatMap {
      OptimumComparisonTally(route, within: $0, profile, hasSampledTimesToFix: ttff == .sampled)
    }
    let result = SimulationRun(profile, script).simulate(
      plan, progress: { output.updateProgress(to: $0) },
      bytes: recording.map { recording in { recording.add($0) } },
      sink: {
        output.add($0)
        tally?.add($0)
        page?.samples.add($0)
      })
    let comparison = tally?.finish(at: .boot + result.summary.duration)
    try output.finish(
      result.summary, of: script.service, boundResult: comparison,
      suggestion: suggestion(for: result.summary))
    try recording?.commit()
    try page?.commit(
      result.summary, comparison.flatMap { comparison in tally.map { (comparison, $0.errors) } })
    try RunCheck.check(result)
  }

  /// The simulated battery, if `--charge` is given.
  private func simulatedBattery(_ profile: BoardProfile) throws -> SimulatedBattery? {
    guard let battery = batteryOptions.battery, let charge = batteryOptions.charge else {
      return nil
    }
    if profile.battery == nil {
      POSIX.printError(
        "torpor: \(profile.name) does not reduce services when its battery is low: "
          + "its profile has no [battery]")
    }
    return SimulatedBattery(capacity_J: battery.energy_J, charge: charge)
  }

  private func makeTrack() throws -> Track {
    guard let track = routeOptions.track else {
      return (routeOptions.scenario ?? .day).track(
        seed: random.seed, duration: hours.map { Interval(seconds: $0 * 3_600) })
    }
    let route = try TrackFile.read(
      track, longest: hours == nil ? .seconds(ArgumentValues.maximumHours * 3_600) : nil)
    guard hours != nil || route.duration >= TrackFile.shortest else {
      throw TrackFile.tooShort(
        route, routeName, "give a longer track, or --hours to stay at its end")
    }
    return route
  }

  /// Desired accuracy of a program that requests a fix an hour, metres.
  private static let hourlyAccuracy = 100.0

  /// The simulated client.
  private func script(_ route: Track) -> ClientScript {
    var script = deferral.script
    script.defers = service == .deferred
    script.pauses = pause
    script.accuracy =
      service == .hourly ? Simulate.hourlyAccuracy : accuracy ?? LocationAccuracy.best
    script.isLaunched = launched
    script.service =
      switch service {
      case .standard, .deferred: .updates
      case .significant: .significantChange
      case .visits: .visits
      case .live: .live
      case .region: .region(route.points[0].coordinate, radius: regionRadius)
      case .hourly: .hourly
      }
    return script
  }

  /// The given options of those that not every service uses.
  private var givenOptions: [ServiceOption] {
    ServiceOption.allCases.filter { option in
      switch option {
      case .accuracy: accuracy != nil
      case .distance: deferral.distance != nil
      case .timeout: deferral.timeout != nil
      case .pause: pause
      case .radius: radius != nil
      }
    }
  }

  /// Suggestion for a refused deferral; nil if none exists.
  private func suggestion(for summary: TraceSummary) -> String? {
    guard let refusal = summary.firstDeferralError else { return nil }
    if let accuracy, accuracy >= 0 {
      return "omit --accuracy, or use it with --service standard"
    }
    switch refusal {
    case .deferredAccuracyTooLow, .deferredNotUpdatingLocation:
      return summary.charge.map { _ in
        "the battery was too low: start with a higher charge, with --charge"
      }
    case _: return nil
    }
  }

  /// The report for `--report`, if given.
  private func makeReport(
    _ profile: BoardProfile, _ route: Track, _ duration: Interval, _ script: ClientScript
  ) throws -> ReportPage? {
    guard let path = report else { return nil }
    var settings: [(name: String, value: String)] = [
      ("board", board.name), ("track or scenario", routeOptions.track ?? routeName),
      ("duration", HumanFormat.duration(duration)),
      ("service", service.rawValue),
      (
        "accuracy",
        script.accuracy == LocationAccuracy.best
          ? "best" : script.accuracy < 0 ? "navigation" : HumanFormat.distance(script.accuracy)
      ),
      ("noise", random.noise.rawValue), ("time to first fix", ttff.rawValue),
      ("seed", String(random.seed)),
      ("motion sensor", motion || profile.motion != nil ? "yes" : "no"),
    ]
    if service == .deferred { settings.append(("deferral", deferral.text)) }
    if service == .region { settings.append(("radius", HumanFormat.distance(regionRadius))) }
    if pause { settings.append(("automatic pauses", "yes")) }
    if launched { settings.append(("program launched for each event", "yes")) }
    if let charge = batteryOptions.charge {
      settings.append(("battery charge at start", HumanFormat.percent(charge)))
    }
    return try ReportPage(
      output: Output(path: path), board: profile.name, routeName: routeName,
      request: requestText(script), service: script.service, settings: settings, track: route,
      battery: batteryOptions.battery, charge: batteryOptions.charge,
      samples: RunSamples(duration, TangentPlane(route)))
  }

  /// Human-readable form of the client's request.
  private func requestText(_ script: ClientScript) -> String {
    switch service {
    case .deferred: deferral.text
    case .standard:
      script.bound_m.map { "within \(HumanFormat.distance($0))" } ?? "every fix immediately"
    case .significant: "significant change"
    case .visits: "visits"
    case .live: "live updates"
    case .region: "a region of \(HumanFormat.distance(regionRadius))"
    case .hourly: "a fix an hour"
    }
  }
}

extension Simulate {
  /// The radius of the region, metres; 200 m if not given.
  private var regionRadius: Double { radius ?? 200 }

  /// File name of the track without its folder, or the scenario.
  private var routeName: String {
    guard let track = routeOptions.track else { return (routeOptions.scenario ?? .day).rawValue }
    return track == "-" ? "standard input" : String(track.split(separator: "/").last ?? "")
  }
}

/// Values of `--ttff`: source of the time to first fix.
enum TimeToFixName: String, ExpressibleByArgument, CaseIterable {
  case median, sampled
}

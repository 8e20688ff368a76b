import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL

// The simulated runs of `torpor tune`: use cases, the settings to compare for each, and a run of a setting on a track.

/// A use case of location, with the service that is intended for it.
enum TuneUseCase: Equatable {
  /// Every fix immediately: standard updates, best accuracy.
  case everyFix
  /// The last report within this error, metres: standard updates with that accuracy.
  case within(Double)
  /// The whole track, delivered some minutes late: deferred updates.
  case wholeTrack
  /// Changes of the approximate location: significant change.
  case significantChange
  /// Stays at places: visits.
  case visits

  /// All use cases.
  static let all: [TuneUseCase] = [
    .everyFix, .within(50), .within(100), .within(200), .within(500), .wholeTrack,
    .significantChange, .visits,
  ]
  /// The service, as a value of `torpor simulate --service`.
  var service: ServiceName {
    switch self {
    case .everyFix, .within: .standard
    case .wholeTrack: .deferred
    case .significantChange: .significant
    case .visits: .visits
    }
  }

  /// Accuracy bound, metres; nil if none exists.
  var bound_m: Double? {
    switch self {
    case .within(let metres): metres
    case .everyFix, .wholeTrack, .significantChange, .visits: nil
    }
  }

  /// Whether a setting for this use case also covers `other`: every fix covers the whole track and every error bound, a
  /// smaller bound covers a larger one.
  func covers(_ other: TuneUseCase) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.everyFix, .within), (.everyFix, .wholeTrack): return true
    case (.within(let bound), .within(let otherBound)): return bound < otherBound
    case (.everyFix, _), (.within, _), (.wholeTrack, _), (.significantChange, _), (.visits, _):
      return false
    }
  }

  /// Name in JSON.
  var jsonName: String {
    switch self {
    case .everyFix: "every_fix"
    case .within: "within"
    case .wholeTrack: "whole_way"
    case .significantChange: "elsewhere"
    case .visits: "stays"
    }
  }

  /// Human-readable text.
  ///
  /// - Parameter timeout: Largest delivery delay of the whole track.
  func text(timeout: Interval) -> String {
    switch self {
    case .everyFix: "Every fix immediately"
    case .within(let metres): "Current location within \(HumanFormat.distance(metres))"
    case .wholeTrack: "Whole track, up to \(HumanFormat.duration(timeout)) late"
    case .significantChange: "Significant changes of location"
    case .visits: "Visits to places"
    }
  }

  fileprivate func script(timeout: Interval) -> ClientScript {
    var script = ClientScript()
    script.defers = self == .wholeTrack
    switch self {
    case .everyFix: break
    case .within(let metres): script.accuracy = metres
    case .wholeTrack: script.timeout = timeout.seconds
    case .significantChange: script.service = .significantChange
    case .visits: script.service = .visits
    }
    return script
  }
}

/// A configuration to simulate: a use case, with or without batching and motion sensor.
struct TuneSetting: Equatable {
  /// The use case.
  var useCase: TuneUseCase
  /// Whether the receiver may batch.
  var batches: Bool
  /// Whether the board has the line of a motion sensor.
  var hasMotionLine: Bool
  /// Whether the program is not connected but launched for each event, so that the board may be switched off.
  var isLaunched = false
  /// Largest delivery delay of the whole track.
  var timeout = TuneSetting.standardTimeout

  /// The delivery delay without uploads.
  static let standardTimeout = Interval.seconds(600)

  /// All settings, grouped by use case.
  ///
  /// - Parameters:
  ///   - hasBatch: Whether the board's receiver can batch.
  ///   - canBeOff: Whether the board can be switched off until an alarm.
  ///   - timeout: Largest delivery delay of the whole track.
  static func all(
    hasBatch: Bool, canBeOff: Bool = false, timeout: Interval = standardTimeout
  ) -> [TuneSetting] {
    TuneUseCase.all.flatMap { useCase in
      // Only deferral uses batching, so only there both values are compared.
      let connected = (hasBatch && useCase == .wholeTrack ? [true, false] : [hasBatch]).flatMap {
        batches in
        [false, true].map {
          TuneSetting(
            useCase: useCase, batches: batches, hasMotionLine: $0, timeout: timeout)
        }
      }
      guard canBeOff, useCase.service.canBeLaunched else { return connected }
      return connected + [
        TuneSetting(useCase: useCase, batches: hasBatch, hasMotionLine: false, isLaunched: true)
      ]
    }
  }

  /// Human-readable text.
  var text: String {
    switch useCase {
    case .everyFix: "standard, best"
    case .within(let metres): "standard, \(HumanFormat.distance(metres))"
    case .wholeTrack:
      "deferred \(HumanFormat.duration(timeout))" + (batches ? ", batching" : "")
    case .significantChange: "significant change" + (isLaunched ? ", launched" : "")
    case .visits: "visits" + (isLaunched ? ", launched" : "")
    }
  }
}

/// Result of a setting on one track.
struct TuneRun {
  var setting: TuneSetting
  var summary: TraceSummary
  /// Errors in comparison with the accuracy bound, if there is one.
  var error: BoundSummary?
  /// Number of uploads to a store.
  var uploads = 0
  /// Energy of the radio for all uploads, millijoules.
  var radio_mJ = 0.0

  /// Mean power of the receiver, milliwatts.
  var receiver_mW: Double { mean(summary.energy?.receiver_mJ) }
  /// Mean power of the board without the receiver, milliwatts.
  var board_mW: Double { mean(summary.energy?.board_mJ) }
  /// Mean power of the radio, milliwatts.
  var radio_mW: Double { mean(radio_mJ) }
  /// Mean power of all of them, milliwatts.
  var together_mW: Double { receiver_mW + board_mW + radio_mW }

  private func mean(_ energy_mJ: Double?) -> Double {
    let seconds = summary.duration.seconds
    return seconds > 0 ? (energy_mJ ?? 0) / seconds : 0
  }
}

/// Simulates settings for a board on one track.
struct TuneSimulation {
  private let profile: BoardProfile
  private let route: Track
  private let motion: [Range<Instant>]
  private let seed: UInt64
  /// Error model of the receiver.
  var noise: NoiseParameters? = .real
  /// Uploads to a store; nil for none.
  var uplink: TuneUplink?

  /// Prepares the runs and computes when the line of a motion sensor is active. Without `[motion]` in the profile, the
  /// line becomes inactive after 10 s without motion.
  init(_ profile: BoardProfile, _ route: Track, seed: UInt64) {
    self.profile = profile
    self.route = route
    self.seed = seed
    motion =
      SimulatedAccelerometer(
        route, stillAfter: profile.motion?.stillAfter ?? .seconds(10), seed: seed
      ).activePeriods
  }

  /// Simulates `setting` from the first point of the track to the last.
  ///
  /// - Throws: ``CommandError`` with code 70 if `Engine` violated a hardware rule.
  func run(_ setting: TuneSetting, progress: (Double) -> Void) throws(CommandError) -> TuneRun {
    var profile = profile
    if !setting.batches { profile.receiver?.batch = nil }
    var plan = SimulationPlan(track: route, duration: route.duration)
    plan.noise = noise
    plan.seed = seed
    plan.motionPeriods = setting.hasMotionLine ? motion : nil
    var script = setting.useCase.script(timeout: setting.timeout)
    script.isLaunched = setting.isLaunched
    script.upload = uplink?.script(isDeferred: setting.useCase == .wholeTrack)
    var tally = script.bound_m.flatMap { OptimumComparisonTally(route, within: $0, profile) }
    let result = SimulationRun(profile, script).simulate(
      plan, progress: progress, sink: { tally?.add($0) })
    try RunCheck.checkRules(result)
    let comparison = tally?.finish(at: .boot + result.summary.duration)
    return TuneRun(
      setting: setting, summary: result.summary, error: comparison?.error, uploads: result.uploads,
      radio_mJ: Double(result.uploads) * (uplink?.radio.exchange_J ?? 0) * 1_000)
  }
}

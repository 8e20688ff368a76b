import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// What one may want to know of a wearer: each is answered by one service.
enum TuneQuestion: Equatable {
  /// Every fix at once: standard updates, best accuracy.
  case everyFix
  /// The last report within so many metres of the truth: standard updates with that accuracy.
  case within(Double)
  /// The whole way, some minutes late: deferred updates.
  case wholeWay
  /// That the wearer is somewhere else: significant change.
  case elsewhere
  /// Where the wearer stayed: visits.
  case stays

  /// All of them.
  static let all: [TuneQuestion] = [
    .everyFix, .within(50), .within(100), .within(200), .within(500), .wholeWay, .elsewhere, .stays,
  ]
  /// How late the whole way may be told, seconds.
  static let timeout = 600.0

  /// The service in the words of `torpor simulate --service`.
  var service: ServiceName {
    switch self {
    case .everyFix, .within: .standard
    case .wholeWay: .deferred
    case .elsewhere: .significant
    case .stays: .visits
    }
  }

  /// The distance that is promised, metres; nil where none is.
  var bound_m: Double? {
    switch self {
    case .within(let metres): metres
    case .everyFix, .wholeWay, .elsewhere, .stays: nil
    }
  }

  /// Whether what answers this answers `other` as well: every fix at once is also the whole way and
  /// within any distance; a shorter distance is within a longer one.
  func answers(_ other: TuneQuestion) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.everyFix, .within), (.everyFix, .wholeWay): return true
    case (.within(let near), .within(let far)): return near < far
    case (.everyFix, _), (.within, _), (.wholeWay, _), (.elsewhere, _), (.stays, _): return false
    }
  }

  /// The word for programs.
  var word: String {
    switch self {
    case .everyFix: "every_fix"
    case .within: "within"
    case .wholeWay: "whole_way"
    case .elsewhere: "elsewhere"
    case .stays: "stays"
    }
  }

  /// What is asked, for people.
  var words: String {
    switch self {
    case .everyFix: "Every fix at once"
    case .within(let metres): "Where it is, within \(HumanFormat.distance(metres))"
    case .wholeWay:
      "The whole way, up to \(HumanFormat.duration(Interval(seconds: Self.timeout))) late"
    case .elsewhere: "When it is somewhere else"
    case .stays: "Where it stayed, and how long"
    }
  }

  fileprivate var script: ClientScript {
    var script = ClientScript()
    script.defers = self == .wholeWay
    switch self {
    case .everyFix: break
    case .within(let metres): script.accuracy = metres
    case .wholeWay: script.timeout = Self.timeout
    case .elsewhere: script.service = .significantChange
    case .stays: script.service = .visits
    }
    return script
  }
}

/// One way to answer a question.
struct TuneSetting: Equatable {
  /// What is asked.
  var question: TuneQuestion
  /// Whether the receiver may batch.
  var batches: Bool
  /// Whether the board has the line of a motion sensor.
  var hasMotionLine: Bool

  /// All of them, those of one question beside each other.
  ///
  /// - Parameter hasBatch: Whether the board's receiver can batch.
  static func all(hasBatch: Bool) -> [TuneSetting] {
    TuneQuestion.all.flatMap { question in
      // Batching serves deferral alone: with the others there is nothing to compare.
      (hasBatch && question == .wholeWay ? [true, false] : [hasBatch]).flatMap { batches in
        [false, true].map {
          TuneSetting(question: question, batches: batches, hasMotionLine: $0)
        }
      }
    }
  }

  /// The service in a few words.
  var words: String {
    switch question {
    case .everyFix: "standard, best"
    case .within(let metres): "standard, \(HumanFormat.distance(metres))"
    case .wholeWay: batches ? "deferred 10 min, batching" : "deferred 10 min"
    case .elsewhere: "significant change"
    case .stays: "visits"
    }
  }
}

/// What a setting came to on one track.
struct TuneRun {
  var setting: TuneSetting
  var summary: TraceSummary
  /// How the distance was kept, where one is promised.
  var error: BoundSummary?

  /// Mean power of the receiver, milliwatts.
  var receiver_mW: Double { mean(summary.energy?.receiver_mJ) }
  /// Mean power of the board without it, milliwatts.
  var board_mW: Double { mean(summary.energy?.board_mJ) }
  /// Mean power of both, milliwatts.
  var together_mW: Double { receiver_mW + board_mW }

  private func mean(_ energy_mJ: Double?) -> Double {
    let seconds = summary.duration.seconds
    return seconds > 0 ? (energy_mJ ?? 0) / seconds : 0
  }
}

/// A board on one track.
struct TuneBench {
  private let profile: BoardProfile
  private let route: Track
  private let motion: [Range<Instant>]
  private let seed: UInt64
  /// The receiver's errors.
  var noise: SimulatedNoise = .real

  /// Makes out when the line of a motion sensor would be active; a profile without `[motion]` gets
  /// one that falls back after 10 s.
  init(_ profile: BoardProfile, _ route: Track, seed: UInt64) {
    self.profile = profile
    self.route = route
    self.seed = seed
    motion =
      SimulatedAccelerometer(
        route, stillAfter: profile.motion?.stillAfter ?? .seconds(10), seed: seed
      ).spells
  }

  /// Runs `setting` from the track's first point to its last.
  ///
  /// - Throws: ``CommandError`` with code 70 when the engine broke a rule of the hardware.
  func run(_ setting: TuneSetting, progress: (Double) -> Void) throws(CommandError) -> TuneRun {
    var profile = profile
    if !setting.batches { profile.receiver?.batch = nil }
    var plan = SimulationPlan(track: route, duration: route.duration)
    plan.noise = noise
    plan.seed = seed
    plan.motion = setting.hasMotionLine ? motion : nil
    let script = setting.question.script
    var promise = script.bound_m.flatMap { PromiseTally(route, within: $0, profile) }
    let result = Session(profile, script).simulate(
      plan, progress: progress, sink: { promise?.add($0) })
    try RunCheck.checkRules(result)
    let kept = promise?.finish(at: .boot + result.summary.duration)
    return TuneRun(setting: setting, summary: result.summary, error: kept?.error)
  }
}

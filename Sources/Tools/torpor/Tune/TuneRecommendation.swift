import LocationSimulation

/// Totals of a setting over all tracks.
struct TuneSum: Equatable {
  /// Energy of receiver and board, millijoules.
  private(set) var energy_mJ = 0.0
  /// Duration of all runs, seconds.
  private(set) var duration_s = 0.0
  /// Number of seconds with a known error.
  private(set) var seconds = 0
  /// Number of seconds with an error above the accuracy bound.
  private(set) var violationSeconds = 0

  /// Adds a run.
  mutating func add(_ run: TuneRun) {
    let length = run.summary.duration.seconds
    energy_mJ += run.together_mW * length
    duration_s += length
    seconds += run.error?.seconds ?? 0
    violationSeconds += run.error?.exceededSeconds ?? 0
  }

  /// Mean power, milliwatts.
  var mean_mW: Double { duration_s > 0 ? energy_mJ / duration_s : 0 }
  /// Fraction of the time with an error above the bound, 0 to 1.
  var violationShare: Double { seconds > 0 ? Double(violationSeconds) / Double(seconds) : 0 }
  /// Whether the error is above the bound rarely enough for a recommendation.
  var meetsBound: Bool { violationShare <= TuneRecommendation.maximumBoundViolation }
}

/// The recommended setting for a use case.
struct TuneRecommendation {
  /// Fraction of the mean power that a more complex setting must save to be recommended.
  static let margin = 0.01
  /// Largest fraction of the time in which the error of a recommended setting can be above the bound.
  static let maximumBoundViolation = 0.005

  /// The use case.
  var useCase: TuneUseCase
  /// The recommended setting. It can belong to another use case that covers this one and needs less power.
  var setting: TuneSetting
  /// Its totals.
  var sum: TuneSum
  /// The other settings of this use case.
  var others: [(setting: TuneSetting, sum: TuneSum)]

  /// The recommendation for each use case, in the order of ``TuneUseCase/all``.
  ///
  /// A setting with an error above its bound for more than ``maximumBoundViolation`` of the time is never recommended.
  /// Of the others, the one with the lowest mean power is. A setting with a motion sensor, and then one of another use
  /// case, must save more than ``margin``. A use case without an acceptable setting gets no recommendation.
  static func best(of settings: [TuneSetting], _ sums: [TuneSum]) -> [TuneRecommendation] {
    TuneUseCase.all.compactMap { question in
      let all = Array(zip(settings, sums)).filter { $0.0.useCase.covers(question) }
      let own = all.filter { $0.0.useCase == question }
      let candidates = all.filter { $0.1.meetsBound }
      let cheapestRun = cheapest(of: candidates.filter { $0.0.useCase == question })
      let other = cheapest(of: candidates.filter { $0.0.useCase != question })
      guard var best = cheapestRun ?? other else { return nil }
      if let other, saves(other, best) { best = other }
      return TuneRecommendation(
        useCase: question, setting: best.0, sum: best.1,
        others: own.filter { $0.0 != best.0 }.map { (setting: $0.0, sum: $0.1) })
    }
  }

  /// The setting with the lowest power without a motion sensor, or with one if that saves enough.
  private static func cheapest(
    of all: [(TuneSetting, TuneSum)]
  ) -> (TuneSetting, TuneSum)? {
    let plain = all.filter { !$0.0.hasMotionLine }.min { $0.1.mean_mW < $1.1.mean_mW }
    let sensing = all.filter { $0.0.hasMotionLine }.min { $0.1.mean_mW < $1.1.mean_mW }
    guard let plain, let sensing else { return plain ?? sensing }
    return saves(sensing, plain) ? sensing : plain
  }

  private static func saves(_ a: (TuneSetting, TuneSum), _ b: (TuneSetting, TuneSum)) -> Bool {
    a.1.mean_mW < b.1.mean_mW * (1 - margin)
  }
}

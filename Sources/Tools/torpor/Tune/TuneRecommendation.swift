import LocationSimulation

/// Totals of a setting over all tracks.
struct TuneSum: Equatable {
  /// Energy of receiver, board and radio, millijoules.
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
  /// The recommended setting. It can belong to another use case that covers this one, if it needs less power.
  var setting: TuneSetting
  /// Totals of the recommended setting.
  var sum: TuneSum
  /// The other settings of this use case.
  var others: [(setting: TuneSetting, sum: TuneSum)]

  /// The recommendation for each use case, in the order of ``TuneUseCase/all``.
  ///
  /// A setting with an error above its bound for more than ``maximumBoundViolation`` of the time is never recommended.
  /// Of the others, the setting with the lowest mean power is recommended. A setting with a motion sensor must save
  /// more than ``margin`` against the best one without. A more demanding setting, of another use case, is recommended if
  /// it needs less power, however little (PWR-3). A use case without an acceptable setting gets no recommendation.
  static func best(of settings: [TuneSetting], _ sums: [TuneSum]) -> [TuneRecommendation] {
    TuneUseCase.all.compactMap { useCase in
      let all = Array(zip(settings, sums)).filter { $0.0.useCase.covers(useCase) }
      let ownSettings = all.filter { $0.0.useCase == useCase }
      let others = all.filter { $0.0.useCase != useCase }
      // Of settings with the same power, the first: one of this use case.
      guard let best = cheapest(of: (ownSettings + others).filter { $0.1.meetsBound }) else {
        return nil
      }
      return TuneRecommendation(
        useCase: useCase, setting: best.0, sum: best.1,
        others: ownSettings.filter { $0.0 != best.0 }.map { (setting: $0.0, sum: $0.1) })
    }
  }

  /// The setting with the lowest power without a motion sensor, or with one if that saves enough.
  private static func cheapest(
    of all: [(TuneSetting, TuneSum)]
  ) -> (TuneSetting, TuneSum)? {
    let plain = all.filter { !$0.0.hasMotionLine }.min { $0.1.mean_mW < $1.1.mean_mW }
    let sensing = all.filter { $0.0.hasMotionLine }.min { $0.1.mean_mW < $1.1.mean_mW }
    guard let plain, let sensing else { return plain ?? sensing }
    return sensing.1.mean_mW < plain.1.mean_mW * (1 - margin) ? sensing : plain
  }
}

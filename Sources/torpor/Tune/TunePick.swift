import LocationSimulation

/// What a setting came to on all tracks.
struct TuneSum: Equatable {
  /// What receiver and board took, millijoules.
  private(set) var energy_mJ = 0.0
  /// How long all runs were, seconds.
  private(set) var duration_s = 0.0
  /// Seconds in which a promise could be looked at.
  private(set) var seconds = 0
  /// Those of them in which it was broken.
  private(set) var broken = 0

  /// Adds a run.
  mutating func add(_ run: TuneRun) {
    let length = run.summary.duration.seconds
    energy_mJ += run.together_mW * length
    duration_s += length
    seconds += run.error?.seconds ?? 0
    broken += run.error?.broken ?? 0
  }

  /// Mean power, milliwatts.
  var mean_mW: Double { duration_s > 0 ? energy_mJ / duration_s : 0 }
  /// Part of the time in which the promise was broken, 0 to 1.
  var brokenShare: Double { seconds > 0 ? Double(broken) / Double(seconds) : 0 }
}

/// The best setting for a question.
struct TunePick: Equatable {
  /// What an input of the board must save to be worth its wire: parts of the mean power.
  static let margin = 0.01

  /// Which it is.
  var setting: TuneSetting
  /// What it came to.
  var sum: TuneSum
  /// The others for the same question.
  var others: [(setting: TuneSetting, sum: TuneSum)]

  /// A pick for each question, in their order.
  ///
  /// Least mean power wins; where two are within ``margin``, the one without a motion sensor, as it
  /// needs less.
  static func best(of settings: [TuneSetting], _ sums: [TuneSum]) -> [TunePick] {
    TuneQuestion.all.compactMap { question in
      let all = zip(settings, sums).filter { $0.0.question == question }
      let plain = least(all.filter { !$0.0.hasMotionLine })
      let sensing = least(all.filter { $0.0.hasMotionLine })
      guard let plain, let sensing else { return nil }
      let best = sensing.1.mean_mW < plain.1.mean_mW * (1 - margin) ? sensing : plain
      return TunePick(
        setting: best.0, sum: best.1,
        others: all.filter { $0.0 != best.0 }.map { (setting: $0.0, sum: $0.1) })
    }
  }

  private static func least(_ all: [(TuneSetting, TuneSum)]) -> (TuneSetting, TuneSum)? {
    all.min { $0.1.mean_mW < $1.1.mean_mW }
  }

  static func == (a: TunePick, b: TunePick) -> Bool { a.setting == b.setting && a.sum == b.sum }
}

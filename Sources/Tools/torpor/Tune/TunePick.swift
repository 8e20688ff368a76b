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
  /// Whether the promise was kept often enough for this to be recommended.
  var keepsPromise: Bool { brokenShare <= TunePick.mostBroken }
}

/// The best setting for a question.
struct TunePick {
  /// What another setting than the plainest must save to be picked: parts of the mean power.
  static let margin = 0.01
  /// The part of the time in which a promise may be broken by what is picked.
  static let mostBroken = 0.005

  /// What is asked.
  var question: TuneQuestion
  /// Which setting it is; of another question where that one answers this as well and takes less.
  var setting: TuneSetting
  /// What it came to.
  var sum: TuneSum
  /// The others that were made for this question.
  var others: [(setting: TuneSetting, sum: TuneSum)]

  /// A pick for each question, in their order.
  ///
  /// What breaks its promise in more than ``mostBroken`` of the time is never picked. Of the others the least
  /// mean power wins; but a motion sensor, and then a service made for another question, each only where it
  /// saves more than ``margin``: who asks for less needs less. A question that nothing answers has no pick.
  static func best(of settings: [TuneSetting], _ sums: [TuneSum]) -> [TunePick] {
    TuneQuestion.all.compactMap { question in
      let all = Array(zip(settings, sums)).filter { $0.0.question.answers(question) }
      let own = all.filter { $0.0.question == question }
      let kept = all.filter { $0.1.keepsPromise }
      let mine = choice(of: kept.filter { $0.0.question == question })
      let other = choice(of: kept.filter { $0.0.question != question })
      guard var best = mine ?? other else { return nil }
      if let other, saves(other, best) { best = other }
      return TunePick(
        question: question, setting: best.0, sum: best.1,
        others: own.filter { $0.0 != best.0 }.map { (setting: $0.0, sum: $0.1) })
    }
  }

  /// The least without a motion sensor, or with one where that saves enough.
  private static func choice(
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

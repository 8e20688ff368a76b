import BoardProfiles
import LocationPolicy
import LocationSimulation
import LocationTypes

/// What to make of a run, before it begins and when it has ended.
enum RunCheck {
  /// - Throws: ``CommandError`` with code 78 where the board has no receiver.
  static func needsReceiver(_ profile: BoardProfile) throws(CommandError) {
    guard profile.receiver == nil else { return }
    throw CommandError(
      .config,
      "\(profile.name) has no receiver, so there is nothing to run; its profile needs [receiver]")
  }

  /// Tells what was not as it should be.
  ///
  /// - Throws: ``CommandError`` with code 70 when the engine did what a board must never be asked for.
  static func check(_ result: SessionResult) throws(CommandError) {
    for words in findings(result) { POSIX.tell("torpor: \(words)") }
    try checkRules(result)
  }

  /// What is worth telling of a run, with its cause and what to do about it.
  static func findings(_ result: SessionResult) -> [String] {
    let summary = result.summary
    var words: [String] = []
    if result.isBatteryEmpty {
      let life = HumanFormat.duration(summary.duration)
      words.append(
        summary.fixes == 0
          ? "the battery was empty after \(life), before the receiver's first fix: "
            + "begin with more, by --charge or --battery"
          : "the battery was empty after \(life), and the run ends there")
    } else if summary.fixes == 0 {
      words.append("there was no fix: " + causeOfNone(summary))
    }
    if !result.isDeferralAvailable {
      words.append("this board cannot defer: it has no receiver, or cannot sleep")
    }
    return words
  }

  private static func causeOfNone(_ summary: TraceSummary) -> String {
    if summary.givenUp.leavesNothing, let charge = summary.charge {
      return "at \(charge) % the battery is too low (\(TraceText.words(summary.givenUp))); "
        + "begin with more, by --charge"
    }
    if let code = summary.failure, code != .locationUnknown {
      return "the service was refused with " + TraceText.words(code)
    }
    return "the way may end before the receiver's first one; try a longer one"
  }

  /// Looks whether the engine kept the rules of the hardware.
  ///
  /// - Throws: ``CommandError`` with code 70 where it did not.
  static func checkRules(_ result: SessionResult) throws(CommandError) {
    guard let first = result.violations.first else { return }
    throw CommandError(
      .software,
      """
      the engine broke a rule of the hardware \(result.violations.count) times, first: \(first); \
      please report this with the command line
      """)
  }
}

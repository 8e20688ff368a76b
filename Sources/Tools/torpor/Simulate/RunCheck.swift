import BoardProfiles
import LocationPolicy
import LocationSimulation
import LocationTypes

/// Checks before and after a simulated run.
enum RunCheck {
  /// Checks that the board has a receiver.
  ///
  /// - Throws: ``CommandError`` with code 78 if it has none.
  static func checkReceiver(_ profile: BoardProfile) throws(CommandError) {
    guard profile.receiver == nil else { return }
    throw CommandError(
      .config,
      "\(profile.name) has no receiver, so it cannot be simulated; its profile needs [receiver]")
  }

  /// Prints the findings of a run to standard error, then checks the hardware rules.
  ///
  /// - Throws: As ``checkRules(_:)``.
  static func check(_ result: SimulationResult) throws(CommandError) {
    for words in findings(result) { POSIX.printError("torpor: \(words)") }
    try checkRules(result)
  }

  /// Unusual results of a run, each with its cause and a suggestion.
  static func findings(_ result: SimulationResult) -> [String] {
    let summary = result.summary
    var words: [String] = []
    if result.isBatteryEmpty {
      let life = HumanFormat.duration(summary.duration)
      words.append(
        summary.fixes == 0
          ? "the battery was empty after \(life), before the receiver's first fix: "
            + "start with more energy, with --charge or --battery"
          : "the battery was empty after \(life), which ended the run")
    } else if summary.fixes == 0 {
      words.append("there was no fix: " + causeOfMissingFixes(summary))
    }
    if !result.isDeferralAvailable {
      words.append("this board cannot defer: it has no receiver, or cannot sleep")
    }
    return words
  }

  private static func causeOfMissingFixes(_ summary: TraceSummary) -> String {
    if summary.shed.stopsServices, let charge = summary.charge {
      return "at \(charge) % the battery is too low (\(TraceText.text(summary.shed))); "
        + "start with a higher charge, with --charge"
    }
    if let code = summary.firstFailure, code != .locationUnknown {
      return "the service request failed with " + TraceText.text(code)
    }
    return "the run may have ended before the receiver's first fix; try a longer one"
  }

  /// Checks that `Engine` followed the rules of the hardware.
  ///
  /// - Throws: ``CommandError`` with code 70 if it violated one.
  static func checkRules(_ result: SimulationResult) throws(CommandError) {
    guard let first = result.violations.first else { return }
    throw CommandError(
      .software,
      """
      the engine violated a hardware rule \(result.violations.count) times, first: \(first); \
      please report this as a bug, with the command line
      """)
  }
}

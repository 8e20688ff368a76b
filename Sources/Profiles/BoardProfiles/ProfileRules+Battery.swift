// What is given up must have been there before: from the finest to the least (PWR-10).

extension ProfileRules {
  static let batteryGivesUp = ProfileRule(
    keys: [
      "battery.every_fix_percent", "battery.accuracy_percent", "battery.updates_percent",
      "battery.visits_percent", "battery.regions_percent", "battery.significant_percent",
    ]
  ) { draft in
    let battery = draft.battery
    let charges = [
      battery.everyFix, battery.accuracy, battery.updates, battery.visits, battery.regions,
      battery.significantChange,
    ]
    guard charges.allSatisfy({ ($0 ?? 0) == 0 }) else { return nil }
    return .init(
      key: "battery", problem: "names no charge at which anything is given up: it changes nothing",
      expected: "one of every_fix_percent, updates_percent, visits_percent, regions_percent and"
        + " significant_percent, or no table [battery]")
  }

  static let accuracyGoesSecond = ProfileRule(
    keys: ["battery.every_fix_percent", "battery.accuracy_percent"]
  ) { draft in
    guard let accuracy = draft.battery.accuracy else { return nil }
    guard let everyFix = draft.battery.everyFix else {
      return .init(
        key: "battery.accuracy_percent",
        problem: "every_fix_percent is missing: who wants most would keep all",
        expected: "every_fix_percent, at least \(accuracy)")
    }
    return later("accuracy_percent", accuracy, than: "every_fix_percent", everyFix)
  }

  static let updatesGoAfterEveryFix = ProfileRule(
    keys: ["battery.every_fix_percent", "battery.updates_percent"]
  ) { draft in
    guard let updates = draft.battery.updates, let everyFix = draft.battery.everyFix else {
      return nil
    }
    return later("updates_percent", updates, than: "every_fix_percent", everyFix)
  }

  static let updatesGoAfterAccuracy = ProfileRule(
    keys: ["battery.accuracy_percent", "battery.updates_percent"]
  ) { draft in
    guard let updates = draft.battery.updates, let accuracy = draft.battery.accuracy else {
      return nil
    }
    return later("updates_percent", updates, than: "accuracy_percent", accuracy)
  }

  private static func later(
    _ name: String, _ charge: Int, than first: String, _ firstCharge: Int
  ) -> ProfileRule.Broken? {
    guard charge > firstCharge else { return nil }
    return .init(
      key: "battery." + name, problem: "\(charge) is above the \(firstCharge) of \(first)",
      expected: "at most \(firstCharge): what is finer goes first")
  }
}

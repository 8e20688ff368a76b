// swift-format-ignore-file
// Written by `make methods` from the interface descriptions.

import BoardHardware
import LocationPolicy
import LocationTypes

extension FixQuality: WireEnum {
  static let wireWords: [(FixQuality, StaticString)] = [
    (.autonomous, "autonomous"),
    (.differential, "differential"),
    (.rtkFixed, "rtk_fixed"),
    (.rtkFloat, "rtk_float"),
    (.deadReckoning, "dead_reckoning"),
    (.manual, "manual"),
    (.simulated, "simulated"),
    (.surveyed, "surveyed"),
    (.combined, "gnss_dead_reckoning"),
    (.unknown, "unknown"),
  ]

  var wireWord: StaticString {
    switch self {
    case .autonomous: "autonomous"
    case .differential: "differential"
    case .rtkFixed: "rtk_fixed"
    case .rtkFloat: "rtk_float"
    case .deadReckoning: "dead_reckoning"
    case .manual: "manual"
    case .simulated: "simulated"
    case .surveyed: "surveyed"
    case .combined: "gnss_dead_reckoning"
    case .unknown: "unknown"
    }
  }
}

extension FixMode: WireEnum {
  static let wireWords: [(FixMode, StaticString)] = [
    (.twoDimensional, "2d"),
    (.threeDimensional, "3d"),
  ]

  var wireWord: StaticString {
    switch self {
    case .twoDimensional: "2d"
    case .threeDimensional: "3d"
    }
  }
}

extension RegionKind: WireEnum {
  static let wireWords: [(RegionKind, StaticString)] = [
    (.region, "region"),
    (.condition, "condition"),
  ]

  var wireWord: StaticString {
    switch self {
    case .region: "region"
    case .condition: "condition"
    }
  }
}

extension RegionState: WireEnum {
  static let wireWords: [(RegionState, StaticString)] = [
    (.unknown, "unknown"),
    (.inside, "inside"),
    (.outside, "outside"),
  ]

  var wireWord: StaticString {
    switch self {
    case .unknown: "unknown"
    case .inside: "inside"
    case .outside: "outside"
    }
  }
}

extension MonitorState: WireEnum {
  static let wireWords: [(MonitorState, StaticString)] = [
    (.unknown, "unknown"),
    (.satisfied, "satisfied"),
    (.unsatisfied, "unsatisfied"),
    (.unmonitored, "unmonitored"),
  ]

  var wireWord: StaticString {
    switch self {
    case .unknown: "unknown"
    case .satisfied: "satisfied"
    case .unsatisfied: "unsatisfied"
    case .unmonitored: "unmonitored"
    }
  }
}

extension MonitorProblem: WireEnum {
  static let wireWords: [(MonitorProblem, StaticString)] = [
    (.conditionLimitExceeded, "limit_exceeded"),
    (.conditionUnsupported, "unsupported"),
    (.persistenceUnavailable, "persistence_unavailable"),
  ]

  var wireWord: StaticString {
    switch self {
    case .conditionLimitExceeded: "limit_exceeded"
    case .conditionUnsupported: "unsupported"
    case .persistenceUnavailable: "persistence_unavailable"
    }
  }
}

extension Authorization: WireEnum {
  static let wireWords: [(Authorization, StaticString)] = [
    (.notDetermined, "not_determined"),
    (.restricted, "restricted"),
    (.denied, "denied"),
    (.always, "always"),
    (.whenInUse, "when_in_use"),
  ]

  var wireWord: StaticString {
    switch self {
    case .notDetermined: "not_determined"
    case .restricted: "restricted"
    case .denied: "denied"
    case .always: "always"
    case .whenInUse: "when_in_use"
    }
  }
}

extension ServiceLevel: WireEnum {
  static let wireWords: [(ServiceLevel, StaticString)] = [
    (.everyFix, "every_fix"),
    (.accuracy, "accuracy"),
    (.updates, "updates"),
    (.visits, "visits"),
    (.regions, "regions"),
    (.significantChange, "significant"),
  ]

  var wireWord: StaticString {
    switch self {
    case .everyFix: "every_fix"
    case .accuracy: "accuracy"
    case .updates: "updates"
    case .visits: "visits"
    case .regions: "regions"
    case .significantChange: "significant"
    }
  }
}

extension ExecutionState: WireEnum {
  static let wireWords: [(ExecutionState, StaticString)] = [
    (.foreground, "foreground"),
    (.background, "background"),
    (.suspended, "suspended"),
  ]

  var wireWord: StaticString {
    switch self {
    case .foreground: "foreground"
    case .background: "background"
    case .suspended: "suspended"
    }
  }
}

extension ActivityType: WireEnum {
  static let wireWords: [(ActivityType, StaticString)] = [
    (.other, "other"),
    (.automotiveNavigation, "automotive_navigation"),
    (.fitness, "fitness"),
    (.otherNavigation, "other_navigation"),
    (.airborne, "airborne"),
  ]

  var wireWord: StaticString {
    switch self {
    case .other: "other"
    case .automotiveNavigation: "automotive_navigation"
    case .fitness: "fitness"
    case .otherNavigation: "other_navigation"
    case .airborne: "airborne"
    }
  }
}

extension BoardState: WireEnum {
  static let wireWords: [(BoardState, StaticString)] = [
    (.awake, "awake"),
    (.idle, "idle"),
    (.suspended, "suspended"),
    (.off, "off"),
  ]

  var wireWord: StaticString {
    switch self {
    case .awake: "awake"
    case .idle: "idle"
    case .suspended: "suspended"
    case .off: "off"
    }
  }
}

extension WakeReason: WireEnum {
  static let wireWords: [(WakeReason, StaticString)] = [
    (.alarm, "alarm"),
    (.bytes, "bytes"),
    (.batchPin, "batch_pin"),
    (.request, "request"),
    (.motion, "motion"),
  ]

  var wireWord: StaticString {
    switch self {
    case .alarm: "alarm"
    case .bytes: "bytes"
    case .batchPin: "batch_pin"
    case .request: "request"
    case .motion: "motion"
    }
  }
}

extension ReceiverPowerState: WireEnum {
  static let wireWords: [(ReceiverPowerState, StaticString)] = [
    (.off, "off"),
    (.backup, "backup"),
    (.standby, "standby"),
    (.acquiring, "acquiring"),
    (.tracking, "tracking"),
    (.powersave, "powersave"),
    (.batching, "batching"),
  ]

  var wireWord: StaticString {
    switch self {
    case .off: "off"
    case .backup: "backup"
    case .standby: "standby"
    case .acquiring: "acquiring"
    case .tracking: "tracking"
    case .powersave: "powersave"
    case .batching: "batching"
    }
  }
}

extension LiveConfiguration: WireEnum {
  static let wireWords: [(LiveConfiguration, StaticString)] = [
    (.default, "default"),
    (.automotiveNavigation, "automotive_navigation"),
    (.otherNavigation, "other_navigation"),
    (.fitness, "fitness"),
    (.airborne, "airborne"),
  ]

  var wireWord: StaticString {
    switch self {
    case .default: "default"
    case .automotiveNavigation: "automotive_navigation"
    case .otherNavigation: "other_navigation"
    case .fitness: "fitness"
    case .airborne: "airborne"
    }
  }
}

extension SessionRequirement: WireEnum {
  static let wireWords: [(SessionRequirement, StaticString)] = [
    (.none, "none"),
    (.whenInUse, "when_in_use"),
    (.always, "always"),
  ]

  var wireWord: StaticString {
    switch self {
    case .none: "none"
    case .whenInUse: "when_in_use"
    case .always: "always"
    }
  }
}

// swift-format-ignore-file
// Written by `make methods` from the interface descriptions.

import BoardHardware
import LocationPolicy
import LocationTypes

extension FixQuality: WireEnum {
  static let wireValues: [FixQuality] = [.autonomous, .differential, .rtkFixed, .rtkFloat, .deadReckoning, .manual, .simulated, .surveyed, .combined, .unknown]

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
  static let wireValues: [FixMode] = [.twoDimensional, .threeDimensional]

  var wireWord: StaticString {
    switch self {
    case .twoDimensional: "2d"
    case .threeDimensional: "3d"
    }
  }
}

extension RegionKind: WireEnum {
  static let wireValues: [RegionKind] = [.region, .condition]

  var wireWord: StaticString {
    switch self {
    case .region: "region"
    case .condition: "condition"
    }
  }
}

extension RegionState: WireEnum {
  static let wireValues: [RegionState] = [.unknown, .inside, .outside]

  var wireWord: StaticString {
    switch self {
    case .unknown: "unknown"
    case .inside: "inside"
    case .outside: "outside"
    }
  }
}

extension MonitorState: WireEnum {
  static let wireValues: [MonitorState] = [.unknown, .satisfied, .unsatisfied, .unmonitored]

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
  static let wireValues: [MonitorProblem] = [.conditionLimitExceeded, .conditionUnsupported, .persistenceUnavailable]

  var wireWord: StaticString {
    switch self {
    case .conditionLimitExceeded: "limit_exceeded"
    case .conditionUnsupported: "unsupported"
    case .persistenceUnavailable: "persistence_unavailable"
    }
  }
}

extension Authorization: WireEnum {
  static let wireValues: [Authorization] = [.notDetermined, .restricted, .denied, .always, .whenInUse]

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
  static let wireValues: [ServiceLevel] = [.everyFix, .accuracy, .updates, .visits, .regions, .significantChange]

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
  static let wireValues: [ExecutionState] = [.foreground, .background, .suspended]

  var wireWord: StaticString {
    switch self {
    case .foreground: "foreground"
    case .background: "background"
    case .suspended: "suspended"
    }
  }
}

extension ActivityType: WireEnum {
  static let wireValues: [ActivityType] = [.other, .automotiveNavigation, .fitness, .otherNavigation, .airborne]

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
  static let wireValues: [BoardState] = [.awake, .idle, .suspended, .off]

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
  static let wireValues: [WakeReason] = [.alarm, .bytes, .batchPin, .request, .motion]

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
  static let wireValues: [ReceiverPowerState] = [.off, .backup, .standby, .acquiring, .tracking, .powersave, .batching]

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
  static let wireValues: [LiveConfiguration] = [.default, .automotiveNavigation, .otherNavigation, .fitness, .airborne]

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
  static let wireValues: [SessionRequirement] = [.none, .whenInUse, .always]

  var wireWord: StaticString {
    switch self {
    case .none: "none"
    case .whenInUse: "when_in_use"
    case .always: "always"
    }
  }
}

import BoardHardware
import LocationPolicy
import LocationTypes
import TextFormats

/// An enumeration of another module whose values are transmitted as words.
protocol WireEnum: WireScalar, WireElement, Equatable {
  /// All values with their words.
  static var wireWords: [(Self, StaticString)] { get }
}

extension WireEnum {
  /// Word of the value.
  var wireWord: StaticString {
    for (value, word) in Self.wireWords where value == self { return word }
    preconditionFailure("every value has a word")
  }

  init?(json: JSONValue) {
    guard let text = json.string else { return nil }
    for (value, word) in Self.wireWords where text == word.description {
      self = value
      return
    }
    return nil
  }

  func write(_ name: StaticString, to json: inout JSONOutput) { json.member(name, word: wireWord) }
  func writeElement(to json: inout JSONOutput) { json.element(word: wireWord) }
}

extension ExecutionState: WireEnum {
  static let wireWords: [(ExecutionState, StaticString)] =
    [(.foreground, "foreground"), (.background, "background"), (.suspended, "suspended")]
}

extension Authorization: WireEnum {
  static let wireWords: [(Authorization, StaticString)] =
    [
      (.notDetermined, "not_determined"), (.restricted, "restricted"), (.denied, "denied"),
      (.always, "always"), (.whenInUse, "when_in_use"),
    ]
}

extension ActivityType: WireEnum {
  static let wireWords: [(ActivityType, StaticString)] =
    [
      (.other, "other"), (.automotiveNavigation, "automotive_navigation"), (.fitness, "fitness"),
      (.otherNavigation, "other_navigation"), (.airborne, "airborne"),
    ]
}

extension LiveConfiguration: WireEnum {
  static let wireWords: [(LiveConfiguration, StaticString)] =
    [
      (.default, "default"), (.automotiveNavigation, "automotive_navigation"),
      (.otherNavigation, "other_navigation"), (.fitness, "fitness"), (.airborne, "airborne"),
    ]
}

extension RegionKind: WireEnum {
  static let wireWords: [(RegionKind, StaticString)] =
    [(.region, "region"), (.condition, "condition")]
}

extension RegionState: WireEnum {
  static let wireWords: [(RegionState, StaticString)] =
    [(.unknown, "unknown"), (.inside, "inside"), (.outside, "outside")]
}

extension MonitorState: WireEnum {
  static let wireWords: [(MonitorState, StaticString)] =
    [
      (.unknown, "unknown"), (.satisfied, "satisfied"), (.unsatisfied, "unsatisfied"),
      (.unmonitored, "unmonitored"),
    ]
}

extension MonitorProblem: WireEnum {
  static let wireWords: [(MonitorProblem, StaticString)] =
    [
      (.conditionLimitExceeded, "limit_exceeded"), (.conditionUnsupported, "unsupported"),
      (.persistenceUnavailable, "persistence_unavailable"),
    ]
}

extension ServiceLevel: WireEnum {
  static let wireWords: [(ServiceLevel, StaticString)] =
    [
      (.everyFix, "every_fix"), (.accuracy, "accuracy"), (.updates, "updates"),
      (.visits, "visits"), (.regions, "regions"), (.significantChange, "significant"),
    ]
}

extension FixQuality: WireEnum {
  static let wireWords: [(FixQuality, StaticString)] =
    [
      (.unknown, "unknown"), (.autonomous, "autonomous"), (.differential, "differential"),
      (.rtkFixed, "rtk_fixed"), (.rtkFloat, "rtk_float"), (.deadReckoning, "dead_reckoning"),
      (.manual, "manual"), (.simulated, "simulated"), (.surveyed, "surveyed"),
      (.combined, "gnss_dead_reckoning"),
    ]
}

extension FixMode: WireEnum {
  static let wireWords: [(FixMode, StaticString)] =
    [(.twoDimensional, "2d"), (.threeDimensional, "3d")]
}

extension BoardState: WireEnum {
  static let wireWords: [(BoardState, StaticString)] =
    [(.awake, "awake"), (.idle, "idle"), (.suspended, "suspended"), (.off, "off")]
}

extension SessionRequirement: WireEnum {
  static let wireWords: [(SessionRequirement, StaticString)] =
    [(.none, "none"), (.whenInUse, "when_in_use"), (.always, "always")]
}

extension ReceiverPowerState: WireEnum {
  static let wireWords: [(ReceiverPowerState, StaticString)] =
    [
      (.off, "off"), (.backup, "backup"), (.standby, "standby"), (.acquiring, "acquiring"),
      (.tracking, "tracking"), (.powersave, "powersave"), (.batching, "batching"),
    ]
}

extension WakeReason: WireEnum {
  static let wireWords: [(WakeReason, StaticString)] =
    [
      (.alarm, "alarm"), (.bytes, "bytes"), (.batchPin, "batch_pin"), (.request, "request"),
      (.motion, "motion"),
    ]
}

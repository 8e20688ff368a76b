import LocationTypes

/// Settings of a receiver that is controlled by sentences.
struct SentenceSettings: Equatable, Sendable {
  private let family: SimulatedFamily
  private let defaultSpeed: UInt32
  /// Present line speed, baud.
  var speed: UInt32
  /// Line speed from the next start on, baud; an Airoha stores it in flash.
  var nextSpeed: UInt32
  /// Time between two fixes.
  var interval = Interval.seconds(1)
  /// Output rates of GGA, GLL, GSA, GSV, RMC, VTG: one sentence every n fixes, 0 for none.
  var rates = [1, 1, 1, 1, 1, 1]

  init(_ figures: SimulatedReceiverParameters) {
    family = figures.family
    defaultSpeed = figures.defaultSpeed
    speed = figures.defaultSpeed
    nextSpeed = figures.defaultSpeed
  }

  /// Restores the factory settings, including those in flash.
  mutating func restoreFactorySettings() {
    nextSpeed = defaultSpeed
    loseRAM()
  }

  /// Restores the settings after a loss of RAM.
  mutating func loseRAM() {
    interval = .seconds(1)
    rates = [1, 1, 1, 1, 1, 1]
    if family != .airoha { nextSpeed = defaultSpeed }
    speed = nextSpeed
  }
}

extension SimulatedFamily {
  /// Whether a sentence requests standby from a receiver of this family.
  func isStandbyRequest(_ fields: [String]) -> Bool {
    switch self {
    case .mtk: fields.first == "PMTK161"
    case .airoha: fields.first == "PAIR003"
    case .casic: fields.first == "PCAS12"
    case .ubloxM10, .ubloxM8, .streaming: false
    }
  }
}

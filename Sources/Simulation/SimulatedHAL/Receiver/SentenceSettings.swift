import LocationTypes

/// What a receiver commanded by sentences was told, or what it has from the factory.
struct SentenceSettings: Equatable, Sendable {
  private let family: SimulatedFamily
  private let defaultSpeed: UInt32
  /// The speed it talks at.
  var speed: UInt32
  /// The speed it talks at from its next start on: an Airoha keeps that in flash.
  var nextSpeed: UInt32
  /// From one fix to the next.
  var interval = Interval.seconds(1)
  /// Every how many fixes it sends GGA, GLL, GSA, GSV, RMC, VTG.
  var rates = [1, 1, 1, 1, 1, 1]

  init(_ figures: ReceiverFigures) {
    family = figures.family
    defaultSpeed = figures.defaultSpeed
    speed = figures.defaultSpeed
    nextSpeed = figures.defaultSpeed
  }

  /// All is as it came from the factory, what is in flash as well.
  mutating func reset() {
    nextSpeed = defaultSpeed
    forget()
  }

  /// Its RAM is gone.
  mutating func forget() {
    interval = .seconds(1)
    rates = [1, 1, 1, 1, 1, 1]
    if family != .airoha { nextSpeed = defaultSpeed }
    speed = nextSpeed
  }
}

extension SimulatedFamily {
  /// Whether a sentence asks a receiver of this family for standby.
  func asksForStandby(_ fields: [String]) -> Bool {
    switch self {
    case .mtk: fields.first == "PMTK161"
    case .airoha: fields.first == "PAIR003"
    case .casic: fields.first == "PCAS12"
    case .ubloxM10, .ubloxM8, .streaming: false
    }
  }
}

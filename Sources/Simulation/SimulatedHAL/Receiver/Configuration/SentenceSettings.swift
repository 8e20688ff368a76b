import LocationTypes

/// Settings of a receiver that is controlled by sentences.
struct SentenceSettings: Equatable, Sendable {
  /// One set of values.
  struct Values: Equatable, Sendable {
    /// Line speed, baud.
    var speed: UInt32
    /// Time between two fixes.
    var interval = Interval.seconds(1)
    /// Output rates of GGA, GLL, GSA, GSV, RMC, VTG: one sentence every n fixes, 0 for none.
    var rates = [1, 1, 1, 1, 1, 1]
  }

  private let factory: Values
  private let shortestStoredInterval: Interval
  /// Values in effect.
  var current: Values
  /// Values that commands have changed without effect yet, of a receiver that applies them at a start.
  var edited: Values
  /// Values in flash, which a start loads; few families have commands that change them.
  var stored: Values

  init(_ figures: SimulatedReceiverParameters) {
    factory = Values(speed: figures.defaultSpeed)
    current = factory
    edited = factory
    stored = factory
    shortestStoredInterval = figures.shortestStoredInterval
  }

  /// Stores the edited values, as far as the receiver supports them.
  mutating func storeEdited() {
    edited.interval = max(edited.interval, shortestStoredInterval)
    stored = edited
  }

  /// Restores the factory settings, including those in flash.
  mutating func restoreFactorySettings() {
    stored = factory
    loseRAM()
  }

  /// Restores the settings after a loss of RAM.
  mutating func loseRAM() {
    current = stored
    edited = stored
  }
}

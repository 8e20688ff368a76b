import LocationTypes

/// Power of a receiver in each of its states, mW.
public struct ReceiverPower: Equatable, Sendable {
  /// Without supply.
  public var off = 0.0
  /// Only the backup domain fed.
  public var backup = 0.1
  /// Software standby.
  public var standby = 0.14
  /// Searching.
  public var acquiring = 36.0
  /// With a fix.
  public var tracking = 30.0
  /// With a fix, power-save mode.
  public var powersave = 15.0
  /// With a fix, filling its own buffer.
  public var batching = 30.0

  /// Creates the figures of a u-blox MAX-M10S at 3 V (UBX-20035208 R01), rounded.
  public init() {}

  /// The figures of no receiver at all.
  public static var none: ReceiverPower {
    var power = ReceiverPower()
    (power.off, power.backup, power.standby) = (0, 0, 0)
    (power.acquiring, power.tracking, power.powersave, power.batching) = (0, 0, 0, 0)
    return power
  }

  /// Power in one state.
  public func mW(in state: ReceiverPowerState) -> Double {
    switch state {
    case .off: off
    case .backup: backup
    case .standby: standby
    case .acquiring: acquiring
    case .tracking: tracking
    case .powersave: powersave
    case .batching: batching
    }
  }
}

/// Power of a board and its receiver in each of their states, mW.
public struct PowerFigures: Equatable, Sendable {
  /// The receiver.
  public var receiver = ReceiverPower()
  /// Whether its clock and orbits are kept when its supply is cut: then it is in backup and not off.
  public var hasBackupSupply = false
  /// The board without its receiver, running code.
  public var awake = 0.0
  /// Waiting.
  public var idle = 0.0
  /// Suspended; what idling takes, where it cannot.
  public var suspended = 0.0
  /// Powered off until an alarm; what idling takes, where it cannot.
  public var off = 0.0

  /// A board that takes nothing.
  public init() {}

  /// Power of the board in one state.
  public func mW(in state: BoardState) -> Double {
    switch state {
    case .awake: awake
    case .idle: idle
    case .suspended: suspended
    case .off: off
    }
  }
}

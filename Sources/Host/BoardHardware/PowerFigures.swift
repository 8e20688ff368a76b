import LocationTypes

/// Power of a receiver in each of its states, milliwatts.
public struct ReceiverPower: Equatable, Sendable {
  /// Without supply.
  public var off_mw = 0.0
  /// With only the backup domain supplied.
  public var backup_mw = 0.1
  /// Software standby: asleep by command, supply on; an edge or a byte wakes it.
  public var standby_mw = 0.14
  /// Acquisition: running without a fix.
  public var acquire_mw = 36.0
  /// Tracking: running with a fix.
  public var track_mw = 30.0
  /// Running with a fix in power-save mode, with its own duty cycle; nil if the receiver has none.
  public var powersave_mw: Double? = 15
  /// Running with a fix and storing epochs in the receiver's own buffer; nil if the receiver has none.
  public var batching_mw: Double? = 30

  /// Creates the values of a u-blox MAX-M10S at 3 V (UBX-20035208 R01), rounded.
  public init() {}

  /// The values of a board without a receiver: zero in all states.
  public static var none: ReceiverPower {
    var power = ReceiverPower()
    (power.off_mw, power.backup_mw, power.standby_mw) = (0, 0, 0)
    (power.acquire_mw, power.track_mw) = (0, 0)
    (power.powersave_mw, power.batching_mw) = (nil, nil)
    return power
  }

  /// Power in one state, mW; that of tracking for a state that the receiver does not have.
  public func mW(in state: ReceiverPowerState) -> Double {
    switch state {
    case .off: off_mw
    case .backup: backup_mw
    case .standby: standby_mw
    case .acquiring: acquire_mw
    case .tracking: track_mw
    case .powersave: powersave_mw ?? track_mw
    case .batching: batching_mw ?? track_mw
    }
  }
}

/// Power of a board and its receiver in each of their states, mW. Made by `BoardProfile`, used by `ServiceEnergy`.
public struct PowerFigures: Equatable, Sendable {
  /// Power of the receiver.
  public var receiver = ReceiverPower()
  /// Whether a backup supply keeps clock and orbits when the main supply is switched off; the receiver is then in
  /// `backup`, not `off`.
  public var hasBackupSupply = false
  /// Power of the board without its receiver, running code.
  public var awake = 0.0
  /// Power of the board while it waits.
  public var idle = 0.0
  /// Power while suspended; equal to `idle` if the board cannot suspend.
  public var suspended = 0.0
  /// Power while switched off until an alarm; equal to `idle` if the board cannot be switched off.
  public var off = 0.0

  /// Creates a board without consumption.
  public init() {}

  /// Power of the board in one state, mW.
  public func mW(in state: BoardState) -> Double {
    switch state {
    case .awake: awake
    case .idle: idle
    case .suspended: suspended
    case .off: off
    }
  }
}

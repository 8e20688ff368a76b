/// Power state of a receiver.
public enum ReceiverPowerState: Int, CaseIterable, Sendable {
  /// No supply: neither configuration nor ephemeris are kept.
  case off = 0
  /// Main supply off, backup domain supplied: clock, ephemeris and the backup layer are kept.
  case backup = 1
  /// Software standby on command, supply on.
  case standby = 2
  /// Running without a fix.
  case acquiring = 3
  /// Running with a fix.
  case tracking = 4
  /// Running with a fix in the receiver's own power-save mode.
  case powersave = 5
  /// Running with a fix, storing epochs in its own buffer and sending none.
  case batching = 6

  /// Name of the state in traces and on the socket.
  public var name: String {
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

import BoardHardware

// The power parameters of a profile by state, for the energy ledger.

extension BoardProfile {
  /// Power of board and receiver in each state, milliwatts; zero for the receiver if the board has none.
  public var powerFigures: PowerFigures {
    var figures = PowerFigures()
    figures.receiver = receiver?.powerByState ?? .none
    figures.hasBackupSupply = receiver?.hasBackupSupply ?? false
    figures.awake = board.awake_mw
    figures.idle = board.idle.power_mw
    figures.suspended = board.suspended?.power_mw ?? board.idle.power_mw
    figures.off = board.off?.power_mw ?? board.idle.power_mw
    return figures
  }
}

extension BoardProfile.Receiver {
  /// Power of the receiver in each state, milliwatts; unsupported states use the power of tracking.
  public var powerByState: BoardHardware.ReceiverPower {
    var figures = BoardHardware.ReceiverPower()
    figures.off = power.off_mw
    figures.backup = power.backup_mw
    figures.standby = power.standby_mw
    figures.acquiring = power.acquire_mw
    figures.tracking = power.track_mw
    figures.powersave = power.powersave_mw ?? power.track_mw
    figures.batching = batch?.power_mw ?? power.track_mw
    return figures
  }
}

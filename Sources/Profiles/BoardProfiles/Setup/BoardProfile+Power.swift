import BoardHardware

// The power parameters of a profile by state, for the energy ledger.

extension BoardProfile {
  /// Power of board and receiver in each state, milliwatts; zero for the receiver if the board has none.
  public var powerFigures: PowerFigures {
    var figures = PowerFigures()
    figures.receiver = receiver?.power ?? .none
    figures.hasBackupSupply = receiver?.hasBackupSupply ?? false
    figures.awake = board.awake_mw
    figures.idle = board.idle.power_mw
    figures.suspended = board.suspended?.power_mw ?? board.idle.power_mw
    figures.off = board.off?.power_mw ?? board.idle.power_mw
    return figures
  }
}

extension BoardProfile {
  /// The same board with nothing but the receiver's line: no GPIO line at all, as on a desk where a
  /// receiver hangs on USB, or a simulated one plays it.
  public var unwired: BoardProfile {
    var profile = self
    profile.motion = nil
    profile.battery?.lowLine = nil
    profile.board.sessionLightLine = nil
    profile.board.suspended?.wakesOn.subtract([.batchPin, .motion])
    profile.receiver?.wakeLine = nil
    profile.receiver?.supplyLine = nil
    profile.receiver?.batch?.line = nil
    profile.receiver?.batch?.pio = nil
    return profile
  }
}

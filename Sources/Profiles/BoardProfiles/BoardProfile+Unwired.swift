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
    profile.receiver?.pulseLine = nil
    profile.receiver?.batch?.line = nil
    profile.receiver?.batch?.pio = nil
    return profile
  }

  /// The lines that are wired: what each is called, the key that names it, and its text.
  public var gpioLines: [(name: String, path: String, text: String)] {
    let all: [(String, String, String?)] = [
      ("wake_line", "receiver.wake_line", receiver?.wakeLine),
      ("supply_line", "receiver.supply_line", receiver?.supplyLine),
      ("pulse_line", "receiver.pulse_line", receiver?.pulseLine),
      ("batch line", "receiver.batch.line", receiver?.batch?.line),
      ("motion line", "motion.line", motion?.line),
      ("low_line", "battery.low_line", battery?.lowLine),
      ("session_light_line", "board.session_light_line", board.sessionLightLine),
    ]
    return all.compactMap { name, path, text in text.map { (name, path, $0) } }
  }
}

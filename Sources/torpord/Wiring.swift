import BoardProfiles
import GPIOLines
import LinuxHAL

// A profile in the words of Linux.

extension BoardProfile {
  /// Which GPIO lines do what. The profile's reader has made sure that each text names one.
  func wiring() throws(GPIOLineError) -> GPIOWiring {
    var wiring = GPIOWiring()
    wiring.receiverWake = try line(receiver?.wakeLine)
    wiring.receiverSupply = try line(receiver?.supplyLine)
    wiring.batch = try line(receiver?.batch?.line)
    wiring.motion = try line(motion?.line)
    wiring.lowBattery = try line(battery?.lowLine)
    wiring.sessionLight = try line(board.sessionLightLine)
    return wiring
  }

  private func line(_ text: String?) throws(GPIOLineError) -> GPIOLine? {
    guard let text else { return nil }
    return try GPIOLine(text)
  }

  /// What knows of the battery; nil where nothing does.
  var batteryGauge: BatteryGauge? {
    guard let battery, battery.gauge != nil || battery.lowLine != nil else { return nil }
    return BatteryGauge(name: battery.gauge, lowCharge: UInt8(clamping: battery.lowCharge))
  }
}

import BoardHardware
import BoardProfiles
import LinuxHAL
import LocationService
import LocationTypes

// Translates a board profile into the types of `LinuxHAL` and `LocationService`.

extension BoardProfile {
  /// GPIO lines by function. The profile's validation guarantees that each text names one.
  func wiring() throws(GPIOLineError) -> GPIOWiring {
    var wiring = GPIOWiring()
    wiring.receiverWake = try line(receiver?.wakeLine)
    wiring.receiverSupply = try line(receiver?.supplyLine)
    wiring.pulse = try line(receiver?.pulseLine)
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

  /// Suspends the board; nil if the profile has no suspended state.
  var suspender: BoardSuspender? {
    // The profile's validation guarantees that the motion line exists.
    board.suspended.map { BoardSuspender($0.wakeSources) }
  }

  /// Switches the board off and on again; nil if the profile has no off state.
  func powerOff(state: String, boot: BootIdentity) -> BoardPowerOff? {
    guard let off = board.off else { return nil }
    let alarm: BoardPowerOff.Alarm =
      switch board.offAlarm {
      case .rtc: .clock
      case .wittyPi4: .wittyPi4(bus: board.i2cBus)
      }
    return BoardPowerOff(
      alarm, minimumOffTime: off.minimumDuration, lead: off.alarmLead,
      record: state + "/wake-intent", boot: boot)
  }

  /// Reads the battery's charge; nil if the profile has neither a gauge nor a low-battery line.
  var batteryGauge: BatteryGauge? {
    guard let battery, battery.gauge != nil || battery.lowLine != nil else { return nil }
    return BatteryGauge(name: battery.gauge, lowCharge: UInt8(clamping: battery.lowCharge))
  }
}

extension BoardProfile.Receiver {
  /// Settings of the receiver's line, for the suggestions about a receiver that does not answer.
  var lineSettings: ReceiverLineSettings {
    ReceiverLineSettings(
      family: family, speed_baud: lineSpeed_baud, defaultSpeed_baud: defaultLineSpeed_baud,
      device: device)
  }
}

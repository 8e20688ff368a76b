import BoardHardware
import BoardProfiles
import LinuxHAL
import LocationService
import LocationTypes

// A profile in the words of Linux.

extension BoardProfile {
  /// Which GPIO lines do what. The profile's reader has made sure that each text names one.
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

  /// What suspends the board; nil where the profile does not have that.
  var suspender: BoardSuspender? {
    guard let suspended = board.suspended else { return nil }
    var sources: BoardSuspender.WakeSources = []
    if suspended.wakesOn.contains(.bytes) { sources.insert(.bytes) }
    // The profile's reader has made sure that it is wired.
    if suspended.wakesOn.contains(.motion) { sources.insert(.motion) }
    return BoardSuspender(sources)
  }

  /// What switches the board off and on again; nil where the profile does not have that.
  func powerOff(state: String, boot: BootIdentity) -> BoardPowerOff? {
    guard let off = board.off else { return nil }
    let alarm: BoardPowerOff.Alarm =
      switch board.offAlarm {
      case .rtc: .clock
      case .wittyPi4: .wittyPi4(bus: board.i2cBus)
      }
    return BoardPowerOff(
      alarm, shortest: off.shortest, lead: off.resume + off.alarmResolution,
      record: state + "/wake-intent", boot: boot)
  }

  /// What knows of the battery; nil where nothing does.
  var batteryGauge: BatteryGauge? {
    guard let battery, battery.gauge != nil || battery.lowLine != nil else { return nil }
    return BatteryGauge(name: battery.gauge, lowCharge: UInt8(clamping: battery.lowCharge))
  }
}

extension BoardProfile.Receiver {
  /// What belongs to its line, for whoever says why it does not answer.
  var terms: ReceiverTerms {
    let speech: ReceiverTerms.Commands =
      switch family {
      case .ubloxM10, .ubloxM8: .frames
      case .mtk, .airoha, .casic: .sentences
      case .nmea: .none
      }
    return ReceiverTerms(
      family: family.rawValue, takes: speech, speed_baud: lineSpeed_baud,
      firstSpeed_baud: defaultLineSpeed_baud, device: device)
  }
}

import GNSSProtocols
import LocationTypes

// What an M8 is told. It keeps what it is told in the same places as an M10; but what a message sets is
// in the RAM alone until CFG-CFG saves it.

extension SimulatedReceiver {
  /// Carries a configuration message of a receiver before CFG-VALSET out, and answers it.
  mutating func carryOutOlder(_ command: UBXCommand, at now: Instant) {
    let identity = SimulatedReceiver.identity(of: command)
    guard figures.family == .ubloxM8 else { return refuse(identity, "message unknown", at: now) }
    if case .save = command {
      configuration.save()
      return acknowledge(identity, at: now)
    }
    if case .batch = command, figures.batch == nil {
      return refuse(identity, "message unknown", at: now)
    }
    configure(SimulatedReceiver.items(of: command), identity, at: now)
  }

  private static func identity(of command: UBXCommand) -> UBXIdentity {
    switch command {
    case .port: .cfgPRT
    case .messageRate: .cfgMSG
    case .rate: .cfgRATE
    case .powerManagement: .cfgPM2
    case .receiverPower: .cfgRXM
    case .save: .cfgCFG
    case .batch: .cfgBATCH
    case .aidingAcknowledgement: .cfgNAVX5
    case .valset, .powerRequest, .retrieveBatch, .aidingTime, .aidingEntry, .poll, .unknown,
      .malformed:
      preconditionFailure("not of those")
    }
  }

  /// What a message sets, by the keys of an M10.
  private static func items(of command: UBXCommand) -> UBXConfiguration {
    var items = UBXConfiguration(layers: .ram)
    switch command {
    case .port(let port):
      items.set(ConfigurationKey.lineSpeed, UInt64(port.speed))
      items.set(ConfigurationKey.acceptsUBX, port.accepted & UBXPort.ubx == 0 ? 0 : 1)
      items.set(ConfigurationKey.sendsUBX, port.sent & UBXPort.ubx == 0 ? 0 : 1)
      items.set(ConfigurationKey.sendsNMEA, port.sent & UBXPort.nmea == 0 ? 0 : 1)
    case .messageRate(.navPVT, let rate): items.set(ConfigurationKey.navPVT, UInt64(rate))
    case .rate(let period, let ratio):
      items.set(ConfigurationKey.measurementPeriod, UInt64(period))
      items.set(ConfigurationKey.navigationRatio, UInt64(ratio))
    case .receiverPower(let saves): items.set(ConfigurationKey.powerMode, saves ? 1 : 0)
    case .batch(let batch): add(batch, to: &items)
    case .aidingAcknowledgement(let isOn):
      items.set(ConfigurationKey.acknowledgesAiding, isOn ? 1 : 0)
    case .messageRate, .powerManagement, .save, .valset, .powerRequest, .retrieveBatch,
      .aidingTime, .aidingEntry, .poll, .unknown, .malformed:
      break
    }
    return items
  }

  private static func add(_ batch: UBXBatchConfiguration, to items: inout UBXConfiguration) {
    items.set(ConfigurationKey.batchEnable, batch.isEnabled ? 1 : 0)
    items.set(ConfigurationKey.batchEntries, UInt64(batch.capacity))
    items.set(ConfigurationKey.batchWatermark, UInt64(batch.watermark))
    items.set(ConfigurationKey.batchExtraPVT, batch.hasExtraPVT ? 1 : 0)
    items.set(ConfigurationKey.batchExtraOdometer, batch.hasOdometer ? 1 : 0)
    items.set(ConfigurationKey.batchPinEnable, batch.pin == nil ? 0 : 1)
    items.set(ConfigurationKey.batchPin, UInt64(batch.pin ?? 0))
    items.set(ConfigurationKey.batchPinActiveLow, batch.isActiveLow ? 1 : 0)
  }
}

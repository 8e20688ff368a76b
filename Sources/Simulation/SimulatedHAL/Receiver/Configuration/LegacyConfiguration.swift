import GNSSProtocols

// Configuration messages of an M8. The values are stored under the keys of an M10; messages set only the RAM layer
// until CFG-CFG saves it.

extension UBXCommand {
  /// Identity of a configuration message of an M8.
  ///
  /// - Precondition: It is one.
  var legacyIdentity: UBXIdentity {
    switch self {
    case .port: .cfgPRT
    case .messageRate: .cfgMSG
    case .rate: .cfgRATE
    case .powerManagement: .cfgPM2
    case .receiverPower: .cfgRXM
    case .save: .cfgCFG
    case .batch: .cfgBATCH
    case .aidingAcknowledgement: .cfgNAVX5
    case .valset, .valget, .powerRequest, .retrieveBatch, .aidingTime, .aidingEntry, .poll,
      .unknown,
      .malformed:
      preconditionFailure("not a configuration message of an M8")
    }
  }

  /// The items that a configuration message of an M8 sets, by the keys of an M10.
  var legacyItems: UBXConfiguration {
    var items = UBXConfiguration(layers: .ram)
    switch self {
    case .port(let port):
      items.set(ConfigurationKey.lineSpeed, UInt64(port.speed))
      items.set(ConfigurationKey.acceptsUBX, port.inputProtocols & UBXPort.ubx == 0 ? 0 : 1)
      items.set(ConfigurationKey.sendsUBX, port.outputProtocols & UBXPort.ubx == 0 ? 0 : 1)
      items.set(ConfigurationKey.sendsNMEA, port.outputProtocols & UBXPort.nmea == 0 ? 0 : 1)
    case .messageRate(.navPVT, let rate): items.set(ConfigurationKey.navPVT, UInt64(rate))
    case .messageRate(.navSAT, let rate): items.set(ConfigurationKey.navSAT, UInt64(rate))
    case .messageRate(.navDOP, let rate): items.set(ConfigurationKey.navDOP, UInt64(rate))
    case .rate(let period, let ratio):
      items.set(ConfigurationKey.measurementPeriod, UInt64(period))
      items.set(ConfigurationKey.navigationRatio, UInt64(ratio))
    case .receiverPower(let saves): items.set(ConfigurationKey.powerMode, saves ? 1 : 0)
    case .batch(let batch): UBXCommand.add(batch, to: &items)
    case .aidingAcknowledgement(let isOn):
      items.set(ConfigurationKey.acknowledgesAiding, isOn ? 1 : 0)
    case .messageRate, .powerManagement, .save, .valset, .valget, .powerRequest, .retrieveBatch,
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

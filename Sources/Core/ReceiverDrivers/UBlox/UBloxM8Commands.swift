import GNSSProtocols

// Commands of the u-blox M8: one CFG message per setting, each acknowledged separately, where an M10 has the keys of
// CFG-VALSET.

/// A configuration message to an M8 (u-blox 8 / M8 receiver description).
enum M8Message: Equatable, Sendable {
  /// CFG-PRT: baud rate, and whether the port sends NMEA in addition to UBX.
  case port(speed: UInt32, sendsNMEA: Bool)
  /// CFG-MSG: NAV-PVT in every epoch, or never.
  case navPVT(Bool)
  /// CFG-MSG: NAV-SAT with each nth epoch, or never for 0.
  case navSAT(every: UInt8)
  /// CFG-MSG: NAV-DOP with each nth epoch, or never for 0.
  case navDOP(every: UInt8)
  /// CFG-RATE: navigation rate.
  case rate
  /// CFG-PM2: parameters of cyclic tracking.
  case powerManagement
  /// CFG-RXM: full power, or power save mode with the parameters of CFG-PM2.
  case powerMode(UBloxPowerMode)
  /// CFG-CFG: save to the battery-backed RAM, so that the configuration survives a short power loss.
  case save
  /// CFG-BATCH; nil disables batching.
  case batch(watermark: UInt16?)
  /// CFG-NAVX5: acknowledge assistance messages.
  case aidingAcknowledgements
}

/// Messages of one command in the order of transmission, at most six.
struct M8Messages: Sendable {
  private var messages = InlineArray<6, M8Message>(repeating: .save)
  private(set) var count = 0

  mutating func append(_ message: M8Message) {
    messages[count] = message
    count += 1
  }

  subscript(part: UInt8) -> M8Message {
    precondition(Int(part) < count, "past the last message of a command")
    return messages[Int(part)]
  }
}

extension UBloxCommand {
  /// Messages to an M8 for this command; empty if the command is the same for all u-blox receivers.
  func m8Messages(for setup: ReceiverSetup) -> M8Messages {
    var all = M8Messages()
    let sendsNMEA = setup.output == .nmea
    switch self {
    case .none, .probe, .pollConfiguration, .wakeBytes, .retrieveBatch, .standby, .pollAiding,
      .aidingTime, .aidingEntry:
      break
    case .enableAidingAcknowledgements: all.append(.aidingAcknowledgements)
    case .lineSpeed(let speed): all.append(.port(speed: speed, sendsNMEA: sendsNMEA))
    case .configuration(let power):
      all.append(.port(speed: setup.lineSpeed, sendsNMEA: sendsNMEA))
      all.append(.navPVT(!sendsNMEA))
      all.append(.rate)
      UBloxCommand.append(power, to: &all)
      all.append(.save)
    case .powerMode(let power):
      UBloxCommand.append(power, to: &all)
      all.append(.save)
    case .liveOutput(let on):
      all.append(sendsNMEA ? .port(speed: setup.lineSpeed, sendsNMEA: on) : .navPVT(on))
    case .satellites(let rate):
      all.append(.navSAT(every: rate))
      all.append(.navDOP(every: rate))
      // A configuration that was saved meanwhile contains them.
      if rate == 0 { all.append(.save) }
    case .enableBatching(let watermark), .watermark(let watermark):
      all.append(.batch(watermark: watermark))
    case .disableBatching: all.append(.batch(watermark: nil))
    }
    return all
  }

  private static func append(_ power: UBloxPowerMode?, to all: inout M8Messages) {
    switch power {
    case .none: break
    case .full: all.append(.powerMode(.full))
    case .cyclic:
      all.append(.powerManagement)
      all.append(.powerMode(.cyclic))
    }
  }
}

extension M8Message {
  /// Message identity in the ACK.
  var identity: UBXIdentity {
    switch self {
    case .port: .cfgPRT
    case .navPVT, .navSAT, .navDOP: .cfgMSG
    case .rate: .cfgRATE
    case .powerManagement: .cfgPM2
    case .powerMode: .cfgRXM
    case .save: .cfgCFG
    case .batch: .cfgBATCH
    case .aidingAcknowledgements: .cfgNAVX5
    }
  }

  func append(to buffer: inout FrameBuffer, for setup: ReceiverSetup) {
    switch self {
    case .port(let speed, let sendsNMEA):
      buffer.append(
        UBXPort(speed: speed, outputProtocols: sendsNMEA ? UBXPort.ubx | UBXPort.nmea : UBXPort.ubx)
      )
    case .navPVT(let isOn): buffer.appendMessageRate(.navPVT, onUART1: isOn ? 1 : 0)
    case .navSAT(let rate): buffer.appendMessageRate(.navSAT, onUART1: rate)
    case .navDOP(let rate): buffer.appendMessageRate(.navDOP, onUART1: rate)
    case .rate: buffer.appendRate(period_ms: setup.interval_ms)
    case .powerManagement: buffer.append(UBXPowerManagement(period_ms: UInt32(setup.interval_ms)))
    case .powerMode(let power): buffer.appendReceiverPower(saves: power == .cyclic)
    case .save: buffer.appendSave()
    case .batch(let watermark): buffer.append(M8Message.batching(setup, watermark))
    case .aidingAcknowledgements: buffer.appendAidingAcknowledgement(true)
    }
  }

  private static func batching(
    _ setup: ReceiverSetup, _ watermark: UInt16?
  ) -> UBXBatchConfiguration {
    guard let watermark else { return UBXBatchConfiguration() }
    guard let batch = setup.batch else {
      preconditionFailure(
        "batching is not configured in the setup")
    }
    return UBXBatchConfiguration(
      isEnabled: true, hasExtraPVT: batch.extraPVT, capacity: batch.capacity,
      watermark: watermark, pin: batch.pioWired ? batch.pioID : nil,
      isActiveLow: batch.pioWired && batch.pioActiveLow)
  }
}

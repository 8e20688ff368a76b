import GNSSProtocols
import LocationTypes

// Commands of the u-blox driver and their encoding for an M10. Key numbers and their sources:
// Docs/Reference/receivers.md. The encoding for an M8 is in UBloxM8Commands.swift.

/// CFG-VALSET keys that the driver writes (u-blox M10 interface description, *Configuration interface*).
enum M10Key {
  static let uart1Baudrate: UInt32 = 0x4052_0001
  static let uart1InProtUBX: UInt32 = 0x1073_0001
  static let uart1OutProtUBX: UInt32 = 0x1074_0001
  static let uart1OutProtNMEA: UInt32 = 0x1074_0002
  static let navPVTOnUART1: UInt32 = 0x2091_0007
  static let navDOPOnUART1: UInt32 = 0x2091_0039
  static let navSATOnUART1: UInt32 = 0x2091_0016
  static let rateMeas: UInt32 = 0x3021_0001
  static let ackAiding: UInt32 = 0x1011_0025
  static let pmOperateMode: UInt32 = 0x20D0_0001
  static let pmOnTime: UInt32 = 0x30D0_0005
  static let pmDoNotEnterOff: UInt32 = 0x10D0_0008
  static let pmUpdateEph: UInt32 = 0x10D0_000A
  static let batchEnable: UInt32 = 0x1026_0013
  static let batchPIOEnable: UInt32 = 0x1026_0014
  static let batchMaxEntries: UInt32 = 0x3026_0015
  static let batchWarnThrs: UInt32 = 0x3026_0016
  static let batchPIOActiveLow: UInt32 = 0x1026_0018
  static let batchPIOID: UInt32 = 0x2026_0019
  static let batchExtraPVT: UInt32 = 0x1026_001A
  static let batchExtraOdo: UInt32 = 0x1026_001B
}

/// Power mode of a receiver that is awake. Raw values: CFG-PM-OPERATEMODE of an M10.
enum UBloxPowerMode: UInt64, Sendable {
  /// Continuous tracking.
  case full = 0
  /// Cyclic tracking, the receiver's own duty cycle.
  case cyclic = 2
}

/// Command to a u-blox receiver.
enum UBloxCommand: ReceiverCommand {
  /// No command.
  case none
  /// Poll MON-VER.
  case probe
  /// Poll the keys of `configuration` in RAM: CFG-VALGET. An M8 does not have it.
  case pollConfiguration(UBloxPowerMode?)
  /// Bytes that wake a receiver without a wake pin.
  case wakeBytes
  /// Set the baud rate.
  case lineSpeed(UInt32)
  /// Set protocols, rate, live output on, and the power mode; nil for a receiver without the power mode keys.
  case configuration(UBloxPowerMode?)
  /// Set the power mode only.
  case powerMode(UBloxPowerMode)
  /// Switch live output on or off.
  case liveOutput(Bool)
  /// Send NAV-SAT and NAV-DOP with each nth epoch, or never for 0.
  case satellites(every: UInt8)
  /// Enable batching, with the batch pin asserted from this number of entries on.
  case enableBatching(watermark: UInt16)
  /// Change the watermark only.
  case watermark(UInt16)
  /// LOG-RETRIEVEBATCH: send the batch buffer, preceded by MON-BATCH.
  case retrieveBatch
  /// Disable batching. The receiver discards its buffer.
  case disableBatching
  /// RXM-PMREQ: enter software standby until woken.
  case standby
  /// Enable acknowledgements of assistance messages.
  case enableAidingAcknowledgements
  /// Poll MGA-DBD: send the navigation database entry by entry, then the number of entries.
  case pollAiding
  /// MGA-INI-TIME_UTC: set the time.
  case aidingTime(UTCTime)
  /// MGA-DBD entry in this slot of the storage; the engine's caller, which owns the storage, writes the bytes.
  case aidingEntry(UInt8)
}

extension ReceiverSetup {
  /// Whether the receiver has a CFG message for each setting instead of CFG-VALSET, as an M8.
  var usesSeparateMessages: Bool { family.has(.separateMessages) }
}

extension UBXIdentity: CommandAnswer {
  /// Message class and ID in one number.
  var kind: UInt16 { UInt16(messageClass) << 8 | UInt16(messageID) }
}

extension UBloxCommand {
  /// An M10 accepts each command in one message.
  func partCount(for setup: ReceiverSetup) -> UInt8 {
    setup.usesSeparateMessages ? UInt8(clamping: max(m8Messages(for: setup).count, 1)) : 1
  }

  /// Message identity in the answer to a part.
  func answer(part: UInt8, for setup: ReceiverSetup) -> UBXIdentity? {
    switch self {
    // The answer to a poll of the configuration is its values; the ACK that follows is not needed.
    case .none, .probe, .pollConfiguration, .wakeBytes, .retrieveBatch, .standby: nil
    case .pollAiding, .aidingEntry: .mgaDBD
    case .aidingTime: .mgaINI
    case .lineSpeed, .configuration, .powerMode, .liveOutput, .satellites, .enableBatching,
      .watermark, .disableBatching, .enableAidingAcknowledgements:
      setup.usesSeparateMessages ? m8Messages(for: setup)[part].identity : .cfgVALSET
    }
  }

  /// Power mode that the command sets; nil if it sets none.
  var powerMode: UBloxPowerMode? {
    switch self {
    case .configuration(let power): power
    case .powerMode(let power): power
    case .none, .probe, .pollConfiguration, .wakeBytes, .lineSpeed, .liveOutput, .satellites,
      .enableBatching, .watermark, .retrieveBatch, .disableBatching, .standby,
      .enableAidingAcknowledgements, .pollAiding, .aidingTime, .aidingEntry:
      nil
    }
  }

  /// Whether a part sets the power mode.
  func setsPowerMode(part: UInt8, for setup: ReceiverSetup) -> Bool {
    guard powerMode != nil else { return false }
    guard setup.usesSeparateMessages else { return true }
    let identity = m8Messages(for: setup)[part].identity
    return identity == .cfgPM2 || identity == .cfgRXM
  }

  func frame(part: UInt8, for setup: ReceiverSetup) -> FrameBuffer {
    var buffer = FrameBuffer()
    switch self {
    case .none, .aidingEntry: break
    case .probe: buffer.appendPoll(.monVER)
    case .pollConfiguration(let power):
      let items = UBloxCommand.configuration(power).items(for: setup)
      buffer.appendConfigurationPoll(UBXConfigurationPoll(layer: .ram, keysOf: items))
    case .wakeBytes: buffer.appendWakeBytes()
    case .retrieveBatch: buffer.appendRetrieveBatch(sendsStatusFirst: true)
    case .standby: buffer.appendPowerRequest(UBloxCommand.standbyRequest(for: setup))
    case .pollAiding: buffer.appendPoll(.mgaDBD)
    case .aidingTime(let utc): buffer.appendAidingTime(utc)
    case .lineSpeed, .configuration, .powerMode, .liveOutput, .satellites, .enableBatching,
      .watermark, .disableBatching, .enableAidingAcknowledgements:
      if setup.usesSeparateMessages {
        m8Messages(for: setup)[part].append(to: &buffer, for: setup)
      } else {
        buffer.appendConfiguration(items(for: setup))
      }
    }
    return buffer
  }

  /// Content of the command's CFG-VALSET.
  ///
  /// Also written to battery-backed RAM, from which the next start loads RAM. Aiding is for receivers without a backup
  /// supply, and satellites in view are for clients that may be gone at the next start, so both go to RAM only.
  func items(for setup: ReceiverSetup) -> UBXConfiguration {
    let isVolatile: Bool
    switch self {
    case .enableAidingAcknowledgements, .satellites: isVolatile = true
    case .none, .probe, .pollConfiguration, .wakeBytes, .lineSpeed, .configuration, .powerMode,
      .liveOutput, .enableBatching, .watermark, .retrieveBatch, .disableBatching, .standby,
      .pollAiding, .aidingTime, .aidingEntry:
      isVolatile = false
    }
    var items = UBXConfiguration(layers: isVolatile ? .ram : UBXLayers.ram.union(.batteryBacked))
    addItems(for: setup, to: &items)
    return items
  }

  /// RXM-PMREQ. For an M10 it must contain the wake-up sources. The short form, which every M8 supports, has none: a
  /// byte or an edge wakes an M8 in any case.
  private static func standbyRequest(for setup: ReceiverSetup) -> UBXPowerRequest {
    if setup.usesSeparateMessages {
      var request = UBXPowerRequest(isForced: false, wakeupSources: 0)
      request.isShortForm = true
      return request
    }
    let pin = setup.hasWakePin ? UBXPowerRequest.wakesByEXTINT0 : 0
    return UBXPowerRequest(wakeupSources: pin | UBXPowerRequest.wakesByUART)
  }

  private func addItems(for setup: ReceiverSetup, to items: inout UBXConfiguration) {
    switch self {
    case .lineSpeed(let baud): items.set(M10Key.uart1Baudrate, UInt64(baud))
    case .configuration(let power):
      UBloxCommand.addConfiguration(setup, &items)
      if let power { UBloxCommand.addPower(power, &items) }
    case .powerMode(let power): UBloxCommand.addPower(power, &items)
    case .liveOutput(let on): items.set(UBloxCommand.liveOutputKey(setup), on ? 1 : 0)
    case .satellites(let rate):
      items.set(M10Key.navSATOnUART1, UInt64(rate))
      items.set(M10Key.navDOPOnUART1, UInt64(rate))
    case .enableBatching(let watermark): UBloxCommand.addBatching(setup, watermark, &items)
    case .watermark(let entries): items.set(M10Key.batchWarnThrs, UInt64(entries))
    case .disableBatching: items.set(M10Key.batchEnable, 0)
    case .enableAidingAcknowledgements: items.set(M10Key.ackAiding, 1)
    case .none, .probe, .pollConfiguration, .wakeBytes, .retrieveBatch, .standby, .pollAiding,
      .aidingTime, .aidingEntry:
      break
    }
  }

  private static func addConfiguration(_ setup: ReceiverSetup, _ items: inout UBXConfiguration) {
    let isUBX = setup.output == .ubx
    items.set(M10Key.uart1InProtUBX, 1)
    items.set(M10Key.uart1OutProtUBX, 1)
    items.set(M10Key.uart1OutProtNMEA, isUBX ? 0 : 1)
    items.set(M10Key.navPVTOnUART1, isUBX ? 1 : 0)
    items.set(M10Key.rateMeas, UInt64(setup.interval_ms))
  }

  /// Cyclic tracking starts as early as possible, does not abort an acquisition (the planner decides that, PWR-7), and
  /// keeps the ephemeris up to date.
  private static func addPower(_ power: UBloxPowerMode, _ items: inout UBXConfiguration) {
    switch power {
    case .full: break
    case .cyclic:
      items.set(M10Key.pmOnTime, 0)
      items.set(M10Key.pmDoNotEnterOff, 1)
      items.set(M10Key.pmUpdateEph, 1)
    }
    items.set(M10Key.pmOperateMode, power.rawValue)
  }

  private static func addBatching(
    _ setup: ReceiverSetup, _ watermark: UInt16, _ items: inout UBXConfiguration
  ) {
    guard let batch = setup.batch else {
      preconditionFailure(
        "batching is not configured in the setup")
    }
    items.set(M10Key.batchMaxEntries, UInt64(batch.capacity))
    items.set(M10Key.batchWarnThrs, UInt64(watermark))
    items.set(M10Key.batchExtraPVT, batch.extraPVT ? 1 : 0)
    items.set(M10Key.batchExtraOdo, 0)
    items.set(M10Key.batchPIOEnable, batch.pioWired ? 1 : 0)
    if batch.pioWired {
      items.set(M10Key.batchPIOID, UInt64(batch.pioID))
      items.set(M10Key.batchPIOActiveLow, batch.pioActiveLow ? 1 : 0)
    }
    items.set(M10Key.batchEnable, 1)
  }

  /// Key that switches live output on UART1 on and off.
  private static func liveOutputKey(_ setup: ReceiverSetup) -> UInt32 {
    switch setup.output {
    case .ubx: M10Key.navPVTOnUART1
    case .nmea: M10Key.uart1OutProtNMEA
    }
  }
}

import GNSSProtocols
import LocationTypes

// What this driver says, and how it says it to an M10. Key numbers and their sources:
// Docs/Reference/receivers.md. How an M8 is told the same: UBloxM8Commands.swift.

/// Keys of CFG-VALSET that the driver writes.
enum M10Key {
  static let uart1Baudrate: UInt32 = 0x4052_0001
  static let uart1InProtUBX: UInt32 = 0x1073_0001
  static let uart1OutProtUBX: UInt32 = 0x1074_0001
  static let uart1OutProtNMEA: UInt32 = 0x1074_0002
  static let navPVTOnUART1: UInt32 = 0x2091_0007
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

/// How a receiver that is awake spends its power; the numbers are those of an M10's key.
enum UBloxPower: UInt64, Sendable {
  /// Full tracking.
  case full = 0
  /// Cyclic tracking, its own duty cycle.
  case cyclic = 2
}

/// What a u-blox receiver is told.
enum UBloxCommand: ReceiverCommand {
  /// Nothing to say.
  case none
  /// Any answer will do: poll MON-VER.
  case probe
  /// Bytes that wake a receiver without a wake pin.
  case wakeBytes
  /// Talk at this speed from now on.
  case lineSpeed(UInt32)
  /// Protocols, rate, live output on, and the power; nil where the receiver has no such key.
  case configuration(UBloxPower?)
  /// The power alone.
  case power(UBloxPower)
  /// Live output on or off.
  case liveOutput(Bool)
  /// Batching on, the pin at this many entries.
  case enableBatching(watermark: UInt16)
  /// The pin at this many entries.
  case watermark(UInt16)
  /// Send the buffer, MON-BATCH first.
  case retrieveBatch
  /// Batching off; what is in the buffer is lost.
  case disableBatching
  /// Go to software standby until woken.
  case standby
  /// Answer what is said in aiding.
  case acknowledgeAiding
  /// Send the navigation database, entry by entry, then how many there were.
  case pollAiding
  /// What time it is.
  case aidingTime(UTCTime)
  /// An entry of its navigation database, by its place in the owner's memory, who writes it.
  case aidingEntry(UInt8)
}

extension UBXIdentity: CommandAnswer {
  /// Class and number in one.
  var kind: UInt16 { UInt16(messageClass) << 8 | UInt16(messageID) }
}

extension UBloxCommand {
  /// An M10 is told everything by one message.
  func parts(for setup: ReceiverSetup) -> UInt8 {
    setup.family == .ubloxM8 ? UInt8(clamping: max(m8Messages(for: setup).count, 1)) : 1
  }

  /// What the answer to one of its messages names.
  func answer(part: UInt8, for setup: ReceiverSetup) -> UBXIdentity? {
    switch self {
    case .none, .probe, .wakeBytes, .retrieveBatch, .standby: nil
    case .pollAiding, .aidingEntry: .mgaDBD
    case .aidingTime: .mgaINI
    case .lineSpeed, .configuration, .power, .liveOutput, .enableBatching, .watermark,
      .disableBatching, .acknowledgeAiding:
      setup.family == .ubloxM8 ? m8Messages(for: setup)[part].identity : .cfgVALSET
    }
  }

  /// Whether one of its messages says how power is spent.
  func isAboutPower(part: UInt8, for setup: ReceiverSetup) -> Bool {
    let asked: UBloxPower? =
      switch self {
      case .configuration(let power): power
      case .power(let power): power
      case .none, .probe, .wakeBytes, .lineSpeed, .liveOutput, .enableBatching, .watermark,
        .retrieveBatch, .disableBatching, .standby, .acknowledgeAiding, .pollAiding, .aidingTime,
        .aidingEntry:
        nil
      }
    guard asked != nil else { return false }
    guard setup.family == .ubloxM8 else { return true }
    let identity = m8Messages(for: setup)[part].identity
    return identity == .cfgPM2 || identity == .cfgRXM
  }

  func frame(part: UInt8, for setup: ReceiverSetup) -> FrameBuffer {
    var buffer = FrameBuffer()
    switch self {
    case .none, .aidingEntry: break
    case .probe: buffer.appendPoll(.monVER)
    case .wakeBytes:
      // The first ones are lost to waking up; the others do no harm.
      for _ in 0..<8 { buffer.append(0xFF) }
    case .retrieveBatch: buffer.appendRetrieveBatch(sendsStatusFirst: true)
    case .standby: buffer.appendPowerRequest(UBloxCommand.standbyRequest(for: setup))
    case .pollAiding: buffer.appendPoll(.mgaDBD)
    case .aidingTime(let utc): buffer.appendAidingTime(utc)
    case .lineSpeed, .configuration, .power, .liveOutput, .enableBatching, .watermark,
      .disableBatching, .acknowledgeAiding:
      if setup.family == .ubloxM8 {
        m8Messages(for: setup)[part].append(to: &buffer, for: setup)
      } else {
        // Kept by the backup supply as well, so that a short loss of supply costs nothing; but that of
        // aiding is for receivers without one.
        let isPassing = self == .acknowledgeAiding
        var items = UBXConfiguration(
          layers: isPassing ? .ram : UBXLayers.ram.union(.batteryBacked))
        addItems(for: setup, to: &items)
        buffer.appendConfiguration(items)
      }
    }
    return buffer
  }

  /// An M10 is told what wakes it; the form that an M8 has had from the first names nothing, and a
  /// byte wakes it as well as an edge.
  private static func standbyRequest(for setup: ReceiverSetup) -> UBXPowerRequest {
    if setup.family == .ubloxM8 {
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
    case .power(let power): UBloxCommand.addPower(power, &items)
    case .liveOutput(let on): items.set(UBloxCommand.liveKey(setup), on ? 1 : 0)
    case .enableBatching(let watermark): UBloxCommand.addBatching(setup, watermark, &items)
    case .watermark(let entries): items.set(M10Key.batchWarnThrs, UInt64(entries))
    case .disableBatching: items.set(M10Key.batchEnable, 0)
    case .acknowledgeAiding: items.set(M10Key.ackAiding, 1)
    case .none, .probe, .wakeBytes, .retrieveBatch, .standby, .pollAiding, .aidingTime,
      .aidingEntry:
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

  /// The cycle begins as soon as it can, a search is not broken off, for that is decided elsewhere
  /// (PWR-7), and the ephemeris is kept up to date.
  private static func addPower(_ power: UBloxPower, _ items: inout UBXConfiguration) {
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
    guard let batch = setup.batch else { preconditionFailure("the receiver is not to batch") }
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

  /// What switches the live epochs on UART 1 on and off.
  private static func liveKey(_ setup: ReceiverSetup) -> UInt32 {
    switch setup.output {
    case .ubx: M10Key.navPVTOnUART1
    case .nmea: M10Key.uart1OutProtNMEA
    }
  }
}

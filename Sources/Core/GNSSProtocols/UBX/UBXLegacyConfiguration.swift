// Configuration messages of receivers without CFG-VALSET, u-blox 6 to 8: one message per subject, each
// of which the receiver acknowledges. Layouts: u-blox 8 / M8 receiver description, UBX-13003221,
// protocol 23.01.
//
// `init?(_:)` of each type decodes a payload, for the simulated receiver; the extension of
// ``FrameBuffer`` below appends complete frames, for the M8 driver. Pure: no I/O, no clock, no heap.

/// UBX-CFG-PRT of UART 1, 20 bytes: line speed, 8N1, input and output protocols.
@frozen public struct UBXPort: Equatable, Sendable {
  /// Line speed, baud.
  public var speed: UInt32
  /// Input protocols (inProtoMask): bit 0 UBX, bit 1 NMEA, bit 2 RTCM 2.
  public var inputProtocols: UInt16
  /// Output protocols (outProtoMask): bit 0 UBX, bit 1 NMEA.
  public var outputProtocols: UInt16

  /// Bit of UBX.
  public static let ubx: UInt16 = 1
  /// Bit of NMEA.
  public static let nmea: UInt16 = 2
  /// All input protocols of an M8.
  public static let all: UInt16 = 7

  /// Creates a port; by default it accepts all input protocols.
  @inlinable public init(
    speed: UInt32, inputProtocols: UInt16 = UBXPort.all, outputProtocols: UInt16
  ) {
    self.speed = speed
    self.inputProtocols = inputProtocols
    self.outputProtocols = outputProtocols
  }

  /// Character length 8, no parity, one stop bit.
  static let mode: UInt32 = 0x8D0

  init?(_ p: Span<UInt8>) {
    guard p.count == 20, p[0] == 1, p.u4(4) == UBXPort.mode else { return nil }
    self.init(speed: p.u4(8), inputProtocols: p.u2(12), outputProtocols: p.u2(14))
  }
}

/// UBX-CFG-PM2 of version 2, 48 bytes: settings of the power save mode that CFG-RXM enables.
@frozen public struct UBXPowerManagement: Equatable, Sendable {
  /// Update period, ms: from one fix to the next.
  public var period_ms: UInt32
  /// Search period, ms: time to the next acquisition after a failed one.
  public var searchPeriod_ms: UInt32
  /// On time, s: how long the receiver continues tracking after a fix.
  public var onTime_s: UInt16
  /// Flag updateEPH (bit 12): the receiver keeps its ephemeris up to date.
  public var updatesEphemeris: Bool
  /// Flag doNotEnterOff (bit 16): the receiver does not abort an acquisition.
  public var keepsSearching: Bool
  /// Mode (bits 17, 18): cyclic tracking, otherwise on/off operation.
  public var isCyclic: Bool

  /// Creates settings for cyclic tracking.
  @inlinable public init(
    period_ms: UInt32, searchPeriod_ms: UInt32 = 10_000, onTime_s: UInt16 = 0,
    updatesEphemeris: Bool = true, keepsSearching: Bool = true, isCyclic: Bool = true
  ) {
    self.period_ms = period_ms
    self.searchPeriod_ms = searchPeriod_ms
    self.onTime_s = onTime_s
    self.updatesEphemeris = updatesEphemeris
    self.keepsSearching = keepsSearching
    self.isCyclic = isCyclic
  }

  var flags: UInt32 {
    (updatesEphemeris ? 1 << 12 : 0) | (keepsSearching ? 1 << 16 : 0) | (isCyclic ? 1 << 17 : 0)
  }

  init?(_ p: Span<UInt8>) {
    guard p.count == 48, p[0] == 2 else { return nil }
    let flags = p.u4(4)
    self.init(
      period_ms: p.u4(8), searchPeriod_ms: p.u4(12), onTime_s: p.u2(20),
      updatesEphemeris: flags & (1 << 12) != 0, keepsSearching: flags & (1 << 16) != 0,
      isCyclic: flags >> 17 & 3 == 1)
  }
}

/// UBX-CFG-BATCH, 8 bytes: batching of protocol 23.01.
@frozen public struct UBXBatchConfiguration: Equatable, Sendable {
  /// Whether batching is enabled.
  public var isEnabled: Bool
  /// Whether entries contain the extra PVT fields.
  public var hasExtraPVT: Bool
  /// Whether entries contain the odometer.
  public var hasOdometer: Bool
  /// Capacity of the buffer, epochs.
  public var capacity: UInt16
  /// Watermark at which the pin becomes active, epochs.
  public var watermark: UInt16
  /// Pin number; nil if no pin is driven.
  public var pin: UInt8?
  /// Whether the pin is low while the watermark is reached.
  public var isActiveLow: Bool

  /// Creates settings; by default batching is disabled.
  @inlinable public init(
    isEnabled: Bool = false, hasExtraPVT: Bool = false, hasOdometer: Bool = false,
    capacity: UInt16 = 0, watermark: UInt16 = 0, pin: UInt8? = nil, isActiveLow: Bool = false
  ) {
    self.isEnabled = isEnabled
    self.hasExtraPVT = hasExtraPVT
    self.hasOdometer = hasOdometer
    self.capacity = capacity
    self.watermark = watermark
    self.pin = pin
    self.isActiveLow = isActiveLow
  }

  var flags: UInt8 {
    (isEnabled ? 1 : 0) | (hasExtraPVT ? 4 : 0) | (hasOdometer ? 8 : 0)
      | (pin != nil ? 0x20 : 0) | (isActiveLow ? 0x40 : 0)
  }

  init?(_ p: Span<UInt8>) {
    guard p.count == 8, p[0] == 0 else { return nil }
    self.init(
      isEnabled: p[1] & 1 != 0, hasExtraPVT: p[1] & 4 != 0, hasOdometer: p[1] & 8 != 0,
      capacity: p.u2(2), watermark: p.u2(4), pin: p[1] & 0x20 != 0 ? p[6] : nil,
      isActiveLow: p[1] & 0x40 != 0)
  }
}

extension FrameBuffer {
  /// Appends a CFG-PRT of UART 1, 28 bytes.
  public mutating func append(_ port: UBXPort) {
    let start = beginUBX(.cfgPRT)
    append(littleEndian: UInt32(1))
    append(littleEndian: UBXPort.mode)
    append(littleEndian: port.speed)
    append(littleEndian: port.inputProtocols)
    append(littleEndian: port.outputProtocols)
    append(littleEndian: UInt32(0))
    endUBX(start)
  }

  /// Appends a CFG-MSG, 16 bytes: the message is sent on UART 1 once per `rate` epochs (0 never), and
  /// on no other port.
  public mutating func appendMessageRate(_ identity: UBXIdentity, onUART1 rate: UInt8) {
    let start = beginUBX(.cfgMSG)
    append(identity.messageClass)
    append(identity.messageID)
    append(0)
    append(rate)
    append(littleEndian: UInt32(0))
    endUBX(start)
  }

  /// Appends a CFG-RATE, 14 bytes: one fix per `period_ms`, aligned to GPS time.
  public mutating func appendRate(period_ms: UInt16) {
    let start = beginUBX(.cfgRATE)
    append(littleEndian: period_ms)
    append(littleEndian: UInt16(1))
    append(littleEndian: UInt16(1))
    endUBX(start)
  }

  /// Appends a CFG-PM2, 56 bytes.
  public mutating func append(_ power: UBXPowerManagement) {
    let start = beginUBX(.cfgPM2)
    append(littleEndian: UInt32(2))
    append(littleEndian: power.flags)
    append(littleEndian: power.period_ms)
    append(littleEndian: power.searchPeriod_ms)
    append(littleEndian: UInt32(0))
    append(littleEndian: power.onTime_s)
    for _ in 0..<13 { append(littleEndian: UInt16(0)) }
    endUBX(start)
  }

  /// Appends a CFG-RXM, 10 bytes: enables or disables the power save mode of CFG-PM2.
  public mutating func appendReceiverPower(saves: Bool) {
    let start = beginUBX(.cfgRXM)
    append(8)
    append(saves ? 1 : 0)
    endUBX(start)
  }

  /// Appends a CFG-CFG, 21 bytes: saves the current configuration in battery-backed RAM.
  public mutating func appendSave() {
    let start = beginUBX(.cfgCFG)
    append(littleEndian: UInt32(0))
    append(littleEndian: UInt32(0xFFFF))
    append(littleEndian: UInt32(0))
    append(1)
    endUBX(start)
  }

  /// Appends a CFG-BATCH, 16 bytes.
  public mutating func append(_ batch: UBXBatchConfiguration) {
    let start = beginUBX(.cfgBATCH)
    append(0)
    append(batch.flags)
    append(littleEndian: batch.capacity)
    append(littleEndian: batch.watermark)
    append(batch.pin ?? 0)
    append(0)
    endUBX(start)
  }
}

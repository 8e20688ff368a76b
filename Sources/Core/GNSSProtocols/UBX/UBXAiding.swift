import LocationTypes

// Aiding with the receiver's own navigation database: the receiver sends it entry by entry, and accepts
// the entries again after it lost its memory. Layouts: u-blox 8 / M8 receiver description,
// UBX-13003221, sections UBX-MGA-DBD, UBX-MGA-INI-TIME_UTC, UBX-MGA-ACK-DATA0 and UBX-CFG-NAVX5; M10
// SPG 5.10 interface description, UBX-21035062, the same sections and CFG-NAVSPG-ACKAIDING.

/// UBX-MGA-DBD: an entry of the receiver's navigation database, in a format that only the receiver that
/// sent it can read.
///
/// Contains only its length; `GNSSDecoder.frame(of:)` returns the bytes until the next message is
/// decoded. Storing them here would enlarge every ``GNSSMessage``.
@frozen public struct UBXAidingEntry: Equatable, Sendable {
  /// Length of the longest whole frame, bytes: 12 reserved bytes and the data are at most 164.
  public static let longestFrame = 172

  /// Length of the whole frame from its first sync byte to its checksum, bytes, 20 to ``longestFrame``.
  public var frameLength: UInt8

  /// Reads a payload; nil if its length is invalid.
  init?(_ p: Span<UInt8>) {
    guard p.count >= 12, p.count <= UBXAidingEntry.longestFrame - 8 else { return nil }
    frameLength = UInt8(p.count + 8)
  }
}

/// UBX-MGA-ACK-DATA0: acknowledgement of an aiding message, sent if enabled.
@frozen public struct UBXAidingAnswer: Equatable, Sendable {
  /// Whether the receiver used the message.
  public var isAccepted: Bool
  /// Reason if not: 1 time unknown to the receiver, 2 version, 3 size, 4 it could not be stored, 5 not
  /// ready, 6 type; M10 receivers send 255 if they have no entry to send.
  public var reason: UInt8
  /// Identifier of the message within class MGA.
  public var messageID: UInt8
  /// First four bytes of the message's payload; after a poll of UBX-MGA-DBD the number of entries sent.
  public var payloadStart: UInt32

  /// Creates an answer.
  @inlinable public init(
    to message: UBXIdentity, isAccepted: Bool = true, reason: UInt8 = 0, payloadStart: UInt32
  ) {
    self.isAccepted = isAccepted
    self.reason = reason
    messageID = message.messageID
    self.payloadStart = payloadStart
  }

  /// Identity of the acknowledged message.
  @inlinable public var subject: UBXIdentity { UBXIdentity(0x13, messageID) }

  /// Reads a payload; nil if version or type is unsupported.
  init?(_ p: Span<UInt8>) {
    guard p.count == 8, p[0] <= 1, p[1] == 0 else { return nil }
    isAccepted = p[0] == 1
    reason = p[2]
    messageID = p[3]
    payloadStart = p.u4(4)
  }
}

extension UBXIdentity {
  /// UBX-CFG-NAVX5.
  public static let cfgNAVX5 = UBXIdentity(0x06, 0x23)
  /// UBX-MGA-INI.
  public static let mgaINI = UBXIdentity(0x13, 0x40)
  /// UBX-MGA-ACK.
  public static let mgaACK = UBXIdentity(0x13, 0x60)
  /// UBX-MGA-DBD.
  public static let mgaDBD = UBXIdentity(0x13, 0x80)
}

/// UBX-MGA-INI-TIME_UTC, 24 bytes: the current time as aiding.
enum UBXAidingTime {
  /// Type of this MGA-INI message.
  static let type: UInt8 = 0x10
  /// Accuracy sent with the time, s.
  fileprivate static let accuracy_s: UInt16 = 2
  /// Value of unknown leap seconds, −128.
  fileprivate static let unknownLeapSeconds: UInt8 = 0x80

  /// Time in a payload; nil if it is another message, or the time is invalid.
  static func time(_ p: Span<UInt8>) -> UTCTime? {
    guard p.count == 24, p[0] == type, p[1] == 0, let civil = UBXCivilTime(p, 4) else { return nil }
    let nanoseconds = p.u4(12)
    guard nanoseconds < 1_000_000_000 else { return nil }
    let whole = Int32(nanoseconds / 1_000 * 1_000)
    return UTCTime(microseconds: civil.microseconds(nanoseconds: whole))
  }
}

extension FrameBuffer {
  /// Appends an MGA-INI-TIME_UTC, 32 bytes, accurate to two seconds, with unknown leap seconds.
  public mutating func appendAidingTime(_ utc: UTCTime) {
    let start = beginUBX(.mgaINI)
    let payload = appendZeroes(24)
    self[payload] = UBXAidingTime.type
    self[payload + 3] = UBXAidingTime.unknownLeapSeconds
    put(UBXCivilTime(utc), at: payload + 4)
    put(UInt32(utc.microsecondsOfDay % 1_000_000 * 1_000), at: payload + 12)
    put(UBXAidingTime.accuracy_s, at: payload + 16)
    endUBX(start)
  }

  /// Appends a CFG-NAVX5 of version 0, 48 bytes, that enables or disables UBX-MGA-ACK and changes
  /// nothing else.
  public mutating func appendAidingAcknowledgement(_ isOn: Bool) {
    let start = beginUBX(.cfgNAVX5)
    let payload = appendZeroes(40)
    // mask1, bit 10: apply ackAiding.
    put(UInt16(1 << 10), at: payload + 2)
    self[payload + 17] = isOn ? 1 : 0
    endUBX(start)
  }

  /// Appends an MGA-ACK-DATA0, 16 bytes.
  public mutating func append(_ answer: UBXAidingAnswer) {
    let start = beginUBX(.mgaACK)
    append(answer.isAccepted ? 1 : 0)
    append(0)
    append(answer.reason)
    append(answer.messageID)
    append(littleEndian: answer.payloadStart)
    endUBX(start)
  }
}

import LocationTypes

/// A message from a board to a store: fixes, a gap or an event (`Docs/Reference/uplink-payload.md`).
///
/// The store identifies a fix by device, ring, generation and sequence number. ``preceding`` lets it detect that a
/// message is missing.
public struct UplinkMessage: Equatable, Sendable {
  /// Name of the sending board.
  public var device: DeviceName
  /// Random number of the ring that stores the fixes.
  public var ring: UInt64
  /// Name of the fix that was sent before this message; nil if there is none.
  public var preceding: FixName?
  /// What the message reports.
  public var content: UplinkContent

  /// Creates a message.
  public init(device: DeviceName, ring: UInt64, preceding: FixName?, content: UplinkContent) {
    self.device = device
    self.ring = ring
    self.preceding = preceding
    self.content = content
  }
}

/// What a message reports.
public enum UplinkContent: Equatable, Sendable {
  /// Fixes of one generation, with increasing sequence numbers.
  case fixes([StoredFix])
  /// Missing fixes, with the generation of the fix that follows them; 0 if there is none yet.
  case gap(Gap, generation: UInt32)
  /// A visit or an event of a region: its number, and the socket's notice as JSON in UTF-8.
  case event(number: UInt64, json: [UInt8])
}

/// Limits of a message.
public enum UplinkLimits {
  /// Fixes of a message.
  public static let fixes = 4_096
  /// Bytes of an event's JSON.
  public static let event = 16_384
  /// Bytes of a message; more than ``fixes`` need in the worst case.
  public static let message = 1 << 20
}

/// Name of a board in topics and messages: 1 to 64 letters of ASCII, digits, `_` and `-`.
public struct DeviceName: Hashable, Sendable, CustomStringConvertible {
  /// Longest name, bytes.
  public static let limit = 64

  /// The characters of the name.
  let bytes: [UInt8]

  /// Creates a name; nil if it is empty, too long or has other characters.
  public init?(_ name: String) { self.init(bytes: Array(name.utf8)) }

  init?(bytes: [UInt8]) {
    guard (1...DeviceName.limit).contains(bytes.count), bytes.allSatisfy(DeviceName.isAllowed)
    else { return nil }
    self.bytes = bytes
  }

  /// The name as text.
  public var description: String { String(decoding: bytes, as: UTF8.self) }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_-".utf8.contains(byte)
    }
  }
}

/// Why a message cannot be encoded.
public enum UplinkEncodingError: Error, Equatable, CustomStringConvertible {
  /// There is no fix.
  case isEmpty
  /// There are more fixes, or more bytes of an event, than a message may contain.
  case isTooLong(limit: Int)
  /// The fix at this position has another generation than the first one.
  case hasOtherGeneration(at: Int)
  /// The sequence number at this position does not increase, or is above the limit.
  case hasWrongSequence(at: Int)

  /// What to do about it.
  public var description: String {
    switch self {
    case .isEmpty: "a message needs at least one fix"
    case .isTooLong(let limit): "a message holds at most \(limit): send several messages"
    case .hasOtherGeneration(let index):
      "fix \(index) has another generation: begin another message with it"
    case .hasWrongSequence(let index):
      "the sequence number of fix \(index) does not increase, or is 2⁴⁰ or more: sort the fixes"
    }
  }
}

/// Why bytes are not a message.
public enum UplinkDecodingError: Error, Equatable, Sendable {
  /// Shorter or longer than the header says, or than a message can be.
  case wrongLength
  /// The bytes do not start with those of a message.
  case noMessage
  /// Another version of the format.
  case otherVersion(UInt8)
  /// The checksum differs.
  case wrongChecksum
  /// A value of the header or the body is not allowed.
  case invalid
}

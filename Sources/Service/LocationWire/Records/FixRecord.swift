import LocationTypes
import TextFormats

/// The header before the records on an upgraded connection (Docs/Reference/socket.md).
///
/// 32 bytes, little-endian: `TORPFIXS`, u16 version, u16 bytes of the header, u32 bytes of a record,
/// u64 number of records, u64 0.
public struct FixRecordHeader: Equatable, Sendable {
  /// Length of the header, bytes.
  public static let size = 32
  /// Supported version of the format.
  public static let version: UInt16 = 1
  /// `TORPFIXS`, as a little-endian number.
  static let magic: UInt64 = 0x5358_4946_5052_4F54

  /// Number of records that follow. If the stream ends earlier, the missing fixes remain undelivered.
  public var count: UInt64

  /// Creates a header.
  public init(count: UInt64) { self.count = count }

  /// Appends the bytes of the header.
  public func append(to output: inout JSONOutput) {
    let sizes =
      UInt64(FixRecordHeader.version) | UInt64(FixRecordHeader.size) << 16
      | UInt64(FixRecord.size) << 32
    let words: InlineArray<4, UInt64> = [
      FixRecordHeader.magic.littleEndian, sizes.littleEndian, count.littleEndian, 0,
    ]
    // An array of words has no padding.
    unsafe output.text.add(bytes: words.span.bytes)
  }

  /// Decodes the first ``size`` bytes; nil if they are not a header of this version.
  public init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= FixRecordHeader.size,
      FixRecord.word(bytes, 0) == FixRecordHeader.magic
    else { return nil }
    let sizes = FixRecord.word(bytes, 8)
    guard UInt16(truncatingIfNeeded: sizes) == FixRecordHeader.version,
      sizes >> 16 & 0xFFFF == UInt64(FixRecordHeader.size), sizes >> 32 == UInt64(FixRecord.size)
    else { return nil }
    count = FixRecord.word(bytes, 16)
  }
}

/// A fix as 80 little-endian bytes with naturally aligned fields, readable as a C struct or NumPy type.
///
/// The minimum value of a signed field means unknown.
public enum FixRecord {
  /// Length of a record, bytes.
  public static let size = 80

  /// Appends the record of a fix.
  public static func append(_ stored: StoredFix, to output: inout JSONOutput) {
    let words = words(of: stored)
    // An array of words has no padding.
    unsafe output.text.add(bytes: words.span.bytes)
  }

  /// The record as ten little-endian words.
  static func words(of stored: StoredFix) -> InlineArray<10, UInt64> {
    let fix = stored.fix
    return [
      stored.name.sequence.littleEndian,
      pair(Int32(bitPattern: stored.name.generation), Int32(bitPattern: packedBytes(fix))),
      UInt64(bitPattern: fix.acquired.microseconds).littleEndian,
      UInt64(bitPattern: fix.utc?.microseconds ?? .min).littleEndian,
      UInt64(bitPattern: fix.coordinate.latitude_e9).littleEndian,
      UInt64(bitPattern: fix.coordinate.longitude_e9).littleEndian,
      pair(fix.altitude_mm ?? .min, fix.ellipsoidalAltitude_mm ?? .min),
      pair(fix.speed_mmps ?? .min, fix.course_e4 ?? .min),
      pair(fix.horizontalAccuracy_mm ?? .min, fix.verticalAccuracy_mm ?? .min),
      pair(fix.speedAccuracy_mmps ?? .min, fix.courseAccuracy_e2 ?? .min),
    ]
  }

  /// Mode, quality, flags and satellites, one byte each.
  static func packedBytes(_ fix: Fix) -> UInt32 {
    let flags: UInt32 =
      (fix.isDateUncertain ? 1 : 0) | (fix.isSimulated ? 2 : 0) | (fix.isFromAccessory ? 4 : 0)
    return UInt32(fix.mode.rawValue) | UInt32(fix.quality.rawValue) << 8 | flags << 16
      | (fix.satellites.map { UInt32($0) } ?? 0xFF) << 24
  }

  /// Two 32-bit numbers in one little-endian word, the first in the lower half.
  static func pair(_ first: Int32, _ second: Int32) -> UInt64 {
    (UInt64(UInt32(bitPattern: first)) | UInt64(UInt32(bitPattern: second)) << 32).littleEndian
  }

  /// Decodes the fix in the first ``size`` bytes; nil if they are not a valid record.
  public static func decode(_ bytes: Span<UInt8>) -> StoredFix? {
    guard bytes.count >= size else { return nil }
    let coordinate = Coordinate(
      latitude_e9: Int64(bitPattern: word(bytes, 32)),
      longitude_e9: Int64(bitPattern: word(bytes, 40)))
    let packed = word(bytes, 8)
    guard coordinate.isValid, let mode = FixMode(rawValue: UInt8(truncatingIfNeeded: packed >> 32)),
      let quality = FixQuality(rawValue: UInt8(truncatingIfNeeded: packed >> 40))
    else { return nil }
    var fix = Fix(
      acquired: Instant(microseconds: Int64(bitPattern: word(bytes, 16))), coordinate: coordinate,
      mode: mode)
    let utc = Int64(bitPattern: word(bytes, 24))
    fix.utc = utc == .min ? nil : UTCTime(microseconds: utc)
    fix.quality = quality
    fix.isDateUncertain = packed >> 48 & 1 != 0
    fix.isSimulated = packed >> 48 & 2 != 0
    fix.isFromAccessory = packed >> 48 & 4 != 0
    let satellites = UInt8(truncatingIfNeeded: packed >> 56)
    fix.satellites = satellites == 0xFF ? nil : Int16(satellites)
    (fix.altitude_mm, fix.ellipsoidalAltitude_mm) = optionalPair(word(bytes, 48))
    (fix.speed_mmps, fix.course_e4) = optionalPair(word(bytes, 56))
    (fix.horizontalAccuracy_mm, fix.verticalAccuracy_mm) = optionalPair(word(bytes, 64))
    (fix.speedAccuracy_mmps, fix.courseAccuracy_e2) = optionalPair(word(bytes, 72))
    return StoredFix(
      name: FixName(
        generation: UInt32(truncatingIfNeeded: packed), sequence: word(bytes, 0)),
      fix: fix)
  }

  private static func optionalPair(_ word: UInt64) -> (Int32?, Int32?) {
    (
      optionalValue(UInt32(truncatingIfNeeded: word)),
      optionalValue(UInt32(truncatingIfNeeded: word >> 32))
    )
  }

  private static func optionalValue(_ bits: UInt32) -> Int32? {
    let value = Int32(bitPattern: bits)
    return value == .min ? nil : value
  }

  static func word(_ bytes: Span<UInt8>, _ offset: Int) -> UInt64 {
    var word: UInt64 = 0
    for i in 0..<8 { word |= UInt64(bytes[offset + i]) << (8 * UInt64(i)) }
    return word
  }
}

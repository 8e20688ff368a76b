import LocationTypes

/// One stored fix: 64 bytes as eight little-endian 64-bit words (`Docs/Reference/ring-format.md`).
///
/// Encodes a ``Fix`` and its ``FixName`` into a slot of ``FixRing`` and back.
struct Slot {
  /// Slot format version that this code reads and writes.
  static let version: UInt8 = 1

  var w0: UInt64
  var w1: UInt64
  var w2: UInt64
  var w3: UInt64
  var w4: UInt64
  var w5: UInt64
  var w6: UInt64
  var w7: UInt64

  /// CRC-32C computed over the first 60 bytes.
  @inline(__always)
  var computedChecksum: UInt32 {
    var sum = SlotChecksum()
    sum.add(w0)
    sum.add(w1)
    sum.add(w2)
    sum.add(w3)
    sum.add(w4)
    sum.add(w5)
    sum.add(w6)
    sum.add(UInt32(truncatingIfNeeded: w7))
    return sum.value
  }

  /// CRC-32C stored in the last 4 bytes.
  var storedChecksum: UInt32 { UInt32(truncatingIfNeeded: w7 >> 32) }
  /// Format version of this slot; 0 in a blank slot.
  var version: UInt8 { UInt8(truncatingIfNeeded: w0) }
  /// Whether the stored checksum matches the data. Does not check the format version.
  var isIntact: Bool { computedChecksum == storedChecksum }

  /// Name of the stored fix.
  var name: FixName {
    FixName(generation: UInt32(truncatingIfNeeded: w1), sequence: w0 >> 24)
  }
}

// MARK: - Writing

extension Slot {
  /// Encodes a fix. Clamps `acquired` to within ±(2⁵⁵ − 1) µs and stores UTC outside that range as unknown.
  ///
  /// - Precondition: The name's sequence number is below 2⁴⁰.
  @inline(__always)
  init(_ fix: Fix, named name: FixName) {
    let boot = min(max(fix.acquired.microseconds, -Slot.limit56), Slot.limit56)
    precondition(name.sequence < FixName.sequenceLimit, "sequence numbers have 40 bits")
    var utc = fix.utc?.microseconds ?? Slot.unknown56
    if !Slot.fits56(utc) { utc = Slot.unknown56 }
    let satellites = fix.satellites.map { UInt64($0) } ?? 0xFF
    let flags = Slot.flags(fix)
    w0 = UInt64(Slot.version) | flags << 8 | satellites << 16 | name.sequence << 24
    w1 = UInt64(name.generation) | Slot.low32(fix.ellipsoidalAltitude_mm ?? .min) << 32
    w2 = Slot.low56(utc) | Slot.low56(boot) << 56
    w3 = Slot.low56(boot) >> 8 | Slot.low32(fix.speedAccuracy_mmps ?? 0xFFFF) << 48
    w4 = Slot.low40(fix.coordinate.latitude_e9) | Slot.low32(fix.speed_mmps ?? 0xFF_FFFF) << 40
    w5 = Slot.low40(fix.coordinate.longitude_e9) | Slot.low32(fix.course_e4 ?? 0xFF_FFFF) << 40
    w6 =
      Slot.low32(fix.horizontalAccuracy_mm ?? 0xFF_FFFF)
      | Slot.low32(fix.verticalAccuracy_mm ?? 0xFF_FFFF) << 24
      | Slot.low32(fix.courseAccuracy_e2 ?? 0xFFFF) << 48
    w7 = Slot.low32(fix.altitude_mm ?? .min)
    w7 |= UInt64(computedChecksum) << 32
  }

  /// Stored value for an unknown UTC: −2⁵⁵.
  private static let unknown56: Int64 = -0x80_0000_0000_0000
  /// Largest magnitude of a stored 56-bit number: 2⁵⁵ − 1.
  private static let limit56: Int64 = 0x7F_FFFF_FFFF_FFFF

  /// Whether 56 bits can store `value` so that it differs from ``unknown56``.
  private static func fits56(_ value: Int64) -> Bool {
    value >= -limit56 && value <= limit56
  }

  private static func low56(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: value) & 0xFF_FFFF_FFFF_FFFF
  }

  private static func low40(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: value) & 0xFF_FFFF_FFFF
  }

  private static func low32(_ value: Int32) -> UInt64 { UInt64(UInt32(bitPattern: value)) }

  private static func flags(_ fix: Fix) -> UInt64 {
    let quality = UInt64(fix.quality.rawValue)
    // Bit 3 of the quality was added later and uses the first bit that was free then.
    return UInt64(fix.mode == .threeDimensional ? 1 : 0) | (quality & 7) << 1 | (quality & 8) << 3
      | UInt64(fix.isDateUncertain ? 1 << 4 : 0) | UInt64(fix.isSimulated ? 1 << 5 : 0)
      | UInt64(fix.isFromAccessory ? 1 << 7 : 0)
  }
}

// MARK: - Reading

extension Slot {
  /// The stored fix; nil if the checksum, the format version or a field is invalid.
  var fix: Fix? { isIntact ? decoded : nil }

  /// The stored fix without a check of the checksum; nil if the format version or a field is invalid.
  var decoded: Fix? {
    guard version == Slot.version else { return nil }
    let flags = UInt8(truncatingIfNeeded: w0 >> 8)
    let coordinate = Coordinate(
      latitude_e9: Slot.signed(w4, bits: 40), longitude_e9: Slot.signed(w5, bits: 40))
    guard coordinate.isValid,
      let quality = FixQuality(rawValue: (flags >> 1 & 7) | (flags >> 3 & 8))
    else { return nil }
    var fix = Fix(
      acquired: Instant(microseconds: Slot.signed(w2 >> 56 | w3 << 8, bits: 56)),
      coordinate: coordinate, mode: flags & 1 == 0 ? .twoDimensional : .threeDimensional)
    fix.quality = quality
    fix.isDateUncertain = flags & 1 << 4 != 0
    fix.isSimulated = flags & 1 << 5 != 0
    fix.isFromAccessory = flags & 1 << 7 != 0
    readTimeAndAltitude(into: &fix)
    readMotion(into: &fix)
    return fix
  }

  private func readTimeAndAltitude(into fix: inout Fix) {
    let utc = Slot.signed(w2, bits: 56)
    fix.utc = utc == Slot.unknown56 ? nil : UTCTime(microseconds: utc)
    // `Fix` uses the smallest value for "unknown" as well.
    fix.ellipsoidalAltitude_mm = Int32(truncatingIfNeeded: w1 >> 32)
    fix.altitude_mm = Int32(truncatingIfNeeded: w7)
    let satellites = Int16(w0 >> 16 & 0xFF)
    fix.satellites = satellites == 0xFF ? nil : satellites
  }

  private func readMotion(into fix: inout Fix) {
    fix.speed_mmps = Slot.known(w4 >> 40, bits: 24)
    fix.course_e4 = Slot.known(w5 >> 40, bits: 24)
    fix.speedAccuracy_mmps = Slot.known(w3 >> 48, bits: 16)
    fix.horizontalAccuracy_mm = Slot.known(w6, bits: 24)
    fix.verticalAccuracy_mm = Slot.known(w6 >> 24, bits: 24)
    fix.courseAccuracy_e2 = Slot.known(w6 >> 48, bits: 16)
  }

  /// The low `bits` of `word` as a two's complement integer.
  private static func signed(_ word: UInt64, bits: UInt64) -> Int64 {
    Int64(bitPattern: word << (64 - bits)) >> Int64(64 - bits)
  }

  /// The low `bits` of `word`; nil (unknown) if all of these bits are set.
  private static func known(_ word: UInt64, bits: UInt64) -> Int32? {
    let mask: UInt64 = (1 << bits) - 1
    return word & mask == mask ? nil : Int32(word & mask)
  }
}

import LocationTypes

/// The fields of fixes as columns of numbers, in the order of the message.
enum FixColumns {
  /// Number of columns.
  static let count = 15

  // MARK: Encoding

  /// The columns of fixes whose first one has the sequence number `first`.
  static func columns(of fixes: [StoredFix], first: UInt64) -> [[Int64?]] {
    (0..<count).map { column in fixes.map { value(of: $0, in: column, first: first) } }
  }

  private static func value(of stored: StoredFix, in column: Int, first: UInt64) -> Int64? {
    let fix = stored.fix
    return switch column {
    case 0: Int64(bitPattern: stored.name.sequence &- first)
    case 1: fix.utc?.microseconds
    case 2: fix.acquired.microseconds &- (fix.utc?.microseconds ?? 0)
    case 3: fix.coordinate.latitude_e9
    case 4: fix.coordinate.longitude_e9
    case 5: fix.altitude_mm.map { Int64($0) }
    case 6: fix.ellipsoidalAltitude_mm.map { Int64($0) - Int64(fix.altitude_mm ?? 0) }
    case 7: fix.speed_mmps.map { Int64($0) }
    case 8: fix.course_e4.map { Int64($0) }
    case 9: fix.horizontalAccuracy_mm.map { Int64($0) }
    case 10: fix.verticalAccuracy_mm.map { Int64($0) }
    case 11: fix.speedAccuracy_mmps.map { Int64($0) }
    case 12: fix.courseAccuracy_e2.map { Int64($0) }
    case 13: fix.satellites.map { Int64($0) }
    case _: flags(of: fix)
    }
  }

  /// Bit 0: three dimensions; bits 1–4: quality; bit 5: date uncertain; bit 6: simulated; bit 7: from an accessory.
  private static func flags(of fix: Fix) -> Int64 {
    Int64(fix.mode == .threeDimensional ? 1 : 0) | Int64(fix.quality.rawValue) << 1
      | (fix.isDateUncertain ? 1 << 5 : 0) | (fix.isSimulated ? 1 << 6 : 0)
      | (fix.isFromAccessory ? 1 << 7 : 0)
  }

  // MARK: Decoding

  /// The fix in a row of columns; nil if a value is out of range.
  static func fix(in columns: [[Int64?]], row: Int, generation: UInt32, first: UInt64)
    -> StoredFix?
  {
    guard let offset = columns[0][row], offset >= 0, offset < Int64(FixName.sequenceLimit),
      UInt64(offset) < FixName.sequenceLimit - first,
      var fix = base(in: columns, row: row)
    else { return nil }
    let altitude = columns[5][row]
    let ellipsoidal = columns[6][row].map { $0 &+ (altitude ?? 0) }
    guard isIn(altitude, -altitudeLimit...altitudeLimit),
      isIn(ellipsoidal, -altitudeLimit...altitudeLimit),
      isIn(columns[7][row], 0...Int64(Fix.speedLimit_mmps)),
      isIn(columns[8][row], 0...3_599_999),
      isIn(columns[9][row], 0...Int64(Fix.accuracyLimit_mm)),
      isIn(columns[10][row], 0...Int64(Fix.accuracyLimit_mm)),
      isIn(columns[11][row], 0...Int64(Fix.speedAccuracyLimit_mmps)),
      isIn(columns[12][row], 0...Int64(Fix.courseAccuracyLimit_e2)),
      isIn(columns[13][row], 0...254)
    else { return nil }
    fix.altitude_mm = altitude.map { Int32($0) }
    fix.ellipsoidalAltitude_mm = ellipsoidal.map { Int32($0) }
    fix.speed_mmps = columns[7][row].map { Int32($0) }
    fix.course_e4 = columns[8][row].map { Int32($0) }
    fix.horizontalAccuracy_mm = columns[9][row].map { Int32($0) }
    fix.verticalAccuracy_mm = columns[10][row].map { Int32($0) }
    fix.speedAccuracy_mmps = columns[11][row].map { Int32($0) }
    fix.courseAccuracy_e2 = columns[12][row].map { Int32($0) }
    fix.satellites = columns[13][row].map { Int16($0) }
    return StoredFix(
      name: FixName(generation: generation, sequence: first + UInt64(offset)), fix: fix)
  }

  /// The fix with times, coordinate and flags; nil if one is out of range.
  private static func base(in columns: [[Int64?]], row: Int) -> Fix? {
    guard let offset = columns[2][row], let latitude = columns[3][row],
      let longitude = columns[4][row], let flags = columns[14][row], (0...0xFF).contains(flags),
      let quality = FixQuality(rawValue: UInt8(flags >> 1 & 0xF))
    else { return nil }
    let coordinate = Coordinate(latitude_e9: latitude, longitude_e9: longitude)
    let utc = columns[1][row]
    guard coordinate.isValid, utc != .min else { return nil }
    var fix = Fix(
      acquired: Instant(microseconds: offset &+ (utc ?? 0)), coordinate: coordinate,
      mode: flags & 1 == 0 ? .twoDimensional : .threeDimensional)
    fix.utc = utc.map { UTCTime(microseconds: $0) }
    fix.quality = quality
    fix.isDateUncertain = flags >> 5 & 1 != 0
    fix.isSimulated = flags >> 6 & 1 != 0
    fix.isFromAccessory = flags >> 7 & 1 != 0
    return fix
  }

  /// Largest magnitude of an altitude; its negative minus 1 stands for "unknown" in `Fix`.
  private static let altitudeLimit = Int64(Int32.max)

  private static func isIn(_ value: Int64?, _ range: ClosedRange<Int64>) -> Bool {
    value.map { range.contains($0) } ?? true
  }
}

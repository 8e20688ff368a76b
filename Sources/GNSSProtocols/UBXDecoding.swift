import LocationTypes

/// From UBX payloads to messages. Layouts: u-blox 8/M8 receiver description R28 and M10 SPG 5.10
/// interface description.
enum UBXDecoding {
  static func message(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters
  ) -> GNSSMessage {
    let message: GNSSMessage? =
      switch identity {
      case .navPVT: solution(payload).map { .navPVT($0) }
      case .ackACK: subject(payload).map { .acknowledged($0) }
      case .ackNAK: subject(payload).map { .refused($0) }
      case .monVER: version(payload).map { .receiverVersion($0) }
      case .monBATCH: batchStatus(payload).map { .batchStatus($0) }
      case .logBATCH: batchEntry(payload).map { .batchEntry($0) }
      case _: .other
      }
    guard let message else {
      counters.malformed.count()
      return .other
    }
    if message == .other { counters.unknown.count() }
    return message
  }

  private static func subject(_ p: Span<UInt8>) -> UBXIdentity? {
    p.count == 2 ? UBXIdentity(p[0], p[1]) : nil
  }

  /// NAV-PVT of 92 bytes, or 84 as protocol 14 and u-blox 7 have it, where what later became flags3
  /// is reserved.
  private static func solution(_ p: Span<UInt8>) -> UBXSolution? {
    guard p.count == 92 || p.count == 84 else { return nil }
    let flags = p[21]
    let isPlaceInvalid = p.count == 92 && p[78] & 1 != 0
    var s = UBXSolution(
      utc: utc(p, date: 4, valid: p[11], nanoseconds: p.i4(16)), fixType: p[20],
      isFixOK: flags & 1 != 0 && !isPlaceInvalid,
      longitude_e7: p.i4(24), latitude_e7: p.i4(28), height_mm: p.i4(32),
      horizontalAccuracy_mm: p.u4(40))
    s.timeOfWeek_ms = p.u4(0)
    s.isTimeResolved = s.utc != nil && p[11] & 4 != 0
    s.timeAccuracy_ns = p.u4(12)
    s.isDifferential = flags & 2 != 0
    s.carrierSolution = flags >> 6
    s.satellites = p[23]
    s.heightMSL_mm = p.i4(36)
    s.verticalAccuracy_mm = p.u4(44)
    s.velocityNorth_mmps = p.i4(48)
    s.velocityEast_mmps = p.i4(52)
    s.velocityDown_mmps = p.i4(56)
    s.groundSpeed_mmps = p.i4(60)
    s.headingOfMotion_e5 = p.i4(64)
    s.speedAccuracy_mmps = p.u4(68)
    s.headingAccuracy_e5 = p.u4(72)
    s.positionDOP_e2 = p.u2(76)
    return s
  }

  /// LOG-BATCH; without extra PVT, half of its fields mean nothing.
  private static func batchEntry(_ p: Span<UInt8>) -> UBXBatchEntry? {
    guard p.count == 100, p[0] == 0 else { return nil }
    let flags = p[25]
    var s = UBXSolution(
      utc: utc(p, date: 8, valid: p[15], nanoseconds: p.i4(20)), fixType: p[24],
      isFixOK: flags & 1 != 0, longitude_e7: p.i4(28), latitude_e7: p.i4(32),
      height_mm: p.i4(36), horizontalAccuracy_mm: p.u4(44))
    s.isTimeResolved = s.utc != nil && p[15] & 4 != 0
    s.isDifferential = flags & 2 != 0
    // Bits 2 to 4 are the power-save state; of a carrier solution LOG-BATCH knows nothing.
    s.carrierSolution = 0
    s.groundSpeed_mmps = p.i4(64)
    s.headingOfMotion_e5 = p.i4(68)
    let hasExtraPVT = p[1] & 1 != 0
    if hasExtraPVT {
      s.timeOfWeek_ms = p.u4(4)
      s.timeAccuracy_ns = p.u4(16)
      s.satellites = p[27]
      s.heightMSL_mm = p.i4(40)
      s.verticalAccuracy_mm = p.u4(48)
      s.velocityNorth_mmps = p.i4(52)
      s.velocityEast_mmps = p.i4(56)
      s.velocityDown_mmps = p.i4(60)
      s.speedAccuracy_mmps = p.u4(72)
      s.headingAccuracy_e5 = p.u4(76)
      s.positionDOP_e2 = p.u2(80)
    }
    return UBXBatchEntry(messageCount: p.u2(2), hasExtraPVT: hasExtraPVT, solution: s)
  }

  private static func batchStatus(_ p: Span<UInt8>) -> UBXBatchStatus? {
    guard p.count == 12, p[0] == 0 else { return nil }
    return UBXBatchStatus(
      fillLevel: p.u2(4), dropsAll: p.u2(6), dropsSinceLast: p.u2(8), nextMessageCount: p.u2(10))
  }

  /// Year, month, day, hour, minute, second from `date` on; nil unless both are flagged valid.
  ///
  /// Nanoseconds lie in ±1e9 and may be negative; the sum is rounded to the microsecond.
  private static func utc(
    _ p: Span<UInt8>, date i: Int, valid: UInt8, nanoseconds: Int32
  ) -> UTCTime? {
    guard valid & 3 == 3 else { return nil }
    let year = Int(p.u2(i))
    guard let day = CalendarDate(year: year, month: Int(p[i + 2]), day: Int(p[i + 3])) else {
      return nil
    }
    let hour = Int64(p[i + 4])
    let minute = Int64(p[i + 5])
    let second = Int64(p[i + 6])
    guard hour < 24, minute < 60, second <= 60 else { return nil }
    guard nanoseconds >= -1_000_000_000, nanoseconds <= 1_000_000_000 else { return nil }
    let seconds = hour * 3_600 + minute * 60 + second
    // Rounded towards the nearest, from the floor: +1 s keeps the dividend positive.
    let fraction = (Int64(nanoseconds) + 1_000_000_500) / 1_000 - 1_000_000
    return UTCTime(microseconds: day.start.microseconds + seconds * 1_000_000 + fraction)
  }

  // MARK: MON-VER

  private static func version(_ p: Span<UInt8>) -> UBXVersion? {
    guard p.count >= 40, (p.count - 40) % 30 == 0 else { return nil }
    var version = UBXVersion()
    for i in 0..<30 { version.software[i] = p[i] }
    for i in 0..<10 { version.hardware[i] = p[30 + i] }
    var i = 40
    while i < p.count {
      let text = p.extracting(i..<i + 30)
      if starts(text, "MOD=") {
        for j in 0..<16 { version.module[j] = text[j + 4] }
      } else if starts(text, "PROTVER") {
        version.protocolVersion_e2 = decimal(text, from: 8)
      }
      i += 30
    }
    return version
  }

  private static func starts(_ text: Span<UInt8>, _ prefix: StaticString) -> Bool {
    for i in 0..<prefix.utf8CodeUnitCount {
      if unsafe text[i] != prefix.utf8Start[i] { return false }
    }
    return true
  }

  /// A number such as `34.10`, times 100; nil when there is none.
  private static func decimal(_ text: Span<UInt8>, from start: Int) -> UInt16? {
    var value: UInt32 = 0
    var decimals = -1
    var hasDigits = false
    for i in start..<text.count {
      let byte = text[i]
      if byte == UInt8(ascii: "."), decimals < 0 {
        decimals = 0
      } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), decimals < 2 {
        value = value * 10 + UInt32(byte - UInt8(ascii: "0"))
        if value > 99_999 { return nil }
        hasDigits = true
        if decimals >= 0 { decimals += 1 }
      } else {
        break
      }
    }
    for _ in max(decimals, 0)..<2 { value *= 10 }
    return hasDigits ? UInt16(exactly: value) : nil
  }
}

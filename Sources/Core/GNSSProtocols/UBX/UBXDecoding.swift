import LocationTypes

/// Decodes UBX payloads with a valid checksum into messages.
///
/// A payload of unexpected length or version yields `malformed`. Layouts: u-blox 8/M8 receiver
/// description R28 and M10 SPG 5.10 interface description. Depends on `LocationTypes`.
enum UBXDecoding {
  @inline(always) static func message(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters
  ) -> GNSSMessage {
    // NAV-PVT is constructed in place, because every fix of a u-blox receiver passes here.
    if identity == .navPVT, UBXSolution.isNavPVT(payload) {
      return .navPVT(UBXSolution(navPVT: payload))
    }
    return otherMessage(identity, payload, &counters)
  }

  @inline(never) private static func otherMessage(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters
  ) -> GNSSMessage {
    let message: GNSSMessage? =
      switch identity {
      case .navPVT: nil
      case .navPOSECEF, .navPOSLLH, .navSTATUS, .navDOP, .navSOL, .navVELECEF, .navVELNED,
        .navHPPOSLLH, .navTIMEGPS, .navTIMEUTC, .navTIMELS, .navSVINFO, .navSAT, .navEOE:
        part(identity, payload).map { .navigation($0) }
      case .hnrPVT: UBXSolution(highRate: payload).map { .hnrPVT($0) }
      case .ackACK: subject(payload).map { .acknowledged($0) }
      case .ackNAK: subject(payload).map { .refused($0) }
      case .cfgVALGET: configurationValues(payload)
      case .monVER: version(payload).map { .receiverVersion($0) }
      case .monBATCH: batchStatus(payload).map { .batchStatus($0) }
      case .logBATCH: batchEntry(payload).map { .batchEntry($0) }
      case .mgaDBD: UBXAidingEntry(payload).map { .aidingEntry($0) }
      case .mgaACK: UBXAidingAnswer(payload).map { .aidingAnswer($0) }
      case _: .unknown(.frame(identity))
      }
    guard let message else {
      counters.malformed.incrementSaturating()
      return .malformed
    }
    if case .unknown = message { counters.unknown.incrementSaturating() }
    return message
  }

  private static func configurationValues(_ p: Span<UInt8>) -> GNSSMessage? {
    switch UBXConfigurationValues.read(p) {
    case .values(let values): .configurationValues(values)
    case .unsupported: .unknown(.frame(.cfgVALGET))
    case .malformed: nil
    }
  }

  private static func subject(_ p: Span<UInt8>) -> UBXIdentity? {
    p.count == 2 ? UBXIdentity(p[0], p[1]) : nil
  }

  /// Reads a LOG-BATCH; without extra PVT, half of its fields are undefined.
  private static func batchEntry(_ p: Span<UInt8>) -> UBXBatchEntry? {
    guard p.count == UBXSolutionLayout.batchLength, p[0] == 0 else { return nil }
    var s = UBXSolution(sharedFields: p.extracting(droppingFirst: UBXSolutionLayout.batchOffset))
    // The flags of LOG-BATCH have no carrier solution.
    s.carrierSolution = 0
    let hasExtraPVT = p[1] & 1 != 0
    if !hasExtraPVT { s.clearExtraPVT() }
    return UBXBatchEntry(messageCount: p.u2(2), hasExtraPVT: hasExtraPVT, solution: s)
  }

  private static func batchStatus(_ p: Span<UInt8>) -> UBXBatchStatus? {
    guard p.count == 12, p[0] == 0 else { return nil }
    return UBXBatchStatus(
      fillLevel: p.u2(4), dropsAll: p.u2(6), dropsSinceLast: p.u2(8), nextMessageCount: p.u2(10))
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
      // A text ends at its first zero byte; an empty one names no module.
      if hasPrefix(text, "MOD="), text[4] != 0 {
        for j in 0..<16 { version.module[j] = text[j + 4] }
      } else if hasPrefix(text, "PROTVER") {
        version.protocolVersion_e2 = decimal(text, from: 8)
      }
      i += 30
    }
    return version
  }

  private static func hasPrefix(_ text: Span<UInt8>, _ prefix: StaticString) -> Bool {
    for i in 0..<prefix.utf8CodeUnitCount {
      if unsafe text[i] != prefix.utf8Start[i] { return false }
    }
    return true
  }

  /// A number such as `34.10`, times 100; nil without digits.
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

// Parts of an epoch. Layouts: u-blox 8 / M8 receiver description R28, M10 SPG 5.10 and F9 HPG interface
// descriptions; NAV-SOL and NAV-SVINFO: u-blox 6 and 7 protocol specifications.

extension UBXDecoding {
  /// Reads a part of an epoch; nil for any other message, or an unexpected length or version.
  static func part(_ identity: UBXIdentity, _ p: Span<UInt8>) -> UBXNavigation? {
    switch identity {
    case .navPOSECEF: vector(p).map { .ecefPosition($0) }
    case .navPOSLLH: position(p).map { .position($0) }
    case .navSTATUS: status(p).map { .status($0) }
    case .navDOP: dilutions(p).map { .dilutions($0) }
    case .navSOL: ecefSolution(p).map { .ecefSolution($0) }
    case .navVELECEF: vector(p).map { .ecefVelocity($0) }
    case .navVELNED: velocity(p).map { .velocity($0) }
    case .navHPPOSLLH: precisePosition(p).map { .precisePosition($0) }
    case .navTIMEGPS: gpsTime(p).map { .gpsTime($0) }
    case .navTIMEUTC: utc(p).map { .utc($0) }
    case .navTIMELS: leapSeconds(p).map { .leapSeconds($0) }
    case .navSVINFO: channels(p).map { .channels($0) }
    case .navSAT: satellites(p).map { .satellites($0) }
    case .navEOE: p.count == 4 ? .endOfEpoch(timeOfWeek_ms: p.u4(0)) : nil
    case _: nil
    }
  }

  private static func vector(_ p: Span<UInt8>) -> UBXECEFVector? {
    guard p.count == 20 else { return nil }
    return UBXECEFVector(
      timeOfWeek_ms: p.u4(0), x: p.i4(4), y: p.i4(8), z: p.i4(12), accuracy: p.u4(16))
  }

  private static func position(_ p: Span<UInt8>) -> UBXPosition? {
    guard p.count == 28 else { return nil }
    return UBXPosition(
      timeOfWeek_ms: p.u4(0), longitude_e7: p.i4(4), latitude_e7: p.i4(8), height_mm: p.i4(12),
      heightMSL_mm: p.i4(16), horizontalAccuracy_mm: p.u4(20), verticalAccuracy_mm: p.u4(24))
  }

  private static func precisePosition(_ p: Span<UInt8>) -> UBXPrecisePosition? {
    guard p.count == 36, p[0] == 0 else { return nil }
    return UBXPrecisePosition(
      timeOfWeek_ms: p.u4(4), isValid: p[3] & 1 == 0,
      longitude_e9: Int64(p.i4(8)) * 100 + Int64(p.i1(24)),
      latitude_e9: Int64(p.i4(12)) * 100 + Int64(p.i1(25)),
      height_dmm: Int64(p.i4(16)) * 10 + Int64(p.i1(26)),
      heightMSL_dmm: Int64(p.i4(20)) * 10 + Int64(p.i1(27)),
      horizontalAccuracy_dmm: p.u4(28), verticalAccuracy_dmm: p.u4(32))
  }

  private static func status(_ p: Span<UInt8>) -> UBXStatus? {
    guard p.count == 16 else { return nil }
    return UBXStatus(
      timeOfWeek_ms: p.u4(0), fixType: p[4], flags: p[5], timeToFix_ms: p.u4(8),
      uptime_ms: p.u4(12))
  }

  private static func dilutions(_ p: Span<UInt8>) -> UBXDilutions? {
    guard p.count == 18 else { return nil }
    return UBXDilutions(
      timeOfWeek_ms: p.u4(0), geometric_e2: p.u2(4), position_e2: p.u2(6), time_e2: p.u2(8),
      vertical_e2: p.u2(10), horizontal_e2: p.u2(12), northing_e2: p.u2(14), easting_e2: p.u2(16))
  }

  private static func ecefSolution(_ p: Span<UInt8>) -> UBXECEFSolution? {
    guard p.count == 52 else { return nil }
    let time = p.u4(0)
    return UBXECEFSolution(
      fraction_ns: p.i4(4), week: p.i2(8), fixType: p[10], flags: p[11],
      position: UBXECEFVector(
        timeOfWeek_ms: time, x: p.i4(12), y: p.i4(16), z: p.i4(20), accuracy: p.u4(24)),
      velocity: UBXECEFVector(
        timeOfWeek_ms: time, x: p.i4(28), y: p.i4(32), z: p.i4(36), accuracy: p.u4(40)),
      positionDOP_e2: p.u2(44), satellites: p[47])
  }

  private static func velocity(_ p: Span<UInt8>) -> UBXVelocity? {
    guard p.count == 36 else { return nil }
    return UBXVelocity(
      timeOfWeek_ms: p.u4(0), north_cmps: p.i4(4), east_cmps: p.i4(8), down_cmps: p.i4(12),
      speed_cmps: p.u4(16), groundSpeed_cmps: p.u4(20), heading_e5: p.i4(24),
      speedAccuracy_cmps: p.u4(28), headingAccuracy_e5: p.u4(32))
  }

  private static func gpsTime(_ p: Span<UInt8>) -> UBXGPSTime? {
    guard p.count == 16 else { return nil }
    return UBXGPSTime(
      timeOfWeek_ms: p.u4(0), fraction_ns: p.i4(4), week: p.i2(8), leapSeconds: p.i1(10),
      valid: p[11], accuracy_ns: p.u4(12))
  }

  private static func utc(_ p: Span<UInt8>) -> UBXTimeUTC? {
    guard p.count == 20 else { return nil }
    let isValid = p[19] & 7 == 7
    return UBXTimeUTC(
      timeOfWeek_ms: p.u4(0),
      utc: UBXCivilTime.utc(p, 12, valid: isValid ? 3 : 0, nanoseconds: p.i4(8)),
      accuracy_ns: p.u4(4))
  }

  private static func leapSeconds(_ p: Span<UInt8>) -> UBXLeapSeconds? {
    guard p.count == 24, p[4] == 0 else { return nil }
    return UBXLeapSeconds(
      timeOfWeek_ms: p.u4(0), current: p.i1(9), source: p[8], change: p.i1(11),
      untilEvent_s: p.i4(12), eventWeek: p.u2(16), eventDay: p.u2(18), valid: p[23])
  }

  private static func channels(_ p: Span<UInt8>) -> UBXSatellites? {
    guard p.count >= 8, p.count == 8 + 12 * Int(p[4]) else { return nil }
    var summary = UBXSatellites(timeOfWeek_ms: p.u4(0))
    var i = 8
    while i < p.count {
      summary.add(isUsed: p[i + 2] & 1 != 0, signal_dBHz: p[i + 4])
      i += 12
    }
    return summary
  }

  private static func satellites(_ p: Span<UInt8>) -> UBXSatellites? {
    guard p.count >= 8, p[4] == 1, p.count == 8 + 12 * Int(p[5]) else { return nil }
    var summary = UBXSatellites(timeOfWeek_ms: p.u4(0))
    var i = 8
    while i < p.count {
      summary.add(isUsed: p[i + 8] & 8 != 0, signal_dBHz: p[i + 2])
      i += 12
    }
    return summary
  }
}

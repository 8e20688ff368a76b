import LocationTypes

/// From UBX payloads to messages. Layouts: u-blox 8/M8 receiver description R28 and M10 SPG 5.10
/// interface description.
enum UBXDecoding {
  @inline(__always)
  static func message(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters
  ) -> GNSSMessage {
    // The usual one first, and made in its place: it is on the way of every fix.
    if identity == .navPVT, UBXSolution.isNavPVT(payload) {
      return .navPVT(UBXSolution(navPVT: payload))
    }
    return lesser(identity, payload, &counters)
  }

  @inline(never) private static func lesser(
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
      case .monVER: version(payload).map { .receiverVersion($0) }
      case .monBATCH: batchStatus(payload).map { .batchStatus($0) }
      case .logBATCH: batchEntry(payload).map { .batchEntry($0) }
      case .mgaDBD: UBXAidingEntry(payload).map { .aidingEntry($0) }
      case .mgaACK: UBXAidingAnswer(payload).map { .aidingAnswer($0) }
      case _: .unread(.frame(identity))
      }
    guard let message else {
      counters.malformed.count()
      return .other
    }
    if case .unread = message { counters.unknown.count() }
    return message
  }

  private static func subject(_ p: Span<UInt8>) -> UBXIdentity? {
    p.count == 2 ? UBXIdentity(p[0], p[1]) : nil
  }

  /// LOG-BATCH; without extra PVT, half of its fields mean nothing.
  private static func batchEntry(_ p: Span<UInt8>) -> UBXBatchEntry? {
    guard p.count == 100, p[0] == 0 else { return nil }
    var s = UBXSolution(p, .logBATCH)
    // There the flags have nothing of the carrier.
    s.carrierSolution = 0
    let hasExtraPVT = p[1] & 1 != 0
    if !hasExtraPVT { s.dropExtra() }
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
      // A text ends with its first zero byte: an empty one names no module.
      if starts(text, "MOD="), text[4] != 0 {
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

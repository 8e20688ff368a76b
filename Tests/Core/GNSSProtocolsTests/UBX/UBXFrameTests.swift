import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// The bytes of a frame, from its hexadecimal digits.
func bytes(hex: String) -> [UInt8] {
  let digits = hex.compactMap { $0.hexDigitValue }
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    UInt8(digits[$0] * 16 + digits[$0 + 1])
  }
}

/// All messages of a stream that arrives in chunks of `size` bytes (0: whole), then its end.
func decode(
  _ bytes: [UInt8], chunk size: Int = 0, finish: Bool = true
) -> (messages: [GNSSMessage], counters: DecoderCounters) {
  var decoder = GNSSDecoder()
  var messages: [GNSSMessage] = []
  var i = 0
  while i < bytes.count {
    let end = size == 0 ? bytes.count : min(bytes.count, i + size)
    let part = Array(bytes[i..<end])
    var offset = 0
    while let message = decoder.next(part.span, &offset) { messages.append(message) }
    #expect(offset == part.count)
    i = end
  }
  if finish { while let message = decoder.finish() { messages.append(message) } }
  return (messages, decoder.counters)
}

/// All commands of a stream.
func commands(_ bytes: [UInt8]) -> [UBXCommand] {
  var decoder = UBXCommandDecoder()
  var offset = 0
  var found: [UBXCommand] = []
  while let command = decoder.next(bytes.span, &offset) { found.append(command) }
  return found
}

/// The bytes of a buffer.
func bytes(_ buffer: FrameBuffer) -> [UInt8] { (0..<buffer.count).map { buffer[$0] } }

/// These frames were published by others: in the protocol's manuals, in captures, and in tests of
/// other projects that computed them by other programs.
@Suite("UBX frames published by others") struct UBXFrameTests {
  @Test("a poll of MON-VER equals the published frame")
  func pollVersion() {
    var buffer = FrameBuffer()
    buffer.appendPoll(.monVER)
    #expect(bytes(buffer) == bytes(hex: "B5 62 0A 04 00 00 0E 34"))
    #expect(commands(bytes(buffer)) == [.poll(.monVER)])
  }

  @Test(
    "acknowledgements are encoded and decoded as published",
    arguments: [
      ("B5 62 05 01 02 00 06 01 0F 38", UBXIdentity(0x06, 0x01)),
      ("B5 62 05 01 02 00 06 41 4F 78", UBXIdentity(0x06, 0x41)),
      ("B5 62 05 01 02 00 06 8B 99 C2", UBXIdentity(0x06, 0x8B)),
    ])
  func acknowledgement(hex: String, identity: UBXIdentity) {
    #expect(decode(bytes(hex: hex)).messages == [.acknowledged(identity)])
    var buffer = FrameBuffer()
    buffer.appendAcknowledgement(of: identity)
    #expect(bytes(buffer) == bytes(hex: hex))
  }

  @Test("NAV-PVT computed by another project in Python, 2026-07-24 12:30:45")
  func navPVTInSanFrancisco() throws {
    let frame = bytes(
      hex: """
        B5 62 01 07 5C 00 15 CD 5B 07 EA 07 07 18 0C 1E 2D 07 19 00 00 00 20 A1 07 00 03 01 00 09
        D8 71 3B B7 08 F5 46 16 24 77 00 00 60 6D 00 00 B0 04 00 00 08 07 00 00 64 00 00 00 CE FF
        FF FF 05 00 00 00 70 00 00 00 20 AA 44 00 1E 00 00 00 80 84 1E 00 B4 00 00 00 00 00 00 00
        00 00 00 00 00 00 00 00 69 BE
        """)
    guard case .navPVT(let s)? = decode(frame).messages.first else {
      Issue.record("not decoded")
      return
    }
    #expect(s.utc?.date == CalendarDate(year: 2026, month: 7, day: 24))
    #expect(s.utc?.microsecondsOfDay == 45_045_000_500)
    #expect(s.isTimeResolved && s.timeOfWeek_ms == 123_456_789 && s.timeAccuracy_ns == 25)
    #expect(s.fixType == 3 && s.isFixOK && s.carrierSolution == 0 && s.satellites == 9)
    #expect(s.latitude_e7 == 373_749_000 && s.longitude_e7 == -1_220_841_000)
    #expect(s.height_mm == 30_500 && s.heightMSL_mm == 28_000)
    #expect(s.horizontalAccuracy_mm == 1_200 && s.verticalAccuracy_mm == 1_800)
    #expect(s.velocityNorth_mmps == 100 && s.velocityEast_mmps == -50)
    #expect(s.velocityDown_mmps == 5 && s.groundSpeed_mmps == 112)
    #expect(s.headingOfMotion_e5 == 4_500_000 && s.headingAccuracy_e5 == 2_000_000)
    #expect(s.speedAccuracy_mmps == 30 && s.positionDOP_e2 == 180)
  }

  @Test("NAV-PVT computed by another project from the M10 manual, 2026-09-24 11:59:42.1")
  func navPVTOfM10() {
    let frame = bytes(
      hex: """
        B5 62 01 07 5C 00 64 9E 2C 17 EA 07 09 18 0B 3B 2A 07 19 00 00 00 F3 E0 F5 05 03 01 E0 0E 40
        07 8D 0E 87 EA BA 1B B9 4A 06 00 DF BE 05 00 D2 04 00 00 29 09 00 00 2E FB FF FF A0 5B 00 00
        F4 FF FF FF C0 5B 00 00 F2 EC 8D 00 96 00 00 00 EA 49 08 00 84 00 00 00 00 00 00 00 F2 EC 8D
        00 00 00 00 00 3E 65
        """)
    guard case .navPVT(let s)? = decode(frame).messages.first else {
      Issue.record("not decoded")
      return
    }
    #expect(s.utc?.microsecondsOfDay == 43_182_100_000)
    #expect(s.timeOfWeek_ms == 388_800_100 && s.satellites == 14)
    #expect(s.horizontalAccuracy_mm == 1_234 && s.velocityNorth_mmps == -1_234)
  }

  @Test("NAV-PVT captured 2025-01-07 23:28:11")
  func navPVTCaptured() {
    let frame =
      bytes(
        hex: """
          B5 62 01 07 5C 00 A0 3B 56 0F E9 07 01 07 17 1C 0B 37 1F 00 00 00 8B 1C BD 23 03 01 EA 05
          E5 F7 ED C6 57 4F B8 11 A2 27 00 00 6E 86 00 00 20 13 00 00 82 12 00 00 FF FD FF FF EF 00
          00 00 22 00 00 00 36 02 00 00 9E 5C CD 00 3B 09 00 00 CD E0 2E 00 80 01 00 00 00 00 0A 00
          00 00 00 00 0A 00 00 00
          """) + [234, 192]
    guard case .navPVT(let s)? = decode(frame).messages.first else {
      Issue.record("not decoded")
      return
    }
    #expect(s.latitude_e7 == 297_291_607 && s.longitude_e7 == -957_483_035)
    // 599,596,171 ns after 23:28:11.
    #expect(s.utc?.microsecondsOfDay == 84_491_599_596)
    #expect(s.groundSpeed_mmps == 566 && s.headingOfMotion_e5 == 13_458_590)
  }

  @Test("MON-VER of a NEO-M8N among ACK and NMEA, captured")
  func version() throws {
    let stream =
      bytes(
        hex: """
          B5 62 05 01 02 00 06 01 0F 38 B5 62 0A 04 A0 00 52 4F 4D 20 43 4F 52 45 20 33 2E 30 31 20
          28 31 30 37 38 38 38 29 00 00 00 00 00 00 00 00 30 30 30 38 30 30 30 30 00 00 46 57 56 45
          52 3D 53 50 47 20 33 2E 30 31 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 50 52 4F 54
          56 45 52 3D 31 38 2E 30 30 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 47 50 53 3B
          47 4C 4F 3B 47 41 4C 3B 42 44 53 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 53 42 41 53
          3B 49 4D 45 53 3B 51 5A 53 53 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 41 D2 B5 62
          0A 28 08 00 00 0F 03 05 03 00 00 00 54 20
          """) + sentence("GNVTG,,T,,M,0.043,N,0.079,K,A")
    let decoded = decode(stream)
    #expect(decoded.counters.frames == 3 && decoded.counters.sentences == 1)
    #expect(decoded.messages[0] == .acknowledged(UBXIdentity(0x06, 0x01)))
    let expected = UBXVersion(
      software: "ROM CORE 3.01 (107888)", hardware: "00080000", protocolVersion_e2: 1_800)
    #expect(decoded.messages[1] == .receiverVersion(expected))
    #expect(decoded.messages[2] == .unknown(.frame(UBXIdentity(0x0A, 0x28))))
  }

  @Test(
    "CFG-VALSET: rate, dynamic model, outputs, as recorded from other programs",
    arguments: [
      ("B5 62 06 8A 0C 00 00 01 00 00 04 00 05 40 A0 86 01 00 0D BB", 0x4005_0004, 100_000),
      ("B5 62 06 8A 09 00 00 01 00 00 21 00 11 20 06 F2 4F", 0x2011_0021, 6),
      ("B5 62 06 8A 09 00 00 01 00 00 02 00 74 10 00 20 B7", 0x1074_0002, 0),
      ("B5 62 06 8A 09 00 00 01 00 00 07 00 91 20 01 53 48", 0x2091_0007, 1),
      ("B5 62 06 8A 09 00 00 01 00 00 01 00 23 10 01 CF C0", 0x1023_0001, 1),
      ("B5 62 06 8A 09 00 00 01 00 00 2E 00 A3 10 01 7C 21", 0x10A3_002E, 1),
    ] as [(String, UInt32, UInt64)])
  func valset(hex: String, key: UInt32, value: UInt64) {
    var configuration = UBXConfiguration(layers: .ram)
    configuration.set(key, value)
    var buffer = FrameBuffer()
    buffer.appendConfiguration(configuration)
    #expect(bytes(buffer) == bytes(hex: hex))
    #expect(commands(bytes(hex: hex)) == [.valset(configuration)])
  }

  @Test("a published CFG-VALSET of two items is decoded")
  func valsetOfTwo() {
    let frame = bytes(
      hex: """
        B5 62 06 8A 0E 00 00 01 00 00 AB 00 91 20 01 B5 00 91 20 01 63 1C
        """)
    guard case .valset(let c)? = commands(frame).first else {
      Issue.record("not decoded")
      return
    }
    #expect(c.count == 2 && c.layers == .ram && c.value(of: 0x2091_00B5) == 1)
    #expect(c.value(of: 0x2091_00AC) == nil)
  }

  @Test("published RXM-PMREQ requests in both forms are decoded")
  func powerRequest() {
    let byUART = bytes(
      hex: "B5 62 02 41 10 00 00 00 00 00 00 00 00 00 06 00 00 00 08 00 00 00 61 6B")
    let request = UBXPowerRequest(wakeupSources: UBXPowerRequest.wakesByUART)
    var buffer = FrameBuffer()
    buffer.appendPowerRequest(request)
    #expect(bytes(buffer) == byUART)
    #expect(commands(byUART) == [.powerRequest(request)])

    let tenSeconds = bytes(
      hex: "B5 62 02 41 10 00 00 00 00 00 10 27 00 00 06 00 00 00 60 00 00 00 F0 38")
    #expect(
      commands(tenSeconds)
        == [.powerRequest(UBXPowerRequest(duration_ms: 10_000, wakeupSources: 0x60))])

    let short = bytes(hex: "B5 62 02 41 08 00 00 00 00 00 02 00 00 00 4D 3B")
    var eightBytes = UBXPowerRequest(isForced: false, wakeupSources: 0)
    eightBytes.isShortForm = true
    #expect(commands(short) == [.powerRequest(eightBytes)])
  }
}

@Suite("UBX payloads") struct UBXPayloadTests {
  private func solution(_ change: (inout [UInt8]) -> Void) -> UBXSolution? {
    var buffer = FrameBuffer()
    var s = UBXSolution(
      utc: UTCTime(microseconds: 1_767_225_600_000_000), fixType: 3, isFixOK: true,
      longitude_e7: 1, latitude_e7: 2, height_mm: 3, horizontalAccuracy_mm: 4)
    s.heightMSL_mm = 5
    buffer.appendNavPVT(s)
    var payload = Array(bytes(buffer)[6..<98])
    change(&payload)
    guard case .navPVT(let solution)? = decode(ubx(1, 7, payload)).messages.first else {
      return nil
    }
    return solution
  }

  @Test("NAV-PVT has 92 or 84 bytes; 78 and other lengths are rejected")
  func lengths() {
    #expect(solution { _ in } != nil)
    #expect(solution { $0.removeLast(8) }?.longitude_e7 == 1)
    for count in [0, 1, 77, 78, 79, 83, 85, 91, 93, 100] {
      let decoded = decode(ubx(1, 7, [UInt8](repeating: 0, count: count)))
      #expect(decoded.messages == [.malformed] && decoded.counters.malformed == 1)
    }
  }

  @Test("UTC needs validDate and validTime, and a valid calendar date")
  func validity() {
    for valid in UInt8(0)..<16 {
      let s = solution { $0[11] = valid }
      #expect((s?.utc != nil) == (valid & 3 == 3))
      #expect(s?.isTimeResolved == (valid & 7 == 7))
    }
    #expect(solution { $0[6] = 13 }?.utc == nil)
    #expect(solution { $0[7] = 32 }?.utc == nil)
    #expect(solution { $0[8] = 24 }?.utc == nil)
    #expect(solution { $0[9] = 60 }?.utc == nil)
    #expect(solution { $0[10] = 61 }?.utc == nil)
  }

  @Test(
    "nanoseconds may be negative and are rounded to the microsecond",
    arguments: [
      (0, 0), (499, 0), (500, 1), (-499, 0), (-501, -1), (-300_000_000, -300_000),
      (999_999_999, 1_000_000), (-1_000_000_000, -1_000_000),
    ] as [(Int32, Int64)])
  func nanoseconds(nano: Int32, expected_us: Int64) {
    let s = solution {
      for i in 0..<4 { $0[16 + i] = UInt8(truncatingIfNeeded: nano >> Int32(8 * i)) }
    }
    #expect(s?.utc == UTCTime(microseconds: 1_767_225_600_000_000 + expected_us))
  }

  @Test("invalidLlh overrides gnssFixOK")
  func invalidPosition() {
    #expect(solution { $0[78] = 1 }?.isFixOK == false)
    #expect(solution { $0[78] = 2 }?.isFixOK == true)
    let short = solution {
      $0[78] = 1
      $0.removeLast(8)
    }
    #expect(short?.isFixOK == true, "reserved in the 84-byte form")
    #expect(solution { $0[21] = 0 }?.isFixOK == false)
  }

  @Test("LOG-BATCH carries no carrier solution: those bits are reserved")
  func batchWithoutCarrier() {
    var solution = UBXSolution(
      utc: nil, fixType: 3, isFixOK: true, longitude_e7: 1, latitude_e7: 2, height_mm: 3,
      horizontalAccuracy_mm: 4)
    solution.carrierSolution = 2
    let entry = UBXBatchEntry(messageCount: 7, hasExtraPVT: true, solution: solution)
    var buffer = FrameBuffer()
    buffer.appendBatchEntry(entry)
    var payload = Array(bytes(buffer)[6..<106])
    #expect(payload[25] == 1)
    payload[25] |= 0x80
    guard case .batchEntry(let read)? = decode(ubx(0x21, 0x11, payload)).messages.first else {
      Issue.record("not decoded")
      return
    }
    #expect(read.solution.carrierSolution == 0 && read.solution.isFixOK)
  }

  @Test("LOG-BATCH without extra PVT leaves the missing fields unknown")
  func batchWithoutExtra() {
    var entry = UBXBatchEntry(
      messageCount: 7, hasExtraPVT: false,
      solution: UBXSolution(
        utc: UTCTime(microseconds: 1_580_424_000_000_000), fixType: 3, isFixOK: true,
        longitude_e7: 1, latitude_e7: 2, height_mm: 3, horizontalAccuracy_mm: 4))
    entry.solution.satellites = 9
    var buffer = FrameBuffer()
    buffer.appendBatchEntry(entry)
    guard case .batchEntry(let read)? = decode(bytes(buffer)).messages.first else {
      Issue.record("not decoded")
      return
    }
    #expect(read.solution.satellites == nil && read.solution.heightMSL_mm == nil)
    #expect(read.solution.verticalAccuracy_mm == nil && read.messageCount == 7)
    #expect(read.solution.longitude_e7 == 1 && read.solution.horizontalAccuracy_mm == 4)
  }

  @Test("flags of LOG-BATCH: fix OK, differential, power-save state; no carrier solution")
  func batchFlags() {
    for flags in UInt8.min...UInt8.max {
      var payload = [UInt8](repeating: 0, count: 100)
      payload[25] = flags
      guard case .batchEntry(let read)? = decode(ubx(0x21, 0x11, payload)).messages.first else {
        Issue.record("not decoded")
        return
      }
      #expect(read.solution.isFixOK == (flags & 1 != 0))
      #expect(read.solution.isDifferential == (flags & 2 != 0))
      #expect(read.solution.carrierSolution == 0)
    }
    var solution = UBXSolution(
      utc: UTCTime(microseconds: 1_580_424_000_000_000), fixType: 3, isFixOK: true,
      longitude_e7: 1, latitude_e7: 2, height_mm: 3, horizontalAccuracy_mm: 4)
    solution.carrierSolution = 2
    var buffer = FrameBuffer()
    buffer.appendBatchEntry(
      UBXBatchEntry(messageCount: 7, hasExtraPVT: false, solution: solution))
    #expect(buffer[6 + 25] == 1)
  }

  @Test("a solution encoded from a fix decodes to the same fix, to 1e-7 degree")
  func fixes() {
    var random = SplitMix64(seed: 3)
    for _ in 0..<500 {
      let fix = random.fix(step: 100)
      var buffer = FrameBuffer()
      buffer.appendNavPVT(UBXSolution(fix))
      let found = epochs(bytes(buffer))
      #expect(found.count == 1)
      #expect(found.first?.fix == fix)
    }
  }

  @Test("commands: wrong lengths and keys are rejected")
  func malformedCommands() {
    #expect(commands(ubx(0x06, 0x8A, [0, 1, 0])) == [.malformed(.cfgVALSET)])
    #expect(commands(ubx(0x06, 0x8A, [0, 1, 0, 0, 1, 0, 0, 0x20])) == [.malformed(.cfgVALSET)])
    #expect(commands(ubx(0x06, 0x8A, [0, 1, 0, 0, 1, 0, 0, 0x70, 1])) == [.malformed(.cfgVALSET)])
    #expect(commands(ubx(0x06, 0x8A, [2, 1, 0, 0])) == [.malformed(.cfgVALSET)])
    #expect(commands(ubx(0x02, 0x41, [0, 0, 0, 0])) == [.malformed(.rxmPMREQ)])
    #expect(commands(ubx(0x21, 0x10, [0, 1, 0])) == [.malformed(.logRETRIEVEBATCH)])
    #expect(commands(ubx(0x06, 0x04, [0, 0, 0, 0])) == [.unknown(UBXIdentity(0x06, 0x04))])
    let item: [UInt8] = [1, 0, 0, 0x10, 1]
    let most = [0, 1, 0, 0] + Array(repeatElement(item, count: 64).joined())
    guard case .valset(let c)? = commands(ubx(0x06, 0x8A, most)).first else {
      Issue.record("64 items are allowed")
      return
    }
    #expect(c.count == 64)
    #expect(commands(ubx(0x06, 0x8A, most + item)) == [.malformed(.cfgVALSET)])
  }

  @Test("encoded commands decode to the same commands")
  func commandRoundTrip() {
    var random = SplitMix64(seed: 9)
    for _ in 0..<300 {
      var configuration = UBXConfiguration(
        layers: UBXLayers.ram.union(random.maybe(.batteryBacked) ?? .flash))
      for _ in 0..<Int.random(in: 0..<20, using: &random) {
        let size = [1, 2, 3, 4, 5].randomElement(using: &random)!
        let key = UInt32(size) << 28 | random.bits(UInt32.self) & 0x0FFF_FFFF
        configuration.set(key, random.bits(UInt64.self))
      }
      let request = UBXPowerRequest(
        duration_ms: random.bits(UInt32.self), isBackup: Bool.random(using: &random),
        isForced: Bool.random(using: &random), wakeupSources: random.bits(UInt32.self))
      let statusFirst = Bool.random(using: &random)
      var buffer = FrameBuffer()
      buffer.appendConfiguration(configuration)
      buffer.appendPowerRequest(request)
      buffer.appendRetrieveBatch(sendsStatusFirst: statusFirst)
      #expect(
        commands([0xFF, 0xFF] + bytes(buffer)) == [
          .valset(configuration), .powerRequest(request),
          .retrieveBatch(sendsStatusFirst: statusFirst),
        ])
    }
  }
}

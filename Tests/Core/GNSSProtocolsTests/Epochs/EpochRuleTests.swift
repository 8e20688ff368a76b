import LocationTypes
import Testing

@testable import GNSSProtocols

/// An assembler that receives sentences with their arrival time in seconds.
private struct Line {
  var assembler: EpochAssembler

  init(_ options: EpochOptions = EpochOptions()) { assembler = EpochAssembler(options) }

  mutating func add(_ text: String, at second: Double = 0) -> Epoch? {
    assembler.add(decode(sentence(text)).messages[0], at: Instant(seconds: second))
  }
}

private func gga(_ time: String) -> String {
  "GNGGA,\(time),4800.0,N,01100.0,E,1,05,1.0,500.0,M,47.0,M,,"
}
private func gll(_ time: String) -> String { "GPGLL,4800.0,N,01100.0,E,\(time),A" }
private func rmc(_ time: String, _ date: String) -> String {
  "GPRMC,\(time),A,4800.0,N,01100.0,E,,,\(date),,"
}
private let gsa = "GNGSA,A,3,01,,,,,,,,,,,,2.0,1.2,1.6"

@Suite("Rules that open and close an NMEA epoch") struct EpochRuleTests {
  private func day(_ epoch: Epoch?) -> Int? { epoch?.utc?.date.day }

  @Test("a fix has the time of the first sentence that can report it")
  func received() {
    var line = Line()
    #expect(line.add(gsa, at: 1) == nil)
    #expect(line.add(gga("120000"), at: 2) == nil && line.add(gll("120000"), at: 3) == nil)
    #expect(line.assembler.close()?.fix?.acquired == Instant(seconds: 2))
  }

  @Test("without times, an epoch begins when the same sentence of the same talker repeats")
  func talkers() {
    let cycle = stream("GPGGA,,,,,,0,00,,,,,,,", "GLGGA,,,,,,0,00,,,,,,,", "GPRMC,,V,,,,,,,,,,N")
    #expect(epochs(cycle + cycle).count == 2)
  }

  @Test("the same time of day is late for an hour, then belongs to another day")
  func lateness() {
    for (second, isLate) in [(3_599.999_999, true), (3_600, false)] {
      var line = Line()
      #expect(line.add(gll("120000")) == nil && line.assembler.close() != nil)
      #expect(line.add(gll("120000"), at: second) == nil)
      #expect((line.assembler.close() == nil) == isLate)
    }
  }

  @Test("a ZDA dates only its own time: the open epoch's, the next one's, or neither")
  func anyOrderZDA() {
    let zda = "GPZDA,120001,03,06,2026,00,00"
    // Before the first sentence of its epoch, with and without an untimed sentence.
    var line = Line()
    #expect(line.add(gll("120000")) == nil)
    #expect(line.assembler.close()?.utc == nil)
    #expect(line.add(zda) == nil && line.add(gll("120001")) == nil)
    #expect(day(line.assembler.close()) == 3)
    #expect(epochs(stream(gsa, zda, gll("120001"))).map { day($0) } == [3])
    #expect(epochs(stream(gll("120001"), zda)).map { day($0) } == [3])
    let bare = "GPZDA,120001,,,,00,"
    #expect(epochs(stream(gll("120001"), zda, bare)).map { day($0) } == [3])
    // In the epoch before it: ZDA does not date that epoch, nor a later one twice.
    let found = epochs(
      stream(
        gll("120000"), zda, gll("120001"), rmc("120002", "050626"), rmc("120003", "050626"),
        gll("120004")))
    #expect(found.map { day($0) } == [nil, 3, 5, 5, 5])
    let midnight = epochs(
      stream(rmc("235959", "310526"), "GPZDA,000000,01,06,2026,00,00", gll("235959")))
    #expect(midnight.map { day($0) } == [31])
  }

  // MARK: Both protocols

  private func ubx(_ offset_us: Int64, _ change: (inout UBXSolution) -> Void = { _ in }) -> [UInt8]
  {
    var s = UBXSolution(
      utc: UTCTime(microseconds: 1_780_315_200_000_000 + offset_us), fixType: 3, isFixOK: true,
      longitude_e7: 110_000_000, latitude_e7: 480_000_000, height_mm: 547_000,
      horizontalAccuracy_mm: 1_500)
    s.velocityDown_mmps = 20
    s.timeAccuracy_ns = 55
    change(&s)
    var buffer = FrameBuffer()
    buffer.appendNavPVT(s)
    return bytes(buffer)
  }
  private var waiting: EpochOptions {
    var options = EpochOptions()
    options.waitsForSentences = true
    return options
  }

  @Test("times of both protocols within 15 ms are one; sentences less than 2 s older are late")
  func tolerance() {
    let half: Int64 = 43_200_000_000
    let cases: [(Int64, Int)] = [
      (15_000, 1), (15_001, 1), (1_999_999, 1), (2_000_000, 2), (-15_000, 1), (-15_001, 2),
    ]
    for (offset, count) in cases {
      #expect(epochs(ubx(offset) + sentence(gga("120000"))).count == count, "\(offset)")
      let merged = epochs(ubx(offset) + sentence(gga("120000")), waiting)
      #expect(merged.count == count)
      let isMerged = abs(offset) <= 15_000 || count == 2
      #expect((merged.last?.hdop_e2 == 100) == isMerged, "\(offset)")
      #expect(epochs(ubx(half + offset) + sentence(gga("000000"))).count == count, "\(offset)")
    }
  }

  @Test(
    "NAV-PVT gets missing values from sentences of its time, also when the next epoch closes them")
  func merged() {
    let found = epochs(ubx(0) + stream(gga("120000"), gga("120001")), waiting)
    #expect(found.map(\.climb_mmps) == [-20, nil])
    #expect(found.map(\.timeAccuracy_ns) == [55, nil])
    #expect(found.map { $0.fix?.horizontalAccuracy_mm } == [1_500, 5_000])
    #expect(found.map(\.hdop_e2) == [100, 100])
  }

  @Test("NAV-PVT is emitted unchanged after an unsuccessful wait, and no part counts as late twice")
  func unsuccessfulWait() {
    let next = epochs(ubx(0) + stream(gsa, gga("120001")), waiting)
    #expect(next.map { $0.fix?.horizontalAccuracy_mm } == [1_500, 5_000])
    // Sentences without a position or without a time do not precede it.
    for text in ["GNRMC,120000,V,,,,,,,010626,,,N", gga("")] {
      let found = epochs(ubx(0) + sentence(text), waiting)
      #expect(found.map { $0.fix?.horizontalAccuracy_mm } == [1_500], "\(text)")
    }
    var assembler = EpochAssembler(waiting)
    var emitted = 0
    for message in decode(ubx(0) + sentence(gga("120000"))).messages {
      if assembler.add(message, at: .boot) != nil { emitted += 1 }
    }
    while assembler.close() != nil { emitted += 1 }
    let late = decode(sentence(gll("120000"))).messages[0]
    #expect(emitted == 1 && assembler.add(late, at: .boot) == nil && !assembler.isOpen)
  }

  @Test("NAV-HPPOSLLH refines NAV-PVT while NAV-PVT waits for sentences")
  func heldPrecision() {
    var assembler = EpochAssembler(waiting)
    let precise = UBXPrecisePosition(
      timeOfWeek_ms: 7_000, isValid: true, longitude_e9: 11_000_000_037,
      latitude_e9: 47_999_999_963, height_dmm: 5_470_006, heightMSL_dmm: 5_000_004,
      horizontalAccuracy_dmm: 141, verticalAccuracy_dmm: 200)
    for message in decode(ubx(0) { $0.timeOfWeek_ms = 7_000 }).messages {
      #expect(assembler.add(message, at: .boot) == nil)
    }
    #expect(assembler.add(.navigation(.precisePosition(precise)), at: .boot) == nil)
    let fix = assembler.close()?.fix
    #expect(fix?.coordinate.latitude_e9 == 47_999_999_963 && fix?.altitude_mm == 500_000)
    #expect(fix?.ellipsoidalAltitude_mm == 547_001 && fix?.horizontalAccuracy_mm == 15)
  }

  // MARK: Detected end

  private var detectingOptions: EpochOptions {
    var options = EpochOptions()
    options.detectsEpochEnd = true
    return options
  }

  @Test("an epoch can end with its ZDA")
  func lastZDA() {
    var line = Line(detectingOptions)
    var emitted: [Int] = []
    for second in 0..<4 {
      let time = "12000\(second)"
      for (i, text) in [gga(time), "GPZDA,\(time),03,06,2026,00,00"].enumerated() {
        if line.add(text, at: Double(second)) != nil { emitted.append(2 * second + i) }
      }
    }
    // The next time closes the first two; the second shows the end, then each epoch has its ZDA's
    // time.
    #expect(emitted == [2, 4, 5, 7] && !line.assembler.isOpen)
  }

  @Test("a ZDA after its emitted epoch extends the silence timeout; other ZDAs do not")
  func lateZDA() {
    for (time, pause) in [("120000", 300), ("120001", 100)] as [(String, Int64)] {
      var line = Line(detectingOptions)
      line.assembler.noteInput(at: .boot)
      #expect(line.add(gga("120000")) == nil && line.assembler.close() != nil)
      line.assembler.noteInput(at: Instant(seconds: 0.15))
      #expect(line.add("GPZDA,\(time),03,06,2026,00,00", at: 0.15) == nil)
      #expect(line.assembler.silenceTimeout == .milliseconds(pause), "\(time)")
    }
  }
}

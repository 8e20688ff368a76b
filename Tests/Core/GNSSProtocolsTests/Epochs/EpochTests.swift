import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// A stream of sentences with checksums.
func stream(_ lines: String...) -> [UInt8] { lines.flatMap { sentence($0) } }

@Suite("NMEA epochs") struct NMEAEpochTests {
  static let cycle = [
    "GNRMC,120000.00,A,4800.0000,N,01100.0000,E,10.0,90.0,010626,,,A",
    "GNVTG,91.0,T,,M,11.0,N,20.0,K,A",
    "GNGGA,120000.00,4800.0001,N,01100.0001,E,2,09,1.20,500.0,M,47.0,M,,",
    "GNGSA,A,3,01,02,03,,,,,,,,,,2.0,1.2,1.6,1",
    "GNGSA,A,3,71,72,,,,,,,,,,,2.0,1.2,1.6,2",
    "GPGSV,1,1,04,01,,,,02,,,,03,,,,04,,,,1",
    "GPGSV,1,1,04,01,,,,02,,,,03,,,,04,,,,6",
    "GLGSV,1,1,02,71,,,,72,,,",
    "GNGST,120000.00,,,,,3.0,4.0,5.0",
    "GNZDA,120000.00,01,06,2026,00,00",
    "GNGLL,4800.0002,N,01100.0002,E,120000.00,A,A",
  ]

  @Test("the order of the sentences makes no difference")
  func order() throws {
    let inOrder = epochs(Self.cycle.flatMap { sentence($0) })
    let epoch = try #require(inOrder.first)
    let fix = try #require(epoch.fix)
    #expect(inOrder.count == 1 && epoch.mode == .threeDimensional && epoch.origin == .live)
    #expect(fix.coordinate == Coordinate(latitude_e9: 48_000_001_667, longitude_e9: 11_000_001_667))
    #expect(fix.altitude_mm == 500_000 && fix.ellipsoidalAltitude_mm == 547_000)
    #expect(fix.speed_mmps == 5_144 && fix.course_e4 == 900_000)
    #expect(fix.horizontalAccuracy_mm == 5_000 && fix.verticalAccuracy_mm == 5_000)
    #expect(fix.satellites == 9 && fix.quality == .differential && !fix.isDateUncertain)
    #expect(fix.utc?.date == CalendarDate(year: 2026, month: 6, day: 1))
    #expect(epoch.utc?.microsecondsOfDay == 43_200_000_000)
    #expect(epoch.hdop_e2 == 120 && epoch.vdop_e2 == 160 && epoch.pdop_e2 == 200)
    #expect(epoch.satellitesInView == 6 && epoch.geoidSeparation_mm == 47_000)
    var random = SplitMix64(seed: 1)
    // GSV groups of one talker stay together.
    let movable = Self.cycle.filter { !$0.contains("GSV") }
    for _ in 0..<200 {
      var lines = movable.shuffled(using: &random)
      lines.insert(contentsOf: Self.cycle.filter { $0.contains("GSV") }, at: 3)
      #expect(epochs(lines.flatMap { sentence($0) }) == [epoch])
    }
  }

  @Test("an epoch ends once, at the next time or at close")
  func boundaries() {
    var assembler = EpochAssembler()
    let now = Instant(seconds: 5)
    func add(_ text: String) -> Epoch? {
      assembler.add(decode(sentence(text)).messages[0], at: now)
    }
    #expect(!assembler.isOpen)
    #expect(add("GPRMC,120000,A,4800.0,N,01100.0,E,,,010626,,") == nil && assembler.isOpen)
    #expect(add("GPGGA,120000,4800.0,N,01100.0,E,1,,,,,,,,") == nil)
    let first = add("GPRMC,120001,A,4801.0,N,01100.0,E,,,010626,,")
    #expect(first?.timeOfDay_us == 43_200_000_000 && first?.fix?.acquired == now)
    let second = assembler.close()
    #expect(second?.timeOfDay_us == 43_201_000_000 && !assembler.isOpen && assembler.close() == nil)
    // Late for the epoch that a silence has closed.
    #expect(add("GPGGA,120001,4801.0,N,01100.0,E,1,,,,,,,,") == nil && assembler.close() == nil)
    #expect(add("GPGGA,120002,4801.0,N,01100.0,E,1,,,,,,,,") == nil)
    #expect(assembler.close()?.timeOfDay_us == 43_202_000_000)
  }

  @Test("two talkers with one time are one epoch; one without position removes nothing")
  func talkers() {
    let found = epochs(
      stream(
        "GPGGA,020935,4404.1351,N,12118.8556,W,1,08,0.9,1123.9,M,-19.6,M,,",
        "GLGGA,020935,,,,,0,00,,,M,,M,,",
        "GNRMC,020935,A,4404.1351,N,12118.8556,W,0.04,359.11,050219,,,A",
        "GPGGA,020936,4404.1351,N,12118.8556,W,1,08,0.9,1123.9,M,-19.6,M,,",
        "GLGGA,020936,4404.1351,N,12118.8556,W,1,02,0.9,1123.9,M,-19.6,M,,"))
    #expect(found.count == 2 && found.allSatisfy { $0.fix?.satellites == 8 })
  }

  @Test("receivers without position or time send one epoch per cycle")
  func withoutTime() {
    let cycle = stream(
      "GNRMC,,V,,,,,,,,,,N", "GNGGA,,,,,,0,00,99.99,,,,,,", "GNGSA,A,1,,,,,,,,,,,,,99.9,99.9,99.9",
      "GNGLL,,,,,,V,N")
    let found = epochs(cycle + cycle + cycle)
    #expect(found.count == 3)
    #expect(found.allSatisfy { $0.fix == nil && $0.mode == .noFix && $0.utc == nil })
  }

  @Test(
    "status V, quality 0 or mode N means no fix, despite other sentences",
    arguments: [
      "GNRMC,120000,V,4800.0,N,01100.0,E,1.0,,010626,,,A",
      "GNRMC,120000,A,4800.0,N,01100.0,E,1.0,,010626,,,N",
      "GNGLL,4800.0,N,01100.0,E,120000,V,A", "GNGLL,4800.0,N,01100.0,E,120000,A,N",
    ])
  func noFix(line: String) {
    let gga = "GNGGA,120000,4800.0,N,01100.0,E,1,05,1.0,500.0,M,47.0,M,,"
    #expect(epochs(stream(gga)).first?.fix != nil)
    for lines in [stream(line, gga), stream(gga, line), stream(line)] {
      let found = epochs(lines)
      #expect(found.count == 1 && found[0].fix == nil && found[0].mode == .noFix)
    }
    let zero = epochs(stream("GNGGA,120000,4800.0,N,01100.0,E,0,05,1.0,500.0,M,47.0,M,,"))
    #expect(zero.count == 1 && zero[0].fix == nil)
  }

  @Test("LOC-4: HDOP is converted with the range error only if no error estimate is sent")
  func accuracy() {
    let gga = "GNGGA,120000,4800.0,N,01100.0,E,1,05,1.50,500.0,M,47.0,M,,"
    func fix(_ lines: String..., range: Int32 = 5_000) -> Fix? {
      var options = EpochOptions()
      options.rangeError_mm = range
      return epochs(lines.flatMap { sentence($0) }, options).first?.fix
    }
    #expect(fix(gga)?.horizontalAccuracy_mm == 7_500)
    #expect(fix(gga, range: 2_000)?.horizontalAccuracy_mm == 3_000)
    #expect(fix(gga)?.verticalAccuracy_mm == nil)
    let gsa = "GNGSA,A,3,01,,,,,,,,,,,,2.0,1.2,1.6"
    #expect(fix(gga, gsa)?.verticalAccuracy_mm == 8_000)
    #expect(fix(gga, gsa)?.horizontalAccuracy_mm == 7_500)
    #expect(fix(gga, "GNGST,120000,,,,,0.6,0.8,1.1")?.horizontalAccuracy_mm == 1_000)
    #expect(fix(gga, "GNGST,120000,,,,,0.6,0.8,1.1")?.verticalAccuracy_mm == 1_100)
    #expect(fix(gga, "GNGST,120000,,,,,0.0,0.0,0.0")?.horizontalAccuracy_mm == 7_500)
    #expect(fix(gga, "GNGST,120000,,,,,,,")?.horizontalAccuracy_mm == 7_500)
    #expect(
      fix("GNGLL,4800.0,N,01100.0,E,120000,A,A")?.horizontalAccuracy_mm == nil)
  }

  @Test("LOC-2: a 2D fix keeps its altitude but has no vertical accuracy")
  func twoDimensional() {
    let fix = epochs(
      stream(
        "GNGGA,120000,4800.0,N,01100.0,E,1,05,1.50,500.0,M,47.0,M,,",
        "GNGSA,A,2,01,,,,,,,,,,,,2.0,1.2,1.6", "GNGST,120000,,,,,0.6,0.8,1.1")
    ).first?.fix
    #expect(fix?.mode == .twoDimensional && fix?.altitude_mm == 500_000)
    #expect(fix?.verticalAccuracy_mm == nil)
  }

  @Test("VTG supplies speed and course that RMC lacks")
  func vtg() {
    let rmc = "GNRMC,120000,A,4800.0,N,01100.0,E,,,010626,,,A"
    let vtg = "GNVTG,91.0,T,,M,1.0,N,1.852,K,A"
    let fix = epochs(stream(rmc, vtg)).first?.fix
    #expect(fix?.speed_mmps == 514 && fix?.course_e4 == 910_000)
    let invalid = epochs(stream(rmc, "GNVTG,91.0,T,,M,1.0,N,1.852,K,N")).first?.fix
    #expect(invalid?.speed_mmps == nil && invalid?.course_e4 == nil)
    // In a cycle VTG, ZDA, GLL, VTG belongs to the GLL before it, and the first VTG to the next
    // GLL.
    let found = epochs(
      stream(
        "IIVTG,10.0,T,,M,1.0,N,,,D", "GPZDA,120000,,,,00,", "GPGLL,4800.0,N,01100.0,E,120000,A,D",
        "IIVTG,20.0,T,,M,2.0,N,,,D", "GPZDA,120002,,,,00,", "GPGLL,4800.0,N,01100.0,E,120002,A,D"))
    #expect(found.map { $0.fix?.speed_mmps } == [1_029, nil])
  }

  @Test("GGA qualities and mode indicators are converted to fix qualities")
  func qualities() {
    let expected: [FixQuality] = [
      .autonomous, .differential, .autonomous, .rtkFixed, .rtkFloat, .deadReckoning, .surveyed,
      .simulated, .unknown,
    ]
    for (i, quality) in expected.enumerated() {
      let fix = epochs(stream("GPGGA,120000,4800.0,N,01100.0,E,\(i + 1),,,,,,,,")).first?.fix
      #expect(fix?.quality == quality)
    }
    for (letter, quality) in [
      ("A", .autonomous), ("D", .differential), ("E", .deadReckoning), ("F", .rtkFloat),
      ("M", .surveyed), ("P", .autonomous), ("R", .rtkFixed), ("S", .simulated), ("", .unknown),
    ] as [(String, FixQuality)] {
      let fix = epochs(stream("GPGLL,4800.0,N,01100.0,E,120000,A,\(letter)")).first?.fix
      #expect(fix?.quality == quality)
    }
  }

  @Test("a ZDA of another time does not split an epoch")
  func wanderingZDA() {
    let found = epochs(
      stream(
        "GPRMC,120000,A,4800.0,N,01100.0,E,,,010626,,", "GPZDA,120001,01,06,2026,00,00",
        "GPGGA,120000,4800.0,N,01100.0,E,1,05,1.0,500.0,M,47.0,M,,",
        "GPGLL,4800.0,N,01100.0,E,120001,A"))
    #expect(found.count == 2 && found[0].fix?.altitude_mm == 500_000)
    #expect(found[1].utc?.date == CalendarDate(year: 2026, month: 6, day: 1))
  }

  @Test("LOC-8: options mark fixes as simulated")
  func simulated() {
    var options = EpochOptions()
    options.isSimulated = true
    #expect(epochs(stream(Self.cycle[0]), options).first?.fix?.isSimulated == true)
    #expect(epochs(stream(Self.cycle[0])).first?.fix?.isSimulated == false)
  }
}

@Suite("Dates of epochs") struct EpochDateTests {
  private func dates(_ bytes: [UInt8], recorded: CalendarDate? = nil, earliest: CalendarDate? = nil)
    -> [(CalendarDate?, Bool)]
  {
    var options = EpochOptions()
    options.recordingDate = recorded
    options.earliestDate = earliest
    return epochs(bytes, options).map { ($0.utc?.date, $0.isDateUncertain) }
  }
  private func day(_ year: Int, _ month: Int, _ day: Int) -> CalendarDate? {
    CalendarDate(year: year, month: month, day: day)
  }
  private func rmc(_ time: String, _ date: String, _ status: String = "A") -> String {
    "GPRMC,\(time),\(status),4800.0,N,01100.0,E,,,\(date),,"
  }
  private func gll(_ time: String) -> String { "GPGLL,4800.0,N,01100.0,E,\(time),A" }

  @Test("year 80 means 1980, unless the recording date implies another century")
  func century() {
    #expect(dates(stream(rmc("120000", "010180")))[0] == (day(1980, 1, 1), false))
    #expect(dates(stream(rmc("120000", "010179")))[0] == (day(2079, 1, 1), false))
    let found = dates(stream(rmc("120000", "010181")), recorded: day(2080, 6, 1))
    #expect(found[0] == (day(2081, 1, 1), false))
  }

  @Test("STD-13: a date 1,024 weeks back is corrected with the recording date, and marked")
  func rollover() {
    let back = rmc("120000", "180700")  // 2000-07-18 is 1,024 weeks before 2020-03-03.
    let found = dates(stream(back), recorded: day(2020, 3, 1))
    #expect(found[0] == (day(2020, 3, 3), true))
    #expect(dates(stream(back))[0] == (day(2000, 7, 18), false))
    #expect(dates(stream(back), recorded: day(2009, 1, 1))[0] == (day(2000, 7, 18), false))
    let ahead = dates(stream(rmc("120000", "030320")), recorded: day(2000, 7, 1))
    #expect(ahead[0] == (day(2000, 7, 18), true))
    let live = dates(stream(back), earliest: day(2019, 1, 1))
    #expect(live[0] == (day(2020, 3, 3), true))
    #expect(dates(stream(back), earliest: day(2000, 7, 18))[0] == (day(2000, 7, 18), false))
  }

  @Test("undated times continue from the last date across midnight")
  func midnight() {
    let found = dates(
      stream(rmc("235958", "311226"), gll("235959"), gll("000000"), gll("000001"), gll("115959")))
    #expect(
      found.map(\.0) == [day(2026, 12, 31), day(2026, 12, 31)]
        + Array(repeating: day(2027, 1, 1), count: 3))
    // A small step back is not a midnight.
    let back = dates(stream(rmc("120002", "311226"), gll("120001")))
    #expect(back.map(\.0) == [day(2026, 12, 31), day(2026, 12, 31)])
  }

  @Test(
    "an undated recording uses its header's date, marked; without a header only the time is known")
  func header() {
    let found = dates(stream(gll("235959"), gll("000000")), recorded: day(2014, 1, 1))
    #expect(found[0] == (day(2014, 1, 1), true) && found[1] == (day(2014, 1, 2), true))
    let bare = epochs(stream(gll("235959")))
    #expect(bare[0].utc == nil && bare[0].timeOfDay_us == 86_399_000_000)
    #expect(bare[0].fix?.utc == nil)
  }

  @Test("the date of a receiver without position is marked and not used afterwards")
  func clock() {
    let found = dates(stream(rmc("235948", "161206", "V"), gll("235949")))
    #expect(found[0] == (day(2006, 12, 16), true) && found[1].0 == nil)
  }

  @Test("ZDA's four-digit year takes precedence over RMC's two-digit year")
  func zda() {
    let found = dates(stream(rmc("120000", "010180"), "GPZDA,120000,01,01,2080,00,00"))
    #expect(found[0] == (day(2080, 1, 1), false))
  }
}

import LocationTypes
import Testing

@testable import GNSSProtocols

@Suite("NMEA sentences") struct NMEASentenceTests {
  private func one(_ text: String) -> GNSSMessage? { decode(sentence(text)).messages.first }
  private func isMalformed(_ text: String) -> Bool {
    decode(sentence(text)).counters.malformed == 1
  }

  @Test(
    "a sentence is appended with its checksum of two digits, after what the buffer holds",
    arguments: [("PMTK605", "$PMTK605*31\r\n"), ("A", "$A*41\r\n"), ("AB", "$AB*03\r\n")])
  func appended(_ body: String, _ sentence: String) {
    var buffer = FrameBuffer()
    buffer.append(UInt8(ascii: "x"))
    buffer.append(sentence: body.utf8)
    let text = String(decoding: (0..<buffer.count).map { buffer[$0] }, as: UTF8.self)
    #expect(text == "x" + sentence)
  }

  @Test("RMC of NMEA 2.0, 2.3 and 4.1 is decoded")
  func rmc() {
    var m = RMC(talker: .gps, time_us: 84_725_230_000, isValid: true)
    m.coordinate = Coordinate(latitude_e9: -37_860_833_333, longitude_e9: 145_122_666_667)
    m.speed_mmps = 0
    m.course_e4 = 3_600_000
    m.date = ShortDate(year: 98, month: 9, day: 13)
    m.variation_e4 = 113_000
    let body = "RMC,233205.23,A,3751.65,S,14507.36,E,000.0,360.0,130998,011.3,E"
    #expect(one("GP" + body) == .rmc(m))
    m.mode = .differential
    #expect(one("GP" + body + ",D") == .rmc(m))
    m.talker = .combined
    m.navigationalStatus = UInt8(ascii: "V")
    #expect(one("GN" + body + ",D,V") == .rmc(m))
    m.variation_e4 = -113_000
    #expect(one("GN" + body.dropLast() + "W,D,V") == .rmc(m))
    #expect(one("GNRMC,,V,,,,,,,,,,N") == .rmc(RMC(mode: .notValid)))
    #expect(one("GNRMC,") == .rmc(RMC()))
  }

  @Test("GGA is decoded with both altitudes; an empty field is nil, never zero")
  func gga() {
    var m = GGA(talker: .gps, time_us: 32_051_000_000, quality: 1)
    m.coordinate = Coordinate(latitude_e9: 52_372_025_000, longitude_e9: -4_909_630_000)
    m.satellites = 4
    m.horizontalDOP_e2 = 295
    m.altitude_mm = -16_050
    m.separation_mm = 47_000
    #expect(one("GPGGA,085411.000,5222.3215,N,00454.5778,W,1,4,2.95,-16.05,M,47.0,M,,") == .gga(m))
    #expect(
      one("GPGGA,,,,,,0,00,99.99,,,,,,") == .gga(GGA(talker: .gps, quality: 0, satellites: 0)))
    #expect(
      one("GPGGA,,,,,,0,00,0.0,,M,,M,,") == .gga(GGA(talker: .gps, quality: 0, satellites: 0)))
  }

  @Test("VTG in knots, in km/h and from before NMEA 2.0 is decoded")
  func vtg() {
    var m = VTG(talker: .gps)
    m.course_e4 = 2_513_400
    m.speed_mmps = 298
    #expect(one("GPVTG,251.34,T,,M,0.58,N,1.07,K") == .vtg(m))
    m.speed_mmps = 297
    #expect(one("GPVTG,251.34,T,,M,,N,1.07,K") == .vtg(m))
    m.mode = .autonomous
    #expect(one("GPVTG,251.34,T,,M,,N,1.07,K,A") == .vtg(m))
    m.mode = nil
    m.speed_mmps = 2_829
    m.course_e4 = 547_000
    m.magneticCourse_e4 = 344_000
    #expect(one("GPVTG,054.7,034.4,005.5,010.2") == .vtg(m))
    #expect(one("GPVTG,,T,,M,,N,,K") == .vtg(VTG(talker: .gps)))
  }

  @Test("GSA counts satellites with any numbers; GST and GSV are decoded")
  func others() {
    var gsa = GSA(talker: .combined, fixMode: 2)
    for number: UInt16 in [208, 211, 213] { gsa.append(number) }
    gsa.system = 4
    gsa.positionDOP_e2 = 160
    gsa.horizontalDOP_e2 = 130
    gsa.verticalDOP_e2 = 90
    #expect(one("GNGSA,A,2,208,,211,213,,,,,,,,,1.6,1.3,0.9,4") == .gsa(gsa))
    #expect(one("GNGSA,A,1,,,,,,,,,,,,,99.9,99.99,99.9") == .gsa(GSA(fixMode: 1)))
    var gst = GST(time_us: 0)
    gst.residual_mm = 15_000
    gst.latitude_mm = 5_400
    gst.longitude_mm = 11_850
    #expect(one("GNGST,000000.00,15,,,,5.4,11.85,") == .gst(gst))
    var gsv = GSV(talker: .gps, sentences: 3, number: 1, inView: 12)
    gsv.append(
      SatelliteInView(number: 13, elevation_deg: 73, azimuth_deg: 68, signal_dBHz: 33))
    gsv.append(
      SatelliteInView(number: 10, elevation_deg: 69, azimuth_deg: 286, signal_dBHz: 21))
    gsv.append(SatelliteInView(number: 4, elevation_deg: 47, azimuth_deg: 217))
    gsv.append(SatelliteInView(number: 2, elevation_deg: 42, azimuth_deg: 290))
    #expect(one("GPGSV,3,1,12,13,73,068,33,10,69,286,21,04,47,217,,02,42,290,") == .gsv(gsv))
    #expect(
      one("GPGSV,,,,,,,,,,,,,,,,,,,")
        == .gsv(GSV(talker: .gps, sentences: nil, number: nil, inView: nil)))
  }

  @Test("GLL of NMEA 1.5, 2.0 and 2.3 and ZDA with and without date are decoded")
  func positionAndTime() {
    var m = GLL(talker: .gps, time_us: 82_389_000_000, isValid: true)
    m.coordinate = Coordinate(latitude_e9: -45_457_633_333, longitude_e9: 167_152_750_000)
    #expect(one("GPGLL,4527.458,S,16709.165,E,225309,A") == .gll(m))
    m.mode = .autonomous
    #expect(one("GPGLL,4527.458,S,16709.165,E,225309,A,A") == .gll(m))
    m.mode = nil
    m.time_us = nil
    #expect(one("GPGLL,4527.458,S,16709.165,E") == .gll(m))
    m.isValid = false
    #expect(one("GPGLL,4527.458,S,16709.165,E,,V") == .gll(m))

    let date = CalendarDate(year: 2009, month: 1, day: 28)
    #expect(
      one("GPZDA,203540.00,28,01,2009,00,00")
        == .zda(ZDA(talker: .gps, time_us: 74_140_000_000, date: date, zone_min: 0)))
    #expect(
      one("GPZDA,095559,,,,00,")
        == .zda(ZDA(talker: .gps, time_us: 35_759_000_000, zone_min: 0)))
    #expect(
      one("GPZDA,095559,,,,-03,30")
        == .zda(ZDA(talker: .gps, time_us: 35_759_000_000, zone_min: -210)))
    #expect(one("GPZDA,095559,31,02,2009") == .zda(ZDA(talker: .gps, time_us: 35_759_000_000)))
  }

  @Test("numbers: signs, points, rounding half away from zero, long fractions")
  func numbers() {
    func altitude(_ text: String) -> Int32? {
      guard case .gga(let m)? = one("GPGGA,,,,,,1,,,\(text),M,,M,,") else { return nil }
      return m.altitude_mm
    }
    for (text, value) in [
      ("0", 0), ("-0.0", 0), ("1", 1_000), ("1.", 1_000), (".5", 500), ("-.5", -500), ("+2", 2_000),
      ("1.2345", 1_235), ("1.2344999999999999999999999", 1_234), ("-1.2345", -1_235),
      ("1.9999", 2_000), ("00460.0", 460_000), ("2147483.647", 2_147_483_647),
      ("-2147483.648", -2_147_483_648),
    ] as [(String, Int32)] {
      #expect(altitude(text) == value, "\(text)")
    }
    for text in [
      "-", "+", ".", "1-", "1.2.3", "1e3", " 1", "0x1", "2147483.648", "1234567890123456",
    ] {
      #expect(isMalformed("GPGGA,,,,,,1,,,\(text),M,,M,,"), "\(text)")
    }
  }

  @Test("speeds are converted exactly and rounded: knots and km/h to mm/s")
  func speeds() {
    for (knots, mmps) in [
      ("1", 514), ("0.001", 1), ("0.0009", 0), ("45.1", 23_201), ("100", 51_444),
      ("1000.0", 514_444),
    ] as [(String, Int32)] {
      guard case .rmc(let m)? = one("GPRMC,,A,,,,,\(knots),,,,") else { continue }
      #expect(m.speed_mmps == mmps)
    }
    for (kilometres, mmps) in [("3.6", 1_000), ("1", 278), ("0.0018", 1), ("0.0017", 0)]
      as [(String, Int32)]
    {
      guard case .vtg(let m)? = one("GPVTG,,T,,M,,N,\(kilometres),K") else { continue }
      #expect(m.speed_mmps == mmps)
    }
    #expect(isMalformed("GPRMC,,A,,,,,-1,,,,"))
    #expect(isMalformed("GPRMC,,A,,,,,2000001,,,,"))
  }

  @Test("coordinates: hemispheres, minutes below 60, in range; (0, 0) is valid", .tags(.location))
  func coordinates() {
    func parse(_ text: String) -> Coordinate? {
      guard case .gll(let m)? = one("GPGLL,\(text),,A") else { return nil }
      return m.coordinate
    }
    #expect(parse("0000.0,N,00000.0,E") == Coordinate(latitude_e9: 0, longitude_e9: 0))
    #expect(
      parse("9000,S,18000.0,W")
        == Coordinate(latitude_e9: -90_000_000_000, longitude_e9: -180_000_000_000))
    #expect(parse("0000.00000003,N,0.00000002,W") == Coordinate(latitude_e9: 1, longitude_e9: 0))
    #expect(parse("5959.9999999,N,5959.9999999,E")?.latitude_e9 == 59_999_999_998)
    for text in [
      "9000.1,N,0,E", "0,N,18000.1,E", "0060.0,N,0,E", "0,N,00060,E", "-0100.0,N,0,E", "0,X,0,E",
      "0,N,0,N", "0,E,0,E", "12a,N,0,E",
    ] {
      #expect(isMalformed("GPGLL,\(text),,A"), "\(text)")
    }
    for text in [",N,0,E", "0,,0,E", "0,N,,E", "0,N,0,", ",,,"] {
      #expect(one("GPGLL,\(text),,A") == .gll(GLL(talker: .gps, isValid: true)))
    }
  }

  @Test("times: fractions to the microsecond, second 60, no later second")
  func times() {
    func time(_ text: String) -> Int64? {
      guard case .zda(let m)? = one("GPZDA,\(text),,,") else { return nil }
      return m.time_us
    }
    #expect(time("000000") == 0)
    #expect(time("235959.999999") == 86_399_999_999)
    #expect(time("235960") == 86_400_000_000)
    #expect(time("010203.03") == 3_723_030_000)
    #expect(time("010203.0000004") == 3_723_000_000)
    for text in ["240000", "006000", "000061", "-000001", "1234567", "12345x"] {
      #expect(isMalformed("GPZDA,\(text),,,"), "\(text)")
    }
  }

  @Test("LOC-3: a course outside 0 … 360° is unknown")
  func courses() {
    func course(_ text: String) -> Int32? {
      guard case .vtg(let m)? = one("GPVTG,\(text),T,,M,,N,,K") else { return nil }
      return m.course_e4
    }
    #expect(course("0") == 0 && course("359.9999") == 3_599_999 && course("360.0") == 3_600_000)
    #expect(course("360.1") == nil && course("-0.1") == nil && course("") == nil)
  }

  @Test("proprietary and other sentences are identified")
  func unknown() {
    for text in [
      "PGRMM,WGS 84", "GPTXT,01", "IIHDT,1.0,T", "IIVHW,,T,,M,0.1,N,,K", "PMTK012,MTKGPS",
      "PUBX,03,1",
      "PUBX", "", "G", "GPRMC", "GPRMCX,1", "PSRMC,1",
    ] {
      let decoded = decode(sentence(text))
      #expect(
        decoded.messages == [.unknown(named(text))] && decoded.counters.unknown == 1, "\(text)")
    }
  }

  @Test("sentences are encoded as a u-blox receiver writes them")
  func common() {
    var fix = Fix(
      acquired: .boot,
      coordinate: Coordinate(latitude_e9: 47_285_233_300, longitude_e9: -8_565_265_999))
    fix.utc = UTCTime(microseconds: 1_017_047_309_000_000)
    fix.speed_mmps = 2
    fix.course_e4 = 775_200
    fix.altitude_mm = 499_640
    fix.ellipsoidalAltitude_mm = 547_640
    fix.satellites = 8
    fix.horizontalAccuracy_mm = 1_414
    fix.verticalAccuracy_mm = 2_000
    var buffer = FrameBuffer()
    buffer.append(RMC(fix))
    buffer.append(GGA(fix, talker: .gps, horizontalDOP_e2: 101))
    buffer.append(VTG(fix))
    buffer.append(GST(fix))
    buffer.append(ZDA(UTCTime(microseconds: 1_017_047_309_000_000)))
    buffer.append(GSA(fix, positionDOP_e2: 194, horizontalDOP_e2: 118, verticalDOP_e2: 154))
    buffer.append(GLL(fix))
    buffer.append(GSV(sentences: 1, number: 1, inView: 9))
    let expected = [
      "GNRMC,090829.00,A,4717.11400,N,00833.91596,W,0.004,77.52,250302,,,A",
      "GPGGA,090829.00,4717.11400,N,00833.91596,W,1,08,1.01,499.6,M,48.0,M,,",
      "GNVTG,77.52,T,,M,0.004,N,0.007,K,A",
      "GNGST,090829.00,,,,,1.0,1.0,2.0",
      "GNZDA,090829.00,25,03,2002,00,00",
      "GNGSA,A,3,01,02,03,04,05,06,07,08,,,,,1.94,1.18,1.54",
      "GNGLL,4717.11400,N,00833.91596,W,090829.00,A,A",
      "GPGSV,1,1,09",
    ]
    #expect(bytes(buffer) == expected.flatMap { sentence($0) })
  }

  @Test("rounding never writes 60 minutes, 360° or second 60")
  func carries() {
    var fix = Fix(
      acquired: .boot,
      coordinate: Coordinate(latitude_e9: 47_999_999_999, longitude_e9: 179_999_999_999))
    fix.utc = UTCTime(microseconds: 1_017_100_799_999_999)
    fix.course_e4 = 3_599_999
    var buffer = FrameBuffer()
    buffer.append(RMC(fix))
    #expect(
      bytes(buffer) == sentence("GNRMC,235959.99,A,4800.00000,N,18000.00000,E,,0.00,250302,,,A"))
  }
}

extension Tag {
  @Tag static var location: Self
}

extension RMC {
  fileprivate init(mode: NMEAMode) {
    self.init()
    self.mode = mode
  }
}

extension GGA {
  fileprivate init(talker: Talker, quality: UInt8, satellites: UInt8) {
    self.init(talker: talker, quality: quality)
    self.satellites = satellites
  }
}

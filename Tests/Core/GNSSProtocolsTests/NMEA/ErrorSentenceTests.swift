import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// GNS, GBS and proprietary sentences: examples published by receiver manufacturers.
@Suite("Error, position and proprietary sentences") struct ErrorSentenceTests {
  private func one(_ text: String) -> GNSSMessage? { decode(sentence(text)).messages.first }
  private func isMalformed(_ text: String) -> Bool {
    decode(sentence(text)).counters.malformed == 1
  }

  @Test("GNS: u-blox's example and gpsd's recording of a Telit")
  func gns() {
    // u-blox 8 / M8 receiver description, GNS.
    var m = GNS(time_us: 37_890_000_000, mode: .autonomous)
    m.coordinate = Coordinate(latitude_e9: 51_536_700_000, longitude_e9: -62_166_667 / 1_000)
    guard
      case .gns(let found)? = one(
        "GNGNS,103130.00,5132.20200,N,00000.00373,W,AANN,14,0.59,38.9,45.7,,,V")
    else {
      Issue.record("no GNS")
      return
    }
    m.coordinate = found.coordinate
    m.satellites = 14
    m.horizontalDOP_e2 = 59
    m.altitude_mm = 38_900
    m.separation_mm = 45_700
    m.navigationalStatus = UInt8(ascii: "V")
    #expect(found == m)
    #expect(found.coordinate?.latitude_e9 == 51_536_700_000)
    #expect(found.coordinate?.longitude_e9 == -62_167)
  }

  @Test("GNS: the best mode of any system; age and station")
  func modes() {
    func mode(_ letters: String) -> NMEAMode?? {
      guard case .gns(let m)? = one("GNGNS,,,,,,\(letters),,,,,,") else { return nil }
      return .some(m.mode)
    }
    for (letters, expected) in [
      ("NN", .notValid), ("NA", .autonomous), ("AN", .autonomous), ("ADA", .differential),
      ("RDA", .rtkFixed), ("FD", .rtkFloat), ("FR", .rtkFixed), ("EA", .autonomous), ("", nil),
      ("x", nil), ("Nx", .notValid), ("NE", .estimated),
    ] as [(String, NMEAMode?)] {
      #expect(mode(letters) == .some(expected), "\(letters)")
    }
    // Trimble's description of GNS: one of a pair with age and station.
    guard case .gns(let m)? = one("GPGNS,112257.00,,,,,,07,,,,5.0,23") else {
      Issue.record("no GNS")
      return
    }
    #expect(m.correctionAge_ms == 5_000 && m.station == 23 && m.satellites == 7)
  }

  @Test("GBS: u-blox's example")
  func gbs() {
    // u-blox 8 / M8 receiver description, GBS.
    var m = GBS(talker: .gps, time_us: 84_743_000_000)
    m.latitude_mm = 1_400
    m.longitude_mm = 1_300
    m.altitude_mm = 3_100
    m.satellite = 3
    m.bias_mm = -21_400
    m.biasError_mm = 3_800
    #expect(one("GPGBS,233223.00,1.4,1.3,3.1,03,,-21.4,3.8,1,0") == .gbs(m.at(84_743_000_000)))
    #expect(one("GPGBS,235503.00,1.6,1.4,3.2,,,,,,") != nil)
    #expect(isMalformed("GPGBS,235503.00,1.6x,1.4,3.2,,,,"))
  }

  @Test("PUBX,00: u-blox's example")
  func pubx() {
    // u-blox 8 / M8 receiver description, PUBX,00.
    var m = UBloxPosition(time_us: 30_830_000_000, status: .threeDimensional)
    m.coordinate = Coordinate(latitude_e9: 47_285_220_167, longitude_e9: 8_565_253_117)
    m.height_mm = 546_589
    m.horizontalAccuracy_mm = 2_100
    m.verticalAccuracy_mm = 2_000
    m.speed_mmps = 2
    m.course_e4 = 775_200
    m.velocityDown_mmps = 7
    m.horizontalDOP_e2 = 92
    m.verticalDOP_e2 = 119
    m.timeDOP_e2 = 77
    m.satellites = 9
    let text =
      "PUBX,00,083350.00,4717.113210,N,00833.915187,E,546.589,G3,2.1,2.0,0.007,77.52,0.007,,0.92,"
      + "1.19,0.77,9,0,0"
    #expect(one(text) == .ubloxPosition(m))
    for (word, status) in [
      ("NF", .noFix), ("DR", .deadReckoning), ("G2", .twoDimensional), ("D2", .differential2D),
      ("D3", .differential3D), ("RK", .combined), ("TT", .timeOnly), ("G4", nil), ("G", nil),
    ] as [(String, UBloxPosition.Status?)] {
      #expect(one("PUBX,00,,,,,,,\(word)") == .ubloxPosition(UBloxPosition(status: status)))
    }
    #expect(decode(sentence("PUBX,03,11,23")).counters.unknown == 1)
    #expect(decode(sentence("PUBX,001,")).counters.unknown == 1)
  }

  @Test("PGRME and PGRMZ: a Garmin 48 recorded by gpsd, and a FLARM in metres")
  func garmin() {
    #expect(
      one("PGRME,9.1,M,15.0,M,12.0,M")
        == .garminErrors(
          GarminErrors(horizontal_mm: 9_100, vertical_mm: 15_000, position_mm: 12_000)))
    #expect(one("PGRME,,M,,M,,M") == .garminErrors(GarminErrors()))
    for (text, altitude) in [
      ("48,f,3", 14_630), ("-48,f,3", -14_630), ("1,f,3", 305), ("93,F,3", 28_346),
      ("48,m,3", 48_000), (",f,3", nil),
    ] as [(String, Int32?)] {
      #expect(
        one("PGRMZ,\(text)")
          == .garminAltitude(GarminAltitude(altitude_mm: altitude, dimensions: 3)), "\(text)")
    }
    #expect(
      one("PGRMZ,2282,f,1") == .garminAltitude(GarminAltitude(altitude_mm: 695_554, dimensions: 1)))
    #expect(isMalformed("PGRMZ,x,f,3"))
  }

  @Test("results of PMTK and PAIR commands")
  func results() {
    // GlobalTop PMTK command packet A11; Quectel LC76G PAIR protocol.
    #expect(
      decode(Array("$PMTK001,604,3*32\r\n".utf8)).messages
        == [.commandResult(CommandResult(family: .mtk, command: 604, outcome: .done))])
    #expect(
      decode(Array("$PAIR001,066,0*3B\r\n".utf8)).messages
        == [.commandResult(CommandResult(family: .airoha, command: 66, outcome: .done))])
    for (flag, outcome) in [
      ("0", .invalid), ("1", .unsupported), ("2", .failed), ("3", .done),
    ] as [(String, CommandResult.Outcome)] {
      #expect(
        one("PMTK001,314,\(flag)")
          == .commandResult(CommandResult(family: .mtk, command: 314, outcome: outcome)))
    }
    for (result, outcome) in [
      ("0", .done), ("1", .pending), ("2", .failed), ("3", .unsupported), ("4", .invalid),
      ("5", .busy),
    ] as [(String, CommandResult.Outcome)] {
      #expect(
        one("PAIR001,062,\(result)")
          == .commandResult(CommandResult(family: .airoha, command: 62, outcome: outcome)))
    }
    for text in ["PMTK001,314,4", "PMTK001,314", "PMTK001,,3", "PAIR001,62,6", "PAIR001,x,0"] {
      #expect(isMalformed(text), "\(text)")
    }
    #expect(decode(sentence("PMTK012,001")).counters.unknown == 1)
  }

  @Test("answers of a Teseo, with and without fields, as recorded by others")
  func teseo() {
    func result(
      _ command: UInt16, _ outcome: CommandResult.Outcome = .done, _ value: UInt32? = nil
    ) -> [GNSSMessage] {
      [
        .commandResult(
          CommandResult(family: .teseo, command: command, outcome: outcome, value: value))
      ]
    }
    func messages(_ text: String) -> [GNSSMessage] { decode(sentence(text)).messages }
    // UM2229; a Quectel test program with a Teseo; ST's forum; UM2791 sections 10.1.40, 10.2.1 to 10.2.3.
    #expect(decode(Array("$PSTMVER,BINIMG_4.5.5_ARM*1B\r\n".utf8)).messages == result(0))
    #expect(
      decode(Array("$PSTMSETPAR,1201,0x00180056*5B\r\n".utf8)).messages
        == result(1_201, .done, 0x18_0056))
    #expect(decode(Array("$PSTMSETPAROK,1102*31\r\n".utf8)).messages == result(1))
    #expect(messages("PSTMSETPARERROR") == result(1, .failed))
    #expect(messages("PSTMSAVEPAROK") == result(2))
    #expect(messages("PSTMSAVEPARERROR") == result(2, .failed))
    #expect(messages("PSTMFORCESTANDBYOK") == result(3))
    #expect(messages("PSTMFORCESTANDBYERROR") == result(3, .failed))
    #expect(messages("PSTMSET,1228,aF") == result(1_228, .done, 0xAF))
    #expect(messages("PSTMSETPAR,1303,0.200000") == result(1_303, .done, 200))
    for text in [
      "PSTMSETPAR,x,1", "PSTMSETPAR,1201,", "PSTMSETPAR,1201,0x", "PSTMSETPAR,1201,4G",
      "PSTMSETPAR,1201,123456789", "PSTMSETPAR,1303,x", "PSTMSETPAR",
    ] {
      #expect(isMalformed(text), "\(text)")
    }
    for text in ["PSTMCPU,1", "PSTMSAVEPA", "PSTMSAVEPAROKX"] {
      #expect(decode(sentence(text)).counters.unknown == 1, "\(text)")
    }
  }

  @Test("identification sentences of sentence-commanded receivers, as recorded by others")
  func notices() {
    // MTK NMEA packet manual; the start of an ATGM336H (AT6558, URANUS5 V5.3.0.0).
    for (text, notice): (String, ReceiverNotice) in [
      ("PMTK010,001", .started), ("PMTK010,002", .awake), ("PMTK010,003", .awake),
      ("PMTK011,MTKGPS", .started), ("GPTXT,01,01,02,MA=CASIC", .started),
    ] {
      #expect(decode(sentence(text)).messages == [.receiverNotice(notice)], "\(text)")
    }
    // The firmware is also the answer to the query that follows each command to a CASIC receiver.
    #expect(
      decode(sentence("GPTXT,01,01,02,SW=URANUS5,V5.3.0.0")).messages
        == [.commandResult(CommandResult(family: .casic, command: 6, outcome: .done))])
    #expect(isMalformed("PMTK010,x"))
    // The other start-up sentences and the antenna status are ignored.
    for text in [
      "GPTXT,01,01,02,HW=ATGM336H,0001170603610", "GPTXT,01,01,02,MO=GB",
      "GPTXT,01,01,01,ANTENNA OPEN", "GPTXT,01,01,02,", "GPTXT,01,01,02,MA", "GPTXT,01,01,02",
    ] {
      #expect(decode(sentence(text)).counters.unknown == 1, "\(text)")
    }
  }

  @Test("all forms of GSV satellites; signals; GSA with gaps and long numbers")
  func satellites() {
    func gsv(_ text: String) -> [SatelliteInView]? {
      guard case .gsv(let m)? = one("GPGSV,3,1,11,\(text)") else { return nil }
      return (0..<Int(m.count)).map { m.satellite($0) }
    }
    func satellite(_ n: UInt16, _ e: Int8?, _ a: UInt16?, _ s: UInt8?) -> SatelliteInView {
      SatelliteInView(number: n, elevation_deg: e, azimuth_deg: a, signal_dBHz: s)
    }
    for (text, expected) in [
      ("12,45,123,45", satellite(12, 45, 123, 45)), ("12,45,123,", satellite(12, 45, 123, nil)),
      ("99,90,360,99", satellite(99, 90, 360, 99)), ("02,00,000,00", satellite(2, 0, 0, 0)),
      ("2,5,3,4", satellite(2, 5, 3, 4)), ("201,45,123,45", satellite(201, 45, 123, 45)),
      ("12,-5,123,45", satellite(12, -5, 123, 45)), ("12,91,361,45", satellite(12, nil, nil, 45)),
      ("12,,,45", satellite(12, nil, nil, 45)), ("12,45,1234,", satellite(12, 45, nil, nil)),
      ("12,45,12,345", satellite(12, 45, 12, nil)), ("12,45,123,7", satellite(12, 45, 123, 7)),
      ("1,245,12,345", satellite(1, nil, 12, nil)),
    ] as [(String, SatelliteInView)] {
      #expect(gsv(text) == [expected], "\(text)")
      #expect(
        gsv("11,22,133,44,\(text),55,66,177,18") == [
          satellite(11, 22, 133, 44), expected, satellite(55, 66, 177, 18),
        ], "\(text)")
    }
    #expect(gsv("00,45,123,45") == [] && gsv(",,,") == [] && gsv("12,45,123") == [])
    for text in ["1x,45,123,45", "12,4x,123,45", "12,45,12x,45", "12,45,123,4x", "12.45,123,45,1"] {
      #expect(gsv(text) == nil || text.contains("."), "\(text)")
    }
    guard case .gsv(let m)? = one("GAGSV,1,1,01,02,34,066,38,A") else { return }
    #expect(m.signal == 10 && m.count == 1)
    guard case .gsv(let bare)? = one("GAGSV,1,1,00,7") else { return }
    #expect(bare.signal == 7 && bare.count == 0 && bare.inView == 0)
    guard case .gsa(let gsa)? = one("GPGSA,M,3,01,,,,13,20,222,,,,28,,3.1,2.1,2.0") else { return }
    #expect((0..<Int(gsa.satellites)).map { gsa.satellite($0) } == [1, 13, 20, 222, 28])
    #expect(gsa.isAutomatic == false && gsa.system == nil)
  }

  @Test("the remaining fields: age and station, ellipse, magnetic course")
  func remaining() {
    guard case .gga(let gga)? = one("GPGGA,,,,,,2,,,,M,,M,2.4,1023") else { return }
    #expect(gga.correctionAge_ms == 2_400 && gga.station == 1_023)
    // u-blox 8 / M8 receiver description, GST.
    guard case .gst(let gst)? = one("GPGST,082356.00,1.8,1.9,1.2,67.5,1.7,1.3,2.2") else { return }
    #expect(gst.residual_mm == 1_800 && gst.semiMajor_mm == 1_900 && gst.semiMinor_mm == 1_200)
    #expect(gst.orientation_e4 == 675_000 && gst.latitude_mm == 1_700 && gst.altitude_mm == 2_200)
    guard case .vtg(let vtg)? = one("GPVTG,77.52,T,75.12,M,0.004,N,0.008,K,A") else { return }
    #expect(vtg.magneticCourse_e4 == 751_200)
  }
}

extension GBS {
  fileprivate func at(_ time_us: Int64) -> GBS {
    var other = self
    other.time_us = time_us
    return other
  }
}

@Suite("Epochs with error and proprietary sentences") struct ErrorSentenceEpochTests {
  static let gns = "GNGNS,120000.00,4800.0001,N,01100.0001,E,ADNN,14,1.20,500.0,47.0,,,V"
  static let rmc = "GNRMC,120000.00,A,4800.0000,N,01100.0000,E,10.0,90.0,010626,,,A"
  static let gbs = "GNGBS,120000.00,3.0,4.0,5.0,,,,"
  static let pubx =
    "PUBX,00,120000.00,4800.0003,N,01100.0003,E,547.5,D3,2.5,3.5,36.0,91.0,-1.5,,0.92,1.19,0.77,8,0,0"

  private func fix(_ lines: String...) -> Fix? {
    epochs(lines.flatMap { sentence($0) }).first?.fix
  }

  @Test("GNS equals a GGA of all systems, in any order")
  func combined() throws {
    let lines = [
      Self.gns, Self.rmc, Self.gbs, "PGRME,9.0,M,15.0,M,12.0,M", "PGRMZ,48,f,2", Self.pubx,
    ]
    let first = epochs(lines.flatMap { sentence($0) })
    let found = try #require(first.first?.fix)
    #expect(first.count == 1)
    #expect(found.coordinate.latitude_e9 == 48_000_001_667)
    #expect(found.altitude_mm == 500_000 && found.ellipsoidalAltitude_mm == 547_000)
    #expect(found.satellites == 14 && found.quality == .differential)
    #expect(found.speed_mmps == 5_144 && found.course_e4 == 900_000)
    #expect(found.horizontalAccuracy_mm == 2_500 && found.verticalAccuracy_mm == 3_500)
    #expect(first.first?.climb_mmps == 1_500 && first.first?.mode == .threeDimensional)
    var random = SplitMix64(seed: 3)
    for _ in 0..<100 {
      let shuffled = lines.shuffled(using: &random)
      #expect(epochs(shuffled.flatMap { sentence($0) }) == first)
    }
  }

  @Test("errors: GST, then PUBX, then GBS, then PGRME, then DOP", .tags(.location))
  func errors() {
    let gst = "GNGST,120000.00,,,,,0.6,0.8,1.1"
    let garmin = "PGRME,10.0,M,20.0,M,25.0,M"
    #expect(fix(Self.gns, Self.pubx, Self.gbs, gst)?.horizontalAccuracy_mm == 1_000)
    #expect(fix(Self.gns, Self.pubx, Self.gbs, garmin)?.horizontalAccuracy_mm == 2_500)
    #expect(fix(Self.gns, Self.gbs, garmin)?.horizontalAccuracy_mm == 5_000)
    #expect(fix(Self.gns, Self.gbs, garmin)?.verticalAccuracy_mm == 5_000)
    #expect(fix(Self.gns, garmin)?.horizontalAccuracy_mm == 11_985)
    #expect(fix(Self.gns, garmin)?.verticalAccuracy_mm == 16_950)
    #expect(fix(Self.gns)?.horizontalAccuracy_mm == 6_000)
    #expect(fix(Self.gns, "GNGBS,120000.00,0.0,0.0,0.0,,,,")?.horizontalAccuracy_mm == 6_000)
  }

  @Test("PUBX,00 alone is a fix; without a fix it removes the position")
  func ublox() {
    let found = fix(Self.pubx)
    #expect(found?.coordinate.latitude_e9 == 48_000_005_000)
    #expect(found?.ellipsoidalAltitude_mm == 547_500 && found?.altitude_mm == nil)
    #expect(found?.speed_mmps == 10_000 && found?.course_e4 == 910_000 && found?.satellites == 8)
    #expect(found?.quality == .differential && found?.mode == .threeDimensional)
    let flat = Self.pubx.replacing("D3", with: "G2")
    #expect(fix(flat)?.mode == .twoDimensional && fix(flat)?.quality == .autonomous)
    let none = Self.pubx.replacing("D3", with: "NF")
    #expect(fix(Self.rmc, none) == nil && epochs(sentence(none)).count == 1)
    let withoutPosition = "PUBX,00,120000.00,,,,,,TT,,,,,,,,,,,,"
    #expect(fix(Self.rmc, withoutPosition) == nil && epochs(sentence(withoutPosition)).count == 1)
  }

  @Test("GNS without position means no fix; an empty GNS is ignored")
  func noFix() {
    let none = "GNGNS,120000.00,4800.0001,N,01100.0001,E,NN,00,,,,,"
    #expect(fix(Self.rmc, none) == nil && fix(none, Self.rmc) == nil)
    #expect(fix(Self.rmc, "GNGNS,120000.00,,,,,,,,,,,") != nil)
  }

  @Test("PGRMZ supplies the altitude only if no other sentence does and it has a fix")
  func garmin() {
    let gll = "GPGLL,4800.0,N,01100.0,E,120000,A"
    #expect(fix(gll, "PGRMZ,48,f,3")?.altitude_mm == 14_630)
    #expect(fix(gll, "PGRMZ,48,f,3")?.mode == .threeDimensional)
    #expect(fix(gll, "PGRMZ,48,f,2")?.mode == .twoDimensional)
    #expect(fix(gll, "PGRMZ,48,f,1")?.altitude_mm == nil)
    #expect(fix(Self.gns, "PGRMZ,48,f,3")?.altitude_mm == 500_000)
  }

  @Test("sentences unrelated to position do not disturb an epoch")
  func unrelatedSentences() {
    let plain = epochs(sentence(Self.rmc) + sentence(Self.gns))
    let mixed = epochs(
      stream(
        "IIHDT,12.0,T", Self.rmc, "IIVHW,,T,,M,0.1,N,,K", "PMTK001,314,3", "GPTXT,01,01,02,x",
        "PGRMM,WGS 84", Self.gns, "PAIR001,062,0"))
    #expect(plain == mixed && plain.count == 1)
  }

  @Test("GSV of several talkers and signals in any order; a repeated GSA counts once")
  func satellites() {
    let views = [
      "GPGSV,2,1,07,,,,,1", "GPGSV,2,2,07,,,,,1", "GPGSV,1,1,04,,,,,6", "GLGSV,1,1,05,,,,,1",
      "GAGSV,1,1,03,,,,,7", "GLGSV,1,1,06,,,,,3",
    ]
    var random = SplitMix64(seed: 4)
    for _ in 0..<50 {
      let lines = [Self.rmc] + views.shuffled(using: &random)
      #expect(epochs(lines.flatMap { sentence($0) }).first?.satellitesInView == 16)
    }
    let gps = "GNGSA,A,3,01,02,03,,,,,,,,,,2.0,1.2,1.6,1"
    let glonass = "GNGSA,A,3,71,72,,,,,,,,,,,2.0,1.2,1.6,2"
    let again = "GNGSA,A,3,04,05,06,,,,,,,,,,2.0,1.2,1.6,1"
    #expect(fix(Self.rmc, gps, glonass)?.satellites == 5)
    #expect(fix(Self.rmc, gps, glonass, gps, glonass)?.satellites == 5)
    #expect(fix(Self.rmc, gps, again)?.satellites == 6)
  }
}

import LocationTypes

@testable import GNSSProtocols

extension BadInput {
  static let all = framing + interrupted + addresses + numbers + coordinates + times + frames

  /// GLL of a receiver without a position.
  private static let lost: GNSSMessage = {
    var m = GLL(talker: .gps)
    m.mode = .notValid
    return .gll(m)
  }()

  /// GGA of a receiver without a position.
  private static let noSatellite: GNSSMessage = {
    var m = GGA(talker: .gps, quality: 0)
    m.satellites = 0
    return .gga(m)
  }()

  /// RMC of a receiver without a position.
  private static let noFix: GNSSMessage = {
    var m = RMC(talker: .gps)
    m.mode = .notValid
    return .rmc(m)
  }()

  /// Start, checksum and end of a sentence.
  private static let framing: [BadInput] = [
    .raw(
      "three digits of checksum: two count", .minmea, #"$GPRMC,,V,,,,,,,,,,N*532"#,
      [noFix], counts(sentences: 1, skipped: 1)),
    .raw(
      "a byte beyond ASCII", .minmea, #"$GPVTG,,,,\xff,,,,,N*30"#,
      counts(brokenOff: 1, skipped: 20)),
    .raw(
      "two dollars: the second starts", .minmea, #"$$GPGGA,,,,,,0,00,99.99,,,,,,*48"#,
      [noSatellite], counts(sentences: 1, skipped: 1)),
    .raw(
      "no dollar", .minmea, #"GPGSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99*30"#, counts(skipped: 42)),
    .raw("text before, no checksum", .minmea, #"gps: $GPGLL,,,,,,V,N"#, counts(skipped: 20)),
    .raw(
      "wrong checksum in small letters", .minmea, #"$GPXTE,A,A,0.67,L,N*6e"#,
      counts(checksumErrors: 1, skipped: 22)),
    .raw(
      "right checksum in small letters", .minmea, #"$GPXTE,A,A,0.67,L,N*6f"#,
      [.unknown(named("GPXTE,"))],
      counts(sentences: 1, unknown: 1)),
    .raw(
      "checksum with a letter beyond F", .minmea, #"$GPXTE,A,A,0.67,L,N*6g"#,
      counts(brokenOff: 1, skipped: 22)),
    .raw(
      "checksum of two letters beyond F", .tinyGPS, #"$GPGLL,,,,,,V,N*ZZ\r\n"#,
      counts(brokenOff: 1, skipped: 18)),
    .raw(
      "a space after the line", .minmea, #"$GPTXT,hello\n "#, counts(brokenOff: 1, skipped: 13)),
    .raw(
      "an end of line before the star", .minmea, #"$GPTXT,hello\r*24"#,
      counts(brokenOff: 1, skipped: 15)),
    .raw(
      "the next sentence's dollar at the end", .minmea, #"$GPTXT,hello\r\n$"#,
      counts(brokenOff: 1, skipped: 13)),
    .raw(
      "no checksum", .minmea, #"$GPTXT,hello\n\r\r\n"#, counts(brokenOff: 1, skipped: 12)),
    .raw(
      "no checksum and a short address", .gpsd, #"$STI,3\r\n"#, counts(brokenOff: 1, skipped: 6)),
    .raw(
      "wrong checksum", .gpsd, #"$GPVTG,308.74,T,,M,0.00,N,0.0,K*28\r\n"#,
      counts(checksumErrors: 1, skipped: 34)),
    .raw(
      "wrong checksum 00", .pynmea2,
      "$GPGGA,184353.07,1929.045,S,02410.506,E,1,04,2.6,100.00,M,-33.9,M,,0000*00",
      counts(checksumErrors: 1, skipped: 74)),
    .raw(
      "a digit changed", .goNMEA, #"$GPFOO,1,2,3.4,x,y,zz,*51"#,
      counts(checksumErrors: 1, skipped: 25)),
    .raw(
      "one digit of checksum", .torpor, #"$GPGLL,,,,,,V,N*6\r\n"#,
      counts(brokenOff: 1, skipped: 17)),
    .raw("one digit of checksum at the end", .torpor, #"$GPGLL,,,,,,V,N*6"#, counts(skipped: 17)),
    .raw("star at the end", .torpor, #"$GPGLL,,,,,,V,N*"#, counts(skipped: 16)),
    .raw("two stars", .torpor, #"$GPGLL,,,,,,V,N**64"#, counts(brokenOff: 1, skipped: 19)),
    .raw(
      "checksum without a star", .torpor, #"$GPGLL,,,,,,V,N64\r\n"#,
      counts(brokenOff: 1, skipped: 17)),
    .raw(
      "no end of line between two", .neoGPS, #"$GPGLL,,,,,,V,N*64$GPGLL,,,,,,V,N*64"#,
      [lost, lost], counts(sentences: 2)),
    .raw(
      "neither end of line nor dollar between two", .neoGPS,
      #"$GPGLL,,,,,,V,N*64GPGLL,,,,,,V,N*64\r\n"#, [lost], counts(sentences: 1, skipped: 17)),
    .raw(
      "a backslash behind", .pynmea2, #"$GPGSV,3,3,09,24,03,046,*47\\"#,
      [
        .gsv(
          {
            var m = GSV(sentences: 3, number: 3, inView: 9)
            m.append(SatelliteInView(number: 24, elevation_deg: 3, azimuth_deg: 46))
            return m
          }())
      ], counts(sentences: 1, skipped: 1)),
    .raw(
      "spaces for a dollar", .pynmea2, #"  GPGSV,3,3,09,24,03,046,*47  \r\n  "#,
      counts(skipped: 32)),
    .raw("no sentence at all", .pynmea2, "FOOBAR", counts(skipped: 6)),
    .raw("a percent sign for a dollar", .goNMEA, "%GPFOO,1,2,3,x,y,z*1A", counts(skipped: 21)),
    .raw("nothing", .goNMEA, "", counts()),
    .raw("ends of lines", .torpor, #"\r\n\n\r\r\n"#, counts()),
    .raw(
      "nothing between dollar and star", .nmealib, "$*00", [.unknown(named(""))],
      counts(
        sentences: 1, unknown: 1)),
    .raw("star and checksum alone", .torpor, "*00", counts(skipped: 3)),
  ]

  /// Sentences that are interrupted.
  private static let interrupted: [BadInput] = [
    .raw(
      "leading garbage", .gpsd, #"\xff\xbf\x00\xbf$GPGLL,,,,,,V,N*64\r\n"#, [lost],
      counts(sentences: 1, skipped: 4)),
    .raw(
      "another sentence inside", .gpsd,
      #"$GPZDA,112533.00,20,01,20$PTNTA,20000102173852,1,T4,,,6,1,0*32\r\n"#,
      [.unknown(named("PTNTA,"))],
      counts(sentences: 1, unknown: 1, brokenOff: 1, skipped: 25)),
    .raw(
      "another sentence inside, then the rest of the first", .gpsd,
      #"$GPZDA,112533.00,20,01,2016,00,00*67\r\n$GPZDA,112533.00,20,"#
        + #"01,20$PTNTA,20000102173852,1,T4,,,6,1,0*32\r\n16,00,00*67\r\n"#,
      [
        .zda(
          ZDA(
            talker: .gps, time_us: 41_133_000_000,
            date: CalendarDate(year: 2_016, month: 1, day: 20), zone_min: 0)),
        .unknown(named("PTNTA,")),
      ], counts(sentences: 2, unknown: 1, brokenOff: 1, skipped: 36)),
    .raw(
      "cut off in a field", .pynmea2, "$GPRMC,172142.00,A,4805.30256324,N,11629.09084774,W,0.D",
      counts(skipped: 55)),
    .raw(
      "a tag block before", .goNMEA,
      #"\\s:Satelite_1,c:1553390539*62\\!AIVDM,1,1,,A,13M@ah0025QdPDTCOl`K6`nV00Sv,0*52"#,
      [.unknown(named("AIVDM,"))],
      counts(sentences: 1, unknown: 1, skipped: 30)),
    .raw(
      "a UDP header with a zero and a tag block before", .goNMEA,
      #"UdPbC\x00\\s:SI1001*53\\$IIHDG,,,,,*67"#, [.unknown(named("IIHDG,"))],
      counts(sentences: 1, unknown: 1, skipped: 19)),
    .raw(
      "a carriage return inside", .neoGPS, #"$GPGLL,,,\r,,,V,N*64\r\n"#,
      counts(brokenOff: 1, skipped: 18)),
    .raw(
      "a zero inside", .neoGPS, #"$GPGLL,,,\x00,,,V,N*64\r\n"#,
      counts(brokenOff: 1, skipped: 19)),
    .raw(
      "a tab inside", .neoGPS, #"$GPGLL,,,\x09,,,V,N*64\r\n"#,
      counts(brokenOff: 1, skipped: 19)),
    .raw(
      "a delete inside", .neoGPS, #"$GPGLL,,,\x7f,,,V,N*64\r\n"#,
      counts(brokenOff: 1, skipped: 19)),
    .raw(
      "a character dropped", .neoGPS, #"$GPGLL,,,,,V,N*64\r\n"#,
      counts(checksumErrors: 1, skipped: 17)),
    .raw(
      "its own start inside", .neoGPS, #"$GPGLL,,,$GPGLL,,,,,,V,N*64\r\n"#, [lost],
      counts(sentences: 1, brokenOff: 1, skipped: 9)),
    BadInput(
      name: "a sentence of 600 characters", source: .tinyGPS,
      bytes: sentence("GPTXT," + String(repeating: "x", count: 590)), messages: [],
      counters: counts(overlong: 1, skipped: 600)),
    BadInput(
      name: "600 characters without an end", source: .torpor,
      bytes: Array(("$" + String(repeating: "x", count: 599)).utf8), messages: [],
      counters: counts(overlong: 1, skipped: 600)),
    BadInput(
      name: "600 dollars", source: .torpor, bytes: [UInt8](repeating: 0x24, count: 600),
      messages: [], counters: counts(skipped: 600)),
  ]

  /// Addresses of odd length, and missing ones.
  private static let addresses: [BadInput] = [
    unknown("an empty address", .goNMEA, ",1,2,3,x,y,z"),
    unknown("an address of seven", .goNMEA, "INVALID,123,123,"),
    .raw(
      "an encapsulated one of seven", .goNMEA, "!INVALID,1,2,*7E", [.unknown(named("INVALID,"))],
      counts(sentences: 1, unknown: 1)),
    unknown("an address of four", .goNMEA, "XXXX,20,one,"),
    unknown("a query", .pynmea2, "CCGPQ,GGA"),
    unknown("an unknown type", .pynmea2, "GPABC,1,2,3"),
    unknown("an address without a field", .torpor, "GPGLL"),
    unknown("an address in small letters", .torpor, "gpgll,,,,,,V,N"),
    unknown("commas alone", .torpor, ",,,,,,,,,,,,"),
    .read(
      "commas alone behind an address", .torpor, "GPGGA,,,,,,,,,,,,,,", .gga(GGA(talker: .gps))),
    .read("a comma alone behind an address", .torpor, "GPGGA,", .gga(GGA(talker: .gps))),
    .unread("a comma as talker", .rustNMEA, ",GRMC,,A,,,,,,,290290GLCR"),
    .read(
      "half of a VTG", .pynmea2, "GPVTG,,T,,M,0.00,N",
      {
        var m = VTG(talker: .gps)
        m.speed_mmps = 0
        return .vtg(m)
      }()),
    .read(
      "a GGA of one field", .torpor, "GPGGA,123519",
      .gga(GGA(talker: .gps, time_us: 45_319_000_000))),
  ]

  private static func unknown(_ name: String, _ source: Source, _ body: String) -> BadInput {
    BadInput(
      name: name, source: source, bytes: sentence(body), messages: [.unknown(named(body))],
      counters: counts(sentences: 1, unknown: 1))
  }

  private static func withAltitude(_ text: String) -> String { "GPGGA,,,,,,1,,,\(text),M,,M,," }

  /// Altitudes in metres.
  private static let numbers: [BadInput] =
    ([
      ("-", .minmea), ("10-", .minmea), ("+-10", .minmea), ("12..45", .minmea), ("blah", .minmea),
      ("12.3.4", .minmea), ("-3.33 ", .minmea), ("-3. 33", .minmea), ("0 .0", .minmea),
      ("foo", .minmea), ("--5", .torpor), ("+.", .torpor), (".", .torpor), ("1e3", .torpor),
      ("0x10", .torpor), ("nan", .torpor), (" -1.23", .torpor), ("2147483648", .minmea),
      ("2147483.648", .torpor), ("9223372036854775807", .minmea), ("9223372036854775808", .minmea),
      ("18446744073709551616", .tinyGPS), ("340282366920938463463374607431768211456", .tinyGPS),
      (String(repeating: "9", count: 300), .tinyGPS),
    ] as [(String, Source)]).map { text, source in
      .malformed("the number \(text.prefix(40))", source, withAltitude(text))
    } + [
      .malformed("256 satellites", .torpor, "GPGGA,,,,,,1,256,,,M,,M,,"),
      .malformed("less than no satellites", .torpor, "GPGGA,,,,,,1,-1,,,M,,M,,"),
      .malformed("a negative speed", .torpor, "GPRMC,,V,,,,,-1.0,,,,,N"),
      .malformed("a speed beyond 32 bits", .tinyGPS, "GPRMC,,V,,,,,4294967296,,,,,N"),
      .read(
        "a course beyond the circle", .torpor, "GPRMC,,V,,,,,,361,,,,N",
        noFix),
      .read(
        "a dilution beyond 16 bits", .tinyGPS, "GPGGA,,,,,,0,,65536.0,,M,,M,,",
        .gga(GGA(talker: .gps, quality: 0))),
      .read(
        "a fraction of 300 digits", .torpor,
        withAltitude("1." + String(repeating: "3", count: 300)),
        {
          var m = GGA(talker: .gps, quality: 1)
          m.altitude_mm = 1_333
          return .gga(m)
        }()),
    ]

  private static func at(_ position: String) -> String { "GPGLL,\(position),,A" }

  /// Latitude, hemisphere, longitude, hemisphere.
  private static let coordinates: [BadInput] =
    ([
      ("9000.0001,N,01131.000,E", .torpor), ("4807.038,N,18000.001,E", .torpor),
      ("4860.000,N,01131.000,E", .torpor), ("4807.038,N,01160.000,E", .torpor),
      ("9100.000,N,01131.000,E", .torpor), ("4807.038,N,18100.000,E", .torpor),
      ("-4807.038,N,01131.000,E", .minmea), ("4807.038,N,-01131.000,E", .minmea),
      ("4807.038,X,01131.000,E", .goNMEA), ("4807.038,E,01131.000,N", .torpor),
      ("4807.038x,N,01131.000,E", .torpor), ("99999999999,N,01131.000,E", .tinyGPS),
    ] as [(String, Source)]).map { position, source in
      .malformed("the position \(position)", source, at(position))
    }
    + ["4807.038,,01131.000,E", "4807.038,N,,E", ",N,01131.000,E", "4807.038,N,01131.000,"].map {
      var m = GLL(talker: .gps)
      m.isValid = true
      return .read("the incomplete position \($0)", .goNMEA, at($0), .gll(m))
    }

  /// Times and dates.
  private static let times: [BadInput] =
    ([
      ("2359", .minmea), ("foobar", .minmea), ("10203.04", .goNMEA), ("x0u2xd", .goNMEA),
      ("112233.xxx", .goNMEA), ("0112233", .gpsd), ("235961", .torpor), ("236000", .torpor),
      ("240000", .torpor), ("-12351", .torpor), ("+12351", .torpor), ("256119", .torpor),
      ("12:35:19", .torpor),
    ] as [(String, Source)]).map { time, source in
      .malformed("the time \(time)", source, "GPGGA,\(time),,,,,0,,,,M,,M,,")
    }
    + [
      .read(
        "a leap second", .minmea, "GPGGA,235960,,,,,0,,,,M,,M,,",
        .gga(GGA(talker: .gps, time_us: 86_400_000_000, quality: 0)))
    ]
    + ([
      ("1112", .minmea), ("3112", .minmea), ("01003", .goNMEA), ("11120", .gpsd),
      ("321394", .torpor), ("311399", .torpor), ("320199", .torpor), ("000199", .torpor),
      ("010099", .torpor), ("3112999", .gpsd), ("-10199", .torpor), ("+10199", .torpor),
      ("010199.5", .torpor), ("99999999999", .tinyGPS),
    ] as [(String, Source)]).map { date, source in
      .read(
        "the date \(date)", source, "GPRMC,,V,,,,,,,\(date),,,N",
        noFix)
    }
    + [.malformed("the date foobar", .minmea, "GPRMC,,V,,,,,,,foobar,,,N")]

  private static let acknowledged: GNSSMessage = .acknowledged(UBXIdentity(0x06, 0x01))

  /// UBX.
  private static let frames: [BadInput] = [
    .hex(
      "a first byte twice", .ubloxRS, "b5b56205010200040511 38",
      [.acknowledged(UBXIdentity(0x04, 0x05))], counts(frames: 1, skipped: 1)),
    .hex(
      "the end of a frame before", .ubloxRS, "0006010f38 b562050102000601 0f38", [acknowledged],
      counts(frames: 1, skipped: 5)),
    .hex(
      "both first bytes twice", .ubloxRS, "b5b5626238 b562050102000601 0f38", [acknowledged],
      counts(frames: 1, overlong: 1, skipped: 5)),
    .hex(
      "a wrong byte of payload", .ubloxRS, "b562050102000501 0f38",
      counts(checksumErrors: 1, skipped: 10)),
    .hex("half a frame", .ubloxRS, "b562050102", counts(skipped: 5)),
    .hex("a wrong first byte", .pyubx2, "b062050102000601 0f38", counts(skipped: 10)),
    .hex("a length that is too long by one", .pyubx2, "b562050103000601 0f37", counts(skipped: 10)),
    .hex(
      "a wrong checksum", .pyubx2, "b562050102000601 0f37", counts(checksumErrors: 1, skipped: 10)),
    .hex(
      "a class that is none", .pyubx2, "b562666602000601 d577",
      [.unknown(.frame(UBXIdentity(0x66, 0x66)))],
      counts(frames: 1, unknown: 1)),
    .hex("a length beyond the bound", .torpor, "b56201070110", counts(overlong: 1, skipped: 6)),
    .hex("the longest length there is", .torpor, "b5620107ffff", counts(overlong: 1, skipped: 6)),
    .navPVT(78, .torpor), .navPVT(91, .torpor), .navPVT(93, .torpor), .navPVT(0, .torpor),
    .navPVT(83, .torpor), .navPVT(85, .torpor),
    BadInput(
      name: "an ACK of one "
        + "byte", source: .torpor, bytes: ubx(0x05, 0x01, [6]), messages: [.malformed],
      counters: counts(frames: 1, malformed: 1)),
    BadInput(
      name: "a sentence in a frame that is right", source: .torpor,
      bytes: ubx(0x13, 0x40, sentence("GPGLL,,,,,,V,N")),
      messages: [.unknown(.frame(UBXIdentity(0x13, 0x40)))],
      counters: counts(frames: 1, unknown: 1)),
    BadInput(
      name: "a frame in a sentence", source: .torpor,
      bytes: Array("$GPGLL,,".utf8) + ubx(0x05, 0x01, [6, 1]) + Array(",,V,N*64\r\n".utf8),
      messages: [acknowledged], counters: counts(frames: 1, brokenOff: 1, skipped: 16)),
    BadInput(
      name: "fifty first bytes", source: .torpor, bytes: [UInt8](repeating: 0xB5, count: 50),
      messages: [], counters: counts(skipped: 50)),
  ]
}

import LocationTypes

/// From sentences to messages: NMEA 0183 versions 2.0 to 4.11, of any talker.
///
/// Fields at the end that a version does not have are nil; more than it has are passed over.
enum NMEADecoding {
  static func message(_ s: Span<UInt8>, _ counters: inout DecoderCounters) -> GNSSMessage {
    guard s.count > 5, s[5] == UInt8(ascii: ","), s[0] != UInt8(ascii: "P") else {
      counters.unknown.count()
      return .other
    }
    let talker = Talker(s[0], s[1])
    var fields = NMEAFields(after: 5)
    let message: GNSSMessage
    switch UInt32(s[2]) << 16 | UInt32(s[3]) << 8 | UInt32(s[4]) {
    case 0x52_4D_43: message = .rmc(rmc(s, talker, &fields))
    case 0x47_47_41: message = .gga(gga(s, talker, &fields))
    case 0x47_53_41: message = .gsa(gsa(s, talker, &fields))
    case 0x47_53_56: message = .gsv(gsv(s, talker, &fields))
    case 0x47_53_54: message = .gst(gst(s, talker, &fields))
    case 0x56_54_47: message = .vtg(vtg(s, talker, &fields))
    case 0x5A_44_41: message = .zda(zda(s, talker, &fields))
    case 0x47_4C_4C: message = .gll(gll(s, talker, &fields))
    case _:
      counters.unknown.count()
      return .other
    }
    if fields.isBroken {
      counters.malformed.count()
      return .other
    }
    return message
  }

  /// Time, status, place, speed, course, date, variation (2), mode from 2.3, nav status from 4.1.
  private static func rmc(_ s: Span<UInt8>, _ talker: Talker, _ f: inout NMEAFields) -> RMC {
    var m = RMC(talker: talker, time_us: f.time(s))
    m.isValid = f.letter(s) == UInt8(ascii: "A")
    m.coordinate = f.coordinate(s)
    m.speed_mmps = f.knots(s)
    m.course_e4 = f.course(s)
    m.date = f.date(s)
    f.skip(s)
    f.skip(s)
    m.mode = f.mode(s)
    return m
  }

  /// Time, place, quality, satellites, HDOP, altitude, M, separation, M, age, station.
  private static func gga(_ s: Span<UInt8>, _ talker: Talker, _ f: inout NMEAFields) -> GGA {
    var m = GGA(talker: talker, time_us: f.time(s))
    m.coordinate = f.coordinate(s)
    m.quality = f.decimal(s, 0, as: UInt8.self)
    m.satellites = f.decimal(s, 0, as: UInt8.self)
    m.horizontalDOP_e2 = dilution(s, &f)
    m.altitude_mm = f.decimal(s, 3, as: Int32.self)
    f.skip(s)
    m.separation_mm = f.decimal(s, 3, as: Int32.self)
    return m
  }

  /// A dilution of precision; 99.99 and zero are receivers' ways to say that there is none.
  private static func dilution(_ s: Span<UInt8>, _ f: inout NMEAFields) -> UInt16? {
    guard let value = f.decimal(s, 2), value > 0, value < 9_900 else { return nil }
    return UInt16(value)
  }

  /// Selection, mode, twelve satellites, PDOP, HDOP, VDOP, system from 4.1.
  private static func gsa(_ s: Span<UInt8>, _ talker: Talker, _ f: inout NMEAFields) -> GSA {
    f.skip(s)
    var m = GSA(talker: talker, fixMode: f.decimal(s, 0, as: UInt8.self))
    for _ in 0..<12 where f.letter(s) != nil { m.satellites += 1 }
    m.positionDOP_e2 = dilution(s, &f)
    m.horizontalDOP_e2 = dilution(s, &f)
    m.verticalDOP_e2 = dilution(s, &f)
    return m
  }

  /// Sentences, number, satellites in view; then four of them, which are passed over.
  private static func gsv(_ s: Span<UInt8>, _ talker: Talker, _ f: inout NMEAFields) -> GSV {
    let sentences = f.decimal(s, 0, as: UInt8.self)
    let number = f.decimal(s, 0, as: UInt8.self)
    return GSV(
      talker: talker, sentences: sentences, number: number, inView: f.decimal(s, 0, as: UInt8.self))
  }

  /// Time, RMS, major, minor, orientation of the ellipse, σ of latitude, longitude and altitude.
  private static func gst(_ s: Span<UInt8>, _ talker: Talker, _ f: inout NMEAFields) -> GST {
    var m = GST(talker: talker, time_us: f.time(s))
    for _ in 0..<4 { f.skip(s) }
    m.latitude_mm = f.decimal(s, 3, as: Int32.self)
    m.longitude_mm = f.decimal(s, 3, as: Int32.self)
    m.altitude_mm = f.decimal(s, 3, as: Int32.self)
    return m
  }

  /// Course, T, course, M, knots, N, km/h, K, mode from 2.3; before 2.0 the four without letters.
  private static func vtg(_ s: Span<UInt8>, _ talker: Talker, _ f: inout NMEAFields) -> VTG {
    var m = VTG(talker: talker)
    m.course_e4 = f.course(s)
    var look = f
    let unit = look.letter(s)
    let isOld = unit.map { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ?? false
    f.skip(s)
    if !isOld {
      f.skip(s)
      f.skip(s)
    }
    let knots = f.knots(s)
    if !isOld { f.skip(s) }
    let kilometres = f.kilometresPerHour(s)
    m.speed_mmps = knots ?? kilometres
    if !isOld {
      f.skip(s)
      m.mode = f.mode(s)
    }
    return m
  }

  /// Time, day, month, year, zone.
  private static func zda(_ s: Span<UInt8>, _ talker: Talker, _ f: inout NMEAFields) -> ZDA {
    var m = ZDA(talker: talker, time_us: f.time(s))
    let day = f.decimal(s, 0, as: UInt8.self)
    let month = f.decimal(s, 0, as: UInt8.self)
    let year = f.decimal(s, 0, as: UInt16.self)
    if let day, let month, let year {
      m.date = CalendarDate(year: Int(year), month: Int(month), day: Int(day))
    }
    return m
  }

  /// Place, time, status from 2.0, mode from 2.3.
  private static func gll(_ s: Span<UInt8>, _ talker: Talker, _ f: inout NMEAFields) -> GLL {
    let place = f.coordinate(s)
    var m = GLL(talker: talker, time_us: f.time(s))
    m.coordinate = place
    m.isValid = f.isAtEnd(s) || f.letter(s) == UInt8(ascii: "A")
    m.mode = f.mode(s)
    return m
  }
}

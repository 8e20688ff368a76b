import LocationTypes

/// From sentences to messages: NMEA 0183 versions 2.0 to 4.11, of any talker.
///
/// Fields at the end that a version does not have are nil; more than it has are passed over.
enum NMEADecoding {
  /// Reads a sentence and hands it to whom it is for; says whether that one has made something of it.
  @inline(__always)
  static func read<Taker: SentenceTaker>(
    _ f: inout NMEAFields, _ counters: inout DecoderCounters, for taker: inout Taker,
    into product: inout Taker.Product
  ) -> Bool {
    let head = f.head
    let talker = Talker(UInt8(truncatingIfNeeded: head), UInt8(truncatingIfNeeded: head &>> 8))
    guard f.addressLength == 5, talker.first != UInt8(ascii: "P") else {
      return taker.take(proprietary(&f, head, &counters), into: &product)
    }
    // The three letters, the last one highest.
    switch UInt32(truncatingIfNeeded: head &>> 16) & 0xFF_FFFF {
    case 0x56_53_47:
      let m = gsv(&f, talker)
      if !f.isBroken { return taker.take(m, into: &product) }
    case 0x41_53_47:
      let m = gsa(&f, talker)
      if !f.isBroken { return taker.take(m, into: &product) }
    case 0x41_47_47:
      let m = gga(&f, talker)
      if !f.isBroken { return taker.take(m, into: &product) }
    case 0x43_4D_52:
      let m = rmc(&f, talker)
      if !f.isBroken { return taker.take(m, into: &product) }
    case 0x47_54_56:
      let m = vtg(&f, talker)
      if !f.isBroken { return taker.take(m, into: &product) }
    case 0x4C_4C_47:
      let m = gll(&f, talker)
      if !f.isBroken { return taker.take(m, into: &product) }
    case 0x54_53_47:
      let m = gst(&f, talker)
      if !f.isBroken { return taker.take(m, into: &product) }
    case let kind: return taker.take(other(kind, &f, talker, &counters), into: &product)
    }
    counters.malformed.count()
    return taker.take(.other, into: &product)
  }

  /// What few receivers send, or once an epoch, and what nobody here reads.
  @inline(never)
  private static func other(
    _ kind: UInt32, _ f: inout NMEAFields, _ talker: Talker, _ counters: inout DecoderCounters
  ) -> GNSSMessage {
    let message: GNSSMessage
    switch kind {
    case 0x41_44_5A: message = .zda(zda(&f, talker))
    case 0x53_4E_47: message = .gns(gns(&f, talker))
    case 0x53_42_47: message = .gbs(gbs(&f, talker))
    case let kind:
      // TXT, of which only CASIC's of itself mean anything here.
      if kind == 0x54_58_54, let notice = text(&f) { return .receiverNotice(notice) }
      counters.unknown.count()
      return .unread(.sentence(f.address))
    }
    if !f.isBroken { return message }
    counters.malformed.count()
    return .other
  }

  /// Time, status, place, speed, course, date, variation (2), mode from 2.3, nav status from 4.1.
  @inline(__always) private static func rmc(_ f: inout NMEAFields, _ talker: Talker) -> RMC {
    var m = RMC(talker: talker, time_us: f.time(0))
    m.isValid = isValid(f.letter(1))
    m.coordinate = f.coordinate(2)
    m.speed_mmps = f.knots(6)
    m.course_e4 = f.course(7)
    m.date = f.date(8)
    if let variation = f.course(9) {
      m.variation_e4 = f.letter(10) == UInt8(ascii: "W") ? -variation : variation
    }
    m.mode = f.mode(11)
    m.navigationalStatus = f.letter(12)
    return m
  }

  /// Whether a status says that the data are valid: `A`, or `D` as some say for differential.
  @inline(__always) private static func isValid(_ status: UInt8?) -> Bool {
    status == UInt8(ascii: "A") || status == UInt8(ascii: "D")
  }

  /// Time, place, quality, satellites, HDOP, altitude, M, separation, M, age, station.
  @inline(__always) private static func gga(_ f: inout NMEAFields, _ talker: Talker) -> GGA {
    var m = GGA(talker: talker, time_us: f.time(0))
    m.coordinate = f.coordinate(1)
    m.quality = f.whole(5, as: UInt8.self)
    m.satellites = f.whole(6, as: UInt8.self)
    m.horizontalDOP_e2 = f.dilution(7)
    m.altitude_mm = f.decimal(8, 3, as: Int32.self)
    m.separation_mm = f.decimal(10, 3, as: Int32.self)
    m.correctionAge_ms = f.decimal(12, 3, as: Int32.self)
    m.station = f.name(13)
    return m
  }

  /// Selection, mode, twelve satellites, PDOP, HDOP, VDOP, system from 4.1.
  @inline(__always) private static func gsa(_ f: inout NMEAFields, _ talker: Talker) -> GSA {
    var m = GSA(talker: talker, fixMode: f.whole(1, as: UInt8.self))
    m.isAutomatic = f.letter(0).map { $0 == UInt8(ascii: "A") }
    // Most receivers leave the last ones empty.
    for i in 2..<14 where f.length(i) != 0 {
      if let number = f.twoDigits(i) {
        m.name(UInt16(number))
      } else if let number = f.whole(i, as: UInt16.self) {
        m.name(number)
      }
    }
    m.positionDOP_e2 = f.dilution(14)
    m.horizontalDOP_e2 = f.dilution(15)
    m.verticalDOP_e2 = f.dilution(16)
    m.system = f.hexadecimal(17)
    return m
  }

  /// Sentences, number, satellites in view; then four of them; signal from 4.1.
  @inline(__always) private static func gsv(_ f: inout NMEAFields, _ talker: Talker) -> GSV {
    var m = GSV(
      talker: talker, sentences: f.whole(0, as: UInt8.self), number: f.whole(1, as: UInt8.self),
      inView: f.whole(2, as: UInt8.self))
    var i = 3
    while i &+ 4 <= f.count && i < 19 {
      if let satellite = f.satellite(i) {
        if satellite.number != 0 { m.append(satellite) }
      } else if let number = f.whole(i, as: UInt16.self), number != 0 {
        m.append(
          SatelliteInView(
            number: number, elevation_deg: f.elevation(i &+ 1), azimuth_deg: f.azimuth(i &+ 2),
            signal_dBHz: f.signal(i &+ 3)))
      }
      i &+= 4
    }
    if i < f.count { m.signal = f.hexadecimal(i) }
    return m
  }

  /// Time, RMS, major, minor, orientation of the ellipse, σ of latitude, longitude and altitude.
  @inline(__always) private static func gst(_ f: inout NMEAFields, _ talker: Talker) -> GST {
    var m = GST(talker: talker, time_us: f.time(0))
    m.residual_mm = f.decimal(1, 3, as: Int32.self)
    m.semiMajor_mm = f.decimal(2, 3, as: Int32.self)
    m.semiMinor_mm = f.decimal(3, 3, as: Int32.self)
    m.orientation_e4 = f.course(4)
    m.latitude_mm = f.decimal(5, 3, as: Int32.self)
    m.longitude_mm = f.decimal(6, 3, as: Int32.self)
    m.altitude_mm = f.decimal(7, 3, as: Int32.self)
    return m
  }

  /// Course, T, course, M, knots, N, km/h, K, mode from 2.3; before 2.0 the four without letters.
  @inline(__always) private static func vtg(_ f: inout NMEAFields, _ talker: Talker) -> VTG {
    var m = VTG(talker: talker)
    m.course_e4 = f.course(0)
    let unit = f.letter(1)
    if let unit, unit >= UInt8(ascii: "0") && unit <= UInt8(ascii: "9") {
      m.magneticCourse_e4 = f.course(1)
      let kilometres = f.kilometresPerHour(3)
      m.speed_mmps = f.knots(2) ?? kilometres
      return m
    }
    m.magneticCourse_e4 = f.course(2)
    // Both are read, so that one that cannot be read is not passed over.
    let kilometres = f.kilometresPerHour(6)
    m.speed_mmps = f.knots(4) ?? kilometres
    m.mode = f.mode(8)
    return m
  }

  /// Time, day, month, year, zone: hours with their sign, minutes of the same.
  @inline(__always) private static func zda(_ f: inout NMEAFields, _ talker: Talker) -> ZDA {
    var m = ZDA(talker: talker, time_us: f.time(0))
    let day = f.whole(1, as: UInt8.self)
    let month = f.whole(2, as: UInt8.self)
    let year = f.whole(3, as: UInt16.self)
    if let day, let month, let year {
      if year < 100, month >= 1, month <= 12, day >= 1, day <= 31 {
        m.shortDate = ShortDate(year: UInt8(year), month: month, day: day)
      } else {
        m.date = CalendarDate(year: Int(year), month: Int(month), day: Int(day))
      }
    }
    if let hours = f.whole(4, as: Int8.self) {
      let minutes = Int16(f.whole(5, as: UInt8.self) ?? 0)
      let isWest = f.letter(4) == UInt8(ascii: "-")
      m.zone_min = Int16(hours) * 60 + (isWest ? -minutes : minutes)
    }
    return m
  }

  /// Place, time, status from 2.0, mode from 2.3.
  @inline(__always) private static func gll(_ f: inout NMEAFields, _ talker: Talker) -> GLL {
    var m = GLL(talker: talker, time_us: f.time(4))
    m.coordinate = f.coordinate(0)
    m.isValid = f.count <= 5 || isValid(f.letter(5))
    m.mode = f.mode(6)
    return m
  }
}

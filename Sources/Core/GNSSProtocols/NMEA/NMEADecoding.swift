import LocationTypes

/// Decodes sentences into messages: NMEA 0183 versions 2.0 to 4.11, with any talker.
///
/// ``NMEAFields`` reads the single fields. Trailing fields that a version lacks are nil; additional ones are ignored. The comment of each method lists the
/// fields in order. Depends on `LocationTypes`.
enum NMEADecoding {
  /// Decodes a sentence, and counts malformed and unsupported ones.
  static func message(
    _ f: inout NMEAFields, _ counters: inout DecoderCounters
  ) -> GNSSMessage {
    let head = f.head
    let talker = Talker(UInt8(truncatingIfNeeded: head), UInt8(truncatingIfNeeded: head &>> 8))
    guard f.addressLength == 5, talker.first != UInt8(ascii: "P") else {
      return proprietary(&f, head, &counters)
    }
    let message: GNSSMessage
    // The three letters of the sentence type, the last one in the highest byte.
    switch UInt32(truncatingIfNeeded: head &>> 16) & 0xFF_FFFF {
    case 0x56_53_47: message = .gsv(gsv(&f, talker))
    case 0x41_53_47: message = .gsa(gsa(&f, talker))
    case 0x41_47_47: message = .gga(gga(&f, talker))
    case 0x43_4D_52: message = .rmc(rmc(&f, talker))
    case 0x47_54_56: message = .vtg(vtg(&f, talker))
    case 0x4C_4C_47: message = .gll(gll(&f, talker))
    case 0x54_53_47: message = .gst(gst(&f, talker))
    case 0x41_44_5A: message = .zda(zda(&f, talker))
    case 0x53_4E_47: message = .gns(gns(&f, talker))
    case 0x53_42_47: message = .gbs(gbs(&f, talker))
    case _: return answer(&f, &counters)
    }
    if !f.isMalformed { return message }
    counters.malformed.incrementSaturating()
    return .malformed
  }

  /// Decodes an answer or a notice of a receiver family.
  private static func answer(
    _ f: inout NMEAFields, _ counters: inout DecoderCounters
  ) -> GNSSMessage {
    var number: UInt8 = 0
    while let family = ReceiverFamily(rawValue: number) {
      number += 1
      guard let message = family.decode(&f) else { continue }
      var isMalformed = f.isMalformed
      if case .malformed = message { isMalformed = true }
      guard isMalformed else { return message }
      counters.malformed.incrementSaturating()
      return .malformed
    }
    counters.unknown.incrementSaturating()
    return .unknown(.sentence(f.address))
  }

  /// Fields: time, status, position, speed, course, date, variation (2), mode from 2.3, navigational
  /// status from 4.1.
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

  /// Whether a status means valid data: `A`, or `D` as some receivers send for differential.
  @inline(__always) private static func isValid(_ status: UInt8?) -> Bool {
    status == UInt8(ascii: "A") || status == UInt8(ascii: "D")
  }

  /// Fields: time, position, quality, satellites, HDOP, altitude, M, separation, M, age, station.
  @inline(__always) private static func gga(_ f: inout NMEAFields, _ talker: Talker) -> GGA {
    var m = GGA(talker: talker, time_us: f.time(0))
    m.coordinate = f.coordinate(1)
    m.quality = f.whole(5, as: UInt8.self)
    m.satellites = f.whole(6, as: UInt8.self)
    m.horizontalDOP_e2 = f.dilution(7)
    m.altitude_mm = f.thousandths(8)
    m.separation_mm = f.thousandths(10)
    m.correctionAge_ms = f.thousandths(12)
    m.station = f.stationNumber(13)
    return m
  }

  /// Fields: selection, mode, twelve satellites, PDOP, HDOP, VDOP, system from 4.1.
  @inline(__always) private static func gsa(_ f: inout NMEAFields, _ talker: Talker) -> GSA {
    var m = GSA(talker: talker, fixMode: f.whole(1, as: UInt8.self))
    m.isAutomatic = f.letter(0).map { $0 == UInt8(ascii: "A") }
    // Most receivers leave the last satellites empty.
    for i in 2..<14 where f.length(i) != 0 {
      if let number = f.whole(i, as: UInt16.self) { m.append(number) }
    }
    m.positionDOP_e2 = f.dilution(14)
    m.horizontalDOP_e2 = f.dilution(15)
    m.verticalDOP_e2 = f.dilution(16)
    m.system = f.hexadecimal(17)
    return m
  }

  /// Fields: sentences, number, satellites in view; then four satellites; signal from 4.1.
  @inline(__always) private static func gsv(_ f: inout NMEAFields, _ talker: Talker) -> GSV {
    var m = GSV(
      talker: talker, sentences: f.whole(0, as: UInt8.self), number: f.whole(1, as: UInt8.self),
      inView: f.whole(2, as: UInt8.self))
    var i = 3
    while i &+ 4 <= f.count && i < 19 {
      if let number = f.whole(i, as: UInt16.self), number != 0 {
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

  /// Fields: time, RMS, major, minor, orientation of the ellipse, σ of latitude, longitude and
  /// altitude.
  @inline(__always) private static func gst(_ f: inout NMEAFields, _ talker: Talker) -> GST {
    var m = GST(talker: talker, time_us: f.time(0))
    m.residual_mm = f.thousandths(1)
    m.semiMajor_mm = f.thousandths(2)
    m.semiMinor_mm = f.thousandths(3)
    m.orientation_e4 = f.course(4)
    m.latitude_mm = f.thousandths(5)
    m.longitude_mm = f.thousandths(6)
    m.altitude_mm = f.thousandths(7)
    return m
  }

  /// Fields: course, T, course, M, knots, N, km/h, K, mode from 2.3; before 2.0 the four values without
  /// letters.
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
    // Both are read, so that a malformed one is detected.
    let kilometres = f.kilometresPerHour(6)
    m.speed_mmps = f.knots(4) ?? kilometres
    m.mode = f.mode(8)
    return m
  }

  /// Fields: time, day, month, year, zone hours with sign, zone minutes of the same sign.
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

  /// Fields: position, time, status from 2.0, mode from 2.3.
  @inline(__always) private static func gll(_ f: inout NMEAFields, _ talker: Talker) -> GLL {
    var m = GLL(talker: talker, time_us: f.time(4))
    m.coordinate = f.coordinate(0)
    m.isValid = f.count <= 5 || isValid(f.letter(5))
    m.mode = f.mode(6)
    return m
  }
}

// GNS, GBS and proprietary sentences.

extension NMEADecoding {
  /// Fields: time, position, mode of each system, satellites, HDOP, altitude, separation, age, station,
  /// navigational status from 4.1.
  static func gns(_ f: inout NMEAFields, _ talker: Talker) -> GNS {
    var m = GNS(talker: talker, time_us: f.time(0))
    m.coordinate = f.coordinate(1)
    m.mode = f.bestMode(5)
    m.satellites = f.whole(6, as: UInt8.self)
    m.horizontalDOP_e2 = f.dilution(7)
    m.altitude_mm = f.thousandths(8)
    m.separation_mm = f.thousandths(9)
    m.correctionAge_ms = f.thousandths(10)
    m.station = f.stationNumber(11)
    m.navigationalStatus = f.letter(12)
    return m
  }

  /// Fields: time, σ of latitude, longitude and altitude, satellite, probability, bias, its σ.
  static func gbs(_ f: inout NMEAFields, _ talker: Talker) -> GBS {
    var m = GBS(talker: talker, time_us: f.time(0))
    m.latitude_mm = f.thousandths(1)
    m.longitude_mm = f.thousandths(2)
    m.altitude_mm = f.thousandths(3)
    m.satellite = f.whole(4, as: UInt16.self)
    m.bias_mm = f.thousandths(6)
    m.biasError_mm = f.thousandths(7)
    return m
  }

  /// Decodes sentences whose address is not a talker and three letters.
  @inline(never)
  static func proprietary(
    _ f: inout NMEAFields, _ head: UInt64, _ counters: inout DecoderCounters
  ) -> GNSSMessage {
    let message: GNSSMessage
    // The first seven characters, in the order of the sentence.
    let address = head.byteSwapped >> 8
    switch (f.addressLength, address) {
    // `PUBX,00` followed by a comma.
    case (4, 0x50_55_42_58_2C_30_30) where f.length(0) == 2: message = .ubloxPosition(pubx(&f))
    case (5, let kind) where kind >> 16 == 0x50_47_52_4D_45: message = .garminErrors(pgrme(&f))
    case (5, let kind) where kind >> 16 == 0x50_47_52_4D_5A: message = .garminAltitude(pgrmz(&f))
    case _: return answer(&f, &counters)
    }
    guard !f.isMalformed else {
      counters.malformed.incrementSaturating()
      return .malformed
    }
    return message
  }

  /// Fields: 00, time, position, height, status, accuracies (2), km/h, course, speed downward, age,
  /// HDOP, VDOP, TDOP, satellites; two unused.
  private static func pubx(_ f: inout NMEAFields) -> UBloxPosition {
    var m = UBloxPosition(time_us: f.time(1))
    m.coordinate = f.coordinate(2)
    m.height_mm = f.thousandths(6)
    m.status = f.ubloxStatus(7)
    m.horizontalAccuracy_mm = f.thousandths(8)
    m.verticalAccuracy_mm = f.thousandths(9)
    m.speed_mmps = f.kilometresPerHour(10)
    m.course_e4 = f.course(11)
    m.velocityDown_mmps = f.thousandths(12)
    m.correctionAge_ms = f.thousandths(13)
    m.horizontalDOP_e2 = f.dilution(14)
    m.verticalDOP_e2 = f.dilution(15)
    m.timeDOP_e2 = f.dilution(16)
    m.satellites = f.whole(17, as: UInt8.self)
    return m
  }

  /// Fields: HPE, M, VPE, M, EPE, M.
  private static func pgrme(_ f: inout NMEAFields) -> GarminErrors {
    GarminErrors(
      horizontal_mm: f.thousandths(0), vertical_mm: f.thousandths(2),
      position_mm: f.thousandths(4))
  }

  /// Fields: altitude, f or m, dimensions.
  private static func pgrmz(_ f: inout NMEAFields) -> GarminAltitude {
    let isMetric = f.letter(1).map { $0 | 0x20 == UInt8(ascii: "m") } ?? false
    var m = GarminAltitude(dimensions: f.whole(2, as: UInt8.self))
    if isMetric {
      m.altitude_mm = f.thousandths(0)
    } else if let feet = f.thousandths(0) {
      // 1 foot is 304.8 mm.
      m.altitude_mm = Int32((Int64(feet) * 3_048 + (feet < 0 ? -5_000 : 5_000)) / 10_000)
    }
    return m
  }
}

// MARK: Fields with a special range or code

extension NMEAFields {
  /// A dilution of precision × 100; nil for 0 and from 99 up, which receivers send for an unknown one.
  @inline(never) mutating func dilution(_ i: Int) -> UInt16? {
    guard let value = decimal(i, 2), value > 0, value < 9_900 else { return nil }
    return UInt16(truncatingIfNeeded: value)
  }

  /// Degrees above the horizon; nil outside −90 … 90.
  mutating func elevation(_ i: Int) -> Int8? {
    guard let value = whole(i), value >= -90, value <= 90 else { return nil }
    return Int8(truncatingIfNeeded: value)
  }

  /// Degrees from north; nil outside 0 … 360.
  mutating func azimuth(_ i: Int) -> UInt16? {
    guard let value = whole(i), value >= 0, value <= 360 else { return nil }
    return UInt16(truncatingIfNeeded: value)
  }

  /// dB-Hz; nil outside 0 … 99.
  mutating func signal(_ i: Int) -> UInt8? {
    guard let value = whole(i), value >= 0, value <= 99 else { return nil }
    return UInt8(truncatingIfNeeded: value)
  }

  /// One hexadecimal digit, as in signal numbers; nil for anything else.
  @inline(__always) func hexadecimal(_ i: Int) -> UInt8? {
    guard length(i) == 1, let byte = letter(i) else { return nil }
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return byte &- UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): return byte &- UInt8(ascii: "A") &+ 10
    case _: return nil
    }
  }

  /// Best mode in a field with one letter per system; nil without a known letter.
  fileprivate func bestMode(_ i: Int) -> NMEAMode? {
    var best: NMEAMode?
    var offset = 0
    while let byte = byte(offset, ofField: i) {
      if let mode = NMEAMode(rawValue: byte), best.map({ $0.rank < mode.rank }) ?? true {
        best = mode
      }
      offset += 1
    }
    return best
  }

  fileprivate func ubloxStatus(_ i: Int) -> UBloxPosition.Status? {
    guard length(i) == 2, let first = byte(0, ofField: i), let second = byte(1, ofField: i) else {
      return nil
    }
    return switch UInt16(first) << 8 | UInt16(second) {
    case 0x4E_46: .noFix
    case 0x44_52: .deadReckoning
    case 0x47_32: .twoDimensional
    case 0x47_33: .threeDimensional
    case 0x44_32: .differential2D
    case 0x44_33: .differential3D
    case 0x52_4B: .combined
    case 0x54_54: .timeOnly
    case _: nil
    }
  }
}

extension NMEAMode {
  /// Rank among the modes of several systems; the highest one is that of the fix.
  var rank: UInt8 {
    switch self {
    case .notValid: 0
    case .simulator: 1
    case .manual: 2
    case .estimated: 3
    case .autonomous: 4
    case .precise: 5
    case .differential: 6
    case .rtkFloat: 7
    case .rtkFixed: 8
    }
  }
}

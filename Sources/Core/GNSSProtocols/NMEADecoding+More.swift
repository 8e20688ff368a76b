import LocationTypes

// GNS, GBS and what the makers of receivers have added.

extension NMEADecoding {
  /// Time, place, mode of each system, satellites, HDOP, altitude, separation, age, station, nav
  /// status from 4.1.
  static func gns(_ f: inout NMEAFields, _ talker: Talker) -> GNS {
    var m = GNS(talker: talker, time_us: f.time(0))
    m.coordinate = f.coordinate(1)
    m.mode = f.bestMode(5)
    m.satellites = f.whole(6, as: UInt8.self)
    m.horizontalDOP_e2 = f.dilution(7)
    m.altitude_mm = f.decimal(8, 3, as: Int32.self)
    m.separation_mm = f.decimal(9, 3, as: Int32.self)
    m.correctionAge_ms = f.decimal(10, 3, as: Int32.self)
    m.station = f.name(11)
    m.navigationalStatus = f.letter(12)
    return m
  }

  /// Time, σ of latitude, longitude and altitude, satellite, probability, bias, its σ.
  static func gbs(_ f: inout NMEAFields, _ talker: Talker) -> GBS {
    var m = GBS(talker: talker, time_us: f.time(0))
    m.latitude_mm = f.decimal(1, 3, as: Int32.self)
    m.longitude_mm = f.decimal(2, 3, as: Int32.self)
    m.altitude_mm = f.decimal(3, 3, as: Int32.self)
    m.satellite = f.whole(4, as: UInt16.self)
    m.bias_mm = f.decimal(6, 3, as: Int32.self)
    m.biasError_mm = f.decimal(7, 3, as: Int32.self)
    return m
  }

  /// Whatever has an address of another form than talker and three letters.
  @inline(never)
  static func proprietary(
    _ f: inout NMEAFields, _ head: UInt64, _ counters: inout DecoderCounters
  ) -> GNSSMessage {
    let message: GNSSMessage?
    // The first seven, as they stand in the sentence.
    let address = head.byteSwapped >> 8
    switch (f.addressLength, address) {
    // PUBX,00 with a comma behind it.
    case (4, 0x50_55_42_58_2C_30_30) where f.length(0) == 2: message = .ubloxPosition(pubx(&f))
    case (5, let kind) where kind >> 16 == 0x50_47_52_4D_45: message = .garminErrors(pgrme(&f))
    case (5, let kind) where kind >> 16 == 0x50_47_52_4D_5A: message = .garminAltitude(pgrmz(&f))
    case (7, 0x50_4D_54_4B_30_30_31): message = pmtk(&f).map { .commandResult($0) }
    case (7, 0x50_41_49_52_30_30_31): message = pair(&f).map { .commandResult($0) }
    case (7, 0x50_4D_54_4B_30_31_30): message = .receiverNotice(systemMessage(&f))
    case (7, 0x50_4D_54_4B_30_31_31): message = .receiverNotice(.started)
    case _:
      counters.unknown.count()
      return .unread(.sentence(f.address))
    }
    guard let message, !f.isBroken else {
      counters.malformed.count()
      return .other
    }
    return message
  }

  /// 00, time, place, height, status, accuracies (2), km/h, course, speed downward, age, HDOP, VDOP,
  /// TDOP, satellites; two more of no use.
  private static func pubx(_ f: inout NMEAFields) -> UBloxPosition {
    var m = UBloxPosition(time_us: f.time(1))
    m.coordinate = f.coordinate(2)
    m.height_mm = f.decimal(6, 3, as: Int32.self)
    m.status = f.ubloxStatus(7)
    m.horizontalAccuracy_mm = f.decimal(8, 3, as: Int32.self)
    m.verticalAccuracy_mm = f.decimal(9, 3, as: Int32.self)
    m.speed_mmps = f.kilometresPerHour(10)
    m.course_e4 = f.course(11)
    m.velocityDown_mmps = f.decimal(12, 3, as: Int32.self)
    m.correctionAge_ms = f.decimal(13, 3, as: Int32.self)
    m.horizontalDOP_e2 = f.dilution(14)
    m.verticalDOP_e2 = f.dilution(15)
    m.timeDOP_e2 = f.dilution(16)
    m.satellites = f.whole(17, as: UInt8.self)
    return m
  }

  /// HPE, M, VPE, M, EPE, M.
  private static func pgrme(_ f: inout NMEAFields) -> GarminErrors {
    GarminErrors(
      horizontal_mm: f.decimal(0, 3, as: Int32.self), vertical_mm: f.decimal(2, 3, as: Int32.self),
      position_mm: f.decimal(4, 3, as: Int32.self))
  }

  /// Altitude, f or m, dimensions.
  private static func pgrmz(_ f: inout NMEAFields) -> GarminAltitude {
    let isMetric = f.letter(1).map { $0 | 0x20 == UInt8(ascii: "m") } ?? false
    var m = GarminAltitude(dimensions: f.whole(2, as: UInt8.self))
    if isMetric {
      m.altitude_mm = f.decimal(0, 3, as: Int32.self)
    } else if let feet = f.decimal(0, 3, as: Int32.self) {
      // 1 foot is 304.8 mm.
      m.altitude_mm = Int32((Int64(feet) * 3_048 + (feet < 0 ? -5_000 : 5_000)) / 10_000)
    }
    return m
  }

  /// Command, 0 invalid, 1 unsupported, 2 failed, 3 done.
  private static func pmtk(_ f: inout NMEAFields) -> CommandResult? {
    let command = f.whole(0, as: UInt16.self)
    let flag = f.whole(1, as: UInt8.self)
    guard let command, let flag, flag <= 3 else { return nil }
    let outcome: CommandResult.Outcome =
      switch flag {
      case 0: .invalid
      case 1: .unsupported
      case 2: .failed
      case _: .done
      }
    return CommandResult(family: .pmtk, command: command, outcome: outcome)
  }

  /// Command, 0 done, 1 pending, 2 failed, 3 unsupported, 4 parameters, 5 busy.
  private static func pair(_ f: inout NMEAFields) -> CommandResult? {
    let command = f.whole(0, as: UInt16.self)
    let result = f.whole(1, as: UInt8.self)
    guard let command, let result, let outcome = CommandResult.Outcome(rawValue: result) else {
      return nil
    }
    return CommandResult(family: .pair, command: command, outcome: outcome)
  }
}

// MARK: Fields of a meaning of their own

extension NMEAFields {
  /// A dilution of precision; 99.99 and zero are receivers' ways to say that there is none.
  @inline(__always) mutating func dilution(_ i: Int) -> UInt16? {
    guard let value = decimal(i, 2), value > 0, value < 9_900 else { return nil }
    return UInt16(truncatingIfNeeded: value)
  }

  /// Degrees above the horizon; what is outside −90 … 90 is none.
  @inline(__always) mutating func elevation(_ i: Int) -> Int8? {
    guard let value = whole(i), value >= -90, value <= 90 else { return nil }
    return Int8(truncatingIfNeeded: value)
  }

  /// Degrees from north; what is outside 0 … 360 is none.
  @inline(__always) mutating func azimuth(_ i: Int) -> UInt16? {
    guard let value = whole(i), value >= 0, value <= 360 else { return nil }
    return UInt16(truncatingIfNeeded: value)
  }

  /// dB-Hz; what is outside 0 … 99 is none.
  @inline(__always) mutating func signal(_ i: Int) -> UInt8? {
    guard let value = whole(i), value >= 0, value <= 99 else { return nil }
    return UInt8(truncatingIfNeeded: value)
  }

  /// One hexadecimal digit, as signals are numbered; nil for anything else.
  @inline(__always) func hexadecimal(_ i: Int) -> UInt8? {
    guard length(i) == 1, let byte = letter(i) else { return nil }
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return byte &- UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): return byte &- UInt8(ascii: "A") &+ 10
    case _: return nil
    }
  }

  /// The best mode of a letter for each system; nil when there is none that is known.
  func bestMode(_ i: Int) -> NMEAMode? {
    var best: NMEAMode?
    var place = 0
    while let byte = byte(place, ofField: i) {
      if let mode = NMEAMode(rawValue: byte), best.map({ $0.rank < mode.rank }) ?? true {
        best = mode
      }
      place += 1
    }
    return best
  }

  func ubloxStatus(_ i: Int) -> UBloxPosition.Status? {
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
  /// Which of the modes of several systems a fix is made by.
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

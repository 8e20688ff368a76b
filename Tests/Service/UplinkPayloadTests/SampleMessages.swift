import LocationTypes
import TestSupport
import UplinkPayload

/// Messages for tests: rides as a receiver sends them, and fixes with random and extreme values.
enum SampleMessages {
  static let device = DeviceName("board-1")!
  static let ring: UInt64 = 0xFEDC_BA98_7654_3210

  static func message(_ fixes: [StoredFix], preceding: FixName? = nil) -> UplinkMessage {
    UplinkMessage(device: device, ring: ring, preceding: preceding, content: .fixes(fixes))
  }

  /// One message of each kind, in several variants.
  static let all: [UplinkMessage] = {
    var random = SplitMix64(seed: 7)
    let preceding = FixName(generation: 2, sequence: 999)
    let times = [nil, time(5, nil), time(-9, 1_767_225_600_000_000)]
    var gaps = [Gap(unsyncedBefore: 12, after: times[2])]
    for from in times { gaps.append(Gap(3..<9, from: from, to: times[1])) }
    return [
      message(ride(20, &random), preceding: preceding), message(ride(1, &random)),
      message(extremes(24, &random)), message(extremes(1, &random)),
      message(mixed(16, &random), preceding: FixName(generation: 0, sequence: 0)),
      message(minutes(12), preceding: preceding),
      UplinkMessage(
        device: DeviceName("A_z-09")!, ring: .max, preceding: preceding,
        content: .event(
          number: 3, json: Array(#"{"region":{"name":"home ü","event":"entered"}}"#.utf8))),
    ]
      + gaps.map {
        UplinkMessage(
          device: device, ring: 0, preceding: nil, content: .gap($0, generation: 4))
      }
  }()

  private static func time(_ boot_us: Int64, _ utc_us: Int64?) -> FixTime {
    FixTime(
      acquired: Instant(microseconds: boot_us), utc: utc_us.map { UTCTime(microseconds: $0) })
  }

  /// A ride with a fix a second, values as in UBX-NAV-PVT: 1e-7 degree, mm, 1e-5 degree of course.
  static func ride(_ count: Int, _ random: inout SplitMix64) -> [StoredFix] {
    var latitude: Int64 = 525_162_745
    var longitude: Int64 = 133_777_041
    var speed: Int64 = 5_000
    var altitude: Int64 = 34_500
    return (0..<count).map { i in
      speed = max(0, speed + Int64.random(in: -300...300, using: &random))
      latitude += speed / 20 + Int64.random(in: -2...2, using: &random)
      longitude -= speed / 40 + Int64.random(in: -2...2, using: &random)
      altitude += Int64.random(in: -80...80, using: &random)
      var fix = Fix(
        acquired: Instant(microseconds: 123_456_789_012 + Int64(i) * 1_000_000),
        coordinate: Coordinate(latitude_e9: latitude * 100, longitude_e9: longitude * 100))
      fix.utc = UTCTime(microseconds: 1_767_225_600_000_000 + Int64(i) * 1_000_000)
      fix.altitude_mm = Int32(altitude)
      fix.ellipsoidalAltitude_mm = Int32(altitude + 46_900)
      fix.speed_mmps = Int32(speed)
      fix.course_e4 = Int32((2_000_000 + speed * 7) % 3_600_000)
      fix.horizontalAccuracy_mm = Int32(1_500 + Int64.random(in: 0...90, using: &random))
      fix.verticalAccuracy_mm = Int32(2_500 + Int64.random(in: 0...90, using: &random))
      fix.speedAccuracy_mmps = Int32(200 + Int64.random(in: 0...30, using: &random))
      fix.satellites = Int16(12 + i / 50 % 4)
      fix.quality = .autonomous
      return StoredFix(name: FixName(generation: 7, sequence: 41 + UInt64(i)), fix: fix)
    }
  }

  /// Coordinates in decimals of a minute and speeds in knots, as NMEA sends them.
  static func minutes(_ count: Int) -> [StoredFix] {
    (0..<count).map { i in
      let minute = Int64(1_234_567 + 13 * i)
      let sign: Int64 = i % 2 == 0 ? 1 : -1
      var fix = Fix(
        acquired: Instant(microseconds: Int64(i) * 2_000_000),
        coordinate: Coordinate(
          latitude_e9: sign * (minute * 500 + 1) / 3, longitude_e9: minute * 50_000 / 3),
        mode: .twoDimensional)
      fix.speed_mmps = Int32((463 * (200 + i) + 4) / 9)
      return StoredFix(name: FixName(generation: 1, sequence: UInt64(i) * 3), fix: fix)
    }
  }

  /// Any value that a fix can have; the smallest and largest are frequent.
  static func extremes(_ count: Int, _ random: inout SplitMix64) -> [StoredFix] {
    var sequence = UInt64.random(in: 0..<1 << 30, using: &random)
    return (0..<count).map { i in
      sequence += 1 + UInt64.random(in: 0..<1 << 34, using: &random) >> UInt64(i % 34)
      let fix = extreme(&random)
      return StoredFix(name: FixName(generation: .max, sequence: sequence), fix: fix)
    }
  }

  /// Fixes whose optional fields are unknown in turn.
  private static func mixed(_ count: Int, _ random: inout SplitMix64) -> [StoredFix] {
    zip(ride(count, &random), 0...).map { stored, i in
      var stored = stored
      if i % 5 < 2 { stored.fix.utc = nil }
      if i % 3 == 0 { stored.fix.altitude_mm = nil }
      if i % 4 == 3 { stored.fix.ellipsoidalAltitude_mm = nil }
      if i % 7 == 0 { stored.fix.satellites = nil }
      stored.fix.isDateUncertain = i == 4
      return stored
    }
  }

  private static func extreme(_ random: inout SplitMix64) -> Fix {
    func value(_ range: ClosedRange<Int64>) -> Int64 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: range.lowerBound
      case 1: range.upperBound
      case _: Int64.random(in: range, using: &random)
      }
    }
    func optional(_ range: ClosedRange<Int64>) -> Int32? {
      Bool.random(using: &random) ? Int32(value(range)) : nil
    }
    var fix = Fix(
      acquired: Instant(microseconds: value(.min ... .max)),
      coordinate: Coordinate(
        latitude_e9: value(-90_000_000_000...90_000_000_000),
        longitude_e9: value(-180_000_000_000...180_000_000_000)),
      mode: Bool.random(using: &random) ? .twoDimensional : .threeDimensional)
    let altitudes = -Int64(Int32.max)...Int64(Int32.max)
    if Bool.random(using: &random) { fix.utc = UTCTime(microseconds: value(.min + 1 ... .max)) }
    fix.altitude_mm = optional(altitudes)
    fix.ellipsoidalAltitude_mm = optional(altitudes)
    fix.speed_mmps = optional(0...Int64(Fix.speedLimit_mmps))
    fix.course_e4 = optional(0...3_599_999)
    fix.horizontalAccuracy_mm = optional(0...Int64(Fix.accuracyLimit_mm))
    fix.verticalAccuracy_mm = optional(0...Int64(Fix.accuracyLimit_mm))
    fix.speedAccuracy_mmps = optional(0...Int64(Fix.speedAccuracyLimit_mmps))
    fix.courseAccuracy_e2 = optional(0...Int64(Fix.courseAccuracyLimit_e2))
    fix.satellites = optional(0...254).map { Int16($0) }
    fix.quality = FixQuality(rawValue: UInt8(value(0...9))) ?? .unknown
    fix.isDateUncertain = Bool.random(using: &random)
    fix.isSimulated = Bool.random(using: &random)
    fix.isFromAccessory = Bool.random(using: &random)
    return fix
  }
}

import LocationTypes
import Testing

@Suite("Fixes, coordinates and chunks")
struct FixTests {
  static func fix() -> Fix {
    Fix(acquired: .boot, coordinate: Coordinate(latitude_e9: 1, longitude_e9: 2))
  }

  @Test("LOC-3: a new fix has only its coordinate and time")
  func unknown() {
    let fix = Self.fix()
    #expect(fix.utc == nil)
    #expect(fix.ellipsoidalAltitude_mm == nil)
    #expect(fix.altitude_mm == nil)
    #expect(fix.speed_mmps == nil)
    #expect(fix.speed == nil)
    #expect(fix.course_e4 == nil)
    #expect(fix.course == nil)
    #expect(fix.horizontalAccuracy_mm == nil)
    #expect(fix.horizontalAccuracy == nil)
    #expect(fix.verticalAccuracy_mm == nil)
    #expect(fix.speedAccuracy_mmps == nil)
    #expect(fix.courseAccuracy_e2 == nil)
    #expect(fix.satellites == nil)
    #expect(fix.mode == .threeDimensional)
    #expect(fix.quality == .unknown)
    #expect(!fix.isDateUncertain)
    #expect(!fix.isSimulated)
  }

  @Test("LOC-2: a field returns its written value, and nil clears it")
  func readsBack() {
    var fix = Self.fix()
    fix.utc = UTCTime(microseconds: 0)
    fix.ellipsoidalAltitude_mm = 0
    fix.altitude_mm = -1
    fix.speed_mmps = 0
    fix.course_e4 = 0
    fix.horizontalAccuracy_mm = 0
    fix.verticalAccuracy_mm = 1
    fix.speedAccuracy_mmps = 2
    fix.courseAccuracy_e2 = 3
    fix.satellites = 0
    #expect(fix.utc == UTCTime(microseconds: 0))
    #expect(fix.ellipsoidalAltitude_mm == 0)
    #expect(fix.altitude_mm == -1)
    #expect(fix.speed_mmps == 0)
    #expect(fix.course_e4 == 0)
    #expect(fix.horizontalAccuracy_mm == 0)
    #expect(fix.verticalAccuracy_mm == 1)
    #expect(fix.speedAccuracy_mmps == 2)
    #expect(fix.courseAccuracy_e2 == 3)
    #expect(fix.satellites == 0)
    fix.utc = nil
    fix.ellipsoidalAltitude_mm = nil
    fix.altitude_mm = nil
    fix.speed_mmps = nil
    fix.course_e4 = nil
    fix.horizontalAccuracy_mm = nil
    fix.verticalAccuracy_mm = nil
    fix.speedAccuracy_mmps = nil
    fix.courseAccuracy_e2 = nil
    fix.satellites = nil
    #expect(fix == Self.fix())
  }

  @Test("LOC-4: values beyond a field's range are clamped")
  func clamps() {
    var fix = Self.fix()
    for (value, speed, accuracy, speedAccuracy, courseAccuracy) in [
      (-1, 0, 0, 0, 0), (Int32.min, 0, 0, 0, 0),
      (Int32.max, 0xFF_FFFE, 0xFF_FFFE, 0xFFFE, 36_000),
      (36_000, 36_000, 36_000, 36_000, 36_000), (36_001, 36_001, 36_001, 36_001, 36_000),
      (0xFFFE, 0xFFFE, 0xFFFE, 0xFFFE, 36_000), (0xFFFF, 0xFFFF, 0xFFFF, 0xFFFE, 36_000),
      (0xFF_FFFE, 0xFF_FFFE, 0xFF_FFFE, 0xFFFE, 36_000),
      (0xFF_FFFF, 0xFF_FFFE, 0xFF_FFFE, 0xFFFE, 36_000),
    ] as [(Int32, Int32, Int32, Int32, Int32)] {
      fix.speed_mmps = value
      fix.horizontalAccuracy_mm = value
      fix.verticalAccuracy_mm = value
      fix.speedAccuracy_mmps = value
      fix.courseAccuracy_e2 = value
      #expect(fix.speed_mmps == speed)
      #expect(fix.horizontalAccuracy_mm == accuracy)
      #expect(fix.verticalAccuracy_mm == accuracy)
      #expect(fix.speedAccuracy_mmps == speedAccuracy)
      #expect(fix.courseAccuracy_e2 == courseAccuracy)
    }
    for (value, held) in [(-1, 0), (0, 0), (254, 254), (255, 254), (.max, 254)] as [(Int16, Int16)]
    {
      fix.satellites = value
      #expect(fix.satellites == held)
    }
  }

  @Test(
    "LOC-3: a course is normalized to 0° up to but not including 360°",
    arguments: [
      (0, 0), (3_599_999, 3_599_999), (3_600_000, 0), (3_600_001, 1), (-1, 3_599_999),
      (-3_600_000, 0), (-3_600_001, 3_599_999), (Int32.max, 1_883_647), (.min, 1_716_352),
    ] as [(Int32, Int32)])
  func course(_ written: Int32, _ stored: Int32) {
    var fix = Self.fix()
    fix.course_e4 = written
    #expect(fix.course_e4 == stored)
  }

  @Test("metres, metres per second and degrees are derived from the integers")
  func derived() {
    var fix = Self.fix()
    fix.horizontalAccuracy_mm = 2_500
    fix.speed_mmps = 1_400
    fix.course_e4 = 905_000
    #expect(fix.horizontalAccuracy == 2.5)
    #expect(fix.speed == 1.4)
    #expect(fix.course == 90.5)
  }

  @Test("names are equal if generation and sequence are equal")
  func names() {
    let name = FixName(generation: 1, sequence: 2)
    #expect(name == FixName(generation: 1, sequence: 2))
    #expect(name != FixName(generation: 2, sequence: 2))
    #expect(name != FixName(generation: 1, sequence: 1))
  }

  @Test(
    "LOC-10: coordinates on the globe are valid, also (0, 0)",
    arguments: [
      (0.0, 0.0, true), (90, 180, true), (-90, -180, true), (90.000_000_001, 0, false),
      (-90.000_000_001, 0, false), (0, 180.000_000_001, false), (0, -180.000_000_001, false),
      (.nan, 0, false), (0, .nan, false), (.infinity, 0, false), (0, -.infinity, false),
    ])
  func globe(_ latitude: Double, _ longitude: Double, _ isValid: Bool) {
    let position = Coordinate(latitude: latitude, longitude: longitude)
    #expect((position != nil) == isValid)
    #expect(position?.isValid ?? false == isValid)
  }

  @Test("LOC-10: integer coordinates off the globe are invalid")
  func offTheGlobe() {
    let (pole, date) = (90_000_000_000 as Int64, 180_000_000_000 as Int64)
    #expect(Coordinate(latitude_e9: pole, longitude_e9: date).isValid)
    #expect(Coordinate(latitude_e9: -pole, longitude_e9: -date).isValid)
    #expect(!Coordinate(latitude_e9: pole + 1, longitude_e9: 0).isValid)
    #expect(!Coordinate(latitude_e9: -pole - 1, longitude_e9: 0).isValid)
    #expect(!Coordinate(latitude_e9: 0, longitude_e9: date + 1).isValid)
    #expect(!Coordinate(latitude_e9: 0, longitude_e9: -date - 1).isValid)
  }

  @Test("degrees are rounded to 1e-9 and converted back")
  func degrees() throws {
    let position = try #require(
      Coordinate(latitude: 50.123_456_789_4, longitude: -0.000_000_000_6))
    #expect(position.latitude_e9 == 50_123_456_789)
    #expect(position.longitude_e9 == -1)
    #expect(position.latitude == 50.123_456_789)
    #expect(position.longitude == -1e-9)
  }

  @Test("a chunk stores 256 bytes and returns them")
  func chunk() {
    var chunk = ByteChunk()
    #expect(chunk.count == 0)
    #expect(chunk.span.count == 0)
    for i in 0..<256 {
      #expect(!chunk.isFull)
      chunk.append(UInt8(i))
    }
    #expect(chunk.isFull)
    #expect(chunk.count == 256)
    #expect(chunk.span.count == 256)
    for i in 0..<256 {
      #expect(chunk[i] == UInt8(i))
      #expect(chunk.span[i] == UInt8(i))
    }
  }

  @Test("a chunk of a span has its first 256 bytes", arguments: [0, 1, 255, 256, 257, 500])
  func chunkOfSpan(_ count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let chunk = ByteChunk(bytes.span)
    #expect(chunk.count == min(count, 256))
    #expect(chunk.isFull == (count >= 256))
    for i in 0..<chunk.count { #expect(chunk[i] == bytes[i]) }
  }

  @Test("STD-10: error codes have Apple's numbers")
  func errorNumbers() {
    let codes: [LocationErrorCode] = [
      .locationUnknown, .denied, .network, .headingFailure, .regionMonitoringDenied,
      .regionMonitoringFailure, .regionMonitoringSetupDelayed, .regionMonitoringResponseDelayed,
      .geocodeFoundNoResult, .geocodeFoundPartialResult, .geocodeCanceled, .deferredFailed,
      .deferredNotUpdatingLocation, .deferredAccuracyTooLow, .deferredDistanceFiltered,
      .deferredCanceled, .rangingUnavailable, .rangingFailure, .promptDeclined,
      .historicalLocationError,
    ]
    #expect(codes.map(\.rawValue) == Array(0...19))
  }

  @Test("sleep states are ordered by depth")
  func sleepStates() {
    #expect(BoardState.awake < .idle)
    #expect(BoardState.idle < .suspended)
    #expect(BoardState.suspended < .off)
    #expect(!(BoardState.idle < .idle))
    let command = PinCommand(.receiverSupply, .active)
    #expect(command.pin == .receiverSupply)
    #expect(command.level == .active)
  }
}

import LocationTypes
import Testing

@testable import GNSSProtocols

@Suite("UBX epochs") struct UBXEpochTests {
  private let utc = UTCTime(microseconds: 1_780_315_200_000_000)

  private func solution(_ change: (inout UBXSolution) -> Void = { _ in }) -> UBXSolution {
    var s = UBXSolution(
      utc: utc, fixType: 3, isFixOK: true, longitude_e7: 110_000_000, latitude_e7: 480_000_000,
      height_mm: 547_000, horizontalAccuracy_mm: 1_500)
    s.heightMSL_mm = 500_000
    s.verticalAccuracy_mm = 2_500
    s.groundSpeed_mmps = 1_000
    s.headingOfMotion_e5 = 9_012_345
    s.headingAccuracy_e5 = 123_456
    s.velocityDown_mmps = 20
    s.satellites = 12
    change(&s)
    return s
  }

  private func epoch(_ change: (inout UBXSolution) -> Void = { _ in }) -> Epoch? {
    var assembler = EpochAssembler()
    return assembler.add(.navPVT(solution(change)), at: Instant(seconds: 3))
  }

  @Test("an epoch is overwritten completely, whatever its storage held before")
  func writtenWhole() {
    let now = Instant(seconds: 3)
    var full = Epoch(solution(), true, at: .boot)
    full.origin = .batch
    full.apply(DatedMoment(utc_us: 7, time_us: 7, isUncertain: true))
    full.hdop_e2 = 1
    full.vdop_e2 = 1
    full.pdop_e2 = 1
    full.satellitesInView = 1
    full.meanSignal_dBHz = 1
    full.bestSignal_dBHz = 1
    full.timeAccuracy_ns = 1
    full.latitudeError_mm = 1
    full.longitudeError_mm = 1
    let kinds = [
      solution(), solution { $0.fixType = 2 }, solution { $0.isFixOK = false },
      UBXSolution(
        utc: nil, fixType: 3, isFixOK: true, longitude_e7: 0, latitude_e7: 0, height_mm: 0,
        horizontalAccuracy_mm: 0),
    ]
    for solution in kinds {
      var fresh = Epoch()
      var used = full
      for isFresh in [true, false] {
        var assembler = EpochAssembler()
        let isWritten =
          isFresh
          ? assembler.add(.navPVT(solution), at: now, into: &fresh)
          : assembler.add(.navPVT(solution), at: now, into: &used)
        #expect(isWritten)
      }
      #expect(used == fresh)
    }
  }

  @Test("NAV-PVT is a complete epoch, emitted immediately")
  func live() {
    let e = epoch()
    #expect(e?.utc == utc && e?.mode == .threeDimensional && e?.origin == .live)
    #expect(e?.fix?.acquired == Instant(seconds: 3) && e?.fix?.utc == utc)
    #expect(
      e?.fix?.coordinate == Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11_000_000_000))
    #expect(e?.fix?.altitude_mm == 500_000 && e?.fix?.ellipsoidalAltitude_mm == 547_000)
    #expect(e?.fix?.horizontalAccuracy_mm == 1_500 && e?.fix?.verticalAccuracy_mm == 2_500)
    #expect(e?.fix?.speed_mmps == 1_000 && e?.fix?.course_e4 == 901_235)
    #expect(e?.fix?.courseAccuracy_e2 == 123 && e?.fix?.satellites == 12)
    #expect(e?.climb_mmps == -20 && e?.geoidSeparation_mm == 47_000)
    #expect(e?.isDateUncertain == false && e?.fix?.isDateUncertain == false)
  }

  @Test("no fix: type 0, unknown types, not OK, coordinates out of range")
  func noFix() {
    for type in [0, 6, 255] as [UInt8] {
      let e = epoch { $0.fixType = type }
      #expect(e?.mode == .noFix && e?.fix == nil && e?.utc == utc)
    }
    #expect(epoch { $0.isFixOK = false }?.fix == nil)
    #expect(epoch { $0.latitude_e7 = 900_000_001 }?.fix == nil)
    #expect(epoch { $0.longitude_e7 = .min }?.fix == nil)
  }

  @Test("2D has no vertical accuracy; fix types map to qualities")
  func kinds() {
    #expect(epoch { $0.fixType = 2 }?.fix?.mode == .twoDimensional)
    #expect(epoch { $0.fixType = 2 }?.fix?.verticalAccuracy_mm == nil)
    #expect(epoch()?.fix?.quality == .autonomous)
    #expect(epoch { $0.isDifferential = true }?.fix?.quality == .differential)
    #expect(epoch { $0.carrierSolution = 1 }?.fix?.quality == .rtkFloat)
    #expect(epoch { $0.carrierSolution = 2 }?.fix?.quality == .rtkFixed)
    #expect(epoch { $0.fixType = 1 }?.fix?.quality == .deadReckoning)
    #expect(epoch { $0.fixType = 1 }?.mode == .twoDimensional)
    #expect(epoch { $0.fixType = 4 }?.fix?.quality == .combined)
    #expect(epoch { $0.fixType = 4 }?.mode == .threeDimensional)
    let carried = epoch {
      $0.fixType = 4
      $0.carrierSolution = 2
    }
    #expect(carried?.fix?.quality == .rtkFixed)
  }

  @Test("a timing receiver's surveyed position is a 3D fix with its own quality, if it is OK")
  func surveyed() {
    let timing = epoch {
      $0.fixType = 5
      $0.isDifferential = true
      $0.carrierSolution = 1
    }
    #expect(timing?.fix?.quality == .surveyed && timing?.mode == .threeDimensional)
    #expect(timing?.fix?.mode == .threeDimensional && timing?.fix?.verticalAccuracy_mm == 2_500)
    let noPosition = epoch {
      $0.fixType = 5
      $0.isFixOK = false
    }
    #expect(noPosition?.fix == nil && noPosition?.mode == .noFix && noPosition?.utc == utc)
  }

  @Test("LOC-3: the course is unknown if the receiver reports it as arbitrary")
  func course() {
    #expect(epoch { $0.headingAccuracy_e5 = 18_000_000 }?.fix?.course_e4 == nil)
    #expect(epoch { $0.headingAccuracy_e5 = 18_000_000 }?.fix?.courseAccuracy_e2 == nil)
    #expect(epoch { $0.headingAccuracy_e5 = 17_999_999 }?.fix?.course_e4 != nil)
    #expect(epoch { $0.headingOfMotion_e5 = -1 }?.fix?.course_e4 == nil)
    #expect(epoch { $0.headingOfMotion_e5 = 36_000_000 }?.fix?.course_e4 == 0)
    #expect(epoch { $0.headingOfMotion_e5 = 36_000_001 }?.fix?.course_e4 == nil)
    #expect(epoch { $0.groundSpeed_mmps = -5 }?.fix?.speed_mmps == 0)
  }

  @Test("extreme values are clamped, none traps")
  func extremes() {
    let e = epoch {
      $0.horizontalAccuracy_mm = .max
      $0.verticalAccuracy_mm = .max
      $0.speedAccuracy_mmps = .max
      $0.height_mm = .min
      $0.heightMSL_mm = .max
      $0.groundSpeed_mmps = .max
      $0.velocityDown_mmps = .min
    }
    #expect(e?.fix?.horizontalAccuracy_mm == Fix.accuracyLimit_mm)
    #expect(e?.fix?.ellipsoidalAltitude_mm == nil && e?.geoidSeparation_mm == nil)
    #expect(e?.climb_mmps == nil)
  }

  @Test("STD-13: unresolved seconds are marked; without UTC the time is unknown")
  func time() {
    #expect(epoch { $0.isTimeResolved = false }?.isDateUncertain == true)
    #expect(epoch { $0.isTimeResolved = false }?.fix?.isDateUncertain == true)
    #expect(epoch { $0.utc = nil }?.utc == nil)
    #expect(epoch { $0.utc = nil }?.fix != nil)
  }

  @Test("a UBX epoch after an open NMEA epoch: both are emitted in order, none is lost")
  func mixed() {
    let lines = [
      "GNRMC,115959.00,A,4800.0,N,01100.0,E,,,010626,,,A",
      "GNGGA,115959.00,4800.0,N,01100.0,E,1,05,1.0,500.0,M,47.0,M,,",
    ].flatMap { sentence($0) }
    var assembler = EpochAssembler()
    for message in decode(lines).messages { #expect(assembler.add(message, at: .boot) == nil) }
    let first = assembler.add(.navPVT(solution()), at: .boot)
    #expect(first?.timeOfDay_us == 43_199_000_000 && assembler.isOpen)
    // The UBX epoch was not fetched by `next()`: the next message returns it.
    let second = assembler.add(.navPVT(solution { $0.utc = utc + .seconds(1) }), at: .boot)
    #expect(second?.utc == utc && assembler.isOpen)
    #expect(assembler.close()?.utc == utc + .seconds(1) && !assembler.isOpen)
    #expect(assembler.close() == nil)
  }

  @Test("one epoch in both protocols is emitted once, whichever arrives first")
  func both() {
    func nmea(_ second: Int) -> [UInt8] {
      sentence("GNRMC,12000\(second).00,A,4800.0,N,01100.0,E,,,010626,,,A")
        + sentence("GNGSA,A,3,01,,,,,,,,,,,,2.0,1.2,1.6")
        + sentence("GNGGA,12000\(second).00,4800.0,N,01100.0,E,1,05,1.0,500.0,M,47.0,M,,")
    }
    func ubx(_ second: Int) -> [UInt8] {
      var buffer = FrameBuffer()
      // Receivers add a fraction of a millisecond, positive or negative.
      buffer.appendNavPVT(
        solution { $0.utc = utc + Interval(microseconds: Int64(second) * 1_000_000 - 301) })
      return bytes(buffer)
    }
    let ubxFirst = epochs((0..<4).flatMap { ubx($0) + nmea($0) })
    let ubxLast = epochs((0..<4).flatMap { nmea($0) + ubx($0) })
    #expect(ubxFirst.count == 4 && ubxLast.count == 4)
    #expect(ubxFirst.allSatisfy { $0.fix?.horizontalAccuracy_mm == 1_500 })
    #expect(ubxLast.allSatisfy { $0.fix?.horizontalAccuracy_mm == 1_500 })
    // In a recording NAV-PVT waits for sentences after it, and is not lost without them.
    var options = EpochOptions()
    options.waitsForSentences = true
    let merged = epochs((0..<4).flatMap { ubx($0) + nmea($0) }, options)
    #expect(merged.count == 4)
    #expect(merged.allSatisfy { $0.fix?.horizontalAccuracy_mm == 1_500 && $0.climb_mmps == -20 })
    #expect(merged.allSatisfy { $0.hdop_e2 == 100 && $0.vdop_e2 == 160 })
    let last = epochs((0..<4).flatMap { nmea($0) + ubx($0) }, options)
    #expect(last == merged)
    let mixed = epochs(ubx(0) + ubx(1) + nmea(2) + ubx(3) + nmea(4) + nmea(5), options)
    #expect(mixed.map { ($0.timeOfDay_us ?? 0) / 1_000_000 % 60 } == [59, 0, 2, 2, 4, 5])
    #expect(epochs(ubx(0) + sentence("GNVTG,1,T,,M,1,N,1,K"), options).count == 1)
    #expect(epochs(ubx(0) + sentence("GNRMC,,V,,,,,,,,,,N"), options).first?.fix != nil)
  }

  @Test("NAV-PVT sent twice is one epoch; all batch entries are emitted and affect no other epoch")
  func repeated() {
    var assembler = EpochAssembler()
    #expect(assembler.add(.navPVT(solution()), at: .boot) != nil)
    #expect(assembler.add(.navPVT(solution()), at: .boot) == nil)
    #expect(assembler.add(.navPVT(solution()), at: Instant(seconds: 7_200)) != nil)
    let entry = UBXBatchEntry(messageCount: 1, hasExtraPVT: true, solution: solution())
    let rmc = decode(sentence("GNRMC,120009,A,4800.0,N,01100.0,E,,,010626,,,A")).messages[0]
    #expect(assembler.add(rmc, at: .boot) == nil)
    for _ in 0..<2 {
      let e = assembler.add(.batchEntry(entry), at: .boot)
      #expect(e?.origin == .batch && e?.utc == utc && e?.fix != nil)
    }
    #expect(assembler.close()?.timeOfDay_us == 43_209_000_000)
  }
}

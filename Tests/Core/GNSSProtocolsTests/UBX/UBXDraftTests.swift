import LocationTypes
import Testing

@testable import GNSSProtocols

private let coordinate = Coordinate(latitude_e9: 45_000_000_000, longitude_e9: 90_000_000_000)

/// A position or velocity in the Earth-fixed (ECEF) frame, in metres or m/s.
private func vector(_ v: ECEF, _ accuracy: UInt32 = 100, _ time_ms: UInt32 = 0) -> UBXECEFVector {
  func cm(_ value: Double) -> Int32 { Int32((value * 100).rounded()) }
  return UBXECEFVector(
    timeOfWeek_ms: time_ms, x: cm(v.x), y: cm(v.y), z: cm(v.z), accuracy: accuracy)
}

private func status(_ flags: UInt8, _ time_ms: UInt32 = 0) -> UBXNavigation {
  .status(
    UBXStatus(timeOfWeek_ms: time_ms, fixType: 3, flags: flags, timeToFix_ms: 0, uptime_ms: 1))
}

private func sol(_ change: (inout UBXECEFSolution) -> Void = { _ in }) -> UBXNavigation {
  var m = UBXECEFSolution(
    fraction_ns: 0, week: 2_000, fixType: 3, flags: 0x0D,
    position: vector(ECEF(coordinate, height: 100)), velocity: vector(ECEF(x: -3, y: 0, z: 0), 10),
    positionDOP_e2: 242, satellites: 8)
  change(&m)
  return .ecefSolution(m)
}

private let position = UBXPosition(
  timeOfWeek_ms: 0, longitude_e7: 900_000_000, latitude_e7: 450_000_000, height_mm: 100_000,
  heightMSL_mm: 60_000, horizontalAccuracy_mm: 3_000, verticalAccuracy_mm: 4_000)

private func precise(by offset: Int64, isValid: Bool = true) -> UBXNavigation {
  .precisePosition(
    UBXPrecisePosition(
      timeOfWeek_ms: 0, isValid: isValid, longitude_e9: 90_000_000_000 + offset,
      latitude_e9: 45_000_000_000 - offset, height_dmm: 1_000_007, heightMSL_dmm: 600_004,
      horizontalAccuracy_dmm: 140, verticalAccuracy_dmm: 200))
}

private func gps(_ valid: UInt8) -> UBXNavigation {
  .gpsTime(
    UBXGPSTime(
      timeOfWeek_ms: 0, fraction_ns: 0, week: 2_001, leapSeconds: 18, valid: valid,
      accuracy_ns: 40))
}

@Suite("Values combined from the parts of a UBX epoch") struct UBXDraftTests {
  private func sum(_ parts: UBXNavigation..., leapSeconds: Int8? = nil) -> (
    solution: UBXSolution, coordinate: Coordinate?
  ) {
    var draft = UBXDraft()
    for part in parts { draft.apply(part) }
    return draft.solution(leapSeconds)
  }

  @Test("a fix is valid, and differential, only if its flag is set")
  func flags() {
    #expect(sum(sol(), .position(position)).solution.isFixOK)
    #expect(!sum(sol(), .position(position)).solution.isDifferential)
    let differential = sum(sol { $0.flags = 0x0E }, .position(position)).solution
    #expect(!differential.isFixOK && differential.isDifferential)
    #expect(!sum(status(0x0D)).solution.isFixOK)
  }

  @Test("satellites: NAV-SAT, then NAV-SOL; NAV-SOL supplies the dilution if NAV-DOP is missing")
  func counts() {
    var satellites = UBXSatellites(timeOfWeek_ms: 0)
    for _ in 0..<5 { satellites.add(isUsed: true, signal_dBHz: 40) }
    #expect(sum(sol(), .satellites(satellites)).solution.satellites == 5)
    #expect(sum(sol()).solution.satellites == 8 && sum(sol()).solution.positionDOP_e2 == 242)
  }

  @Test("positions: NAV-HPPOSLLH if it agrees, NAV-POSLLH, NAV-SOL, NAV-POSECEF")
  func positions() {
    let other = vector(ECEF(Coordinate(latitude_e9: 0, longitude_e9: 0), height: 0), 700)
    #expect(sum(sol(), .ecefPosition(other)).coordinate?.latitude_e9 == coordinate.latitude_e9)
    #expect(sum(sol(), .ecefPosition(other)).solution.horizontalAccuracy_mm == 1_000)
    let alone = sum(status(1), .ecefPosition(other))
    #expect(alone.coordinate == Coordinate(latitude_e9: 0, longitude_e9: 0))
    #expect(alone.solution.verticalAccuracy_mm == 7_000)
    #expect(sum(status(1), .position(position)).coordinate == coordinate)
    // NAV-HPPOSLLH is used only if it differs by less than one digit of NAV-POSLLH.
    let fine = sum(status(1), .position(position), precise(by: 37))
    #expect(fine.coordinate?.latitude_e9 == 44_999_999_963)
    #expect(fine.solution.horizontalAccuracy_mm == 14)
    let off = sum(status(1), .position(position), precise(by: 101))
    #expect(off.coordinate == coordinate && off.solution.horizontalAccuracy_mm == 3_000)
    // Without NAV-POSLLH, any valid one is used.
    #expect(sum(sol(), precise(by: 101)).coordinate?.latitude_e9 == 44_999_999_899)
    #expect(sum(sol(), precise(by: 101)).solution.heightMSL_mm == 60_000)
    let invalid = sum(sol(), precise(by: 101, isValid: false))
    #expect(invalid.coordinate?.latitude_e9 == coordinate.latitude_e9)
    let unrefined = sum(status(1), .position(position), precise(by: 37, isValid: false))
    #expect(unrefined.coordinate == coordinate)
  }

  @Test("an ECEF position is valid up to 2,000 km above and below the ground")
  func heights() {
    for (height, isPosition) in [
      (1_999_999, true), (2_000_001, false), (-1_999_999, true), (-2_000_001, false),
    ] as [(Double, Bool)] {
      let found = sum(status(1), .ecefPosition(vector(ECEF(coordinate, height: height))))
      #expect((found.coordinate != nil) == isPosition, "\(height)")
    }
    let ground = sum(status(1), .ecefPosition(vector(ECEF(coordinate, height: 100))))
    #expect(ground.coordinate != nil && abs(ground.solution.height_mm - 100_000) <= 10)
  }

  @Test("a height from ECEF is rounded, not truncated")
  func rounded() {
    for k in 1...100 as ClosedRange<Int32> {
      let above = UBXECEFVector(timeOfWeek_ms: 0, x: 637_813_700 + k, y: 0, z: 0, accuracy: 1)
      #expect(sum(status(1), .ecefPosition(above)).solution.height_mm == 10 * k)
    }
  }

  @Test("velocities: NAV-VELNED, NAV-SOL, NAV-VELECEF; otherwise unknown")
  func velocities() {
    let other = vector(ECEF(x: -7, y: 0, z: 0), 30)
    let reported = sum(
      sol(),
      .velocity(
        UBXVelocity(
          timeOfWeek_ms: 0, north_cmps: 300, east_cmps: 400, down_cmps: -20, speed_cmps: 500,
          groundSpeed_cmps: 500, heading_e5: 5_313_000, speedAccuracy_cmps: 20,
          headingAccuracy_e5: 200_000))
    ).solution
    #expect(reported.velocityNorth_mmps == 3_000 && reported.velocityEast_mmps == 4_000)
    #expect(reported.speedAccuracy_mmps == 200 && reported.headingAccuracy_e5 == 200_000)
    // At 90° E the x axis points west.
    let solution = sum(sol(), .ecefVelocity(other)).solution
    #expect(solution.velocityEast_mmps == 3_000 && solution.groundSpeed_mmps == 3_000)
    #expect(solution.velocityNorth_mmps == 0 && solution.speedAccuracy_mmps == 100)
    #expect(solution.headingOfMotion_e5 == 9_000_000)
    // 0.1 of 3 m/s, in degrees.
    #expect(solution.headingAccuracy_e5 == 191_000)
    let alone = sum(status(1), .position(position), .ecefVelocity(other)).solution
    #expect(alone.groundSpeed_mmps == 7_000)
    let none = sum(status(1), .position(position)).solution
    #expect(none.groundSpeed_mmps < 0 && none.headingAccuracy_e5 == .max)
  }

  @Test("a course is reported only if the speed exceeds its error")
  func courses() {
    func course(_ z: Double, _ accuracy: UInt32) -> UInt32? {
      let v = sol { $0.velocity = vector(ECEF(x: -3, y: 0, z: z), accuracy) }
      return sum(v).solution.headingAccuracy_e5
    }
    #expect(course(0, 299) == 5_710_900 && course(0, 301) == .max)
    #expect(course(0, 300) == .max)
  }

  @Test("out-of-range speeds are bounded, and none traps")
  func extremes() {
    let wild = UBXVelocity(
      timeOfWeek_ms: 0, north_cmps: .max, east_cmps: .min, down_cmps: 0, speed_cmps: 0,
      groundSpeed_cmps: .max, heading_e5: 0, speedAccuracy_cmps: .max, headingAccuracy_e5: 0)
    let reported = sum(sol(), .velocity(wild)).solution
    #expect(reported.velocityNorth_mmps == .max && reported.velocityEast_mmps ?? .min == .min)
    #expect(reported.groundSpeed_mmps == .max && reported.speedAccuracy_mmps == .max)
    for (x, east) in [(Int32.min, 2_000_000_000), (Int32.max, -2_000_000_000)] as [(Int32, Int32)] {
      let fast = UBXECEFVector(timeOfWeek_ms: 0, x: x, y: 0, z: 0, accuracy: 0)
      #expect(sum(sol { $0.velocity = fast }).solution.velocityEast_mmps == east)
    }
  }

  @Test("times: NAV-TIMEUTC, NAV-TIMEGPS, NAV-SOL, each only if marked valid")
  func times() {
    let moment = UTCTime(microseconds: 1_780_315_200_000_000)
    let utc = UBXNavigation.utc(UBXTimeUTC(timeOfWeek_ms: 0, utc: moment, accuracy_ns: 30))
    let reported = sum(sol(), gps(3), utc).solution
    #expect(reported.utc == moment && reported.timeAccuracy_ns == 30 && reported.isTimeResolved)
    func week(_ parts: UBXSolution) -> Int64? {
      parts.utc.map { ($0.microseconds - 315_964_800_000_000 + 18_000_000) / 604_800_000_000 }
    }
    let whole = sum(sol(), gps(3)).solution
    #expect(week(whole) == 2_001 && whole.timeAccuracy_ns == 40 && !whole.isTimeResolved)
    #expect(sum(sol(), gps(3), leapSeconds: 18).solution.isTimeResolved)
    let (first, second) = (sum(sol(), gps(1)).solution, sum(sol(), gps(2)).solution)
    #expect(week(first) == 2_000 && week(second) == 2_000)
    for flags in [0x01, 0x05, 0x09] as [UInt8] {
      #expect(sum(sol { $0.flags = flags }).solution.utc == nil, "\(flags)")
    }
    #expect(week(sum(status(1), gps(3)).solution) == 2_001)
  }
}

@Suite("Rules that open and close a UBX epoch of parts") struct UBXPartsRuleTests {
  private func end(_ time_ms: UInt32) -> GNSSMessage {
    .navigation(.endOfEpoch(timeOfWeek_ms: time_ms))
  }
  private var detectingOptions: EpochOptions {
    var options = EpochOptions()
    options.detectsEpochEnd = true
    return options
  }

  @Test("NAV-EOE closes the epoch of its time once")
  func ends() {
    var assembler = EpochAssembler()
    #expect(assembler.add(.navigation(status(1)), at: Instant(seconds: 7)) == nil)
    #expect(assembler.add(end(1_000), at: .boot) == nil && assembler.isOpen)
    #expect(assembler.add(end(0), at: .boot) != nil && !assembler.isOpen)
    #expect(assembler.add(end(0), at: .boot) == nil)
  }

  @Test("an epoch uses no values of the one before, also at the week rollover")
  func renewed() {
    var assembler = EpochAssembler()
    let late = UBXPosition(
      timeOfWeek_ms: 604_799_000, longitude_e7: 0, latitude_e7: 0, height_mm: 0, heightMSL_mm: 0,
      horizontalAccuracy_mm: 0, verticalAccuracy_mm: 0)
    #expect(assembler.add(.navigation(status(1, 604_799_000)), at: Instant(seconds: 7)) == nil)
    #expect(assembler.add(.navigation(.position(late)), at: Instant(seconds: 8)) == nil)
    let fix = assembler.add(.navigation(status(1, 0)), at: Instant(seconds: 9))?.fix
    #expect(fix?.acquired == Instant(seconds: 7))
    let next = assembler.close()
    #expect(next?.mode == .noFix)
  }

  @Test("the end of an epoch of parts is detected, with silences between parts and late parts")
  func detected() {
    var assembler = EpochAssembler(detectingOptions)
    var emitted: [Int] = []
    for second in 0..<4 {
      let time_ms = UInt32(second) * 1_000
      var moved = position
      moved.timeOfWeek_ms = time_ms
      for (i, part) in [status(1, time_ms), .position(moved)].enumerated() {
        if assembler.add(.navigation(part), at: .boot) != nil { emitted.append(2 * second + i) }
      }
      while assembler.next() != nil {}
    }
    #expect(emitted == [2, 4, 5, 7] && !assembler.isOpen)
  }

  @Test("a late part shows that a silence split its epoch; one that opens no epoch does not")
  func late() {
    var assembler = EpochAssembler(detectingOptions)
    let timed = sol()
    assembler.noteInput(at: .boot)
    #expect(assembler.add(.navigation(timed), at: .boot) == nil && assembler.close() != nil)
    assembler.noteInput(at: Instant(seconds: 0.15))
    #expect(assembler.add(.navigation(.position(position)), at: Instant(seconds: 0.15)) == nil)
    #expect(assembler.silenceTimeout == .milliseconds(300))
    // Parts of another time without a position.
    assembler.noteInput(at: Instant(seconds: 0.34))
    var noPosition = position
    noPosition.timeOfWeek_ms = 1_000
    #expect(assembler.add(.navigation(.position(noPosition)), at: Instant(seconds: 0.34)) == nil)
    #expect(assembler.close() == nil && assembler.silenceTimeout == .milliseconds(300))
  }

  @Test("a time of week is late for an hour, then belongs to another week")
  func lateness() {
    for (second, isLate) in [(3_599.999_999, true), (3_600, false)] {
      var assembler = EpochAssembler()
      #expect(assembler.add(.navigation(sol()), at: .boot) == nil && assembler.close() != nil)
      #expect(assembler.add(.navigation(sol()), at: Instant(seconds: second)) == nil)
      #expect(assembler.isOpen != isLate)
    }
  }

  @Test("a waiting NAV-PVT is refined only by NAV-HPPOSLLH of its own time")
  func otherTime() {
    func pvt(_ time_ms: UInt32) -> GNSSMessage {
      var s = UBXSolution(
        utc: UTCTime(microseconds: 1_780_315_200_000_000 + Int64(time_ms) * 1_000), fixType: 3,
        isFixOK: true, longitude_e7: 900_000_000, latitude_e7: 450_000_000, height_mm: 100_000,
        horizontalAccuracy_mm: 1_500)
      s.timeOfWeek_ms = time_ms
      return .navPVT(s)
    }
    var assembler = EpochAssembler()
    #expect(assembler.add(pvt(0), at: .boot) != nil)
    #expect(assembler.add(.navigation(precise(by: 37)), at: .boot) == nil)
    #expect(assembler.add(pvt(1_000), at: .boot) == nil)
    let emitted = assembler.add(.navigation(precise(by: 37)), at: .boot)
    #expect(emitted?.timeOfDay_us == 43_201_000_000 && emitted?.fix?.coordinate == coordinate)
  }

  @Test("end detection is inactive if the options disable it")
  func undetected() {
    var assembler = EpochAssembler()
    for second in 0..<9 {
      _ = assembler.add(.navigation(status(1, UInt32(second) * 1_000)), at: .boot)
      #expect(assembler.close() != nil)
    }
    #expect(assembler.silenceTimeout == .milliseconds(100))
  }

  @Test("a detected pattern is dropped after three consecutive misses, not three in total")
  func droppedPattern() {
    var detector = HighPrecisionDetector()
    detector.recordArrival()
    for _ in 0..<5 {
      detector.recordMiss()
      detector.recordMiss()
      #expect(detector.isExpected)
      detector.recordArrival()
    }
    for count in 1...3 {
      detector.recordMiss()
      #expect(detector.isExpected == (count < 3))
    }
  }

  @Test("a 2D fix gets no vertical accuracy, and satellites in view are at most 254")
  func refined() {
    guard case .precisePosition(let precise) = precise(by: 37) else { return }
    var epoch = Epoch()
    epoch.fix = Fix(acquired: .boot, coordinate: coordinate, mode: .twoDimensional)
    #expect(epoch.refine(precise) && epoch.fix?.verticalAccuracy_mm == nil)
    #expect(epoch.fix?.altitude_mm == 60_000)
    epoch.fix = Fix(acquired: .boot, coordinate: coordinate, mode: .threeDimensional)
    #expect(epoch.refine(precise) && epoch.fix?.verticalAccuracy_mm == 20)
    var satellites = UBXSatellites(timeOfWeek_ms: 0)
    for _ in 0..<255 { satellites.add(isUsed: false, signal_dBHz: 40) }
    epoch.apply(satellites)
    #expect(epoch.satellitesInView == 254 && epoch.bestSignal_dBHz == nil)
    var solution = UBXSolution(
      utc: nil, fixType: 3, isFixOK: true, longitude_e7: 0, latitude_e7: 0, height_mm: 0,
      horizontalAccuracy_mm: 0)
    solution.timeOfWeek_ms = 5
    var assembler = EpochAssembler()
    let dilutions = UBXDilutions(
      timeOfWeek_ms: 5, geometric_e2: 1, position_e2: 2, time_e2: 3, vertical_e2: 4,
      horizontal_e2: 5, northing_e2: 6, easting_e2: 7)
    #expect(assembler.add(.navigation(.dilutions(dilutions)), at: .boot) == nil)
    #expect(assembler.add(.navPVT(solution), at: .boot)?.pdop_e2 == 2)
  }
}

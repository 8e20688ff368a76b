import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// Messages of an older receiver for one time: 2009-01-28 20:35:43, week 1516.
private struct OldReceiver {
  var time_ms: UInt32 = 333_358_000
  let coordinate = Coordinate(latitude_e9: 53_563_256_300, longitude_e9: -113_439_544_900)

  var sol: UBXNavigation {
    let ecef = ECEF(coordinate, height: 635)
    func cm(_ value: Double) -> Int32 { Int32((value * 100).rounded()) }
    return .ecefSolution(
      UBXECEFSolution(
        fraction_ns: 0, week: 1_516, fixType: 3, flags: 0x0F,
        position: UBXECEFVector(
          timeOfWeek_ms: time_ms, x: cm(ecef.x), y: cm(ecef.y), z: cm(ecef.z), accuracy: 552),
        velocity: UBXECEFVector(timeOfWeek_ms: time_ms, x: 0, y: 0, z: 500, accuracy: 18),
        positionDOP_e2: 242, satellites: 8))
  }
  var position: UBXNavigation {
    .position(
      UBXPosition(
        timeOfWeek_ms: time_ms, longitude_e7: -1_134_395_449, latitude_e7: 535_632_563,
        height_mm: 635_000, heightMSL_mm: 654_000, horizontalAccuracy_mm: 3_000,
        verticalAccuracy_mm: 4_000))
  }
  var velocity: UBXNavigation {
    .velocity(
      UBXVelocity(
        timeOfWeek_ms: time_ms, north_cmps: 300, east_cmps: 400, down_cmps: -20, speed_cmps: 500,
        groundSpeed_cmps: 500, heading_e5: 5_313_000, speedAccuracy_cmps: 20,
        headingAccuracy_e5: 200_000))
  }
  var dilutions: UBXNavigation {
    .dilutions(
      UBXDilutions(
        timeOfWeek_ms: time_ms, geometric_e2: 280, position_e2: 240, time_e2: 140,
        vertical_e2: 213, horizontal_e2: 115, northing_e2: 98, easting_e2: 60))
  }
  var utc: UBXNavigation {
    .utc(UBXTimeUTC(timeOfWeek_ms: time_ms, utc: moment, accuracy_ns: 30))
  }
  var gps: UBXNavigation {
    .gpsTime(
      UBXGPSTime(
        timeOfWeek_ms: time_ms, fraction_ns: 0, week: 1_516, leapSeconds: 15, valid: 7,
        accuracy_ns: 40))
  }
  var status: UBXNavigation {
    .status(
      UBXStatus(timeOfWeek_ms: time_ms, fixType: 3, flags: 0x0D, timeToFix_ms: 0, uptime_ms: 1))
  }
  /// GPS time minus 15 leap seconds.
  var moment: UTCTime {
    let week: Int64 = 1_516 * 604_800_000_000
    return UTCTime(
      microseconds: 315_964_800_000_000 + week + Int64(time_ms) * 1_000 - 15_000_000)
  }
}

@Suite("UBX epochs of parts") struct UBXPartsTests {
  private let receiver = OldReceiver()

  private func epochs(
    _ parts: [UBXNavigation], _ options: EpochOptions = EpochOptions()
  ) -> [Epoch] {
    var assembler = EpochAssembler(options)
    var found: [Epoch] = []
    for (i, part) in parts.enumerated() {
      let now = Instant(microseconds: Int64(i) * 1_000)
      if let epoch = assembler.add(.navigation(part), at: now) { found.append(epoch) }
    }
    while let epoch = assembler.close() { found.append(epoch) }
    #expect(!assembler.isOpen)
    return found
  }

  @Test("the parts of one time form one epoch, in any order")
  func order() throws {
    var parts = [
      receiver.sol, receiver.position, receiver.velocity, receiver.dilutions, receiver.utc,
      receiver.gps, receiver.status,
    ]
    let first = try #require(epochs(parts).first)
    let fix = try #require(first.fix)
    #expect(
      fix.coordinate == Coordinate(latitude_e9: 53_563_256_300, longitude_e9: -113_439_544_900))
    #expect(fix.altitude_mm == 654_000 && fix.ellipsoidalAltitude_mm == 635_000)
    #expect(fix.speed_mmps == 5_000 && fix.course_e4 == 531_300 && first.climb_mmps == 200)
    #expect(fix.horizontalAccuracy_mm == 3_000 && fix.verticalAccuracy_mm == 4_000)
    #expect(fix.satellites == 8 && fix.mode == .threeDimensional && fix.quality == .differential)
    #expect(first.hdop_e2 == 115 && first.vdop_e2 == 213 && first.pdop_e2 == 240)
    #expect(first.utc == receiver.moment && !first.isDateUncertain && fix.acquired == .boot)
    var random = SplitMix64(seed: 4)
    for _ in 0..<50 {
      parts.shuffle(using: &random)
      var found = epochs(parts)
      #expect(found.count == 1)
      found[0].fix?.acquired = .boot
      #expect(found[0] == first)
    }
  }

  @Test("a speed that no part reports is unknown, not 0")
  func noVelocity() throws {
    let still = try #require(epochs([receiver.status, receiver.position, receiver.utc]).first?.fix)
    #expect(still.speed_mmps == nil && still.course_e4 == nil && still.altitude_mm == 654_000)
    let moving = epochs([receiver.status, receiver.position, receiver.velocity]).first?.fix
    #expect(moving?.speed_mmps == 5_000)
    let ecef = UBXECEFVector(timeOfWeek_ms: receiver.time_ms, x: 0, y: 0, z: 0, accuracy: 10)
    #expect(
      epochs([receiver.status, receiver.position, .ecefVelocity(ecef)]).first?.fix?.speed_mmps == 0)
    #expect(epochs([receiver.sol]).first?.fix?.speed_mmps == 2_970)
  }

  @Test("NAV-SOL alone: position and velocity from ECEF, GPS time minus 18 s, uncertain")
  func solution() throws {
    let epoch = try #require(epochs([receiver.sol]).first)
    let fix = try #require(epoch.fix)
    #expect(fix.coordinate.localDistance(to: receiver.coordinate) < 0.01)
    #expect(abs((fix.ellipsoidalAltitude_mm ?? 0) - 635_000) <= 10 && fix.altitude_mm == nil)
    #expect(fix.horizontalAccuracy_mm == 5_520 && fix.verticalAccuracy_mm == 5_520)
    // 5 m/s along the axis are 5 cos φ north and 5 sin φ up.
    #expect(fix.speed_mmps == 2_970 && epoch.climb_mmps == 4_023 && fix.course_e4 == 0)
    #expect(epoch.utc == receiver.moment - .seconds(3) && epoch.isDateUncertain)
    #expect(epochs([receiver.sol, receiver.gps]).first?.utc == receiver.moment)
    guard case .ecefSolution(var slow) = receiver.sol else { return }
    // If the speed is below its error, the course is unknown.
    slow.velocity.accuracy = 300
    #expect(epochs([.ecefSolution(slow)]).first?.fix?.course_e4 == nil)
    // NAV-SOL has precedence over NAV-STATUS.
    slow.fixType = 2
    #expect(epochs([receiver.status, .ecefSolution(slow)]).first?.mode == .twoDimensional)
    #expect(epochs([receiver.sol, receiver.gps]).first?.isDateUncertain == false)
  }

  @Test("leap seconds are used if received over the air, not if they are the firmware's default")
  func leapSeconds() {
    func reported(_ source: UInt8, _ valid: UInt8) -> UTCTime? {
      let message = UBXLeapSeconds(
        timeOfWeek_ms: receiver.time_ms, current: 15, source: source, change: 0, untilEvent_s: 0,
        eventWeek: 0, eventDay: 0, valid: valid)
      return epochs([.leapSeconds(message), receiver.sol]).first?.utc
    }
    #expect(reported(2, 1) == receiver.moment)
    #expect(reported(0, 1) == receiver.moment - .seconds(3))
    #expect(reported(2, 2) == receiver.moment - .seconds(3))
    guard case .gpsTime(var gps) = receiver.gps else { return }
    gps.valid = 3
    #expect(epochs([.gpsTime(gps), receiver.sol]).first?.utc == receiver.moment - .seconds(3))
    #expect(epochs([.gpsTime(gps), receiver.sol]).first?.isDateUncertain == true)
  }

  @Test("a leap second due within a day is reported as pending")
  func pending() {
    func pending(_ until: Int32, _ valid: UInt8) -> Int8 {
      UBXLeapSeconds(
        timeOfWeek_ms: 0, current: 18, source: 2, change: 1, untilEvent_s: until, eventWeek: 0,
        eventDay: 0, valid: valid
      ).pending
    }
    #expect(pending(86_400, 3) == 1 && pending(1, 2) == 1)
    #expect(pending(86_401, 3) == 0 && pending(0, 3) == 0 && pending(86_400, 1) == 0)
  }

  @Test("a part of another time, NAV-EOE or a silence closes the epoch")
  func closing() {
    var assembler = EpochAssembler()
    #expect(assembler.add(.navigation(receiver.sol), at: .boot) == nil && assembler.isOpen)
    var later = receiver
    later.time_ms += 1_000
    let first = assembler.add(.navigation(later.sol), at: .boot)
    #expect(first?.utc == receiver.moment - .seconds(3))
    #expect(
      assembler.add(.navigation(.endOfEpoch(timeOfWeek_ms: receiver.time_ms)), at: .boot) == nil)
    let second = assembler.add(
      .navigation(.endOfEpoch(timeOfWeek_ms: later.time_ms)), at: .boot)
    #expect(second?.utc == later.moment - .seconds(3) && !assembler.isOpen)
    // Late parts of that epoch are ignored.
    #expect(assembler.add(.navigation(later.position), at: .boot) == nil && !assembler.isOpen)
    later.time_ms += 1_000
    #expect(assembler.add(.navigation(later.sol), at: .boot) == nil)
    #expect(assembler.close()?.utc == later.moment - .seconds(3) && !assembler.isOpen)
  }

  @Test("without NAV-SOL and NAV-STATUS there is no epoch; without their fix flag there is no fix")
  func missingStatus() {
    #expect(epochs([receiver.position, receiver.velocity, receiver.utc]).isEmpty)
    #expect(epochs([receiver.position, receiver.status]).first?.fix != nil)
    guard case .status(var denied) = receiver.status else { return }
    denied.flags = 0x0C
    #expect(epochs([receiver.position, .status(denied)]).first?.fix == nil)
    #expect(epochs([receiver.status]).first?.fix == nil)
    guard case .position(var off) = receiver.position else { return }
    off.latitude_e7 = 900_000_001
    #expect(epochs([.position(off), receiver.status]).first?.fix == nil)
  }

  // MARK: NAV-HPPOSLLH

  private func pvt(_ second: UInt32) -> UBXSolution {
    var s = UBXSolution(
      utc: UTCTime(microseconds: 1_780_315_200_000_000 + Int64(second) * 1_000_000), fixType: 3,
      isFixOK: true, longitude_e7: 110_000_000, latitude_e7: 480_000_000, height_mm: 547_000,
      horizontalAccuracy_mm: 1_500)
    s.timeOfWeek_ms = 1_000 * second
    s.heightMSL_mm = 500_000
    return s
  }

  private func precise(_ second: UInt32, by offset: Int64 = 37) -> GNSSMessage {
    .navigation(
      .precisePosition(
        UBXPrecisePosition(
          timeOfWeek_ms: 1_000 * second, isValid: true, longitude_e9: 11_000_000_000 + offset,
          latitude_e9: 48_000_000_000 - offset, height_dmm: 5_470_006, heightMSL_dmm: 5_000_004,
          horizontalAccuracy_dmm: 141, verticalAccuracy_dmm: 200)))
  }

  @Test("NAV-PVT waits for NAV-HPPOSLLH once one has followed it, until they stop arriving")
  func precision() {
    var assembler = EpochAssembler()
    // The first is emitted immediately: no NAV-HPPOSLLH has been received yet.
    #expect(
      assembler.add(.navPVT(pvt(0)), at: .boot)?.fix?.coordinate.latitude_e9 == 48_000_000_000)
    #expect(assembler.add(precise(0), at: .boot) == nil)
    #expect(assembler.add(.navPVT(pvt(1)), at: .boot) == nil && assembler.isOpen)
    #expect(assembler.add(.malformed, at: .boot) == nil)
    let fine = assembler.add(precise(1), at: .boot)?.fix
    #expect(
      fine?.coordinate == Coordinate(latitude_e9: 47_999_999_963, longitude_e9: 11_000_000_037))
    #expect(fine?.ellipsoidalAltitude_mm == 547_001 && fine?.altitude_mm == 500_000)
    #expect(fine?.horizontalAccuracy_mm == 15 && fine?.verticalAccuracy_mm == 20)
    // A silence or the next epoch emits NAV-PVT unrefined; after the third time it is not held.
    #expect(assembler.add(.navPVT(pvt(2)), at: .boot) == nil)
    #expect(assembler.close()?.timeOfDay_us == 43_202_000_000 && !assembler.isOpen)
    #expect(assembler.add(.navPVT(pvt(3)), at: .boot) == nil)
    for second in UInt32(4)...5 {
      let emitted = assembler.add(.navPVT(pvt(second)), at: .boot)
      #expect(emitted?.timeOfDay_us == 43_200_000_000 + Int64(second - 1) * 1_000_000)
      #expect(assembler.next() == nil && assembler.isOpen)
    }
    // Both are emitted: the held NAV-PVT, and the next one, which is not held.
    #expect(assembler.add(.navPVT(pvt(6)), at: .boot)?.timeOfDay_us == 43_205_000_000)
    #expect(assembler.next()?.timeOfDay_us == 43_206_000_000 && !assembler.isOpen)
    #expect(assembler.add(.navPVT(pvt(7)), at: .boot) != nil)
  }

  @Test(
    "NAV-HPPOSLLH before NAV-PVT refines it; NAV-EOE ends the wait; another position is rejected")
  func disagreement() {
    var assembler = EpochAssembler()
    #expect(assembler.add(precise(0), at: .boot) == nil)
    let fix = assembler.add(.navPVT(pvt(0)), at: .boot)?.fix
    #expect(fix?.coordinate.latitude_e9 == 47_999_999_963)
    _ = assembler.add(.navPVT(pvt(1)), at: .boot)
    _ = assembler.add(precise(1), at: .boot)
    #expect(assembler.add(.navPVT(pvt(2)), at: .boot) == nil)
    let coarse = assembler.add(precise(2, by: 101), at: .boot)?.fix
    #expect(
      coarse?.coordinate.latitude_e9 == 48_000_000_000 && coarse?.horizontalAccuracy_mm == 1_500)
    #expect(assembler.add(.navPVT(pvt(3)), at: .boot) == nil)
    let end = GNSSMessage.navigation(.endOfEpoch(timeOfWeek_ms: 3_000))
    #expect(assembler.add(end, at: .boot)?.fix?.coordinate.latitude_e9 == 48_000_000_000)
  }

  @Test("NAV-PVT of the same time overrides parts and takes their dilutions")
  func both() {
    var assembler = EpochAssembler()
    guard case .dilutions(var dops) = receiver.dilutions else { return }
    dops.timeOfWeek_ms = 1_000
    #expect(assembler.add(.navigation(.dilutions(dops)), at: .boot) == nil)
    let epoch = assembler.add(.navPVT(pvt(1)), at: .boot)
    #expect(epoch?.hdop_e2 == 115 && epoch?.fix?.horizontalAccuracy_mm == 1_500)
    #expect(!assembler.isOpen)
    // An epoch of parts closed by a NAV-PVT of another time comes first.
    #expect(assembler.add(.navigation(receiver.sol), at: .boot) == nil)
    #expect(assembler.add(.navPVT(pvt(2)), at: .boot)?.utc == receiver.moment - .seconds(3))
    #expect(assembler.next()?.timeOfDay_us == 43_202_000_000)
  }

  @Test("NAV-SAT reports satellites in view and signal strength for the epoch after it")
  func view() {
    var assembler = EpochAssembler()
    var satellites = UBXSatellites(timeOfWeek_ms: 0)
    for signal in [40, 30] as [UInt8] { satellites.add(isUsed: true, signal_dBHz: signal) }
    satellites.add(isUsed: false, signal_dBHz: 55)
    #expect(assembler.add(.navPVT(pvt(0)), at: .boot)?.satellitesInView == nil)
    #expect(assembler.add(.navigation(.satellites(satellites)), at: .boot) == nil)
    let epoch = assembler.add(.navPVT(pvt(1)), at: .boot)
    #expect(epoch?.satellitesInView == 3)
    #expect(epoch?.meanSignal_dBHz == 35 && epoch?.bestSignal_dBHz == 40)
    #expect(assembler.add(.navPVT(pvt(2)), at: .boot)?.satellitesInView == nil)
  }

  @Test("HNR-PVT creates its own epochs; a NAV-PVT of the same or an earlier time is ignored")
  func highRate() {
    var assembler = EpochAssembler()
    func high(_ tenth: UInt32) -> GNSSMessage {
      var s = pvt(0)
      s.timeOfWeek_ms = 100 * tenth
      s.utc = UTCTime(microseconds: 1_780_315_200_000_000 + Int64(tenth) * 100_000)
      return .hnrPVT(s)
    }
    #expect(assembler.add(high(8), at: .boot) != nil)
    for tenth in UInt32(9)...11 { #expect(assembler.add(high(tenth), at: .boot) != nil) }
    #expect(assembler.add(.navPVT(pvt(1)), at: .boot) == nil)
    #expect(assembler.add(high(11), at: .boot) == nil)
    #expect(assembler.add(high(12), at: .boot) != nil)
    #expect(assembler.add(.navPVT(pvt(9)), at: .boot) != nil)
  }

  @Test("an epoch of parts that an HNR-PVT without UTC closes does not count as high-rate")
  func partsBeforeHighRate() {
    var assembler = EpochAssembler()
    #expect(assembler.add(.navigation(receiver.sol), at: .boot) == nil)
    var high = pvt(9)
    high.utc = nil
    let parts = assembler.add(.hnrPVT(high), at: .boot)
    #expect(parts?.utc == receiver.moment - .seconds(3))
    while assembler.next() != nil {}
    // At most 2 s behind it; after a high-rate epoch it would be ignored.
    var older = pvt(8)
    older.utc = receiver.moment - .seconds(4)
    #expect(assembler.add(.navPVT(older), at: .boot) != nil)
  }

  @Test("any messages in any order: no trap, no lost epoch, and NAV-PVT epochs stay in order")
  func anything() {
    var random = SplitMix64(seed: 12)
    for round in 0..<300 {
      var assembler = EpochAssembler()
      var emitted: [Int64] = []
      var sent: [Int64] = []
      func note(_ epoch: Epoch?) {
        if let epoch, epoch.pdop_e2 == 777, let time = epoch.timeOfDay_us { emitted.append(time) }
      }
      var second: UInt32 = 0
      for _ in 0..<60 {
        var message = GNSSMessage.malformed
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
          second += 1
          var s = pvt(second)
          s.positionDOP_e2 = 777
          sent.append(43_200_000_000 + Int64(second) * 1_000_000)
          message = .navPVT(s)
        case 2: message = precise(second)
        case 3: message = .navigation(random.part(Int.random(in: 0..<14, using: &random)))
        default:
          var buffer = FrameBuffer()
          message = random.message(&buffer)
          if case .navPVT = message { message = .malformed }
        }
        note(assembler.add(message, at: .boot))
        if round % 2 == 0 { while let epoch = assembler.next() { note(epoch) } }
      }
      while assembler.isOpen { note(assembler.close()) }
      // Sentences or parts of the same second may replace NAV-PVT; no epoch appears twice.
      #expect(Set(emitted).count == emitted.count && emitted == emitted.sorted())
      #expect(emitted.allSatisfy(sent.contains) && emitted.count >= sent.count - 2)
    }
  }
}

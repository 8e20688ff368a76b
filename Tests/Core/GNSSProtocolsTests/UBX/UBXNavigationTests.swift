import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

@Suite("UBX parts of epochs") struct UBXNavigationTests {
  private func part(_ frame: [UInt8]) -> UBXNavigation? {
    guard case .navigation(let part)? = decode(frame).messages.first else { return nil }
    return part
  }

  @Test("NAV-VELNED and NAV-POSLLH, captured and decoded by other projects")
  func published() {
    let velocity = part(
      bytes(
        hex: """
          B5 62 01 12 24 00 30 44 0A 18 FD FF FF FF F1 FF FF FF FC FF FF FF 10 00 00 00 0F 00 00 00
          83 F5 01 00 41 00 00 00 F0 DF 7A 00 D0 A6
          """))
    #expect(
      velocity
        == .velocity(
          UBXVelocity(
            timeOfWeek_ms: 403_326_000, north_cmps: -3, east_cmps: -15, down_cmps: -4,
            speed_cmps: 16, groundSpeed_cmps: 15, heading_e5: 128_387, speedAccuracy_cmps: 65,
            headingAccuracy_e5: 8_052_720)))
    let position = part(
      bytes(
        hex: """
          B5 62 01 02 1C 00 3E 35 92 04 41 40 C8 D3 25 0B 7E 18 BC 32 01 00 A8 B8 01 00 2F 08 00 00
          8F 15 00 00 35 76
          """))
    #expect(
      position
        == .position(
          UBXPosition(
            timeOfWeek_ms: 76_690_750, longitude_e7: -741_851_071, latitude_e7: 410_913_573,
            height_mm: 78_524, heightMSL_mm: 112_808, horizontalAccuracy_mm: 2_095,
            verticalAccuracy_mm: 5_519)))
  }

  @Test("lengths are exact, for lists by their count; other versions are rejected")
  func lengths() {
    let identities: [(UInt8, Int)] = [
      (0x01, 20), (0x02, 28), (0x03, 16), (0x04, 18), (0x06, 52), (0x11, 20), (0x12, 36),
      (0x14, 36), (0x20, 16), (0x21, 20), (0x26, 24), (0x30, 8), (0x35, 8), (0x61, 4),
    ]
    for (id, length) in identities {
      for count in [0, 1, length - 1, length + 1, length + 4] where count >= 0 && count != 0 {
        var payload = [UInt8](repeating: 0, count: count)
        if id == 0x35, count > 4 { payload[4] = 1 }
        let decoded = decode(ubx(1, id, payload))
        #expect(
          decoded.messages == [.malformed] && decoded.counters.malformed == 1, "\(id) \(count)")
      }
    }
    func list(_ id: UInt8, _ version: UInt8, _ number: UInt8, _ entries: Int) -> UBXNavigation? {
      var payload = [UInt8](repeating: 0, count: 8 + 12 * entries)
      payload[4] = version
      payload[5] = number
      return part(ubx(1, id, payload))
    }
    #expect(list(0x35, 1, 2, 2) != nil && list(0x35, 1, 2, 3) == nil && list(0x35, 0, 2, 2) == nil)
    #expect(list(0x30, 2, 0, 2) != nil && list(0x30, 3, 0, 2) == nil)
    var precise = [UInt8](repeating: 0, count: 36)
    #expect(part(ubx(1, 0x14, precise)) != nil)
    precise[0] = 1
    #expect(part(ubx(1, 0x14, precise)) == nil)
  }

  @Test("satellites are counted and their signals are summed")
  func satellites() {
    var payload = [UInt8](repeating: 0, count: 8 + 12 * 4)
    payload[4] = 1
    payload[5] = 4
    for (i, (signal, isUsed)) in [(40, true), (51, false), (33, true), (28, true)].enumerated() {
      payload[8 + 12 * i + 2] = UInt8(signal)
      payload[8 + 12 * i + 8] = isUsed ? 0x0F : 0x07
    }
    guard case .satellites(let m)? = part(ubx(1, 0x35, payload)) else {
      Issue.record("not decoded")
      return
    }
    #expect(m.inView == 4 && m.used == 3 && m.best_dBHz == 40 && m.mean_dBHz == 34)
    #expect(UBXSatellites(timeOfWeek_ms: 0).mean_dBHz == nil)
  }

  @Test("encoded messages decode to the same messages, for any content")
  func roundTrip() {
    var random = SplitMix64(seed: 77)
    for _ in 0..<400 {
      for kind in 0..<14 {
        let part = random.part(kind)
        var buffer = FrameBuffer()
        buffer.append(part)
        #expect(decode(bytes(buffer)).messages == [.navigation(part)])
      }
      var high = random.fullSolution()
      high.satellites = nil
      high.positionDOP_e2 = nil
      high.timeAccuracy_ns = nil
      high.velocityNorth_mmps = nil
      high.velocityEast_mmps = nil
      high.velocityDown_mmps = nil
      high.carrierSolution = 0
      var buffer = FrameBuffer()
      buffer.appendHNRPVT(high)
      #expect(buffer.count == 80 && decode(bytes(buffer)).messages == [.hnrPVT(high)])
    }
  }

  @Test("the Fletcher checksum is correct at every length")
  func checksum() {
    var random = SplitMix64(seed: 5)
    for count in 0..<300 {
      let data = (0..<count).map { _ in random.bits(UInt8.self) }
      var (a, b) = (UInt8(0), UInt8(0))
      for byte in data {
        a &+= byte
        b &+= a
      }
      let found = UBXChecksum(of: data.span)
      #expect(found.a == a && found.b == b, "\(count)")
    }
  }

  @Test("NAV-PVT's time matches the calendar for each day of four centuries")
  func calendar() {
    var days = 0
    var year = 1_899
    while year <= 2_301 {
      for month in 1...12 {
        for day in [1, 28, 29, 30, 31] {
          let date = CalendarDate(year: year, month: month, day: day)
          let payload: [UInt8] = [
            UInt8(year & 255), UInt8(year >> 8), UInt8(month), UInt8(day), 23, 59, 58, 0xFF,
          ]
          let found = UBXCivilTime.microseconds(payload.span, 0, valid: 3, nanoseconds: 0)
          let expected = date.map { $0.start.microseconds + 86_398_000_000 }
          #expect(found == expected ?? .min)
          days += date == nil ? 0 : 1
        }
      }
      year += 1
    }
    #expect(days == 403 * 53 + 97)
  }

  @Test("a byte out of range for calendar or clock makes the time unknown")
  func bytesOfTime() {
    let allowed: [ClosedRange<UInt8>] = [1...12, 1...31, 0...23, 0...59, 0...60]
    for beside: UInt8 in [0, 0xFF] {
      for (field, range) in allowed.enumerated() {
        for value in UInt8.min...UInt8.max {
          var payload: [UInt8] = [0xE9, 0x07, 1, 1, 0, 0, 0, beside]
          payload[2 + field] = value
          let found = UBXCivilTime.microseconds(payload.span, 0, valid: 3, nanoseconds: 0)
          #expect((found != .min) == range.contains(value), "\(field) \(value)")
        }
      }
    }
    for year in [0, 1, 9_999, 10_000, 65_535] {
      let payload: [UInt8] = [UInt8(year & 255), UInt8(year >> 8), 1, 1, 0, 0, 0, 0]
      let found = UBXCivilTime.microseconds(payload.span, 0, valid: 3, nanoseconds: 0)
      #expect((found != .min) == (1...9_999).contains(year), "\(year)")
    }
  }
}

extension SplitMix64 {
  mutating func vector() -> UBXECEFVector {
    UBXECEFVector(
      timeOfWeek_ms: bits(UInt32.self), x: bits(Int32.self), y: bits(Int32.self),
      z: bits(Int32.self), accuracy: bits(UInt32.self))
  }

  /// Random values that the encoder can write in every field; `kind` is 0 to 13.
  mutating func part(_ kind: Int) -> UBXNavigation {
    let time = bits(UInt32.self)
    switch kind {
    case 0: return .ecefPosition(vector())
    case 1: return .ecefVelocity(vector())
    case 2:
      return .position(
        UBXPosition(
          timeOfWeek_ms: time, longitude_e7: bits(Int32.self), latitude_e7: bits(Int32.self),
          height_mm: bits(Int32.self), heightMSL_mm: bits(Int32.self),
          horizontalAccuracy_mm: bits(UInt32.self), verticalAccuracy_mm: bits(UInt32.self)))
    case 3:
      return .precisePosition(
        UBXPrecisePosition(
          timeOfWeek_ms: time, isValid: Bool.random(using: &self),
          longitude_e9: position().longitude_e9, latitude_e9: position().latitude_e9,
          height_dmm: Int64(metres()), heightMSL_dmm: Int64(metres()),
          horizontalAccuracy_dmm: bits(UInt32.self), verticalAccuracy_dmm: bits(UInt32.self)))
    case 4:
      return .status(
        UBXStatus(
          timeOfWeek_ms: time, fixType: bits(UInt8.self), flags: bits(UInt8.self),
          timeToFix_ms: bits(UInt32.self), uptime_ms: bits(UInt32.self)))
    case 5:
      return .dilutions(
        UBXDilutions(
          timeOfWeek_ms: time, geometric_e2: bits(UInt16.self), position_e2: bits(UInt16.self),
          time_e2: bits(UInt16.self), vertical_e2: bits(UInt16.self),
          horizontal_e2: bits(UInt16.self), northing_e2: bits(UInt16.self),
          easting_e2: bits(UInt16.self)))
    case 6:
      var (position, velocity) = (vector(), vector())
      position.timeOfWeek_ms = time
      velocity.timeOfWeek_ms = time
      return .ecefSolution(
        UBXECEFSolution(
          fraction_ns: bits(Int32.self), week: bits(Int16.self), fixType: bits(UInt8.self),
          flags: bits(UInt8.self), position: position, velocity: velocity,
          positionDOP_e2: bits(UInt16.self), satellites: bits(UInt8.self)))
    case 7:
      return .velocity(
        UBXVelocity(
          timeOfWeek_ms: time, north_cmps: bits(Int32.self), east_cmps: bits(Int32.self),
          down_cmps: bits(Int32.self), speed_cmps: bits(UInt32.self),
          groundSpeed_cmps: bits(UInt32.self), heading_e5: bits(Int32.self),
          speedAccuracy_cmps: bits(UInt32.self), headingAccuracy_e5: bits(UInt32.self)))
    case 8:
      return .gpsTime(
        UBXGPSTime(
          timeOfWeek_ms: time, fraction_ns: bits(Int32.self), week: bits(Int16.self),
          leapSeconds: bits(Int8.self), valid: bits(UInt8.self), accuracy_ns: bits(UInt32.self)))
    case 9:
      return .utc(
        UBXTimeUTC(timeOfWeek_ms: time, utc: maybe(utc()), accuracy_ns: bits(UInt32.self)))
    case 10:
      return .leapSeconds(
        UBXLeapSeconds(
          timeOfWeek_ms: time, current: bits(Int8.self), source: bits(UInt8.self),
          change: bits(Int8.self), untilEvent_s: bits(Int32.self), eventWeek: bits(UInt16.self),
          eventDay: bits(UInt16.self), valid: bits(UInt8.self)))
    case 11: return .channels(summary(at: time))
    case 12: return .satellites(summary(at: time))
    default: return .endOfEpoch(timeOfWeek_ms: time)
    }
  }

  /// Up to 84 satellites, used or not.
  private mutating func summary(at time: UInt32) -> UBXSatellites {
    var summary = UBXSatellites(timeOfWeek_ms: time)
    let signals = UInt8.random(in: 0...55, using: &self)
    for _ in 0..<Int.random(in: 0...84, using: &self) {
      let isUsed = Bool.random(using: &self)
      summary.add(isUsed: isUsed, signal_dBHz: UInt8.random(in: 0...signals, using: &self))
    }
    return summary
  }
}

import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

private func rmc(_ time: String, _ date: String = "010626") -> [UInt8] {
  sentence("GPRMC,\(time),A,4800.0,N,01100.0,E,1.0,90.0,\(date),,,A")
}
private func gga(_ time: String, _ fields: String = "1,08,1.0,500.0,M,47.0,M,,") -> [UInt8] {
  sentence("GPGGA,\(time),4800.0,N,01100.0,E,\(fields)")
}
private func pvt(_ time_us: Int64, day: CalendarDate? = CalendarDate(year: 2026, month: 6, day: 1))
  -> [UInt8]
{
  var frame = FrameBuffer()
  let utc = day.map { UTCTime(microseconds: $0.start.microseconds + time_us) }
  var solution = UBXSolution(
    utc: utc, fixType: 3, isFixOK: true, longitude_e7: 110_000_000, latitude_e7: 480_000_000,
    height_mm: 1, horizontalAccuracy_mm: 2)
  solution.timeOfWeek_ms = UInt32(truncatingIfNeeded: time_us / 1_000)
  frame.appendNavPVT(solution)
  return bytes(frame)
}
private func dop(_ time_ms: UInt32) -> [UInt8] {
  var frame = FrameBuffer()
  frame.append(
    UBXNavigation.dilutions(
      UBXDilutions(
        timeOfWeek_ms: time_ms, geometric_e2: 9_999, position_e2: 9_999, time_e2: 9_999,
        vertical_e2: 9_999, horizontal_e2: 120, northing_e2: 9_999, easting_e2: 9_999)))
  return bytes(frame)
}
private let noon: Int64 = 43_200_000_000

@Suite("Epochs of both protocols, across days, and with wrong clocks")
struct EpochMixTests {
  private func times(_ stream: [UInt8], file: Bool = true) -> [Int64] {
    var options = EpochOptions()
    options.waitsForSentences = file
    return epochs(stream, options).map { ($0.timeOfDay_us ?? -1) / 1_000 }
  }

  @Test("UBX parts without a position do not hide an open epoch")
  func partsWithoutPosition() {
    #expect(times(rmc("120000") + gga("120000") + dop(43_200_000)).count == 1)
    var assembler = EpochAssembler()
    for message in decode(rmc("120000") + dop(43_200_000)).messages {
      #expect(assembler.add(message, at: .boot) == nil)
    }
    // The single call of `close()` after the silence emits the epoch.
    #expect(assembler.close()?.fix != nil && !assembler.isOpen)
  }

  @Test("a live epoch of sentences is emitted with the last one, with or without UBX parts")
  func detectedWithParts() {
    var options = EpochOptions()
    options.detectsEpochEnd = true
    var assembler = EpochAssembler(options)
    var emitted: [Int] = []
    for second in 0..<6 {
      let time = "12000\(second)"
      let all = rmc(time) + gga(time) + dop(43_200_000 + UInt32(second) * 1_000)
      let messages = decode(all).messages
      for message in messages {
        if assembler.add(message, at: .boot) != nil { emitted.append(second) }
      }
      if second < 2 {
        while assembler.isOpen { if assembler.close() != nil { emitted.append(second) } }
      }
    }
    #expect(emitted == [0, 1, 2, 3, 4, 5] && !assembler.isOpen)
    #expect(assembler.silenceTimeout == .milliseconds(100))
  }

  @Test("a repeated NAV-PVT is one epoch, also in a file")
  func repeated() {
    #expect(times(pvt(noon) + pvt(noon)) == [43_200_000])
    #expect(times(pvt(noon) + pvt(noon), file: false) == [43_200_000])
    #expect(times(pvt(noon) + pvt(noon) + pvt(noon + 100_000)) == [43_200_000, 43_200_100])
    // A sentence without time between the two opens an epoch but changes nothing.
    let gsa = sentence("GPGSA,A,3,01,02,03,,,,,,,,,,2.0,1.2,1.6")
    #expect(times(pvt(noon) + gsa + pvt(noon)) == [43_200_000])
  }

  @Test("sentences after the next UBX epoch are late, and time does not go back")
  func behind() {
    let stream =
      rmc("120000.00") + pvt(noon + 100_000) + gga("120000.00") + rmc("120000.10")
      + pvt(noon + 200_000) + gga("120000.10") + pvt(noon + 300_000)
    let live = times(stream, file: false)
    #expect(live == live.sorted() && Set(live).count == live.count)
    #expect(live == [43_200_000, 43_200_100, 43_200_200, 43_200_300])
    // Two seconds back means that the receiver's clock was put back.
    let back = pvt(noon + 2_000_000) + rmc("120000.00") + gga("120000.00")
    #expect(times(back, file: false) == [43_202_000, 43_200_000])
  }

  /// A random stream of sentences, solutions and parts, in which time advances or stops.
  private func mixture(_ seed: UInt64) -> [GNSSMessage] {
    var random = SplitMix64(seed: seed)
    var second = 0
    var stream: [UInt8] = []
    for _ in 0..<60 {
      second += Int.random(in: 0..<5, using: &random) == 0 ? 1 : 0
      let time = "1210" + "\(100 + second)".suffix(2)
      let time_ms = UInt32(43_200_000 + 600_000 + second * 1_000)
      var frame = FrameBuffer()
      switch Int.random(in: 0..<7, using: &random) {
      case 0: stream += rmc(time)
      case 1: stream += gga(time)
      case 2: stream += pvt(Int64(time_ms) * 1_000)
      case 3: stream += dop(time_ms)
      case 4:
        frame.append(
          UBXNavigation.status(
            UBXStatus(
              timeOfWeek_ms: time_ms, fixType: 3, flags: 0x0D, timeToFix_ms: 0, uptime_ms: 1)))
      case 5:
        frame.append(
          UBXNavigation.position(
            UBXPosition(
              timeOfWeek_ms: time_ms, longitude_e7: 110_000_000, latitude_e7: 480_000_000,
              height_mm: 1, heightMSL_mm: 2, horizontalAccuracy_mm: 3, verticalAccuracy_mm: 4)))
      default: stream += sentence("GPGSA,A,3,01,02,03,,,,,,,,,,2.0,1.2,1.6")
      }
      stream += bytes(frame)
    }
    return decode(stream).messages
  }

  @Test("a caller that does not fetch the second of two epochs receives all epochs in order")
  func unfetched() {
    for seed in 0..<200 as Range<UInt64> {
      for (waits, detects) in [(false, false), (true, false), (false, true)] {
        var options = EpochOptions()
        options.waitsForSentences = waits
        options.detectsEpochEnd = detects
        var fetching = EpochAssembler(options)
        var lazy = EpochAssembler(options)
        var fetched: [Epoch] = []
        var lazily: [Epoch] = []
        for message in mixture(seed) {
          if let epoch = fetching.add(message, at: .boot) { fetched.append(epoch) }
          while let epoch = fetching.next() { fetched.append(epoch) }
          if let epoch = lazy.add(message, at: .boot) { lazily.append(epoch) }
        }
        while fetching.isOpen { if let epoch = fetching.close() { fetched.append(epoch) } }
        while lazy.isOpen { if let epoch = lazy.close() { lazily.append(epoch) } }
        if detects {
          // A detected end may be skipped while another epoch waits to be fetched.
          #expect(Set(lazily.map(\.timeOfDay_us)).isSubset(of: Set(fetched.map(\.timeOfDay_us))))
        } else {
          #expect(lazily == fetched, "seed \(seed)")
        }
        #expect(fetched.count > 3)
      }
    }
  }

  @Test("the same time on another day is another epoch")
  func daily() {
    let stream = ["010126", "020126", "030126"].flatMap { rmc("120000", $0) + gga("120000") }
    let days = epochs(stream).compactMap { $0.utc?.date.day }
    #expect(days == [1, 2, 3])
  }

  @Test("the ZDA of the next second does not delay an epoch")
  func comingDate() {
    var options = EpochOptions()
    options.detectsEpochEnd = true
    var assembler = EpochAssembler(options)
    var emitted: [Bool] = []
    for second in 0..<5 {
      let zda = sentence("GPZDA,12000\(second + 1),01,06,2026,00,00")
      for line in [rmc("12000\(second)"), gga("12000\(second)"), zda] {
        let epoch = assembler.add(decode(line).messages[0], at: .boot)
        emitted.append(epoch != nil)
      }
    }
    // From the third epoch on it is emitted with its GGA.
    #expect(emitted.suffix(9) == [true, true, false, false, true, false, false, true, false])
  }

  @Test("STD-13: the date of a clock that was never set is marked, also from ZDA")
  func unsetClock() {
    let unset =
      sentence("GPZDA,000010,06,01,1980,00,00") + gga("000010", "0,00,,,M,,M,,")
      + gga("000011")
    let all = epochs(unset)
    #expect(all.count == 2 && all.allSatisfy { $0.isDateUncertain })
    let set =
      gga("120000") + sentence("GPZDA,120000,01,06,2026,00,00") + gga("120001")
      + sentence("GPZDA,120001,01,06,2026,00,00") + gga("120002")
    #expect(epochs(set).map(\.isDateUncertain) == [false, false, false])
  }

  @Test("STD-13: a clock put back across midnight does not advance the day")
  func backOverMidnight() {
    let stream =
      rmc("235958", "010126") + gga("235958") + gga("235959") + gga("000000") + gga("000001")
      + gga("235959") + gga("000000")
    #expect(epochs(stream).compactMap { $0.utc?.date.day } == [1, 1, 2, 2, 1, 2])
  }

  private func parts(speed: UInt32? = nil) -> [UInt8] {
    var frame = FrameBuffer()
    let time_ms: UInt32 = 129_600_000
    let utc = CalendarDate(year: 2026, month: 6, day: 1)!.start + .seconds(43_200)
    frame.append(
      UBXNavigation.position(
        UBXPosition(
          timeOfWeek_ms: time_ms, longitude_e7: 110_000_000, latitude_e7: 480_000_000,
          height_mm: 1, heightMSL_mm: 2, horizontalAccuracy_mm: .max, verticalAccuracy_mm: 4)))
    frame.append(
      UBXNavigation.status(
        UBXStatus(
          timeOfWeek_ms: time_ms, fixType: 3, flags: 0x0D, timeToFix_ms: 0, uptime_ms: 1)))
    frame.append(
      UBXNavigation.utc(UBXTimeUTC(timeOfWeek_ms: time_ms, utc: utc, accuracy_ns: 30)))
    if let speed {
      frame.append(
        UBXNavigation.velocity(
          UBXVelocity(
            timeOfWeek_ms: time_ms, north_cmps: 0, east_cmps: 0, down_cmps: 0, speed_cmps: speed,
            groundSpeed_cmps: speed, heading_e5: 0, speedAccuracy_cmps: 9,
            headingAccuracy_e5: 18_000_000)))
    }
    return bytes(frame)
  }

  @Test("UBX parts get speed, course, accuracy and quality from sentences of the same time")
  func poorParts() {
    var options = EpochOptions()
    options.waitsForSentences = true
    let sentences =
      rmc("120000") + gga("120000", "4,08,1.0,500.0,M,47.0,M,,")
      + sentence("GPGST,120000,1.0,,,,3.0,4.0,5.0")
    let found = epochs(parts() + sentences, options)
    #expect(found.count == 1)
    let fix = found.first?.fix
    #expect(fix?.speed_mmps == 514 && fix?.course_e4 == 900_000 && fix?.quality == .rtkFixed)
    #expect(fix?.horizontalAccuracy_mm == 5_000 && fix?.verticalAccuracy_mm == 4)
    #expect(fix?.altitude_mm == 2)
    // If UBX reports a speed and an unknown course, the course stays unknown.
    let slow = epochs(parts(speed: 2) + sentences, options).first?.fix
    #expect(slow?.speed_mmps == 20 && slow?.course_e4 == nil)
    // Values that neither protocol reports stay unchanged.
    let bare = sentence("GPGLL,4800.0,N,01100.0,E,120000,A")
    #expect(
      epochs(parts() + bare, options).first?.fix?.horizontalAccuracy_mm == Fix.accuracyLimit_mm)
  }

  @Test("the quality of HNR-PVT combined with GGA is the more detailed one")
  func highRateQuality() {
    var options = EpochOptions()
    options.waitsForSentences = true
    for (isDifferential, isCombined, reported, quality) in [
      (false, false, 4, .rtkFixed), (false, false, 5, .rtkFloat), (false, false, 2, .differential),
      (true, false, 4, .rtkFixed), (true, false, 1, .differential), (false, true, 4, .combined),
      (false, false, 1, .autonomous),
    ] as [(Bool, Bool, Int, FixQuality)] {
      let utc = CalendarDate(year: 2026, month: 6, day: 1)!.start + .seconds(43_200)
      var solution = UBXSolution(
        utc: utc, fixType: isCombined ? 4 : 3, isFixOK: true, longitude_e7: 110_000_000,
        latitude_e7: 480_000_000, height_mm: 1, horizontalAccuracy_mm: 2)
      solution.timeOfWeek_ms = 129_600_000
      solution.isDifferential = isDifferential
      var frame = FrameBuffer()
      frame.appendHNRPVT(solution)
      let line = gga("120000", "\(reported),08,1.0,500.0,M,47.0,M,,")
      let found = epochs(bytes(frame) + line, options)
      #expect(found.map { $0.fix?.quality } == [quality], "\(reported)")
    }
  }

  @Test("STD-13: a leap second in both protocols is one epoch")
  func leapSecond() {
    let day = CalendarDate(year: 2016, month: 12, day: 31)
    var payload = Array(pvt(86_399_000_000, day: day)[6..<98])
    payload[10] = 60
    payload.replaceSubrange(16..<20, with: [0, 0x65, 0xCD, 0x1D])  // 500,000,000 ns
    let stream = ubx(0x01, 0x07, payload) + rmc("235960.50", "311216") + gga("235960.50")
    let all = epochs(stream)
    #expect(all.count == 1)
    // Rounded to the nearest millisecond it still belongs to that day.
    #expect(all.allSatisfy { ($0.utc!.microseconds + 500) / 1_000 % 86_400_000 == 86_399_999 })
  }
}

@Suite("Slightly malformed sentences") struct LenientTests {
  @Test("a station name, a system number from 10 and a zone of any sign lose no other field")
  func names() {
    let named = epochs(gga("120000", "2,09,1.0,1048.47,M,-16.27,M,08,AAAA"))
    #expect(named.count == 1 && named[0].fix?.altitude_mm == 1_048_470)
    guard
      case .gsa(let m)? = decode(sentence("GNGSA,A,3,01,,,,,,,,,,,,2.0,1.2,1.6,A")).messages.first
    else {
      Issue.record("no GSA")
      return
    }
    #expect(m.system == 10 && m.verticalDOP_e2 == 160)
  }

  @Test("status D is valid, an empty quality is ignored, and GSA mode 1 does not remove a position")
  func validity() {
    let differential = sentence("GPRMC,120000,D,4800.0,N,01100.0,E,1.0,90.0,010626,,,D")
    #expect(epochs(differential).first?.fix != nil)
    #expect(epochs(sentence("GPGLL,4800.0,N,01100.0,E,120000,D")).first?.fix != nil)
    #expect(epochs(gga("120000", ",08,1.0,500.0,M,47.0,M,,")).isEmpty)
    let unsure = rmc("120000") + gga("120000") + sentence("GPGSA,A,1,,,,,,,,,,,,,,,")
    #expect(epochs(unsure).first?.mode == .threeDimensional)
  }

  @Test("an empty GST of a second talker removes nothing, in either order")
  func emptyErrors() {
    let full = sentence("GPGST,120000,1.0,,,,1.0,2.0,3.0")
    let empty = sentence("GLGST,120000,,,,,,,")
    let frame = rmc("120000") + gga("120000")
    let one = epochs(frame + full + empty)
    #expect(one == epochs(frame + empty + full) && one.first?.fix?.horizontalAccuracy_mm == 2_236)
  }

  @Test("a DOP of 99.99 is unknown in UBX as well")
  func dilution() {
    let withoutDilutions = epochs(pvt(noon)).first
    var assembler = EpochAssembler()
    var epoch: Epoch?
    for message in decode(dop(43_200_000) + pvt(noon)).messages {
      epoch = assembler.add(message, at: .boot) ?? epoch
    }
    #expect(withoutDilutions?.hdop_e2 == nil && epoch?.hdop_e2 == 120 && epoch?.vdop_e2 == nil)
  }
}

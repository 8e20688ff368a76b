import LocationTypes
import Testing

@testable import GNSSProtocols

/// STD-13: time comes from GNSS.
@Suite("Dates and times of day") struct DateTests {
  private func pvt(_ utc: UTCTime, _ timeOfWeek_ms: UInt32? = nil) -> UBXSolution {
    var s = UBXSolution(
      utc: utc, fixType: 3, isFixOK: true, longitude_e7: 1, latitude_e7: 2, height_mm: 3,
      horizontalAccuracy_mm: 4)
    s.timeOfWeek_ms = timeOfWeek_ms
    return s
  }

  private func rmc(_ time: String, _ date: String) -> [UInt8] {
    sentence("GNRMC,\(time),A,4800.0,N,01100.0,E,,,\(date),,,A")
  }

  private func gga(_ time: String) -> [UInt8] {
    sentence("GNGGA,\(time),4800.0,N,01100.0,E,1,05,1.0,500.0,M,47.0,M,,")
  }

  private func day(_ year: Int, _ month: Int, _ day: Int) -> UTCTime {
    CalendarDate(year: year, month: month, day: day)!.start
  }

  @Test("STD-13: the day advances at midnight for dated and undated NMEA and for UBX")
  func midnight() {
    let dated = epochs(rmc("235959.00", "311226") + rmc("000000.00", "010127"))
    #expect(dated.map(\.utc) == [day(2027, 1, 1) - .seconds(1), day(2027, 1, 1)])
    let dateless = epochs(rmc("235959.00", "311226") + gga("000000.00") + gga("000001.00"))
    #expect(
      dateless.map(\.utc) == [
        day(2027, 1, 1) - .seconds(1), day(2027, 1, 1), day(2027, 1, 1) + .seconds(1),
      ])
    var assembler = EpochAssembler()
    for second in Int64(-2)...2 {
      let utc = day(2027, 1, 1) + .seconds(second)
      #expect(assembler.add(.navPVT(pvt(utc)), at: .boot)?.utc == utc)
    }
    // Undated sentences continue from the UBX date.
    let later = decode(gga("000005.00") + gga("000006.00")).messages
    _ = assembler.add(later[0], at: .boot)
    #expect(assembler.add(later[1], at: .boot)?.utc == day(2027, 1, 1) + .seconds(5))
  }

  @Test("STD-13: a leap second is reported within the second before it; time never goes back")
  func leapSecond() {
    let end = day(2017, 1, 1)
    var assembler = EpochAssembler()
    var reported: [UTCTime] = []
    for (second, time) in [(58, 16_000), (59, 17_000), (60, 18_000)] as [(UInt8, UInt32)] {
      for tenth in [0, 5] as [UInt32] {
        var buffer = FrameBuffer()
        buffer.appendNavPVT(pvt(end - .seconds(2), time + 100 * tenth))
        var payload = Array(bytes(buffer)[6..<98])
        payload[10] = second
        for i in 0..<4 {
          payload[16 + i] = UInt8(truncatingIfNeeded: (tenth * 100_000_000) >> UInt32(8 * i))
        }
        for message in decode(ubx(1, 7, payload)).messages {
          if let utc = assembler.add(message, at: .boot)?.utc { reported.append(utc) }
        }
      }
    }
    if let utc = assembler.add(.navPVT(pvt(end, 19_000)), at: .boot)?.utc { reported.append(utc) }
    let offsets = reported.map { ($0 - end).microseconds }
    #expect(offsets == [-2_000_000, -1_500_000, -1_000_000, -500_000, -1_000, -800, 0])
  }

  @Test("STD-13: a leap second in dated or undated sentences belongs to the day that ends")
  func leapSecondInSentences() {
    let end = day(2017, 1, 1)
    let dated = epochs(
      rmc("235959.00", "311216") + rmc("235960.00", "311216") + rmc("235960.50", "311216")
        + rmc("000000.00", "010117"))
    #expect(
      dated.map { ($0.utc.map { $0 - end })?.microseconds } == [-1_000_000, -1_000, -800, 0])
    let dateless = epochs(rmc("235959.00", "311216") + gga("235960.00") + gga("000000.00"))
    #expect(dateless.map { ($0.utc.map { $0 - end })?.microseconds } == [-1_000_000, -1_000, 0])
    #expect(dateless.allSatisfy { $0.utc == $0.fix?.utc })
  }

  @Test("STD-13: rounding a leap second to the same UTC loses no epoch")
  func roundedLeapSecond() {
    let end = day(2017, 1, 1)
    var assembler = EpochAssembler()
    // 23:59:60 and 00:00:00, each 300 µs early, are both 23:59:59.9997.
    for time in [17_999, 18_999] as [UInt32] {
      let emitted = assembler.add(.navPVT(pvt(end - Interval(microseconds: 300), time)), at: .boot)
      #expect(emitted?.utc == end - Interval(microseconds: 300))
    }
  }

  @Test("STD-13: without a date only the time of day is known; the date is never 1970")
  func dateless() {
    let live = epochs(gga("120000.00") + gga("120001.00"))
    #expect(live.allSatisfy { $0.utc == nil && $0.fix?.utc == nil && $0.timeOfDay_us != nil })
    var assembler = EpochAssembler()
    var s = pvt(day(2026, 6, 1))
    s.utc = nil
    let epoch = assembler.add(.navPVT(s), at: .boot)
    #expect(epoch?.fix != nil && epoch?.utc == nil && epoch?.fix?.utc == nil)
    // A date that arrives later applies from that epoch on.
    let dated = epochs(gga("120000.00") + rmc("120001.00", "010626") + gga("120002.00"))
    #expect(dated.map { $0.utc != nil } == [false, true, true])
  }

  @Test(
    "STD-13: live, a date before the build date is a rollover, moved and marked; later ones stay")
  func rolloverLive() {
    var options = EpochOptions()
    options.earliestDate = CalendarDate(year: 2026, month: 5, day: 1)
    let rollover = Interval.seconds(7_168 * 86_400)
    let right = day(2026, 6, 1) + .seconds(7)
    for count in Int64(0)...2 {
      var assembler = EpochAssembler(options)
      let epoch = assembler.add(.navPVT(pvt(right - rollover * count)), at: .boot)
      #expect(epoch?.utc == right && epoch?.fix?.utc == right)
      #expect(epoch?.isDateUncertain == (count > 0))
      #expect(epoch?.fix?.isDateUncertain == (count > 0))
    }
    // The build date itself is valid; the day before it is corrected.
    for (utc, isMoved) in [(day(2026, 5, 1), false), (day(2026, 4, 30), true)] {
      var assembler = EpochAssembler(options)
      let epoch = assembler.add(.navPVT(pvt(utc)), at: .boot)
      #expect(epoch?.utc == (isMoved ? utc + rollover : utc) && epoch?.isDateUncertain == isMoved)
    }
    let sentences = epochs(rmc("000007.00", "161006") + rmc("000008.00", "161006"), options)
    #expect(sentences.map(\.utc) == [right, right + .seconds(1)])
    #expect(sentences.allSatisfy { $0.isDateUncertain })
  }

  @Test("STD-13: a recording is corrected only with its own date; without one it is unchanged")
  func rolloverRecorded() {
    let old = rmc("000007.00", "161006")
    #expect(epochs(old).first?.utc == day(2006, 10, 16) + .seconds(7))
    #expect(epochs(old).first?.isDateUncertain == false)
    var options = EpochOptions()
    options.recordingDate = CalendarDate(year: 2006, month: 10, day: 20)
    #expect(epochs(old, options).first?.utc == day(2006, 10, 16) + .seconds(7))
    options.recordingDate = CalendarDate(year: 2026, month: 6, day: 3)
    #expect(epochs(old, options).first?.utc == day(2026, 6, 1) + .seconds(7))
    #expect(epochs(old, options).first?.isDateUncertain == true)
    var assembler = EpochAssembler(options)
    let ubx = assembler.add(.navPVT(pvt(day(2006, 10, 16))), at: .boot)
    #expect(ubx?.utc == day(2026, 6, 1) && ubx?.isDateUncertain == true)
  }

  @Test("STD-13: the date may jump forward and back: the receiver's date is used")
  func leaps() {
    var assembler = EpochAssembler()
    for utc in [day(2026, 1, 1), day(2026, 6, 1), day(2026, 5, 31)] {
      #expect(assembler.add(.navPVT(pvt(utc + .seconds(5))), at: .boot)?.utc == utc + .seconds(5))
    }
    // 13 hours without a date: no midnight between, because time advanced.
    let gap = epochs(rmc("010000.00", "010626") + gga("140000.00"))
    #expect(gap.last?.utc == day(2026, 6, 1) + .seconds(50_400))
  }
}

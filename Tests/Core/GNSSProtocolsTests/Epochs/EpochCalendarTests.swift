import LocationTypes
import Testing

@testable import GNSSProtocols

private func day(_ year: Int, _ month: Int, _ day: Int) -> CalendarDate? {
  CalendarDate(year: year, month: month, day: day)
}

@Suite("Epoch calendar") struct EpochCalendarTests {
  private let noon = UTCTime(microseconds: 1_780_315_200_000_000)
  private let second: Int64 = 1_000_000
  private let hour: Int64 = 3_600_000_000

  /// The epoch of a sentence without a date at that time of day.
  private func reported(_ calendar: inout EpochCalendar, _ time_us: Int64) -> Epoch {
    var epoch = Epoch()
    let reported = EpochCalendar.ReportedDate(
      time_us: time_us, zdaDay: nil, rmcDate: nil, isRMCValid: false)
    calendar.setDate(&epoch, from: reported)
    return epoch
  }

  private func marks(_ lines: String..., change: (inout EpochOptions) -> Void = { _ in }) -> [Bool]
  {
    var options = EpochOptions()
    change(&options)
    return epochs(lines.flatMap { sentence($0) }, options).map {
      #expect($0.fix?.isDateUncertain ?? $0.isDateUncertain == $0.isDateUncertain)
      return $0.isDateUncertain
    }
  }

  @Test("STD-13: midnight belongs to the day that begins")
  func midnight() {
    var calendar = EpochCalendar(EpochOptions())
    _ = calendar.datedMoment(noon.microseconds, isResolved: true)
    let moment = calendar.datedMoment(noon.microseconds + 12 * hour, isResolved: true)
    #expect(moment.time_us == 0 && moment.utc_us == noon.microseconds + 12 * hour)
    let before = calendar.datedMoment(noon.microseconds - 12 * hour - 1, isResolved: true)
    #expect(before.time_us == 24 * hour - 1)
  }

  @Test(
    "STD-13: undated sentences continue NAV-PVT's date across midnight and keep its uncertainty")
  func held() {
    for isResolved in [true, false] {
      var calendar = EpochCalendar(EpochOptions())
      var moment = calendar.datedMoment(
        noon.microseconds + 12 * hour - second, isResolved: isResolved)
      calendar.record(&moment)
      let next = reported(&calendar, 0)
      #expect(next.utc == noon + .seconds(12 * 3_600) && next.isDateUncertain != isResolved)
    }
  }

  @Test("STD-13: a time of day that jumps back by more than half a day means midnight has passed")
  func half() {
    for (time_us, date) in [(6 * hour, 1), (6 * hour - 1, 2), (10 * hour, 1)] as [(Int64, Int)] {
      var calendar = EpochCalendar(EpochOptions())
      var moment = calendar.datedMoment(noon.microseconds + 6 * hour, isResolved: true)
      calendar.record(&moment)
      #expect(reported(&calendar, time_us).utc?.date.day == date, "\(time_us)")
    }
    // The leap second at the end of a day belongs to that day.
    var calendar = EpochCalendar(EpochOptions())
    calendar.recordDay(
      day(2026, 6, 1)!.daysSince1970, EpochCalendar.withinDay(24 * hour + second / 2))
    #expect(reported(&calendar, 12 * hour + second / 4).utc?.date.day == 1)
  }

  @Test("STD-13: a date is as certain as the date it was derived from")
  func uncertainty() {
    let gll = ["120001", "120002", "120003"].map { "GPGLL,4800.0,N,01100.0,E,\($0),A" }
    let rmc = "GPRMC,120000,A,4800.0,N,01100.0,E,,,180700,,"
    #expect(marks(rmc, gll[0], gll[1], gll[2]) == [false, false, false, false])
    let repaired = marks(rmc, gll[0], gll[1], gll[2]) { $0.earliestDate = day(2019, 1, 1) }
    #expect(repaired == [true, true, true, true])
    let header = marks(gll[0], gll[1], gll[2]) { $0.recordingDate = day(2019, 1, 1) }
    #expect(header == [true, true, true])
    // A ZDA without a position comes from a clock that may never have been set.
    let zda = "GPZDA,120000,18,07,2000,00,00"
    #expect(marks("GPRMC,120000,V,,,,,,,180700,,", zda, gll[0]) == [true, false])
    #expect(marks(zda, gll[0]) { $0.earliestDate = day(2019, 1, 1) } == [true])
    #expect(marks(zda, gll[0]) == [true])
    let later = "GPZDA,120001,18,07,2000,00,00"
    #expect(marks(zda, gll[0], later, gll[1]) == [false, false])
    #expect(marks(zda, gll[0], gll[1], "GPZDA,120002,18,07,2000,00,00") == [true, false])
  }

  @Test("STD-13: only the necessary week rollovers are added; centuries reach to 2199")
  func bounds() {
    func date(_ text: String, _ change: (inout EpochOptions) -> Void) -> CalendarDate? {
      var options = EpochOptions()
      change(&options)
      let rmc = "GPRMC,120000,A,4800.0,N,01100.0,E,,,\(text),,"
      return epochs(sentence(rmc), options).first?.utc?.date
    }
    #expect(date("180700") { $0.earliestDate = day(2020, 3, 3) } == day(2020, 3, 3))
    #expect(date("180700") { $0.earliestDate = day(2020, 3, 4) } == day(2039, 10, 18))
    #expect(date("010101") { $0.recordingDate = day(2101, 6, 1) } == day(2101, 1, 1))
  }

  @Test("STD-13: second 60 is compressed into the end of its minute; other seconds are unchanged")
  func leapSecond() {
    #expect(LeapSecond.compressed(60_000_000) == 59_999_000)
    #expect(LeapSecond.compressed(60_999_999) == 59_999_399)
    #expect(LeapSecond.compressed(61_000_000) == 61_000_000)
    #expect(LeapSecond.compressed(59_999_999) == 59_999_999)
    let leap = epochs(sentence("GPRMC,235960.50,A,4800.0,N,01100.0,E,,,301216,,"))
    #expect(leap.first?.timeOfDay_us == 86_399_999_200)
  }
}

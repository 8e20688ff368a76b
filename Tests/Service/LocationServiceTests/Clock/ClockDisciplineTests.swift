import LinuxHAL
import LocationTypes
import Testing

@testable import LocationEngine
@testable import LocationService

@Suite("Which fixes are samples of the system clock")
struct ClockDisciplineTests {
  /// A date in February.
  private static let base = UTCTime(microseconds: 1_771_000_000_000_000)
  private var discipline = ClockDiscipline(usesPulse: false)
  private var number: UInt64 = 0
  /// The wall clock at boot: 3 s behind UTC.
  private let wall_ns = (ClockDisciplineTests.base.microseconds - 3_000_000) * 1_000

  /// A fix `seconds` after boot whose first byte arrives `late` seconds later, and whose pulse comes `pulse` seconds
  /// after the whole second.
  private mutating func fix(
    _ seconds: Double, late: Double = 0.25, ahead: Double = 0, pulse: Double? = nil,
    arrives: Bool = true, _ change: (inout EpochTime) -> Void = { _ in }
  ) -> ClockDiscipline.Outcome {
    number += 1
    var epoch = EpochTime(
      number: number, utc: ClockDisciplineTests.base + Interval(seconds: seconds + ahead),
      arrival: arrives ? Instant(seconds: seconds + late) : nil)
    epoch.pulse = pulse.map {
      EpochTime.Pulse(
        time: Instant(seconds: seconds + $0),
        utc: ClockDisciplineTests.base + Interval(seconds: seconds.rounded()))
    }
    change(&epoch)
    return discipline.handle(epoch, wallTimeAtBoot_ns: wall_ns)
  }

  private mutating func trust(until seconds: Int = 3) {
    for second in 1...seconds { _ = fix(Double(second)) }
  }

  /// A receiver with a pulse per second whose fixes are trusted.
  private mutating func trustPulses() {
    discipline = ClockDiscipline(usesPulse: true)
    for second in 1...3 { _ = fix(Double(second), pulse: 0) }
  }

  private func offset_ns(_ outcome: ClockDiscipline.Outcome) -> Int64? {
    if case .sample(let measurement) = outcome { measurement.sample.offset_ns } else { nil }
  }

  @Test("STD-13: the first three fixes that agree are no samples, the fourth is")
  mutating func threeFixes() {
    for second in 1...3 { #expect(fix(Double(second)) == .tooFewFixes) }
    // The wall clock is 3 s behind, and the fix arrives 0.25 s after its time.
    #expect(offset_ns(fix(4)) == 2_750_000_000)
  }

  @Test("with a pulse, the offset is that of the pulse, with whole seconds")
  mutating func pulse() {
    trustPulses()
    let outcome = fix(4, late: 0.4, ahead: 0.0004, pulse: 0)
    guard case .sample(let measurement) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(measurement.isPulse && measurement.sample.offset_ns == 3_000_000_000)
    #expect(measurement.sample.wallTime_ns == wall_ns + 4_000_000_000)
  }

  @Test("STD-13: an uncertain date is no sample, and three more fixes are needed after it")
  mutating func uncertainDate() {
    trust()
    #expect(fix(4) { $0.isDateUncertain = true } == .uncertainDate)
    for second in 5...7 { #expect(fix(Double(second)) == .tooFewFixes) }
    #expect(offset_ns(fix(8)) != nil)
  }

  @Test("a receiver that corrects its leap seconds restarts the count", arguments: [1.0, -1.0])
  mutating func leapSeconds(_ step: Double) {
    trust()
    #expect(offset_ns(fix(4)) != nil)
    for second in 5...7 { #expect(fix(Double(second), ahead: step) == .tooFewFixes) }
    #expect(offset_ns(fix(8, ahead: step)) == 2_750_000_000 + Int64(step * 1e9))
  }

  @Test("after a sleep of the receiver each fix is a sample, if it agrees")
  mutating func sleeping() {
    trust()
    for minute in 1...30 { #expect(offset_ns(fix(Double(minute) * 60)) != nil) }
    #expect(fix(30 * 60 + 60, ahead: 1) == .tooFewFixes)
  }

  @Test(
    "STD-13: after a gap of up to 2,900 s a leap second is detected, after a longer one the count restarts",
    arguments: [2_899.0, 3_100, 7_200], [0.0, 1, -1])
  mutating func gap(_ gap: Double, _ step: Double) {
    trust()
    let outcome = fix(3 + gap, ahead: step)
    #expect((offset_ns(outcome) != nil) == (gap < 2_900 && step == 0))
  }

  @Test("a fix whose arrival is unknown is no sample, and changes nothing")
  mutating func unknownArrival() {
    trust()
    #expect(fix(4, arrives: false) == .unknownArrival)
    #expect(offset_ns(fix(5)) != nil)
  }

  @Test("fixes that arrive together do not agree")
  mutating func together() {
    for second in 1...10 {
      #expect(fix(Double(second), late: 10 - Double(second) * 0.99) == .tooFewFixes)
    }
  }

  @Test("of ten fixes a second one is a sample")
  mutating func highRate() {
    var samples = 0
    for tenth in 1...100 where offset_ns(fix(Double(tenth) / 10, late: 0.05)) != nil {
      samples += 1
    }
    #expect((9...11).contains(samples))
  }

  @Test("of ten fixes a second with a pulse, that of the pulse is a sample")
  mutating func highRateWithPulses() {
    trustPulses()
    for tenth in 31...80 {
      let outcome = fix(Double(tenth) / 10, late: 0.05, pulse: tenth % 10 == 0 ? 0 : nil)
      #expect((offset_ns(outcome) == 3_000_000_000) == (tenth % 10 == 0))
    }
  }

  @Test("with a pulse line, fixes without a pulse are never samples")
  mutating func withoutPulse() {
    discipline = ClockDiscipline(usesPulse: true)
    for second in 1...10 { #expect(fix(Double(second)) == .withoutPulse) }
    trustPulses()
    #expect(offset_ns(fix(4, pulse: 0)) == 3_000_000_000)
    for second in 5...60 { #expect(fix(Double(second)) == .withoutPulse) }
    #expect(offset_ns(fix(61, pulse: 0)) == 3_000_000_000)
    for minute in 2...120 { #expect(fix(Double(minute) * 60) == .withoutPulse) }
  }

  @Test(
    "STD-13: a pulse that is shifted against the last one is no sample, nor is that of another second",
    arguments: [0.2, -0.2, 0.006, 1, -1])
  mutating func shiftedPulse(_ shift: Double) {
    trustPulses()
    #expect(offset_ns(fix(4, pulse: 0.000_1)) != nil)
    #expect(fix(5, late: 1.05, pulse: shift) == .tooFewFixes)
    for second in 6...8 { #expect(fix(Double(second), pulse: 0) == .tooFewFixes) }
    #expect(offset_ns(fix(9, pulse: 0)) == 3_000_000_000)
  }

  @Test("STD-13: a fix in the leap second, which is compressed into second 59, is no sample")
  mutating func leapSecond() throws {
    let day = try #require(CalendarDate(year: 2026, month: 12, day: 31))
    // Fixes at 23:59:56 to 23:59:59, 23:59:60 and 00:00:00.
    let end = day.start + .seconds(86_400)
    for usesPulse in [false, true] {
      discipline = ClockDiscipline(usesPulse: usesPulse)
      let times: [Interval] = [
        .seconds(-4), .seconds(-3), .seconds(-2), .seconds(-1), .milliseconds(-1), .zero,
      ]
      for (second, utc) in times.enumerated() {
        let outcome = fix(Double(second), pulse: 0) {
          $0.utc = end + utc
          let whole_us = ($0.utc.microseconds + 1_000) / 1_000_000 * 1_000_000
          $0.pulse = EpochTime.Pulse(
            time: Instant(seconds: Double(second)), utc: UTCTime(microseconds: whole_us))
        }
        #expect((offset_ns(outcome) != nil) == (second == 3), "fix \(second)")
      }
    }
  }

  @Test("leap seconds are announced on the last day of June and of December only")
  mutating func leapWarning() {
    for month in 1...12 {
      for day in [28, 29, 30, 31] {
        guard let date = CalendarDate(year: 2027, month: month, day: day) else { continue }
        let isLast = (month == 6 && day == 30) || (month == 12 && day == 31)
        for (change, announced) in [
          (Int8(1), RefclockSample.Leap.inserted), (-1, .deleted), (0, .none),
        ] {
          discipline = ClockDiscipline(usesPulse: false)
          var outcome = ClockDiscipline.Outcome.tooFewFixes
          for second in 1...5 {
            outcome = fix(Double(second)) {
              $0.utc = date.start + .seconds(Int64(second))
              $0.leapChange = change
            }
          }
          guard case .sample(let measurement) = outcome else {
            Issue.record("\(outcome) on \(date)")
            continue
          }
          #expect(measurement.sample.leap == (isLast ? announced : .none), "\(date)")
        }
      }
    }
  }

  @Test("STD-13: dates that nanoseconds since 1970 cannot hold are refused, not computed with")
  mutating func extremeDates() {
    for utc in [Int64.min, -1, 7_258_118_400_000_000, .max] {
      for _ in 0..<5 {
        let outcome = fix(1) { $0.utc = UTCTime(microseconds: utc) }
        #expect(outcome == .uncertainDate)
      }
    }
  }
}

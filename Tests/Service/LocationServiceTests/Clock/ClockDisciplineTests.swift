import LinuxHAL
import LocationEngine
import LocationTypes
import Testing

@testable import LocationService

@Suite("Which fixes are samples of the system clock")
struct ClockDisciplineTests {
  /// A date in February.
  private static let base = UTCTime(microseconds: 1_771_000_000_000_000)
  private var discipline = ClockDiscipline()
  private var number: UInt64 = 0
  /// The wall clock at boot: 3 s behind UTC.
  private let wall_ns = (ClockDisciplineTests.base.microseconds - 3_000_000) * 1_000

  /// A fix `seconds` after boot whose first byte arrives `late` seconds later.
  private mutating func fix(
    _ seconds: Double, late: Double = 0.25, ahead: Double = 0, pulse: Bool = false,
    arrives: Bool = true, _ change: (inout EpochTime) -> Void = { _ in }
  ) -> ClockDiscipline.Outcome {
    number += 1
    var epoch = EpochTime(
      number: number, utc: ClockDisciplineTests.base + Interval(seconds: seconds + ahead),
      arrival: arrives ? Instant(seconds: seconds + late) : nil,
      pulse: pulse ? Instant(seconds: seconds) : nil)
    change(&epoch)
    return discipline.handle(epoch, wallTimeAtBoot_ns: wall_ns)
  }

  private mutating func trust(until seconds: Int = 3, pulse: Bool = false) {
    for second in 1...seconds { _ = fix(Double(second), pulse: pulse) }
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
    trust(pulse: true)
    let outcome = fix(4, late: 0.4, ahead: 0.0004, pulse: true)
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

  @Test("after a sleep of the receiver each fix is a sample, if it agrees; not after hours")
  mutating func sleeping() {
    trust()
    for minute in 1...30 { #expect(offset_ns(fix(Double(minute) * 60)) != nil) }
    #expect(fix(30 * 60 + 60, ahead: 1) == .tooFewFixes)
    trust(until: 3)
    #expect(fix(30 * 60 + 2 * 3_600) == .tooFewFixes, "the drift hides a leap second")
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

  @Test("once there was a pulse, fixes without one are no samples for an hour")
  mutating func withoutPulse() {
    trust(pulse: true)
    #expect(offset_ns(fix(4, pulse: true)) == 3_000_000_000)
    for second in 5...60 { #expect(fix(Double(second)) == .withoutPulse) }
    #expect(offset_ns(fix(61, pulse: true)) == 3_000_000_000)
    for minute in 2...60 { #expect(fix(Double(minute) * 60) == .withoutPulse) }
    #expect(offset_ns(fix(62 * 60)) == 2_750_000_000)
  }

  @Test("leap seconds are announced in June and December only")
  mutating func leapWarning() {
    for month in 1...12 {
      discipline = ClockDiscipline()
      guard let start = CalendarDate(year: 2027, month: month, day: 30 - (month == 2 ? 3 : 0))
      else { continue }
      for (change, expected) in [
        (Int8(1), RefclockSample.Leap.inserted), (-1, .deleted), (0, .none),
      ] {
        var last = ClockDiscipline.Outcome.tooFewFixes
        for second in 1...5 {
          number += 1
          last = discipline.handle(
            EpochTime(
              number: number, utc: start.start + .seconds(Int64(second)),
              arrival: Instant(seconds: Double(second)), leapChange: change),
            wallTimeAtBoot_ns: 0)
          if second == 5, change != 0 { discipline = ClockDiscipline() }
        }
        guard case .sample(let measurement) = last else {
          Issue.record("\(last) in month \(month)")
          continue
        }
        let isLeapMonth = month == 6 || month == 12
        #expect(measurement.sample.leap == (isLeapMonth ? expected : .none), "month \(month)")
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

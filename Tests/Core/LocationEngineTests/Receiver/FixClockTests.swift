import GNSSProtocols
import LocationTypes
import TestSupport
import Testing

@testable import LocationEngine

@Suite("Offset of UTC to the boot clock")
struct FixClockTests {
  private let base: Int64 = 1_700_000_000_000_000

  private func utc(_ seconds: Double) -> UTCTime {
    UTCTime(microseconds: base + Int64(seconds * 1e6))
  }
  private func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

  @Test("before the first live fix with UTC, the arrival time is used")
  func unknown() {
    let clock = FixClock()
    #expect(clock.instant(of: utc(5), at: at(9), isLive: true) == at(9))
    #expect(clock.instant(of: nil, at: at(9), isLive: true) == at(9))
  }

  @Test("the fix with the least delay defines the offset")
  func leastDelay() {
    var clock = FixClock()
    clock.update(utc(0), received: at(100.4))
    clock.update(utc(1), received: at(101.1))
    clock.update(utc(2), received: at(102.9))
    #expect(clock.instant(of: utc(2), at: at(102.9), isLive: true) == at(102.1))
    #expect(clock.instant(of: utc(-50), at: at(103), isLive: false) == at(50.1))
  }

  @Test(
    "STD-7: a fix of a whole second has the time of the pulse before it, and other fixes follow it")
  func pulse() {
    var clock = FixClock()
    clock.update(utc(0), received: at(100.4))
    clock.update(utc(1), received: at(101.4), lastPulse: at(101.05))
    #expect(clock.instant(of: utc(1), at: at(101.4), isLive: true) == at(101.05))
    #expect(clock.instant(of: utc(1.2), at: at(101.7), isLive: true) == at(101.25))
    // The receiver's clock deviates slightly from the second; the boot clock is slightly fast.
    clock.update(utc(2.000_3), received: at(102.4), lastPulse: at(102.051))
    #expect(clock.instant(of: utc(2), at: at(102.4), isLive: true) == at(102.051))
    clock.update(utc(2.999_7), received: at(103.4), lastPulse: at(103.052))
    #expect(clock.instant(of: utc(3), at: at(103.4), isLive: true) == at(103.052))
    // A later fix without a pulse changes nothing.
    clock.update(utc(4), received: at(104.3))
    #expect(clock.instant(of: utc(4), at: at(104.3), isLive: true) == at(104.052))
  }

  @Test("STD-7: a fix up to 1 ms from the whole second belongs to its pulse")
  func pulseTolerance() {
    for (error, moment) in [(1_000, 101.05 + 0.001), (-1_000, 101.05 - 0.001), (1_001, 101.4)] {
      var clock = FixClock()
      let utc = UTCTime(microseconds: base + 1_000_000 + Int64(error))
      clock.update(utc, received: at(101.4), lastPulse: at(101.05))
      #expect(clock.instant(of: utc, at: at(101.4), isLive: true) == at(moment))
    }
  }

  @Test(
    "a pulse of another fix is ignored: too old, later, or not at a whole second",
    arguments: [(1, 101.4, 99.499_999), (1, 101.4, 101.400_001), (1.1, 101.5, 101.05)])
  func foreignPulse(_ second: Double, _ received: Double, _ pulse: Double) {
    var clock = FixClock()
    clock.update(utc(second), received: at(received), lastPulse: at(pulse))
    #expect(clock.instant(of: utc(second), at: at(received), isLive: true) == at(received))
  }

  @Test("a pulse does not speed up the acceptance of a wrong date")
  func pulseOfWrongDate() {
    var clock = FixClock()
    for i in 0..<5 {
      clock.update(utc(Double(i)), received: at(100.2 + Double(i)), lastPulse: at(100 + Double(i)))
    }
    for i in 5..<7 {
      let wrong = utc(1e6 + Double(i))
      clock.update(wrong, received: at(100.2 + Double(i)), lastPulse: at(100 + Double(i)))
    }
    #expect(clock.bootUTC_us == base - 100_000_000)
  }

  @Test("a fix time is never later than the current time")
  func notLater() {
    var clock = FixClock()
    clock.update(utc(0), received: at(100))
    #expect(clock.instant(of: utc(5), at: at(103), isLive: true) == at(103))
  }

  @Test(
    "a step back of UTC is accepted after three consecutive fixes", arguments: [18.0, 3_600, 6e8])
  func stepBack(_ step: Double) {
    var clock = FixClock()
    for i in 0..<5 { clock.update(utc(Double(i)), received: at(100 + Double(i))) }
    for i in 5..<7 { clock.update(utc(Double(i) - step), received: at(100 + Double(i))) }
    #expect(clock.bootUTC_us == base - 100_000_000)
    clock.update(utc(7 - step), received: at(107))
    #expect(clock.instant(of: utc(7 - step), at: at(108), isLive: true) == at(107))
  }

  @Test(
    "a step forward of UTC is accepted after three consecutive fixes; one deviating fix has no effect"
  )
  func stepForward() {
    var clock = FixClock()
    for i in 0..<5 { clock.update(utc(Double(i)), received: at(100 + Double(i))) }
    clock.update(utc(1e9), received: at(105))
    clock.update(utc(6), received: at(106))
    #expect(clock.bootUTC_us == base - 100_000_000)
    for i in 7..<10 { clock.update(utc(1e9 + Double(i)), received: at(100 + Double(i))) }
    #expect(clock.bootUTC_us == base - 100_000_000 + 1_000_000_000_000_000)
  }

  @Test("a fix at the expected time ends a series of deviating fixes")
  func interruptedStep() {
    var clock = FixClock()
    for i in 0..<5 { clock.update(utc(Double(i)), received: at(100 + Double(i))) }
    for i in [5, 6, 8, 9, 11, 12] {
      clock.update(utc(1e9 + Double(i)), received: at(100 + Double(i)))
      if i % 3 == 0 { clock.update(utc(Double(i) + 1), received: at(101 + Double(i))) }
    }
    #expect(clock.bootUTC_us == base - 100_000_000)
  }

  @Test("after an accepted step, the next one needs three consecutive fixes again")
  func secondStep() {
    var clock = FixClock()
    clock.update(utc(0), received: at(100))
    for i in 1..<4 { clock.update(utc(1e9 + Double(i)), received: at(100 + Double(i))) }
    let stepped = base - 100_000_000 + 1_000_000_000_000_000
    #expect(clock.bootUTC_us == stepped)
    for i in 4..<6 { clock.update(utc(Double(i)), received: at(100 + Double(i))) }
    #expect(clock.bootUTC_us == stepped)
    clock.update(utc(6), received: at(106))
    #expect(clock.bootUTC_us == base - 100_000_000)
  }

  @Test("a fix with less delay than the first one corrects the offset immediately")
  func earlier() {
    var clock = FixClock()
    clock.update(utc(0), received: at(130))
    clock.update(utc(31), received: at(131.1))
    #expect(clock.instant(of: utc(31), at: at(131.1), isLive: true) == at(131.1))
    #expect(clock.instant(of: utc(0), at: at(130), isLive: true) == at(100.1))
  }

  @Test("fixes of a batch give a first estimate, and the newest of them a good one")
  func batch() {
    var clock = FixClock()
    for i in 0..<50 { clock.updateFromBatch(utc(Double(i)), received: at(149.5)) }
    #expect(clock.instant(of: utc(49), at: at(200), isLive: false) == at(149.5))
    clock.update(utc(60), received: at(160.2))
    #expect(clock.instant(of: utc(60), at: at(161), isLive: true) == at(160.2))
    clock.updateFromBatch(utc(40), received: at(161))
    clock.updateFromBatch(utc(1e6), received: at(161))
    #expect(clock.bootUTC_us == base - 100_200_000)
    clock.updateFromBatch(utc(61), received: at(161))
    #expect(clock.bootUTC_us == base - 100_000_000)
  }

  @Test("STD-7: fixes read late together do not change the offset")
  func buffered() {
    var clock = FixClock()
    clock.update(utc(0), received: at(100))
    for i in 10..<40 { clock.update(utc(Double(i)), received: at(140)) }
    #expect(clock.bootUTC_us == base - 100_000_000)
    #expect(clock.instant(of: utc(10), at: at(140), isLive: true) == at(110))
  }

  @Test("a fix older than the maximum age is timed by its arrival")
  func tooOld() {
    var clock = FixClock()
    clock.update(utc(0), received: at(1_000_000))
    #expect(clock.instant(of: utc(-119), at: at(1_000_000), isLive: true) == at(999_881))
    #expect(clock.instant(of: utc(-121), at: at(1_000_000), isLive: true) == at(1_000_000))
    #expect(clock.instant(of: utc(-172_799), at: at(1_000_000), isLive: false) == at(827_201))
    #expect(clock.instant(of: utc(-172_801), at: at(1_000_000), isLive: false) == at(1_000_000))
  }

  @Test("STD-13: with random dates, fixes stay in order on the boot clock, without a trap")
  func randomDates() {
    let bench = EngineBench()
    var random = SplitMix64(seed: 5)
    for i in 0..<2_000 {
      bench.run(1)
      let year = [1, 829, 1970, 1980, 2025, 2026, 3111, 3112, 9_000, 9_999][random.below(10)]
      let day = CalendarDate(year: year, month: 1 + random.below(12), day: 1 + random.below(28))
      // Some dates are repeated, so that the clock accepts them.
      if i % 7 < 3 || random.below(2) == 0, let day {
        bench.utcError = day.start - EngineBench.base
      }
      bench.sendsNMEA = random.below(4) == 0
      bench.fix()
    }
    bench.run(1)
    let times = bench.client.fixes.map(\.fix.acquired)
    #expect(times == times.sorted() && times.count > 1_500)
    #expect(bench.client.fixes.allSatisfy { $0.fix.acquired >= Instant(microseconds: 10_000_000) })
  }
}

extension FixClock {
  /// Updates the offset from a live fix with the last pulse before it.
  fileprivate mutating func update(_ utc: UTCTime, received: Instant, lastPulse: Instant) {
    update(
      utc, received: received,
      pulse: FixClock.pulse(at: lastPulse, of: utc, received: received))
  }
}

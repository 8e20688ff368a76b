import LocationTypes
import TestSupport
import Testing

@testable import LocationEngine

@Suite("Pulse per second in the engine")
struct PulseTests {
  private let bench = EngineBench()

  /// Sends a fix measured `after` the next whole second, delayed by `late`, with a pulse at `pulse`
  /// after that second.
  private func second(
    late: Interval, after: Interval = .zero, pulse: Interval? = .zero
  ) throws -> (fix: Fix, begin: Instant) {
    let begin = Instant(microseconds: (bench.now.microseconds / 1_000_000 + 1) * 1_000_000)
    bench.run(until: begin + after)
    let bytes = bench.bytes(hasFix: true)
    bench.run(until: begin + after + late)
    if let pulse { bench.engine.recordPulse(at: begin + pulse) }
    bench.send(bytes)
    bench.run(until: bench.now + .milliseconds(100))
    return (try #require(bench.newest), begin)
  }

  @Test("STD-7: a fix of a whole second has the time of its pulse, also the first fix")
  func exact() throws {
    for late in [300, 250, 400, 120] {
      let (fix, begin) = try second(late: .milliseconds(Int64(late)))
      #expect(fix.acquired == begin, "\(late) ms late")
    }
  }

  @Test("LOC-8: a fix of an accessory receiver is marked as such", arguments: [true, false])
  func accessory(_ isAccessory: Bool) {
    let bench = EngineBench { $0.isAccessory = isAccessory }
    bench.send(bench.bytes(hasFix: true))
    bench.run(until: bench.now + .milliseconds(200))
    #expect(bench.newest?.isFromAccessory == isAccessory)
  }

  @Test("a fix from NMEA sentences has the time of its pulse")
  func sentences() throws {
    bench.sendsNMEA = true
    for _ in 0..<3 {
      let (fix, begin) = try second(late: .milliseconds(300))
      #expect(fix.acquired == begin)
    }
  }

  @Test("a fix without its own pulse is timed by its arrival, or by UTC after an earlier pulse")
  func bounds() throws {
    let late = Interval.milliseconds(300)
    let (first, begin) = try second(late: late, pulse: nil)
    #expect(first.acquired == begin + late)
    let (old, next) = try second(late: late, pulse: .milliseconds(-1_601))
    #expect(old.acquired == next + late, "a pulse older than an epoch can be buffered")
    let (between, third) = try second(late: late, after: .milliseconds(200))
    #expect(between.acquired == third + .milliseconds(500), "no whole second")
    let (pulsed, fourth) = try second(late: late)
    #expect(pulsed.acquired == fourth)
    let (fifth, last) = try second(late: .milliseconds(350), after: .milliseconds(200), pulse: nil)
    #expect(fifth.acquired == last + .milliseconds(200))
  }

  @Test("STD-7: an epoch read more than a second after its pulse has the time of the pulse")
  func buffered() throws {
    for late in [1_001, 1_400, 1_900] {
      let (fix, begin) = try second(late: .milliseconds(Int64(late)))
      #expect(fix.acquired == begin, "\(late) ms late")
    }
  }

  @Test("STD-7: a pulse times only one epoch, not the next epoch without a pulse")
  func consumed() throws {
    let fresh = EngineBench()
    // The first fix and its pulse define the UTC offset. The second fix arrives with a smaller
    // delay and without a pulse.
    let begin = Instant(microseconds: (fresh.now.microseconds / 1_000_000 + 1) * 1_000_000)
    fresh.run(until: begin)
    let first = fresh.bytes(hasFix: true)
    fresh.run(until: begin + .milliseconds(300))
    fresh.engine.recordPulse(at: begin)
    fresh.send(first)
    fresh.run(until: begin + .seconds(1))
    let second = fresh.bytes(hasFix: true)
    fresh.run(until: begin + .milliseconds(1_200))
    fresh.send(second)
    fresh.run(until: begin + .milliseconds(1_400))
    #expect(fresh.newest?.acquired == begin + .seconds(1))
  }

  @Test("with random pulses, fixes are in order and at most 3 s before their arrival")
  func randomPulses() throws {
    var random = SplitMix64(seed: 7)
    var newest = Instant.boot
    for _ in 0..<300 {
      let late = Interval.milliseconds(Int64(50 + random.below(600)))
      let pulse = Interval.milliseconds(Int64(random.below(4_000)) - 2_000)
      let (fix, begin) = try second(late: late, pulse: random.below(5) == 0 ? nil : pulse)
      let arrival = begin + late
      #expect(fix.acquired >= newest && fix.acquired <= arrival)
      #expect(arrival - fix.acquired <= .seconds(3))
      newest = fix.acquired
    }
  }
}

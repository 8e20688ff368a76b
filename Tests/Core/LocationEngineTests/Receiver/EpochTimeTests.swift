import GNSSProtocols
import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Times of the newest fix, for the system clock")
struct EpochTimeTests {
  private let bench = EngineBench()

  /// Sends the bytes of a fix 0.3 s after the next second, `span` after their first byte; returns that second.
  @discardableResult
  private func second(
    hasFix: Bool = true, pulse: Bool = false, start: Bool = true, span: Interval = .zero
  ) -> Instant {
    let begin = Instant(microseconds: (bench.now.microseconds / 1_000_000 + 1) * 1_000_000)
    bench.run(until: begin)
    let bytes = bench.bytes(hasFix: hasFix)
    bench.run(until: begin + .milliseconds(300))
    if pulse { bench.engine.recordPulse(at: begin) }
    if start { bench.engine.recordInputStart(at: bench.now) }
    bench.run(until: bench.now + span)
    bench.send(bytes)
    bench.run(until: bench.now + .milliseconds(100))
    return begin
  }

  private func time() throws -> EpochTime {
    let time = bench.engine.epochTime
    return try #require(time)
  }

  @Test("the arrival is that of the first byte, although the epoch is read later")
  func arrival() throws {
    let none = bench.engine.epochTime
    #expect(none == nil)
    for number in 1...3 {
      let begin = second(span: .milliseconds(600))
      #expect(try time().number == UInt64(number))
      #expect(try time().arrival == begin + .milliseconds(300))
      #expect(try time().pulse == nil && time().isDateUncertain == false)
      #expect(try time().leapChange == 0)
    }
  }

  @Test("STD-7: a pulse is that of the fix's second")
  func pulse() throws {
    let begin = second(pulse: true)
    let utc = try time().utc
    #expect(try time().pulse == EpochTime.Pulse(time: begin, utc: utc))
    second()
    #expect(try time().pulse == nil)
  }

  @Test("each beginning belongs to one epoch")
  func consumed() throws {
    second()
    second(start: false)
    #expect(try time().number == 2 && time().arrival == nil)
  }

  @Test("an epoch read more than 1.9 s after a beginning does not have it")
  func old() throws {
    second(span: .milliseconds(1_950))
    #expect(try time().arrival == nil)
  }

  @Test("an epoch without a fix changes nothing, and keeps its beginning and its pulse")
  func withoutFix() throws {
    second()
    let before = try time()
    second(hasFix: false, pulse: true)
    #expect(try time() == before)
    second(start: false)
    #expect(try time().arrival == nil && time().pulse == nil)
  }

  @Test(
    "STD-13: the time of a simulated fix, and of dead reckoning, is uncertain",
    arguments: [FixQuality.simulated, .deadReckoning, .autonomous])
  func source(_ quality: FixQuality) {
    var fix = Fix(acquired: bench.now, coordinate: EngineBench.home)
    (fix.quality, fix.utc) = (quality, EngineBench.base)
    var frame = FrameBuffer()
    fix.horizontalAccuracy_mm = 3_000
    if quality == .simulated {
      frame.append(RMC(fix), format: .finest)
      frame.append(GGA(fix, horizontalDOP_e2: 90), format: .finest)
    } else {
      frame.appendNavPVT(UBXSolution(fix))
    }
    bench.send(frame)
    bench.run(until: bench.now + .milliseconds(500))
    let time = bench.engine.epochTime
    #expect(time?.isDateUncertain == (quality != .autonomous))
  }

  @Test("the fixes of a batch change nothing")
  func batch() {
    let bench = BoardBench.deferring()
    let before = bench.epochTime
    let count = bench.appended.count
    bench.run(600)
    #expect(before != nil && bench.appended.count >= count + 300)
    #expect(bench.epochTime == before)
  }

  @Test(
    "a leap second announced by NAV-TIMELS is that of the next fixes", arguments: [1, -1] as [Int8])
  func leapSecond(_ change: Int8) throws {
    func announce(_ untilEvent_s: Int32, source: UInt8 = 2) {
      var payload = [UInt8](repeating: 0, count: 24)
      (payload[8], payload[9], payload[11]) = (source, 18, UInt8(bitPattern: change))
      for index in 0..<4 {
        payload[12 + index] = UInt8(truncatingIfNeeded: untilEvent_s >> (8 * index))
      }
      payload[23] = 3
      var frame = FrameBuffer()
      frame.appendUBX(.navTIMELS, payload: payload.span)
      bench.send(frame)
    }
    for (until, source, expected) in [
      (3_600, 2, change), (-5, 2, 0), (86_401, 2, 0), (3_600, 0, 0), (86_400, 2, change),
    ] as [(Int32, UInt8, Int8)] {
      announce(until, source: source)
      second()
      #expect(try time().leapChange == expected, "\(until) s, source \(source)")
    }
  }

  @Test("STD-13: with an earliest date that is later, the date is uncertain")
  func uncertain() throws {
    let bench = EngineBench { $0.epochs.earliestDate = CalendarDate(year: 2100, month: 1, day: 1) }
    bench.engine.recordInputStart(at: bench.now)
    bench.send(bench.bytes(hasFix: true))
    bench.run(until: bench.now + .milliseconds(200))
    let time = bench.engine.epochTime
    #expect(time?.isDateUncertain == true)
  }
}

import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Position checks during a pause")
struct PauseCheckTests {
  /// Paused at 0 s by fixes at (0, 0), the last one at 0 s.
  static func paused(_ line: MotionLine, radius: Double = 50) -> PauseMonitor {
    var monitor = PauseMonitor(
      thresholds: PauseThresholds(dwell: .seconds(100), radius: radius))
    _ = monitor.handle(.line(line, at: Instant(seconds: -200)))
    _ = monitor.handle(.start)
    for second in -100...0 { _ = monitor.handle(.fix(fix(at: Double(second)))) }
    #expect(monitor.isPaused)
    return monitor
  }

  static func next(
    _ monitor: PauseMonitor, at now: Double, _ fastest: Double, _ line: MotionLine
  ) -> Double {
    let next = monitor.nextFix(at: Instant(seconds: now), speed: .constant(fastest), line: line)
    return next == .distantFuture ? .infinity : next.seconds
  }

  @Test("PAU-1: no checks with a still motion line, and none while not paused")
  func still() {
    #expect(Self.next(Self.paused(.still), at: 1, 30, .still) == .infinity)
    #expect(Self.next(PauseMonitor(), at: 1, 30, .absent) == .infinity)
    var monitor = Self.paused(.absent)
    _ = monitor.handle(.stop)
    #expect(Self.next(monitor, at: 1, 30, .absent) == .infinity)
  }

  @Test(
    "PAU-4: without a motion line checks follow every 60 to 300 s, so that 1 km may be missed",
    arguments: [
      (100, 60), (16.7, 60), (10, 100), (5, 200), (3.4, 294.117_647), (3.3, 300), (1.4, 300),
      (1e-6, 300), (1e6, 60),
    ])
  func withoutLine(_ fastest: Double, _ seconds: Double) {
    let monitor = Self.paused(.absent)
    #expect(Self.next(monitor, at: 1, fastest, .absent) == seconds)
    #expect(Self.next(monitor, at: 500, fastest, .absent) == 500)
  }

  @Test("PAU-4: with a moving line checks follow every 10 to 15 s")
  func moving() {
    var monitor = Self.paused(.still)
    _ = monitor.handle(.line(.moving, at: Instant(seconds: 500)))
    #expect(Self.next(monitor, at: 500, 30, .moving) == 500)
    _ = monitor.handle(.fix(fix(at: 502)))
    #expect(Self.next(monitor, at: 502, 30, .moving) == 512)
    #expect(Self.next(monitor, at: 502, 8, .moving) == 514.5)
    #expect(Self.next(monitor, at: 502, 1, .moving) == 517)
    #expect(monitor.isPaused)
    // A new alarm is checked as early as permitted.
    _ = monitor.handle(.line(.still, at: Instant(seconds: 504)))
    #expect(Self.next(monitor, at: 504, 1, .still) == .infinity)
    _ = monitor.handle(.line(.moving, at: Instant(seconds: 505)))
    #expect(Self.next(monitor, at: 505, 1, .moving) == 512)
  }

  @Test("PAU-4: a false alarm causes one check and does not end the pause")
  func falseAlarm() {
    var monitor = Self.paused(.still)
    for hour in 1...24 {
      let alarm = Double(hour) * 3_600
      _ = monitor.handle(.line(.moving, at: Instant(seconds: alarm)))
      #expect(monitor.handle(.line(.still, at: Instant(seconds: alarm + 3))) == .nothing)
      #expect(Self.next(monitor, at: alarm + 3, 30, .still) == alarm + 3)
      // A fix from before the alarm does not answer it.
      _ = monitor.handle(.fix(fix(at: alarm - 0.001)))
      #expect(Self.next(monitor, at: alarm + 3, 30, .still) == alarm + 9.999)
      if hour.isMultiple(of: 2) {
        #expect(monitor.handle(.fix(fix(at: alarm + 4, east: 30))) == .nothing)
      } else {
        #expect(monitor.handle(.noFix(at: Instant(seconds: alarm + 34))) == .nothing)
      }
      #expect(Self.next(monitor, at: alarm + 40, 30, .still) == .infinity)
      #expect(monitor.check == .distantFuture)
      #expect(monitor.handle(.time(Instant(seconds: alarm + 600))) == .nothing)
    }
  }

  @Test("PAU-4: continuous motion without a fix ends the pause after 45 s")
  func motionWithoutFix() {
    var monitor = Self.paused(.still)
    _ = monitor.handle(.line(.moving, at: Instant(seconds: 500)))
    #expect(monitor.check == Instant(seconds: 545))
    #expect(monitor.handle(.noFix(at: Instant(seconds: 530))) == .nothing)
    #expect(monitor.handle(.time(Instant(microseconds: 544_999_999))) == .nothing)
    var withFix = monitor
    #expect(monitor.handle(.time(Instant(seconds: 545))) == .resume)
    // The line moves: earlier stillness does not count.
    #expect(monitor.check == .distantFuture)
    #expect(monitor.handle(.fix(fix(at: 546))) == .nothing)
    #expect(monitor.handle(.line(.still, at: Instant(seconds: 560))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 645))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 646))) == .pause)
    // A fix inside the radius restarts the 45 s.
    #expect(withFix.handle(.fix(fix(at: 540))) == .nothing)
    #expect(withFix.check == Instant(seconds: 585))
    // A repeated line state changes nothing.
    #expect(withFix.handle(.line(.moving, at: Instant(seconds: 580))) == .nothing)
    #expect(withFix.check == Instant(seconds: 585))
  }

  @Test("PAU-4: a fix outside the radius is confirmed by another 5 s later")
  func confirmation() {
    var monitor = Self.paused(.absent)
    #expect(monitor.handle(.fix(fix(at: 100, east: 80))) == .nothing)
    #expect(Self.next(monitor, at: 100, 1, .absent) == 105)
    var alone = monitor
    var stays = monitor
    #expect(monitor.handle(.fix(fix(at: 105, east: 80))) == .resume)
    #expect(stays.handle(.fix(fix(at: 105))) == .nothing)
    #expect(Self.next(stays, at: 105, 1, .absent) == 405)
    #expect(alone.handle(.noFix(at: Instant(seconds: 130))) == .nothing)
    #expect(Self.next(alone, at: 130, 1, .absent) == 430)
  }

  @Test("PAU-4: a fix outside the radius needs no confirmation while the line moves")
  func fixAndLine() {
    var monitor = Self.paused(.still)
    _ = monitor.handle(.line(.moving, at: Instant(seconds: 500)))
    var still = monitor
    _ = still.handle(.line(.still, at: Instant(seconds: 501)))
    #expect(still.handle(.fix(fix(at: 502, east: 50.5))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 502, east: 49.9))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 503, east: 50.5))) == .resume)
    // Stillness restarts at the new position.
    _ = monitor.handle(.line(.still, at: Instant(seconds: 504)))
    #expect(monitor.handle(.fix(fix(at: 505, east: 60))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 605, east: 60))) == .pause)
  }

  @Test("PAU-1: with a motion line, updates pause only after the line was still for a minute")
  func lineForbids() {
    var monitor = PauseMonitor(thresholds: PauseThresholds(dwell: .seconds(100), radius: 50))
    _ = monitor.handle(.start)
    _ = monitor.handle(.line(.moving, at: .boot))
    #expect(monitor.handle(.fix(fix(at: 0))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 150))) == .nothing)
    _ = monitor.handle(.line(.still, at: Instant(seconds: 150)))
    #expect(monitor.handle(.fix(fix(at: 209.999))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 210))) == .pause)
    #expect(Self.next(monitor, at: 210, 30, .still) == .infinity)
  }
}

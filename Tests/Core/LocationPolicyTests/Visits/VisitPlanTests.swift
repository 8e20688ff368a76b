import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Fix times of the visits service")
struct VisitPlanTests {
  static func next(
    _ monitor: VisitMonitor, _ line: MotionLine = .absent, fastest: Double = 40, now: Double = 1
  ) -> Double {
    monitor.nextFix(at: Instant(seconds: now), speed: .constant(fastest), line: line).seconds
  }

  @Test("VIS-9: no fix before start, one immediately after it, back-off after failed searches")
  func beginning() {
    #expect(
      VisitMonitor().nextFix(at: .boot, speed: .constant(40), line: .absent) == .distantFuture)
    var monitor = VisitMonitor.started()
    #expect(Self.next(monitor, now: 7) == 7)
    for (now, expected) in [(100.0, 160.0), (200, 320), (400, 640), (700, 940), (1000, 1240)] {
      monitor.acquisitionFailed(at: Instant(seconds: now))
      #expect(Self.next(monitor) == expected)
    }
    // A late failure report does not move the due time back.
    monitor.acquisitionFailed(at: Instant(seconds: 900))
    #expect(Self.next(monitor) == 1240)
  }

  @Test("VIS-9: a fix every 4 minutes while travelling")
  func travelling() {
    var monitor = VisitMonitor.started()
    _ = monitor.accept(fix(at: 10, east: 0, speed_mmps: 1_000))
    #expect(Self.next(monitor) == 250)
    #expect(Self.next(monitor, .moving) == 250)
    _ = monitor.accept(fix(at: 40, east: 400, speed_mmps: 10_000))
    #expect(Self.next(monitor) == 280)
    monitor.acquisitionFailed(at: Instant(seconds: 300))
    #expect(Self.next(monitor) == 360)
    _ = monitor.accept(fix(at: 360, east: 4000))
    #expect(Self.next(monitor) == 600)
  }

  @Test("VIS-9: the next fix is due when the dwell time of a possible stay ends")
  func dwell() {
    var monitor = VisitMonitor.started()
    _ = monitor.accept(fix(at: 0, east: 1000, speed_mmps: 10_000))
    _ = monitor.accept(fix(at: 240))
    // Arrival at 93 s: the dwell time ends at 393 s, but two fixes must span 3 minutes.
    #expect(Self.next(monitor) == 420)
    var slow = VisitMonitor.started()
    _ = slow.accept(fix(at: 0, east: 2270, speed_mmps: 10_000))
    _ = slow.accept(fix(at: 240))
    #expect(Self.next(slow) == 480)
    #expect(abs(Self.next(slow, .still) - 520) < 0.01)
    _ = slow.accept(fix(at: 480))
    #expect(abs(Self.next(slow) - 520) < 0.01)
    slow.acquisitionFailed(at: Instant(seconds: 515))
    #expect(abs(Self.next(slow) - 520) < 0.01)
    slow.acquisitionFailed(at: Instant(seconds: 580))
    #expect(Self.next(slow) == 700)
    #expect(slow.accept(fix(at: 700)).arrival != nil)
    var exact = VisitMonitor.started()
    _ = exact.accept(fix(at: 0))
    #expect(Self.next(exact, .still) == 300)
    exact.acquisitionFailed(at: Instant(seconds: 300))
    #expect(Self.next(exact, .still) == 360)
  }

  @Test("VIS-9: a fix every 8 minutes during a visit, 20 s after the first fix outside")
  func visiting() {
    var monitor = VisitMonitor.visiting()
    #expect(Self.next(monitor) == 900)
    monitor.acquisitionFailed(at: Instant(seconds: 930))
    #expect(Self.next(monitor) == 1410)
    _ = monitor.accept(fix(at: 1400, east: 300))
    #expect(Self.next(monitor) == 1420)
    #expect(Self.next(monitor, .still) == 1420)
    monitor.acquisitionFailed(at: Instant(seconds: 1480))
    #expect(Self.next(monitor) == 1540)
    monitor.acquisitionFailed(at: Instant(seconds: 1600))
    #expect(Self.next(monitor) == 1720)
  }

  @Test("VIS-9: no fix before the device can have left the circle")
  func slow() {
    let monitor = VisitMonitor.visiting()
    #expect(abs(Self.next(monitor, fastest: 0.1) - 1470) < 0.1)
    #expect(Self.next(monitor, fastest: 1) == 900)
  }

  @Test("VIS-9: near the edge of the circle fixes follow after 1, 2, 4 and 8 minutes")
  func edge() {
    for (east, speed, isEdge) in [
      (71.0, Int32(0), true), (69, 0, false), (36, 1_000, true), (34, 1_000, false),
      (36, 999, false),
    ] {
      var monitor = VisitMonitor.visiting()
      _ = monitor.accept(fix(at: 900, east: east, speed_mmps: speed))
      #expect(Self.next(monitor) == (isEdge ? 960 : 1380))
    }
    var monitor = VisitMonitor.visiting()
    var time = 900.0
    for gap in [60.0, 120, 240, 480, 480] {
      _ = monitor.accept(fix(at: time, east: 80))
      #expect(Self.next(monitor) == time + gap)
      time += gap
    }
  }

  @Test("VIS-9: a fix every hour with a still motion line; 100 s of motion trigger a check")
  func line() {
    var monitor = VisitMonitor.visiting()
    monitor.motionLineChanged(.still, at: Instant(seconds: 430))
    #expect(Self.next(monitor, .still) == 4020)
    monitor.motionLineChanged(.moving, at: Instant(seconds: 1000))
    #expect(Self.next(monitor, .moving) == 1100)
    monitor.motionLineChanged(.moving, at: Instant(seconds: 1050))
    #expect(Self.next(monitor, .moving) == 1100)
    monitor.motionLineChanged(.still, at: Instant(seconds: 1070))
    #expect(Self.next(monitor, .still) == 4020)
    // 70 s of motion already count, but no check runs within a minute of its start.
    monitor.motionLineChanged(.moving, at: Instant(seconds: 2000))
    #expect(Self.next(monitor, .moving) == 2060)
    monitor.motionLineChanged(.still, at: Instant(seconds: 2030))
    #expect(Self.next(monitor, .still) == 2030)
    _ = monitor.accept(fix(at: 2040))
    #expect(Self.next(monitor, .still) == 5640)
  }

  @Test("VIS-9: continuous motion is checked with back-off, and promptly near the edge")
  func continuousMotion() {
    var monitor = VisitMonitor.visiting()
    monitor.motionLineChanged(.still, at: Instant(seconds: 430))
    monitor.motionLineChanged(.moving, at: Instant(seconds: 1000))
    var time = 1100.0
    for gap in [200.0, 400, 480, 480] {
      _ = monitor.accept(fix(at: time))
      #expect(Self.next(monitor, .moving) == time + gap)
      time += gap
    }
    _ = monitor.accept(fix(at: time, east: 80))
    #expect(Self.next(monitor, .moving) == time + 20)
    monitor.acquisitionFailed(at: Instant(seconds: time + 60))
    #expect(Self.next(monitor, .moving) == time + 100)
  }

  @Test("VIS-9: a fix within a minute after the motion line becomes still while travelling")
  func stillWhileTravelling() {
    var monitor = VisitMonitor.started()
    monitor.motionLineChanged(.moving, at: Instant(seconds: 0))
    _ = monitor.accept(fix(at: 10, east: 3000, speed_mmps: 10_000))
    monitor.motionLineChanged(.still, at: Instant(seconds: 30))
    #expect(Self.next(monitor, .still) == 70)
    monitor.motionLineChanged(.moving, at: Instant(seconds: 40))
    #expect(Self.next(monitor, .moving) == 250)
    monitor.motionLineChanged(.still, at: Instant(seconds: 200))
    #expect(Self.next(monitor, .still) == 200)
    _ = monitor.accept(fix(at: 205))
    #expect(abs(Self.next(monitor, .still) - 505) < 100)
    #expect(Self.next(monitor, .still) >= 385)
  }

  @Test("VIS-6: with a motion line, the departure is not before the start of motion")
  func departureByLine() throws {
    for (turn, expected) in [(1290.0, 1290.0), (1200, 1287), (1381, 1287)] {
      var monitor = VisitMonitor.visiting()
      monitor.motionLineChanged(.still, at: Instant(seconds: 430))
      _ = monitor.accept(fix(at: 900))
      if turn < 1380 { monitor.motionLineChanged(.moving, at: Instant(seconds: turn)) }
      _ = monitor.accept(fix(at: 1380, east: 1000, speed_mmps: 10_000))
      if turn > 1380 { monitor.motionLineChanged(.moving, at: Instant(seconds: turn)) }
      let visit = try #require(monitor.accept(fix(at: 1400, east: 1200)).departure)
      #expect(abs((visit.departure?.acquired.seconds ?? 0) - expected) < 0.01)
    }
    // The line becomes still while travelling: that is no start of motion.
    var monitor = VisitMonitor.visiting()
    monitor.motionLineChanged(.still, at: Instant(seconds: 1300))
    _ = monitor.accept(fix(at: 1380, east: 1000, speed_mmps: 10_000))
    let visit = try #require(monitor.accept(fix(at: 1400, east: 1200)).departure)
    #expect(abs((visit.departure?.acquired.seconds ?? 0) - 1287) < 0.01)
  }

  @Test("VIS-6: the next arrival is not before the last departure, one event per fix")
  func nextArrival() throws {
    var monitor = VisitMonitor.visiting()
    _ = monitor.accept(fix(at: 900))
    #expect(monitor.accept(fix(at: 1380, east: 150)) == .nothing)
    let departed = try #require(monitor.accept(fix(at: 1800, east: 150)).departure?.departure)
    // The dwell time is already over: a prompt check.
    #expect(Self.next(monitor) == 1820)
    let arrived = try #require(monitor.accept(fix(at: 1820, east: 150)).arrival?.arrival)
    #expect(departed.acquired.seconds > 1300)
    #expect(arrived.acquired == departed.acquired)
  }

  @Test("VIS-6: the dwell time at the next place does not begin before the departure")
  func nextDwell() {
    var monitor = VisitMonitor.visiting()
    _ = monitor.accept(fix(at: 900))
    _ = monitor.accept(fix(at: 1380, east: 150))
    let departure = monitor.accept(fix(at: 1580, east: 150)).departure?.departure
    // 80 m at 1.3 m/s before 1380 s, and the dwell time.
    #expect(abs((departure?.acquired.seconds ?? 0) - 1318.5) < 0.1)
    #expect(abs(Self.next(monitor) - 1618.5) < 0.1)
  }

  @Test("VIS-6: an arrival is not before the last fix elsewhere")
  func arrivalAfterLastFixElsewhere() {
    var monitor = VisitMonitor.started()
    _ = monitor.accept(fix(at: 100))
    _ = monitor.accept(fix(at: 340, east: 71))
    _ = monitor.accept(fix(at: 400, east: 75))
    // The centre moves to 65 m: the fix at 100 s is inside the circle.
    let visit = monitor.accept(fix(at: 660, east: 50)).arrival
    #expect(visit?.arrival?.acquired.seconds == 100)
  }

  @Test("VIS-9: without a reported change, the motion line's state counts from the last check")
  func unreportedLineChanges() {
    var monitor = VisitMonitor.visiting()
    monitor.motionLineChanged(.still, at: Instant(seconds: 430))
    #expect(Self.next(monitor, .moving) == 900)
    var riding = VisitMonitor.started()
    _ = riding.accept(fix(at: 10, speed_mmps: 10_000))
    riding.motionLineChanged(.moving, at: Instant(seconds: 20))
    #expect(Self.next(riding, .still) == 310)
  }
}

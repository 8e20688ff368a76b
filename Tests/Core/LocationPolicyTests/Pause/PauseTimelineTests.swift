import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Pauses over hours with position drift")
struct PauseTimelineTests {
  @Test(
    "PAU-1, PAU-8: at standstill updates pause in time and never resume, at any fix interval",
    arguments: SpeedKind.allCases, [1.0, 7, 60, 300])
  func standstill(_ kind: SpeedKind, _ interval: Double) {
    for activity in [ActivityType.other, .automotiveNavigation, .fitness] {
      for seed: UInt64 in 1...2 {
        var receiver = WanderingReceiver(seed: seed, kind)
        var monitor = PauseMonitor(activity)
        _ = monitor.handle(.start)
        var paused: Double?
        var resumes = 0
        for step in 0...Int(2 * 3_600 / interval) {
          let time = Double(step) * interval
          switch monitor.handle(.fix(receiver.fix(at: time))) {
          case .nothing: break
          case .pause: paused = paused ?? time
          case .resume: resumes += 1
          }
        }
        let dwell = activity.pause.dwell.seconds
        let late = (paused ?? .infinity) - dwell
        #expect(late >= 0)
        #expect(late <= max(60, interval), "\(activity) \(seed): \(late) s late")
        #expect(resumes == 0, "\(activity) \(seed)")
      }
    }
  }

  /// Result of a pause monitor for a device that stands still, then moves.
  struct Ride {
    var resumedAfter: Double?
    var metres = 0.0
    var checks = 0

    /// Checks as the engine does: a fix 3 s after it is due. The line reports the departure after
    /// 2 s.
    init(
      _ activity: ActivityType, _ kind: SpeedKind, speed: Double, line hasLine: Bool, seed: UInt64
    ) {
      var receiver = WanderingReceiver(seed: seed, kind)
      var monitor = PauseMonitor(activity)
      if hasLine { _ = monitor.handle(.line(.still, at: .boot)) }
      _ = monitor.handle(.start)
      let departure = 1_200.0 + Double(seed) * 37
      var line = hasLine ? MotionLine.still : .absent
      var ready: Double?
      for second in 0...2_400 where resumedAfter == nil {
        let time = Double(second)
        let now = Instant(seconds: time)
        let east = max(0, time - departure) * speed
        if hasLine, time == departure + 2 {
          line = .moving
          _ = monitor.handle(.line(.moving, at: now))
        }
        var outcome = monitor.handle(.time(now))
        if !monitor.isPaused || (ready.map { $0 <= time } ?? false) {
          if monitor.isPaused { checks += 1 }
          ready = nil
          let now = time < departure ? 0 : speed
          outcome = monitor.handle(.fix(receiver.fix(at: time, east: east, speed: now)))
        } else if ready == nil, monitor.nextFix(at: now, speed: .constant(40), line: line) <= now {
          ready = time + 3
        }
        if outcome == .resume {
          resumedAfter = time - departure
          metres = east
        }
      }
    }
  }

  @Test(
    "PAU-4: with a motion line updates resume within 60 s or 100 m, with any speed fields",
    arguments: SpeedKind.allCases, [0.7, 1.4, 3, 8, 14, 35])
  func departs(_ kind: SpeedKind, _ speed: Double) {
    for activity in [ActivityType.other, .automotiveNavigation, .fitness] {
      for seed: UInt64 in 1...3 {
        let ride = Ride(activity, kind, speed: speed, line: true, seed: seed)
        let after = ride.resumedAfter ?? .infinity
        #expect(after > 0)
        #expect(after <= 60 || ride.metres <= 100, "\(activity) \(after) s \(ride.metres) m")
      }
    }
  }

  @Test("PAU-4: without a motion line updates resume within a check and its confirmation")
  func departsWithoutLine() {
    for kind in SpeedKind.allCases {
      for speed in [1.4, 14] {
        for seed: UInt64 in 1...6 {
          let ride = Ride(.other, kind, speed: speed, line: false, seed: seed)
          let after = ride.resumedAfter ?? .infinity
          #expect(after > 0 && after <= 75 + 50 / speed, "\(kind) \(speed): \(after) s")
        }
      }
    }
  }

  @Test("PAU-1: a day at standstill with an alarm each hour causes one check each and no resume")
  func day() {
    for kind in SpeedKind.allCases {
      var receiver = WanderingReceiver(seed: 3, kind)
      var monitor = PauseMonitor(.other)
      _ = monitor.handle(.line(.still, at: .boot))
      _ = monitor.handle(.start)
      var line = MotionLine.still
      var checks = 0
      for second in 0..<86_400 {
        let time = Double(second)
        let now = Instant(seconds: time)
        if second % 3_600 == 1_800 { line = .moving }
        if second % 3_600 == 1_804 { line = .still }
        #expect(monitor.handle(.line(line, at: now)) == .nothing)
        #expect(monitor.handle(.time(now)) != .resume)
        if monitor.isPaused {
          guard monitor.nextFix(at: now, speed: .constant(40), line: line) <= now else { continue }
          checks += 1
        }
        #expect(monitor.handle(.fix(receiver.fix(at: time))) != .resume)
      }
      #expect(monitor.isPaused)
      #expect(checks == 24, "\(kind)")
    }
  }
}

import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite("Automatic pause state machine")
struct PauseMonitorTests {
  static let quick = PauseThresholds(dwell: .seconds(10), radius: 30)

  /// Each state, reached with fixes at (0, 0) from 0 to 10 s; watching: from 0 to 9 s.
  static func monitor(in state: PauseMonitor.State) -> PauseMonitor {
    var monitor = PauseMonitor(thresholds: quick)
    guard state != .idle else { return monitor }
    #expect(monitor.handle(.start) == .nothing)
    for second in 0...9 { #expect(monitor.handle(.fix(fix(at: Double(second)))) == .nothing) }
    if state == .watching { return monitor }
    #expect(monitor.handle(.fix(fix(at: 10))) == .pause)
    if state == .halted { #expect(monitor.handle(.stop) == .nothing) }
    #expect(monitor.state == state)
    return monitor
  }

  typealias Row = (
    event: PauseMonitor.Event, name: String,
    expected: [(PauseMonitor.State, PauseMonitor.Outcome)]
  )

  @Test("PAU-3: every event has one defined result in every state")
  func everyPair() {
    let idle = (PauseMonitor.State.idle, PauseMonitor.Outcome.nothing)
    let watching = (PauseMonitor.State.watching, PauseMonitor.Outcome.nothing)
    let paused = (PauseMonitor.State.paused, PauseMonitor.Outcome.nothing)
    let halted = (PauseMonitor.State.halted, PauseMonitor.Outcome.nothing)
    let resumed = (PauseMonitor.State.watching, PauseMonitor.Outcome.resume)
    let pauses = (PauseMonitor.State.paused, PauseMonitor.Outcome.pause)
    let fast = fix(at: 11, speed: 3, deviation: 0.1)
    let table: [Row] = [
      (.start, "start", [watching, watching, resumed, resumed]),
      (.stop, "stop", [idle, idle, halted, halted]),
      (.allow(true), "allow", [idle, watching, paused, halted]),
      (.allow(false), "forbid", [idle, watching, resumed, halted]),
      (.activity(.airborne), "activity", [idle, watching, paused, halted]),
      (.fix(fix(at: 11)), "inside", [idle, pauses, paused, halted]),
      (.fix(fix(at: 11, east: 90)), "outside", [idle, watching, paused, halted]),
      (.fix(fast), "fast", [idle, watching, resumed, halted]),
      (.noFix(at: Instant(seconds: 11)), "no fix", [idle, watching, paused, halted]),
      (.line(.moving, at: Instant(seconds: 11)), "moving", [idle, watching, paused, halted]),
      (.line(.still, at: Instant(seconds: 11)), "still", [idle, watching, paused, halted]),
      (.line(.absent, at: Instant(seconds: 11)), "absent", [idle, watching, paused, halted]),
      (.time(Instant(seconds: 9_999)), "time", [idle, watching, paused, halted]),
    ]
    for (event, name, expected) in table {
      for (raw, (next, outcome)) in expected.enumerated() {
        guard let state = PauseMonitor.State(rawValue: UInt8(raw)) else { continue }
        var monitor = Self.monitor(in: state)
        #expect(monitor.handle(event) == outcome, "\(name) in \(state)")
        #expect(monitor.state == next, "\(name) in \(state)")
        #expect(monitor.isPaused == (next == .paused))
      }
    }
  }

  @Test("PAU-6: activities have Core Location's numbers")
  func activities() {
    #expect(ActivityType.other.rawValue == 1)
    #expect(ActivityType.automotiveNavigation.rawValue == 2)
    #expect(ActivityType.fitness.rawValue == 3)
    #expect(ActivityType.otherNavigation.rawValue == 4)
    #expect(ActivityType.airborne.rawValue == 5)
    #expect(PauseMonitor().thresholds == ActivityType.other.pause)
  }

  @Test(
    "PAU-7: each activity pauses after its own time within its own radius, and PAU-2: only then",
    arguments: [
      (ActivityType.other, 600, 50), (.automotiveNavigation, 900, 75), (.fitness, 600, 30),
      (.otherNavigation, 900, 75), (.airborne, 1_800, 75),
    ] as [(ActivityType, Int, Double)])
  func timers(_ activity: ActivityType, _ seconds: Int, _ radius: Double) {
    #expect(activity.pause == PauseThresholds(dwell: .seconds(Int64(seconds)), radius: radius))
    var monitor = PauseMonitor(.airborne)
    _ = monitor.handle(.start)
    _ = monitor.handle(.activity(activity))
    for second in 0..<seconds {
      let east = second == 300 ? radius - 0.1 : 0
      #expect(monitor.handle(.fix(fix(at: Double(second), east: east))) == .nothing)
    }
    var outside = monitor
    #expect(monitor.handle(.fix(fix(at: Double(seconds)))) == .pause)
    #expect(outside.handle(.fix(fix(at: Double(seconds), east: radius + 1))) == .nothing)
    #expect(outside.handle(.fix(fix(at: Double(seconds) + 1))) == .pause)
  }

  @Test("PAU-10: the deciding fix itself starts the pause, PAU-1: also with sparse fixes")
  func sparse() {
    var monitor = PauseMonitor(.other)
    _ = monitor.handle(.start)
    #expect(monitor.handle(.fix(fix(at: 0))) == .nothing)
    #expect(monitor.handle(.time(Instant(seconds: 900))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 599))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 600, east: 20))) == .pause)
  }

  @Test("PAU-5: switched off, updates never pause; switched on, they pause with the next fix")
  func offAndOn() {
    var monitor = PauseMonitor(.other)
    _ = monitor.handle(.allow(false))
    _ = monitor.handle(.start)
    for second in 0...3_600 {
      #expect(monitor.handle(.fix(fix(at: Double(second)))) == .nothing)
    }
    #expect(!monitor.isAllowed)
    #expect(monitor.handle(.allow(true)) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 3_601))) == .pause)
    #expect(monitor.handle(.allow(false)) == .resume)
    #expect(monitor.handle(.fix(fix(at: 3_602))) == .nothing)
    #expect(monitor.handle(.allow(true)) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 4_201))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 4_202))) == .pause)
  }

  @Test("PAU-8: updates never pause while a reliable speed is above 1 m/s, even on a small circle")
  func circles() {
    var monitor = PauseMonitor(.other)
    _ = monitor.handle(.start)
    for second in 0...7_200 {
      let east = Double(second % 20)
      let speed = second % 300 == 0 ? 1.2 : 0.5
      let sample = fix(at: Double(second), east: east, speed: speed, deviation: 0.2)
      #expect(monitor.handle(.fix(sample)) == .nothing)
    }
    #expect(monitor.handle(.fix(fix(at: 7_799, speed: 0.5, deviation: 0.2))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 7_800, speed: 1.0, deviation: 0.2))) == .pause)
  }

  @Test("PAU-3: after a stop in a pause, the next start reports the pending resume")
  func stoppedInPause() {
    var monitor = Self.monitor(in: .halted)
    #expect(monitor.handle(.allow(false)) == .nothing)
    #expect(monitor.handle(.start) == .resume)
    #expect(monitor.handle(.start) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 100))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 110))) == .nothing)  // still forbidden
    #expect(monitor.handle(.allow(true)) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 111))) == .pause)
  }

  @Test(
    "PAU-3: a start restarts the stillness time", arguments: [PauseMonitor.State.watching, .paused])
  func startRestartsDwell(_ state: PauseMonitor.State) {
    var monitor = Self.monitor(in: state)
    if state == .watching { #expect(monitor.handle(.stop) == .nothing) }
    #expect(monitor.handle(.start) == (state == .paused ? .resume : .nothing))
    #expect(monitor.handle(.fix(fix(at: 30))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 39.999))) == .nothing)
    #expect(monitor.handle(.fix(fix(at: 40))) == .pause)
  }

  @Test("PAU-3: pause and resume always alternate")
  func alternates() {
    var random = SplitMix64(seed: 7)
    for _ in 0..<200 {
      var monitor = PauseMonitor(thresholds: Self.quick)
      var isPaused = false
      var isUpdating = false
      var pauses = 0
      for second in 1...400 {
        let now = Instant(seconds: Double(second))
        let event: PauseMonitor.Event
        switch Int.random(in: 0..<60, using: &random) {
        case 0: event = .start
        case 1: event = .stop
        case 2: event = .allow(Bool.random(using: &random))
        case 3: event = .line(.moving, at: now)
        case 4: event = .line(.still, at: now)
        case 5: event = .line(.absent, at: now)
        case 6: event = .noFix(at: now)
        case 7...12: event = .time(now)
        case 13: event = .fix(fix(at: Double(second), east: 200))
        case 14: event = .fix(fix(at: Double(second), speed: 2, deviation: 0.1))
        case _: event = .fix(fix(at: Double(second)))
        }
        if case .start = event { isUpdating = true }
        if case .stop = event { isUpdating = false }
        switch monitor.handle(event) {
        case .nothing: break
        case .pause:
          #expect(!isPaused && isUpdating && monitor.isAllowed)
          isPaused = true
          pauses += 1
        case .resume:
          #expect(isPaused && isUpdating)
          isPaused = false
        }
        #expect(isPaused == (monitor.state == .paused || monitor.state == .halted))
        #expect(isUpdating == (monitor.state == .paused || monitor.state == .watching))
        if !monitor.isAllowed { #expect(monitor.state != .paused) }
      }
      _ = pauses
    }
  }
}

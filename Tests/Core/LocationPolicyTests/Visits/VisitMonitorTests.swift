import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

extension VisitMonitor {
  /// A started monitor.
  static func started(_ parameters: VisitParameters = VisitParameters()) -> VisitMonitor {
    var monitor = VisitMonitor(parameters: parameters)
    #expect(monitor.start(at: .boot) == .nothing)
    return monitor
  }

  /// Arrives from 1000 m east at 10 m/s: enters the circle at 93 s, has fixes at 240 and 420 s, and
  /// reports the visit with the last one.
  static func visiting(_ parameters: VisitParameters = VisitParameters()) -> VisitMonitor {
    var monitor = VisitMonitor.started(parameters)
    #expect(monitor.accept(fix(at: 0, east: 1000, speed_mmps: 10_000)) == .nothing)
    #expect(monitor.accept(fix(at: 240)) == .nothing)
    #expect(monitor.accept(fix(at: 420)).arrival != nil)
    return monitor
  }
}

extension VisitMonitor.Outcome {
  var arrival: Visit? {
    switch self {
    case .arrived(let visit): visit
    case .nothing, .departed: nil
    }
  }
  var departure: Visit? {
    switch self {
    case .departed(let visit): visit
    case .nothing, .arrived: nil
    }
  }
}

@Suite("Visit monitor state machine")
struct VisitMonitorTests {
  enum Event: Sendable {
    case start, startCached, stop, inside, outside, outsideAgain, noFix, lineChange
  }
  enum Answer: Sendable { case nothing, arrived, departed }

  static let cached = Visit(coordinate: equator, horizontalAccuracy: 5, arrival: nil)

  static let table: [(VisitMonitor.State, Event, VisitMonitor.State, Answer)] = [
    (.idle, .start, .underWay, .nothing), (.idle, .startCached, .visiting, .arrived),
    (.idle, .stop, .idle, .nothing), (.idle, .inside, .idle, .nothing),
    (.idle, .outside, .idle, .nothing), (.idle, .outsideAgain, .idle, .nothing),
    (.idle, .noFix, .idle, .nothing), (.idle, .lineChange, .idle, .nothing),
    (.underWay, .start, .underWay, .nothing), (.underWay, .startCached, .underWay, .nothing),
    (.underWay, .stop, .idle, .nothing), (.underWay, .inside, .visiting, .arrived),
    (.underWay, .outside, .underWay, .nothing), (.underWay, .outsideAgain, .underWay, .nothing),
    (.underWay, .noFix, .underWay, .nothing), (.underWay, .lineChange, .underWay, .nothing),
    (.visiting, .start, .visiting, .nothing), (.visiting, .startCached, .visiting, .nothing),
    (.visiting, .stop, .idle, .nothing), (.visiting, .inside, .visiting, .nothing),
    (.visiting, .outside, .visiting, .nothing), (.visiting, .outsideAgain, .underWay, .departed),
    (.visiting, .noFix, .visiting, .nothing), (.visiting, .lineChange, .visiting, .nothing),
  ]

  @Test("VIS-5: every event has one defined result in every state", arguments: table.indices)
  func everyPair(_ row: Int) {
    let (state, event, next, answer) = Self.table[row]
    var monitor = VisitMonitor()
    switch state {
    case .idle: break
    case .underWay:
      monitor = .started()
      _ = monitor.accept(fix(at: 0))
    case .visiting: monitor = .visiting()
    }
    let now = Instant(seconds: 1000)
    var outcome = VisitMonitor.Outcome.nothing
    switch event {
    case .start: outcome = monitor.start(at: now)
    case .startCached: outcome = monitor.start(at: now, cached: Self.cached)
    case .stop: monitor.stop(at: now)
    case .inside: outcome = monitor.accept(fix(at: 1000))
    case .outside: outcome = monitor.accept(fix(at: 1000, east: 400))
    case .outsideAgain:
      #expect(monitor.accept(fix(at: 970, east: 400)) == .nothing)
      outcome = monitor.accept(fix(at: 1000, east: 400))
    case .noFix: monitor.acquisitionFailed(at: now)
    case .lineChange: monitor.motionLineChanged(.moving, at: now)
    }
    #expect(monitor.state == next)
    #expect((outcome.arrival != nil) == (answer == .arrived))
    #expect((outcome.departure != nil) == (answer == .departed))
    #expect((monitor.visit != nil) == (next == .visiting))
    if next == .idle {
      #expect(monitor.nextFix(at: now, speed: .constant(40), line: .moving) == .distantFuture)
      monitor.forget()
      #expect(monitor == VisitMonitor())
    }
  }

  @Test("VIS-6: the arrival is the time of entering the circle, from distance and speed")
  func arrivalDate() throws {
    let visit = try #require(VisitMonitor.visiting().visit)
    let arrival = try #require(visit.arrival)
    #expect(abs(arrival.acquired.seconds - 93) < 0.01)
    #expect(visit.departure == nil)
    #expect(visit.coordinate.localDistance(to: equator) < 0.01)
    #expect(visit.horizontalAccuracy == 3)
  }

  @Test("VIS-6: without a speed, short distances count as walked and long ones as driven")
  func assumedSpeeds() throws {
    for (east, speed, expected) in [
      (200.0, Int32?.none, 100.0), (1569.9, nil, 1153.77), (1570.1, nil, 187.51),
      (9000, nil, 1116.25),
      (200, 999, 100), (200, 1_000, 130), (9000, 999, 1116.25), (9000, 4_000, 1200),
    ] {
      var monitor = VisitMonitor.started()
      _ = monitor.accept(fix(at: 0, east: east, speed_mmps: speed))
      _ = monitor.accept(fix(at: 1200))
      let visit = try #require(monitor.accept(fix(at: 2400)).arrival)
      #expect(abs((visit.arrival?.acquired.seconds ?? 0) - expected) < 0.01)
    }
  }

  @Test("VIS-9: the dwell time counts from the arrival, and two fixes must span 3 minutes")
  func dwell() {
    for (last, isReported) in [(419.999, false), (420, true)] {
      var monitor = VisitMonitor.started()
      _ = monitor.accept(fix(at: 0, east: 1000, speed_mmps: 10_000))
      _ = monitor.accept(fix(at: 240))
      #expect((monitor.accept(fix(at: last)).arrival != nil) == isReported)
    }
    for (last, isReported) in [(539.99, false), (540.01, true)] {
      var monitor = VisitMonitor.started()
      _ = monitor.accept(fix(at: 0, east: 2470, speed_mmps: 10_000))
      _ = monitor.accept(fix(at: 240))
      #expect((monitor.accept(fix(at: last)).arrival != nil) == isReported)
    }
  }

  @Test("VIS-4: if monitoring starts inside, the arrival is unknown and stays unknown")
  func unknownArrival() throws {
    var monitor = VisitMonitor.started()
    _ = monitor.accept(fix(at: 10, east: 60))
    #expect(monitor.accept(fix(at: 309.99)) == .nothing)
    let visit = try #require(monitor.accept(fix(at: 310)).arrival)
    #expect(visit.arrival == nil)
    _ = monitor.accept(fix(at: 900, east: 700))
    let departed = try #require(monitor.accept(fix(at: 930, east: 700)).departure)
    #expect(departed.arrival == nil)
    #expect(departed.departure != nil)
  }

  @Test("VIS-6: the departure is the time of leaving the circle, with the arrival's coordinate")
  func departureDate() throws {
    var monitor = VisitMonitor.visiting()
    let arrived = try #require(monitor.visit)
    _ = monitor.accept(fix(at: 900, east: 40))
    #expect(monitor.accept(fix(at: 1380, east: 1000, speed_mmps: 10_000)) == .nothing)
    #expect(monitor.accept(fix(at: 1399, east: 1200, speed_mmps: 10_000)) == .nothing)
    let visit = try #require(monitor.accept(fix(at: 1400, east: 1200)).departure)
    let departure = try #require(visit.departure?.acquired.seconds)
    #expect(abs(departure - 1287) < 0.01)
    #expect(visit.coordinate == arrived.coordinate)
    #expect(visit.arrival == arrived.arrival)
    #expect(visit.horizontalAccuracy == arrived.horizontalAccuracy)
  }

  @Test("VIS-6: a departure is never before the last fix inside")
  func departureAfterLast() throws {
    var monitor = VisitMonitor.visiting()
    _ = monitor.accept(fix(at: 900))
    _ = monitor.accept(fix(at: 910, east: 1400))
    let visit = try #require(monitor.accept(fix(at: 930, east: 1400)).departure)
    #expect(visit.departure?.acquired.seconds == 900)
  }

  @Test("VIS-9: a departure needs 2 fixes beyond 1.5 radii; the radius is 70 m or 2 accuracies")
  func departureDistance() {
    for (east, accuracy, leaves) in [
      (104.9, Int32(35_000), false), (105.1, 35_000, true), (149.9, 50_000, false),
      (150.1, 50_000, true), (105.1, 36_000, false),
    ] {
      var monitor = VisitMonitor.visiting()
      let outside = [900.0, 930].map { fix(at: $0, east: east, accuracy_mm: accuracy) }
      #expect(monitor.accept(outside[0]) == .nothing)
      #expect((monitor.accept(outside[1]).departure != nil) == leaves)
    }
  }

  @Test("VIS-9: the fixes of a stay are within one radius of its centre")
  func arrivalDistance() {
    for (east, accuracy, stays) in [
      (69.9, Int32(3_000), true), (70.1, 3_000, false), (99.9, 50_000, true),
      (100.1, 50_000, false),
    ] {
      var monitor = VisitMonitor.started()
      _ = monitor.accept(fix(at: 0))
      let outcome = monitor.accept(fix(at: 300, east: east, accuracy_mm: accuracy))
      #expect((outcome.arrival != nil) == stays)
    }
  }

  @Test("VIS-9: a short receiver error ends no visit, however many fixes it affects")
  func outliers() {
    var monitor = VisitMonitor.visiting()
    for second in 0..<3 * 60 {
      let isBad = second % 60 < 20
      let outcome = monitor.accept(fix(at: 500 + Double(second), east: isBad ? 300 : 0))
      #expect(outcome == .nothing)
    }
    #expect(monitor.visit != nil)
  }

  @Test("VIS-9: a fix with poor accuracy is ignored")
  func poorAccuracy() {
    var monitor = VisitMonitor.visiting()
    for (time, accuracy) in [(900.0, Int32(150_001)), (930, 400_000), (960, 150_001)] {
      let bad = fix(at: time, east: 5000, accuracy_mm: accuracy)
      #expect(monitor.accept(bad) == .nothing)
    }
    #expect(monitor.outside == nil)
    _ = monitor.accept(fix(at: 990, east: 5000, accuracy_mm: 150_000))
    #expect(monitor.outside != nil)
    // A fix without accuracy counts as 10 m: 104 m is inside, 106 m is not.
    _ = monitor.accept(fix(at: 1000, east: 104, accuracy_mm: nil))
    #expect(monitor.outside == nil)
    _ = monitor.accept(fix(at: 1001, east: 106, accuracy_mm: nil))
    #expect(monitor.outside != nil)
  }

  @Test("VIS-10: a stop under 3 minutes is not a visit", arguments: [1.4, 5, 15])
  func shortStops(speed: Double) {
    for stop in stride(from: 20.0, to: 180, by: 10) {
      var monitor = VisitMonitor.started()
      for second in 0..<2000 {
        let moving = min(Double(second), 800) + max(0, Double(second) - 800 - stop)
        let isStopped = Double(second) > 800 && Double(second) < 800 + stop
        let sample = fix(
          at: Double(second), east: moving * speed,
          speed_mmps: isStopped ? 0 : Int32(speed * 1000))
        #expect(monitor.accept(sample) == .nothing)
      }
    }
  }

  @Test("VIS-11: an outage neither starts nor ends a visit")
  func outage() throws {
    var passing = VisitMonitor.started()
    _ = passing.accept(fix(at: 0, east: 3000))
    _ = passing.accept(fix(at: 300))
    for hour in 1..<9 { passing.acquisitionFailed(at: Instant(seconds: Double(hour) * 3600)) }
    #expect(passing.visit == nil)
    #expect(passing.accept(fix(at: 30_000, east: 5000)) == .nothing)
    #expect(passing.accept(fix(at: 30_040, east: 5400)) == .nothing)
    var staying = VisitMonitor.visiting()
    let visit = try #require(staying.visit)
    for hour in 1..<9 { staying.acquisitionFailed(at: Instant(seconds: Double(hour) * 3600)) }
    #expect(staying.visit == visit)
    #expect(staying.accept(fix(at: 30_000, east: 20)) == .nothing)
    #expect(staying.visit == visit)
  }

  @Test("VIS-7: a cached visit is reported again at start, and its departure later")
  func cachedVisit() throws {
    let arrival = FixTime(acquired: Instant(seconds: 100), utc: UTCTime(microseconds: 5))
    var cached = Visit(coordinate: equator, horizontalAccuracy: 7, arrival: arrival)
    cached.departure = arrival
    var monitor = VisitMonitor()
    let reported = try #require(
      monitor.start(at: Instant(seconds: 600), cached: cached).arrival)
    #expect(reported.arrival == arrival && reported.departure == nil)
    #expect(
      monitor.nextFix(at: Instant(seconds: 600), speed: .constant(40), line: .still).seconds == 600)
    _ = monitor.accept(fix(at: 700, east: 600, speed_mmps: 10_000))
    let departed = try #require(monitor.accept(fix(at: 720, east: 800)).departure)
    #expect(departed.arrival == arrival && departed.coordinate == equator)
    #expect(abs((departed.departure?.acquired.seconds ?? 0) - 647) < 0.01)
    var broken = VisitMonitor()
    cached.coordinate = Coordinate(latitude_e9: 91_000_000_000, longitude_e9: 0)
    #expect(broken.start(at: .boot, cached: cached) == .nothing)
    #expect(broken.state == .underWay)
    var future = VisitMonitor()
    let early = future.start(at: Instant(seconds: 99), cached: reported)
    #expect(early.arrival?.arrival == nil)
  }

  @Test("VIS-7: a visit open at stop is reported once by a start within 5 minutes")
  func stoppedAndStarted() throws {
    var monitor = VisitMonitor.visiting()
    let visit = try #require(monitor.visit)
    monitor.stop(at: Instant(seconds: 1000))
    monitor.stop(at: Instant(seconds: 1100))
    var late = monitor
    var forgotten = monitor
    #expect(monitor.start(at: Instant(seconds: 1300)) == .arrived(visit))
    #expect(monitor.start(at: Instant(seconds: 1300)) == .nothing)
    #expect(late.start(at: Instant(seconds: 1301)) == .nothing)
    late.stop(at: Instant(seconds: 1302))
    #expect(late.start(at: Instant(seconds: 1302)) == .nothing)
    forgotten.forget()
    #expect(forgotten.start(at: Instant(seconds: 1101)) == .nothing)
  }

  @Test("VIS-6: arrival ≤ departure, even if fixes from before the start arrive late")
  func lateFixes() throws {
    let arrival = FixTime(acquired: Instant(seconds: 590), utc: nil)
    let cached = Visit(coordinate: equator, horizontalAccuracy: 7, arrival: arrival)
    var monitor = VisitMonitor()
    _ = monitor.start(at: Instant(seconds: 600), cached: cached)
    _ = monitor.accept(fix(at: 580))
    _ = monitor.accept(fix(at: 585, east: 600, speed_mmps: 10_000))
    let visit = try #require(monitor.accept(fix(at: 610, east: 900)).departure)
    #expect(visit.departure == arrival)
  }

  @Test("VIS-9: each fix counts once, and none counts after a newer one")
  func order() {
    var monitor = VisitMonitor.visiting()
    _ = monitor.accept(fix(at: 900, east: 10))
    let before = monitor
    #expect(monitor.accept(fix(at: 900, east: 500)) == .nothing)
    #expect(monitor.accept(fix(at: 899, east: 500)) == .nothing)
    #expect(monitor == before)
  }

  @Test("VIS-3: the accuracy of a visit is the mean of its fixes' accuracies")
  func accuracy() throws {
    var monitor = VisitMonitor.started()
    for (time, accuracy) in [(0.0, Int32(10_000)), (150, 20_000), (300, 60_000)] {
      _ = monitor.accept(fix(at: time, accuracy_mm: accuracy))
    }
    #expect(abs(try #require(monitor.visit).horizontalAccuracy - 30) < 1e-9)
  }

  @Test("VIS-6: UTC is that of the nearest fix plus the time between, nil without one")
  func utc() throws {
    func dated(_ time: Double, _ east: Double, _ speed: Int32?) -> Fix {
      var dated = fix(at: time, east: east, speed_mmps: speed)
      dated.utc = UTCTime(microseconds: 1_000_000_000 + Int64(time * 1e6))
      return dated
    }
    var monitor = VisitMonitor.started()
    _ = monitor.accept(dated(0, 1000, 10_000))
    _ = monitor.accept(dated(240, 0, nil))
    let visit = try #require(monitor.accept(dated(420, 0, nil)).arrival)
    let arrival = try #require(visit.arrival)
    #expect(arrival.utc?.microseconds == 1_000_000_000 + arrival.acquired.microseconds)
    _ = monitor.accept(dated(900, 1000, 10_000))
    let departed = try #require(monitor.accept(dated(920, 1000, nil)).departure?.departure)
    #expect(departed.utc?.microseconds == 1_000_000_000 + departed.acquired.microseconds)
    #expect(VisitMonitor.visiting().visit?.arrival?.utc == nil)
  }

  @Test("VIS-6: the coordinate is the centre of the stay, unaffected by approach and outliers")
  func robustCentre() throws {
    var generator = SplitMix64(seed: 11)
    var monitor = VisitMonitor.started()
    var reported: Visit?
    for second in 0..<500 {
      let isWalking = second < 100
      var east = isWalking ? 130 - 1.3 * Double(second) : 5 * generator.normal()
      if second >= 200, second < 215 { east = 65 }
      let sample = fix(
        at: Double(second), east: east, north: 5 * generator.normal(),
        speed_mmps: isWalking ? 1_300 : 100)
      if let visit = monitor.accept(sample).arrival { reported = visit }
    }
    let visit = try #require(reported)
    #expect(visit.coordinate.localDistance(to: equator) < 5)
    let arrival = try #require(visit.arrival?.acquired.seconds)
    #expect(abs(arrival - 46) < 10)
  }
}

import LocationPolicy
import LocationTypes
import SimulatedHAL
import Testing

@testable import LocationEngine

/// A client that is promised a distance, or a service that needs a fix now and then, on a simulated
/// board.
@Suite("Single fixes")
struct SingleFixTests {
  static func bench(
    speed: Double = 0, clients: Int = 1,
    _ change: (inout SimulationSetup, inout EngineSetup) -> Void = { _, _ in }
  ) -> BoardBench {
    let bench = BoardBench(clients: clients, speed: speed, change)
    for client in bench.clients { client.stop() }
    bench.run(3)
    return bench
  }

  /// How long the receiver was awake, seconds.
  static func awake(_ bench: BoardBench) -> Double {
    var sum = 0.0
    var since: Instant?
    for event in bench.events {
      guard case .receiver(let state, _) = event.event else { continue }
      let isAwake = state != .standby && state != .off && state != .backup
      if isAwake, since == nil { since = event.time }
      if !isAwake, let begin = since {
        sum += (event.time - begin).seconds
        since = nil
      }
    }
    return sum + (since.map { (bench.now - $0).seconds } ?? 0)
  }

  @Test("within 100 m: the receiver sleeps between fixes, and each is told")
  func within() {
    let bench = Self.bench(speed: 2)
    bench.client.ask(.setDesiredAccuracy(100))
    bench.client.start()
    bench.run(1_800)
    let fixes = bench.client.fixes
    #expect(fixes.count > 20 && fixes.count < 300, "\(fixes.count)")
    #expect(Self.awake(bench) < 900)
    var worst = 0.0
    for (a, b) in zip(fixes, fixes.dropFirst()) {
      worst = max(worst, a.fix.coordinate.localDistance(to: b.fix.coordinate))
    }
    #expect(worst < 200, "\(worst) m between two reports")
    #expect(bench.violations.isEmpty)
  }

  @Test("the finer the distance, the more fixes; Best means every one")
  func finer() {
    var counts: [Int] = []
    for accuracy in [500.0, 100, 50, 10, LocationAccuracy.best] {
      let bench = Self.bench(speed: 3)
      bench.client.ask(.setDesiredAccuracy(accuracy))
      bench.client.start()
      bench.run(600)
      counts.append(bench.client.fixes.count)
    }
    #expect(counts[0] < counts[1] && counts[1] < counts[2] && counts[2] < counts[3])
    #expect(counts[4] > 580 && counts[3] > 580, "\(counts)")
  }

  @Test("PWR-1: with the last demand gone the receiver is put to sleep at once")
  func last() {
    let bench = Self.bench(clients: 2)
    #expect(!bench.isReceiverAwake)
    bench.clients[0].ask(.setDesiredAccuracy(100))
    bench.clients[0].start()
    bench.run(2)
    #expect(bench.isReceiverAwake)
    bench.clients[1].start()
    bench.run(20)
    #expect(bench.isReceiverAwake && bench.clients[1].fixes.count > 10)
    bench.clients[1].stop()
    bench.run(60)
    #expect(!bench.isReceiverAwake, "who is promised 100 m and stands needs no fix each second")
    bench.clients[0].stop()
    bench.run(3_600)
    #expect(bench.receiver == .standby)
    #expect(bench.violations.isEmpty)
  }

  @Test("PWR-7, STD-10: a search without sky ends, is tried again, and is told once")
  func noSky() {
    let bench = Self.bench { board, _ in
      board.faults.signalOutages = [Instant(seconds: 5)..<Instant(seconds: 4_000)]
    }
    bench.client.ask(.setDesiredAccuracy(100))
    bench.run(10)
    bench.client.start()
    bench.run(3_000)
    #expect(bench.client.failures == [.locationUnknown])
    #expect(Self.awake(bench) < 1_200, "it does not search all the time")
    #expect(bench.client.fixes.isEmpty)
    bench.run(3_000)
    #expect(!bench.client.fixes.isEmpty, "and finds it when there is a sky")
  }

  @Test("SLC-10: for significant change alone the receiver never tracks on")
  func significantChange() {
    let bench = Self.bench(speed: 5)
    bench.client.ask(.startSignificantChange)
    bench.run(7_200)
    let reports = bench.client.reports
    #expect(reports.count >= 20 && reports.count <= 25, "SLC-3: \(reports.count) in two hours")
    for (a, b) in zip(reports.dropFirst(), reports.dropFirst(2)) {
      #expect(a.fix.coordinate.localDistance(to: b.fix.coordinate) >= 500)
      #expect(b.fix.acquired - a.fix.acquired >= .seconds(295))
    }
    #expect(Self.awake(bench) < 1_200)
    bench.client.ask(.stopSignificantChange)
    bench.run(10)
    #expect(!bench.isReceiverAwake)
  }

  @Test("VIS-5: who rests is visiting; the receiver sleeps nearly all the time")
  func visits() {
    let bench = Self.bench()
    bench.client.ask(.startVisits)
    bench.run(7_200)
    let visits = bench.client.story.compactMap { if case .visit(let v) = $0 { v } else { nil } }
    #expect(visits.count == 1 && visits.first?.departure == nil)
    #expect(Self.awake(bench) < 300)
  }

  @Test("REG-4: leaving a region is told within a minute of its 20 s, though the receiver sleeps")
  func region() {
    let bench = Self.bench(speed: 2)
    let region = Region(RegionIdentifier(.region, 1), center: Scenario.home, radius: 500)
    bench.client.ask(.addRegion(region, assuming: .unknown))
    bench.run(1_200)
    let exits = bench.client.story.compactMap { told -> Instant? in
      if case .region(.exited(_, let at)) = told { at } else { nil }
    }
    #expect(exits.count == 1)
    // 500 m at 2 m/s; the margin is 10 m.
    #expect(exits.allSatisfy { $0 > Instant(seconds: 250) && $0 < Instant(seconds: 340) })
    #expect(Self.awake(bench) < 700)
  }

  @Test("a still motion line lets the receiver sleep on; its edge wakes board and receiver")
  func motionLine() {
    func run(_ motion: [Range<Instant>]?) -> Double {
      let bench = Self.bench { board, setup in
        board.motionPeriods = motion
        setup.parameters.hasMotionLine = motion != nil
      }
      bench.client.ask(.setDesiredAccuracy(100))
      bench.client.start()
      bench.run(7_200)
      #expect(bench.violations.isEmpty)
      return Self.awake(bench)
    }
    let without = run(nil)
    let still = run([])
    let busy = run([Instant(seconds: 60)..<Instant(seconds: 7_300)])
    #expect(still < without && still < busy, "\(still) \(without) \(busy)")
  }

  @Test("PAU-1, PAU-4: a pause puts the receiver to sleep, a sentinel looks now and then")
  func pause() {
    let bench = Self.bench()
    bench.client.ask(.setPausesAutomatically(true))
    bench.client.start()
    bench.run(700)
    #expect(bench.client.story.last == .paused)
    let before = Self.awake(bench)
    bench.run(3_600)
    #expect(!bench.client.story.contains(.resumed))
    #expect(Self.awake(bench) - before < 400, "\(Self.awake(bench) - before) s of looks")
  }

  @Test("PAU-9: after a resume the first fix is as good as before, within the hot start's time")
  func afterPause() throws {
    let bench = Self.bench { board, setup in
      board.motionPeriods = []
      setup.parameters.hasMotionLine = true
    }
    bench.client.ask(.setPausesAutomatically(true))
    bench.client.start()
    bench.run(1_990)
    #expect(bench.client.story.contains(.paused))
    let before = try #require(bench.client.fixes.last?.fix.horizontalAccuracy_mm)
    let count = bench.client.fixes.count
    bench.client.start()
    bench.run(10)
    #expect(bench.client.story.contains(.resumed))
    let first = try #require(bench.client.fixes.dropFirst(count).first)
    #expect(first.fix.acquired <= bench.now - .seconds(5))
    #expect((first.fix.horizontalAccuracy_mm ?? .max) <= before * 2)
  }

  @Test("STD-11: one request, one fix, and the receiver sleeps again")
  func request() {
    let bench = Self.bench()
    bench.client.ask(.setDesiredAccuracy(100))
    bench.client.ask(.requestLocation)
    bench.run(60)
    #expect(bench.client.reports.count == 1 && bench.client.failures.isEmpty)
    #expect(!bench.isReceiverAwake)
  }
}

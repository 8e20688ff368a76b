import LocationPolicy
import LocationTypes
import SimulatedHAL
import Testing

@testable import LocationEngine

/// A client with an accuracy bound, or a service that needs occasional fixes, on a simulated board.
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

  /// Time for which the receiver was awake, in seconds.
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

  @Test("with an accuracy of 100 m, the receiver sleeps between fixes, and each fix is delivered")
  func within() {
    let bench = Self.bench(speed: 2)
    bench.client.request(.setDesiredAccuracy(100))
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

  @Test("a finer desired accuracy gives more fixes; Best gives every fix")
  func finer() {
    var counts: [Int] = []
    for accuracy in [500.0, 100, 50, 10, LocationAccuracy.best] {
      let bench = Self.bench(speed: 3)
      bench.client.request(.setDesiredAccuracy(accuracy))
      bench.client.start()
      bench.run(600)
      counts.append(bench.client.fixes.count)
    }
    #expect(counts[0] < counts[1] && counts[1] < counts[2] && counts[2] < counts[3])
    #expect(counts[4] > 580 && counts[3] > 580, "\(counts)")
  }

  @Test("PWR-1: when the last demand ends, the receiver sleeps immediately")
  func last() {
    let bench = Self.bench(clients: 2)
    #expect(!bench.isReceiverAwake)
    bench.clients[0].request(.setDesiredAccuracy(100))
    bench.clients[0].start()
    bench.run(2)
    #expect(bench.isReceiverAwake)
    bench.clients[1].start()
    bench.run(20)
    #expect(bench.isReceiverAwake && bench.clients[1].fixes.count > 10)
    bench.clients[1].stop()
    bench.run(60)
    #expect(!bench.isReceiverAwake, "100 m and stationary: fixes are not needed each second")
    bench.clients[0].stop()
    bench.run(3_600)
    #expect(bench.receiver == .standby)
    #expect(bench.violations.isEmpty)
  }

  @Test("PWR-7, STD-10: an acquisition without signal ends, is retried, and is reported once")
  func noSignal() {
    let bench = Self.bench { board, _ in
      board.faults.signalOutages = [Instant(seconds: 5)..<Instant(seconds: 4_000)]
    }
    bench.client.request(.setDesiredAccuracy(100))
    bench.run(10)
    bench.client.start()
    bench.run(3_000)
    #expect(bench.client.failures == [.locationUnknown])
    #expect(Self.awake(bench) < 1_200, "it does not acquire continuously")
    #expect(bench.client.fixes.isEmpty)
    bench.run(3_000)
    #expect(!bench.client.fixes.isEmpty, "the retry succeeds when the signal is back")
  }

  @Test("SLC-10: the receiver is not kept tracking for significant change alone")
  func significantChange() {
    let bench = Self.bench(speed: 5)
    bench.client.request(.startSignificantChange)
    bench.run(7_200)
    let reports = bench.client.reports
    #expect(reports.count >= 20 && reports.count <= 25, "SLC-3: \(reports.count) in two hours")
    for (a, b) in zip(reports.dropFirst(), reports.dropFirst(2)) {
      #expect(a.fix.coordinate.localDistance(to: b.fix.coordinate) >= 500)
      #expect(b.fix.acquired - a.fix.acquired >= .seconds(295))
    }
    #expect(Self.awake(bench) < 1_200)
    bench.client.request(.stopSignificantChange)
    bench.run(10)
    #expect(!bench.isReceiverAwake)
  }

  @Test("VIS-5: a stationary device is visiting; the receiver sleeps most of the time")
  func visits() {
    let bench = Self.bench()
    bench.client.request(.startVisits)
    bench.run(7_200)
    let visits = bench.client.notices.compactMap { if case .visit(let v) = $0 { v } else { nil } }
    #expect(visits.count == 1 && visits.first?.departure == nil)
    #expect(Self.awake(bench) < 300)
  }

  @Test("REG-4: an exit is reported within a minute after the 20 s, although the receiver sleeps")
  func region() {
    let bench = Self.bench(speed: 2)
    let region = Region(RegionIdentifier(.region, 1), center: Scenario.home, radius: 500)
    bench.client.request(.addRegion(region, assuming: .unknown))
    bench.run(1_200)
    let exits = bench.client.notices.compactMap { notice -> Instant? in
      if case .region(.exited(_, let at)) = notice { at } else { nil }
    }
    #expect(exits.count == 1)
    // 500 m at 2 m/s; the margin is 10 m.
    #expect(exits.allSatisfy { $0 > Instant(seconds: 250) && $0 < Instant(seconds: 340) })
    #expect(Self.awake(bench) < 700)
  }

  @Test("without motion on the line the receiver stays asleep; an edge wakes board and receiver")
  func motionLine() {
    func run(_ motion: [Range<Instant>]?) -> Double {
      let bench = Self.bench { board, setup in
        board.motionPeriods = motion
        setup.parameters.hasMotionLine = motion != nil
      }
      bench.client.request(.setDesiredAccuracy(100))
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

  @Test("PAU-1, PAU-4: in a pause the receiver sleeps, except for check fixes")
  func pause() {
    let bench = Self.bench()
    bench.client.request(.setPausesAutomatically(true))
    bench.client.start()
    bench.run(700)
    #expect(bench.client.notices.last == .paused)
    let before = Self.awake(bench)
    bench.run(3_600)
    #expect(!bench.client.notices.contains(.resumed))
    #expect(Self.awake(bench) - before < 400, "\(Self.awake(bench) - before) s of check fixes")
  }

  @Test("PAU-9: the first fix after a resume is as accurate as before, within the hot-start time")
  func afterPause() throws {
    let bench = Self.bench { board, setup in
      board.motionPeriods = []
      setup.parameters.hasMotionLine = true
    }
    bench.client.request(.setPausesAutomatically(true))
    bench.client.start()
    bench.run(1_990)
    #expect(bench.client.notices.contains(.paused))
    let before = try #require(bench.client.fixes.last?.fix.horizontalAccuracy_mm)
    let count = bench.client.fixes.count
    bench.client.start()
    bench.run(10)
    #expect(bench.client.notices.contains(.resumed))
    let first = try #require(bench.client.fixes.dropFirst(count).first)
    #expect(first.fix.acquired <= bench.now - .seconds(5))
    #expect((first.fix.horizontalAccuracy_mm ?? .max) <= before * 2)
  }

  @Test("STD-11: one request gives one fix, and the receiver sleeps again")
  func request() {
    let bench = Self.bench()
    bench.client.request(.setDesiredAccuracy(100))
    bench.client.request(.requestLocation)
    bench.run(60)
    #expect(bench.client.reports.count == 1 && bench.client.failures.isEmpty)
    #expect(!bench.isReceiverAwake)
  }
}

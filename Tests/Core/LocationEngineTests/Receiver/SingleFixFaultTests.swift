import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import SimulatedHAL
import Testing

@testable import LocationEngine

/// Faults while services need occasional fixes.
@Suite("Faults during single fixes")
struct SingleFixFaultTests {
  @Test("PWR-1: without signal, an acquisition beside a client of every fix causes no extra wakes")
  func beside() {
    let bench = BoardBench(clients: 2) { board, _ in
      board.faults.signalOutages = [Instant(seconds: 5)..<Instant(seconds: 4_000)]
    }
    bench.clients[0].request(.startSignificantChange)
    bench.run(10)
    let before = bench.turns
    bench.run(1_200)
    #expect(bench.turns - before < 1_200 * 8, "\(bench.turns - before) turns")
  }

  /// A connected client without requests; the test sends the receiver's messages.
  static func idle(_ change: (inout EngineSetup) -> Void = { _ in }) -> EngineBench {
    let bench = EngineBench(connects: false, change)
    bench.client.connect()
    return bench
  }

  @Test("STD-11, PWR-7: a held first fix is delivered when no better one follows")
  func held() {
    let bench = Self.idle()
    bench.accuracy_mm = 80_000
    bench.client.request(.setDesiredAccuracy(10))
    bench.client.request(.requestLocation)
    bench.fixes(count: 1)
    #expect(bench.appended.isEmpty && bench.client.notices.isEmpty, "the fix is held")
    bench.run(11)
    #expect(bench.appended.count == 1)
    bench.run(20)
    #expect(bench.client.reports.map(\.fix.horizontalAccuracy_mm) == [80_000])
    #expect(bench.client.failures.isEmpty)
  }

  @Test("STD-11, PWR-7: a fix is not held beyond the timeout of a request")
  func heldToTheEnd() {
    let bench = Self.idle()
    bench.accuracy_mm = 80_000
    bench.client.request(.setDesiredAccuracy(10))
    bench.client.request(.requestLocation)
    bench.run(28)
    bench.fixes(count: 1)
    bench.run(5)
    #expect(bench.client.reports.count == 1 && bench.client.failures.isEmpty)
  }

  @Test("STD-11, PWR-7: at the timeout of a request, the held fix is the result")
  func heldWhileItEnds() {
    let bench = Self.idle()
    bench.accuracy_mm = 80_000
    bench.client.request(.setDesiredAccuracy(10))
    bench.client.request(.requestLocation)
    bench.run(24)
    bench.fixes(count: 1)
    bench.run(10)
    #expect(bench.client.reports.count == 1 && bench.client.failures.isEmpty)
  }

  @Test("PWR-7: a held fix is delivered instead of a less accurate one")
  func heldIsBetter() {
    let bench = Self.idle()
    bench.client.request(.startSignificantChange)
    bench.accuracy_mm = 150_000
    bench.fixes(count: 1)
    bench.accuracy_mm = 300_000
    bench.fixes(count: 1)
    #expect(bench.client.reports.map(\.fix.horizontalAccuracy_mm) == [150_000])
  }

  @Test("STD-3: a client that starts beside a dormant client receives a first fix")
  func startsBesideDormantClient() {
    let bench = SingleFixTests.bench(clients: 2)
    bench.clients[0].request(.setDesiredAccuracy(100))
    bench.clients[0].start()
    bench.run(900)
    #expect(!bench.isReceiverAwake)
    for accuracy in [100.0, 1_000] {
      bench.clients[1].clearRecords()
      bench.clients[1].request(.setDesiredAccuracy(accuracy))
      bench.clients[1].start()
      bench.run(20)
      #expect(!bench.clients[1].fixes.isEmpty, "\(accuracy) m")
      bench.clients[1].stop()
      bench.run(60)
    }
  }

  @Test("a finer desired accuracy applies from its request on")
  func finer() {
    let bench = SingleFixTests.bench()
    bench.client.request(.setDesiredAccuracy(3_000))
    bench.client.start()
    bench.run(900)
    let count = bench.client.fixes.count
    #expect(!bench.isReceiverAwake)
    bench.client.request(.setDesiredAccuracy(100))
    bench.run(20)
    #expect(bench.client.fixes.count > count)
  }

  @Test("PWR-7: without signal, acquisitions for a service beside a deferral back off")
  func besideDeferralWithoutSignal() {
    let bench = BoardBench(clients: 2) { board, _ in
      board.faults.signalOutages = [Instant(seconds: 60)..<Instant(seconds: 9_000)]
    }
    bench.run(10)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.clients[1].stop()
    bench.clients[1].request(.startSignificantChange)
    bench.run(1_000)
    bench.clearRecords()
    bench.run(6_000)
    #expect(bench.hostWakes < 100, "\(bench.hostWakes) wakes")
  }

  @Test("a held fix is delivered immediately to a new client of every fix")
  func heldForAnother() {
    let bench = EngineBench(clients: 2, connects: false)
    for client in bench.clients { client.connect() }
    bench.accuracy_mm = 200_000
    bench.clients[0].request(.startSignificantChange)
    bench.fixes(count: 1)
    #expect(bench.appended.isEmpty)
    bench.clients[1].start()
    #expect(bench.appended.count == 1)
    #expect(bench.clients[1].fixes.count == 1 && bench.clients[0].reports.count == 1)
  }

  @Test("RNG-2, SLC-5: the cached fix is the newest stored one, not a held one")
  func cached() throws {
    let bench = EngineBench(clients: 2, connects: false)
    for client in bench.clients { client.connect() }
    bench.clients[0].request(.requestLocation)
    bench.fixes(count: 1)
    let first = try #require(bench.clients[0].reports.first)
    bench.run(20)
    bench.accuracy_mm = 80_000
    bench.clients[0].request(.requestLocation)
    bench.fixes(count: 1, east: 100)
    #expect(bench.clients[0].reports.count == 1 && bench.appended.count == 1)
    bench.clients[1].request(.startSignificantChange)
    #expect(bench.clients[1].reports == [first])
  }

  @Test("STD-11: a request beside an engaged deferral is answered from the receiver's buffer")
  func besideDeferral() {
    let bench = BoardBench.deferring(clients: 2)
    bench.clients[1].stop()
    bench.run(10)
    #expect(bench.holdsFixes && bench.state == .engaged)
    bench.clients[1].clearRecords()
    bench.clients[1].request(.setDesiredAccuracy(100))
    bench.clients[1].request(.requestLocation)
    bench.run(5)
    #expect(bench.clients[1].reports.count == 1)
    #expect(bench.clients[1].reports.allSatisfy { $0.fix.acquired >= bench.now - .seconds(6) })
    #expect(bench.state == .engaged && bench.client.finishes.isEmpty)
    let drains = bench.appended.count
    bench.run(60)
    #expect(bench.appended.count == drains, "without a request no more checks are performed")
  }

  @Test("SLC-3: significant change is reported beside an engaged deferral as without it")
  func significantBesideDeferral() {
    let bench = BoardBench.deferring(limit: 3_000, clients: 2, speed: 10)
    bench.clients[1].stop()
    bench.clients[1].request(.startSignificantChange)
    bench.run(1_900)
    let reports = bench.clients[1].reports
    #expect(reports.count >= 6, "\(reports.count) in half an hour at 10 m/s")
    #expect(bench.client.finishes.isEmpty)
  }

  @Test("PWR-7: after failed acquisitions, a request or the start of motion shortens the back-off")
  func newReason() {
    for byMotion in [false, true] {
      let bench = SingleFixTests.bench { board, setup in
        board.faults.signalOutages = [Instant(seconds: 5)..<Instant(seconds: 4_000)]
        board.motionPeriods = byMotion ? [Instant(seconds: 4_010)..<Instant(seconds: 4_100)] : nil
        setup.parameters.hasMotionLine = byMotion
        board.board.suspended?.wakeSources.insert(.motion)
      }
      bench.client.request(.setDesiredAccuracy(100))
      bench.client.start()
      bench.run(4_006)
      #expect(bench.client.fixes.isEmpty && !bench.isReceiverAwake)
      if !byMotion { bench.client.request(.startSignificantChange) }
      // The last acquisition ended less than 225 s ago; the full back-off would be 1,800 s.
      bench.run(240)
      #expect(!bench.client.fixes.isEmpty, "by motion: \(byMotion)")
    }
  }

  @Test("PWR-7, AUT-3: a request of a denied client does not shorten the back-off")
  func deniedReason() {
    let bench = SingleFixTests.bench(clients: 2) { board, _ in
      board.faults.signalOutages = [Instant(seconds: 5)..<Instant(seconds: 4_000)]
    }
    bench.clients[1].request(.setAuthorization(.denied))
    bench.client.request(.setDesiredAccuracy(100))
    bench.client.start()
    bench.run(4_006)
    #expect(bench.client.fixes.isEmpty && !bench.isReceiverAwake)
    bench.clients[1].request(.startSignificantChange)
    bench.run(240)
    #expect(bench.client.fixes.isEmpty && !bench.isReceiverAwake)
  }

  @Test("LIV-7: live updates report when the location is unavailable and available again")
  func liveWithoutSignal() {
    let bench = Self.idle()
    bench.client.request(.openLive(.default))
    bench.fixes(count: 3)
    bench.run(120)
    func flags() -> [LiveFlags] {
      bench.client.notices.compactMap {
        if case .live(let element) = $0 { element.flags } else { nil }
      }
    }
    #expect(flags().filter { $0 == .locationUnavailable }.count == 1)
    #expect(flags().last == .locationUnavailable && bench.client.failures.isEmpty)
    bench.fixes(count: 1)
    #expect(flags().last == .empty)
  }

  @Test("AUT-3: a client of a service without updates receives its denial once")
  func deniedService() {
    for request: Request in [
      .startSignificantChange, .startVisits,
      .addRegion(
        Region(RegionIdentifier(.region, 1), center: EngineBench.home, radius: 100),
        assuming: .unknown),
    ] {
      let bench = Self.idle()
      bench.client.request(request)
      bench.client.clearRecords()
      bench.client.request(.setAuthorization(.denied))
      #expect(bench.client.failures == [.denied])
    }
  }

  @Test("a motion line that cannot wake the board from suspend is not used")
  func motionLineWithoutWake() {
    func awake(_ wakesOnMotion: Bool) -> (receiver: Double, suspends: Int) {
      let bench = SingleFixTests.bench { board, setup in
        board.motionPeriods = []
        setup.parameters.hasMotionLine = true
        setup.parameters.deep?.wakesOnMotion = wakesOnMotion
        if wakesOnMotion { board.board.suspended?.wakeSources.insert(.motion) }
      }
      bench.client.request(.setDesiredAccuracy(100))
      bench.client.start()
      bench.run(3_600)
      let suspends = bench.events.count {
        if case .board(.suspended, _) = $0.event { true } else { false }
      }
      return (SingleFixTests.awake(bench), suspends)
    }
    let waking = awake(true)
    let other = awake(false)
    #expect(other.receiver > waking.receiver)
    #expect(other.suspends > 1 && waking.suspends > 0)
  }
}

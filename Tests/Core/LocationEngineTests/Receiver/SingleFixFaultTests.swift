import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import SimulatedHAL
import Testing

@testable import LocationEngine

/// What could go wrong where a service needs a fix now and then.
@Suite("Single fixes, and what disturbs them")
struct SingleFixFaultTests {
  @Test("PWR-1: without sky a search beside a client that wants every fix wakes nobody for nothing")
  func beside() {
    let bench = BoardBench(clients: 2) { board, _ in
      board.faults.signalOutages = [Instant(seconds: 5)..<Instant(seconds: 4_000)]
    }
    bench.clients[0].ask(.startSignificantChange)
    bench.run(10)
    let before = bench.turns
    bench.run(1_200)
    #expect(bench.turns - before < 1_200 * 8, "\(bench.turns - before) turns")
  }

  /// A client that wants nothing yet, of a receiver that is fed by hand.
  static func quiet(_ change: (inout EngineSetup) -> Void = { _ in }) -> EngineBench {
    let bench = EngineBench(connects: false, change)
    bench.client.connect()
    return bench
  }

  @Test("STD-11, PWR-7: a first fix that was held back is told when no better one comes")
  func held() {
    let bench = Self.quiet()
    bench.accuracy_mm = 80_000
    bench.client.ask(.setDesiredAccuracy(10))
    bench.client.ask(.requestLocation)
    bench.fixes(count: 1)
    #expect(bench.appended.isEmpty && bench.client.story.isEmpty, "it is held")
    bench.run(11)
    #expect(bench.appended.count == 1)
    bench.run(20)
    #expect(bench.client.reports.map(\.fix.horizontalAccuracy_mm) == [80_000])
    #expect(bench.client.failures.isEmpty)
  }

  @Test("STD-11, PWR-7: nothing is held back beyond the time of a request")
  func heldToTheEnd() {
    let bench = Self.quiet()
    bench.accuracy_mm = 80_000
    bench.client.ask(.setDesiredAccuracy(10))
    bench.client.ask(.requestLocation)
    bench.run(28)
    bench.fixes(count: 1)
    bench.run(5)
    #expect(bench.client.reports.count == 1 && bench.client.failures.isEmpty)
  }

  @Test("STD-11, PWR-7: a held fix is the answer of a request whose time is over")
  func heldWhileItEnds() {
    let bench = Self.quiet()
    bench.accuracy_mm = 80_000
    bench.client.ask(.setDesiredAccuracy(10))
    bench.client.ask(.requestLocation)
    bench.run(24)
    bench.fixes(count: 1)
    bench.run(10)
    #expect(bench.client.reports.count == 1 && bench.client.failures.isEmpty)
  }

  @Test("PWR-7: a fix that was held is told instead of a worse one")
  func heldIsBetter() {
    let bench = Self.quiet()
    bench.client.ask(.startSignificantChange)
    bench.accuracy_mm = 150_000
    bench.fixes(count: 1)
    bench.accuracy_mm = 300_000
    bench.fixes(count: 1)
    #expect(bench.client.reports.map(\.fix.horizontalAccuracy_mm) == [150_000])
  }

  @Test("STD-3: who starts beside a client that rests is told a first fix all the same")
  func startsBesideOneThatRests() {
    let bench = SingleFixTests.bench(clients: 2)
    bench.clients[0].ask(.setDesiredAccuracy(100))
    bench.clients[0].start()
    bench.run(900)
    #expect(!bench.isReceiverAwake)
    for accuracy in [100.0, 1_000] {
      bench.clients[1].forget()
      bench.clients[1].ask(.setDesiredAccuracy(accuracy))
      bench.clients[1].start()
      bench.run(20)
      #expect(!bench.clients[1].fixes.isEmpty, "\(accuracy) m")
      bench.clients[1].stop()
      bench.run(60)
    }
  }

  @Test("a finer distance than before is kept from its moment on")
  func finer() {
    let bench = SingleFixTests.bench()
    bench.client.ask(.setDesiredAccuracy(3_000))
    bench.client.start()
    bench.run(900)
    let count = bench.client.fixes.count
    #expect(!bench.isReceiverAwake)
    bench.client.ask(.setDesiredAccuracy(100))
    bench.run(20)
    #expect(bench.client.fixes.count > count)
  }

  @Test("PWR-7: without sky a service beside a deferral is looked for ever more seldom")
  func besideDeferralWithoutSky() {
    let bench = BoardBench(clients: 2) { board, _ in
      board.faults.signalOutages = [Instant(seconds: 60)..<Instant(seconds: 9_000)]
    }
    bench.run(10)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.clients[1].stop()
    bench.clients[1].ask(.startSignificantChange)
    bench.run(1_000)
    bench.forget()
    bench.run(6_000)
    #expect(bench.hostWakes < 100, "\(bench.hostWakes) wakes")
  }

  @Test("a fix that is held back is told at once to who comes and wants every fix")
  func heldForAnother() {
    let bench = EngineBench(clients: 2, connects: false)
    for client in bench.clients { client.connect() }
    bench.accuracy_mm = 200_000
    bench.clients[0].ask(.startSignificantChange)
    bench.fixes(count: 1)
    #expect(bench.appended.isEmpty)
    bench.clients[1].start()
    #expect(bench.appended.count == 1)
    #expect(bench.clients[1].fixes.count == 1 && bench.clients[0].reports.count == 1)
  }

  @Test("RNG-2, SLC-5: a cached fix is the newest that was kept, not one that is held back")
  func cached() throws {
    let bench = EngineBench(clients: 2, connects: false)
    for client in bench.clients { client.connect() }
    bench.clients[0].ask(.requestLocation)
    bench.fixes(count: 1)
    let first = try #require(bench.clients[0].reports.first)
    bench.run(20)
    bench.accuracy_mm = 80_000
    bench.clients[0].ask(.requestLocation)
    bench.fixes(count: 1, east: 100)
    #expect(bench.clients[0].reports.count == 1 && bench.appended.count == 1)
    bench.clients[1].ask(.startSignificantChange)
    #expect(bench.clients[1].reports == [first])
  }

  @Test("STD-11: a request beside an engaged deferral is answered out of the receiver's buffer")
  func besideDeferral() {
    let bench = BoardBench.deferring(clients: 2)
    bench.clients[1].stop()
    bench.run(10)
    #expect(bench.holdsFixes && bench.state == .engaged)
    bench.clients[1].forget()
    bench.clients[1].ask(.setDesiredAccuracy(100))
    bench.clients[1].ask(.requestLocation)
    bench.run(5)
    #expect(bench.clients[1].reports.count == 1)
    #expect(bench.clients[1].reports.allSatisfy { $0.fix.acquired >= bench.now - .seconds(6) })
    #expect(bench.state == .engaged && bench.client.finishes.isEmpty)
    let drains = bench.appended.count
    bench.run(60)
    #expect(bench.appended.count == drains, "with the need the looks end")
  }

  @Test("SLC-3: significant change beside an engaged deferral is told as without it")
  func significantBesideDeferral() {
    let bench = BoardBench.deferring(limit: 3_000, clients: 2, speed: 10)
    bench.clients[1].stop()
    bench.clients[1].ask(.startSignificantChange)
    bench.run(1_900)
    let reports = bench.clients[1].reports
    #expect(reports.count >= 6, "\(reports.count) in half an hour at 10 m/s")
    #expect(bench.client.finishes.isEmpty)
  }

  @Test("PWR-7: a request after searches in vain is tried soon, and so is what begins to move")
  func newReason() {
    for byMotion in [false, true] {
      let bench = SingleFixTests.bench { board, setup in
        board.faults.signalOutages = [Instant(seconds: 5)..<Instant(seconds: 4_000)]
        board.motionPeriods = byMotion ? [Instant(seconds: 4_010)..<Instant(seconds: 4_100)] : nil
        setup.parameters.hasMotionLine = byMotion
        board.board.suspended?.wakeSources.insert(.motion)
      }
      bench.client.ask(.setDesiredAccuracy(100))
      bench.client.start()
      bench.run(4_006)
      #expect(bench.client.fixes.isEmpty && !bench.isReceiverAwake)
      if !byMotion { bench.client.ask(.startSignificantChange) }
      // It gave up less than 225 s ago, and would rest for 1,800.
      bench.run(240)
      #expect(!bench.client.fixes.isEmpty, "by motion: \(byMotion)")
    }
  }

  @Test("LIV-7: live updates alone are told when there is no location, and when there is again")
  func liveWithoutSky() {
    let bench = Self.quiet()
    bench.client.ask(.openLive(.default))
    bench.fixes(count: 3)
    bench.run(120)
    func flags() -> [LiveFlags] {
      bench.client.story.compactMap {
        if case .live(let element) = $0 { element.flags } else { nil }
      }
    }
    #expect(flags().filter { $0 == .locationUnavailable }.count == 1)
    #expect(flags().last == .locationUnavailable && bench.client.failures.isEmpty)
    bench.fixes(count: 1)
    #expect(flags().last == .empty)
  }

  @Test("AUT-3: who only uses a service is told of its denial too, once")
  func deniedService() {
    for request: Request in [
      .startSignificantChange, .startVisits,
      .addRegion(
        Region(RegionIdentifier(.region, 1), center: EngineBench.home, radius: 100),
        assuming: .unknown),
    ] {
      let bench = Self.quiet()
      bench.client.ask(request)
      bench.client.forget()
      bench.client.ask(.setAuthorization(.denied))
      #expect(bench.client.failures == [.denied])
    }
  }

  @Test("a motion line that the board's suspend does not hear is not made use of")
  func unheardLine() {
    func awake(_ hears: Bool) -> (receiver: Double, suspends: Int) {
      let bench = SingleFixTests.bench { board, setup in
        board.motionPeriods = []
        setup.parameters.hasMotionLine = true
        setup.parameters.deep?.wakesOnMotion = hears
        if hears { board.board.suspended?.wakeSources.insert(.motion) }
      }
      bench.client.ask(.setDesiredAccuracy(100))
      bench.client.start()
      bench.run(3_600)
      let suspends = bench.events.count {
        if case .board(.suspended, _) = $0.event { true } else { false }
      }
      return (SingleFixTests.awake(bench), suspends)
    }
    let heard = awake(true)
    let unheard = awake(false)
    #expect(unheard.receiver > heard.receiver)
    #expect(unheard.suspends > 1 && heard.suspends > 0)
  }
}

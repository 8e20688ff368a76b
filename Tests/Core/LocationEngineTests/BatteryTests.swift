import LocationEngine
import LocationPolicy
import LocationTypes
import SimulatedHAL
import Testing

/// Promises that go at 40, 35 … 15 percent.
private func lowBattery(_ setup: inout EngineSetup) {
  setup.battery.everyFix = 40
  setup.battery.accuracy = 35
  setup.battery.updates = 30
  setup.battery.visits = 25
  setup.battery.regions = 20
  setup.battery.significantChange = 15
}

private func set(_ promises: ServiceLevel...) -> ServiceLevelSet {
  var set = ServiceLevelSet.none
  for promise in promises { set.insert(promise) }
  return set
}

@Suite("PWR-10: a battery that runs low")
struct BatteryTests {
  @Test("PWR-10: the order of the profile, each change told once, and all back with the hysteresis")
  func timeline() {
    let bench = EngineBench(lowBattery)
    bench.background()
    bench.client.ask(.startVisits)
    bench.client.ask(.startSignificantChange)
    bench.fixes(count: 3)
    bench.client.forget()
    for charge in (10...100).reversed() {
      bench.battery(UInt8(charge))
      bench.battery(UInt8(charge))
    }
    for charge in 10...100 { bench.battery(UInt8(charge)) }
    let steps = [
      set(.everyFix), set(.everyFix, .accuracy), set(.everyFix, .accuracy, .updates),
      set(.everyFix, .accuracy, .updates, .visits),
      set(.everyFix, .accuracy, .updates, .visits, .significantChange),
    ]
    let told = steps + steps.dropLast().reversed() + [.none]
    #expect(bench.client.story == told.map { .degraded($0) })
    #expect(bench.engine.batteryCharge == 100 && bench.engine.shed == .none)
  }

  @Test("PWR-10: every client is told, each of its own alone, also one that comes later")
  func everyClient() {
    let bench = EngineBench(clients: 3, connects: false, lowBattery)
    for client in bench.clients.prefix(2) { client.connect() }
    bench.clients[0].start()
    bench.clients[1].ask(.startVisits)
    bench.battery(22)
    #expect(bench.clients[0].story == [.degraded(set(.everyFix, .accuracy, .updates))])
    #expect(bench.clients[1].story == [.degraded(set(.visits))])
    bench.clients[2].connect()
    #expect(bench.clients[2].story.isEmpty)
    bench.clients[2].ask(.startVisits)
    #expect(bench.clients[2].story == [.degraded(set(.visits))])
  }

  @Test("PWR-10, DEF-8: both deferrals of a step end once; a later charge ends none again")
  func deferrals() {
    let bench = EngineBench.deferring(clients: 2) { lowBattery(&$0) }
    bench.clients[1].defer(untilTraveled: .unlimited, timeout: .unlimited)
    for client in bench.clients { client.background() }
    bench.fixes(count: 5)
    for charge in [39, 34, 29, 10, 90] { bench.battery(UInt8(charge)) }
    for client in bench.clients {
      #expect(client.finishes == [.deferredAccuracyTooLow])
      let kinds = client.text.split(separator: " ").map { $0.prefix { $0 != "(" } }
      let end = kinds.firstIndex(of: "finish") ?? 0
      #expect(kinds[end + 1] == "batch" && kinds[end + 2] == "degraded", "\(client.text)")
    }
  }

  @Test("PWR-10: without a gauge, and with one but no promise to give up, nothing changes")
  func nothing() {
    let bench = EngineBench()
    bench.battery(0)
    bench.fixes(count: 2)
    #expect(bench.client.text == "batch(0...0) batch(1...1)" && bench.engine.batteryCharge == 0)
  }

  @Test("PWR-10: on a board each step of the charge saves energy, and all comes back with it")
  func bill() {
    // Ten minutes at each charge, moving; what that takes.
    let charges: [UInt8] = [100, 39, 34, 29, 24, 14, 100]
    let phase = 600.0
    let bench = BoardBench(speed: 1.5) { board, setup in
      lowBattery(&setup)
      board.faults.gaugeFaults = charges.enumerated().map { index, charge in
        .init(time: Instant(seconds: Double(index) * phase), charge: charge)
      }
    }
    bench.client.ask(.startVisits)
    bench.client.ask(.startSignificantChange)
    var bills: [Double] = [], fixes: [Int] = []
    for _ in charges {
      let before = (bench.used_mJ, bench.appended.count)
      bench.run(phase)
      bills.append(bench.used_mJ - before.0)
      fixes.append(bench.appended.count - before.1)
    }
    // Visits take nothing here that significant change does not take without them.
    for step in [1, 2, 3, 5] { #expect(bills[step] < bills[step - 1], "\(bills) \(fixes)") }
    #expect(bills[4] < bills[3] * 1.001)
    #expect(bills[5] < bills[0] / 10, "nobody gets anything")
    #expect(fixes[0] > 500 && fixes[5] == 0 && fixes[6] > 500 && bills[6] > bills[0] * 0.9)
    #expect(bench.violations.isEmpty && bench.givenUp == .none)
  }
}

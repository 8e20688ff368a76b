import LocationEngine
import LocationPolicy
import LocationTypes
import SimulatedHAL
import Testing

/// Service levels that are shed at 40, 35 … 15 percent.
private func lowBattery(_ setup: inout EngineSetup) {
  setup.battery.everyFix = 40
  setup.battery.accuracy = 35
  setup.battery.updates = 30
  setup.battery.visits = 25
  setup.battery.regions = 20
  setup.battery.significantChange = 15
}

private func set(_ levels: ServiceLevel...) -> ServiceLevelSet {
  var set = ServiceLevelSet.none
  for level in levels { set.insert(level) }
  return set
}

@Suite("PWR-10: a low battery")
struct BatteryTests {
  @Test("PWR-10: levels are shed in the profile's order, reported once, restored with hysteresis")
  func timeline() {
    let bench = EngineBench(lowBattery)
    bench.background()
    bench.client.request(.startVisits)
    bench.client.request(.startSignificantChange)
    bench.fixes(count: 3)
    bench.client.clearRecords()
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
    let expected = steps + steps.dropLast().reversed() + [.none]
    #expect(bench.client.notices == expected.map { .degraded($0) })
    #expect(bench.engine.batteryCharge == 100 && bench.engine.shed == .none)
  }

  @Test("PWR-10: each client, also a later one, is notified of its own shed levels only")
  func everyClient() {
    let bench = EngineBench(clients: 3, connects: false, lowBattery)
    for client in bench.clients.prefix(2) { client.connect() }
    bench.clients[0].start()
    bench.clients[1].request(.startVisits)
    bench.battery(22)
    #expect(bench.clients[0].notices == [.degraded(set(.everyFix, .accuracy, .updates))])
    #expect(bench.clients[1].notices == [.degraded(set(.visits))])
    bench.clients[2].connect()
    #expect(bench.clients[2].notices.isEmpty)
    bench.clients[2].request(.startVisits)
    #expect(bench.clients[2].notices == [.degraded(set(.visits))])
  }

  @Test("PWR-10, DEF-8: a shed level ends both deferrals once; later charges end none again")
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

  @Test("PWR-10: without configured thresholds, the charge has no effect")
  func noThresholds() {
    let bench = EngineBench()
    bench.battery(0)
    bench.fixes(count: 2)
    #expect(bench.client.text == "batch(0...0) batch(1...1)" && bench.engine.batteryCharge == 0)
  }

  @Test("PWR-10: on a board each shed level saves energy, and charging restores all levels")
  func energySaved() {
    // Ten minutes at each charge, moving; the energy and fixes of each phase.
    let charges: [UInt8] = [100, 39, 34, 29, 24, 14, 100]
    let phase = 600.0
    let bench = BoardBench(speed: 1.5) { board, setup in
      lowBattery(&setup)
      board.faults.gaugeFaults = charges.enumerated().map { index, charge in
        .init(time: Instant(seconds: Double(index) * phase), charge: charge)
      }
    }
    bench.client.request(.startVisits)
    bench.client.request(.startSignificantChange)
    var energy: [Double] = [], fixes: [Int] = []
    for _ in charges {
      let before = (bench.used_mJ, bench.appended.count)
      bench.run(phase)
      energy.append(bench.used_mJ - before.0)
      fixes.append(bench.appended.count - before.1)
    }
    // With significant change active, visits need no additional energy here, except that another phase may contain
    // one more start.
    let start_mJ = (energy[3] - energy[5]) / Double(fixes[3])
    for step in [1, 2, 3, 5] { #expect(energy[step] < energy[step - 1], "\(energy) \(fixes)") }
    #expect(energy[4] < energy[3] + start_mJ * 1.001, "\(energy) \(fixes)")
    #expect(energy[5] < energy[0] / 10, "no service is active")
    #expect(fixes[0] > 500 && fixes[5] == 0 && fixes[6] > 500 && energy[6] > energy[0] * 0.9)
    #expect(bench.violations.isEmpty && bench.shed == .none)
  }
}

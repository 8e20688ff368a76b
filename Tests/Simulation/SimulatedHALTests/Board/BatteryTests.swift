import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Battery of the simulated board")
struct SimulatedBatteryTests {
  /// A silent receiver; 600 mW awake, 375 mW idle.
  private func board(_ change: (inout SimulationSetup) -> Void) -> SimulatedBoard {
    SimulatedBoard(
      m10 {
        $0.receiver.hasSupplySwitch = true
        $0.recordsEvents = true
        change(&$0)
      }, track: straight())
  }

  @Test("PWR-10: the gauge is read at most once a minute; only a change is reported")
  func reading() {
    var gauge = GaugePollLimit()
    func accept(_ charge: UInt8?, _ time: Double) -> UInt8? {
      guard gauge.isDue(at: seconds(time)) else { return nil }
      return gauge.update(charge, at: seconds(time))
    }
    #expect(accept(80, 0) == 80, "the first wait reports it")
    #expect(accept(70, 59) == nil, "not due")
    #expect(accept(80, 60) == nil, "unchanged")
    #expect(accept(79, 119) == nil && accept(79, 120) == 79)
    #expect(accept(nil, 200) == nil && accept(79, 300) == nil && accept(80, 400) == 80)
  }

  @Test("PWR-10: the ledger's energy empties the battery, and its gauge never wakes the board")
  func empties() {
    // 375 mW for 100 s are 37.5 J, ten percent of 375 J.
    var board = board {
      $0.board.suspended = nil
      $0.receiver.power.backup_mw = 0
      $0.battery = SimulatedBattery(capacity_J: 375, charge: 50)
    }
    let first = board.wait(in: .awake, until: .boot).battery
    #expect(first == 50)
    for (end, charge) in [(100.0, UInt8(40)), (150, nil), (490, 1)] {
      let report = board.wait(in: .idle, until: seconds(end), wakesOnInput: true)
      #expect(report.battery == charge && report.reason == .alarm)
    }
    let isEmpty = board.isBatteryEmpty, wakes = board.ledger.hostWakes, now = board.now
    #expect(!isEmpty && wakes == 3 && now == seconds(490))
    var waits = 0
    while !board.isBatteryEmpty, waits < 3 {
      _ = board.wait(in: .idle, until: seconds(1_000), wakesOnInput: true)
      waits += 1
    }
    let end = board.now, isOver = board.isBatteryEmpty
    #expect(isOver && end >= seconds(500) && end < seconds(500.01), "the wait ends early")
    _ = board.wait(in: .idle, until: seconds(600), wakesOnInput: true)
    let later = board.now
    #expect(later == seconds(600), "waits continue if the caller ignores the empty battery")
    let whole = board.removeEvents()
    let charges = whole.compactMap {
      if case .battery(let charge) = $0.event { charge } else { nil }
    }
    #expect(charges == [50, 40, 1, 0])
    let events = whole.filter { $0.event == .batteryEmpty }
    #expect(events.map(\.time) == [end], "reported once, when it is detected")
  }

  @Test("the gauge rounds to whole percents: a run that starts at 30 % reports 30")
  func rounding() {
    let battery = SimulatedBattery(capacity_J: 1_800, charge: 30)
    #expect(battery.percent(after: 0) == 30 && battery.percent(after: 37) == 30)
    // 18,000 mJ are one percent.
    #expect(battery.percent(after: 8_999) == 30 && battery.percent(after: 9_001) == 29)
    #expect(battery.percent(after: 1e9) == 0)
    #expect(SimulatedBattery(capacity_J: 3, charge: 100).percent(after: 0) == 100)
    for charge in 1...100 {
      // Products like 0.29 × 100 are slightly below the integer.
      let battery = SimulatedBattery(capacity_J: 39_960.000001, charge: Double(charge))
      #expect(battery.percent(after: 1e-3) == charge)
    }
  }

  @Test("without a battery there is no gauge; a gauge fault simulates one and hides a battery")
  func faults() {
    var none = board { _ in }
    let missing = none.wait(in: .idle, until: seconds(100), wakesOnInput: true).battery
    #expect(missing == nil)
    let plan = [10.0, 200].map { FaultPlan.GaugeFault(time: seconds($0), charge: UInt8($0 / 10)) }
    for battery in [nil, SimulatedBattery(capacity_J: 1_000)] {
      var board = board {
        $0.faults.gaugeFaults = plan
        $0.battery = battery
      }
      for (end, charge) in [(1.0, battery.map { _ in UInt8(100) }), (100, 1), (300, 20)] {
        let report = board.wait(in: .idle, until: seconds(end), wakesOnInput: true)
        #expect(report.battery == charge)
      }
    }
  }
}

import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("The simulated board's battery")
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

  @Test("PWR-10: a gauge is read when the board is awake anyway, each minute at most, told once")
  func reading() {
    var gauge = GaugeReading()
    func take(_ charge: UInt8?, _ time: Double) -> UInt8? {
      guard gauge.isDue(at: seconds(time)) else { return nil }
      return gauge.update(charge, at: seconds(time))
    }
    #expect(take(80, 0) == 80, "the first wait tells it")
    #expect(take(70, 59) == nil, "not due")
    #expect(take(80, 60) == nil, "no news")
    #expect(take(79, 119) == nil && take(79, 120) == 79)
    #expect(take(nil, 200) == nil && take(79, 300) == nil && take(80, 400) == 80)
  }

  @Test("PWR-10: what the ledger counts is taken out of it, and its gauge wakes nobody")
  func empties() {
    // 375 mW for 100 s are 37.5 J of 375: ten percent.
    var board = board {
      $0.board.suspended = nil
      $0.receiver.power.backup = 0
      $0.battery = SimulatedBattery(capacity_J: 375, charge: 50)
    }
    let first = board.wait(in: .awake, until: .boot).battery
    #expect(first == 50)
    for (end, charge) in [(100.0, UInt8(40)), (150, nil), (490, 1)] {
      let waking = board.wait(in: .idle, until: seconds(end), wakesOnInput: true)
      #expect(waking.battery == charge && waking.reason == .alarm)
    }
    let isEmpty = board.isBatteryEmpty, wakes = board.ledger.hostWakes, now = board.now
    #expect(!isEmpty && wakes == 3 && now == seconds(490))
    var waits = 0
    while !board.isBatteryEmpty, waits < 3 {
      _ = board.wait(in: .idle, until: seconds(1_000), wakesOnInput: true)
      waits += 1
    }
    let end = board.now, isOver = board.isBatteryEmpty
    #expect(isOver && end >= seconds(500) && end < seconds(500.01), "the wait ends there")
    _ = board.wait(in: .idle, until: seconds(600), wakesOnInput: true)
    let later = board.now
    #expect(later == seconds(600), "who does not look goes on")
    let whole = board.removeEvents()
    let told = whole.compactMap {
      if case .battery(let charge) = $0.event { charge } else { nil }
    }
    #expect(told == [50, 40, 1, 0])
    let events = whole.filter { $0.event == .batteryEmpty }
    #expect(events.map(\.time) == [end], "told once, when it is found out")
  }

  @Test("a gauge tells whole percents to the nearest: a run that begins at 30 % says 30")
  func rounding() {
    let battery = SimulatedBattery(capacity_J: 1_800, charge: 30)
    #expect(battery.percent(after: 0) == 30 && battery.percent(after: 37) == 30)
    // 18,000 mJ are a percent.
    #expect(battery.percent(after: 8_999) == 30 && battery.percent(after: 9_001) == 29)
    #expect(battery.percent(after: 1e9) == 0)
    #expect(SimulatedBattery(capacity_J: 3, charge: 100).percent(after: 0) == 100)
    for charge in 1...100 {
      // 0.29 × 100 and its like are a hair below.
      let battery = SimulatedBattery(capacity_J: 39_960.000001, charge: Double(charge))
      #expect(battery.percent(after: 1e-3) == charge)
    }
  }

  @Test("without a battery there is no gauge; a fault of the gauge is one, and hides a battery")
  func faults() {
    var none = board { _ in }
    let silence = none.wait(in: .idle, until: seconds(100), wakesOnInput: true).battery
    #expect(silence == nil)
    let plan = [10.0, 200].map { FaultPlan.GaugeFault(time: seconds($0), charge: UInt8($0 / 10)) }
    for battery in [nil, SimulatedBattery(capacity_J: 1_000)] {
      var board = board {
        $0.faults.gaugeFaults = plan
        $0.battery = battery
      }
      for (end, charge) in [(1.0, battery.map { _ in UInt8(100) }), (100, 1), (300, 20)] {
        let waking = board.wait(in: .idle, until: seconds(end), wakesOnInput: true)
        #expect(waking.battery == charge)
      }
    }
  }
}

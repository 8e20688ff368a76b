import BoardHardware
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import SimulatedHAL
import Testing

@testable import LocationEngine

@Suite("Power save mode of the receiver")
struct PowerSaveTests {
  /// A device so fast that a bound of 100 m leaves no time to sleep; the duty cycle uses
  /// 10 of 25 mW.
  private static func bench(
    clients: Int = 1, speed: Double = 60, powersave_mW: Double? = 10,
    _ change: (inout SimulationSetup, inout EngineSetup) -> Void = { _, _ in }
  ) -> BoardBench {
    let bench = BoardBench(clients: clients, speed: speed) { board, setup in
      board.receiver.power.powersave_mw = 10
      board.receiver.power.track_mw = 25
      setup.receiver?.hasPowerSave = true
      setup.parameters.receiver.powersave_mW = powersave_mW
      setup.parameters.receiver.track_mW = 25
      change(&board, &setup)
    }
    for client in bench.clients {
      client.stop()
      client.request(.setDesiredAccuracy(100))
    }
    bench.clients[0].start()
    return bench
  }

  @Test("PWR-1: a receiver that stays on for an accuracy bound of 100 m uses its duty cycle")
  func staysOn() {
    let bench = Self.bench()
    bench.run(120)
    #expect(bench.receiver == .powersave)
    #expect(bench.violations.isEmpty)
    let full = Self.bench(powersave_mW: nil)
    full.run(120)
    #expect(full.receiver != .powersave && full.counters.refusals == 0)
  }

  @Test("PWR-1: full power while a client needs every fix, then the duty cycle again")
  func beside() {
    let bench = Self.bench(clients: 2)
    bench.run(120)
    bench.clients[1].request(.setDesiredAccuracy(LocationAccuracy.best))
    bench.clients[1].start()
    bench.run(2)
    #expect(bench.receiver == .tracking)
    bench.clients[1].clearRecords()
    bench.run(60)
    #expect(bench.clients[1].fixes.count >= 59, "the change loses no fix")
    bench.clients[1].stop()
    bench.run(3)
    #expect(bench.receiver == .powersave)
    #expect(bench.violations.isEmpty)
  }

  @Test("PWR-1: an accuracy bound below the duty cycle's minimum is planned at full power")
  func narrow() {
    func fixes(_ powersave_mW: Double?) -> [Int] {
      let bench = Self.bench(speed: 12, powersave_mW: powersave_mW)
      bench.client.request(.setDesiredAccuracy(49))
      bench.run(300)
      #expect(bench.receiver != .powersave)
      return bench.seconds
    }
    let full = fixes(nil)
    #expect(full.count > 20 && full.count < 250, "\(full.count)")
    #expect(fixes(5) == full)
  }

  @Test("PWR-6: the duty cycle is part of a start's configuration and needs no extra command")
  func starts() {
    func commands(_ powersave_mW: Double?) -> (sent: UInt32, starts: Int, saving: Bool) {
      let bench = Self.bench(speed: 3, powersave_mW: powersave_mW)
      bench.run(200)
      let before = bench.counters.commands
      bench.clearRecords()
      bench.run(1_200)
      let states = bench.events.compactMap { event -> ReceiverPowerState? in
        if case .receiver(let state, mW: _) = event.event { state } else { nil }
      }
      return (
        bench.counters.commands - before, states.count { $0 == .acquiring },
        states.contains(.powersave)
      )
    }
    let (saving, full) = (commands(10), commands(nil))
    #expect(saving.saving && !full.saving && saving.starts > 10)
    // Commands of each start: a version poll, the configuration, and standby.
    #expect(Int(saving.sent) <= 3 * saving.starts + 3)
    #expect(Int(full.sent) <= 3 * full.starts + 3)
  }

  @Test("a receiver without that key stays at full power; the request is repeated with back-off")
  func refused() {
    let bench = Self.bench { board, _ in
      board.faults.powerModeRejected = [Instant(seconds: 0)..<Instant(seconds: 100)]
    }
    bench.run(60)
    #expect(bench.receiver != .powersave && bench.counters.refusals > 0)
    #expect(!bench.client.fixes.isEmpty, "fixes are still delivered")
    let before = bench.counters.refusals
    bench.run(30)
    #expect(bench.counters.refusals - before <= 1)
    bench.run(150)
    #expect(bench.receiver == .powersave)
    #expect(bench.violations.isEmpty)
  }

  @Test("after a success, a refusal counts as the first again: the next request is after a minute")
  func refusedAfterSuccess() {
    let bench = Self.bench(clients: 2) { board, _ in
      board.faults.powerModeRejected = [
        Instant(seconds: 0)..<Instant(seconds: 100), Instant(seconds: 255)..<Instant(seconds: 275),
      ]
    }
    bench.run(250)
    #expect(bench.receiver == .powersave)
    bench.clients[1].request(.setDesiredAccuracy(LocationAccuracy.best))
    bench.clients[1].start()
    bench.run(10)
    bench.clients[1].stop()
    bench.run(20)
    #expect(bench.receiver == .tracking)
    bench.run(60)
    #expect(bench.receiver == .powersave)
  }

  @Test("after a loss, power save is requested immediately, regardless of earlier refusals")
  func refusedBeforeALoss() {
    let bench = Self.bench { board, _ in
      board.faults.powerModeRejected = [Instant(seconds: 0)..<Instant(seconds: 85)]
      board.faults.deviceAbsent = [Instant(seconds: 90)..<Instant(seconds: 91)]
    }
    bench.run(89)
    #expect(bench.receiver != .powersave)
    bench.run(30)
    #expect(bench.receiver == .powersave)
  }
}

import LocationPolicy
import LocationTypes
import ReceiverDrivers
import SimulatedHAL
import Testing

@testable import LocationEngine

/// What the engine does after the board was suspended: bytes that woke the board are lost, so it waits for the next ones.
@Suite("Resume of a suspended board") struct ResumeTests {
  /// A receiver that wakes at 60 s while the board is suspended without a client; `wakesOnBytes`: its bytes end that.
  private static func bench(wakesOnBytes: Bool) -> BoardBench {
    let bench = BoardBench { board, setup in
      board.faults.configurationLosses = [Instant(seconds: 60)]
      if wakesOnBytes { board.board.suspended?.wakeSources.insert(.bytes) }
      setup.parameters.deep?.wakesOnBytes = wakesOnBytes
    }
    bench.run(20)
    bench.client.stop()
    bench.run(39)
    return bench
  }

  @Test(
    "PWR-4: a receiver that wakes while the board is suspended is back in standby within a few seconds"
  )
  func wokenByBytes() {
    let bench = Self.bench(wakesOnBytes: true)
    #expect(bench.receiver == .standby)
    bench.run(2)
    #expect(bench.receiver != .standby)
    bench.run(8)
    #expect(bench.receiver == .standby)
    #expect(bench.counters.failedStandbys == 1)
    let wakes = bench.events.filter { $0.event == .wake(.bytes) && $0.time > Instant(seconds: 59) }
    #expect(!wakes.isEmpty)
    // Afterwards the board sleeps again.
    let before = bench.used_mJ
    bench.run(100)
    #expect(bench.used_mJ - before < 100 * 30)
    #expect(bench.violations.isEmpty)
  }

  @Test(
    "PWR-4: without that wake source it is found at the next start, and its fixes count only when configured"
  )
  func foundAtStart() {
    let bench = Self.bench(wakesOnBytes: false)
    bench.run(60)
    #expect(bench.receiver != .standby)
    bench.client.start()
    bench.run(10)
    bench.client.stop()
    bench.run(20)
    #expect(bench.receiver == .standby)
    #expect(bench.violations.isEmpty)
  }

  @Test("PWR-4: without that wake source and without a start it is found within an hour")
  func foundByCheck() {
    let bench = BoardBench { board, _ in
      board.faults.configurationLosses = [Instant(seconds: 200)]
    }
    // The first standby is observed, the second one is trusted.
    for _ in 0..<2 {
      bench.run(20)
      bench.client.stop()
      bench.run(60)
      bench.client.start()
    }
    bench.run(10)
    bench.client.stop()
    // One run, because each one wakes the board at its end.
    bench.run(3_800)
    #expect(bench.receiver == .standby && bench.counters.failedStandbys == 1)
    #expect(bench.violations.isEmpty)
  }
}

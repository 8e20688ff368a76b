import LocationPolicy
import LocationTypes
import SimulatedHAL
import Testing

@testable import LocationEngine

@Suite("What the receiver's buffer holds when the service is killed")
struct RestartBufferTests {
  /// A suspended client whose receiver has batched for 60 s, of which nothing is in the ring.
  private func buffered(
    _ change: (inout SimulationSetup, inout EngineSetup) -> Void = { _, _ in }
  ) -> BoardBench {
    let bench = BoardBench(limit: 500, watermark: 200, change)
    bench.run(10)
    bench.client.suspend()
    bench.run(5)
    let before = bench.appended.count
    bench.run(60)
    #expect(bench.receiver == .batching && bench.appended.count <= before + 3)
    return bench
  }

  /// The client's program connects again, 20 s after the start, and runs.
  private func reconnect(_ bench: BoardBench) {
    bench.client.connect(in: .background)
    bench.client.start()
    bench.run(20)
  }

  @Test(
    "BKG-20, RNG-3: what it recorded for a suspended client is delivered after a restart",
    arguments: [0.0, 20.0])
  func delivered(_ wait: Double) {
    let bench = buffered()
    let killed = Int((bench.now - .boot).seconds)
    bench.restart(after: 5)
    bench.run(wait)
    reconnect(bench)
    let delivered = Set(
      bench.client.fixes.map { Int(($0.fix.acquired - .boot).seconds.rounded()) })
    let missing = (killed - 55..<killed + 5).filter { !delivered.contains($0) }
    #expect(missing.isEmpty, "\(bench.client.text): \(missing)")
    #expect(bench.client.gaps.isEmpty)
    #expect(bench.violations.isEmpty)
  }

  @Test("BKG-20: it is not delivered to a client whose updates had ended")
  func ended() {
    let bench = BoardBench(limit: 500, clients: 2)
    bench.run(10)
    bench.clients[1].stop()
    bench.run(5)
    bench.clients[0].suspend()
    bench.run(60)
    bench.restart(after: 5)
    bench.run(20)
    bench.clients[1].connect(in: .background)
    let now = bench.now
    bench.clients[1].start()
    bench.run(20)
    #expect(bench.clients[1].fixes.allSatisfy { $0.fix.acquired >= now })
  }

  @Test("BKG-20: of a receiver that does not answer after the restart the time is a gap")
  func lost() {
    let bench = buffered { board, _ in
      board.faults.gone = [Instant(seconds: 76)..<Instant(seconds: 4_000)]
    }
    bench.restart(after: 5)
    bench.run(120)
    reconnect(bench)
    let gap = bench.client.gaps.first
    #expect(gap?.mayBeMore == true && gap?.count == 0, "\(bench.client.text)")
    #expect(gap?.to.map { $0.acquired > bench.now - .seconds(150) } == true)
  }

  @Test("BKG-20: of a receiver whose supply went with the service the time is a gap")
  func supply() {
    let bench = buffered { board, setup in
      board.receiver.hasSupplySwitch = true
      setup.receiver?.hasSupplySwitch = true
      setup.figures.canSwitchOff = true
    }
    let last = bench.appended.last?.fix.acquired
    bench.restart(after: 5)
    let start = bench.now
    bench.run(20)
    reconnect(bench)
    let gap = bench.client.gaps.first
    #expect(bench.client.gaps.count == 1 && gap?.mayBeMore == true, "\(bench.client.text)")
    #expect(gap?.from?.acquired == last && gap?.to?.acquired == start)
  }

  @Test(
    "BKG-5, BKG-20: that a queue was full when the service was killed is a gap after the restart")
  func full() {
    let bench = BoardBench(limit: 50, watermark: 20)
    bench.run(10)
    bench.client.suspend()
    bench.run(300)
    #expect(bench.receiver == .standby, "N fixes wait")
    let last = bench.appended.last?.fix.acquired
    bench.restart(after: 5)
    let start = bench.now
    bench.run(20)
    reconnect(bench)
    #expect(bench.client.batches.first.map { $0.count >= 50 } == true, "\(bench.client.text)")
    let gap = bench.client.gaps.first
    #expect(bench.client.gaps.count == 1 && gap?.mayBeMore == true && gap?.count == 0)
    #expect(gap?.from?.acquired == last && gap?.to?.acquired == start)
    #expect(bench.client.story.dropFirst().first == .gap(0))
  }
}

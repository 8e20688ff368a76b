import LocationPolicy
import LocationTypes
import SimulatedHAL
import Testing

@testable import LocationEngine

@Suite("Fixes in the receiver's buffer when the service is killed")
struct RestartBufferTests {
  enum Outage: Sendable { case overwritten, lost, supply }

  /// A suspended client whose receiver has batched for 60 s, without these fixes in the ring.
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

  /// The client's program connects again and runs for 20 s.
  private func reconnect(_ bench: BoardBench) {
    bench.client.connect(in: .background)
    bench.client.start()
    bench.run(20)
  }

  @Test(
    "BKG-20, RNG-3: fixes recorded for a suspended client are delivered after a restart",
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

  @Test("BKG-20: recorded fixes are not delivered to a client whose updates had ended")
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

  @Test(
    "BKG-20: if the receiver does not answer, the time from the newest fix to the start is a gap")
  func lost() {
    let bench = buffered { board, _ in
      board.faults.deviceAbsent = [Instant(seconds: 76)..<Instant(seconds: 4_000)]
    }
    let last = bench.appended.last?.fix.acquired
    bench.restart(after: 5)
    let start = bench.now
    bench.run(120)
    reconnect(bench)
    let gap = bench.client.gaps.first
    #expect(bench.client.gaps.count == 1, "\(bench.client.text)")
    #expect(gap?.mayBeMore == true && gap?.count == 0)
    #expect(gap?.from?.acquired == last && gap?.to?.acquired == start)
  }

  @Test(
    "BKG-20: fixes the receiver overwrote while the service was down are a gap before the others")
  func overwritten() {
    let bench = buffered()
    let last = bench.appended.last?.fix.acquired
    bench.restart(after: 600)
    let start = bench.now
    bench.run(20)
    reconnect(bench)
    #expect(bench.client.gaps.count == 1, "\(bench.client.text)")
    let gap = bench.client.gaps.first
    #expect(gap?.mayBeMore == true && gap?.count == 0 && gap?.from?.acquired == last)
    let oldest = bench.client.fixes.first { $0.fix.acquired > last ?? .boot }
    #expect(oldest != nil && gap?.to?.acquired == oldest?.fix.acquired)
    #expect(gap?.to.map { $0.acquired < start - .seconds(250) } == true, "300 fixes in the buffer")
    #expect(gap.map { $0.range.lowerBound } == oldest?.name.sequence)
  }

  @Test("BKG-20: if the receiver restarted while the service was down, that time is a gap")
  func restarted() {
    let bench = buffered { board, _ in
      board.faults.deviceAbsent = [Instant(seconds: 80)..<Instant(seconds: 82)]
    }
    let last = bench.appended.last?.fix.acquired
    bench.restart(after: 60)
    let start = bench.now
    bench.run(60)
    reconnect(bench)
    #expect(bench.client.gaps.count == 1, "\(bench.client.text)")
    let gap = bench.client.gaps.first
    #expect(gap?.mayBeMore == true && gap?.from?.acquired == last)
    #expect(gap?.to.map { $0.acquired > Instant(seconds: 80) && $0.acquired <= start } == true)
  }

  @Test(
    "BKG-20: a gap is kept over further restarts until it is reported",
    arguments: [Outage.overwritten, .lost, .supply])
  func twice(_ outage: Outage) {
    let bench = buffered { board, setup in
      switch outage {
      case .overwritten: break
      case .lost: board.faults.deviceAbsent = [Instant(seconds: 76)..<Instant(seconds: 4_000)]
      case .supply:
        board.receiver.hasSupplySwitch = true
        setup.receiver?.hasSupplySwitch = true
        setup.parameters.canSwitchOff = true
      }
    }
    let last = bench.appended.last?.fix.acquired
    bench.restart(after: 600)
    bench.run(120)
    for _ in 0..<2 {
      bench.restart(after: 5)
      bench.run(120)
    }
    let start = bench.now
    reconnect(bench)
    let gap = bench.client.gaps.first
    #expect(bench.client.gaps.count == 1, "\(bench.client.text)")
    #expect(gap?.mayBeMore == true && gap?.from?.acquired == last)
    #expect(gap?.to.map { $0.acquired < start } == true)
    guard outage == .overwritten else { return }
    let oldest = bench.client.fixes.first { $0.fix.acquired > last ?? .boot }
    #expect(oldest != nil && gap?.to?.acquired == oldest?.fix.acquired)
    bench.restart(after: 1)
    reconnect(bench)
    #expect(bench.client.gaps.allSatisfy { $0.from?.acquired != last }, "reported before")
  }

  @Test("BKG-20: if the receiver's supply was off with the service, that time is a gap")
  func supply() {
    let bench = buffered { board, setup in
      board.receiver.hasSupplySwitch = true
      setup.receiver?.hasSupplySwitch = true
      setup.parameters.canSwitchOff = true
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

  @Test("BKG-5, BKG-20: a queue that was full when the service was killed is followed by a gap")
  func full() {
    let bench = BoardBench(limit: 50, watermark: 20)
    bench.run(10)
    bench.client.suspend()
    bench.run(300)
    #expect(bench.receiver == .standby, "N fixes are queued")
    let last = bench.appended.last?.fix.acquired
    bench.restart(after: 5)
    let start = bench.now
    bench.run(20)
    reconnect(bench)
    #expect(bench.client.batches.first.map { $0.count >= 50 } == true, "\(bench.client.text)")
    let gap = bench.client.gaps.first
    #expect(bench.client.gaps.count == 1 && gap?.mayBeMore == true && gap?.count == 0)
    #expect(gap?.from?.acquired == last && gap?.to?.acquired == start)
    #expect(bench.client.notices.dropFirst().first == .gap(0))
  }

  @Test("BKG-20: with a full queue, time that the receiver recorded is not reported as a gap")
  func fullAndBuffered() {
    let bench = BoardBench(limit: 100, watermark: 60)
    bench.run(10)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.client.suspend()
    bench.run(130)
    #expect(bench.receiver == .batching && bench.appended.count >= 100)
    bench.restart(after: 30)
    bench.run(20)
    reconnect(bench)
    #expect(bench.client.gaps.isEmpty, "\(bench.client.text)")
    #expect(bench.client.fixes.count >= 160)
  }
}

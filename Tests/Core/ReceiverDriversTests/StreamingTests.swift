import GNSSProtocols
import LocationTypes
import SimulatedHAL
import Testing

@testable import ReceiverDrivers

@Suite("Receivers that send fixes but answer no command") struct StreamingTests {
  @Test(
    "PWR-12: a receiver that sends fixes but answers no command is used unconfigured, at its speed",
    arguments: Families.all, [9_600, 115_200] as [UInt32])
  func streaming(_ family: ReceiverFamily, _ speed: UInt32) {
    var faults = FaultPlan()
    faults.commandLoss = 1
    let bench = FamilyBench(Families.setup(family, lineSpeed: speed), faults: faults)
    bench.handle(.goal(.tracking))
    bench.run(300)
    #expect(bench.reported == [.lost] && bench.status.isStreaming && bench.activity != .running)
    bench.clearRecords()
    bench.run(1_800)
    // A probe at another speed interrupts reception for some seconds.
    #expect(bench.fixes.count > 1_550, "\(bench.fixes.count)")
    #expect(
      bench.reported.isEmpty && bench.violations.isEmpty, "\(bench.reported) \(bench.violations)")
    #expect(bench.counters.losses < 20)
  }

  @Test(
    "PWR-12: when it answers again it is configured; when it disappears it is no longer streaming")
  func streamingEnds() {
    var faults = FaultPlan()
    faults.commandLoss = 1
    faults.deviceAbsent = [Instant(seconds: 900)..<Instant(seconds: 9_000)]
    let bench = FamilyBench(Families.setup(.mtk), faults: faults)
    bench.handle(.goal(.tracking))
    bench.run(890)
    #expect(bench.status.isStreaming)
    bench.run(1_300)
    #expect(!bench.status.isStreaming)
  }

  @Test("PWR-12: an unconfigured streaming receiver is never power-cycled")
  func supply() {
    var faults = FaultPlan()
    faults.commandLoss = 1
    let bench = FamilyBench(Families.setup(.mtk, supply: true), faults: faults)
    bench.handle(.goal(.tracking))
    bench.run(60)
    #expect(bench.status.isStreaming)
    bench.clearRecords()
    bench.run(3_600)
    #expect(bench.counters.losses > 12 && bench.pins.isEmpty, "\(bench.pins)")
  }

  @Test("PWR-12: a streaming receiver is still known as streaming after it was switched off")
  func switchedOff() {
    var faults = FaultPlan()
    faults.commandLoss = 1
    let bench = FamilyBench(Families.setup(.mtk, supply: true), faults: faults)
    bench.handle(.goal(.tracking))
    bench.run(120)
    #expect(bench.reach(.off) && bench.power == .backup)
    bench.run(10)
    bench.handle(.goal(.tracking))
    let losses = bench.counters.losses
    for _ in 0..<120 {
      bench.run(1)
      #expect(bench.status.isStreaming)
    }
    #expect(bench.counters.losses > losses)
  }
}

import GNSSProtocols
import LocationTypes
import SimulatedHAL
import Testing

@testable import ReceiverDrivers

@Suite("Receivers that answer no command and send fixes") struct StreamingTests {
  @Test(
    "PWR-12: one that sends fixes and answers no command is used as it is, at the speed at which it sends",
    arguments: Families.all, [9_600, 115_200] as [UInt32])
  func streaming(_ family: ReceiverFamily, _ speed: UInt32) {
    var faults = FaultPlan()
    faults.commandLoss = 1
    let bench = FamilyBench(Families.setup(family, lineSpeed: speed), faults: faults)
    bench.handle(.goal(.tracking))
    bench.run(300)
    #expect(bench.told == [.lost] && bench.status.isStreaming && bench.activity != .running)
    bench.forget()
    bench.run(3_600)
    // Trying it again interrupts what is sent at another speed for some seconds.
    #expect(bench.fixes.count > 3_100, "\(bench.fixes.count)")
    #expect(bench.told.isEmpty && bench.violations.isEmpty, "\(bench.told) \(bench.violations)")
    #expect(bench.counters.losses < 30)
  }

  @Test("PWR-12: one that answers again is configured, and one that is gone is not streaming")
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

  @Test("PWR-12: the supply of one that is used as it is is never cut to start it anew")
  func supply() {
    var faults = FaultPlan()
    faults.commandLoss = 1
    let bench = FamilyBench(Families.setup(.mtk, supply: true), faults: faults)
    bench.handle(.goal(.tracking))
    bench.run(60)
    #expect(bench.status.isStreaming)
    bench.forget()
    bench.run(3_600)
    #expect(bench.counters.losses > 12 && bench.pins.isEmpty, "\(bench.pins)")
  }

  @Test("PWR-12: one that is used as it is and was switched off is known as such afterwards")
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

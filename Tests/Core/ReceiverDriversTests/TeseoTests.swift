import GNSSProtocols
import LocationTypes
import SimulatedHAL
import Testing

@testable import ReceiverDrivers

@Suite("A Teseo, which keeps its configuration in flash") struct TeseoTests {
  private static func sent(_ bench: FamilyBench, _ command: String) -> Int {
    bench.sentences.count { $0.hasPrefix("$" + command) }
  }

  @Test("baud rate, sentences and rate are written to flash once, and only read afterwards")
  func stored() {
    let bench = FamilyBench(Families.setup(.teseo, lineSpeed: 115_200))
    #expect(bench.reach(.tracking))
    #expect(
      bench.sentences.filter { $0.hasPrefix("$PSTMS") }.map { String($0.prefix { $0 != "*" }) } == [
        "$PSTMSETPAR,1102,A", "$PSTMSAVEPAR", "$PSTMSRR",
        "$PSTMSETPAR,1201,46", "$PSTMSETPAR,1228,0", "$PSTMSETPAR,1303,1.00", "$PSTMSAVEPAR",
        "$PSTMSRR",
      ])
    #expect(Self.sent(bench, "PSTMGETPAR") == 4, "the first report differs; then all three agree")
    bench.reach(.standby)
    bench.run(60)
    bench.clearRecords()
    #expect(bench.reach(.tracking))
    #expect(Self.sent(bench, "PSTMGETPAR") == 3)
    #expect(Self.sent(bench, "PSTMSETPAR") + Self.sent(bench, "PSTMSAVEPAR") == 0)
    bench.run(20)
    #expect(bench.fixes.count >= 10 && bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("flash is written at most eight times; afterwards the receiver is used as it is")
  func wear() {
    var faults = FaultPlan()
    faults.configurationLosses = (1...20).map { Instant(seconds: Double($0) * 120) }
    let bench = FamilyBench(Families.setup(.teseo), faults: faults)
    bench.reach(.tracking)
    bench.run(2_500)
    #expect(Self.sent(bench, "PSTMSAVEPAR") == Int(FlashRecord.maximumWrites))
    bench.clearRecords()
    bench.run(60)
    #expect(bench.fixes.count > 30, "\(bench.fixes.count)")
    #expect(Self.sent(bench, "PSTMGETPAR") == 0, "its own list of sentences is no loss")
  }

  @Test(
    "a value that the receiver does not keep is written once, in all lives of the driver together")
  func coercion() {
    var setup = Families.setup(.teseo)
    setup.interval_ms = 200
    let bench = FamilyBench(setup, shortestStoredInterval: .milliseconds(333))
    #expect(bench.reach(.tracking))
    #expect(Self.sent(bench, "PSTMSAVEPAR") == 1 && Self.sent(bench, "PSTMSETPAR,1303,0.20") == 1)
    for _ in 0..<20 {
      bench.reach(.standby)
      bench.run(30)
      #expect(bench.reach(.tracking))
    }
    #expect(Self.sent(bench, "PSTMSAVEPAR") == 1, "one life")
    for life in 2...5 {
      bench.restartService()
      #expect(bench.reach(.tracking))
      #expect(Self.sent(bench, "PSTMSAVEPAR") == 0, "life \(life)")
      #expect(Self.sent(bench, "PSTMGETPAR") == 3, "life \(life)")
      bench.run(30)
      #expect(bench.fixes.count > 60, "3 Hz, life \(life): \(bench.fixes.count)")
      bench.reach(.standby)
    }
    bench.restartService { $0.interval_ms = 1_000 }
    #expect(bench.reach(.tracking))
    #expect(Self.sent(bench, "PSTMSAVEPAR") == 1, "another configuration is written")
    bench.restartService(keepsFlashRecord: false)
    #expect(bench.reach(.tracking))
    #expect(Self.sent(bench, "PSTMSAVEPAR") == 0, "which the receiver keeps")
  }

  @Test("a coercing receiver that loses its flash is configured again")
  func coercionAfterLoss() {
    var setup = Families.setup(.teseo)
    setup.interval_ms = 200
    var faults = FaultPlan()
    faults.configurationLosses = [Instant(seconds: 120)]
    let bench = FamilyBench(
      setup, faults: faults, shortestStoredInterval: .milliseconds(333))
    bench.reach(.tracking)
    bench.run(300)
    #expect(Self.sent(bench, "PSTMSAVEPAR") == 2)
    #expect(bench.activity == .running)
  }

  @Test("eight writes are the limit of all lives together")
  func wearOverLives() {
    var faults = FaultPlan()
    faults.configurationLosses = (1...40).map { Instant(seconds: Double($0) * 60) }
    let bench = FamilyBench(Families.setup(.teseo), faults: faults)
    var writes = 0
    for _ in 0..<10 {
      bench.reach(.tracking)
      bench.run(200)
      writes += Self.sent(bench, "PSTMSAVEPAR")
      bench.restartService()
    }
    #expect(writes == FlashRecord.maximumWrites)
  }

  @Test(
    "DEF-43: the baud rate is not written again to flash that does not keep it; the default one is used"
  )
  func speedWear() {
    var faults = FaultPlan()
    faults.configurationLosses = (1...20).map { Instant(seconds: Double($0) * 120) }
    let bench = FamilyBench(Families.setup(.teseo, lineSpeed: 38_400), faults: faults)
    bench.reach(.tracking)
    bench.run(3_000)
    #expect(Self.sent(bench, "PSTMSAVEPAR") == Int(FlashRecord.maximumWrites))
    bench.clearRecords()
    bench.reach(.standby)
    bench.run(60)
    #expect(bench.activity == .standby)
    #expect(bench.reach(.tracking))
    bench.run(60)
    #expect(bench.activity == .running && bench.fixes.count > 50, "\(bench.fixes.count)")
  }

  @Test("without a wake pin, standby is refused: bytes do not wake the receiver")
  func withoutPin() {
    let bench = FamilyBench(
      ReceiverSetup(family: .teseo, output: .nmea, hasWakePin: false))
    #expect(bench.reach(.tracking))
    bench.clearRecords()
    bench.reach(.standby)
    #expect(bench.reported == [.refused(.standby)] && bench.power != .standby)
    #expect(Self.sent(bench, "PSTMFORCESTANDBY") == 0)
    #expect(!ReceiverFamily.teseo.canStandby(hasWakePin: false))
    #expect(ReceiverFamily.teseo.canStandby(hasWakePin: true))
    #expect(ReceiverFamily.mtk.canStandby(hasWakePin: false))
    #expect(!ReceiverFamily.passive.canStandby(hasWakePin: true))
  }
}

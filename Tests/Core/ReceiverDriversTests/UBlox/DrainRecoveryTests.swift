import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

@Suite("Recovery from failed drains") struct DrainRecoveryTests {
  @Test("An interrupted drain: the remaining entries are retrieved, none twice")
  func halfDrain() {
    let bench = DriverBench.batching()
    bench.run(100)
    bench.receiver.stallsAfter = 37
    let repeats = bench.driver.counters.repeats
    bench.step(.drain)
    bench.runUntilIdle()
    #expect(bench.reported.last == .drained)
    #expect(bench.driver.counters.repeats == repeats + 1)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("If the line fails while batching is being enabled, no epoch is repeated or late")
  func lostWhileEnabling() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.tracking)
    bench.run(3)
    bench.step(.goal(.batching(watermark: 250)))
    #expect(bench.driver.state == .enabling)
    bench.step(.lineFault)
    #expect(bench.reach(.tracking))
    #expect(!bench.receiver.isBatching)
    bench.run(5)
    #expect(bench.reach(.batching(watermark: 250)))
    bench.run(20)
    bench.step(.drain)
    bench.runUntilIdle()
    bench.expectClean()
  }

  @Test("Batching that was enabled without an answer and then rejected is disabled")
  func rejectedAfterExecuted() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.tracking)
    bench.run(3)
    bench.receiver.lostAnswers = 1
    bench.step(.goal(.batching(watermark: 250)))
    bench.run(0.3)
    #expect(bench.receiver.isBatching)
    bench.receiver.rejections = 1
    bench.runUntilIdle()
    #expect(bench.driver.state == .tracking)
    #expect(!bench.receiver.isBatching)
  }

  @Test(
    "DEF-30: a batching receiver that rejects the keys again is drained before live epochs count")
  func refusedWhileBatching() {
    let bench = DriverBench.batching()
    bench.run(20)
    bench.step(.lineFault)
    while bench.driver.state != .enabling { bench.run(0.005) }
    bench.receiver.rejections = 1
    bench.runUntilIdle()
    #expect(bench.driver.state == .tracking && !bench.receiver.isBatching)
    bench.run(5)
    #expect(bench.driver.counters.duplicates == 0)
    bench.step(.lineFault)
    bench.runUntilIdle()
    // No epoch is due while the buffer is drained; it would arrive live and as an entry.
    bench.run(20.3)
    bench.reach(.tracking)
    bench.expectClean()
    #expect(bench.driver.counters.duplicates == 0)
  }

  @Test("DEF-30: the power mode is not changed while the buffer may hold older epochs")
  func powerChangeWithBuffer() {
    let bench = DriverBench.batching(250, Setups.saving)
    bench.run(20)
    bench.step(.lineFault)
    bench.step(.goal(.powersave))
    while bench.driver.state != .configuring { bench.run(0.005) }
    bench.step(.goal(.batching(watermark: 250)))
    while bench.driver.state != .changingPower { bench.run(0.005) }
    // Long enough for live epochs to arrive.
    bench.receiver.lostAnswers = 2
    bench.runUntilIdle()
    #expect(bench.receiver.isBatching)
    bench.run(20)
    bench.reach(.tracking)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("DEF-30: entries repeated after an interrupted drain count once")
  func sentAgain() {
    let bench = DriverBench.batching()
    bench.run(60)
    bench.receiver.stallsAfter = 30
    bench.receiver.resent = 30
    bench.step(.drain)
    bench.run(0.2)
    #expect(bench.emitted.count > 20 && bench.driver.state == .draining)
    bench.step(.lineFault)
    bench.runUntilIdle()
    bench.run(20)
    bench.reach(.tracking)
    #expect(bench.driver.counters.duplicates >= 30)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("Entries lost on the line are counted by msgCnt")
  func lostEntries() {
    let bench = DriverBench.batching()
    bench.receiver.lostEntries = [10, 11, 40]
    bench.run(100)
    bench.step(.drain)
    bench.runUntilIdle()
    #expect(bench.reported.last == .drained)
    #expect(bench.driver.counters.batchEntriesMissing == 3)
    bench.expectClean()
    #expect((bench.emitted.last ?? 0) - (bench.emitted.first ?? 0) + 1 - bench.emitted.count == 3)
  }

  @Test("If the last entry is lost, the drain still ends")
  func lastEntryLost() {
    let bench = DriverBench.batching()
    bench.run(50)
    bench.receiver.lostEntries = [bench.receiver.buffer.count]
    bench.step(.drain)
    #expect(bench.runUntilIdle())
    #expect(bench.reported.last == .drained)
    #expect(bench.driver.counters.batchEntriesMissing == 1)
  }

  @Test("A lost MON-BATCH costs at most one retry")
  func lostStatus() {
    let bench = DriverBench.batching()
    bench.run(50)
    bench.receiver.lostAnswers = 1
    bench.step(.drain)
    #expect(bench.runUntilIdle())
    #expect(bench.reported.last == .drained)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("Epochs dropped by the receiver because its buffer is full are counted")
  func drops() {
    let bench = DriverBench.batching()
    bench.passesPin = false
    bench.run(400)
    bench.step(.drain)
    bench.runUntilIdle()
    #expect((95...105).contains(bench.driver.counters.batchDrops))
    bench.expectClean()
  }

  @Test("A drain that stalls permanently means a lost receiver; the remaining entries come later")
  func stalledDrain() {
    let bench = DriverBench.batching()
    bench.run(60)
    bench.clearRecords()
    bench.receiver.stallsAfter = 20
    bench.step(.drain)
    while bench.receiver.stallsAfter != nil { bench.run(0.005) }
    bench.run(0.05)
    bench.receiver.isSilent = true
    while bench.driver.state != .lost { bench.run(0.05) }
    #expect(bench.reported == [.lost])
    #expect(bench.driver.mayBufferFixes)
    bench.receiver.isSilent = false
    bench.runUntilIdle()
    #expect(bench.reported == [.lost, .recovered, .reached(.batching(watermark: 250))])
    #expect(bench.commands().contains("retrieve"))
    bench.run(5)
    bench.reach(.tracking)
    bench.expectClean()
  }

  @Test("If entries are announced after a loss and never arrive, the receiver is lost again")
  func announcedOnly() {
    let bench = DriverBench.batching()
    bench.run(20)
    bench.step(.lineFault)
    while bench.driver.state != .leaving && bench.driver.state != .draining { bench.run(0.005) }
    bench.clearRecords()
    while bench.driver.state == .leaving || bench.driver.state == .draining {
      bench.receiver.stallsAfter = 0
      bench.run(0.005)
    }
    #expect(bench.driver.state == .lost && bench.driver.mayBufferFixes)
    bench.receiver.stallsAfter = nil
    bench.runUntilIdle()
    bench.reach(.tracking)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("A drain is requested at most three times without an answer")
  func drainTries() {
    let bench = DriverBench.batching()
    bench.run(20)
    bench.clearRecords()
    bench.receiver.answersRetrieval = false
    bench.step(.drain)
    while bench.driver.state != .lost { bench.run(0.05) }
    #expect(bench.commands() == ["retrieve", "retrieve", "retrieve"])
  }

  @Test("A reset while batching is detected by live output, repaired and reported")
  func resetWhileBatching() {
    let bench = DriverBench.batching(250, ReceiverSetup(batch: Setups.batch))
    bench.run(50)
    bench.clearRecords()
    bench.receiver.reset(at: bench.now)
    bench.run(20)
    #expect(bench.reported == [.recovered, .reached(.batching(watermark: 250))])
    #expect(bench.receiver.isBatching)
    #expect(bench.driver.counters.configurationsLost == 1)
    bench.expectClean()
  }

  @Test("A reset to another speed is found by the next drain")
  func resetAtOtherSpeed() {
    let bench = DriverBench.batching()
    bench.run(50)
    bench.clearRecords()
    bench.receiver.reset(at: bench.now)
    bench.run(20)
    #expect(bench.reported.isEmpty)
    bench.step(.drain)
    #expect(bench.runUntilIdle())
    #expect(bench.reported == [.lost, .recovered, .reached(.batching(watermark: 250))])
    #expect(bench.receiver.isBatching && bench.receiver.speed == 115_200)
    bench.expectClean()
  }

  @Test("A reset that keeps the backup memory is detected by restarted counters")
  func resetWithBackup() {
    let bench = DriverBench.batching()
    bench.run(50)
    bench.step(.drain)
    bench.runUntilIdle()
    bench.run(20)
    bench.clearRecords()
    bench.receiver.reset(at: bench.now, keepsBackup: true)
    bench.run(0.2)
    bench.step(.drain)
    #expect(bench.runUntilIdle())
    #expect(bench.driver.counters.configurationsLost == 1)
    #expect(
      bench.reported == [.recovered, .drained, .reached(.batching(watermark: 250))]
        || bench.reported == [.drained, .recovered, .reached(.batching(watermark: 250))])
    bench.expectClean()
  }
}

import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

@Suite("Drains that go wrong") struct DrainRecoveryTests {
  @Test("Half a drain: the rest is retrieved, nothing twice")
  func halfDrain() {
    let bench = DriverBench.batching()
    bench.run(100)
    bench.receiver.stallsAfter = 37
    let repeats = bench.driver.counters.repeats
    bench.step(.drain)
    bench.settle()
    #expect(bench.told.last == .drained)
    #expect(bench.driver.counters.repeats == repeats + 1)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("Lost while batching is switched on: it may batch, and nothing comes twice or late")
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
    bench.settle()
    bench.expectClean()
  }

  @Test("Batching that was switched on without an answer, and then refused, is switched off")
  func refusedAfterObeyed() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.tracking)
    bench.run(3)
    bench.receiver.lostAnswers = 1
    bench.step(.goal(.batching(watermark: 250)))
    bench.run(0.3)
    #expect(bench.receiver.isBatching)
    bench.receiver.refusals = 1
    bench.settle()
    #expect(bench.driver.state == .tracking)
    #expect(!bench.receiver.isBatching)
  }

  @Test("DEF-30: One that batches and refuses the keys anew is emptied before live epochs count")
  func refusedWhileBatching() {
    let bench = DriverBench.batching()
    bench.run(20)
    bench.step(.lineFault)
    while bench.driver.state != .enabling { bench.run(0.005) }
    bench.receiver.refusals = 1
    bench.settle()
    #expect(bench.driver.state == .tracking && !bench.receiver.isBatching)
    bench.run(5)
    bench.step(.lineFault)
    bench.settle()
    bench.run(20)
    bench.reach(.tracking)
    bench.expectClean()
    #expect(bench.driver.counters.duplicates == 0)
  }

  @Test("DEF-30: The power is changed when the buffer is empty, not while it may hold older epochs")
  func powerChangeBesideBuffer() {
    let bench = DriverBench.batching(250, Setups.saving)
    bench.run(20)
    bench.step(.lineFault)
    bench.step(.goal(.powersave))
    while bench.driver.state != .configuring { bench.run(0.005) }
    bench.step(.goal(.batching(watermark: 250)))
    while bench.driver.state != .changingPower { bench.run(0.005) }
    // Long enough for live epochs to come meanwhile.
    bench.receiver.lostAnswers = 2
    bench.settle()
    #expect(bench.receiver.isBatching)
    bench.run(20)
    bench.reach(.tracking)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("DEF-30: Entries that come again after a drain that broke off count once")
  func sentAgain() {
    let bench = DriverBench.batching()
    bench.run(60)
    bench.receiver.stallsAfter = 30
    bench.receiver.resent = 30
    bench.step(.drain)
    bench.run(0.2)
    #expect(bench.taken.count > 20 && bench.driver.state == .draining)
    bench.step(.lineFault)
    bench.settle()
    bench.run(20)
    bench.reach(.tracking)
    #expect(bench.driver.counters.duplicates >= 30)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("Entries that are lost on the line are counted by msgCnt")
  func lostEntries() {
    let bench = DriverBench.batching()
    bench.receiver.lostEntries = [10, 11, 40]
    bench.run(100)
    bench.step(.drain)
    bench.settle()
    #expect(bench.told.last == .drained)
    #expect(bench.driver.counters.batchEntriesMissing == 3)
    bench.expectClean()
    #expect((bench.taken.last ?? 0) - (bench.taken.first ?? 0) + 1 - bench.taken.count == 3)
  }

  @Test("The last entry lost: the drain ends all the same")
  func lastEntryLost() {
    let bench = DriverBench.batching()
    bench.run(50)
    bench.receiver.lostEntries = [bench.receiver.buffer.count]
    bench.step(.drain)
    #expect(bench.settle())
    #expect(bench.told.last == .drained)
    #expect(bench.driver.counters.batchEntriesMissing == 1)
  }

  @Test("A lost MON-BATCH costs a retry at most")
  func lostStatus() {
    let bench = DriverBench.batching()
    bench.run(50)
    bench.receiver.lostAnswers = 1
    bench.step(.drain)
    #expect(bench.settle())
    #expect(bench.told.last == .drained)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("Epochs the receiver drops because nobody comes are counted")
  func drops() {
    let bench = DriverBench.batching()
    bench.passesPin = false
    bench.run(400)
    bench.step(.drain)
    bench.settle()
    #expect((95...105).contains(bench.driver.counters.batchDrops))
    bench.expectClean()
  }

  @Test("A drain that stalls for good is a lost receiver; what is left comes after")
  func stalledDrain() {
    let bench = DriverBench.batching()
    bench.run(60)
    bench.forget()
    bench.receiver.stallsAfter = 20
    bench.step(.drain)
    while bench.receiver.stallsAfter != nil { bench.run(0.005) }
    bench.run(0.05)
    bench.receiver.isSilent = true
    while bench.driver.state != .lost { bench.run(0.05) }
    #expect(bench.told == [.lost])
    #expect(bench.driver.mayBufferFixes)
    bench.receiver.isSilent = false
    bench.settle()
    #expect(bench.told == [.lost, .recovered, .reached(.batching(watermark: 250))])
    #expect(bench.commands().contains("retrieve"))
    bench.run(5)
    bench.reach(.tracking)
    bench.expectClean()
  }

  @Test("A drain is asked again after three silences, not more")
  func drainTries() {
    let bench = DriverBench.batching()
    bench.run(20)
    bench.forget()
    bench.receiver.answersRetrieval = false
    bench.step(.drain)
    while bench.driver.state != .lost { bench.run(0.05) }
    #expect(bench.commands() == ["retrieve", "retrieve", "retrieve"])
  }

  @Test("A reset while batching is seen by what it sends, repaired and told")
  func resetWhileBatching() {
    let bench = DriverBench.batching(250, ReceiverSetup(batch: Setups.batch))
    bench.run(50)
    bench.forget()
    bench.receiver.reset(at: bench.now)
    bench.run(20)
    #expect(bench.told == [.recovered, .reached(.batching(watermark: 250))])
    #expect(bench.receiver.isBatching)
    #expect(bench.driver.counters.configurationsLost == 1)
    bench.expectClean()
  }

  @Test("A reset that speaks at another speed is found by the next drain")
  func resetUnheard() {
    let bench = DriverBench.batching()
    bench.run(50)
    bench.forget()
    bench.receiver.reset(at: bench.now)
    bench.run(20)
    #expect(bench.told.isEmpty)
    bench.step(.drain)
    #expect(bench.settle())
    #expect(bench.told == [.lost, .recovered, .reached(.batching(watermark: 250))])
    #expect(bench.receiver.isBatching && bench.receiver.speed == 115_200)
    bench.expectClean()
  }

  @Test("A reset that the backup memory survives is found by the counters that begin anew")
  func resetWithBackup() {
    let bench = DriverBench.batching()
    bench.run(50)
    bench.step(.drain)
    bench.settle()
    bench.run(20)
    bench.forget()
    bench.receiver.reset(at: bench.now, keepsBackup: true)
    bench.run(0.2)
    bench.step(.drain)
    #expect(bench.settle())
    #expect(bench.driver.counters.configurationsLost == 1)
    #expect(
      bench.told == [.recovered, .drained, .reached(.batching(watermark: 250))]
        || bench.told == [.drained, .recovered, .reached(.batching(watermark: 250))])
    bench.expectClean()
  }
}

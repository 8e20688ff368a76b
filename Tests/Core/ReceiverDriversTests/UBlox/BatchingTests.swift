import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

private let enabling = "max=300 warn=250 extra=1 odo=0 pio=1 pioid=6 low=0 batch=1"

@Suite("Batching") struct BatchingTests {
  @Test("Batching is enabled first, then live output is disabled")
  func enter() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.tracking)
    bench.clearRecords()
    bench.reach(.batching(watermark: 250))
    #expect(bench.commands() == [enabling, "pvt=0"])
    #expect(bench.reported == [.reached(.batching(watermark: 250))])
    #expect(bench.driver.mayBufferFixes)
    #expect(bench.driver.deadline == nil)
  }

  @Test("The watermark pin empties the buffer completely and in order")
  func pin() {
    let bench = DriverBench.batching(60)
    bench.run(200)
    #expect(bench.reported.filter { $0 == .drained }.count == 3)
    #expect(bench.emitted.count >= 180)
    #expect(bench.driver.state == .batching)
    #expect(bench.driver.counters.batchEntries >= 180)
    #expect(bench.driver.counters.batchEntriesMissing == 0)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("A requested drain is answered once, after all earlier entries")
  func drain() {
    let bench = DriverBench.batching()
    bench.run(100)
    bench.clearRecords()
    let newest = bench.receiver.epoch
    bench.step(.drain)
    #expect(bench.driver.isDraining)
    bench.runUntilIdle()
    #expect(bench.reported == [.drained])
    #expect(!bench.driver.isDraining)
    #expect((bench.emitted.last ?? 0) >= newest)
    #expect(bench.driver.mayBufferFixes)
    #expect((2...3).contains(bench.commands().count))
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("A drain of an empty buffer is answered", arguments: [0.1, 30])
  func emptyDrain(_ wait: Double) {
    let bench = DriverBench.batching()
    bench.step(.drain)
    bench.runUntilIdle()
    bench.clearRecords()
    bench.run(wait)
    bench.step(.drain)
    bench.runUntilIdle()
    #expect(bench.reported == [.drained])
  }

  @Test("A drain without batching is answered immediately")
  func drainElsewhere() {
    let bench = DriverBench(Setups.plain)
    bench.step(.drain)
    #expect(bench.reported == [.drained])
    bench.reach(.tracking)
    bench.clearRecords()
    bench.step(.drain)
    #expect(bench.reported == [.drained])
    bench.reach(.standby)
    bench.clearRecords()
    bench.step(.drain)
    #expect(bench.reported == [.drained])
  }

  @Test("Leaving batching loses and repeats nothing: output on, drain, off")
  func leave() {
    for wait in stride(from: 40.0, to: 42.0, by: 0.13) {
      let bench = DriverBench.batching()
      bench.run(wait)
      _ = bench.commands()
      bench.reach(.tracking)
      let commands = bench.commands()
      #expect(commands.first == "pvt=1" && commands.last == "batch=0")
      #expect((2...3).contains(commands.count { $0 == "retrieve" }) && commands.count <= 5)
      #expect(!bench.driver.mayBufferFixes)
      bench.run(5)
      #expect(bench.reported.last == .reached(.tracking))
      bench.expectClean()
      bench.expectWhole()
      #expect((bench.emitted.last ?? 0) >= bench.receiver.epoch - 1)
    }
  }

  @Test("A slow line: the live epochs during a long drain are emitted once each")
  func slowLine() {
    let bench = DriverBench.batching(300, ReceiverSetup(batch: BatchSetup(capacity: 300)))
    bench.run(290)
    bench.reach(.tracking)
    bench.run(10)
    bench.expectClean()
    bench.expectWhole()
    #expect((bench.emitted.last ?? 0) >= bench.receiver.epoch - 1)
    #expect(bench.emitted.count > 300)
  }

  @Test("Entering and leaving batching at any time: each epoch once")
  func inAndOut() {
    for wait in stride(from: 0.0, to: 2.0, by: 0.05) {
      let bench = DriverBench(Setups.wired)
      bench.reach(.tracking)
      bench.run(2)
      bench.step(.goal(.batching(watermark: 100)))
      bench.run(wait)
      bench.step(.goal(.tracking))
      bench.run(wait)
      bench.step(.goal(.batching(watermark: 100)))
      bench.runUntilIdle()
      bench.run(5)
      bench.reach(.tracking)
      bench.run(3)
      #expect(bench.driver.state == .tracking)
      bench.expectClean()
      bench.expectWhole()
      #expect(bench.receiver.lostWithBuffer.allSatisfy { bench.emitted.contains($0) })
    }
  }

  @Test("A changed watermark is written, and nothing else")
  func watermark() {
    let bench = DriverBench.batching()
    bench.run(20)
    bench.clearRecords()
    bench.reach(.batching(watermark: 100))
    #expect(bench.commands() == ["warn=100"])
    #expect(bench.reported == [.reached(.batching(watermark: 100))])
    bench.run(90)
    #expect(bench.reported.contains(.drained))
    bench.expectClean()
    bench.expectWhole()
  }

  @Test(
    "A watermark above the capacity becomes the capacity; zero becomes one", arguments: [0, 9_999])
  func watermarkBounds(_ watermark: UInt16) {
    let bench = DriverBench.batching(watermark)
    #expect(bench.receiver.value(M10Key.batchWarnThrs) == (watermark == 0 ? 1 : 300))
    #expect(bench.reported.last == .reached(.batching(watermark: watermark)))
  }

  @Test("Standby from batching empties the buffer first")
  func standbyDrains() {
    let bench = DriverBench.batching()
    bench.run(50)
    let newest = bench.receiver.epoch
    bench.reach(.standby)
    #expect(bench.receiver.isAsleep)
    #expect((bench.emitted.last ?? 0) >= newest)
    #expect(!bench.driver.mayBufferFixes)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("PWR-5: off from batching empties the buffer, then enters standby, then powers off")
  func offDrains() {
    let bench = DriverBench.batching(250, Setups.switched)
    bench.run(50)
    let newest = bench.receiver.epoch
    bench.clearRecords()
    bench.reach(.off)
    #expect(bench.commands() == ["pvt=1", "retrieve", "retrieve", "batch=0", "standby"])
    #expect(!bench.receiver.hasSupply)
    #expect((bench.emitted.last ?? 0) >= newest)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("Entries left in the buffer by an earlier run come first")
  func earlierRun() {
    let first = DriverBench.batching()
    first.run(30)
    // The service restarts; the receiver keeps running.
    let buffered = first.receiver.buffer
    #expect(buffered.count > 20)
    first.driver = UBloxDriver(Setups.wired)
    first.clearRecords()
    first.receiver.answerDelay = .milliseconds(5)
    first.reach(.batching(watermark: 250))
    // The wake-up pulse does not disturb an awake receiver.
    #expect(first.emitted.prefix(buffered.count) == buffered[...])
    first.run(20)
    first.reach(.tracking)
    first.run(2)
    first.expectClean()
    first.expectWhole()
  }

  @Test("A receiver that cannot batch rejects it once for each goal and stays tracking")
  func refusal() {
    let bench = DriverBench(Setups.wired)
    bench.receiver.supportsBatching = false
    bench.receiver.answersRetrieval = false
    bench.reach(.batching(watermark: 250))
    #expect(bench.reported == [.refused(.batching(watermark: 250))])
    #expect(bench.driver.state == .tracking)
    #expect(!bench.driver.mayBufferFixes)
    bench.run(5)
    #expect(bench.emitted.count >= 5)
    bench.clearRecords()
    bench.reach(.batching(watermark: 100))
    #expect(bench.reported == [.refused(.batching(watermark: 100))])
    #expect(bench.driver.counters.refusals == 3)
    // The rejection may have been temporary; it is retried only with a new goal.
    bench.receiver.supportsBatching = true
    bench.receiver.answersRetrieval = true
    bench.run(60)
    #expect(bench.driver.state == .tracking)
    bench.reach(.batching(watermark: 100))
    #expect(bench.reported.last == .reached(.batching(watermark: 100)))
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("The number of remaining entries is known for each entry, and is 0 outside of a drain")
  func entriesBehind() {
    let bench = DriverBench.batching()
    bench.run(60)
    #expect(bench.driver.remainingEntries == 0)
    bench.step(.drain)
    bench.run(5)
    let count = bench.remaining.first.map { $0 + 1 } ?? 0
    #expect(count >= 60 && bench.remaining.count >= count)
    #expect(bench.remaining.prefix(count) == ((0..<count).reversed())[...])
    #expect(bench.remaining.dropFirst(count).allSatisfy { $0 == 0 })
    #expect(bench.driver.remainingEntries == 0)
    bench.run(40)
    bench.receiver.stallsAfter = 10
    bench.step(.drain)
    while bench.driver.state == .draining && bench.driver.remainingEntries < 1 { bench.run(0.001) }
    #expect(bench.driver.remainingEntries > 10)
    bench.step(.lineFault)
    #expect(bench.driver.remainingEntries == 0)
  }

  @Test("A receiver that rejects retrieval holds no entries")
  func retrievalRefused() {
    let bench = DriverBench(Setups.wired)
    bench.receiver.rejectsRetrieval = true
    #expect(bench.reach(.tracking))
    #expect(bench.driver.counters.refusals == 1)
    #expect(bench.reported == [.reached(.tracking)])
  }

  @Test("Batching is rejected if the setup has no buffer")
  func noBuffer() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.batching(watermark: 10))
    #expect(bench.reported == [.refused(.batching(watermark: 10))])
    #expect(!bench.commands().contains { $0.contains("batch") })
  }

  @Test("An empty buffer after a long time: the keys are rewritten, once per drain")
  func suspiciousEmptiness() {
    let bench = DriverBench.batching()
    bench.step(.drain)
    bench.runUntilIdle()
    bench.clearRecords()
    // The receiver has stopped batching without a message.
    bench.receiver.stopBatching()
    bench.run(60)
    bench.step(.drain)
    bench.runUntilIdle()
    #expect(bench.commands() == ["retrieve", enabling])
    #expect(bench.reported == [.drained])
    bench.run(10)
    #expect(bench.receiver.buffer.count >= 9)
  }

  @Test("A buffer that is empty soon after a drain is no reason to rewrite the keys")
  func plausibleEmptiness() {
    let bench = DriverBench.batching()
    bench.step(.drain)
    bench.runUntilIdle()
    bench.clearRecords()
    bench.receiver.stopBatching()
    // Four intervals and 2 s may pass without a fix.
    bench.run(5.5)
    bench.step(.drain)
    bench.runUntilIdle()
    #expect(bench.commands() == ["retrieve"])
    bench.run(6.5)
    bench.step(.drain)
    bench.runUntilIdle()
    #expect(bench.commands() == ["retrieve", enabling])
  }

  @Test("The time limit of a retrieval is computed with the length of an entry's frame")
  func entryLength() {
    var frame = FrameBuffer()
    frame.appendBatchEntry(
      UBXBatchEntry(messageCount: 0, hasExtraPVT: true, solution: FakeM10.solution(1)))
    #expect(Int64(frame.count) == UBloxDriver.batchEntryBytes)
  }

  @Test("A drain requested while a lost receiver is probed for is answered at the next loss")
  func drainWhileLost() {
    let bench = DriverBench.batching()
    bench.receiver.isSilent = true
    bench.step(.drain)
    while bench.driver.state != .lost { bench.run(0.05) }
    while bench.driver.state != .probing { bench.run(0.05) }
    bench.clearRecords()
    bench.step(.drain)
    #expect(bench.reported.isEmpty)
    while bench.driver.state != .lost { bench.run(0.05) }
    #expect(bench.reported == [.lost])
    while bench.driver.state != .probing { bench.run(0.05) }
    while bench.driver.state != .lost { bench.run(0.05) }
    #expect(bench.reported == [.lost])
  }

  @Test("Drains requested during a drain are answered with it")
  func joined() {
    let bench = DriverBench.batching()
    bench.run(100)
    bench.clearRecords()
    bench.step(.drain)
    bench.run(0.1)
    bench.step(.drain)
    bench.runUntilIdle()
    #expect(bench.reported == [.drained])
    bench.expectWhole()
  }

  @Test("A drain requested while entering or leaving batching is answered")
  func drainUnderWay() {
    for wait in stride(from: 0.0, to: 1.0, by: 0.02) {
      let bench = DriverBench(Setups.wired)
      bench.reach(.tracking)
      bench.run(2)
      bench.clearRecords()
      bench.step(.goal(.batching(watermark: 100)))
      bench.run(wait)
      bench.step(.drain)
      bench.runUntilIdle()
      #expect(bench.reported.filter { $0 == .drained }.count == 1)
      bench.run(10)
      bench.clearRecords()
      bench.step(.goal(.tracking))
      bench.run(wait)
      bench.step(.drain)
      bench.runUntilIdle()
      #expect(bench.reported.filter { $0 == .drained }.count == 1)
      bench.expectClean()
    }
  }

  @Test("NMEA output: batches use UBX, and sentences are off while batching")
  func nmea() {
    let bench = DriverBench.batching(
      250, ReceiverSetup(lineSpeed: 115_200, output: .nmea, batch: Setups.batch))
    #expect(bench.receiver.value(M10Key.uart1OutProtNMEA) == 0)
    bench.run(60)
    bench.step(.drain)
    bench.runUntilIdle()
    bench.run(20)
    bench.reach(.tracking)
    bench.run(5)
    bench.expectClean()
    bench.expectWhole()
    #expect(bench.emitted.count > 80)
  }

  @Test("PWR-2: an hour of batching wakes the host only for the watermark")
  func hour() {
    let bench = DriverBench.batching(250)
    bench.clearRecords()
    bench.run(3_600)
    #expect(bench.reported == Array(repeating: .drained, count: 14))
    // The entries, the ones added during the drain, and nothing more.
    #expect(bench.commands().count <= 14 * 3)
    bench.expectClean()
    bench.expectWhole()
  }
}

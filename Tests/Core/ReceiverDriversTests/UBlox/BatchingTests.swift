import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

private let enabling = "max=300 warn=250 extra=1 odo=0 pio=1 pioid=6 low=0 batch=1"

@Suite("Batching") struct BatchingTests {
  @Test("Batching is switched on first, live output off then")
  func enter() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.tracking)
    bench.forget()
    bench.reach(.batching(watermark: 250))
    #expect(bench.commands() == [enabling, "pvt=0"])
    #expect(bench.told == [.reached(.batching(watermark: 250))])
    #expect(bench.driver.mayBufferFixes)
    #expect(bench.driver.deadline == nil)
  }

  @Test("The watermark's pin empties the buffer, in order and whole")
  func pin() {
    let bench = DriverBench.batching(60)
    bench.run(200)
    #expect(bench.told.filter { $0 == .drained }.count == 3)
    #expect(bench.taken.count >= 180)
    #expect(bench.driver.state == .batching)
    #expect(bench.driver.counters.batchEntries >= 180)
    #expect(bench.driver.counters.batchEntriesMissing == 0)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("A drain that is asked for is answered once, with everything before it")
  func drain() {
    let bench = DriverBench.batching()
    bench.run(100)
    bench.forget()
    let newest = bench.receiver.epoch
    bench.step(.drain)
    #expect(bench.driver.isDraining)
    bench.settle()
    #expect(bench.told == [.drained])
    #expect(!bench.driver.isDraining)
    #expect((bench.taken.last ?? 0) >= newest)
    #expect(bench.driver.mayBufferFixes)
    #expect((2...3).contains(bench.commands().count))
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("A drain of an empty buffer is answered", arguments: [0.1, 30])
  func emptyDrain(_ wait: Double) {
    let bench = DriverBench.batching()
    bench.step(.drain)
    bench.settle()
    bench.forget()
    bench.run(wait)
    bench.step(.drain)
    bench.settle()
    #expect(bench.told == [.drained])
  }

  @Test("Where nothing is batched a drain is answered at once")
  func drainElsewhere() {
    let bench = DriverBench(Setups.plain)
    bench.step(.drain)
    #expect(bench.told == [.drained])
    bench.reach(.tracking)
    bench.forget()
    bench.step(.drain)
    #expect(bench.told == [.drained])
    bench.reach(.standby)
    bench.forget()
    bench.step(.drain)
    #expect(bench.told == [.drained])
  }

  @Test("Leaving loses nothing and gives nothing twice: output on, drain, off")
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
      #expect(bench.told.last == .reached(.tracking))
      bench.expectClean()
      bench.expectWhole()
      #expect((bench.taken.last ?? 0) >= bench.receiver.epoch - 1)
    }
  }

  @Test("A slow line: the live epochs of a long drain come once each")
  func slowLine() {
    let bench = DriverBench.batching(300, ReceiverSetup(batch: BatchSetup(capacity: 300)))
    bench.run(290)
    bench.reach(.tracking)
    bench.run(10)
    bench.expectClean()
    bench.expectWhole()
    #expect((bench.taken.last ?? 0) >= bench.receiver.epoch - 1)
    #expect(bench.taken.count > 300)
  }

  @Test("Into batching and out again at every moment: each epoch once")
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
      bench.settle()
      bench.run(5)
      bench.reach(.tracking)
      bench.run(3)
      #expect(bench.driver.state == .tracking)
      bench.expectClean()
      bench.expectWhole()
      #expect(bench.receiver.lostWithBuffer.allSatisfy { bench.taken.contains($0) })
    }
  }

  @Test("Another watermark is written, and nothing else")
  func watermark() {
    let bench = DriverBench.batching()
    bench.run(20)
    bench.forget()
    bench.reach(.batching(watermark: 100))
    #expect(bench.commands() == ["warn=100"])
    #expect(bench.told == [.reached(.batching(watermark: 100))])
    bench.run(90)
    #expect(bench.told.contains(.drained))
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("A watermark above the capacity is the capacity; none is one", arguments: [0, 9_999])
  func watermarkBounds(_ watermark: UInt16) {
    let bench = DriverBench.batching(watermark)
    #expect(bench.receiver.value(M10Key.batchWarnThrs) == (watermark == 0 ? 1 : 300))
    #expect(bench.told.last == .reached(.batching(watermark: watermark)))
  }

  @Test("Standby from batching empties the buffer first")
  func standbyDrains() {
    let bench = DriverBench.batching()
    bench.run(50)
    let newest = bench.receiver.epoch
    bench.reach(.standby)
    #expect(bench.receiver.isAsleep)
    #expect((bench.taken.last ?? 0) >= newest)
    #expect(!bench.driver.mayBufferFixes)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("PWR-5: off from batching empties the buffer, then standby, then cuts")
  func offDrains() {
    let bench = DriverBench.batching(250, Setups.switched)
    bench.run(50)
    let newest = bench.receiver.epoch
    bench.forget()
    bench.reach(.off)
    #expect(bench.commands() == ["pvt=1", "retrieve", "retrieve", "batch=0", "standby"])
    #expect(!bench.receiver.hasSupply)
    #expect((bench.taken.last ?? 0) >= newest)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("What an earlier run left in the buffer comes first")
  func earlierRun() {
    let first = DriverBench.batching()
    first.run(30)
    // The service ends and starts again; the receiver goes on.
    let left = first.receiver.buffer
    #expect(left.count > 20)
    first.driver = UBloxDriver(Setups.wired)
    first.forget()
    first.receiver.answerDelay = .milliseconds(5)
    first.reach(.batching(watermark: 250))
    // The wake-up pulse does not disturb one that is awake.
    #expect(first.taken.prefix(left.count) == left[...])
    first.run(20)
    first.reach(.tracking)
    first.run(2)
    first.expectClean()
    first.expectWhole()
  }

  @Test("A receiver that cannot batch refuses it once for each goal and is left tracking")
  func refusal() {
    let bench = DriverBench(Setups.wired)
    bench.receiver.supportsBatching = false
    bench.receiver.answersRetrieval = false
    bench.reach(.batching(watermark: 250))
    #expect(bench.told == [.refused(.batching(watermark: 250))])
    #expect(bench.driver.state == .tracking)
    #expect(!bench.driver.mayBufferFixes)
    bench.run(5)
    #expect(bench.taken.count >= 5)
    bench.forget()
    bench.reach(.batching(watermark: 100))
    #expect(bench.told == [.refused(.batching(watermark: 100))])
    #expect(bench.driver.counters.refusals == 3)
    // It may have been of the moment; but it is not asked again unless the goal is.
    bench.receiver.supportsBatching = true
    bench.receiver.answersRetrieval = true
    bench.run(60)
    #expect(bench.driver.state == .tracking)
    bench.reach(.batching(watermark: 100))
    #expect(bench.told.last == .reached(.batching(watermark: 100)))
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("Of each entry it is known how many come after it; outside of a drain none do")
  func entriesBehind() {
    let bench = DriverBench.batching()
    bench.run(60)
    #expect(bench.driver.remainingEntries == 0)
    bench.step(.drain)
    bench.run(5)
    let count = bench.behind.first.map { $0 + 1 } ?? 0
    #expect(count >= 60 && bench.behind.count >= count)
    #expect(bench.behind.prefix(count) == ((0..<count).reversed())[...])
    #expect(bench.behind.dropFirst(count).allSatisfy { $0 == 0 })
    #expect(bench.driver.remainingEntries == 0)
    bench.run(40)
    bench.receiver.stallsAfter = 10
    bench.step(.drain)
    while bench.driver.state == .draining && bench.driver.remainingEntries < 1 { bench.run(0.001) }
    #expect(bench.driver.remainingEntries > 10)
    bench.step(.lineFault)
    #expect(bench.driver.remainingEntries == 0)
  }

  @Test("A receiver that refuses to retrieve holds nothing")
  func retrievalRefused() {
    let bench = DriverBench(Setups.wired)
    bench.receiver.refusesRetrieval = true
    #expect(bench.reach(.tracking))
    #expect(bench.driver.counters.refusals == 1)
    #expect(bench.told == [.reached(.tracking)])
  }

  @Test("Where the setup has no buffer, batching is refused")
  func noBuffer() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.batching(watermark: 10))
    #expect(bench.told == [.refused(.batching(watermark: 10))])
    #expect(!bench.commands().contains { $0.contains("batch") })
  }

  @Test("An empty buffer after a long time: the keys are written again, once a drain")
  func suspiciousEmptiness() {
    let bench = DriverBench.batching()
    bench.step(.drain)
    bench.settle()
    bench.forget()
    // It has stopped batching without a word.
    bench.receiver.stopBatching()
    bench.run(60)
    bench.step(.drain)
    bench.settle()
    #expect(bench.commands() == ["retrieve", enabling])
    #expect(bench.told == [.drained])
    bench.run(10)
    #expect(bench.receiver.buffer.count >= 9)
  }

  @Test(
    "A drain that is asked for while a lost receiver is looked for is answered by the next loss")
  func drainWhileLost() {
    let bench = DriverBench.batching()
    bench.receiver.isSilent = true
    bench.step(.drain)
    while bench.driver.state != .lost { bench.run(0.05) }
    while bench.driver.state != .probing { bench.run(0.05) }
    bench.forget()
    bench.step(.drain)
    #expect(bench.told.isEmpty)
    while bench.driver.state != .lost { bench.run(0.05) }
    #expect(bench.told == [.lost])
    while bench.driver.state != .probing { bench.run(0.05) }
    while bench.driver.state != .lost { bench.run(0.05) }
    #expect(bench.told == [.lost])
  }

  @Test("Drains that are asked for while one runs are answered with it")
  func joined() {
    let bench = DriverBench.batching()
    bench.run(100)
    bench.forget()
    bench.step(.drain)
    bench.run(0.1)
    bench.step(.drain)
    bench.settle()
    #expect(bench.told == [.drained])
    bench.expectWhole()
  }

  @Test("A drain that is asked for on the way into batching, or out of it, is answered")
  func drainUnderWay() {
    for wait in stride(from: 0.0, to: 1.0, by: 0.02) {
      let bench = DriverBench(Setups.wired)
      bench.reach(.tracking)
      bench.run(2)
      bench.forget()
      bench.step(.goal(.batching(watermark: 100)))
      bench.run(wait)
      bench.step(.drain)
      bench.settle()
      #expect(bench.told.filter { $0 == .drained }.count == 1)
      bench.run(10)
      bench.forget()
      bench.step(.goal(.tracking))
      bench.run(wait)
      bench.step(.drain)
      bench.settle()
      #expect(bench.told.filter { $0 == .drained }.count == 1)
      bench.expectClean()
    }
  }

  @Test("NMEA output: batches come by UBX, sentences are silent meanwhile")
  func nmea() {
    let bench = DriverBench.batching(
      250, ReceiverSetup(lineSpeed: 115_200, output: .nmea, batch: Setups.batch))
    #expect(bench.receiver.value(M10Key.uart1OutProtNMEA) == 0)
    bench.run(60)
    bench.step(.drain)
    bench.settle()
    bench.run(20)
    bench.reach(.tracking)
    bench.run(5)
    bench.expectClean()
    bench.expectWhole()
    #expect(bench.taken.count > 80)
  }

  @Test("PWR-2: an hour of batching wakes the host for the watermark and nothing else")
  func hour() {
    let bench = DriverBench.batching(250)
    bench.forget()
    bench.run(3_600)
    #expect(bench.told == Array(repeating: .drained, count: 14))
    // The entries, what came meanwhile, and nothing more.
    #expect(bench.commands().count <= 14 * 3)
    bench.expectClean()
    bench.expectWhole()
  }
}

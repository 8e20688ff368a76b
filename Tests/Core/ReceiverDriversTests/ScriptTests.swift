import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

/// Advances a driver message by message, 20 ms apart.
private struct Script {
  var driver = UBloxDriver(Setups.wired)
  var now = Instant.boot

  static let acknowledged = DriverEvent.message(.acknowledged(.cfgVALSET))

  @discardableResult mutating func step(_ event: DriverEvent, after ms: Int64 = 20) -> Bool {
    now = now + .milliseconds(ms)
    _ = driver.handle(event, at: now)
    return driver.hasOutgoing
  }

  mutating func status(_ level: UInt16, next: UInt16 = 0) -> Bool {
    step(.message(.batchStatus(UBXBatchStatus(fillLevel: level, nextMessageCount: next))))
  }

  /// Receives an entry; returns whether the driver sends a command, and whether the epoch is kept.
  mutating func entry(_ second: Int, _ count: UInt16) -> (sends: Bool, admission: Admission) {
    let solution = FakeM10.solution(second)
    let entry = UBXBatchEntry(messageCount: count, hasExtraPVT: true, solution: solution)
    let sends = step(.message(.batchEntry(entry)))
    return (sends, driver.admit(epoch(second, .batch), at: now))
  }

  mutating func live(_ second: Int) -> Admission {
    step(.message(.navPVT(FakeM10.solution(second))))
    return driver.admit(epoch(second, .live), at: now)
  }

  private func epoch(_ second: Int, _ origin: EpochOrigin) -> Epoch {
    var epoch = Epoch(origin: origin)
    epoch.utc = FakeM10.base + .seconds(Int64(second))
    epoch.fix = Fix(acquired: now, coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0))
    return epoch
  }

  /// Brings the driver to batching.
  mutating func batch() {
    step(.goal(.batching(watermark: 50)))
    step(.deadline)
    step(.deadline, after: 1_000)
    step(.message(.receiverVersion(UBXVersion(software: "", hardware: ""))))
    step(Script.acknowledged)
    _ = status(0)
    step(Script.acknowledged)
    step(Script.acknowledged)
    step(.deadline)
  }
}

@Suite("Message by message") struct ScriptTests {
  @Test("The next retrieval is sent when the last announced entry has arrived, not before")
  func lastEntry() {
    var script = Script()
    script.batch()
    #expect(script.driver.state == .batching)
    let isRequested = script.step(.drain)
    let isEarly = script.status(3)
    let sends = (1...3).map { script.entry($0, UInt16($0)).sends }
    #expect(isRequested && !isEarly)
    #expect(sends == [false, false, true])
    let ended = script.status(0, next: 4)
    #expect(!ended && script.driver.state == .batching)
  }

  @Test("Entries that a retrieval sends again with new numbers are dropped")
  func sentAgain() {
    var script = Script()
    script.batch()
    script.step(.drain)
    _ = script.status(5)
    let first = (1...3).map { script.entry($0, UInt16($0)).admission }
    let again = script.step(.deadline, after: 5_000)
    _ = script.status(5, next: 4)
    let second = (1...5).map { script.entry($0, UInt16($0 + 3)).admission }
    #expect(again)
    #expect(first == [.accept, .accept, .accept])
    #expect(second == [.drop, .drop, .drop, .accept, .accept])
    #expect(script.driver.counters.duplicates == 3)
  }

  @Test(
    "An entry is a duplicate up to the buffer's capacity and 120 s before the last epoch; for an older one, the clock was set back"
  )
  func setBack() {
    for (age, expected) in [(0, Admission.drop), (120, .drop), (121, .accept), (90_000, .accept)] {
      var script = Script()
      script.batch()
      script.step(.drain)
      _ = script.status(3)
      _ = script.entry(100_000, 1)
      script.step(.deadline, after: 5_000)
      _ = script.status(2, next: 2)
      let capacity = Int(script.driver.setup.batch?.capacity ?? 0)
      let admission = script.entry(100_000 - capacity - age, 2).admission
      #expect(admission == expected, "\(age)")
    }
  }

  @Test("A message in flight when the output was muted is no sign of a reset; a later one is")
  func stragglers() {
    var script = Script()
    script.batch()
    let early = script.live(1)
    #expect(early == .accept && script.driver.state == .batching)
    script.step(.deadline, after: 2_000)
    let late = script.live(3)
    #expect(late == .drop && script.driver.state == .configuring)
    #expect(script.driver.counters.configurationsLost == 1)
  }

  @Test("An epoch released from hold is dropped when it arrives from the buffer later")
  func releasedAndBuffered() {
    var script = Script()
    script.batch()
    script.step(.deadline, after: 3_000)
    script.step(.goal(.tracking))
    script.step(Script.acknowledged)
    #expect(script.driver.state == .leaving)
    _ = script.status(1)
    let old = script.entry(1, 0).admission
    let new = script.live(2)
    script.step(.goal(.batching(watermark: 50)))
    _ = script.status(0, next: 1)
    #expect(old == .accept && new == .hold && script.driver.state == .muting)
    let released = script.driver.nextReleasedEpoch()
    #expect(released?.utc == FakeM10.base + .seconds(2))
    script.step(Script.acknowledged)
    script.step(.drain)
    _ = script.status(2, next: 1)
    let repeated = script.entry(2, 1).admission
    let next = script.entry(3, 2).admission
    #expect(repeated == .drop && next == .accept)
  }

  @Test(
    "PWR-12, DEF-30: held epochs are dropped if a newer streamed epoch was accepted meanwhile, however much newer",
    arguments: [1, 10_000])
  func heldAndStreamed(seconds: Int) {
    var script = Script()
    script.batch()
    script.step(.deadline, after: 3_000)
    script.step(.goal(.tracking))
    script.step(Script.acknowledged)
    _ = script.status(0)
    #expect(script.driver.state == .disabling)
    let old = script.live(1)
    var second = seconds
    var newest = old
    while newest != .accept, second < seconds + 60 {
      second += 1
      script.step(.deadline, after: 1_500)
      newest = script.live(second)
    }
    #expect(old == .hold && newest == .accept && script.driver.status.isStreaming)
    var turns = 0
    while script.driver.state != .tracking, turns < 60 {
      turns += 1
      script.step(.deadline, after: 2_500)
      script.step(.message(.receiverVersion(UBXVersion(software: "", hardware: ""))))
      script.step(Script.acknowledged)
      _ = script.status(0)
    }
    #expect(script.driver.state == .tracking)
    let released = script.driver.nextReleasedEpoch()
    #expect(released == nil)
  }

  @Test("More than eight live epochs during a drain: the older ones come from the buffer")
  func manyHeld() {
    var script = Script()
    script.batch()
    script.step(.deadline, after: 3_000)
    script.step(.goal(.tracking))
    script.step(Script.acknowledged)
    _ = script.status(20)
    for second in 1...12 { _ = script.live(second) }
    let entries = (1...10).map { script.entry($0, UInt16($0 - 1)).admission }
    _ = script.status(0, next: 10)
    script.step(Script.acknowledged)
    #expect(entries.allSatisfy { $0 == .accept })
    var released: [UTCTime?] = []
    while let epoch = script.driver.nextReleasedEpoch() { released.append(epoch.utc) }
    #expect(released == [11, 12].map { FakeM10.base + .seconds($0) })
  }
}

import GNSSProtocols
import LocationTypes
import TestSupport
import Testing

@testable import ReceiverDrivers

/// A seed reproduces a walk.
extension SplitMix64 {
  mutating func roll(_ sides: Int) -> Int { below(sides) }
}

/// All states.
let allStates = (0...24).compactMap { UBloxDriver.State(rawValue: UInt8($0)) }

@Suite("Random walks") struct RandomWalkTests {
  private static let setups = [
    Setups.plain, Setups.wired, Setups.switched,
    ReceiverSetup(hasWakePin: true, batch: BatchSetup(capacity: 40, pioWired: true)),
    ReceiverSetup(lineSpeed: 38_400, output: .nmea, hasSupplySwitch: true, batch: Setups.batch),
    Setups.saving, Setups.keeping,
  ]

  private func act(_ bench: DriverBench, _ dice: inout SplitMix64, faults: Bool) {
    let goals: [ReceiverMode] = [
      .off, .standby, .tracking, .powersave, .batching(watermark: 20), .batching(watermark: 35),
    ]
    switch dice.roll(faults ? 16 : 8) {
    case 0...3: bench.step(.goal(goals[dice.roll(goals.count)]))
    case 4...5: bench.step(.drain)
    case 6: bench.step(.batchPin)
    case 7: bench.step(.deadline)
    case 8: bench.receiver.isSilent = dice.roll(2) == 0
    case 9: bench.receiver.lostAnswers = dice.roll(5)
    case 10: bench.receiver.ignoredStandbys = dice.roll(5)
    case 11: if bench.receiver.hasSupply { bench.receiver.reset(at: bench.now) }
    case 12:
      if bench.receiver.hasSupply { bench.receiver.reset(at: bench.now, keepsBackup: true) }
    case 13: bench.receiver.rejections = dice.roll(3)
    case 14: bench.receiver.stallsAfter = dice.roll(30)
    default: bench.step(.lineFault)
    }
    bench.run(Double(dice.roll(dice.roll(4) == 0 ? 40_000 : 1_500)) / 1_000)
  }

  @Test(
    "With any goals at any time, no epoch is lost or repeated, and no rule is broken",
    arguments: 1...40)
  func goalsAtRandom(_ seed: Int) {
    var dice = SplitMix64(seed: UInt64(seed))
    let bench = DriverBench(RandomWalkTests.setups[seed % RandomWalkTests.setups.count])
    for _ in 0..<60 { act(bench, &dice, faults: false) }
    #expect(bench.reach(.tracking, 200))
    #expect(bench.reported.last == .reached(.tracking))
    // Silence shows that standby was reached; without faults nothing is ever lost.
    #expect(!bench.reported.contains(.lost))
    #expect(bench.receiver.lostWithBuffer.allSatisfy { bench.emitted.contains($0) })
    bench.expectClean()
  }

  @Test(
    "With any faults, no epoch is repeated, no rule is broken, and the driver recovers",
    arguments: 1...60)
  func faultsAtRandom(_ seed: Int) {
    var dice = SplitMix64(seed: UInt64(seed) &* 7_919)
    let bench = DriverBench(RandomWalkTests.setups[seed % RandomWalkTests.setups.count])
    for _ in 0..<80 { act(bench, &dice, faults: true) }
    bench.receiver.isSilent = false
    bench.receiver.lostAnswers = 0
    bench.receiver.ignoredStandbys = 0
    bench.receiver.rejections = 0
    bench.receiver.stallsAfter = nil
    bench.step(.goal(.tracking))
    #expect(bench.runUntilIdle(400))
    #expect(bench.driver.state == .tracking)
    #expect(bench.reported.last == .reached(.tracking))
    bench.expectClean()
    let before = bench.emitted.count
    bench.run(20)
    #expect(bench.emitted.count >= before + 15)
  }

  @Test("No message or event in any state traps, and each waiting state has a deadline")
  func everyPair() {
    var reachedStates: Set<UInt8> = []
    for seed in 1...30 {
      var dice = SplitMix64(seed: UInt64(seed) &* 104_729)
      let bench = DriverBench(RandomWalkTests.setups[seed % RandomWalkTests.setups.count])
      for _ in 0..<200 {
        act(bench, &dice, faults: true)
        for _ in 0..<4 {
          reachedStates.insert(bench.driver.state.rawValue)
          tryAll(bench.driver, at: bench.now)
          bench.run(0.03)
        }
      }
    }
    let keeping = DriverBench(Setups.keeping)
    for goal in [ReceiverMode.tracking, .off, .tracking] {
      keeping.step(.goal(goal))
      for _ in 0..<2_500 {
        reachedStates.insert(keeping.driver.state.rawValue)
        if keeping.driver.state.stage == .preemptible { tryAll(keeping.driver, at: keeping.now) }
        keeping.run(0.01)
      }
    }
    keeping.reach(.tracking)
    for isWanted in [true, false] {
      keeping.step(.satellites(isWanted))
      for _ in 0..<20 {
        reachedStates.insert(keeping.driver.state.rawValue)
        if keeping.driver.state.stage == .preemptible { tryAll(keeping.driver, at: keeping.now) }
        keeping.run(0.005)
      }
    }
    for state in allStates {
      #expect(reachedStates.contains(state.rawValue), "\(state) was not reached")
    }
  }

  private func tryAll(_ driver: UBloxDriver, at now: Instant) {
    for event in Pairs.events {
      for later in [Interval.zero, .milliseconds(700), .seconds(100)] {
        var copy = driver
        _ = copy.handle(event, at: now + later)
        if !copy.isQuiescent { #expect(copy.deadline != nil, "\(driver.state) \(event)") }
        if copy.link.receiver.power == .off {
          #expect(!copy.hasOutgoing && copy.link.effects.pin?.pin != .receiverWake)
        }
        #expect(copy.outgoing.count <= 100)
        while copy.nextReleasedEpoch() != nil {}
        _ = copy.admit(Epoch(origin: .live), at: now + later)
        _ = copy.admit(Epoch(origin: .batch), at: now + later)
      }
    }
  }
}

/// One event of each kind.
enum Pairs {
  static let names = [
    "off", "standby", "tracking", "powersave", "batching", "drain", "pin", "fault", "wake-fault",
    "supply-fault", "deadline",
    "pvt", "rmc", "ack", "nak", "ack-pmreq", "nak-pmreq", "nak-batch", "version", "values",
    "nak-poll", "empty", "filled", "entry", "other", "dbd", "mga-ack", "mga-nak", "sat", "watch",
    "unwatch",
  ]
  static let events: [DriverEvent] = [
    .goal(.off), .goal(.standby), .goal(.tracking), .goal(.powersave),
    .goal(.batching(watermark: 7)), .drain, .batchPin, .lineFault, .pinFault(.receiverWake),
    .pinFault(.receiverSupply), .deadline,
    .message(.navPVT(FakeM10.solution(1))),
    .message(sentence), .message(.acknowledged(.cfgVALSET)), .message(.refused(.cfgVALSET)),
    .message(.acknowledged(.rxmPMREQ)), .message(.refused(.rxmPMREQ)),
    .message(.refused(.logRETRIEVEBATCH)),
    .message(.receiverVersion(UBXVersion(software: "", hardware: ""))),
    .message(values), .message(.refused(.cfgVALGET)),
    .message(.batchStatus(UBXBatchStatus(fillLevel: 0))),
    .message(.batchStatus(UBXBatchStatus(fillLevel: 3))),
    .message(
      .batchEntry(
        UBXBatchEntry(messageCount: 0, hasExtraPVT: true, solution: FakeM10.solution(1)))),
    .message(.malformed), .message(aidingEntry),
    .message(.aidingAnswer(UBXAidingAnswer(to: .mgaDBD, payloadStart: 1))),
    .message(.aidingAnswer(UBXAidingAnswer(to: .mgaDBD, isAccepted: false, payloadStart: 1))),
    .message(.navigation(.satellites(UBXSatellites(timeOfWeek_ms: 0)))), .satellites(true),
    .satellites(false),
  ]

  /// The answer to a poll, without values.
  private static var values: GNSSMessage {
    var buffer = FrameBuffer()
    buffer.appendConfigurationValues(UBXConfiguration(layers: .ram), layer: 0)
    return message(buffer)
  }

  private static var aidingEntry: GNSSMessage {
    var buffer = FrameBuffer()
    let payload = [UInt8](repeating: 0, count: 28)
    buffer.appendUBX(.mgaDBD, payload: payload.span)
    return message(buffer)
  }

  private static func message(_ buffer: FrameBuffer) -> GNSSMessage {
    var decoder = GNSSDecoder()
    var offset = 0
    guard let message = decoder.next(buffer.span, &offset) else {
      preconditionFailure("the frame is right")
    }
    return message
  }

  private static var sentence: GNSSMessage {
    var decoder = GNSSDecoder()
    let text = Array(
      "$GNRMC,120000.00,A,4717.11437,N,00833.91522,E,0.004,77.52,150625,,,A*45\r\n".utf8)
    var offset = 0
    guard let message = decoder.next(text.span, &offset) else {
      preconditionFailure("the sentence is right")
    }
    return message
  }
}

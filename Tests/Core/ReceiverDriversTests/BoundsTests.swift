import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

@Suite("Bounds of retries") struct BoundsTests {
  private func at(_ seconds: Int64) -> Instant { .boot + .seconds(seconds) }

  @Test("As many stale answers are skipped as the command was repeated, for a limited time")
  func staleAnswers() {
    var stale = StaleAnswers()
    stale.recordAnswered(7, sends: 1, until: at(10))
    let answer1 = stale.consume(7, at: at(1))
    #expect(!answer1)
    stale.recordAnswered(7, sends: 3, until: at(10))
    let answer2 = stale.consume(7, at: at(1))
    #expect(answer2)
    let answer3 = stale.consume(7, at: at(10))
    #expect(answer3)
    let answer4 = stale.consume(7, at: at(10))
    #expect(!answer4)
    // Sent three times, and two of the answers belonged to the command before: none is left.
    stale.recordAnswered(7, sends: 3, until: at(20))
    #expect(stale.expected == 0)
    stale.recordAnswered(7, sends: 2, until: at(20))
    let answer5 = stale.consume(7, at: at(21))
    #expect(!answer5)
    // Answers of another kind are unaffected.
    stale.recordAnswered(7, sends: 2, until: at(30))
    let answer6 = stale.consume(8, at: at(22))
    #expect(!answer6)
    stale.recordAnswered(8, sends: 2, until: at(30))
    let answer7 = stale.consume(8, at: at(22))
    #expect(answer7)
  }

  @Test("A byte takes ten bits on the line")
  func transmissionTime() {
    #expect(DriverTimeouts.transmissionTime(960, at: 9_600) == .seconds(1))
    #expect(DriverTimeouts.transmissionTime(115_200, at: 115_200) == .seconds(10))
    #expect(DriverTimeouts.transmissionTime(0, at: 9_600) == .zero)
  }

  @Test("A loss restarts the counts of wake-ups and changes of speed, and is counted itself")
  func loss() {
    var counters = RetryCounters()
    #expect(counters.wakeUps == 0 && counters.speedChanges == 0 && counters.losses == 0)
    var link = ReceiverLink<UBloxCommand>(ReceiverSetup(family: .ubloxM10))
    link.changeSpeed()
    link.changeSpeed()
    #expect(link.retryCounters.speedChanges == 2)
    counters = link.retryCounters
    link.wake(sending: .probe)
    #expect(link.retryCounters.wakeUps == 1)
    link.markResponsive()
    #expect(link.retryCounters.wakeUps == 0 && link.retryCounters.speedChanges == 0)
    counters.recordLoss()
    #expect(counters.wakeUps == 0 && counters.speedChanges == 0 && counters.losses == 1)
  }

  @Test("After a command without an answer, as many late answers may arrive as it was sent")
  func unansweredCommand() {
    let setup = ReceiverSetup(family: .ubloxM10)
    guard let answer = UBloxCommand.liveOutput(false).answer(part: 0, for: setup) else {
      Issue.record("the command has no answer")
      return
    }
    for isAnswered in [true, false] {
      var exchange = CommandExchange<UBloxCommand>()
      exchange.send(.liveOutput(false), at: at(1))
      exchange.send(.liveOutput(false), at: at(2))
      exchange.close(isAnswered: isAnswered, for: setup, until: at(20))
      exchange.beginState()
      exchange.send(.liveOutput(false), at: at(3))
      var late = 0
      while late < 5, !exchange.consume(answer, for: setup, at: at(4)) { late += 1 }
      #expect(late == (isAnswered ? 1 : 2))
    }
  }

  @Test("A configuration is rewritten at most three times a minute")
  func reconfigurations() {
    var attempts = RetryCounters()
    let answers = (0..<5).map { attempts.countReconfiguration(at: at(100 + $0)) }
    #expect(answers == [true, true, true, false, false])
    let answer6 = attempts.countReconfiguration(at: at(160))
    #expect(!answer6)
    let answer7 = attempts.countReconfiguration(at: at(161))
    #expect(answer7)
  }

  @Test("The fourth unexpected wake-up in a row is too often; a minute of sleep resets the count")
  func wakeUps() {
    var attempts = RetryCounters()
    attempts.recordGoalReached(at: at(0))
    let answers = (1...4).map { attempts.countUnexpectedWake(at: at($0)) }
    #expect(answers == [false, false, false, true])
    let answer8 = attempts.countUnexpectedWake(at: at(61))
    #expect(!answer8)
  }

  @Test("Losses are reset when the receiver works")
  func losses() {
    var attempts = RetryCounters()
    for _ in 0..<300 { attempts.recordLoss() }
    attempts.isLossReported = true
    #expect(attempts.losses == 255)
    attempts.recordGoalReached(at: at(1))
    #expect(attempts.losses == 0 && !attempts.isLossReported)
  }

  @Test("A late answer does not end the next command")
  func lateAnswer() {
    var driver = UBloxDriver(Setups.wired)
    func step(_ event: DriverEvent, _ ms: Int64) -> UBloxDriver.State {
      _ = driver.handle(event, at: .boot + .milliseconds(ms))
      return driver.state
    }
    let ack = DriverEvent.message(.acknowledged(.cfgVALSET))
    let version = UBXVersion(software: "", hardware: "")
    _ = step(.goal(.batching(watermark: 5)), 0)
    _ = step(.deadline, 100)
    _ = step(.deadline, 1_000)
    #expect(step(.message(.receiverVersion(version)), 1_050) == .configuring)
    #expect(step(.deadline, 2_000) == .configuring)
    #expect(step(ack, 2_010) == .leaving)
    #expect(step(.message(.batchStatus(UBXBatchStatus(fillLevel: 0))), 2_020) == .enabling)
    #expect(step(ack, 2_030) == .enabling)
    #expect(step(ack, 2_040) == .muting)
    #expect(step(ack, 2_050) == .batching)
  }

  @Test("A trickle of entries does not keep a drain alive indefinitely")
  func trickle() {
    var driver = UBloxDriver(Setups.wired)
    var now = Instant.boot
    func step(_ event: DriverEvent, _ ms: Int64) {
      now = now + .milliseconds(ms)
      _ = driver.handle(event, at: now)
    }
    let ack = DriverEvent.message(.acknowledged(.cfgVALSET))
    step(.goal(.batching(watermark: 5)), 0)
    step(.deadline, 100)
    step(.deadline, 1_000)
    step(.message(.receiverVersion(UBXVersion(software: "", hardware: ""))), 10)
    step(ack, 10)
    step(.message(.batchStatus(UBXBatchStatus(fillLevel: 0))), 10)
    step(ack, 10)
    step(ack, 10)
    step(.drain, 10)
    step(.message(.batchStatus(UBXBatchStatus(fillLevel: 100))), 10)
    let begun = now
    let entry = UBXBatchEntry(messageCount: 0, hasExtraPVT: true, solution: FakeM10.solution(1))
    for _ in 0..<100 where driver.drain.retrievals == 1 {
      if let deadline = driver.deadline, deadline <= now + .milliseconds(300) {
        step(.deadline, (deadline - now).microseconds / 1_000 + 1)
      } else {
        step(.message(.batchEntry(entry)), 300)
      }
    }
    // Twice the time of 100 entries at 115200 baud, plus one answer timeout.
    #expect(now - begun < .milliseconds(2_600))
    #expect(driver.drain.retrievals == 2)
  }

  @Test("A drain ends even if the receiver's buffer fills faster than the line empties it")
  func endlessDrain() {
    var driver = UBloxDriver(Setups.wired)
    var now = Instant.boot
    func step(_ event: DriverEvent) -> DriverObservation {
      now = now + .milliseconds(20)
      return driver.handle(event, at: now).observation
    }
    let ack = DriverEvent.message(.acknowledged(.cfgVALSET))
    let empty = DriverEvent.message(.batchStatus(UBXBatchStatus(fillLevel: 0)))
    let entry = UBXBatchEntry(messageCount: 0, hasExtraPVT: true, solution: FakeM10.solution(1))
    _ = step(.goal(.batching(watermark: 5)))
    _ = step(.deadline)
    now = now + .seconds(2)
    _ = step(.deadline)
    _ = step(.message(.receiverVersion(UBXVersion(software: "", hardware: ""))))
    for event in [ack, empty, ack, ack, .deadline, .drain] { _ = step(event) }
    #expect(driver.state == .draining)
    var reported: [DriverObservation] = []
    for _ in 0..<200 where driver.state == .draining {
      reported.append(step(.message(.batchStatus(UBXBatchStatus(fillLevel: 1)))))
      reported.append(step(.message(.batchEntry(entry))))
    }
    #expect(driver.state == .batching)
    #expect(reported.last == .drained)
    #expect(driver.drain.retrievals == 64)
  }
}

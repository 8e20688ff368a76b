import GNSSProtocols
import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Batching in the receiver") struct BatchingTests {
  /// A receiver that tracks and batches from about 20.5 s on.
  private func batching(
    entries: UInt64 = 50, watermark: UInt64 = 30, live: Bool = false, pin: Bool = true,
    _ change: (inout SimulationSetup) -> Void = { _ in }
  ) -> SimulatedBoard {
    var board = SimulatedBoard(m10(change), track: straight())
    _ = receive(&board, until: seconds(0.5))
    board.configureUBX()
    _ = receive(&board, until: seconds(20.5))
    board.configure([
      (ConfigurationKey.batchEntries, entries), (ConfigurationKey.batchWatermark, watermark),
      (ConfigurationKey.batchPinEnable, pin ? 1 : 0), (ConfigurationKey.batchEnable, 1),
    ])
    if !live { board.configure([(ConfigurationKey.navPVT, 0)]) }
    let received = receive(&board, until: seconds(20.9))
    #expect(received.refused.isEmpty)
    #expect(board.receiverPowerState == (live ? .tracking : .batching))
    return board
  }

  private func drain(_ board: inout SimulatedBoard, until end: Double) -> ReceivedData {
    board.send { $0.appendRetrieveBatch(sendsStatusFirst: true) }
    return receive(&board, until: seconds(end))
  }

  @Test("the pin rises at the watermark and wakes a suspended board; no bytes are lost")
  func watermark() {
    var board = batching()
    let report = board.wait(in: .suspended, until: seconds(1_000))
    #expect(report == WakeReport(reason: .batchPin, batchPinRose: true, wasSuspended: true))
    // The 30th epoch since 20.9 s is that of 50 s; it is computed 50 ms later.
    #expect(board.now == seconds(50.05 + 0.3))
    #expect(board.lostBytes == 0)
    let again = board.wait(in: .suspended, until: seconds(60))
    #expect(
      again == WakeReport(reason: .alarm, batchPinRose: false, wasSuspended: true),
      "the level alone does not wake the board")
  }

  @Test("entries are sent oldest first with consecutive numbers, and removed")
  func order() {
    var board = batching()
    _ = board.wait(in: .suspended, until: seconds(1_000))
    let first = drain(&board, until: 51.9)
    #expect(first.statuses == [UBXBatchStatus(fillLevel: 30)])
    let times = first.entries.compactMap(\.solution.utc)
    #expect(times == (21...50).map { Scenario.start + .seconds($0) })
    #expect(first.entries.map(\.messageCount) == Array(0..<30))
    #expect(first.entries.allSatisfy { !$0.hasExtraPVT && $0.solution.isFixOK })
    let second = drain(&board, until: 51.99)
    #expect(second.statuses == [UBXBatchStatus(fillLevel: 1, nextMessageCount: 30)])
    #expect(second.entries.map(\.messageCount) == [30])
    let third = drain(&board, until: 52.04)
    #expect(third.statuses == [UBXBatchStatus(fillLevel: 0, nextMessageCount: 31)])
    #expect(third.entries.isEmpty)
    #expect(board.violations.isEmpty)
  }

  @Test("after a drain below the watermark the pin rises again at the watermark")
  func again() {
    var board = batching()
    _ = board.wait(in: .suspended, until: seconds(1_000))
    _ = drain(&board, until: 51.9)
    let report = board.wait(in: .suspended, until: seconds(1_000))
    #expect(report.reason == .batchPin)
    #expect(board.now == seconds(80.05 + 0.3))
  }

  @Test("a full buffer drops the oldest entries and counts them")
  func overflow() {
    var board = batching(watermark: 0)
    _ = board.wait(in: .idle, until: seconds(100.5), wakesOnInput: false)
    let received = drain(&board, until: 102.4)
    #expect(received.statuses == [UBXBatchStatus(fillLevel: 50, dropsAll: 30, dropsSinceLast: 30)])
    #expect(received.entries.first?.solution.utc == Scenario.start + .seconds(51))
    #expect(received.entries.last?.solution.utc == Scenario.start + .seconds(100))
    let later = drain(&board, until: 102.9)
    #expect(later.statuses.map(\.dropsAll) == [30])
    #expect(later.statuses.map(\.dropsSinceLast) == [0])
  }

  @Test("disabling clears the buffer and lowers the pin")
  func disable() {
    var board = batching()
    _ = board.wait(in: .idle, until: seconds(60.5), wakesOnInput: false)
    board.configure([(ConfigurationKey.batchEnable, 0)])
    _ = receive(&board, until: seconds(61.5))
    let received = drain(&board, until: 62.9)
    #expect(received.statuses == [UBXBatchStatus(fillLevel: 0)])
    #expect(received.entries.isEmpty)
    #expect(board.receiverPowerState == .tracking)
    #expect(board.wait(in: .suspended, until: seconds(200)).reason == .alarm)
  }

  @Test("standby clears the buffer")
  func standby() {
    var board = batching()
    _ = receive(&board, until: seconds(40.5))
    board.send { $0.appendPowerRequest(UBXPowerRequest(wakeupSources: 32)) }
    _ = receive(&board, until: seconds(41))
    #expect(throws: Never.self) { try board.set(PinCommand(.receiverWake, .active)) }
    _ = receive(&board, until: seconds(50.5))
    #expect(drain(&board, until: 50.9).statuses.map(\.fillLevel) == [0])
  }

  @Test("live output can continue during batching and draining")
  func live() {
    var board = batching(live: true)
    let before = receive(&board, until: seconds(40.5))
    #expect(before.solutions.count == 20)
    let during = drain(&board, until: 43.5)
    #expect(during.solutions.count == 3)
    #expect(during.entries.count == 20)
  }

  @Test("live epochs are sent between entries, not after all entries")
  func interleaved() {
    var board = batching(entries: 600, watermark: 0, live: true)
    _ = receive(&board, until: seconds(300.9))
    board.send { $0.appendRetrieveBatch(sendsStatusFirst: false) }
    let received = receive(&board, until: seconds(310.9))
    #expect(received.entries.count == 280)
    for (message, time) in zip(received.messages, received.times) {
      if case .navPVT(let s) = message, let utc = s.utc {
        let delay = time - (.boot + (utc - Scenario.start))
        #expect(delay < .milliseconds(250))
      }
    }
  }

  @Test("the pin stays low if it is not enabled, not wired, or has no watermark")
  func noPin() {
    var boards = 0
    func check(_ board: consuming SimulatedBoard) {
      #expect(board.wait(in: .suspended, until: seconds(200)).reason == .alarm)
      boards += 1
    }
    check(batching(pin: false))
    check(batching(watermark: 0))
    check(batching { $0.receiver.hasBatchPin = false })
    #expect(boards == 3)
  }

  @Test("a board that the pin does not wake reports the edge at the next wake")
  func pinIsNoWakeSource() {
    var board = batching { $0.board.suspended?.wakeSources = [.alarm] }
    let report = board.wait(in: .suspended, until: seconds(100))
    #expect(report == WakeReport(reason: .alarm, batchPinRose: true, wasSuspended: true))
  }

  @Test("a simulated refusal rejects batching and is no violation")
  func refusal() {
    var board = SimulatedBoard(
      m10 { $0.faults.batchingRejected = [seconds(5)..<seconds(10)] }, track: straight())
    _ = receive(&board, until: seconds(6))
    let items: [(UInt32, UInt64)] = [
      (ConfigurationKey.batchEntries, 300), (ConfigurationKey.batchEnable, 1),
    ]
    board.configure(items)
    #expect(receive(&board, until: seconds(8)).refused == [.cfgVALSET])
    board.configureUBX()
    #expect(receive(&board, until: seconds(9.9)).acknowledged == [.cfgVALSET])
    _ = receive(&board, until: seconds(10))
    board.configure(items)
    #expect(receive(&board, until: seconds(12)).acknowledged == [.cfgVALSET])
    #expect(board.violations.isEmpty)
  }

  @Test("a buffer above the capacity and a watermark above the buffer are refused")
  func capacity() {
    let key = ConfigurationKey.self
    let cases: [([(UInt32, UInt64)], Bool)] = [
      ([(key.batchEntries, 600)], true), ([(key.batchEntries, 601)], false),
      ([(key.batchEntries, 0)], false),
      ([(key.batchEntries, 300), (key.batchWatermark, 300)], true),
      ([(key.batchEntries, 300), (key.batchWatermark, 301)], false),
      ([(key.batchEntries, 309), (key.batchExtraPVT, 1)], true),
      ([(key.batchEntries, 310), (key.batchExtraPVT, 1)], false),
      ([(key.batchEntries, 443), (key.batchExtraOdometer, 1)], true),
      ([(key.batchEntries, 262), (key.batchExtraPVT, 1), (key.batchExtraOdometer, 1)], false),
    ]
    for (items, isAccepted) in cases {
      var board = SimulatedBoard(m10(), track: straight())
      _ = receive(&board, until: seconds(0.5))
      board.configure(items + [(key.batchEnable, 1)])
      #expect(receive(&board, until: seconds(0.9)).refused.isEmpty == isAccepted)
    }
    var board = SimulatedBoard(m10 { $0.receiver.batchCapacity = nil }, track: straight())
    _ = receive(&board, until: seconds(0.5))
    board.configure([(key.batchEnable, 1)])
    #expect(receive(&board, until: seconds(0.9)).refused == [.cfgVALSET])
  }

  @Test("entries with extra PVT fields are flagged")
  func extraPVT() {
    var board = SimulatedBoard(m10(), track: straight())
    _ = receive(&board, until: seconds(0.5))
    board.configure([
      (ConfigurationKey.sendsNMEA, 0), (ConfigurationKey.batchEntries, 100),
      (ConfigurationKey.batchExtraPVT, 1), (ConfigurationKey.batchEnable, 1),
    ])
    _ = receive(&board, until: seconds(30.5))
    let received = drain(&board, until: 31.9)
    #expect(received.entries.count == 30)
    #expect(received.entries.allSatisfy { $0.hasExtraPVT })
    #expect(received.entries.filter { $0.solution.fixType == 0 }.count == 10)
  }
}

@Suite("Batch buffer") struct BatchRingTests {
  private func solution(_ second: Int64) -> UBXSolution {
    UBXSolution(
      utc: Scenario.start + .seconds(second), fixType: 3, isFixOK: true, longitude_e7: 0,
      latitude_e7: 0, height_mm: 0, horizontalAccuracy_mm: 1)
  }

  @Test("entries dropped during retrieval are not sent; new entries wait")
  func dropsWhileSending() {
    var batch = ReceiverBatch()
    batch.enable(capacity: 3, hasExtraPVT: false)
    for i: Int64 in 0..<3 { batch.append(solution(i)) }
    batch.beginRetrieval(at: .boot)
    batch.append(solution(3))
    var sent: [UTCTime?] = []
    while let entry = batch.removeNext() { sent.append(entry.solution.utc) }
    #expect(sent == [Scenario.start + .seconds(1), Scenario.start + .seconds(2)])
    #expect(batch.count == 1)
    #expect(batch.readStatus().dropsSinceLast == 1)
    #expect(batch.readStatus() == UBXBatchStatus(fillLevel: 1, dropsAll: 1, nextMessageCount: 2))
  }

  @Test("a retrieval has a due time until its last entry is sent, or until it is ended")
  func retrieval() {
    var batch = ReceiverBatch()
    batch.enable(capacity: 4, hasExtraPVT: false)
    batch.beginRetrieval(at: seconds(1))
    #expect(batch.sendDue == .distantFuture, "nothing to send")
    for i: Int64 in 0..<3 { batch.append(solution(i)) }
    batch.beginRetrieval(at: seconds(1))
    #expect(batch.sendDue == seconds(1))
    _ = batch.removeNext()
    batch.continueRetrieval(at: seconds(2))
    #expect(batch.sendDue == seconds(2))
    batch.endRetrieval()
    #expect(batch.sendDue == .distantFuture && batch.count == 2 && batch.removeNext() == nil)
    batch.beginRetrieval(at: seconds(3))
    _ = batch.removeNext()
    _ = batch.removeNext()
    batch.continueRetrieval(at: seconds(4))
    #expect(batch.sendDue == .distantFuture && batch.count == 0)
  }
}

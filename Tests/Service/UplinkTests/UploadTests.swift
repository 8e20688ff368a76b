import LocationTypes
import Testing
import UplinkPayload

@testable import Uplink

/// A broker and a store in memory.
private struct FakeBroker: BrokerConnection {
  var messages: [(topic: String, message: UplinkMessage)] = []
  var receipts: [String] = []
  /// Answers to the next messages; without one there is no receipt.
  var answers: [[String]] = []

  mutating func publish(_ bytes: [UInt8], to topic: String) throws(BrokerError) {
    guard let message = try? UplinkMessage(decoding: bytes) else {
      throw BrokerError(description: "not a message")
    }
    messages.append((topic, message))
    if !answers.isEmpty { receipts += answers.removeFirst() }
  }

  mutating func nextReceipt(within limit: Interval) throws(BrokerError) -> [UInt8]? {
    receipts.isEmpty ? nil : Array(receipts.removeFirst().utf8)
  }
}

@Suite("Uploads")
struct UploadTests {
  private let upload = Upload(
    device: DeviceName("board-1")!, ring: 0xAB, confirmation: .store,
    newest: FixName(generation: 8, sequence: 100))

  private func fix(_ generation: UInt32, _ sequence: UInt64) -> StoredFix {
    StoredFix(
      name: FixName(generation: generation, sequence: sequence),
      fix: Fix(acquired: .boot, coordinate: Coordinate(latitude_e9: 1, longitude_e9: 2)))
  }

  private func receipt(_ generation: Int, _ sequence: Int, ring: String = "00000000000000ab")
    -> String
  {
    #"{"ring":"\#(ring)","generation":\#(generation),"sequence":\#(sequence)}"#
  }

  private func pending(_ fixes: [StoredFix]) -> PendingFixes {
    var pending = PendingFixes()
    pending.add(fixes)
    return pending
  }

  private func failure(_ pending: inout PendingFixes, _ broker: inout FakeBroker) -> String? {
    do throws(BrokerError) {
      while try upload.sendNext(&pending, over: &broker, log: { _ in }) {}
      return nil
    } catch { return error.description }
  }

  @Test("each generation is a message, which names the fix before it")
  func generations() {
    var pending = pending([fix(7, 1), fix(7, 2), fix(8, 3)])
    var broker = FakeBroker(answers: [[receipt(7, 2)], [receipt(8, 3)]])
    #expect(failure(&pending, &broker) == nil)
    #expect(pending.isEmpty && pending.preceding == FixName(generation: 8, sequence: 3))
    #expect(broker.messages.map(\.topic) == Array(repeating: "torpor/board-1/fixes", count: 2))
    #expect(
      broker.messages.map(\.message.preceding) == [nil, FixName(generation: 7, sequence: 2)])
    #expect(broker.messages[0].message.content == .fixes([fix(7, 1), fix(7, 2)]))
  }

  @Test(
    "without a receipt of this ring that names the last fix, nothing is confirmed",
    arguments: [
      [], ["x"], ["{}"], [#"{"ring":"00000000000000ab"}"#],
      [#"{"ring":"00000000000000ab","generation":7,"sequence":1}"#],
      [#"{"ring":"00000000000000ac","generation":7,"sequence":2}"#],
      [#"{"ring":"00000000000000ab","generation":8,"sequence":101}"#],
      [#"{"ring":"00000000000000ab","generation":9,"sequence":0}"#],
      [#"{"ring":"00000000000000ab","generation":7,"sequence":2,"gap":{"generation":9,"next":1}}"#],
    ])
  func unconfirmed(receipts: [String]) {
    var pending = pending([fix(7, 1), fix(7, 2)])
    var broker = FakeBroker(answers: [receipts])
    #expect(failure(&pending, &broker)?.contains("no receipt of the store") == true)
    #expect(!pending.isEmpty && pending.preceding == nil)
  }

  @Test("a retained receipt of an earlier upload and foreign receipts are skipped")
  func skipped() {
    var pending = pending([fix(7, 5)])
    var broker = FakeBroker(answers: [
      [receipt(7, 4), receipt(9, 9), receipt(7, 9, ring: "00000000000000ff"), receipt(8, 1)]
    ])
    #expect(failure(&pending, &broker) == nil)
    #expect(pending.isEmpty)
  }

  @Test("a gap is confirmed by its end, and comes before the fixes that follow it")
  func gaps() {
    var pending = PendingFixes()
    pending.add(Gap(1..<4, from: nil, to: nil))
    #expect(!pending.hasMessage && pending.next() == nil, "it waits for a fix")
    pending.add([fix(7, 4)])
    #expect(pending.hasMessage && pending.last == FixName(generation: 7, sequence: 4))
    let confirmed = #"{"ring":"00000000000000ab","gap":{"generation":7,"next":4}}"#
    var broker = FakeBroker(answers: [[confirmed], [receipt(7, 4)]])
    #expect(failure(&pending, &broker) == nil)
    #expect(broker.messages.map(\.topic) == ["torpor/board-1/gap", "torpor/board-1/fixes"])
    #expect(
      broker.messages[0].message.content
        == .gap(Gap(1..<4, from: nil, to: nil), generation: 7))
  }

  @Test(
    "after a dropped fix no later one is kept, because its confirmation would include the dropped one"
  )
  func dropped() {
    var pending = PendingFixes()
    pending.add((0..<UInt64(PendingFixes.limit)).map { fix(1, $0) })
    #expect(pending.isFull && !pending.hasDropped)
    pending.add([fix(1, 5_000)])
    #expect(pending.hasDropped)
    guard let part = pending.next() else {
      Issue.record("nothing to send")
      return
    }
    pending.confirm(part)
    pending.add([fix(1, 5_001)])
    #expect(pending.isEmpty)
  }
}

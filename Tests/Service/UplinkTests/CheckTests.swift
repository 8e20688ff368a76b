import LocationTypes
import Testing
import UplinkPayload

@testable import Uplink

/// A broker whose store answers test messages.
private struct AnsweringBroker: BrokerConnection {
  var topics: [String] = []
  var receipts: [String] = []
  /// Whether the store returns the number of the test message.
  var answers = true
  /// Whether a program subscribes to the topic.
  var hasSubscriber = true

  mutating func publish(
    _ bytes: [UInt8], to topic: String, isRetained: Bool
  ) throws(BrokerError) -> Bool {
    topics.append(topic)
    if answers { receipts.append(String(decoding: bytes, as: UTF8.self)) }
    return hasSubscriber
  }

  mutating func nextReceipt(within limit: Interval) throws(BrokerError) -> [UInt8]? {
    receipts.isEmpty ? nil : Array(receipts.removeFirst().utf8)
  }
}

@Suite("Checks of destinations, and the status")
struct CheckTests {
  private func check(_ confirmation: String = "store") throws -> UplinkCheck {
    let text = "receipt = '\(confirmation)'\n[[destination]]\nhost = '::1'"
    return UplinkCheck(
      settings: try UplinkSettings(
        parsing: Array(text.utf8), file: "u.toml", defaultDevice: DeviceName("board-1"),
        checkFile: { _, _ in nil }))
  }

  @Test("the store returns the number of the test message; other receipts are skipped")
  func answer() throws {
    var broker = AnsweringBroker(receipts: [#"{"ring":"00000000000000ab"}"#, "x"])
    try check().exchange(over: &broker, number: 0xAB)
    #expect(broker.topics == ["torpor/board-1/check"])
    #expect(broker.receipts.isEmpty)
  }

  @Test("without an answer of the store the check fails, unless the receipt is the broker's")
  func noAnswer() throws {
    var broker = AnsweringBroker(answers: false)
    let check = try check()
    let error = #expect(throws: BrokerError.self) {
      try check.exchange(over: &broker, number: 1)
    }
    #expect(error?.description.contains("the store did not answer") == true)
    try self.check("broker").exchange(over: &broker, number: 1)
    broker.hasSubscriber = false
    for confirmation in ["broker", "store"] {
      let check = try self.check(confirmation)
      let error = #expect(throws: BrokerError.self) {
        try check.exchange(over: &broker, number: 1)
      }
      #expect(error?.description.contains("no program subscribes") == true)
    }
  }

  @Test("the status is one JSON object; what is unknown is omitted")
  func status() throws {
    var status = UplinkStatus(try #require(DeviceName("a")))
    func text(_ status: UplinkStatus) -> String { String(decoding: status.json, as: UTF8.self) }
    #expect(
      text(status) == #"{"device":"a","fixes":0,"uploads":0,"pending":0,"failures":0}"# + "\n")
    status.broker = "b:1"
    status.lastUpload = UTCTime(microseconds: 5)
    (status.fixes, status.uploads, status.pending, status.failures) = (1, 2, 3, 4)
    status.nextAttempt = UTCTime(microseconds: 6)
    status.problem = "\"no\""
    #expect(
      text(status)
        == #"{"device":"a","broker":"b:1","last_upload_us":5,"fixes":1,"uploads":2,"pending":3,"#
        + #""failures":4,"next_attempt_us":6,"problem":"\"no\""}"# + "\n")
  }
}

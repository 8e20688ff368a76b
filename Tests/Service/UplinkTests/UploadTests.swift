import LocationTypes
import Testing
import UplinkPayload

@testable import Uplink

/// A broker and a store in memory.
private struct FakeBroker: BrokerConnection {
  var messages: [(topic: String, message: UplinkMessage)] = []
  var receipts: [String] = []
  /// Whether the store refuses each message, before the other answers.
  var refusesAll = false
  /// Answers to the next messages; without one there is no receipt.
  var answers: [[String]] = []
  /// Failures of the next messages; nil for none.
  var failures: [BrokerError.Cause?] = []
  /// Whether a program subscribes to the topics.
  var hasSubscriber = true
  /// Largest size of a message, bytes.
  var largest = Int.max

  mutating func publish(
    _ bytes: [UInt8], to topic: String, isRetained: Bool
  ) throws(BrokerError) -> Bool {
    if bytes.count > largest {
      throw BrokerError(description: "refused", cause: .tooLarge(isConnected: true))
    }
    if !failures.isEmpty, let cause = failures.removeFirst() {
      throw BrokerError(description: "failed", cause: cause)
    }
    guard let message = try? UplinkMessage(decoding: bytes) else {
      throw BrokerError(description: "not a message")
    }
    messages.append((topic, message))
    if refusesAll { receipts.append(refusal(of: bytes)) }
    if !answers.isEmpty { receipts += answers.removeFirst() }
    return hasSubscriber
  }

  mutating func nextReceipt(within limit: Interval) throws(BrokerError) -> [UInt8]? {
    receipts.isEmpty ? nil : Array(receipts.removeFirst().utf8)
  }
}

/// The checksum of a message: its last number, the lowest byte first.
private func checksumDigits(of bytes: [UInt8]) -> String {
  bytes.suffix(4).reversed().map { byte -> String in
    let text = String(byte, radix: 16)
    return text.utf8.count == 1 ? "0" + text : text
  }.joined()
}

/// A refusal of a message, with the receipt of a fix.
private func refusal(of bytes: [UInt8], sequence: Int = 0, reason: String = "bad") -> String {
  #"{"ring":"00000000000000ab","generation":7,"sequence":\#(sequence),"refused":""#
    + checksumDigits(of: bytes) + #"","reason":"\#(reason)"}"#
}

@Suite("Uploads")
struct UploadTests {
  private let upload = UploadTests.upload(.store)

  private static func upload(_ confirmation: UplinkSettings.Confirmation) -> Upload {
    Upload(
      device: DeviceName("board-1")!, ring: 0xAB, confirmation: confirmation,
      newest: FixName(generation: 8, sequence: 100), end: .distantFuture)
  }

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
    var memory = BrokerMemory()
    return failure(&pending, &broker, &memory)
  }

  private func failure(
    _ pending: inout PendingFixes, _ broker: inout FakeBroker, _ memory: inout BrokerMemory,
    log: (String) -> Void = { _ in }
  ) -> String? {
    do throws(BrokerError) {
      while try upload.sendNext(&pending, over: &broker, &memory, log: log) {}
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
    #expect(pending.hasMessage && pending.oldest?.name == FixName(generation: 7, sequence: 4))
    let confirmed = #"{"ring":"00000000000000ab","gap":{"generation":7,"next":4}}"#
    var broker = FakeBroker(answers: [[confirmed], [receipt(7, 4)]])
    #expect(failure(&pending, &broker) == nil)
    #expect(broker.messages.map(\.topic) == ["torpor/board-1/gap", "torpor/board-1/fixes"])
    #expect(
      broker.messages[0].message.content
        == .gap(Gap(1..<4, from: nil, to: nil), generation: 7))
  }

  @Test("a receipt of the gap as it was before its time has grown does not confirm it")
  func grownGap() {
    var pending = PendingFixes()
    pending.add(Gap(1..<4, from: nil, to: nil))
    pending.add([fix(7, 4)])
    let gap = #"{"ring":"00000000000000ab","gap":{"generation":7,"next":4,"checksum":""#
    var broker = FakeBroker(answers: [[gap + #"00000000"}}"#, gap + #"x"}}"#]])
    #expect(failure(&pending, &broker)?.contains("no receipt of the store") == true)
    #expect(pending.count == 2)
    let message = broker.messages[0].message
    let checksum = checksumDigits(of: (try? message.encoded()) ?? [])
    broker.answers = [[gap + "0" + checksum + #""}}"#]]
    #expect(failure(&pending, &broker)?.contains("no receipt of the store") == true)
    broker.answers = [[gap + checksum + #""}}"#], [receipt(7, 4)]]
    #expect(failure(&pending, &broker) == nil)
    let later =
      #"{"ring":"00000000000000ab","gap":{"generation":7,"next":5,"checksum":"00000000"}}"#
    pending.add(Gap(1..<4, from: nil, to: nil))
    pending.add([fix(7, 4)])
    broker.answers = [[later], [receipt(7, 4)]]
    #expect(failure(&pending, &broker) == nil, "a later gap confirms it, whatever its checksum")
  }

  @Test("an event is sent in its order, and confirmed by its number")
  func events() {
    var pending = pending([fix(7, 1)])
    pending.add(event: 5, Array(#"{"visit":{}}"#.utf8))
    pending.add([fix(7, 2)])
    let event = #"{"ring":"00000000000000ab","event":"#
    var broker = FakeBroker(answers: [
      [receipt(7, 1)], [event + "4}", event + "5}"], [receipt(7, 2)],
    ])
    #expect(failure(&pending, &broker) == nil)
    #expect(broker.messages.map(\.topic.last) == ["s", "t", "s"])
    #expect(
      broker.messages[1].message.content
        == .event(number: 5, json: Array(#"{"visit":{}}"#.utf8)))
    #expect(pending.confirmedEvent == 5 && pending.preceding == FixName(generation: 7, sequence: 2))
  }

  @Test("an event behind a gap waits with it for a fix")
  func eventAfterGap() {
    var pending = PendingFixes()
    pending.add(Gap(1..<4, from: nil, to: nil))
    pending.add(event: 1, [])
    #expect(!pending.hasMessage && pending.next() == nil)
    pending.add([fix(7, 4)])
    #expect(pending.hasMessage)
  }

  @Test("a receipt of an event that does not exist is ignored")
  func eventAhead() {
    var pending = PendingFixes()
    pending.add(event: 5, [])
    var broker = FakeBroker(answers: [[#"{"ring":"00000000000000ab","event":6}"#]])
    #expect(failure(&pending, &broker)?.contains("no receipt of the store") == true)
    pending.add(event: 6, [])
    broker.answers = [[#"{"ring":"00000000000000ab","event":6}"#], []]
    broker.receipts = []
    #expect(failure(&pending, &broker)?.contains("no receipt of the store") == true)
    #expect(pending.confirmedEvent == 5, "a receipt of both events confirms one message")
  }

  @Test("a message that the store refuses is not sent again, and its reason is logged once")
  func refused() {
    var pending = pending([fix(7, 1), fix(8, 2)])
    pending.add(event: 5, Array(#"{"visit":{}}"#.utf8))
    var broker = FakeBroker(refusesAll: true)
    var memory = BrokerMemory()
    var lines: [String] = []
    #expect(failure(&pending, &broker, &memory, log: { lines.append($0) }) == nil)
    #expect(broker.messages.count == 3 && pending.isEmpty)
    #expect(pending.preceding == FixName(generation: 8, sequence: 2))
    #expect(pending.confirmedEvent == 5)
    #expect(lines.count == 1 && lines[0].contains("the store refuses a message"), "\(lines)")
    #expect(lines[0].contains(": bad: "))
  }

  @Test("a refusal of another message refuses nothing; its receipt counts")
  func otherRefusal() throws {
    let other = UplinkMessage(
      device: DeviceName("board-1")!, ring: 0xAB, preceding: nil, content: .fixes([fix(7, 9)]))
    let bytes = try other.encoded()
    var pending = pending([fix(7, 1)])
    var broker = FakeBroker(answers: [[refusal(of: bytes)]])
    #expect(failure(&pending, &broker)?.contains("no receipt of the store") == true)
    #expect(pending.count == 1)
    broker.answers = [[refusal(of: bytes, sequence: 1)]]
    #expect(failure(&pending, &broker) == nil)
    #expect(pending.isEmpty)
  }

  @Test(
    "what is no refusal is none; a later version of the store omits the ring",
    arguments: [
      (#"{"refused":"0d4A1185","reason":"a\u000ab"}"#, Optional("a\u{FFFD}b")),
      (#"{"refused":"0d4a1185"}"#, "no reason"), (#"{"refused":"d4a1185"}"#, nil),
      (#"{"refused":"0d4a118x"}"#, nil), (#"{"refused":7}"#, nil), ("{}", nil), ("x", nil),
      (#"{"refused":"+d4a1185"}"#, nil),
    ])
  func refusals(json: String, reason: String?) {
    let found = Refusal(Array(json.utf8))
    #expect(found?.reason == reason)
    #expect(found == nil || found?.checksum == 0x0D4A_1185)
  }

  @Test(
    "the ring of a receipt has 16 hexadecimal digits, without a sign",
    arguments: [
      ("00000000000000ab", 0xAB), ("FFFFFFFFFFFFFFFF", UInt64.max), ("+0000000000000ab", nil),
      ("-000000000000000", nil), ("ab", nil), ("00000000000000000", nil),
    ] as [(String, UInt64?)])
  func receiptRing(digits: String, ring: UInt64?) {
    #expect(Receipt(Array(#"{"ring":"\#(digits)"}"#.utf8))?.ring == ring)
  }

  @Test("a broker that refuses large messages gets smaller ones, over the same connection")
  func tooLarge() {
    // Positions without a pattern, so that each fix needs some bytes.
    var pending = pending(
      (0..<64 as Range<UInt64>).map { sequence in
        var stored = fix(7, sequence)
        let offset = Int64(sequence * sequence * sequence * 7_919 % 1_000_003) * 1_000
        stored.fix.coordinate = Coordinate(latitude_e9: offset, longitude_e9: -offset)
        return stored
      })
    var broker = FakeBroker(answers: Array(repeating: [receipt(7, 63)], count: 64), largest: 250)
    var memory = BrokerMemory()
    var lines: [String] = []
    #expect(failure(&pending, &broker, &memory, log: { lines.append($0) }) == nil)
    #expect(pending.isEmpty && lines.count == 1, "\(lines)")
    #expect(lines.first?.contains("the broker refuses a message of") == true)
    let counts = broker.messages.map { entry -> Int in
      if case .fixes(let fixes) = entry.message.content { fixes.count } else { 0 }
    }
    #expect(counts.reduce(0, +) == 64 && Set(counts).count == 1, "\(counts)")
    #expect(memory.size.largest == counts[0], "it is not tried again with the next upload")
  }

  @Test("a broker that refuses even one fix is an error")
  func tooSmall() {
    var pending = pending([fix(7, 1), fix(7, 2)])
    var broker = FakeBroker(largest: 10)
    #expect(failure(&pending, &broker) == "refused")
    #expect(pending.count == 2)
  }

  @Test("a connection that is lost with a message asks for a new one, with a smaller message")
  func lost() throws {
    var pending = pending((0..<8).map { fix(7, $0) })
    var broker = FakeBroker(failures: [.lost])
    var memory = BrokerMemory()
    var found: BrokerError.Cause?
    do throws(BrokerError) {
      _ = try upload.sendNext(&pending, over: &broker, &memory) { _ in }
    } catch { found = error.cause }
    #expect(found == .lost && memory.size.limit == 4 && memory.size.largest == PendingFixes.limit)
    broker.answers = [[receipt(7, 3)], [receipt(7, 7)]]
    #expect(failure(&pending, &broker, &memory) == nil)
    #expect(memory.size.largest == PendingFixes.limit, "one loss may have had another reason")
    // With one fix the size is not the reason, and nothing is tried again at once.
    pending.add([fix(7, 9)])
    broker.failures = [.lost]
    do throws(BrokerError) {
      _ = try upload.sendNext(&pending, over: &broker, &memory) { _ in }
    } catch { found = error.cause }
    #expect(found == .other)
  }

  @Test("a broker that names the size and ends the connection gets smaller messages over a new one")
  func lostTooLarge() {
    var pending = pending((0..<8).map { fix(7, $0) })
    var broker = FakeBroker(failures: [.tooLarge(isConnected: false)])
    var memory = BrokerMemory()
    var found: BrokerError.Cause?
    do throws(BrokerError) {
      _ = try upload.sendNext(&pending, over: &broker, &memory) { _ in }
    } catch { found = error.cause }
    #expect(found == .lost && memory.size.largest == 4)
  }

  @Test("with `receipt = \"broker\"` a message without a subscriber is not delivered")
  func noSubscriber() {
    var pending = pending([fix(7, 1)])
    var broker = FakeBroker(hasSubscriber: false)
    var memory = BrokerMemory()
    let upload = UploadTests.upload(.broker)
    var found: BrokerError?
    do throws(BrokerError) {
      _ = try upload.sendNext(&pending, over: &broker, &memory) { _ in }
    } catch { found = error }
    #expect(found?.description.contains("no program subscribes to the topic") == true)
    #expect(!pending.isEmpty)
    broker.hasSubscriber = true
    #expect((try? upload.sendNext(&pending, over: &broker, &memory) { _ in }) == true)
    #expect(pending.isEmpty)
  }

  @Test("after the end of an upload no receipt is awaited")
  func deadline() {
    var pending = pending([fix(7, 1)])
    var broker = FakeBroker(answers: [[receipt(7, 1)]])
    var memory = BrokerMemory()
    let upload = Upload(
      device: DeviceName("board-1")!, ring: 0xAB, confirmation: .store,
      newest: FixName(generation: 8, sequence: 100), end: UplinkClock.now)
    var found: BrokerError?
    do throws(BrokerError) {
      _ = try upload.sendNext(&pending, over: &broker, &memory) { _ in }
    } catch { found = error }
    #expect(found?.cause == .unconfirmed && !pending.isEmpty)
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

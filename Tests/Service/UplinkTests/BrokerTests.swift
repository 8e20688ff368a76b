import LocationTypes
import TestSupport
import Testing
import UplinkPayload

@testable import Uplink

@Suite("Connections with brokers, through libmosquitto", .serialized, .tags(.realTime))
struct BrokerTests {
  private func open(
    _ server: FakeMQTTServer, _ memory: inout BrokerMemory, for time: Interval = .seconds(20)
  ) throws(BrokerError) -> Broker {
    try Broker(
      UplinkSettings.Destination(host: "127.0.0.1", port: server.port), device: DeviceName("b")!,
      until: UplinkClock.now + time, &memory)
  }

  /// Why a message cannot be published; nil if it can.
  private func cause(_ broker: inout Broker, _ count: Int = 10) -> BrokerError.Cause? {
    do throws(BrokerError) {
      try broker.publish(
        [UInt8](repeating: 7, count: count), to: "torpor/b/fixes", isRetained: false)
      return nil
    } catch { return error.cause }
  }

  @Test("a broker that does not know MQTT 5 gets one connection with 3.1.1 after the first one")
  func version() throws {
    let server = FakeMQTTServer(knowsVersion5: false) { _ in [.acknowledgement(0)] }
    defer { server.stop() }
    var memory = BrokerMemory()
    for _ in 0..<2 {
      var broker = try open(server, &memory)
      let found = cause(&broker)
      #expect(found == nil && memory.isOld)
    }
    #expect(server.versions == [5, 4, 4] && server.messages.count == 2)
    memory = BrokerMemory()
    _ = try open(server, &memory)
    #expect(server.versions == [5, 4, 4, 5, 4])
  }

  @Test("a message that a broker refuses because of its size, in each way")
  func tooLarge() throws {
    let ways: [(FakeMQTTServer.Answer, BrokerError.Cause)] = [
      (.acknowledgement(0x95), .tooLarge(isConnected: true)),
      (.disconnection(0x95), .tooLarge(isConnected: false)), (.end, .lost),
      (.disconnection(0x8B), .lost), (.acknowledgement(0x87), .other),
    ]
    for (answer, expected) in ways {
      let server = FakeMQTTServer { $0.payload.count > 10 ? [answer] : [.acknowledgement(0)] }
      defer { server.stop() }
      var memory = BrokerMemory()
      var broker = try open(server, &memory)
      let found = [cause(&broker), cause(&broker, 11)]
      #expect(found == [nil, expected], "\(answer)")
      guard answer.keepsConnection else { continue }
      let next = cause(&broker)
      #expect(next == nil, "the connection can still be used")
    }
  }

  @Test("a message above the largest packet that the broker announces is not sent")
  func largest() throws {
    let server = FakeMQTTServer(largest: 100) { _ in [.acknowledgement(0)] }
    defer { server.stop() }
    var memory = BrokerMemory()
    var broker = try open(server, &memory)
    let found = [cause(&broker, 100), cause(&broker, 50)]
    #expect(found == [.tooLarge(isConnected: true), nil] && server.messages.count == 1)
  }

  @Test("a message without a subscriber is reported by MQTT 5")
  func noSubscriber() throws {
    let server = FakeMQTTServer { [.acknowledgement($0.isRetained ? 0 : 0x10)] }
    defer { server.stop() }
    var memory = BrokerMemory()
    var broker = try open(server, &memory)
    let found = [
      try broker.publish([1], to: "torpor/b/fixes", isRetained: false),
      try broker.publish([1], to: "torpor/b/newest", isRetained: true),
    ]
    #expect(found == [false, true])
  }

  @Test("a long refusal and the receipts that arrive with it are kept in their order")
  func receipts() throws {
    // 100 characters of a reason, each as two escapes.
    let reason = String(repeating: #"\ud83d\ude00"#, count: 100)
    let refusal =
      #"{"ring":"00000000000000ab","generation":7,"sequence":3641,"event":2,"refused":"0d4a1185","reason":""#
      + reason + #""}"#
    let server = FakeMQTTServer { _ in
      [.receipt("first"), .receipt(refusal), .receipt("last"), .acknowledgement(0)]
    }
    defer { server.stop() }
    var memory = BrokerMemory()
    var broker = try open(server, &memory)
    let found = cause(&broker)
    #expect(found == nil)
    var texts: [String] = []
    while texts.count < 3, let bytes = try broker.nextReceipt(within: .seconds(2)) {
      texts.append(String(decoding: bytes, as: UTF8.self))
    }
    #expect(texts == ["first", refusal, "last"])
    #expect(Refusal(Array(refusal.utf8))?.reason == String(repeating: "😀", count: 100))
  }

  @Test("of more than eight receipts that arrive together, the newest are kept")
  func manyReceipts() throws {
    let server = FakeMQTTServer { _ in
      (0..<20).map { .receipt("\($0)") } + [.acknowledgement(0)]
    }
    defer { server.stop() }
    var memory = BrokerMemory()
    var broker = try open(server, &memory)
    let found = cause(&broker)
    #expect(found == nil)
    var texts: [String] = []
    while texts.count < 8, let bytes = try broker.nextReceipt(within: .seconds(2)) {
      texts.append(String(decoding: bytes, as: UTF8.self))
    }
    #expect(texts == (12..<20).map { "\($0)" })
  }

  @Test("a broker that sends a message byte by byte does not extend the time of the upload")
  func trickle() throws {
    let server = FakeMQTTServer { _ in [.acknowledgement(0), .trickle] }
    defer { server.stop() }
    var memory = BrokerMemory()
    let start = UplinkClock.now
    var broker = try open(server, &memory, for: .seconds(1))
    let found = cause(&broker)
    let receipt = try broker.nextReceipt(within: .seconds(20))
    #expect(found == nil && receipt == nil)
    let late = cause(&broker)
    #expect(late == .other, "the time is over")
    #expect(UplinkClock.now - start < .seconds(5))
  }
}

extension FakeMQTTServer.Answer {
  fileprivate var keepsConnection: Bool {
    if case .acknowledgement(0x95) = self { true } else { false }
  }
}

import Foundation
import Glibc
import Synchronization

/// An MQTT server in a thread, for one connection at a time, that answers messages as a test specifies.
final class FakeMQTTServer: Sendable {
  /// What follows a message.
  enum Answer: Sendable {
    /// A PUBACK with a reason code, which MQTT 3.1.1 does not have.
    case acknowledgement(UInt8)
    /// A message on the topic of receipts.
    case receipt(String)
    /// A DISCONNECT with a reason code.
    case disconnection(UInt8)
    /// The end of the connection.
    case end
    /// A receipt without an end: a byte every 20 ms.
    case trickle
  }

  /// A message of the client.
  struct Message: Sendable, Equatable {
    var topic: String
    var payload: [UInt8]
    var isRetained: Bool
  }

  /// Answers to a message.
  typealias Handler = @Sendable (Message) -> [Answer]

  /// Its port of the loopback interface.
  let port: Int
  private let listener: Int32
  private let knowsVersion5: Bool
  private let largest: UInt32?
  private let handler: Handler
  private let received = Mutex<[Message]>([])
  private let opened = Mutex<[UInt8]>([])

  /// Messages received so far.
  var messages: [Message] { received.withLock { $0 } }
  /// Version of the protocol of each connection so far, 5 or 4.
  var versions: [UInt8] { opened.withLock { $0 } }

  /// - Parameters:
  ///   - knowsVersion5: Whether it accepts MQTT 5; otherwise it closes such connections.
  ///   - largest: Largest packet that it announces; nil for none.
  init(knowsVersion5: Bool = true, largest: UInt32? = nil, _ handler: @escaping Handler) {
    (self.knowsVersion5, self.largest, self.handler) = (knowsVersion5, largest, handler)
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = self.listener
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, size) | listen(listener, 8) | getsockname(listener, $0, &size)
      }
    }
    precondition(result == 0, "a port of the loopback interface is free")
    port = Int(UInt16(bigEndian: address.sin_port))
    let thread = Thread { [self] in serve() }
    thread.start()
  }

  /// Stops it.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func serve() {
    while true {
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { break }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      converse(over: descriptor)
      close(descriptor)
    }
    close(listener)
  }

  private func converse(over descriptor: Int32) {
    var version: UInt8 = 4
    while let (kind, body) = FakeMQTTServer.packet(from: descriptor) {
      switch kind >> 4 {
      case 1:
        version = body[6]
        opened.withLock { $0.append(version) }
        if version == 5, !knowsVersion5 { return }
        send(version == 5 ? connectionAnswer : [0x20, 2, 0, 0], to: descriptor)
      case 8:
        send(
          [0x90] + (version == 5 ? [4] : [3]) + body[..<2] + (version == 5 ? [0, 1] : [1]),
          to: descriptor)
      case 3:
        guard publish(kind, body, version, to: descriptor) else { return }
      case 14: return
      case _: break
      }
    }
  }

  /// CONNACK of MQTT 5, with the largest packet.
  private var connectionAnswer: [UInt8] {
    guard let largest else { return [0x20, 3, 0, 0, 0] }
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: largest >> (24 - 8 * $0)) }
    return [0x20, 8, 0, 0, 5, 0x27] + bytes
  }

  /// Answers a message. Returns false if the connection ends.
  private func publish(
    _ kind: UInt8, _ body: [UInt8], _ version: UInt8, to descriptor: Int32
  ) -> Bool {
    let end = 2 + Int(body[0]) << 8 + Int(body[1])
    let identifier = Array(body[end..<end + 2])
    let topic = String(decoding: body[2..<end], as: UTF8.self)
    // Without properties, MQTT 5 has a byte 0.
    let message = Message(
      topic: topic, payload: Array(body[(end + (version == 5 ? 3 : 2))...]),
      isRetained: kind & 1 == 1)
    received.withLock { $0.append(message) }
    let receipts = Array(
      (topic.split(separator: "/")[..<2].joined(separator: "/") + "/receipt").utf8)
    for answer in handler(message) {
      switch answer {
      case .acknowledgement(let code):
        send(
          version == 5 ? [0x40, 4] + identifier + [code, 0] : [0x40, 2] + identifier, to: descriptor
        )
      case .receipt(let text):
        let content =
          [0, UInt8(receipts.count)] + receipts + (version == 5 ? [0] : []) + Array(text.utf8)
        precondition(content.count < 128, "the length has one byte")
        send([0x30, UInt8(content.count)] + content, to: descriptor)
      case .disconnection(let code):
        send([0xE0, 2, code, 0], to: descriptor)
        return false
      case .end: return false
      case .trickle:
        send([0x30, 0xFF, 0x7F, 0, UInt8(receipts.count)] + receipts, to: descriptor)
        while send([0], to: descriptor) { usleep(20_000) }
        return false
      }
    }
    return true
  }

  @discardableResult
  private func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  /// The next packet: its first byte and its body; nil at the end.
  private static func packet(from descriptor: Int32) -> (UInt8, [UInt8])? {
    guard let kind = bytes(1, from: descriptor)?.first else { return nil }
    var (count, shift) = (0, 0)
    while true {
      guard let byte = bytes(1, from: descriptor)?.first else { return nil }
      count |= Int(byte & 0x7F) << shift
      shift += 7
      if byte < 0x80 { break }
    }
    return bytes(count, from: descriptor).map { (kind, $0) }
  }

  private static func bytes(_ count: Int, from descriptor: Int32) -> [UInt8]? {
    guard count > 0 else { return [] }
    var buffer = [UInt8](repeating: 0, count: count)
    let received = unsafe recv(descriptor, &buffer, count, Int32(MSG_WAITALL))
    return received == count ? buffer : nil
  }
}

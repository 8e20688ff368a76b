import LocationTypes
import Testing

@testable import GNSSProtocols

/// The bytes of a frame, from its hexadecimal digits.
func bytes(hex: String) -> [UInt8] {
  let digits = hex.compactMap { $0.hexDigitValue }
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    UInt8(digits[$0] * 16 + digits[$0 + 1])
  }
}

/// All messages of a stream that comes in chunks of `size` bytes (0: whole), then the end of it.
func decode(
  _ bytes: [UInt8], chunk size: Int = 0, finish: Bool = true
) -> (messages: [GNSSMessage], counters: DecoderCounters) {
  var decoder = GNSSDecoder()
  var messages: [GNSSMessage] = []
  var i = 0
  while i < bytes.count {
    let end = size == 0 ? bytes.count : min(bytes.count, i + size)
    let part = Array(bytes[i..<end])
    var offset = 0
    while let message = decoder.next(part.span, &offset) { messages.append(message) }
    #expect(offset == part.count)
    i = end
  }
  if finish { while let message = decoder.finish() { messages.append(message) } }
  return (messages, decoder.counters)
}

/// The bytes of a buffer.
func bytes(_ buffer: FrameBuffer) -> [UInt8] { (0..<buffer.count).map { buffer[$0] } }

@Suite("UBX frames") struct UBXFrameTests {
  @Test("a poll of MON-VER is the frame that everybody sends")
  func pollVersion() {
    var buffer = FrameBuffer()
    buffer.appendPoll(.monVER)
    #expect(bytes(buffer) == bytes(hex: "B5 62 0A 04 00 00 0E 34"))
  }

  @Test("ACK-ACK of CFG-MSG, as captured by many")
  func acknowledgement() {
    let frame = bytes(hex: "B5 62 05 01 02 00 06 01 0F 38")
    #expect(decode(frame).messages == [.acknowledged(UBXIdentity(0x06, 0x01))])
    var buffer = FrameBuffer()
    buffer.appendAcknowledgement(of: UBXIdentity(0x06, 0x01))
    #expect(bytes(buffer) == frame)
  }
}

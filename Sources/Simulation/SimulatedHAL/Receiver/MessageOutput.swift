import GNSSProtocols
import LocationTypes

/// Composes the messages that the simulated receiver sends on its ``ReceiverLine``, and records their bytes on request.
struct MessageOutput: Sendable {
  /// Kept between messages, because it is large.
  private var frame = FrameBuffer()
  private let recordsBytes: Bool
  private var recordedBytes: [UInt8] = []

  init(recordsBytes: Bool) { self.recordsBytes = recordsBytes }

  /// Sends one or several messages, which `fill` appends to an empty buffer.
  mutating func send(
    on line: inout ReceiverLine, at now: Instant, speed: UInt32,
    _ fill: (inout FrameBuffer) -> Void
  ) {
    frame.removeAll()
    fill(&frame)
    if recordsBytes { for i in frame.span.indices { recordedBytes.append(frame[i]) } }
    line.send(frame.span, at: now, speed: speed)
  }

  /// Sends random bytes, which are not recorded because the receiver did not send them.
  mutating func sendGarbage(
    _ count: Int, of faults: inout ReceiverFaults, on line: inout ReceiverLine, at now: Instant,
    speed: UInt32
  ) {
    frame.removeAll()
    for i in 0..<count {
      frame.append(faults.garbageByte())
      if i + 1 == count || frame.count == FrameBuffer.capacity {
        line.send(frame.span, at: now, speed: speed)
        frame.removeAll()
      }
    }
  }

  /// Removes and returns the recorded bytes.
  mutating func removeRecordedBytes() -> [UInt8] {
    if recordedBytes.isEmpty { return [] }
    defer { recordedBytes.removeAll(keepingCapacity: true) }
    return recordedBytes
  }
}

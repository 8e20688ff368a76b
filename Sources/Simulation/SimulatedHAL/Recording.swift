import LocationTypes

/// A receiver's recorded bytes and when each piece of them came.
public struct Recording: Sendable {
  /// A piece that began to arrive at one moment.
  public struct Chunk: Equatable, Sendable {
    /// When its first byte began.
    public var time: Instant
    /// Which bytes of the recording.
    public var range: Range<Int>

    /// Creates a chunk.
    public init(time: Instant, range: Range<Int>) {
      self.time = time
      self.range = range
    }
  }

  /// All bytes.
  public let bytes: [UInt8]
  /// The pieces, in order of time.
  public let chunks: [Chunk]

  /// Creates a recording.
  ///
  /// - Precondition: chunks come in order of time and lie within the bytes.
  public init(bytes: [UInt8], chunks: [Chunk]) {
    for i in chunks.indices {
      precondition(
        chunks[i].range.lowerBound >= 0 && chunks[i].range.upperBound <= bytes.count,
        "a chunk lies within the recording")
      precondition(i == 0 || chunks[i - 1].time <= chunks[i].time, "chunks come in order of time")
    }
    self.bytes = bytes
    self.chunks = chunks
  }
}

/// Plays a recording into a line.
struct RecordingPlayer: Sendable {
  let recording: Recording
  let speed: UInt32
  private var index = 0

  init(_ recording: Recording, speed: UInt32) {
    self.recording = recording
    self.speed = speed
  }

  /// When the next piece begins.
  var next: Instant {
    index < recording.chunks.count ? recording.chunks[index].time : .distantFuture
  }

  /// Leaves out the piece that is due: nobody sends it.
  mutating func skip() { index += 1 }

  /// Puts the piece that is due on the line: at the line's speed, or faster where it would run into
  /// the next piece.
  mutating func play(into line: inout ReceiverLine) {
    let chunk = recording.chunks[index]
    index += 1
    let start = max(chunk.time, line.freeAt)
    let natural = (Int64(chunk.range.count) * 10_000_000 + Int64(speed) - 1) / Int64(speed)
    let room = next < .distantFuture ? (next - start).microseconds : natural
    line.send(
      recording.bytes.span.extracting(chunk.range), at: chunk.time,
      lasting: Interval(microseconds: max(1, min(natural, room))), speed: speed)
  }
}

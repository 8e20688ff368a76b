import LocationTypes

/// Bytes recorded from a receiver, with the time at which each part was sent.
public struct Recording: Sendable {
  /// Bytes that a receiver sent without a pause.
  public struct Chunk: Equatable, Sendable {
    /// Start time of the first byte.
    public var time: Instant
    /// Position of the bytes in ``Recording/bytes``.
    public var range: Range<Int>

    /// Creates a chunk.
    public init(time: Instant, range: Range<Int>) {
      self.time = time
      self.range = range
    }
  }

  /// All recorded bytes.
  public let bytes: [UInt8]
  /// The chunks, in ascending order of time.
  public let chunks: [Chunk]

  /// Creates a recording.
  ///
  /// - Precondition: Chunks are in ascending order of time, and their ranges lie within `bytes`.
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

/// Sends the chunks of a recording on a receiver line at their recorded times.
struct RecordingPlayer: Sendable {
  let recording: Recording
  let speed: UInt32
  private var index = 0

  init(_ recording: Recording, speed: UInt32) {
    self.recording = recording
    self.speed = speed
  }

  /// Start time of the next chunk; `.distantFuture` at the end of the recording.
  var nextTime: Instant {
    index < recording.chunks.count ? recording.chunks[index].time : .distantFuture
  }

  /// Discards the next chunk, because the receiver has no power.
  mutating func skip() { index += 1 }

  /// Sends the next chunk at the line's speed, or faster if it would otherwise overlap the chunk after it.
  mutating func sendNext(into line: inout ReceiverLine) {
    let chunk = recording.chunks[index]
    index += 1
    let start = max(chunk.time, line.sendingEnd)
    let nominal = (Int64(chunk.range.count) * 10_000_000 + Int64(speed) - 1) / Int64(speed)
    let available = nextTime < .distantFuture ? (nextTime - start).microseconds : nominal
    line.send(
      recording.bytes.span.extracting(chunk.range), at: chunk.time,
      lasting: Interval(microseconds: max(1, min(nominal, available))), speed: speed)
  }
}

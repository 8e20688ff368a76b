/// Splits a stream of bytes into Varlink frames, each terminated by a NUL byte.
///
/// Accepts chunks of any length and reads each byte once. Buffers one frame of at most ``limit`` bytes.
public struct FrameSplitter: Sendable {
  /// Result of processing a part of a chunk.
  @frozen public enum Outcome: Equatable, Sendable {
    /// The chunk is consumed; the frame continues in the next one.
    case needsMore
    /// ``FrameSplitter/frame`` is complete; the chunk may contain more bytes.
    case frame
    /// A frame exceeds the limit. Returned once; the following bytes are not usable, and the connection must be
    /// closed.
    case oversize
  }

  private enum State: Sendable {
    case collecting
    case complete
    case oversize
  }

  /// Maximum length of a frame, in bytes without its NUL.
  public let limit: Int
  /// The frame without its NUL; complete after ``Outcome/frame`` until the next call.
  public private(set) var frame: [UInt8] = []
  private var state = State.collecting

  /// Creates a splitter for the start of a stream.
  ///
  /// - Precondition: `limit` is greater than 0.
  public init(limit: Int = WireLimits.callFrame) {
    precondition(limit > 0, "the limit must be positive")
    self.limit = limit
  }

  /// Whether a frame has started but not ended, so that a peer that stops here leaves it incomplete.
  public var isInFrame: Bool {
    switch state {
    case .collecting: !frame.isEmpty
    case .complete, .oversize: false
    }
  }

  /// Consumes bytes of `chunk` from `offset` up to the end of one frame, and advances `offset` past them. Call it until
  /// it returns `needsMore`.
  ///
  /// After an oversized frame all bytes are ignored.
  ///
  /// - Precondition: 0 ≤ `offset` ≤ the chunk's length.
  public mutating func next(in chunk: Span<UInt8>, at offset: inout Int) -> Outcome {
    precondition(offset >= 0 && offset <= chunk.count, "the offset must be within the chunk")
    switch state {
    case .collecting: break
    case .complete:
      frame.removeAll(keepingCapacity: true)
      state = .collecting
    case .oversize:
      offset = chunk.count
      return .needsMore
    }
    var end = offset
    while end < chunk.count, chunk[end] != 0 { end += 1 }
    guard frame.count + end - offset <= limit else {
      frame = []
      state = .oversize
      offset = chunk.count
      return .oversize
    }
    // Copied before the closure ends.
    unsafe chunk.extracting(offset..<end).withUnsafeBufferPointer {
      unsafe frame.append(contentsOf: $0)
    }
    offset = end
    guard end < chunk.count else { return .needsMore }
    offset += 1
    state = .complete
    return .frame
  }
}

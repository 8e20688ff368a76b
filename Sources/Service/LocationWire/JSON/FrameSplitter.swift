/// Cuts a stream of bytes into Varlink's frames, each of which ends with a NUL byte.
///
/// Takes chunks of any length and looks at each byte once. Holds one frame, at most ``limit`` bytes.
public struct FrameSplitter: Sendable {
  /// What a stretch of bytes brought.
  @frozen public enum Outcome: Equatable, Sendable {
    /// The chunk is used up; the frame goes on in the next one.
    case needsMore
    /// ``FrameSplitter/frame`` is whole; the chunk may hold more after it.
    case frame
    /// A frame has more bytes than the limit. Told once; nothing that follows can be trusted, and the
    /// connection is to be closed.
    case oversize
  }

  private enum State: Sendable {
    case gathering
    case whole
    case broken
  }

  /// The most bytes a frame may have, without its NUL.
  public let limit: Int
  /// The frame, without its NUL; whole after ``Outcome/frame``, until the next call.
  public private(set) var frame: [UInt8] = []
  private var state = State.gathering

  /// Creates a splitter at the beginning of a stream.
  ///
  /// - Precondition: `limit` is above 0.
  public init(limit: Int = WireLimits.callFrame) {
    precondition(limit > 0, "a frame has room for something")
    self.limit = limit
  }

  /// Whether a frame has begun and not ended: what a client that stops here leaves open.
  public var isInFrame: Bool {
    switch state {
    case .gathering: !frame.isEmpty
    case .whole, .broken: false
    }
  }

  /// Takes bytes of `chunk` from `place` on, up to the end of one frame, and moves `place` behind
  /// them. Called until it says `needsMore`.
  ///
  /// After an oversized frame all bytes are passed over.
  ///
  /// - Precondition: 0 ≤ `place` ≤ the chunk's length.
  public mutating func next(in chunk: Span<UInt8>, at place: inout Int) -> Outcome {
    precondition(place >= 0 && place <= chunk.count, "a place in the chunk")
    switch state {
    case .gathering: break
    case .whole:
      frame.removeAll(keepingCapacity: true)
      state = .gathering
    case .broken:
      place = chunk.count
      return .needsMore
    }
    var end = place
    while end < chunk.count, chunk[end] != 0 { end += 1 }
    guard frame.count + end - place <= limit else {
      frame = []
      state = .broken
      place = chunk.count
      return .oversize
    }
    // Copied before the closure ends.
    unsafe chunk.extracting(place..<end).withUnsafeBufferPointer {
      unsafe frame.append(contentsOf: $0)
    }
    place = end
    guard end < chunk.count else { return .needsMore }
    place += 1
    state = .whole
    return .frame
  }
}

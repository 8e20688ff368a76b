/// Turns the bytes of a receiver into messages: NMEA and UBX on one stream, in any chunks.
///
/// Total and heap-free: any bytes give messages and counters, never a trap, and cutting the stream
/// into other chunks gives the same ones. It holds at most one unfinished frame of 4,106 bytes.
public struct GNSSDecoder: Sendable {
  private var stream: StreamDecoder<MessageReader>
  // All bytes taken were looked through.
  @usableFromInline var isDrained = true

  /// Creates a decoder at the start of a stream.
  public init(_ options: DecoderOptions = DecoderOptions()) {
    stream = StreamDecoder(options)
  }

  /// What has been met so far.
  public var counters: DecoderCounters { stream.counters }

  /// Whether bytes of an unfinished frame or sentence wait for more.
  public var isMidFrame: Bool { stream.isMidFrame }

  /// Whether these are the start of a sentence.
  public var isMidSentence: Bool { stream.isMidSentence }

  /// Bytes taken behind the message that was given last, 0 to 4,112.
  public var unread: Int { stream.unread }

  /// Takes bytes from `offset` on and gives the first complete message in what it holds.
  ///
  /// It takes all that fit and gives their messages one by one: call it until it gives nil, then
  /// all bytes are used up, and `offset` is their count. It may be there long before.
  /// O(bytes taken); bytes behind a false start are looked at again.
  ///
  /// - Precondition: `offset` is 0 to `bytes.count`.
  @inlinable
  public mutating func next(_ bytes: Span<UInt8>, _ offset: inout Int) -> GNSSMessage? {
    // The last call for every chunk, which is not to cost what a message costs.
    if isDrained && offset == bytes.count { return nil }
    return look(bytes, &offset)
  }

  @usableFromInline
  mutating func look(_ bytes: Span<UInt8>, _ offset: inout Int) -> GNSSMessage? {
    let message = stream.next(bytes, &offset)
    isDrained = stream.isStarved
    return message
  }

  /// Looks again through the bytes of an unfinished frame, for no more will come.
  ///
  /// Noise that looks like the start of a binary frame holds back up to 4,106 bytes. Call it
  /// at the end of the stream, or when the line has been silent, until it gives nil; the decoder
  /// then stands as at the start of a stream, its counters kept.
  public mutating func finish() -> GNSSMessage? {
    let message = stream.finish()
    isDrained = stream.isStarved
    return message
  }
}

/// Reads what receivers send.
enum MessageReader: FrameReader {
  @inline(__always)
  static func frame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters
  ) -> GNSSMessage? {
    UBXDecoding.message(identity, payload, &counters)
  }

  @inline(__always)
  static func sentence(
    _ s: Span<UInt8>, _ start: Int, _ places: Span<UInt16>, _ counters: inout DecoderCounters,
    into message: inout GNSSMessage?
  ) {
    NMEADecoding.read(s, start, places, &counters, into: &message)
  }
}

import LocationTypes

/// Decodes a receiver's byte stream into messages: NMEA sentences and UBX frames mixed on one line, in
/// chunks of any size.
///
/// ``next(_:_:)`` returns one ``GNSSMessage`` after another; ``EpochAssembler`` combines them to epochs.
/// ``StreamDecoder`` finds the frames, ``NMEADecoding`` and ``UBXDecoding`` read them.
///
/// Pure: no I/O, no heap, no clock (the time of arrival is an argument). Accepts any input without
/// trapping. The result does not depend on how the stream is split into chunks. The buffer holds 4,112
/// bytes, more than the longest frame (4,106); an unfinished frame stays in it until the next call.
public struct GNSSDecoder: Sendable {
  private var stream: StreamDecoder
  // Whether all buffered bytes were examined, so that the next message requires more input.
  @usableFromInline private(set) var needsInput = true

  /// Creates a decoder at the start of a stream.
  public init(_ options: DecoderOptions = DecoderOptions()) {
    stream = StreamDecoder(options)
  }

  /// Counts of what was decoded and discarded since creation.
  public var counters: DecoderCounters { stream.counters }

  /// Whether the buffer ends in an unfinished frame or sentence.
  public var isMidFrame: Bool { stream.isMidFrame }

  /// Whether the unfinished part is the start of a sentence.
  public var isMidSentence: Bool { stream.isMidSentence }

  /// Number of buffered bytes after the last message returned, 0 to 4,112; they may contain complete
  /// frames that are not returned yet.
  public var bufferedByteCount: Int { stream.bufferedByteCount }

  /// Consumes bytes from `offset` on and returns the first complete message.
  ///
  /// Buffers as many bytes as fit, then returns their messages one per call. Call this method until it
  /// returns nil: then all bytes are consumed and `offset` equals `bytes.count`. `offset` may reach
  /// `bytes.count` long before that. O(bytes consumed); bytes after a false start are examined again.
  ///
  /// - Precondition: `offset` is 0 to `bytes.count`.
  @inlinable
  public mutating func next(_ bytes: Span<UInt8>, _ offset: inout Int) -> GNSSMessage? {
    // Fast exit for the last call of every chunk.
    if needsInput && offset == bytes.count { return nil }
    return decode(bytes, &offset)
  }

  @usableFromInline
  mutating func decode(_ bytes: Span<UInt8>, _ offset: inout Int) -> GNSSMessage? {
    var reader = MessageReader()
    var message: GNSSMessage?
    _ = stream.next(bytes, &offset, &reader, into: &message)
    needsInput = stream.needsInput
    return message
  }

  /// Longest payload of a binary frame that is decoded, bytes; the start of a longer one is noise.
  public static var longestPayload: Int { BinaryFormat.payloadLimit }

  /// The received bytes of the last entry returned; valid until the next call of `next` or
  /// ``finish()``.
  public func frame(of entry: UBXAidingEntry) -> ByteChunk {
    stream.lastFrame(Int(entry.frameLength))
  }

  /// Adds the satellites of the last message returned, a NAV-SAT or NAV-SVINFO with this summary, to a view. Valid until
  /// the next call of `next` or ``finish()``. O(satellites²).
  public func addSatellites(of summary: UBXSatellites, to view: inout SatelliteView) {
    stream.readLastFrame(UBXSatellites.frameLength(summary.inView)) {
      UBXSatellites.add($0, to: &view)
    }
  }

  /// Decodes the bytes of an unfinished frame when no more input will follow.
  ///
  /// Noise that resembles the start of a binary frame can keep up to 4,106 bytes in the buffer. At the
  /// end of the stream, or after a silence on the line, call this method until it returns nil; the decoder
  /// is then in its initial state, except for its counters.
  public mutating func finish() -> GNSSMessage? {
    var reader = MessageReader()
    var message: GNSSMessage?
    _ = stream.finish(&reader, into: &message)
    needsInput = stream.needsInput
    return message
  }
}

/// Converts the frames and sentences of receivers to ``GNSSMessage`` values.
struct MessageReader: FrameHandler {
  @inline(__always)
  mutating func handleFrame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters,
    into message: inout GNSSMessage?
  ) -> Bool {
    message = UBXDecoding.message(identity, payload, &counters)
    return true
  }

  @inline(__always)
  mutating func handleSentence(
    _ fields: inout NMEAFields, _ counters: inout DecoderCounters,
    into message: inout GNSSMessage?
  ) -> Bool {
    message = NMEADecoding.message(&fields, &counters)
    return true
  }
}

import LocationTypes

/// Turns the bytes of a receiver into messages: NMEA and UBX on one stream, in any chunks.
///
/// Total and heap-free: any bytes give messages and counters, never a trap, and cutting the stream
/// into other chunks gives the same ones. It holds at most one unfinished frame of 4,106 bytes.
public struct GNSSDecoder: Sendable {
  private var stream: StreamDecoder
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
    var reader = MessageReader()
    var message: GNSSMessage?
    _ = stream.next(bytes, &offset, &reader, into: &message)
    isDrained = stream.isStarved
    return message
  }

  /// The bytes of the entry that was given last, as they came; only until the next message is looked for.
  public func frame(of entry: UBXAidingEntry) -> ByteChunk {
    stream.lastFrame(Int(entry.frameLength))
  }

  /// Looks again through the bytes of an unfinished frame, for no more will come.
  ///
  /// Noise that looks like the start of a binary frame holds back up to 4,106 bytes. Call it
  /// at the end of the stream, or when the line has been silent, until it gives nil; the decoder
  /// then stands as at the start of a stream, its counters kept.
  public mutating func finish() -> GNSSMessage? {
    var reader = MessageReader()
    var message: GNSSMessage?
    _ = stream.finish(&reader, into: &message)
    isDrained = stream.isStarved
    return message
  }
}

// MARK: Straight into epochs

extension GNSSDecoder {
  /// Takes bytes from `offset` on and writes the first epoch that they complete into `epoch`: what
  /// ``next(_:_:)`` and `EpochAssembler.add(_:at:)` do together, but that no message is made.
  ///
  /// Ask `EpochAssembler.next()` for another epoch of the same message before it is called again.
  ///
  /// - Returns: false when all bytes are used up without one; then `epoch` means nothing.
  /// - Precondition: `offset` is 0 to `bytes.count`.
  @inlinable
  public mutating func next(
    _ bytes: Span<UInt8>, _ offset: inout Int, through assembler: inout EpochAssembler,
    at now: Instant, into epoch: inout Epoch
  ) -> Bool {
    if isDrained && offset == bytes.count { return false }
    return look(bytes, &offset, through: &assembler, at: now, into: &epoch)
  }

  @usableFromInline
  mutating func look(
    _ bytes: Span<UInt8>, _ offset: inout Int, through assembler: inout EpochAssembler,
    at now: Instant, into epoch: inout Epoch
  ) -> Bool {
    assembler.arrival = now
    let isMade = stream.next(bytes, &offset, &assembler, into: &epoch)
    isDrained = stream.isStarved
    return isMade
  }
}

/// Reads what receivers send as messages.
struct MessageReader: FrameReader {
  @inline(__always)
  mutating func frame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters,
    into message: inout GNSSMessage?
  ) -> Bool {
    message = UBXDecoding.message(identity, payload, &counters)
    return true
  }

  @inline(__always)
  mutating func sentence(
    _ fields: inout NMEAFields, _ counters: inout DecoderCounters,
    into message: inout GNSSMessage?
  ) -> Bool {
    NMEADecoding.read(&fields, &counters, for: &self, into: &message)
  }
}

extension MessageReader: SentenceTaker {
  @inline(__always) func take(_ m: RMC, into message: inout GNSSMessage?) -> Bool {
    message = .rmc(m)
    return true
  }

  @inline(__always) func take(_ m: GGA, into message: inout GNSSMessage?) -> Bool {
    message = .gga(m)
    return true
  }

  @inline(__always) func take(_ m: GSA, into message: inout GNSSMessage?) -> Bool {
    message = .gsa(m)
    return true
  }

  @inline(__always) func take(_ m: GSV, into message: inout GNSSMessage?) -> Bool {
    message = .gsv(m)
    return true
  }

  @inline(__always) func take(_ m: GST, into message: inout GNSSMessage?) -> Bool {
    message = .gst(m)
    return true
  }

  @inline(__always) func take(_ m: VTG, into message: inout GNSSMessage?) -> Bool {
    message = .vtg(m)
    return true
  }

  @inline(__always) func take(_ m: GLL, into message: inout GNSSMessage?) -> Bool {
    message = .gll(m)
    return true
  }

  @inline(__always) func take(_ other: GNSSMessage, into message: inout GNSSMessage?) -> Bool {
    message = other
    return true
  }
}

import LocationTypes

/// Deviations from the standard that a decoder accepts.
public struct DecoderOptions: Equatable, Sendable {
  /// Whether to accept sentences that end with CR or LF without star and checksum.
  ///
  /// For recordings whose checksums were removed; a wrong checksum is still rejected.
  public var allowsMissingChecksum = false

  /// Creates options that follow the standard.
  public init() {}
}

/// Finds binary frames and NMEA sentences in a byte stream, independent of its division into chunks.
///
/// # Problem
///
/// A receiver's line carries NMEA sentences and binary frames without separators, in reads of any size,
/// mixed with noise (wrong line speed, lost bytes, truncated frames). Each format has its own start,
/// length and checksum (``BinaryFormat``), and each start sequence may also occur in noise or inside
/// another frame. The decoder must resynchronise without losing a valid message and in bounded memory.
/// It only finds and checks frames: a ``FrameHandler`` reads them.
///
/// # States
///
/// The buffer holds the bytes `start ..< end`: received and not yet decided. Every decision concerns
/// the candidate at `start`, and either needs more bytes or removes bytes from the front.
///
///                         next(): input left
///     ┌─────────────┐ ───────── fill ────────▶ ┌────────────────────┐ ──┐ skip(n): noise, line end,
///     │ needsInput  │                          │ examine candidate  │   │ false start
///     │ empty, or   │ ◀─────────────────────── │ at `start`         │ ◀─┤ frame of a format that is
///     │ incomplete  │   start == end, or       │                    │   │ not read; handler without
///     │ candidate   │   .incomplete            └────────────────────┘ ──┘ a product
///     └─────────────┘                             │          ▲
///        │      ▲                                 │ product  │ next()
///        │      │ next(): no input left           ▼          │
///        │      └── returns false            returns true ───┘
///        │
///        └── finish(), bytes left: the byte at `start` is skipped, examination continues
///            finish(), no bytes left: returns false; initial state except for the counters
///
/// The first bytes of the candidate determine the decision:
///
///     $ !                  sentence: incomplete until `*` and two characters (accepted if they are the
///                          checksum, else a false start), a byte that no sentence contains ($, below
///                          0x20, from 0x7F up: skipped up to there; a line end is accepted if the
///                          options allow it), or 510 bytes without either (false start)
///     B5 F1 BA A0 D3       binary frame: incomplete until header, payload and trailer are complete;
///                          a wrong second byte, length or checksum is a false start
///     CR LF                skipped, not counted as noise
///     other                noise: skipped up to the next byte of the lines above
///
/// UBX has a fast path (`checkUBX`, `consumeUBX`), because every fix of a u-blox receiver passes it;
/// where that is undecided (fewer than 8 bytes, another format, wrong checksum), `decodeAny` continues
/// with the general one. Both reach the same decisions.
///
/// # Invariants
///
/// - A decision depends only on the bytes from `start` on, never on chunk boundaries or on earlier
///   bytes. The sequence of messages and the counters are therefore independent of the chunks.
/// - A false start removes one byte. A frame that begins inside a false candidate is still found.
/// - 0 ≤ `start` ≤ `end` ≤ ``capacity``. Behind ``capacity``, 8 further bytes may be loaded
///   (``NMEAFields/margin``); their content has no effect.
/// - An incomplete candidate is always shorter than ``capacity`` (longest payload 4,096 bytes plus
///   header and trailer), so `fill` always makes progress.
/// - While ``needsInput`` is set, the buffer is empty or begins with an incomplete candidate.
/// - `scan` describes the sentence at `start` and is reset whenever that is removed, so no byte of
///   a sentence is scanned twice. Bytes after a false start are examined again.
///
/// # Who changes what
///
/// Only the methods of this type move `start` and `end`. A handler reads the frame in place during its
/// call, may change the counters, and must not keep the span. ``lastFrame(_:)`` reads bytes before
/// `start`, which are valid until the next `fill`.
///
/// Used by ``GNSSDecoder`` (messages) and ``UBXCommandDecoder`` (simulated receivers). Depends
/// only on the framing files of this folder. No heap, no clock.
struct StreamDecoder: Sendable {
  /// Longest sentence from `$` to the last digit of the checksum, bytes.
  static var sentenceLimit: Int { 512 }
  /// Capacity of the buffer, bytes: more than any unfinished frame.
  static var capacity: Int { 4_112 }

  // The capacity and the margin of a field.
  private var buffer: InlineArray<4_120, UInt8>
  private var start = 0
  private var end = 0
  /// Whether all buffered bytes were examined, so that more are necessary.
  private(set) var needsInput = true
  // Scan of the sentence at `start`.
  private var scan = SentenceScan()
  private let options: DecoderOptions
  private(set) var counters = DecoderCounters()

  private enum Decision {
    /// More bytes are necessary.
    case incomplete
    /// Bytes that belong to no frame.
    case skip(Int)
    /// A sentence of that length, line end included; `scan` has its fields.
    case sentence(length: Int)
    /// A frame of that format and payload length with a valid checksum.
    case frame(BinaryFormat, payload: Int)
  }

  init(_ options: DecoderOptions = DecoderOptions()) {
    buffer = InlineArray(repeating: 0)
    self.options = options
  }

  /// Whether the buffer ends in an unfinished frame or sentence.
  var isMidFrame: Bool { start < end }

  /// Whether the unfinished part is the start of a sentence.
  var isMidSentence: Bool {
    start < end && (buffer[start] == UInt8(ascii: "$") || buffer[start] == UInt8(ascii: "!"))
  }

  /// Number of buffered bytes that are neither part of a decoded message nor skipped.
  var bufferedByteCount: Int { end - start }

  /// Returns a copy of the last decoded frame, which is `count` bytes long, at most 256. Valid until
  /// the next call of `next` or `finish`.
  func lastFrame(_ count: Int) -> ByteChunk {
    precondition(count >= 0 && count <= start, "a frame of that length lies in the buffer")
    var copy = ByteChunk()
    copy.append(buffer.span.extracting(start - count..<start))
    return copy
  }

  /// Calls `body` with the last decoded frame, which is `count` bytes long. Valid until the next call of `next` or
  /// `finish`.
  func readLastFrame(_ count: Int, _ body: (Span<UInt8>) -> Void) {
    precondition(count >= 0 && count <= start, "a frame of that length lies in the buffer")
    body(buffer.span.extracting(start - count..<start))
  }

  /// Consumes bytes from `offset` on until `reader` returns a product; false when all are consumed.
  ///
  /// Buffers as many bytes as fit and examines only the buffer.
  @inline(__always)
  mutating func next<Reader: FrameHandler>(
    _ bytes: Span<UInt8>, _ offset: inout Int, _ reader: inout Reader,
    into product: inout Reader.Product
  ) -> Bool {
    precondition(offset >= 0 && offset <= bytes.count, "the offset lies outside the bytes")
    while true {
      if needsInput {
        if offset == bytes.count { return false }
        fill(bytes, &offset)
      }
      switch checkUBX() {
      case .complete(let length):
        needsInput = isIncompleteUBX(at: start &+ 8 &+ length)
        if consumeUBX(length, &reader, into: &product) { return true }
      case .incomplete: needsInput = true
      case .undecided: return decodeAny(bytes, &offset, &reader, into: &product)
      }
    }
  }

  // MARK: Fast path for UBX frames

  /// Result of `checkUBX`.
  private enum UBXCandidate {
    /// A frame with that payload length and a valid checksum.
    case complete(Int)
    /// The start of a frame.
    case incomplete
    /// Fewer than 8 bytes, or something else: for `decodeAny`.
    case undecided
  }

  /// Checks for a UBX frame at `start`.
  @inline(__always)
  private func checkUBX() -> UBXCandidate {
    guard let length = ubxLength(start) else { return .undecided }
    if length &+ 8 > end &- start { return .incomplete }
    let last = start &+ 6 &+ length
    // Class to end of payload, and two bytes after it: start + 8 + length ≤ end ≤ capacity.
    let checked = unsafe Range(uncheckedBounds: (start &+ 2, last))
    let sum = UBXChecksum(of: unsafe buffer.span.extracting(unchecked: checked))
    let received = unsafe buffer.span.bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: last, as: UInt16.self)
    return UInt16(littleEndian: received) == sum.word ? .complete(length) : .undecided
  }

  /// Payload length of a UBX frame that may start at `i`; nil if none exists, or fewer than 8 bytes
  /// are buffered.
  @inline(__always)
  private func ubxLength(_ i: Int) -> Int? {
    guard end &- i >= 8 else { return nil }
    let head = Self.word(buffer.span, i)
    let length = Int(truncatingIfNeeded: head &>> 32 & 0xFFFF)
    return head & 0xFFFF == 0x62B5 && length <= BinaryFormat.payloadLimit ? length : nil
  }

  /// Eight bytes from `i` on, the first one lowest.
  ///
  /// - Precondition: `i` and the seven bytes after it lie in the span.
  @inline(__always) private static func word(_ s: Span<UInt8>, _ i: Int) -> UInt64 {
    precondition(i >= 0 && i &+ 8 <= s.count, "eight bytes lie in the span")
    let bits = unsafe s.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self)
    return UInt64(littleEndian: bits)
  }

  /// Whether the buffer from `i` on is empty or an incomplete UBX frame, so that more bytes are
  /// necessary.
  @inline(__always)
  private func isIncompleteUBX(at i: Int) -> Bool {
    if i == end { return true }
    guard let length = ubxLength(i) else { return false }
    return length &+ 8 > end &- i
  }

  /// Passes the frame found by `checkUBX` to the handler and removes it.
  @inline(__always)
  private mutating func consumeUBX<Reader: FrameHandler>(
    _ length: Int, _ reader: inout Reader, into product: inout Reader.Product
  ) -> Bool {
    // `checkUBX` ensured that 0 ≤ start, and that start + 8 + length ≤ end ≤ capacity.
    let frameRange = unsafe Range(uncheckedBounds: (start, start &+ 8 &+ length))
    let frame = unsafe buffer.span.extracting(unchecked: frameRange)
    let payload = unsafe frame.extracting(unchecked: Range(uncheckedBounds: (6, 6 &+ length)))
    let identity = unsafe UBXIdentity(frame[unchecked: 2], frame[unchecked: 3])
    counters.frames.incrementSaturating()
    start = frameRange.upperBound
    return reader.handleFrame(identity, payload, &counters, into: &product)
  }

  // MARK: General path

  /// Examines the buffer for all formats and continues as ``next(_:_:_:into:)``.
  @inline(never)
  private mutating func decodeAny<Reader: FrameHandler>(
    _ bytes: Span<UInt8>, _ offset: inout Int, _ reader: inout Reader,
    into product: inout Reader.Product
  ) -> Bool {
    while true {
      while !needsInput {
        if examineNext(&reader, into: &product) { return true }
      }
      if offset == bytes.count { return false }
      fill(bytes, &offset)
    }
  }

  /// Examines the candidate at `start` and removes the bytes that are decided.
  @inline(__always)
  private mutating func examineNext<Reader: FrameHandler>(
    _ reader: inout Reader, into product: inout Reader.Product
  ) -> Bool {
    if start == end {
      needsInput = true
      return false
    }
    switch examine() {
    case .incomplete:
      needsInput = true
      return false
    case .skip(let count):
      drop(count)
      return false
    case .sentence(let length):
      var fields = NMEAFields(buffer.span, at: start &+ 1, scan.fieldOffsets())
      let hasProduct = reader.handleSentence(&fields, &counters, into: &product)
      drop(length)
      return hasProduct
    case .frame(let format, let payload):
      let hasProduct = read(format, payload, &reader, into: &product)
      drop(format.headerLength &+ payload &+ format.trailerLength)
      return hasProduct
    }
  }

  /// Decodes the bytes of an unfinished frame when no more input will follow; false at their end.
  mutating func finish<Reader: FrameHandler>(
    _ reader: inout Reader, into product: inout Reader.Product
  ) -> Bool {
    while true {
      var offset = 0
      if decodeAny(Span(), &offset, &reader, into: &product) { return true }
      if start == end { return false }
      // The incomplete candidate is a false start.
      counters.skippedBytes += 1
      drop(1)
      needsInput = false
    }
  }

  // MARK: Buffer

  @inline(__always) private mutating func drop(_ count: Int) {
    start &+= count
    scan.reset()
  }

  /// Copies as many bytes as fit; an unfinished frame always leaves free space.
  @inline(never)
  private mutating func fill(_ bytes: Span<UInt8>, _ offset: inout Int) {
    if start == end {
      start = 0
      end = 0
    }
    // `next` has compared the offset with the count, and `end` is at most the capacity.
    let available = bytes.count &- offset
    if available > Self.capacity &- end { moveToFront() }
    let count = min(available, Self.capacity &- end)
    precondition(count > 0, "an unfinished frame leaves free space in the buffer")
    // `next` ensured that 0 ≤ offset; and count ≤ available.
    let part = unsafe bytes.extracting(
      unchecked: Range(uncheckedBounds: (offset, offset &+ count)))
    let position = end
    var target = buffer.mutableSpan
    // Both lengths are checked above; the source is the caller's and never this buffer.
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe part.withUnsafeBufferPointer { part in
        guard let from = part.baseAddress, let to = target.baseAddress else { return }
        unsafe (to + position).update(from: from, count: part.count)
      }
    }
    end &+= count
    offset &+= count
    needsInput = false
  }

  private mutating func moveToFront() {
    let (from, count) = (start, end &- start)
    precondition(from >= 0 && count >= 0 && end <= Self.capacity, "start and end lie in the buffer")
    var target = buffer.mutableSpan
    // Both ranges lie in the buffer: see above. They may overlap.
    unsafe target.withUnsafeMutableBufferPointer { target in
      guard let base = target.baseAddress else { return }
      unsafe base.update(from: base + from, count: count)
    }
    end = count
    start = 0
  }

  // MARK: Decision at the start of the buffer

  @inline(__always)
  private mutating func examine() -> Decision {
    let byte = buffer[start]
    if byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!") { return examineSentence() }
    if byte == 0x0A || byte == 0x0D { return .skip(1) }
    let buffered = buffer.span.extracting(0..<end)
    if BinaryFormat.canBegin(with: byte) { return Self.examineFrame(buffered, start, &counters) }
    return Self.skipNoise(buffered, start, &counters)
  }

  @inline(never)
  private static func skipNoise(
    _ s: Span<UInt8>, _ i: Int, _ counters: inout DecoderCounters
  ) -> Decision {
    var j = i + 1
    while j < s.count {
      let byte = s[j]
      if byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!") || byte == 0x0A || byte == 0x0D
        || BinaryFormat.canBegin(with: byte)
      {
        break
      }
      j += 1
    }
    counters.skippedBytes += UInt64(j - i)
    return .skip(j - i)
  }

  @inline(never)
  private static func examineFrame(
    _ s: Span<UInt8>, _ i: Int, _ counters: inout DecoderCounters
  ) -> Decision {
    let count = s.count - i
    if count < 2 { return .incomplete }
    guard case .frame(let format) = BinaryFormat.start(s[i], s[i + 1]) else {
      return falseStart(&counters)
    }
    if count < format.headerLength { return .incomplete }
    let length = format.payloadLength(s, i)
    if !format.allows(length) {
      counters.overlong.incrementSaturating()
      return falseStart(&counters)
    }
    let whole = format.headerLength + length + format.trailerLength
    if count < whole { return .incomplete }
    if !format.hasValidChecksum(s, i, length) {
      counters.checksumErrors.incrementSaturating()
      return falseStart(&counters)
    }
    return .frame(format, payload: length)
  }

  /// Passes the UBX frame at `start` to the handler; frames of other formats are only counted.
  @inline(__always)
  private mutating func read<Reader: FrameHandler>(
    _ format: BinaryFormat, _ length: Int, _ reader: inout Reader,
    into product: inout Reader.Product
  ) -> Bool {
    switch format {
    case .ubx:
      counters.frames.incrementSaturating()
      let identity = UBXIdentity(buffer[start + 2], buffer[start + 3])
      let payload = buffer.span.extracting(start + 6..<start + 6 + length)
      return reader.handleFrame(identity, payload, &counters, into: &product)
    case .allystar: counters.otherFormats.insert(.allystar)
    case .casic: counters.otherFormats.insert(.casic)
    case .sirf: counters.otherFormats.insert(.sirf)
    case .skyTraq: counters.otherFormats.insert(.skyTraq)
    case .rtcm3: counters.otherFormats.insert(.rtcm3)
    }
    counters.otherFrames.incrementSaturating()
    return false
  }

  @inline(__always)
  private mutating func examineSentence() -> Decision {
    let i = start
    let limit = min(end, i &+ Self.sentenceLimit &- 2)
    let buffered = buffer.span.extracting(0..<end)
    let j = scan.run(buffered, i &+ 1, upTo: limit)
    if j == limit {
      if j &- i == Self.sentenceLimit &- 2 {
        counters.overlong.incrementSaturating()
        return Self.falseStart(&counters)
      }
      return .incomplete
    }
    if buffered[j] != UInt8(ascii: "*") {
      return Self.rejectSentence(buffered, i, j, options, &counters)
    }
    if j &+ 2 >= end { return .incomplete }
    if NMEAFraming.hasChecksum(buffered, at: j, scan.parity) {
      counters.sentences.incrementSaturating()
      return .sentence(length: NMEAFraming.lineEnd(buffered, j &+ 3) &- i)
    }
    if Self.isHexadecimal(buffered[j &+ 1]) && Self.isHexadecimal(buffered[j &+ 2]) {
      counters.checksumErrors.incrementSaturating()
    } else {
      counters.truncated.incrementSaturating()
    }
    return Self.falseStart(&counters)
  }

  /// Handles a sentence that ends at `j` without a star: accepts it at a line end if the options allow
  /// that, else skips it up to `j`.
  @inline(never)
  private static func rejectSentence(
    _ s: Span<UInt8>, _ i: Int, _ j: Int, _ options: DecoderOptions,
    _ counters: inout DecoderCounters
  ) -> Decision {
    let isLineEnd = s[j] == 0x0D || s[j] == 0x0A
    if isLineEnd && options.allowsMissingChecksum && j > i + 1 {
      counters.withoutChecksum.incrementSaturating()
      return .sentence(length: NMEAFraming.lineEnd(s, j) - i)
    }
    if j > i + 1 { counters.truncated.incrementSaturating() }
    counters.skippedBytes += UInt64(j - i)
    return .skip(j - i)
  }

  private static func falseStart(_ counters: inout DecoderCounters) -> Decision {
    counters.skippedBytes += 1
    return .skip(1)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
      UInt8(ascii: "a")...UInt8(ascii: "f"):
      true
    case _: false
    }
  }
}

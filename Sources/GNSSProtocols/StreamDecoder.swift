/// What becomes of the frames that a ``StreamDecoder`` finds.
protocol FrameReader {
  /// What it makes of them.
  associatedtype Message
  /// Reads a UBX payload of at most 4,096 bytes whose checksum was right; nil to pass over it.
  static func frame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters
  ) -> Message?
  /// Reads the sentence whose `$` is at `start`; its checksum was right or need not be there.
  static func sentence(
    _ s: Span<UInt8>, _ start: Int, _ scan: SentenceScan, _ counters: inout DecoderCounters
  ) -> Message?
}

/// What a decoder takes that the standard does not allow.
public struct DecoderOptions: Equatable, Sendable {
  /// Sentences that end with CR or LF without a star and checksum count as well.
  ///
  /// For recordings whose checksums were cut off; a wrong checksum is refused all the same.
  public var allowsMissingChecksum = false

  /// Creates options by the standard.
  public init() {}
}

/// Finds binary frames and NMEA sentences in a stream of bytes, whatever the chunks they come in.
///
/// A place where a frame seems to start is given up only for the byte after it, so a false start
/// swallows nothing. What is decided at a place depends on the bytes from there on and on nothing
/// else; that is why the chunks make no difference.
struct StreamDecoder<Reader: FrameReader> {
  /// Longest sentence from `$` to the last digit of the checksum.
  static var sentenceLimit: Int { 512 }
  /// An unfinished frame fits, whatever it is.
  static var capacity: Int { 4_112 }

  private var pending: InlineArray<4_112, UInt8>
  private var start = 0
  private var end = 0
  // Of the sentence that starts where we stand.
  private var scan = SentenceScan()
  private let options: DecoderOptions
  private(set) var counters = DecoderCounters()

  private enum Verdict {
    /// Bytes are missing.
    case incomplete
    /// So many bytes belong to no frame.
    case skip(Int)
    /// A sentence that with its line end has that length; the scan knows its fields.
    case sentence(length: Int)
    /// A frame of that format and payload, checksum right.
    case frame(BinaryFormat, payload: Int)
  }

  init(_ options: DecoderOptions = DecoderOptions()) {
    pending = InlineArray(repeating: 0)
    self.options = options
  }

  /// Whether bytes of an unfinished frame wait for more.
  var isMidFrame: Bool { start < end }

  /// Whether they are the start of a sentence.
  var isMidSentence: Bool {
    start < end && (pending[start] == UInt8(ascii: "$") || pending[start] == UInt8(ascii: "!"))
  }

  /// Bytes taken that are not yet part of a message given or passed over.
  var unread: Int { end - start }

  /// Takes bytes from `offset` on until a message is complete; nil when all are used up.
  ///
  /// All that fit are taken at once: only then is looked through them, in one place.
  @inline(__always)
  mutating func next(_ bytes: Span<UInt8>, _ offset: inout Int) -> Reader.Message? {
    precondition(offset >= 0 && offset <= bytes.count, "the offset lies outside the bytes")
    while true {
      look: while start < end {
        switch lookForUBX() {
        case .whole(let length):
          if let message = takeUBX(length) { return message }
          continue
        case .unfinished: break look
        case .absent: break
        }
        let verdict = lookOn()
        if case .incomplete = verdict { break }
        if let message = settle(verdict) { return message }
      }
      if offset == bytes.count { return nil }
      fill(bytes, &offset)
    }
  }

  // MARK: UBX frames, which are on the way of every fix

  /// What ``lookForUBX()`` finds.
  private enum UBXStart {
    /// A frame with so long a payload whose checksum is right.
    case whole(Int)
    /// The start of one.
    case unfinished
    /// Too little to tell, or something else: for ``lookOn()``.
    case absent
  }

  /// Looks for a UBX frame in the place where we stand.
  @inline(__always)
  private func lookForUBX() -> UBXStart {
    let count = end &- start
    guard count >= 8 else { return .absent }
    precondition(start >= 0 && end <= Self.capacity, "what is held lies in the buffer")
    let s = pending.span
    // 0 ≤ start, and start + 8 ≤ end ≤ capacity.
    let bits = unsafe s.bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: start, as: UInt64.self)
    let head = UInt64(littleEndian: bits)
    let length = Int(truncatingIfNeeded: head &>> 32 & 0xFFFF)
    guard head & 0xFFFF == 0x62B5, length <= BinaryFormat.payloadLimit else { return .absent }
    if length &+ 8 > count { return .unfinished }
    let last = start &+ 6 &+ length
    // Class to end of payload, and two bytes behind: start + 8 + length ≤ end ≤ capacity.
    let sum = UBXChecksum(of: unsafe s.extracting(unchecked: start &+ 2..<last))
    let told = unsafe s.bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: last, as: UInt16.self)
    return UInt16(littleEndian: told) == sum.word ? .whole(length) : .absent
  }

  /// Reads the frame that ``lookForUBX()`` has found, and stands behind it.
  @inline(__always)
  private mutating func takeUBX(_ length: Int) -> Reader.Message? {
    let from = start
    start = from &+ 8 &+ length
    scan.reset()
    counters.frames.count()
    let frame = pending.span.extracting(from..<from &+ 8 &+ length)
    return Reader.frame(
      UBXIdentity(frame[2], frame[3]), frame.extracting(6..<6 &+ length), &counters)
  }

  /// What stands here, whatever it may be.
  @inline(never)
  private mutating func lookOn() -> Verdict {
    Self.examine(pending.span.extracting(0..<end), start, &scan, options, &counters)
  }

  /// Looks through the bytes of an unfinished frame, for no more will come; nil at their end.
  mutating func finish() -> Reader.Message? {
    while start < end {
      let verdict = lookOn()
      if case .incomplete = verdict {
        counters.skippedBytes += 1
        drop(1)
      } else if let message = settle(verdict) {
        return message
      }
    }
    return nil
  }

  // MARK: The bytes taken

  /// Reads or passes over what a verdict says, and stands behind it.
  @inline(__always)
  private mutating func settle(_ verdict: Verdict) -> Reader.Message? {
    let from = start
    switch verdict {
    case .incomplete: return nil
    case .skip(let count):
      drop(count)
      return nil
    case .sentence(let length): return takeSentence(length)
    case .frame(let format, let payload):
      let message = Self.read(
        format, pending.span.extracting(0..<end), from, payload, &counters)
      drop(format.header &+ payload &+ format.trailer)
      return message
    }
  }

  /// Reads the sentence that the scan knows, and stands behind it.
  @inline(never)
  private mutating func takeSentence(_ length: Int) -> Reader.Message? {
    defer { drop(length) }
    return Reader.sentence(pending.span.extracting(0..<end), start, scan, &counters)
  }

  @inline(__always) private mutating func drop(_ count: Int) {
    start &+= count
    scan.reset()
  }

  /// Takes over as many bytes as fit; an unfinished frame always leaves room for some.
  @inline(never)
  private mutating func fill(_ bytes: Span<UInt8>, _ offset: inout Int) {
    if start == end {
      start = 0
      end = 0
    }
    // `next` has compared the offset with the count, and `end` is at most the capacity.
    let wanted = bytes.count &- offset
    if wanted > Self.capacity &- end { moveToFront() }
    let count = min(wanted, Self.capacity &- end)
    precondition(count > 0, "an unfinished frame fits")
    let part = bytes.extracting(offset..<offset &+ count)
    let place = end
    var target = pending.mutableSpan
    // Both lengths are checked above; the source is the caller's and never this buffer.
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe part.withUnsafeBufferPointer { part in
        guard let from = part.baseAddress, let to = target.baseAddress else { return }
        unsafe (to + place).update(from: from, count: part.count)
      }
    }
    end &+= count
    offset &+= count
  }

  private mutating func moveToFront() {
    for i in start..<end { pending[i - start] = pending[i] }
    end -= start
    start = 0
  }

  // MARK: Deciding at a place

  @inline(__always)
  private static func examine(
    _ s: Span<UInt8>, _ i: Int, _ scan: inout SentenceScan, _ options: DecoderOptions,
    _ counters: inout DecoderCounters
  ) -> Verdict {
    let byte = s[i]
    if byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!") {
      return examineSentence(s, i, &scan, options, &counters)
    }
    if byte == 0x0A || byte == 0x0D { return .skip(1) }
    if BinaryFormat.canBegin(with: byte) { return examineFrame(s, i, &counters) }
    return skipNoise(s, i, &counters)
  }

  @inline(never)
  private static func skipNoise(
    _ s: Span<UInt8>, _ i: Int, _ counters: inout DecoderCounters
  ) -> Verdict {
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
  ) -> Verdict {
    let count = s.count - i
    if count < 2 { return .incomplete }
    guard case .frame(let format) = BinaryFormat.start(s[i], s[i + 1]) else {
      return falseStart(&counters)
    }
    if count < format.header { return .incomplete }
    let length = format.payload(s, i)
    if !format.allows(length) {
      counters.overlong.count()
      return falseStart(&counters)
    }
    let whole = format.header + length + format.trailer
    if count < whole { return .incomplete }
    if !format.isRight(s, i, length) {
      counters.checksumErrors.count()
      return falseStart(&counters)
    }
    return .frame(format, payload: length)
  }

  /// Hands on a UBX frame; of the others only says that it was there.
  @inline(__always)
  private static func read(
    _ format: BinaryFormat, _ s: Span<UInt8>, _ i: Int, _ length: Int,
    _ counters: inout DecoderCounters
  ) -> Reader.Message? {
    switch format {
    case .ubx:
      counters.frames.count()
      let payload = s.extracting(i + 6..<i + 6 + length)
      return Reader.frame(UBXIdentity(s[i + 2], s[i + 3]), payload, &counters)
    case .allystar, .casic, .sirf, .skyTraq, .rtcm3:
      counters.otherFrames.count()
      return nil
    }
  }

  @inline(__always)
  private static func examineSentence(
    _ s: Span<UInt8>, _ i: Int, _ scan: inout SentenceScan, _ options: DecoderOptions,
    _ counters: inout DecoderCounters
  ) -> Verdict {
    let limit = min(s.count, i &+ sentenceLimit &- 2)
    let j = scan.run(s, i, upTo: limit)
    if j == limit {
      if j &- i == sentenceLimit &- 2 {
        counters.overlong.count()
        return falseStart(&counters)
      }
      return .incomplete
    }
    if s[j] == UInt8(ascii: "*") {
      if j &+ 2 >= s.count { return .incomplete }
      return finishSentence(s, i, j, &scan, &counters)
    }
    return breakOff(s, i, j, &scan, options, &counters)
  }

  /// The sentence from `i` has its star at `j`, and two bytes after it.
  @inline(__always)
  private static func finishSentence(
    _ s: Span<UInt8>, _ i: Int, _ j: Int, _ scan: inout SentenceScan,
    _ counters: inout DecoderCounters
  ) -> Verdict {
    let parity = scan.parity
    if !isDigit(s[j &+ 1], parity &>> 4) || !isDigit(s[j &+ 2], parity & 15) {
      if isHexadecimal(s[j + 1]) && isHexadecimal(s[j + 2]) {
        counters.checksumErrors.count()
      } else {
        counters.brokenOff.count()
      }
      return falseStart(&counters)
    }
    counters.sentences.count()
    scan.close()
    return .sentence(length: lineEnd(s, j &+ 3) &- i)
  }

  /// A byte that no sentence has is at `j`.
  @inline(never)
  private static func breakOff(
    _ s: Span<UInt8>, _ i: Int, _ j: Int, _ scan: inout SentenceScan, _ options: DecoderOptions,
    _ counters: inout DecoderCounters
  ) -> Verdict {
    let isLineEnd = s[j] == 0x0D || s[j] == 0x0A
    if isLineEnd && options.allowsMissingChecksum && j > i + 1 {
      counters.unchecked.count()
      scan.close()
      return .sentence(length: lineEnd(s, j) - i)
    }
    if j > i + 1 { counters.brokenOff.count() }
    counters.skippedBytes += UInt64(j - i)
    return .skip(j - i)
  }

  /// Where what follows a line end begins that may be at `j`.
  @inline(__always) private static func lineEnd(_ s: Span<UInt8>, _ j: Int) -> Int {
    var j = j
    if j < s.count, s[j] == 0x0D { j &+= 1 }
    if j < s.count, s[j] == 0x0A { j &+= 1 }
    return j
  }

  private static func falseStart(_ counters: inout DecoderCounters) -> Verdict {
    counters.skippedBytes += 1
    return .skip(1)
  }

  /// Whether a character is that hexadecimal digit, in either case.
  @inline(__always) private static func isDigit(_ byte: UInt8, _ value: UInt8) -> Bool {
    if value < 10 { return byte == UInt8(ascii: "0") &+ value }
    return byte | 0x20 == UInt8(ascii: "a") &- 10 &+ value
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

import LocationTypes

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
struct StreamDecoder: Sendable {
  /// Longest sentence from `$` to the last digit of the checksum.
  static var sentenceLimit: Int { 512 }
  /// An unfinished frame fits, whatever it is.
  static var capacity: Int { 4_112 }

  // With the margin of a scan.
  private var pending: InlineArray<4_128, UInt8>
  private var start = 0
  private var end = 0
  /// What is held was looked through: more bytes are missing.
  private(set) var isStarved = true
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

  /// A copy of the frame that was read last and is `count` bytes long, at most 256; only until another one
  /// is looked for.
  func lastFrame(_ count: Int) -> ByteChunk {
    precondition(count >= 0 && count <= start, "a frame of that length lies in the buffer")
    var copy = ByteChunk()
    copy.append(pending.span.extracting(start - count..<start))
    return copy
  }

  /// Takes bytes from `offset` on until `reader` has made something of them; false when all are used up.
  ///
  /// All that fit are taken at once: only then is looked through them, in one place.
  @inline(__always)
  mutating func next<Reader: FrameReader>(
    _ bytes: Span<UInt8>, _ offset: inout Int, _ reader: inout Reader,
    into product: inout Reader.Product
  ) -> Bool {
    precondition(offset >= 0 && offset <= bytes.count, "the offset lies outside the bytes")
    while true {
      if isStarved {
        if offset == bytes.count { return false }
        fill(bytes, &offset)
      }
      switch lookForUBX() {
      case .whole(let length):
        isStarved = isWithoutFrame(start &+ 8 &+ length)
        if takeUBX(length, &reader, into: &product) { return true }
      case .unfinished: isStarved = true
      case .absent: return lookOn(bytes, &offset, &reader, into: &product)
      }
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
    guard let length = ubxLength(start) else { return .absent }
    if length &+ 8 > end &- start { return .unfinished }
    let last = start &+ 6 &+ length
    // Class to end of payload, and two bytes behind: start + 8 + length ≤ end ≤ capacity.
    let checked = unsafe Range(uncheckedBounds: (start &+ 2, last))
    let sum = UBXChecksum(of: unsafe pending.span.extracting(unchecked: checked))
    let told = unsafe pending.span.bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: last, as: UInt16.self)
    return UInt16(littleEndian: told) == sum.word ? .whole(length) : .absent
  }

  /// The length of the payload of a UBX frame that seems to start at `i`; nil if none does, or too
  /// few bytes are there to tell.
  @inline(__always)
  private func ubxLength(_ i: Int) -> Int? {
    guard end &- i >= 8 else { return nil }
    let head = Self.word(pending.span, i)
    let length = Int(truncatingIfNeeded: head &>> 32 & 0xFFFF)
    return head & 0xFFFF == 0x62B5 && length <= BinaryFormat.payloadLimit ? length : nil
  }

  /// Eight bytes from `i` on, the first one lowest.
  ///
  /// - Precondition: They are there.
  @inline(__always) private static func word(_ s: Span<UInt8>, _ i: Int) -> UInt64 {
    precondition(i >= 0 && i &+ 8 <= s.count, "eight bytes lie in the span")
    let bits = unsafe s.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self)
    return UInt64(littleEndian: bits)
  }

  /// Whether what is held from `i` on is at most the start of a UBX frame: then another look needs
  /// more bytes.
  @inline(__always)
  private func isWithoutFrame(_ i: Int) -> Bool {
    if i == end { return true }
    guard let length = ubxLength(i) else { return false }
    return length &+ 8 > end &- i
  }

  /// Reads the frame that ``lookForUBX()`` has found, and stands behind it.
  @inline(__always)
  private mutating func takeUBX<Reader: FrameReader>(
    _ length: Int, _ reader: inout Reader, into product: inout Reader.Product
  ) -> Bool {
    // `lookForUBX` has found that 0 ≤ start, and that start + 8 + length ≤ end ≤ capacity.
    let place = unsafe Range(uncheckedBounds: (start, start &+ 8 &+ length))
    let frame = unsafe pending.span.extracting(unchecked: place)
    let payload = unsafe frame.extracting(unchecked: Range(uncheckedBounds: (6, 6 &+ length)))
    let identity = unsafe UBXIdentity(frame[unchecked: 2], frame[unchecked: 3])
    counters.frames.count()
    start = place.upperBound
    return reader.frame(identity, payload, &counters, into: &product)
  }

  // MARK: What else there may be

  /// Looks through what is held, whatever it may be, and goes on as ``next(_:_:_:into:)``.
  @inline(never)
  private mutating func lookOn<Reader: FrameReader>(
    _ bytes: Span<UInt8>, _ offset: inout Int, _ reader: inout Reader,
    into product: inout Reader.Product
  ) -> Bool {
    while true {
      while !isStarved {
        if take(&reader, into: &product) { return true }
      }
      if offset == bytes.count { return false }
      fill(bytes, &offset)
    }
  }

  /// Reads what stands here and stands behind it.
  @inline(__always)
  private mutating func take<Reader: FrameReader>(
    _ reader: inout Reader, into product: inout Reader.Product
  ) -> Bool {
    if start == end {
      isStarved = true
      return false
    }
    switch examine() {
    case .incomplete:
      isStarved = true
      return false
    case .skip(let count):
      drop(count)
      return false
    case .sentence(let length):
      var fields = NMEAFields(pending.span, at: start &+ 1, scan.fieldPlaces)
      let isMade = reader.sentence(&fields, &counters, into: &product)
      drop(length)
      return isMade
    case .frame(let format, let payload):
      let isMade = read(format, payload, &reader, into: &product)
      drop(format.header &+ payload &+ format.trailer)
      return isMade
    }
  }

  /// Looks through the bytes of an unfinished frame, for no more will come; false at their end.
  mutating func finish<Reader: FrameReader>(
    _ reader: inout Reader, into product: inout Reader.Product
  ) -> Bool {
    while true {
      var offset = 0
      if lookOn(Span(), &offset, &reader, into: &product) { return true }
      if start == end { return false }
      // What waits for bytes begins in vain.
      counters.skippedBytes += 1
      drop(1)
      isStarved = false
    }
  }

  // MARK: The bytes taken

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
    // `next` has found that 0 ≤ offset; and count ≤ wanted.
    let part = unsafe bytes.extracting(
      unchecked: Range(uncheckedBounds: (offset, offset &+ count)))
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
    isStarved = false
  }

  private mutating func moveToFront() {
    let (from, held) = (start, end &- start)
    precondition(from >= 0 && held >= 0 && end <= Self.capacity, "what is held lies in the buffer")
    var target = pending.mutableSpan
    // Both ranges lie in the buffer: see above. They may overlap.
    unsafe target.withUnsafeMutableBufferPointer { target in
      guard let base = target.baseAddress else { return }
      unsafe base.update(from: base + from, count: held)
    }
    end = held
    start = 0
  }

  // MARK: Deciding at a place

  @inline(__always)
  private mutating func examine() -> Verdict {
    let byte = pending[start]
    if byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!") { return examineSentence() }
    if byte == 0x0A || byte == 0x0D { return .skip(1) }
    let held = pending.span.extracting(0..<end)
    if BinaryFormat.canBegin(with: byte) { return Self.examineFrame(held, start, &counters) }
    return Self.skipNoise(held, start, &counters)
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

  /// Hands on the UBX frame that stands here; of the others only says that it was there.
  @inline(__always)
  private mutating func read<Reader: FrameReader>(
    _ format: BinaryFormat, _ length: Int, _ reader: inout Reader,
    into product: inout Reader.Product
  ) -> Bool {
    switch format {
    case .ubx:
      counters.frames.count()
      let identity = UBXIdentity(pending[start + 2], pending[start + 3])
      let payload = pending.span.extracting(start + 6..<start + 6 + length)
      return reader.frame(identity, payload, &counters, into: &product)
    case .allystar: counters.otherFormats.insert(.allystar)
    case .casic: counters.otherFormats.insert(.casic)
    case .sirf: counters.otherFormats.insert(.sirf)
    case .skyTraq: counters.otherFormats.insert(.skyTraq)
    case .rtcm3: counters.otherFormats.insert(.rtcm3)
    }
    counters.otherFrames.count()
    return false
  }

  @inline(__always)
  private mutating func examineSentence() -> Verdict {
    let i = start
    let limit = min(end, i &+ Self.sentenceLimit &- 2)
    let j = scan.run(pending.span, i &+ 1, upTo: limit)
    if j == limit {
      if j &- i == Self.sentenceLimit &- 2 {
        counters.overlong.count()
        return Self.falseStart(&counters)
      }
      return .incomplete
    }
    // Five of the bytes are looked at; those behind lie in the buffer, whatever they are.
    if j &+ 5 <= end, let tail = scan.close(before: Self.word(pending.span, j)) {
      counters.sentences.count()
      return .sentence(length: j &- i &+ tail)
    }
    let held = pending.span.extracting(0..<end)
    if held[j] == UInt8(ascii: "*") {
      if j &+ 2 >= held.count { return .incomplete }
      return Self.finishSentence(held, i, j, &scan, &counters)
    }
    return Self.breakOff(held, i, j, &scan, options, &counters)
  }

  /// The sentence from `i` has its star at `j`, and two bytes after it: the last one that is held, one
  /// with small letters in its checksum, or one whose checksum is wrong.
  @inline(never)
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

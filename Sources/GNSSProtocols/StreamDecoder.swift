/// What becomes of the frames that a ``StreamDecoder`` finds.
protocol FrameReader {
  /// What it makes of them.
  associatedtype Message
  /// Reads a UBX payload of at most 1,024 bytes whose checksum was right; nil to pass over it.
  static func frame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters
  ) -> Message?
  /// Reads what stands between `$` and `*` of a sentence whose checksum was right.
  static func sentence(_ body: Span<UInt8>, _ counters: inout DecoderCounters) -> Message?
}

/// Finds UBX frames and NMEA sentences in a stream of bytes, whatever the chunks they come in.
///
/// A place where a frame seems to start is given up only for the byte after it, so a false start
/// swallows nothing. What is decided at a place depends on the bytes from there on and on nothing
/// else; that is why the chunks make no difference.
struct StreamDecoder<Reader: FrameReader> {
  /// Longest UBX payload; a longer length is a false start.
  static var payloadLimit: Int { 1_024 }
  /// Longest sentence from `$` to the last digit of the checksum.
  static var sentenceLimit: Int { 512 }
  /// An unfinished frame fits, whatever it is.
  static var capacity: Int { 1_032 }

  private var pending: InlineArray<1_032, UInt8>
  private var start = 0
  private var end = 0
  private var progress = Progress()
  private(set) var counters = DecoderCounters()

  /// How far an unfinished sentence has been looked at.
  struct Progress {
    /// Bytes from the start of the sentence, that one included.
    var scanned = 1
    /// Exclusive or of those after the first.
    var parity: UInt8 = 0
  }

  private enum Verdict {
    /// At least that many bytes are missing.
    case incomplete(missing: Int)
    /// So many bytes belong to no frame.
    case skip(Int)
    /// A frame of that length, checksum right.
    case frame(length: Int, Reader.Message?)
  }

  init() { pending = InlineArray(repeating: 0) }

  /// Whether bytes of an unfinished frame wait for more.
  var isMidFrame: Bool { start < end }

  /// Takes bytes from `offset` on until a message is complete; nil when all are used up.
  mutating func next(_ bytes: Span<UInt8>, _ offset: inout Int) -> Reader.Message? {
    precondition(offset >= 0 && offset <= bytes.count, "the offset lies outside the bytes")
    while true {
      if start < end {
        switch examinePending() {
        case .incomplete(let missing):
          if offset == bytes.count { return nil }
          pull(bytes, &offset, missing)
        case .skip(let count): drop(count)
        case .frame(let length, let message):
          drop(length)
          if let message { return message }
        }
      } else {
        if offset == bytes.count { return nil }
        switch Self.examine(bytes, offset, &progress, &counters) {
        case .incomplete:
          store(bytes, offset)
          offset = bytes.count
          return nil
        case .skip(let count):
          offset += count
          progress = Progress()
        case .frame(let length, let message):
          offset += length
          progress = Progress()
          if let message { return message }
        }
      }
    }
  }

  /// Looks through the bytes of an unfinished frame, for no more will come; nil at their end.
  mutating func finish() -> Reader.Message? {
    while start < end {
      switch examinePending() {
      case .incomplete:
        counters.skippedBytes += 1
        drop(1)
      case .skip(let count): drop(count)
      case .frame(let length, let message):
        drop(length)
        if let message { return message }
      }
    }
    return nil
  }

  // MARK: The unfinished frame

  private mutating func examinePending() -> Verdict {
    Self.examine(pending.span.extracting(start..<end), 0, &progress, &counters)
  }

  private mutating func drop(_ count: Int) {
    start += count
    progress = Progress()
    if start == end {
      start = 0
      end = 0
    }
  }

  private mutating func store(_ bytes: Span<UInt8>, _ offset: Int) {
    start = 0
    end = 0
    take(bytes, offset, bytes.count - offset)
  }

  /// Takes over the missing bytes; of a sentence, all up to what may end it.
  private mutating func pull(_ bytes: Span<UInt8>, _ offset: inout Int, _ missing: Int) {
    if end + missing > Self.capacity { moveToFront() }
    precondition(end + missing <= Self.capacity, "an unfinished frame fits")
    if pending[start] == 0xB5 {
      let count = min(missing, bytes.count - offset)
      take(bytes, offset, count)
      offset += count
      return
    }
    var wanted = missing
    while offset < bytes.count && wanted > 0 && end < Self.capacity {
      let byte = bytes[offset]
      pending[end] = byte
      end += 1
      offset += 1
      wanted -= 1
      if wanted == 0 && byte >= 0x20 && byte != UInt8(ascii: "*") { wanted = 1 }
    }
  }

  /// Copies `count` bytes from `offset` on behind those that are there; traps where they do not fit.
  private mutating func take(_ bytes: Span<UInt8>, _ offset: Int, _ count: Int) {
    precondition(count >= 0 && count <= Self.capacity - end, "an unfinished frame fits")
    let part = bytes.extracting(offset..<offset + count)
    let place = end
    var target = pending.mutableSpan
    // Both lengths are checked above; the source is the caller's and never this buffer.
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe part.withUnsafeBufferPointer { part in
        guard let from = part.baseAddress, let to = target.baseAddress else { return }
        unsafe (to + place).update(from: from, count: part.count)
      }
    }
    end += count
  }

  private mutating func moveToFront() {
    for i in start..<end { pending[i - start] = pending[i] }
    end -= start
    start = 0
  }

  // MARK: Deciding at a place

  private static func examine(
    _ s: Span<UInt8>, _ i: Int, _ progress: inout Progress, _ counters: inout DecoderCounters
  ) -> Verdict {
    switch s[i] {
    case 0xB5: return examineFrame(s, i, &counters)
    case UInt8(ascii: "$"), UInt8(ascii: "!"):
      return examineSentence(s, i, &progress, &counters)
    case 0x0A, 0x0D: return .skip(1)
    case _: return skipNoise(s, i, &counters)
    }
  }

  private static func skipNoise(
    _ s: Span<UInt8>, _ i: Int, _ counters: inout DecoderCounters
  ) -> Verdict {
    var j = i + 1
    while j < s.count {
      let byte = s[j]
      if byte == 0xB5 || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!") || byte == 0x0A
        || byte == 0x0D
      {
        break
      }
      j += 1
    }
    counters.skippedBytes += UInt64(j - i)
    return .skip(j - i)
  }

  private static func examineFrame(
    _ s: Span<UInt8>, _ i: Int, _ counters: inout DecoderCounters
  ) -> Verdict {
    let count = s.count - i
    if count < 2 { return .incomplete(missing: 1) }
    if s[i + 1] != 0x62 { return falseStart(&counters) }
    if count < 6 { return .incomplete(missing: 6 - count) }
    let length = Int(s.u2(i + 4))
    if length > payloadLimit {
      counters.overlong.count()
      return falseStart(&counters)
    }
    if count < length + 8 { return .incomplete(missing: length + 8 - count) }
    let checksum = UBXChecksum(of: s.extracting(i + 2..<i + 6 + length))
    if s[i + 6 + length] != checksum.a || s[i + 7 + length] != checksum.b {
      counters.checksumErrors.count()
      return falseStart(&counters)
    }
    counters.frames.count()
    let payload = s.extracting(i + 6..<i + 6 + length)
    let message = Reader.frame(UBXIdentity(s[i + 2], s[i + 3]), payload, &counters)
    return .frame(length: length + 8, message)
  }

  private static func examineSentence(
    _ s: Span<UInt8>, _ i: Int, _ progress: inout Progress, _ counters: inout DecoderCounters
  ) -> Verdict {
    let limit = min(s.count, i + sentenceLimit - 2)
    var j = i + progress.scanned
    var parity = progress.parity
    while j < limit {
      if j + 8 <= limit, let eight = EightBytes(s, at: j).parityIfPlain {
        parity ^= eight
        j += 8
        continue
      }
      let byte = s[j]
      if byte == UInt8(ascii: "*") {
        if j + 2 >= s.count {
          progress = Progress(scanned: j - i, parity: parity)
          return .incomplete(missing: j + 3 - s.count)
        }
        return finishSentence(s, i, j, parity, &counters)
      }
      if byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "$") {
        if j > i + 1 { counters.brokenOff.count() }
        counters.skippedBytes += UInt64(j - i)
        return .skip(j - i)
      }
      parity ^= byte
      j += 1
    }
    if j - i == sentenceLimit - 2 {
      counters.overlong.count()
      return falseStart(&counters)
    }
    progress = Progress(scanned: j - i, parity: parity)
    return .incomplete(missing: 1)
  }

  /// The sentence from `i` has its star at `j`, and two bytes after it.
  private static func finishSentence(
    _ s: Span<UInt8>, _ i: Int, _ j: Int, _ parity: UInt8, _ counters: inout DecoderCounters
  ) -> Verdict {
    guard let high = hexadecimal(s[j + 1]), let low = hexadecimal(s[j + 2]) else {
      counters.brokenOff.count()
      return falseStart(&counters)
    }
    if high << 4 | low != parity {
      counters.checksumErrors.count()
      return falseStart(&counters)
    }
    counters.sentences.count()
    let message = Reader.sentence(s.extracting(i + 1..<j), &counters)
    return .frame(length: j + 3 - i, message)
  }

  private static func falseStart(_ counters: inout DecoderCounters) -> Verdict {
    counters.skippedBytes += 1
    return .skip(1)
  }

  @inline(__always) private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case _: nil
    }
  }
}

/// How far a sentence has been looked at: its parity and where its commas are.
///
/// Kept while the sentence is incomplete, so that no sixteen bytes are looked at twice. All places count
/// from the byte behind the `$`.
struct SentenceScan {
  /// How many fields can be found again; what is behind them is checked but not read.
  static var fieldLimit: Int { 24 }
  /// So many bytes behind the last one must be there to be loaded with it; what they are is all one.
  static var margin: Int { 16 }

  // Bytes looked at.
  private var scanned = 0
  // Of the last of them, up to 64 and from a multiple of 64 on: a bit for each that is a comma.
  private var marks: UInt64 = 0
  // Eight bytes side by side: only their exclusive or together means something.
  private var lanes: UInt64 = 0
  // Commas noted, and where they are: with 24 or fewer, another 64 bytes are noted, which may all be.
  private var commas = 0
  private var places = InlineArray<88, UInt16>(repeating: 0)

  private static var ones: UInt64 { 0x0101_0101_0101_0101 }
  private static var highs: UInt64 { 0x8080_8080_8080_8080 }
  private static var commaBytes: UInt64 { 0x2C2C_2C2C_2C2C_2C2C }

  /// Makes it stand at the start of another sentence.
  @inline(__always) mutating func reset() {
    scanned = 0
    marks = 0
    lanes = 0
    commas = 0
  }

  /// The exclusive or of the bytes looked at.
  @inline(__always) var parity: UInt8 {
    var fold = lanes ^ (lanes >> 32)
    fold ^= fold >> 16
    return UInt8(truncatingIfNeeded: fold ^ (fold >> 8))
  }

  /// Notes where the last fields end.
  @inline(__always) mutating func close() {
    note(marks, behind: scanned & ~63)
    if commas <= SentenceScan.fieldLimit { places[commas] = UInt16(truncatingIfNeeded: scanned) }
  }

  /// The places of the commas, and of the end behind the last field: one more than there are fields
  /// that can be read, for each begins behind a comma.
  ///
  /// They are there once it was closed.
  var fieldPlaces: Span<UInt16> {
    @_lifetime(borrow self) @inline(__always)
    get { places.span.extracting(0...min(commas, SentenceScan.fieldLimit)) }
  }

  /// Looks on in the sentence whose first byte behind the `$` is `i`, up to a star, a byte that no
  /// sentence has, or `limit`. O(bytes), sixteen at a time.
  ///
  /// - Precondition: Behind `limit` lie ``margin`` bytes.
  /// - Returns: Where it stands.
  @inline(__always)
  mutating func run(_ s: Span<UInt8>, _ i: Int, upTo limit: Int) -> Int {
    precondition(
      i >= 0 && scanned >= 0 && limit >= 0 && limit <= s.count &- SentenceScan.margin,
      "the sentence and a margin lie in the span")
    var j = i &+ scanned
    var now = Looked(lanes: lanes, marks: marks)
    while j < limit {
      // The bounds were checked: 0 ≤ j, and j + 16 < limit + margin ≤ count.
      let first = unsafe SentenceScan.word(s, uncheckedAt: j)
      let second = unsafe SentenceScan.word(s, uncheckedAt: j &+ 8)
      let place = j &- i
      if SentenceScan.isPlain(first, second) && j &+ 16 <= limit {
        now.take(first, SentenceScan.plainCommas(in: first), at: place)
        now.take(second, SentenceScan.plainCommas(in: second), at: place &+ 8)
      } else {
        var then = now
        var end = then.takeBeforeEnd(first, at: place)
        if end == 8 { end &+= then.takeBeforeEnd(second, at: place &+ 8) }
        if end < min(16, limit &- j) {
          (lanes, marks, scanned) = (then.lanes, then.marks, place &+ end)
          return j &+ end
        }
        // The last bytes are looked at again when there are more of them.
        if j &+ 16 > limit { break }
        now = then
      }
      j &+= 16
      if (j &- i) & 63 == 0 {
        note(now.marks, behind: place &- 48)
        now.marks = 0
      }
    }
    (lanes, marks, scanned) = (now.lanes, now.marks, j &- i)
    return limit
  }

  /// Eight bytes from `j` on.
  ///
  /// - Precondition: They are there.
  @inline(__always) @unsafe
  private static func word(_ s: Span<UInt8>, uncheckedAt j: Int) -> UInt64 {
    let bits = unsafe s.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: j, as: UInt64.self)
    return UInt64(littleEndian: bits)
  }

  /// Whether no byte is below the comma or above the tilde, as most are in a sentence.
  @inline(__always) private static func isPlain(_ a: UInt64, _ b: UInt64) -> Bool {
    let odd = (a &- commaBytes) | (a &+ ones) | a | (b &- commaBytes) | (b &+ ones) | b
    return odd & highs == 0
  }

  /// High bits where one of eight plain bytes is a comma.
  @inline(__always) private static func plainCommas(in word: UInt64) -> UInt64 {
    (highs &+ commaBytes &- word) & highs
  }

  /// High bits where one of eight bytes is a comma, whatever the others are.
  @inline(__always) private static func commas(in word: UInt64) -> UInt64 {
    let others = word ^ commaBytes
    return ~(((others & ~highs) &+ ~highs) | others) & highs
  }

  /// Notes the places of up to 64 commas, counted from `start` on.
  @inline(never) private mutating func note(_ marks: UInt64, behind start: Int) {
    if commas > SentenceScan.fieldLimit { return }
    var count = commas
    var rest = marks
    while rest != 0 {
      // At most 24 were noted before, and 64 are marked: there are 88 places.
      let place = start &+ rest.trailingZeroBitCount
      unsafe places[unchecked: count] = UInt16(truncatingIfNeeded: place)
      count &+= 1
      rest &= rest &- 1
    }
    commas = count
  }
}

extension SentenceScan {
  /// Parity and commas of the bytes looked at, while they are looked at.
  private struct Looked {
    var lanes: UInt64
    var marks: UInt64

    /// Takes eight bytes, with high bits for commas, of which the first is at `place`.
    @inline(__always) mutating func take(_ word: UInt64, _ commas: UInt64, at place: Int) {
      lanes ^= word
      // The product puts the eight bits side by side into its highest byte.
      let bits = ((commas &>> 7) &* 0x0102_0408_1020_4080) &>> 56
      marks |= bits &<< UInt64(truncatingIfNeeded: place)
    }

    /// Takes those of eight bytes before the first that ends a sentence, and says how many they are.
    @inline(__always) mutating func takeBeforeEnd(_ word: UInt64, at place: Int) -> Int {
      let end = SentenceScan.end(in: word)
      let before = end == 8 ? ~0 : (1 &<< UInt64(truncatingIfNeeded: 8 &* end)) &- 1
      take(word & before, SentenceScan.commas(in: word) & before, at: place)
      return end
    }
  }

  /// Which of eight bytes is the first that ends a sentence, a star or what none has; 8 if none does.
  @inline(__always) private static func end(in word: UInt64) -> Int {
    // Exact in every byte, for none borrows from the next.
    let isBelow = ~((word | highs) &- commaBytes)
    var odd = (isBelow | (word &+ ones) | word) & highs
    while odd != 0 {
      let bit = odd.trailingZeroBitCount &- 7
      let byte = UInt8(truncatingIfNeeded: word &>> UInt64(truncatingIfNeeded: bit))
      if byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "*") {
        return bit &>> 3
      }
      odd &= odd &- 1
    }
    return 8
  }
}

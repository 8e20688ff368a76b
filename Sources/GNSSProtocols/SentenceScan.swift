import CBytes

/// How far a sentence has been looked at: its parity and where its commas are.
///
/// Kept while the sentence is incomplete, so that no sixteen bytes are looked at twice. All places count
/// from the byte behind the `$`.
struct SentenceScan {
  /// How many fields can be found again; what is behind them is checked but not read.
  static var fieldLimit: Int { 24 }
  /// So many bytes behind the last one must be there to be loaded with it; what they are is all one.
  static var margin: Int { 16 }

  // Bytes looked at: a multiple of 16 until the end is found.
  private var scanned = 0
  // Of the last of them, up to 64 and from a multiple of 64 on: a bit for each that is a comma.
  private var marks: UInt64 = 0
  // Eight bytes side by side: only their exclusive or together means something.
  private var lanes: UInt64 = 0
  // Commas noted, and where they are: with 24 or fewer, another 64 bytes are noted, which may all be.
  private var commas = 0
  private var places = InlineArray<88, UInt16>(repeating: 0)

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
    var place = scanned
    var now = Looked(lanes: lanes, marks: marks)
    while i &+ place < limit {
      // The bounds were checked: 0 ≤ i + place, which is below limit, and limit + margin ≤ count.
      let bytes = unsafe s.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: i &+ place, as: SIMD16<UInt8>.self)
      let ends = bytes16_ends(bytes)
      let left = limit &- i &- place
      if ends != 0 || left < 16 {
        let end = ends == 0 ? 16 : ends.trailingZeroBitCount
        // The last bytes are looked at again when there are more of them.
        if end >= left { break }
        now.take(bytes, end, at: place)
        (lanes, marks, scanned) = (now.lanes, now.marks, place &+ end)
        return i &+ scanned
      }
      now.take(bytes, at: place)
      place &+= 16
      if place & 63 == 0 {
        note(now.marks, behind: place &- 64)
        now.marks = 0
      }
    }
    (lanes, marks, scanned) = (now.lanes, now.marks, place)
    return limit
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

    /// Takes sixteen bytes, of which the first is at `place`.
    @inline(__always) mutating func take(_ bytes: SIMD16<UInt8>, at place: Int) {
      let (first, second) = Looked.words(bytes)
      lanes ^= first ^ second
      mark(bytes16_commas(bytes), at: place)
    }

    /// Takes the first `count` of sixteen bytes, which are fewer.
    @inline(__always) mutating func take(_ bytes: SIMD16<UInt8>, _ count: Int, at place: Int) {
      let (first, second) = Looked.words(bytes)
      let isInFirst = count < 8
      let before = (1 &<< UInt64(truncatingIfNeeded: (count & 7) &* 8)) &- 1
      lanes ^= isInFirst ? first & before : first ^ second & before
      mark(bytes16_commas(bytes) & ((1 &<< UInt32(truncatingIfNeeded: count)) &- 1), at: place)
    }

    @inline(__always) private mutating func mark(_ commas: UInt32, at place: Int) {
      marks |= UInt64(commas) &<< UInt64(truncatingIfNeeded: place)
    }

    /// As two words, the first byte lowest.
    @inline(__always) private static func words(_ bytes: SIMD16<UInt8>) -> (UInt64, UInt64) {
      // As many bits, and any are integers.
      let words = unsafe unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
      return (UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]))
    }
  }
}

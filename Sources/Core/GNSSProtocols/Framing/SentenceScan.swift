import CCore

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
  /// Of the bytes looked at.
  private var sum = SentenceParity()
  // Commas noted, and where they are: with 24 or fewer, another 64 bytes are noted, which may all be.
  private var commas = 0
  private var places = InlineArray<88, UInt16>(repeating: 0)

  /// Makes it stand at the start of another sentence.
  @inline(__always) mutating func reset() {
    scanned = 0
    marks = 0
    sum = SentenceParity()
    commas = 0
  }

  /// The exclusive or of the bytes looked at.
  @inline(__always) var parity: UInt8 { sum.byte }

  /// Notes where the last fields end, if the eight bytes that follow begin with a star and the right
  /// checksum, in capitals.
  ///
  /// - Returns: How many of them belong to the sentence; nil where they do not.
  @inline(__always) mutating func close(before word: UInt64) -> Int? {
    guard let tail = NMEAFraming.tail(word, sum.byte) else { return nil }
    close()
    return tail
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
    var now = Looked(sum: sum, marks: marks)
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
        (sum, marks, scanned) = (now.sum, now.marks, place &+ end)
        return i &+ scanned
      }
      now.take(bytes, at: place)
      place &+= 16
      if place & 63 == 0 {
        note(now.marks, behind: place &- 64)
        now.marks = 0
      }
    }
    (sum, marks, scanned) = (now.sum, now.marks, place)
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
    var sum: SentenceParity
    var marks: UInt64

    /// Takes sixteen bytes, of which the first is at `place`.
    @inline(__always) mutating func take(_ bytes: SIMD16<UInt8>, at place: Int) {
      sum.take(bytes)
      mark(bytes16_commas(bytes), at: place)
    }

    /// Takes the first `count` of sixteen bytes, which are fewer.
    @inline(__always) mutating func take(_ bytes: SIMD16<UInt8>, _ count: Int, at place: Int) {
      sum.take(bytes, count)
      mark(bytes16_commas(bytes) & ((1 &<< UInt32(truncatingIfNeeded: count)) &- 1), at: place)
    }

    @inline(__always) private mutating func mark(_ commas: UInt32, at place: Int) {
      marks |= UInt64(commas) &<< UInt64(truncatingIfNeeded: place)
    }
  }
}

/// How far a sentence has been looked at: its parity and where its commas are.
///
/// Kept while the sentence is incomplete, so that no byte is looked at twice. All places count from
/// the `$`.
struct SentenceScan {
  /// How many fields can be found again; what is behind them is checked but not read.
  static var fieldLimit: Int { 24 }

  /// Bytes looked at from the start of the sentence, that one included.
  private(set) var scanned = 1
  /// Commas met, also those beyond the limit.
  private(set) var commas = 0
  // Eight bytes side by side: only their exclusive or together means something.
  private var lanes: UInt64 = 0
  private var places = InlineArray<25, UInt16>(repeating: 0)

  private static var ones: UInt64 { 0x0101_0101_0101_0101 }
  private static var highs: UInt64 { 0x8080_8080_8080_8080 }
  private static var commaBytes: UInt64 { 0x2C2C_2C2C_2C2C_2C2C }

  /// Makes it stand at the start of another sentence.
  @inline(__always) mutating func reset() {
    scanned = 1
    commas = 0
    lanes = 0
  }

  /// The exclusive or of the bytes looked at, the first left out.
  @inline(__always) var parity: UInt8 {
    var fold = lanes ^ (lanes >> 32)
    fold ^= fold >> 16
    return UInt8(truncatingIfNeeded: fold ^ (fold >> 8))
  }

  /// The place of comma `i`, or of the end behind the last field; `i` is at most ``fields``.
  @inline(__always) func place(_ i: Int) -> Int { Int(places[i]) }

  /// Fields that can be read: each begins behind a comma.
  @inline(__always) var fields: Int { min(commas, SentenceScan.fieldLimit) }

  /// Notes where the last field ends.
  @inline(__always) mutating func close() {
    if commas <= SentenceScan.fieldLimit { places[commas] = UInt16(truncatingIfNeeded: scanned) }
  }

  /// Whether that byte ends what ``run(_:_:upTo:)`` looks at: a star, or what no sentence has.
  @inline(__always) static func mayEnd(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "*")
  }

  /// Looks on in the sentence that starts at `i`, up to a star, a byte that no sentence has, or
  /// `limit`.
  ///
  /// - Precondition: `limit` is at most the number of bytes, and what was looked at lies before it.
  /// - Returns: Where it stands.
  @inline(__always)
  mutating func run(_ s: Span<UInt8>, _ i: Int, upTo limit: Int) -> Int {
    precondition(i >= 0 && scanned >= 0 && limit <= s.count, "the sentence lies in the span")
    var j = i &+ scanned
    var count = commas
    var parity = lanes
    scan: while j < limit {
      var byte: UInt8
      if j &+ 8 <= limit {
        // The bounds were checked: 0 ≤ j, and j + 8 ≤ limit ≤ count.
        let bits = unsafe s.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: j, as: UInt64.self)
        let word = UInt64(littleEndian: bits)
        let above = word &- SentenceScan.commaBytes
        // A high bit where a byte is below the comma or above the tilde; exact in the lowest.
        let odd = (above | (word &+ SentenceScan.ones) | word) & SentenceScan.highs
        var found = (SentenceScan.highs &- above) & SentenceScan.highs
        if odd == 0 {
          parity ^= word
          note(&found, at: j &- i, &count)
          j &+= 8
          continue
        }
        let bit = UInt64(odd.trailingZeroBitCount &- 7)
        let before = (1 &<< bit) &- 1
        parity ^= word & before
        found &= before
        note(&found, at: j &- i, &count)
        j &+= Int(bit &>> 3)
        byte = UInt8(truncatingIfNeeded: word &>> bit)
      } else {
        byte = unsafe s[unchecked: j]
        if byte == UInt8(ascii: ",") {
          var one: UInt64 = 0x80
          note(&one, at: j &- i, &count)
        }
      }
      if SentenceScan.mayEnd(byte) { break scan }
      parity ^= UInt64(byte)
      j &+= 1
    }
    scanned = j &- i
    commas = count
    lanes = parity
    return j
  }

  /// Notes a comma for every high bit of `found`, whose lowest byte is at `place`.
  @inline(__always)
  private mutating func note(_ found: inout UInt64, at place: Int, _ count: inout Int) {
    while found != 0 {
      if count <= SentenceScan.fieldLimit {
        places[count] = UInt16(truncatingIfNeeded: place &+ found.trailingZeroBitCount &>> 3)
      }
      count &+= 1
      found &= found &- 1
    }
  }
}

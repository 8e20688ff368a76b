/// The 8-bit Fletcher checksum of UBX, over class, identifier, length and payload.
struct UBXChecksum {
  var a: UInt8
  var b: UInt8

  /// Both as a little-endian word: so they stand behind the payload.
  @inline(__always) var word: UInt16 { UInt16(a) | UInt16(b) &<< 8 }

  /// Sums up the bytes from the class to the end of the payload. O(bytes), sixteen at a time.
  ///
  /// Both sums count modulo 256, so lanes of a byte may wrap as they like. In lane l the bytes of n
  /// rows add up to `sums`, and each as often as rows follow, its own counted, to `rows`: of 16 n bytes
  /// the one at 16 j + l weighs 16 n − 16 j − l, which is 16 (n − j) − l.
  init(of bytes: Span<UInt8>) {
    var sums = SIMD16<UInt8>()
    var rows = SIMD16<UInt8>()
    let raw = unsafe bytes.bytes
    let whole = raw.byteCount & ~15
    var i = 0
    while i < whole {
      // Any bits are bytes, and i + 16 ≤ whole ≤ count: both are multiples of 16, and i < whole.
      let row = unsafe raw.unsafeLoadUnaligned(
        fromUncheckedByteOffset: i, as: SIMD16<UInt8>.self)
      sums &+= row
      rows &+= sums
      i &+= 16
    }
    // Lane l + 8 weighs 8 more than lane l, so both halves are taken together: what is left of 16 is
    // in eights, and l is 8 less the weight of `weightedSum`.
    let both = sums.lowHalf &+ sums.highHalf
    let halfRows = rows.lowHalf &+ rows.highHalf
    let eights = halfRows &+ halfRows &- sums.highHalf &- both
    let lanes = EightBytes(both)
    var first = lanes.sum
    var second = lanes.weightedSum(andEight: EightBytes(eights))
    while i < raw.byteCount {
      first &+= UInt32(bytes[i])
      second &+= first
      i &+= 1
    }
    a = UInt8(truncatingIfNeeded: first)
    b = UInt8(truncatingIfNeeded: second)
  }
}

/// The 8-bit Fletcher checksum of UBX, over class, identifier, length and payload.
struct UBXChecksum {
  var a: UInt8
  var b: UInt8

  /// Sums up the bytes from the class to the end of the payload. O(bytes), sixteen at a time.
  ///
  /// Both sums count modulo 256, so lanes of a byte may wrap as they like. In lane l the bytes of n
  /// rows add up to `sums`, and each as often as rows follow, its own counted, to `rows`; of N bytes
  /// the one at 16 j + l weighs N − 16 j − l = 16 (n − j) − l.
  init(of bytes: Span<UInt8>) {
    var sums = SIMD16<UInt8>()
    var rows = SIMD16<UInt8>()
    let raw = unsafe bytes.bytes
    var i = 0
    while i + 16 <= raw.byteCount {
      // Any bits are bytes; the bounds are checked by the span.
      let row = unsafe raw.unsafeLoadUnaligned(fromByteOffset: i, as: SIMD16<UInt8>.self)
      sums &+= row
      rows &+= sums
      i += 16
    }
    let (low, high) = EightBytes.halves(of: sums)
    let (lowRows, highRows) = EightBytes.halves(of: rows)
    var first = low.sum &+ high.sum
    var second = 16 &* (lowRows.sum &+ highRows.sum)
    // l is 8 less the weight in the low half, 16 less it in the high one.
    second &-= 8 &* low.sum &- low.weightedSum
    second &-= 16 &* high.sum &- high.weightedSum
    while i < raw.byteCount {
      first &+= UInt32(bytes[i])
      second &+= first
      i += 1
    }
    a = UInt8(truncatingIfNeeded: first)
    b = UInt8(truncatingIfNeeded: second)
  }
}

import CCore

/// The 8-bit Fletcher checksum of UBX, over class, identifier, length and payload.
struct UBXChecksum {
  var a: UInt8
  var b: UInt8

  /// Both bytes as a little-endian word, as they follow the payload.
  @inline(__always) var word: UInt16 { UInt16(a) | UInt16(b) &<< 8 }

  /// Computes the checksum of the bytes from the class to the end of the payload. O(bytes), sixteen at
  /// a time.
  ///
  /// Both sums are modulo 256, so byte lanes may wrap. Lane l of `sums` accumulates byte l of all n
  /// rows, and `rows` weights each by the number of rows from its own to the last: of 16 n bytes the
  /// one at 16 j + l has the weight 16 n − 16 j − l, which is 16 (n − j − 1) + 16 − l.
  init(of bytes: Span<UInt8>) {
    var sums = SIMD16<UInt8>()
    var rows = SIMD16<UInt8>()
    let raw = unsafe bytes.bytes
    let count = raw.byteCount
    var i = 0
    // Two rows per iteration. Any bits are valid bytes, and the loop checks the bounds before each
    // load.
    while count &- i >= 32 {
      sums &+= unsafe UBXChecksum.row(raw, i)
      rows &+= sums
      sums &+= unsafe UBXChecksum.row(raw, i &+ 16)
      rows &+= sums
      i &+= 32
    }
    if count &- i >= 16 {
      sums &+= unsafe UBXChecksum.row(raw, i)
      rows &+= sums
      i &+= 16
    }
    var first = bytes16_sum(sums)
    var second = bytes16_weighted_sum(sums, rows &- sums)
    while i < count {
      first &+= UInt32(bytes[i])
      second &+= first
      i &+= 1
    }
    a = UInt8(truncatingIfNeeded: first)
    b = UInt8(truncatingIfNeeded: second)
  }

  /// Sixteen bytes from `i` on.
  ///
  /// - Precondition: They lie in the span.
  @inline(__always) @unsafe
  private static func row(_ bytes: RawSpan, _ i: Int) -> SIMD16<UInt8> {
    unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: SIMD16<UInt8>.self)
  }
}

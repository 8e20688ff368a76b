/// The 8-bit Fletcher checksum of UBX, over class, identifier, length and payload.
struct UBXChecksum {
  var a: UInt8
  var b: UInt8

  /// Both bytes as a little-endian word, as they follow the payload.
  @inline(__always) var word: UInt16 { UInt16(a) | UInt16(b) &<< 8 }

  /// Computes the checksum of the bytes from the class to the end of the payload. O(bytes), sixteen at
  /// a time: byte by byte, a NAV-PVT into a fix exceeds its budget (Docs/Decisions/0167).
  ///
  /// Both sums are modulo 256, so byte lanes may wrap. Lane l of `sums` accumulates byte l of all n
  /// rows, and `rows` weights each by the number of rows after its own: of 16 n bytes the one at
  /// 16 j + l has the weight 16 (n − j − 1) + 16 − l.
  init(of bytes: Span<UInt8>) {
    var sums = SIMD16<UInt8>()
    var rows = SIMD16<UInt8>()
    let raw = unsafe bytes.bytes
    let count = raw.byteCount
    var i = 0
    while count &- i >= 16 {
      rows &+= sums
      // Any bits are valid bytes, and the line above checks the bounds.
      sums &+= unsafe raw.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: SIMD16<UInt8>.self)
      i &+= 16
    }
    let (low, high) = UBXChecksum.words(sums)
    let (lowRows, highRows) = UBXChecksum.words(rows)
    let lowSum = UBXChecksum.sum(low)
    var first = lowSum &+ UBXChecksum.sum(high)
    var second = UBXChecksum.fallingSum(low) &+ 8 &* lowSum &+ UBXChecksum.fallingSum(high)
    second &+= 16 &* (UBXChecksum.sum(lowRows) &+ UBXChecksum.sum(highRows))
    while i < count {
      first &+= UInt64(bytes[i])
      second &+= first
      i &+= 1
    }
    a = UInt8(truncatingIfNeeded: first)
    b = UInt8(truncatingIfNeeded: second)
  }

  /// Sixteen bytes as two words, the first byte lowest.
  @inline(__always) private static func words(_ bytes: SIMD16<UInt8>) -> (UInt64, UInt64) {
    // Equal size, and any bits are valid integers.
    let words = unsafe unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
    return (UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]))
  }

  /// Sum of eight bytes: the highest of four lanes of 16 bits is the sum of the lanes.
  @inline(__always) private static func sum(_ word: UInt64) -> UInt64 {
    let even = word & 0x00FF_00FF_00FF_00FF
    let odd = word &>> 8 & 0x00FF_00FF_00FF_00FF
    return ((even &+ odd) &* 0x0001_0001_0001_0001) &>> 48
  }

  /// Sum of eight bytes with the weights 8 for the first to 1 for the last.
  @inline(__always) private static func fallingSum(_ word: UInt64) -> UInt64 {
    let even = word & 0x00FF_00FF_00FF_00FF
    let odd = word &>> 8 & 0x00FF_00FF_00FF_00FF
    return (even &* 0x0008_0006_0004_0002 &+ odd &* 0x0007_0005_0003_0001) &>> 48
  }
}

/// Eight bytes in one register: what is done with every byte is done with eight at once.
struct EightBytes {
  private let word: UInt64

  private static let even: UInt64 = 0x00FF_00FF_00FF_00FF

  /// Takes the bytes from `i` on; traps when there are fewer than eight.
  @inline(__always) init(_ s: Span<UInt8>, at i: Int) {
    // Any bits are an integer; the bounds are checked by the span.
    let bits = unsafe s.bytes.unsafeLoadUnaligned(fromByteOffset: i, as: UInt64.self)
    word = UInt64(littleEndian: bits)
  }

  /// Takes eight lanes.
  @inline(__always) init(_ lanes: SIMD8<UInt8>) {
    // As many bits, and any are an integer.
    word = UInt64(littleEndian: unsafe unsafeBitCast(lanes, to: UInt64.self))
  }

  /// The sum of all.
  @inline(__always) var sum: UInt32 {
    let pairs = (word & EightBytes.even) &+ (word >> 8 & EightBytes.even)
    return UInt32(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) >> 48)
  }

  /// Eight times the first and seven times the second, down to once the last.
  @inline(__always) var weightedSum: UInt32 {
    let first = ((word & EightBytes.even) &* 0x0008_0006_0004_0002) >> 48
    let second = ((word >> 8 & EightBytes.even) &* 0x0007_0005_0003_0001) >> 48
    return UInt32(truncatingIfNeeded: first &+ second)
  }
}

/// Eight bytes in one register: what is done with every byte is done with eight at once.
struct EightBytes {
  private let word: UInt64

  private static let even: UInt64 = 0x00FF_00FF_00FF_00FF

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

  /// Eight times the first and seven times the second, down to once the last, and eight times all of
  /// `others`.
  @inline(__always) func weightedSum(andEight others: EightBytes) -> UInt32 {
    let ofOthers = (others.word & EightBytes.even) &+ (others.word >> 8 & EightBytes.even)
    // Each product's highest 16 bits are a sum; those of all three stay below 2¹⁶, what is lower too.
    let sum =
      (word & EightBytes.even) &* 0x0008_0006_0004_0002
      &+ (word >> 8 & EightBytes.even) &* 0x0007_0005_0003_0001
      &+ ofOthers &* 0x0008_0008_0008_0008
    return UInt32(truncatingIfNeeded: sum >> 48)
  }
}

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

/// The 8-bit Fletcher checksum of UBX, over class, identifier, length and payload.
struct UBXChecksum {
  var a: UInt8
  var b: UInt8

  /// Sums up the bytes from the class to the end of the payload, at most 1,028.
  init(of bytes: Span<UInt8>) {
    // Kept wide and cut at the end: 1,028 × 1,028 × 255 is below 2³².
    var first: UInt32 = 0
    var second: UInt32 = 0
    var i = 0
    while i + 8 <= bytes.count {
      let eight = EightBytes(bytes, at: i)
      second &+= 8 &* first &+ eight.weightedSum
      first &+= eight.sum
      i += 8
    }
    while i < bytes.count {
      first &+= UInt32(bytes[i])
      second &+= first
      i += 1
    }
    a = UInt8(truncatingIfNeeded: first)
    b = UInt8(truncatingIfNeeded: second)
  }
}

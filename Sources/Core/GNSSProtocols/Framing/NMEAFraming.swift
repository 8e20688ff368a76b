import CCore

/// Checksum of a sentence: the exclusive or of its bytes, sixteen at a time. Used by ``NMEAFraming`` and
/// ``SentenceScan``.
struct SentenceParity {
  // Eight lanes of one byte; the checksum is the exclusive or of the lanes.
  private var lanes: UInt64 = 0

  /// The checksum of all bytes added.
  @inline(__always) var byte: UInt8 {
    var fold = lanes ^ (lanes >> 32)
    fold ^= fold >> 16
    return UInt8(truncatingIfNeeded: fold ^ (fold >> 8))
  }

  /// Adds sixteen bytes.
  @inline(__always) mutating func add(_ bytes: SIMD16<UInt8>) {
    let (first, second) = SentenceParity.words(bytes)
    lanes ^= first ^ second
  }

  /// Adds the first `count` of sixteen bytes; `count` is below 16.
  @inline(__always) mutating func add(_ bytes: SIMD16<UInt8>, _ count: Int) {
    let (first, second) = SentenceParity.words(bytes)
    let before = (1 &<< UInt64(truncatingIfNeeded: (count & 7) &* 8)) &- 1
    lanes ^= count < 8 ? first & before : first ^ second & before
  }

  /// The sixteen bytes as two words, the first byte lowest.
  @inline(__always) private static func words(_ bytes: SIMD16<UInt8>) -> (UInt64, UInt64) {
    // Equal size, and any bits are valid integers.
    let words = unsafe unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
    return (UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]))
  }
}

/// Boundaries of sentences in a buffer, without a decoder: for tools that scan recordings. Depends on
/// `CCore`.
public enum NMEAFraming {
  /// Longest sentence handled here, bytes; ``StreamDecoder`` handles longer ones up to its own limit.
  private static let maximumLength = 500

  /// End of the sentence whose `$` is at `start`, including its line end; nil if its checksum is wrong or
  /// has lowercase letters, if it is too long, or if too few bytes follow. O(its length).
  public static func end(of bytes: Span<UInt8>, from start: Int) -> Int? {
    precondition(start >= 0 && start < bytes.count, "the start lies in the bytes")
    let limit = min(bytes.count, start &+ maximumLength)
    var parity = SentenceParity()
    // After the `$`, which is not part of the checksum.
    var i = start &+ 1
    while i &+ 16 <= limit {
      let block = unsafe sixteenBytes(bytes, i)
      let ends = bytes16_delimiters(block)
      if ends != 0 {
        parity.add(block, ends.trailingZeroBitCount)
        return end(of: bytes, starAt: i &+ ends.trailingZeroBitCount, parity.byte)
      }
      parity.add(block)
      i &+= 16
    }
    return nil
  }

  /// Index after the given number of commas from `start` on, with two bytes after it; nil if the
  /// sentence has fewer commas, is too long, or too few bytes follow. O(bytes up to there).
  public static func index(afterCommas commas: Int, in bytes: Span<UInt8>, from start: Int) -> Int?
  {
    precondition(start >= 0 && commas > 0, "the start is not negative, and a comma is counted")
    let limit = min(bytes.count, start &+ maximumLength) &- 2
    var remaining = commas
    var i = start
    while i &+ 16 <= limit {
      let block = unsafe sixteenBytes(bytes, i)
      let ends = bytes16_delimiters(block)
      // Only commas before the end, if this block contains it.
      var marks = bytes16_commas(block) & ((ends & (0 &- ends)) &- 1)
      while marks != 0 {
        remaining &-= 1
        if remaining == 0 { return i &+ marks.trailingZeroBitCount &+ 1 }
        marks &= marks &- 1
      }
      if ends != 0 { return nil }
      i &+= 16
    }
    return nil
  }

  /// Sixteen bytes from `i` on.
  ///
  /// - Precondition: They lie in the span.
  @inline(__always) @unsafe
  private static func sixteenBytes(_ bytes: Span<UInt8>, _ i: Int) -> SIMD16<UInt8> {
    unsafe bytes.bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: i, as: SIMD16<UInt8>.self)
  }

  /// End of the sentence whose star is at `star`; nil unless that is a star followed by the correct
  /// checksum.
  @inline(__always)
  private static func end(of bytes: Span<UInt8>, starAt star: Int, _ parity: UInt8) -> Int? {
    guard star &+ 8 <= bytes.count else { return nil }
    // The line above checked the bounds; `star` is after the start.
    let bits = unsafe bytes.bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: star, as: UInt64.self)
    return tail(UInt64(littleEndian: bits), parity).map { star &+ $0 }
  }

  /// Number of bytes of `word` that belong to the sentence with that parity: star, checksum and line
  /// end.
  ///
  /// The first byte of `word` is the lowest. Nil unless the word begins with a star and that checksum in
  /// capitals, which nearly all receivers send.
  @inline(__always) static func tail(_ word: UInt64, _ parity: UInt8) -> Int? {
    let halves = UInt32(parity >> 4) | UInt32(parity & 15) &<< 8
    // For digits from ten up, adding six carries into the upper half.
    let letters = (halves &+ 0x0606) &>> 4 & 0x0101
    let digits = halves &+ 0x3030 &+ letters &* 7
    guard word & 0xFF_FFFF == UInt64(digits &<< 8 | 0x2A) else { return nil }
    let line = word &>> 24 & 0xFFFF
    if line == 0x0A0D { return 5 }
    return line & 0xFF == 0x0D || line & 0xFF == 0x0A ? 4 : 3
  }
}

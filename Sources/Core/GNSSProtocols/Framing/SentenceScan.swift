/// Incremental scan of a sentence for its end, its checksum and the offsets of its fields.
///
/// Kept while the sentence is incomplete, so that no byte is scanned twice. All offsets are relative to
/// the byte after the `$`. Used by ``StreamDecoder`` and ``NMEAFraming``. No dependencies.
struct SentenceScan {
  /// Number of fields that can be read; further ones are part of the checksum only.
  static var fieldLimit: Int { 24 }

  // Number of bytes scanned.
  private var scanned = 0
  /// Checksum of the bytes scanned: their exclusive or.
  private(set) var parity: UInt8 = 0
  // Number of commas, at most one more than there are readable fields.
  private var commaCount = 0
  private var offsets = InlineArray<25, UInt16>(repeating: 0)

  /// Resets the scan to the start of another sentence.
  @inline(__always) mutating func reset() {
    scanned = 0
    parity = 0
    commaCount = 0
  }

  /// Offsets of the commas and of the end of the last field: one more than there are readable fields,
  /// because each field begins after a comma. Call this when ``run(_:_:upTo:)`` has found the end.
  @_lifetime(&self)
  mutating func fieldOffsets() -> Span<UInt16> {
    if commaCount <= SentenceScan.fieldLimit {
      offsets[commaCount] = UInt16(truncatingIfNeeded: scanned)
    }
    return offsets.span.extracting(0...min(commaCount, SentenceScan.fieldLimit))
  }

  /// Continues the scan of the sentence whose first byte after the `$` is `i`, up to a star, a byte
  /// that no sentence contains, or `limit`; returns the index at which the scan stopped. O(bytes), eight
  /// at a time: byte by byte, a sentence takes 500 instructions more.
  mutating func run(_ s: Span<UInt8>, _ i: Int, upTo limit: Int) -> Int {
    let sentence = s.extracting(i..<limit)
    var offset = scanned
    var sum: UInt64 = 0
    words: while offset &+ 8 <= sentence.count {
      let word = sentence.u8(offset)
      var marks = SentenceScan.marks(word)
      while marks != 0 {
        let bit = marks.trailingZeroBitCount &- 7
        let byte = UInt8(truncatingIfNeeded: word &>> UInt64(truncatingIfNeeded: bit))
        if byte == UInt8(ascii: ",") {
          recordComma(offset &+ bit &>> 3)
        } else if SentenceScan.isEnd(byte) {
          // The checksum covers the bytes before the end, at which the loop below stops.
          sum ^= word & (1 &<< UInt64(truncatingIfNeeded: bit) &- 1)
          offset &+= bit &>> 3
          break words
        }
        marks &= marks &- 1
      }
      sum ^= word
      offset &+= 8
    }
    sum ^= sum &>> 32
    sum ^= sum &>> 16
    parity ^= UInt8(truncatingIfNeeded: sum ^ sum &>> 8)
    while offset < sentence.count {
      let byte = sentence[offset]
      if byte == UInt8(ascii: ",") {
        recordComma(offset)
      } else if SentenceScan.isEnd(byte) {
        break
      }
      parity ^= byte
      offset &+= 1
    }
    scanned = offset
    return i &+ offset
  }

  @inline(__always) private mutating func recordComma(_ offset: Int) {
    guard commaCount <= SentenceScan.fieldLimit else { return }
    offsets[commaCount] = UInt16(truncatingIfNeeded: offset)
    commaCount &+= 1
  }

  /// Marks the high bit of each byte that is a comma or may end a sentence: up to the comma, or from
  /// 0x7F up. No carry crosses a byte.
  @inline(__always) private static func marks(_ word: UInt64) -> UInt64 {
    let low = word & 0x7F7F_7F7F_7F7F_7F7F
    let isAboveComma = low &+ 0x5353_5353_5353_5353
    let isDelete = low &+ 0x0101_0101_0101_0101
    return (~isAboveComma | isDelete | word) & 0x8080_8080_8080_8080
  }

  /// Whether a byte ends a sentence: a star, or a byte that no sentence contains.
  @inline(__always) static func isEnd(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "$")
  }
}

/// Boundaries of sentences in a buffer, without a decoder: for tools that scan recordings.
public enum NMEAFraming {
  /// Longest sentence handled here, bytes; ``StreamDecoder`` handles longer ones up to its own limit.
  private static let maximumLength = 500

  /// End of the sentence whose `$` is at `start`, including its line end; nil if its checksum is wrong,
  /// if it is too long, or if it is incomplete. O(its length).
  public static func end(of bytes: Span<UInt8>, from start: Int) -> Int? {
    precondition(start >= 0 && start < bytes.count, "the start lies in the bytes")
    let limit = min(bytes.count, start + maximumLength)
    var scan = SentenceScan()
    let star = scan.run(bytes, start + 1, upTo: limit)
    guard star + 8 <= bytes.count, hasChecksum(bytes, at: star, scan.parity) else { return nil }
    return lineEnd(bytes, star + 3)
  }

  /// Index after the given number of commas from `start` on, with two bytes after it; nil if the
  /// sentence has fewer commas, is too long, or too few bytes follow. O(bytes up to there).
  public static func index(afterCommas commas: Int, in bytes: Span<UInt8>, from start: Int) -> Int?
  {
    precondition(start >= 0 && commas > 0, "the start is not negative, and a comma is counted")
    let limit = min(bytes.count, start + maximumLength) - 2
    var remaining = commas
    var i = start
    while i < limit, !SentenceScan.isEnd(bytes[i]) {
      if bytes[i] == UInt8(ascii: ",") { remaining -= 1 }
      i += 1
      if remaining == 0 { return i }
    }
    return nil
  }

  /// Whether a star and the two digits of that checksum, in either case, are at `star`.
  static func hasChecksum(_ bytes: Span<UInt8>, at star: Int, _ parity: UInt8) -> Bool {
    bytes[star] == UInt8(ascii: "*") && isDigit(bytes[star + 1], parity >> 4)
      && isDigit(bytes[star + 2], parity & 15)
  }

  /// Index after the line end that may be at `i`.
  static func lineEnd(_ bytes: Span<UInt8>, _ i: Int) -> Int {
    var i = i
    if i < bytes.count, bytes[i] == 0x0D { i += 1 }
    if i < bytes.count, bytes[i] == 0x0A { i += 1 }
    return i
  }

  /// Whether a character is the hexadecimal digit of `value`, in either case.
  private static func isDigit(_ byte: UInt8, _ value: UInt8) -> Bool {
    if value < 10 { return byte == UInt8(ascii: "0") &+ value }
    return byte | 0x20 == UInt8(ascii: "a") &- 10 &+ value
  }
}

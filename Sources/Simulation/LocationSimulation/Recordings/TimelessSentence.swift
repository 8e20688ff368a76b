import GNSSProtocols

/// Detects sentences that contain no new time or position, without decoding their fields.
///
/// Most of a receiver's output per epoch is about satellites, routes and errors, or repeats the epoch's time. For the
/// times of a recording only the ends of these sentences matter.
enum TimelessSentence {
  /// Returns the end of the sentence that starts at `start`, including its line end, if it has neither a time nor a
  /// position, or repeats those of the open epoch. Its checksum is not computed: with a wrong one, the sentence would
  /// not change the epoch's time either. Returns nil for any other data, and if fewer than 16 bytes follow. O(length
  /// of the sentence).
  static func end(
    of bytes: Span<UInt8>, from start: Int, _ timeField: RepeatedTimeField? = nil
  ) -> Int? {
    precondition(start >= 0, "start is a position in the bytes")
    guard bytes.count - start >= 16 else { return nil }
    if !isTimeless(word(bytes, start)) {
      guard let timeField, timeField.isRepeated(in: bytes, from: start) else { return nil }
    }
    return lineEnd(of: bytes, after: start)
  }

  /// Returns the end of the line after the `$` at `start`; nil if the line contains the start of another sentence or
  /// frame, a space, or no line end in its first 500 bytes.
  private static func lineEnd(of bytes: Span<UInt8>, after start: Int) -> Int? {
    let limit = min(bytes.count - 8, start + 500)
    var i = start + 1
    while i < limit {
      let low = word(bytes, i) & 0x7F7F_7F7F_7F7F_7F7F
      // The high bit of each byte below 0x25 (`!`, `$`, space, control characters) or from 0x7F up. No carry crosses a
      // byte.
      let isBelow = ~(low &+ 0x5B5B_5B5B_5B5B_5B5B)
      let isAbove = low &+ 0x0101_0101_0101_0101 | word(bytes, i)
      let marks = (isBelow | isAbove) & 0x8080_8080_8080_8080
      guard marks != 0 else {
        i += 8
        continue
      }
      i += marks.trailingZeroBitCount >> 3
      if bytes[i] == 0x0D { i += 1 }
      return bytes[i] == 0x0A ? i + 1 : nil
    }
    return nil
  }

  /// Returns the eight bytes from `i` on, the first one in the lowest byte.
  @inline(__always) private static func word(_ bytes: Span<UInt8>, _ i: Int) -> UInt64 {
    // The callers have checked the bounds, and all bit patterns are valid integers.
    UInt64(
      littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: i, as: UInt64.self))
  }

  /// Whether a sentence that starts with these eight bytes has neither a time nor a position.
  @inline(__always) private static func isTimeless(_ head: UInt64) -> Bool {
    // A `$`, five characters and a comma.
    guard head & 0xFF == 0x24, head >> 48 & 0xFF == 0x2C else { return false }
    let address = head >> 8 & 0xFF_FFFF_FFFF
    // $PGRM?: Garmin's proprietary sentences.
    if address & 0xFFFF_FFFF == 0x4D_52_47_50 { return true }
    if address & 0xFF == 0x50 { return false }  // $P: other proprietary sentences
    // The three letters of the sentence formatter, the last one in the highest byte.
    switch address >> 16 {
    case 0x56_53_47, 0x41_53_47, 0x47_54_56: return true  // GSV, GSA, VTG
    case 0x45_54_52, 0x42_4D_52, 0x44_4F_42: return true  // RTE, RMB, BOD
    case _: return false
    }
  }
}

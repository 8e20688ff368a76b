import LocationTypes

/// Sentences that say nothing new of when they were sent, found without reading their fields.
///
/// Most of what a receiver says of an epoch is of satellites, routes and errors, or once more its time.
/// Of these it matters only that they are there.
enum TimelessSentence {
  /// Longer ones are left to the decoder, which knows its own bound.
  private static let longest = 500

  /// Where the sentence that starts at `start` ends, with its line end, when its checksum is right
  /// and it tells neither time nor place, or those of the open epoch once more; nil of everything
  /// else, right or wrong, and where too few bytes follow. O(its length).
  static func end(of bytes: Span<UInt8>, from start: Int, _ told: EchoedTime? = nil) -> Int? {
    precondition(start >= 0, "a place in the bytes")
    let limit = min(bytes.count, start &+ longest)
    guard limit - start >= 16 else { return nil }
    if !isTimeless(word(bytes, start)) {
      guard let told, told.isEchoed(in: bytes, from: start, upTo: limit) else { return nil }
    }
    return whole(bytes, from: start, limit)
  }

  /// Where the sentence that starts at `start` ends, when its checksum is right.
  static func whole(_ bytes: Span<UInt8>, from start: Int) -> Int? {
    precondition(start >= 0, "a place in the bytes")
    return whole(bytes, from: start, min(bytes.count, start &+ longest))
  }

  private static func whole(_ bytes: Span<UInt8>, from start: Int, _ limit: Int) -> Int? {
    var parity: UInt64 = 0
    // Behind the `$`, which does not count.
    var i = start + 1
    while i &+ 8 <= limit {
      let word = word(bytes, i)
      // A high bit where a byte is below the comma or above the tilde; exact in the lowest.
      let odd = ((word &- 0x2C2C_2C2C_2C2C_2C2C) | (word &+ ones) | word) & highs
      if odd == 0 {
        parity ^= word
        i &+= 8
        continue
      }
      let bit = UInt64(truncatingIfNeeded: odd.trailingZeroBitCount &- 7)
      parity ^= word & ((1 &<< bit) &- 1)
      i &+= Int(truncatingIfNeeded: bit &>> 3)
      let byte = UInt8(truncatingIfNeeded: word &>> bit)
      if byte == UInt8(ascii: "*") { return whole(bytes, starAt: i, parity) }
      guard (0x20...0x7E).contains(byte), byte != UInt8(ascii: "$") else { return nil }
      parity ^= UInt64(byte)
      i &+= 1
    }
    return nil
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highs: UInt64 = 0x8080_8080_8080_8080

  /// The eight bytes from `i` on, the first one lowest.
  @inline(__always) private static func word(_ bytes: Span<UInt8>, _ i: Int) -> UInt64 {
    // Those who call it have seen that they are there, and any bits are an integer.
    UInt64(
      littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: i, as: UInt64.self))
  }

  /// Whether a sentence that begins with these eight bytes bears neither time nor place.
  @inline(__always) private static func isTimeless(_ head: UInt64) -> Bool {
    // A `$` and five letters or digits, in capitals, then a comma.
    guard head & 0xFF == 0x24, head >> 48 & 0xFF == 0x2C else { return false }
    let address = head >> 8 & 0xFF_FFFF_FFFF
    // $PGRM?: Garmin's own.
    if address & 0xFFFF_FFFF == 0x4D_52_47_50 { return true }
    if address & 0xFF == 0x50 { return false }
    // The three letters, the last one highest.
    switch address >> 16 {
    case 0x56_53_47, 0x41_53_47, 0x47_54_56: return true  // GSV, GSA, VTG
    case 0x45_54_52, 0x42_4D_52, 0x44_4F_42: return true  // RTE, RMB, BOD
    case _: return false
    }
  }

  /// The end of the sentence whose star is at `star`, if the checksum behind it is right.
  @inline(__always)
  private static func whole(_ bytes: Span<UInt8>, starAt star: Int, _ lanes: UInt64) -> Int? {
    guard star &+ 2 < bytes.count else { return nil }
    var fold = lanes ^ lanes >> 32
    fold ^= fold >> 16
    let parity = UInt8(truncatingIfNeeded: fold ^ fold >> 8)
    guard bytes[star &+ 1] == digit(parity >> 4), bytes[star &+ 2] == digit(parity & 15) else {
      return nil
    }
    var end = star &+ 3
    if end < bytes.count, bytes[end] == UInt8(ascii: "\r") { end &+= 1 }
    if end < bytes.count, bytes[end] == UInt8(ascii: "\n") { end &+= 1 }
    return end
  }

  /// A hexadecimal digit as nearly all receivers write it; others are left to the decoder.
  @inline(__always) private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "A") &- 10 &+ value
  }
}

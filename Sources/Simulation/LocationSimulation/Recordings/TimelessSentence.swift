import GNSSProtocols

/// Sentences that say nothing new of when they were sent, found without reading their fields.
///
/// Most of what a receiver says of an epoch is of satellites, routes and errors, or once more its time.
/// Of these it matters only that they are there.
enum TimelessSentence {
  /// Where the sentence that starts at `start` ends, with its line end, when its checksum is right
  /// and it tells neither time nor place, or those of the open epoch once more; nil of everything
  /// else, right or wrong, and where too few bytes follow. O(its length).
  static func end(of bytes: Span<UInt8>, from start: Int, _ told: EchoedTime? = nil) -> Int? {
    precondition(start >= 0, "a place in the bytes")
    guard bytes.count - start >= 16 else { return nil }
    if !isTimeless(word(bytes, start)) {
      guard let told, told.isEchoed(in: bytes, from: start) else { return nil }
    }
    return NMEAFraming.end(of: bytes, from: start)
  }

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
}

/// CRC-32C (Castagnoli) of a slot or a header, computed four bytes at a time (slicing-by-4).
///
/// Polynomial 0x1EDC6F41, reflected; initial value and final XOR 0xFFFFFFFF (RFC 3720, appendix B.4).
/// Detects every burst error of up to 32 bits and, over a slot or a header, every error of up to five bits.
struct SlotChecksum {
  private var register: UInt32 = .max

  /// Adds four bytes, the first in the least significant bits.
  @inline(__always)
  mutating func add(_ bytes: UInt32) {
    let x = register ^ bytes
    let byte0 = Int(truncatingIfNeeded: x & 0xFF)
    let byte1 = Int(truncatingIfNeeded: (x >> 8) & 0xFF)
    let byte2 = Int(truncatingIfNeeded: (x >> 16) & 0xFF)
    let byte3 = Int(truncatingIfNeeded: x >> 24)
    register =
      SlotChecksum.table[768 + byte0] ^ SlotChecksum.table[512 + byte1]
      ^ SlotChecksum.table[256 + byte2] ^ SlotChecksum.table[byte3]
  }

  /// Adds eight bytes, the first in the least significant bits.
  @inline(__always)
  mutating func add(_ bytes: UInt64) {
    add(UInt32(truncatingIfNeeded: bytes))
    add(UInt32(truncatingIfNeeded: bytes >> 32))
  }

  /// CRC of all bytes added so far.
  var value: UInt32 { ~register }
}

/// CRC-32C (Castagnoli) of a slot or a header, computed four bits at a time.
///
/// Polynomial 0x1EDC6F41, reflected; initial value and final XOR 0xFFFFFFFF (RFC 3720, appendix B.4).
/// Detects every burst error of up to 32 bits and, over a slot or a header, every error of up to five bits.
struct SlotChecksum {
  /// The register after each value of four bits. A literal, so that it is in read-only memory and needs no start-up code.
  static let table: InlineArray<16, UInt32> = [
    0x0000_0000, 0x105E_C76F, 0x20BD_8EDE, 0x30E3_49B1, 0x417B_1DBC, 0x5125_DAD3, 0x61C6_9362,
    0x7198_540D, 0x82F6_3B78, 0x92A8_FC17, 0xA24B_B5A6, 0xB215_72C9, 0xC38D_26C4, 0xD3D3_E1AB,
    0xE330_A81A, 0xF36E_6F75,
  ]

  private var register: UInt32 = .max

  /// Adds four bytes, the first in the least significant bits.
  mutating func add(_ bytes: UInt32) {
    register ^= bytes
    for _ in 0..<8 {
      register = register >> 4 ^ SlotChecksum.table[Int(truncatingIfNeeded: register & 0xF)]
    }
  }

  /// Adds eight bytes, the first in the least significant bits.
  mutating func add(_ bytes: UInt64) {
    add(UInt32(truncatingIfNeeded: bytes))
    add(UInt32(truncatingIfNeeded: bytes >> 32))
  }

  /// CRC of all bytes added so far.
  var value: UInt32 { ~register }
}

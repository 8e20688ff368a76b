/// CRC-32 of zlib, PNG and Ethernet, because every language's standard library has it.
///
/// Polynomial 0x04C11DB7, reflected; initial value and final XOR 0xFFFFFFFF. Computed four bits at a time.
enum MessageChecksum {
  private static let table: InlineArray<16, UInt32> = [
    0x0000_0000, 0x1DB7_1064, 0x3B6E_20C8, 0x26D9_30AC, 0x76DC_4190, 0x6B6B_51F4, 0x4DB2_6158,
    0x5005_713C, 0xEDB8_8320, 0xF00F_9344, 0xD6D6_A3E8, 0xCB61_B38C, 0x9B64_C2B0, 0x86D3_D2D4,
    0xA00A_E278, 0xBDBD_F21C,
  ]

  /// The checksum of bytes.
  static func value(of bytes: ArraySlice<UInt8>) -> UInt32 {
    var register = UInt32.max
    for byte in bytes {
      register ^= UInt32(byte)
      for _ in 0..<2 { register = register >> 4 ^ table[Int(register & 0xF)] }
    }
    return ~register
  }
}

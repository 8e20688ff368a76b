import DeferralCache

/// Memory of a ring, allocated with its exact size so that AddressSanitizer detects an access past its end.
@safe final class RingStorage {
  private let buffer: UnsafeMutableRawBufferPointer

  init(count: Int) {
    unsafe buffer = .allocate(byteCount: count, alignment: 8)
    unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { unsafe buffer.deallocate() }

  var count: Int { unsafe buffer.count }

  var bytes: [UInt8] { unsafe Array(buffer) }

  /// Writes `bytes` at `offset`; ignores bytes past the end.
  func write(_ bytes: [UInt8], at offset: Int = 0) {
    for (i, byte) in bytes.enumerated() where offset + i < count {
      unsafe buffer[offset + i] = byte
    }
  }

  func open(capacity: Int, floor: UInt32 = 0) throws(RingError) -> FixRing {
    try unsafe FixRing(recovering: buffer, capacity: capacity, generationFloor: floor)
  }
}

/// CRC-32C computed bit by bit, independent of the ring's implementation.
func crc32c(_ bytes: some Sequence<UInt8>) -> UInt32 { crc32(bytes, polynomial: 0x82F6_3B78) }

/// A CRC of 32 bits with the reversed `polynomial`, computed bit by bit.
func crc32(_ bytes: some Sequence<UInt8>, polynomial: UInt32) -> UInt32 {
  var register = UInt32.max
  for byte in bytes {
    register ^= UInt32(byte)
    for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 0 ? 0 : polynomial) }
  }
  return ~register
}

/// The bytes of an integer, least significant first.
func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
  (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

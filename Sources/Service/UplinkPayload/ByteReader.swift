/// Reads a message from its start; every read beyond the end fails.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private var index: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    index = bytes.startIndex
  }

  var isAtEnd: Bool { index == bytes.endIndex }

  mutating func byte() throws(UplinkDecodingError) -> UInt8 {
    guard index < bytes.endIndex else { throw .invalid }
    defer { index += 1 }
    return bytes[index]
  }

  mutating func bytes(_ count: Int) throws(UplinkDecodingError) -> ArraySlice<UInt8> {
    guard count <= bytes.endIndex - index else { throw .invalid }
    defer { index += count }
    return bytes[index..<index + count]
  }

  /// All bytes that are left.
  mutating func remaining() -> ArraySlice<UInt8> {
    defer { index = bytes.endIndex }
    return bytes[index...]
  }

  /// A little-endian number of fixed width.
  mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(
    _ type: Value.Type
  ) throws(UplinkDecodingError) -> Value {
    var value: Value = 0
    for i in 0..<Value.bitWidth / 8 { value |= Value(try byte()) << (8 * i) }
    return value
  }

  /// A number with seven bits in each byte, the lowest first; bit 7 is set in all bytes but the last.
  mutating func varint() throws(UplinkDecodingError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 70, by: 7) {
      let byte = try byte()
      // The tenth byte has only one bit of a 64-bit number.
      guard shift < 63 || byte <= 1 else { throw .invalid }
      value |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte & 0x80 == 0 { return value }
    }
    throw .invalid
  }

  /// A signed number: 0, −1, 1, −2, … as 0, 1, 2, 3, …
  mutating func signed() throws(UplinkDecodingError) -> Int64 {
    let value = try varint()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
}

extension [UInt8] {
  /// Appends a little-endian number of fixed width.
  mutating func append<Value: FixedWidthInteger & UnsignedInteger>(integer value: Value) {
    for i in 0..<Value.bitWidth / 8 { append(UInt8(truncatingIfNeeded: value >> (8 * i))) }
  }

  /// Appends a number with seven bits in each byte.
  mutating func append(varint value: UInt64) {
    var value = value
    while value >= 0x80 {
      append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    append(UInt8(truncatingIfNeeded: value))
  }
}

/// A signed number as an unsigned one that is small if the magnitude is small.
func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

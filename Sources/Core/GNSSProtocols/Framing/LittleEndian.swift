extension Span<UInt8> {
  /// Two bytes at `i`, little-endian.
  @inline(always) func u2(_ i: Int) -> UInt16 {
    // Any bits are a valid integer, and the span checks the bounds. Where the length is known, as for
    // all UBX messages after their length check, the compiler removes these checks.
    UInt16(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: i, as: UInt16.self))
  }

  /// Four bytes at `i`, little-endian.
  @inline(always) func u4(_ i: Int) -> UInt32 {
    // As above.
    UInt32(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: i, as: UInt32.self))
  }

  /// Eight bytes at `i`, little-endian.
  @inline(always) func u8(_ i: Int) -> UInt64 {
    // As above.
    UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: i, as: UInt64.self))
  }

  /// A byte at `i`, two's complement.
  @inline(always) func i1(_ i: Int) -> Int8 { Int8(bitPattern: self[i]) }

  /// Two bytes at `i`, little-endian, two's complement.
  @inline(always) func i2(_ i: Int) -> Int16 { Int16(bitPattern: u2(i)) }

  /// Four bytes at `i`, little-endian, two's complement.
  @inline(always) func i4(_ i: Int) -> Int32 { Int32(bitPattern: u4(i)) }
}

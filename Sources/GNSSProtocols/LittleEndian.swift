extension Span<UInt8> {
  /// The byte at `i`.
  @inline(__always) func u1(_ i: Int) -> UInt8 { self[i] }

  /// Two bytes at `i`, little-endian.
  @inline(__always) func u2(_ i: Int) -> UInt16 {
    UInt16(self[i]) | UInt16(self[i + 1]) << 8
  }

  /// Four bytes at `i`, little-endian.
  @inline(__always) func u4(_ i: Int) -> UInt32 {
    UInt32(self[i]) | UInt32(self[i + 1]) << 8 | UInt32(self[i + 2]) << 16
      | UInt32(self[i + 3]) << 24
  }

  /// Four bytes at `i`, little-endian, two's complement.
  @inline(__always) func i4(_ i: Int) -> Int32 { Int32(bitPattern: u4(i)) }
}

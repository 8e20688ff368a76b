import LocationTypes

/// Little-endian access to the storage of a ring. Only this type of the module accesses raw memory.
///
/// Every access is bounds-checked, in release builds as well.
@safe struct RingImage {
  private let bytes: UnsafeMutableRawBufferPointer

  /// Creates an image over `storage`, which must outlive the image and start at a multiple of 8 bytes.
  @unsafe init(_ storage: UnsafeMutableRawBufferPointer) { unsafe bytes = storage }

  /// Size of the storage in bytes.
  var size: Int { unsafe bytes.count }

  /// The 64-bit integer at `offset`, a multiple of 8.
  @inline(__always)
  func uint64(at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset <= size - 8, "outside the image")
    return unsafe UInt64(littleEndian: bytes.load(fromByteOffset: offset, as: UInt64.self))
  }

  /// The 32-bit integer at `offset`, a multiple of 4.
  @inline(__always)
  func uint32(at offset: Int) -> UInt32 {
    precondition(offset >= 0 && offset <= size - 4, "outside the image")
    return unsafe UInt32(littleEndian: bytes.load(fromByteOffset: offset, as: UInt32.self))
  }

  /// Writes a 64-bit integer at `offset`, a multiple of 8.
  @inline(__always)
  func setUInt64(_ value: UInt64, at offset: Int) {
    precondition(offset >= 0 && offset <= size - 8, "outside the image")
    unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
  }

  /// Writes a 32-bit integer at `offset`, a multiple of 4.
  @inline(__always)
  func setUInt32(_ value: UInt32, at offset: Int) {
    precondition(offset >= 0 && offset <= size - 4, "outside the image")
    unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
  }

  /// The slot at `offset`.
  @inline(__always)
  func slot(at offset: Int) -> Slot {
    precondition(offset >= 0 && offset <= size - FixRing.slotSize, "outside the image")
    return Slot(
      w0: uint64(at: offset), w1: uint64(at: offset + 8), w2: uint64(at: offset + 16),
      w3: uint64(at: offset + 24), w4: uint64(at: offset + 32), w5: uint64(at: offset + 40),
      w6: uint64(at: offset + 48), w7: uint64(at: offset + 56))
  }

  /// Writes a slot at `offset`.
  @inline(__always)
  func setSlot(_ slot: Slot, at offset: Int) {
    precondition(offset >= 0 && offset <= size - FixRing.slotSize, "outside the image")
    setUInt64(slot.w0, at: offset)
    setUInt64(slot.w1, at: offset + 8)
    setUInt64(slot.w2, at: offset + 16)
    setUInt64(slot.w3, at: offset + 24)
    setUInt64(slot.w4, at: offset + 32)
    setUInt64(slot.w5, at: offset + 40)
    setUInt64(slot.w6, at: offset + 48)
    setUInt64(slot.w7, at: offset + 56)
  }

  /// Whether all bytes of `range` are zero; both bounds are multiples of 8. O(length).
  func isBlank(_ range: Range<Int>) -> Bool {
    for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8)
    where uint64(at: offset) != 0 { return false }
    return true
  }

  /// Zeroes `range`; both bounds are multiples of 8. O(length).
  func clear(_ range: Range<Int>) {
    for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
      setUInt64(0, at: offset)
    }
  }
}

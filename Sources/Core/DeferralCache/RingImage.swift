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
  func word(at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset <= size - 8, "outside the image")
    return unsafe UInt64(littleEndian: bytes.load(fromByteOffset: offset, as: UInt64.self))
  }

  /// The 32-bit integer at `offset`, a multiple of 4.
  @inline(__always)
  func half(at offset: Int) -> UInt32 {
    precondition(offset >= 0 && offset <= size - 4, "outside the image")
    return unsafe UInt32(littleEndian: bytes.load(fromByteOffset: offset, as: UInt32.self))
  }

  /// Writes a 64-bit integer at `offset`, a multiple of 8.
  @inline(__always)
  func setWord(_ value: UInt64, at offset: Int) {
    precondition(offset >= 0 && offset <= size - 8, "outside the image")
    unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
  }

  /// Writes a 32-bit integer at `offset`, a multiple of 4.
  @inline(__always)
  func setHalf(_ value: UInt32, at offset: Int) {
    precondition(offset >= 0 && offset <= size - 4, "outside the image")
    unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
  }

  /// The slot at `offset`.
  @inline(__always)
  func slot(at offset: Int) -> Slot {
    precondition(offset >= 0 && offset <= size - FixRing.slotSize, "outside the image")
    return Slot(
      w0: word(at: offset), w1: word(at: offset + 8), w2: word(at: offset + 16),
      w3: word(at: offset + 24), w4: word(at: offset + 32), w5: word(at: offset + 40),
      w6: word(at: offset + 48), w7: word(at: offset + 56))
  }

  /// Writes a slot at `offset`.
  @inline(__always)
  func setSlot(_ slot: Slot, at offset: Int) {
    precondition(offset >= 0 && offset <= size - FixRing.slotSize, "outside the image")
    setWord(slot.w0, at: offset)
    setWord(slot.w1, at: offset + 8)
    setWord(slot.w2, at: offset + 16)
    setWord(slot.w3, at: offset + 24)
    setWord(slot.w4, at: offset + 32)
    setWord(slot.w5, at: offset + 40)
    setWord(slot.w6, at: offset + 48)
    setWord(slot.w7, at: offset + 56)
  }

  /// Whether all bytes of `range` are zero; both bounds are multiples of 8. O(length).
  func isBlank(_ range: Range<Int>) -> Bool {
    var offset = range.lowerBound
    while offset < range.upperBound {
      if word(at: offset) != 0 { return false }
      offset += 8
    }
    return true
  }

  /// Zeroes `range`; both bounds are multiples of 8. O(length).
  func clear(_ range: Range<Int>) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      setWord(0, at: offset)
      offset += 8
    }
  }
}

import LocationTypes

/// One copy of the header: a sector of 512 bytes with a checksum (ring-format.md).
struct RingHeader {
  static let size = 512
  /// "TORPRING", the first byte in the lowest bits.
  static let magic: UInt64 = 0x474E_4952_5052_4F54
  /// The image format this code writes and reads.
  static let version: UInt32 = 1
  private static let closedFlag: UInt32 = 1

  /// How many slots the image has.
  var capacity: UInt32
  /// The generation that was running when it was written.
  var generation: UInt32
  /// Counts writings of either copy: the higher is the newer.
  var revision: UInt64
  /// The sequence number the next fix would have got.
  var head: UInt64
  /// The service ended in order, and every fix below ``head`` was synced with this header.
  var isClosed: Bool
  /// Where the generations began, this one last.
  var starts: GenerationStarts

  /// What a sector holds.
  enum Content {
    /// Nothing but zeros.
    case blank
    /// Something that is no header.
    case foreign
    /// What was a header.
    case damaged
    /// A header of another format.
    case otherFormat(UInt32)
    /// A header.
    case header(RingHeader)
  }

  /// Reads the sector at `offset`.
  static func read(_ image: RingImage, at offset: Int) -> Content {
    guard image.word(at: offset) == magic else {
      return image.isBlank(offset..<offset + size) ? .blank : .foreign
    }
    guard image.half(at: offset + 508) == checksum(image, at: offset) else { return .damaged }
    let version = image.half(at: offset + 8)
    guard version == RingHeader.version else { return .otherFormat(version) }
    guard image.half(at: offset + 12) == UInt32(FixRing.slotSize) else { return .damaged }
    let generation = image.half(at: offset + 20)
    guard let starts = GenerationStarts(image, at: offset + 44), starts.newest <= generation else {
      return .damaged
    }
    return .header(
      RingHeader(
        capacity: image.half(at: offset + 16), generation: generation,
        revision: image.word(at: offset + 24), head: image.word(at: offset + 32),
        isClosed: image.half(at: offset + 40) & closedFlag != 0, starts: starts))
  }

  /// Writes the sector at `offset`.
  func write(_ image: RingImage, at offset: Int) {
    image.clear(offset..<offset + RingHeader.size)
    image.setWord(RingHeader.magic, at: offset)
    image.setHalf(RingHeader.version, at: offset + 8)
    image.setHalf(UInt32(FixRing.slotSize), at: offset + 12)
    image.setHalf(capacity, at: offset + 16)
    image.setHalf(generation, at: offset + 20)
    image.setWord(revision, at: offset + 24)
    image.setWord(head, at: offset + 32)
    image.setHalf(isClosed ? RingHeader.closedFlag : 0, at: offset + 40)
    starts.write(image, at: offset + 44)
    image.setHalf(RingHeader.checksum(image, at: offset), at: offset + 508)
  }

  private static func checksum(_ image: RingImage, at offset: Int) -> UInt32 {
    var sum = SlotChecksum()
    for i in 0..<127 { sum.add(image.half(at: offset + 4 * i)) }
    return sum.value
  }
}

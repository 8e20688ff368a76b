import LocationTypes

/// One copy of the ring header: a sector of 512 bytes with a CRC-32C (`Docs/Reference/ring-format.md`).
struct RingHeader {
  static let size = 512
  /// "TORPRING" in ASCII, first byte in the least significant bits.
  static let magic: UInt64 = 0x474E_4952_5052_4F54
  /// Image format version that this code reads and writes.
  static let version: UInt32 = 1
  private static let closedFlag: UInt32 = 1
  private static let idOffset = 304

  /// Number of slots in the image.
  var capacity: UInt32
  /// Generation that was current when the header was written.
  var generation: UInt32
  /// Number of header writes to either copy so far; the copy with the higher revision is the newer.
  var revision: UInt64
  /// Sequence number of the next fix at the time of the write.
  var head: UInt64
  /// Whether the service shut down cleanly: every fix below ``head`` was synced together with this header.
  var isClosed: Bool
  /// First sequence numbers of the latest generations, the current one last.
  var starts: GenerationStarts
  /// Random number of the ring; 0 in headers of versions that did not draw one.
  var id: UInt64

  /// Content of a sector.
  enum Content {
    /// All zeros.
    case blank
    /// Data without the header's magic number.
    case foreign
    /// A header with a wrong checksum or an invalid field.
    case damaged
    /// A header of another format version.
    case unsupportedFormat(UInt32)
    /// A valid header.
    case header(RingHeader)
  }

  /// Reads the sector at `offset`.
  static func read(_ image: RingImage, at offset: Int) -> Content {
    guard image.uint64(at: offset) == magic else {
      return image.isBlank(offset..<offset + size) ? .blank : .foreign
    }
    guard image.uint32(at: offset + 508) == checksum(image, at: offset) else { return .damaged }
    let version = image.uint32(at: offset + 8)
    guard version == RingHeader.version else { return .unsupportedFormat(version) }
    guard image.uint32(at: offset + 12) == UInt32(FixRing.slotSize) else { return .damaged }
    let generation = image.uint32(at: offset + 20)
    guard let starts = GenerationStarts(image, at: offset + 44), starts.newest <= generation else {
      return .damaged
    }
    return .header(
      RingHeader(
        capacity: image.uint32(at: offset + 16), generation: generation,
        revision: image.uint64(at: offset + 24), head: image.uint64(at: offset + 32),
        isClosed: image.uint32(at: offset + 40) & closedFlag != 0, starts: starts,
        id: image.uint64(at: offset + idOffset)))
  }

  /// Writes the sector at `offset`.
  func write(_ image: RingImage, at offset: Int) {
    image.clear(offset..<offset + RingHeader.size)
    image.setUInt64(RingHeader.magic, at: offset)
    image.setUInt32(RingHeader.version, at: offset + 8)
    image.setUInt32(UInt32(FixRing.slotSize), at: offset + 12)
    image.setUInt32(capacity, at: offset + 16)
    image.setUInt32(generation, at: offset + 20)
    image.setUInt64(revision, at: offset + 24)
    image.setUInt64(head, at: offset + 32)
    image.setUInt32(isClosed ? RingHeader.closedFlag : 0, at: offset + 40)
    starts.write(image, at: offset + 44)
    image.setUInt64(id, at: offset + RingHeader.idOffset)
    image.setUInt32(RingHeader.checksum(image, at: offset), at: offset + 508)
  }

  private static func checksum(_ image: RingImage, at offset: Int) -> UInt32 {
    var sum = SlotChecksum()
    for i in 0..<127 { sum.add(image.uint32(at: offset + 4 * i)) }
    return sum.value
  }
}

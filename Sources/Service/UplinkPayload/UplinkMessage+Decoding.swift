import LocationTypes

extension UplinkMessage {
  /// The fields of the header that depend on the content.
  private struct Header {
    var kind: Kind
    var first: FixName
    var count: UInt64
  }

  /// Decodes a message. Rejects bytes that are cut, extended or changed.
  ///
  /// - Complexity: O(bytes).
  public init(decoding bytes: [UInt8]) throws(UplinkDecodingError) {
    let smallest = UplinkMessage.headerSize + 1 + UplinkMessage.checksumSize
    guard (smallest...UplinkLimits.message).contains(bytes.count) else { throw .wrongLength }
    guard bytes.starts(with: UplinkMessage.magic) else { throw .noMessage }
    guard bytes[4] == UplinkMessage.version else { throw .otherVersion(bytes[4]) }
    let end = bytes.count - UplinkMessage.checksumSize
    var trailer = ByteReader(bytes[end...])
    var reader = ByteReader(bytes[8..<end])
    guard try reader.integer(UInt32.self) == UInt32(bytes.count) else { throw .wrongLength }
    guard try trailer.integer(UInt32.self) == MessageChecksum.value(of: bytes[..<end]) else {
      throw .wrongChecksum
    }
    guard let kind = Kind(rawValue: bytes[5]), bytes[6] <= 1 else { throw .invalid }
    let generation = try reader.integer(UInt32.self)
    ring = try reader.integer(UInt64.self)
    let sequence = try reader.integer(UInt64.self)
    let count = try reader.integer(UInt64.self)
    let before = FixName(
      generation: try reader.integer(UInt32.self), sequence: try reader.integer(UInt64.self))
    let hasPreceding = bytes[6] == 1
    guard hasPreceding || before == FixName(generation: 0, sequence: 0),
      before.sequence < FixName.sequenceLimit,
      let name = DeviceName(bytes: Array(try reader.bytes(Int(bytes[7]))))
    else { throw .invalid }
    preceding = hasPreceding ? before : nil
    device = name
    let header = Header(
      kind: kind, first: FixName(generation: generation, sequence: sequence), count: count)
    content = try UplinkMessage.readContent(&reader, header)
    guard reader.isAtEnd else { throw .invalid }
  }

  private static func readContent(
    _ reader: inout ByteReader, _ header: Header
  ) throws(UplinkDecodingError) -> UplinkContent {
    switch header.kind {
    case .fixes: return .fixes(try readFixes(&reader, header))
    case .gap: return .gap(try readGap(&reader, header), generation: header.first.generation)
    case .event:
      guard header.count == 1, header.first.generation == 0 else { throw .invalid }
      let json = reader.remaining()
      guard json.count <= UplinkLimits.event else { throw .invalid }
      return .event(number: header.first.sequence, json: Array(json))
    }
  }

  private static func readFixes(
    _ reader: inout ByteReader, _ header: Header
  ) throws(UplinkDecodingError) -> [StoredFix] {
    guard header.count >= 1, header.count <= UInt64(UplinkLimits.fixes),
      header.first.sequence < FixName.sequenceLimit
    else { throw .invalid }
    let count = Int(header.count)
    var columns: [[Int64?]] = []
    for _ in 0..<FixColumns.count { columns.append(try Column.read(&reader, count: count)) }
    var fixes: [StoredFix] = []
    fixes.reserveCapacity(count)
    for row in 0..<count {
      guard
        let stored = FixColumns.fix(
          in: columns, row: row, generation: header.first.generation,
          first: header.first.sequence),
        row == 0
          ? stored.name == header.first : stored.name.sequence > fixes[row - 1].name.sequence
      else { throw .invalid }
      fixes.append(stored)
    }
    return fixes
  }

  private static func readGap(
    _ reader: inout ByteReader, _ header: Header
  ) throws(UplinkDecodingError) -> Gap {
    let first = header.first.sequence
    let next = try reader.integer(UInt64.self)
    let from = try readTime(&reader)
    let to = try readTime(&reader)
    let mayBeMore = try reader.byte()
    // An empty range is that of a gap of unknown length.
    guard first <= next, next < FixName.sequenceLimit, header.count <= next - first,
      mayBeMore <= 1, header.count > 0 || mayBeMore == 1
    else { throw .invalid }
    var gap = Gap(unsyncedBefore: next, after: from)
    gap.range = first..<next
    gap.count = header.count
    gap.to = to
    gap.mayBeMore = mayBeMore == 1
    return gap
  }

  /// A time; nil if it is unknown.
  private static func readTime(
    _ reader: inout ByteReader
  ) throws(UplinkDecodingError) -> FixTime? {
    let boot = Int64(bitPattern: try reader.integer(UInt64.self))
    let utc = Int64(bitPattern: try reader.integer(UInt64.self))
    guard boot != unknownTime else {
      guard utc == unknownTime else { throw .invalid }
      return nil
    }
    return FixTime(
      acquired: Instant(microseconds: boot),
      utc: utc == unknownTime ? nil : UTCTime(microseconds: utc))
  }
}

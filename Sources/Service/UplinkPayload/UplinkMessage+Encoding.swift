import LocationTypes

extension UplinkMessage {
  /// The first bytes of every message: `TPUP` in ASCII.
  static let magic: [UInt8] = Array("TPUP".utf8)
  /// Version of the format.
  static let version: UInt8 = 1
  /// Bytes of the header before the device's name.
  static let headerSize = 52
  /// Bytes of the checksum at the end.
  static let checksumSize = 4
  /// Value of a time that is unknown.
  static let unknownTime = Int64.min

  /// Kind of the content in the header.
  enum Kind: UInt8 {
    case fixes = 1
    case gap = 2
    case event = 3
  }

  /// The message as bytes.
  ///
  /// - Complexity: O(number of fixes).
  public func encoded() throws(UplinkEncodingError) -> [UInt8] {
    var bytes: [UInt8] = []
    switch content {
    case .fixes(let fixes):
      let first = try firstName(of: fixes)
      bytes.reserveCapacity(64 + 12 * fixes.count)
      appendHeader(.fixes, first, count: UInt64(fixes.count), to: &bytes)
      for column in FixColumns.columns(of: fixes, first: first.sequence) {
        Column.append(column, to: &bytes)
      }
    case .gap(let gap, let generation):
      guard gap.range.upperBound < FixName.sequenceLimit else { throw .hasWrongSequence(at: 0) }
      let first = FixName(generation: generation, sequence: gap.range.lowerBound)
      appendHeader(.gap, first, count: gap.count, to: &bytes)
      append(gap, to: &bytes)
    case .event(let number, let json):
      guard json.count <= UplinkLimits.event else { throw .isTooLong(limit: UplinkLimits.event) }
      let first = FixName(generation: 0, sequence: number)
      appendHeader(.event, first, count: 1, to: &bytes)
      bytes += json
    }
    let length = UInt32(bytes.count + UplinkMessage.checksumSize)
    for i in 0..<4 { bytes[8 + i] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(i))) }
    bytes.append(integer: MessageChecksum.value(of: bytes[...]))
    return bytes
  }

  /// The name of the first fix, if the fixes may be in one message.
  private func firstName(of fixes: [StoredFix]) throws(UplinkEncodingError) -> FixName {
    guard let first = fixes.first?.name else { throw .isEmpty }
    guard fixes.count <= UplinkLimits.fixes else { throw .isTooLong(limit: UplinkLimits.fixes) }
    var last = first.sequence
    for (i, stored) in fixes.enumerated() {
      let sequence = stored.name.sequence
      guard stored.name.generation == first.generation else { throw .hasOtherGeneration(at: i) }
      guard i == 0 || sequence > last, sequence < FixName.sequenceLimit else {
        throw .hasWrongSequence(at: i)
      }
      last = sequence
    }
    return first
  }

  /// The checksum at the end of an encoded message, which names the message in a refusal of the store.
  ///
  /// A checksum of all its bytes would not: with its checksum at the end, it is the same number for each message.
  public static func checksum(atEndOf message: [UInt8]) -> UInt32 {
    message.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  private func appendHeader(
    _ kind: Kind, _ first: FixName, count: UInt64, to bytes: inout [UInt8]
  ) {
    bytes += UplinkMessage.magic
    bytes += [
      UplinkMessage.version, kind.rawValue, preceding == nil ? 0 : 1, UInt8(device.bytes.count),
    ]
    bytes.append(integer: 0 as UInt32)
    bytes.append(integer: first.generation)
    bytes.append(integer: ring)
    bytes.append(integer: first.sequence)
    bytes.append(integer: count)
    bytes.append(integer: preceding?.generation ?? 0)
    bytes.append(integer: preceding?.sequence ?? 0)
    bytes += device.bytes
  }

  private func append(_ gap: Gap, to bytes: inout [UInt8]) {
    bytes.append(integer: gap.range.upperBound)
    for time in [gap.from, gap.to] {
      let boot = time?.acquired.microseconds ?? UplinkMessage.unknownTime
      let utc = time?.utc?.microseconds ?? UplinkMessage.unknownTime
      bytes.append(integer: UInt64(bitPattern: boot))
      bytes.append(integer: UInt64(bitPattern: utc))
    }
    bytes.append(gap.mayBeMore ? 1 : 0)
  }
}

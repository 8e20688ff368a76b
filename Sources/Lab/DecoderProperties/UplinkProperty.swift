import LocationTypes
import UplinkPayload

/// An encoded message decodes to the same value. A message that was cut, or in which a bit was changed, is rejected.
///
/// Input: one byte, 0 to insert length and checksum into the following bytes; two bytes that select a cut and a
/// changed bit; then the message.
enum UplinkProperty {
  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    var reader = InputReader(input)
    let isUnmodified = reader.byte() != 0
    let place = Int(reader.integer(UInt16.self))
    var bytes = reader.remainingBytes()
    if !isUnmodified { complete(&bytes) }
    guard let message = try? UplinkMessage(decoding: bytes) else { return }
    trial.countDecoded()
    let again = try? message.encoded()
    let decoded = again.flatMap { try? UplinkMessage(decoding: $0) }
    trial.require(decoded == message, "a message decodes to another one: \(message)")
    let cut = try? UplinkMessage(decoding: Array(bytes.prefix(place % bytes.count)))
    trial.require(cut == nil, "a message is accepted with \(place % bytes.count) bytes")
    bytes[place / 8 % bytes.count] ^= 1 << (place % 8)
    let changed = try? UplinkMessage(decoding: bytes)
    trial.require(changed == nil, "a changed message is accepted")
  }

  /// Inserts the correct length and appends the correct checksum.
  private static func complete(_ bytes: inout [UInt8]) {
    guard bytes.count >= 12 else { return }
    bytes.replaceSubrange(8..<12, with: littleEndian(UInt32(bytes.count + 4)))
    bytes += littleEndian(crc32(bytes, polynomial: 0xEDB8_8320))
  }

  static var seeds: [[UInt8]] {
    let fixes = (0..<5).map { i in
      var fix = Fix(
        acquired: Instant(microseconds: 1_000_000 * Int64(i)),
        coordinate: Coordinate(latitude_e9: 52_516_274_500 + 100 * Int64(i), longitude_e9: -1_667))
      if i != 2 { fix.utc = UTCTime(microseconds: 1_700_000_000_000_000 + 1_000_000 * Int64(i)) }
      fix.altitude_mm = 34_500
      fix.speed_mmps = 514
      fix.satellites = Int16(9 + i)
      return StoredFix(name: FixName(generation: 7, sequence: 41 + UInt64(i * i)), fix: fix)
    }
    let gap = Gap(3..<9, from: fixes[0].time, to: nil)
    let contents: [UplinkContent] = [
      .fixes(fixes), .fixes([fixes[2]]), .gap(gap, generation: 7),
      .event(number: 5, json: Array(#"{"visit":{}}"#.utf8)),
    ]
    return contents.compactMap { content in
      guard let device = DeviceName("board-1") else { return nil }
      let message = UplinkMessage(
        device: device, ring: 0x0123_4567_89AB_CDEF,
        preceding: FixName(generation: 6, sequence: 40), content: content)
      guard let bytes = try? message.encoded() else { return nil }
      return [0, 9, 2] + bytes.dropLast(4)
    }
  }
}

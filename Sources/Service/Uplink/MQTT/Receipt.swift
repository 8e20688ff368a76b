import LocationTypes
import TOMLFiles
import TextFormats
import UplinkPayload

/// A receipt of the store: what is durable there (Docs/Reference/uplink-payload.md, "Topics and receipts").
struct Receipt: Equatable {
  /// Ring of the fixes.
  let ring: UInt64
  /// Name of the last durable fix; nil if there is none.
  let last: FixName?
  /// Generation of the last durable gap, and the sequence number after it; nil if there is none.
  let gap: FixName?
  /// Checksum of the message of that gap, hexadecimal digits; nil if the store does not name it.
  let gapChecksum: String?
  /// Number of the last durable event; nil if there is none.
  let event: Int64?

  /// Decodes JSON; nil if it is not a receipt.
  init?(_ bytes: [UInt8]) {
    guard let document = try? JSONDocument(bytes, limits: JSONLimits(nodes: 64)),
      let ring = document.root["ring"]?.string.flatMap(UInt64.init(hexadecimalDigits:))
    else { return nil }
    self.ring = ring
    last = Receipt.name(in: document.root, sequence: "sequence")
    let gap = document.root["gap"]
    self.gap = gap.flatMap { Receipt.name(in: $0, sequence: "next") }
    gapChecksum = gap?["checksum"]?.string
    event = document.root["event"]?.integer
  }

  private static func name(in object: JSONValue, sequence: String) -> FixName? {
    guard
      let generation = object["generation"]?.integer, let number = object[sequence]?.integer,
      let generation = UInt32(exactly: generation), let number = UInt64(exactly: number)
    else { return nil }
    return FixName(generation: generation, sequence: number)
  }

  /// Whether the part of a ring is durable, whose message has this checksum.
  func confirms(_ part: UplinkContent, _ checksum: UInt32, ring: UInt64) -> Bool {
    guard ring == self.ring else { return false }
    switch part {
    case .fixes(let fixes):
      guard let wanted = fixes.last?.name, let last else { return false }
      return wanted <= last
    case .gap(let missing, let generation):
      guard let gap else { return false }
      let wanted = FixName(generation: generation, sequence: missing.range.upperBound)
      // The time of a gap may have grown since the store received it: then it is another message.
      if wanted == gap, let gapChecksum {
        return UInt32(hexadecimalDigits: gapChecksum) == checksum
      }
      return wanted <= gap
    case .event(let number, _):
      return event.map { Int64(clamping: number) <= $0 } ?? false
    }
  }

  /// Whether the receipt names a later fix or event than any that was sent: it is not about this board's messages.
  ///
  /// - Parameter newestEvent: Number of the newest event; nil if it is unknown.
  func isAhead(of newest: FixName, _ newestEvent: UInt32?) -> Bool {
    if let event, let newestEvent, event > Int64(newestEvent) { return true }
    return [last, gap].contains { $0.map { $0 > newest } ?? false }
  }
}

/// The answer of the store to a message that it cannot use, but keeps (Docs/Reference/uplink-payload.md, "Refusal").
struct Refusal: Equatable {
  /// Largest length of a reason in the log, characters.
  static let reasonLength = 100

  /// Checksum of the message.
  let checksum: UInt32
  /// Why, for the log; without control characters.
  let reason: String

  /// Decodes JSON; nil if it is not a refusal.
  init?(_ bytes: [UInt8]) {
    guard let document = try? JSONDocument(bytes, limits: JSONLimits(nodes: 64)),
      let checksum = document.root["refused"]?.string.flatMap(UInt32.init(hexadecimalDigits:))
    else { return nil }
    self.checksum = checksum
    let text = document.root["reason"]?.string ?? "no reason"
    reason = printable(text, maxLength: Refusal.reasonLength)
  }
}

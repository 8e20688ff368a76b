import LocationTypes
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
  /// Number of the last durable event; nil if there is none.
  let event: Int64?

  /// Decodes JSON; nil if it is not a receipt.
  init?(_ bytes: [UInt8]) {
    guard let document = try? JSONDocument(bytes, limits: JSONLimits(nodes: 64)),
      let members = document.root.members,
      let digits = members.first(where: { $0.name == "ring" })?.value.string,
      digits.utf8.count == 16, let ring = UInt64(digits, radix: 16)
    else { return nil }
    self.ring = ring
    last = Receipt.name(in: members, sequence: "sequence")
    gap = members.first { $0.name == "gap" }?.value.members.flatMap {
      Receipt.name(in: $0, sequence: "next")
    }
    event = members.first { $0.name == "event" }?.value.integer
  }

  private static func name(
    in members: [(name: String, value: JSONValue)], sequence: String
  ) -> FixName? {
    guard
      let generation = members.first(where: { $0.name == "generation" })?.value.integer,
      let number = members.first(where: { $0.name == sequence })?.value.integer,
      let generation = UInt32(exactly: generation), let number = UInt64(exactly: number)
    else { return nil }
    return FixName(generation: generation, sequence: number)
  }

  /// Whether the part of a ring is durable.
  func confirms(_ part: PendingFixes.Part, ring: UInt64) -> Bool {
    guard ring == self.ring else { return false }
    switch part.content {
    case .fixes:
      guard let wanted = part.last, let last else { return false }
      return wanted.isUpTo(last)
    case .gap(let missing, let generation):
      guard let gap else { return false }
      return FixName(generation: generation, sequence: missing.range.upperBound).isUpTo(gap)
    case .event(let number, _):
      return event.map { Int64(clamping: number) <= $0 } ?? false
    }
  }

  /// Whether the receipt names a later fix or event than any that was sent: it is not about this board's messages.
  ///
  /// - Parameter newestEvent: Number of the newest event; nil if it is unknown.
  func isAhead(of newest: FixName, _ newestEvent: UInt32?) -> Bool {
    if let event, let newestEvent, event > Int64(newestEvent) { return true }
    return [last, gap].contains { $0.map { !$0.isUpTo(newest) } ?? false }
  }
}

extension FixName {
  /// Whether `other` is this name or a later one.
  func isUpTo(_ other: FixName) -> Bool {
    generation < other.generation || generation == other.generation && sequence <= other.sequence
  }
}

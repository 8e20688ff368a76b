import DeferralCache
import LocationTypes

/// A client's undelivered and unacknowledged fixes at one moment, which `LocationServer` delivers in bulk.
public struct Backlog: Sendable {
  /// Their sequence numbers; some of them may be excluded, see ``includes(_:)``.
  public let range: Range<UInt64>
  /// The unreported gap before them; nil if none exists.
  public let gap: Gap?
  fileprivate let excluded: Range<UInt64>?
  fileprivate let deniedUntil: Instant?

  /// Whether a fix of ``range`` is for the client.
  public func includes(_ stored: StoredFix) -> Bool {
    if let excluded, excluded.contains(stored.name.sequence) { return false }
    return deniedUntil.map { stored.fix.acquired > $0 } ?? true
  }
}

extension Client {
  /// All fixes that the client has not acknowledged, delivered or not, without applying the distance filter. Empty
  /// while it is not authorized or its accuracy is reduced (AUT-6).
  public func backlog(in ring: borrowing FixRing) -> Backlog {
    let range = delivery.backlog(in: ring)
    guard canReceiveFixes else {
      return Backlog(
        range: range.upperBound..<range.upperBound, gap: nil, excluded: nil, deniedUntil: nil)
    }
    return Backlog(
      range: range, gap: recording.gap(with: cursor.gap), excluded: delivery.excluded,
      deniedUntil: permission.deniedUntil)
  }
}

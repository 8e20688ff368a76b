import DeferralCache
import LocationTypes

// Most clients of a service wait for something that is far away: no step needs to look at them.

extension Client {
  /// Lets it rest if nothing of it is under way; the end of a look at it.
  ///
  /// Whatever happens to it ends the rest, but a fix only if it is of any consequence.
  public mutating func rest(at now: Instant) {
    guard isIdle, !hasNotices, (awaitsAcknowledgementUntil ?? now) <= now else { return }
    let next = usesServices ? services.check : .distantFuture
    if next > now { restsUntil = next }
  }

  /// Something has changed that concerns each client.
  public mutating func endRest() { restsUntil = .boot }

  /// No updates, no deferral, no fixes that are owed, nothing that waits for the receiver, for a
  /// handler, or for a state of the engine; and fixes come to it as they are, or not at all.
  private var isIdle: Bool {
    mutating get {
      guard !isUpdating, !closesAtDrain, !waitsForDrain, ends.isEmpty else { return false }
      guard deferral.state == .idle, unacknowledgedThrough == nil else { return false }
      guard cursor.acknowledged >= owedUntil, cursor.gap == nil else { return false }
      guard usesServices else { return true }
      return isConnected && isAuthorized && !isReduced && services.live.count == 0
    }
  }

  /// Whether a fix ends the rest; one that ends none was taken.
  mutating func stirs(for fix: Fix) -> Bool {
    guard usesServices, !isDenied(fix) else { return false }
    guard services.areRegionsAlone else {
      restsUntil = .boot
      return true
    }
    services.regions.take(fix)
    if services.regions.hasEvents { restsUntil = .boot }
    return false
  }
}

// MARK: - What the ring keeps for it

extension Client {
  /// Whether precise fixes may be shown to it at all.
  public var isShownFixes: Bool {
    mutating get { isAuthorized && !isReduced }
  }

  /// From this sequence number on the ring has something for it: what it did not acknowledge, and the
  /// newest that it was told (STD-8). The largest there is where it needs nothing.
  public var neededFrom: UInt64 {
    mutating get {
      guard isAuthorized, !isReduced else { return .max }
      let owed = cursor.acknowledged < owedUntil ? cursor.acknowledged : .max
      return min(owed, newestDelivered ?? .max)
    }
  }
}

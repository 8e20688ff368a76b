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
    guard next > now else { return }
    restsUntil = next
    heed = reckonedHeed
    heedsAt = -.infinity
    heedsFrom = .boot
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

  /// What a fix means to it, as its services are now.
  private var reckonedHeed: FixHeed {
    mutating get {
      guard usesServices else { return .nothing }
      return services.areRegionsAlone ? .regions : .everything
    }
  }

  /// Whether it must take a fix that was made at a time, after so many metres of the ``CommonWay``: what it
  /// need not take means nothing to it but where the wearer is, see ``takeSparedFix(_:)``.
  @inlinable public func heeds(at time: Instant, _ travelled: Double) -> Bool {
    restsUntil == .boot || heedsAt <= travelled || heedsFrom <= time
  }

  /// Whether it may have been spared the newest fix: ``takeSparedFix(_:)`` is due before anything else
  /// happens to it than fixes and time, and before it is asked what it needs.
  @inlinable public var mayLackAFix: Bool { restsUntil > .boot && heedsAt > -.infinity }

  /// Hands it the newest fix where it was spared it.
  public mutating func takeSparedFix(_ context: ClientContext) {
    guard mayLackAFix, let newest = context.newest, taken != newest.name.sequence else { return }
    take(newest, context)
  }

  /// Whether a fix ends the rest; one that ends none was taken.
  mutating func stirs(for stored: StoredFix, _ context: ClientContext) -> Bool {
    assert(heed == reckonedHeed, "what a client uses changed while it rested")
    taken = stored.name.sequence
    switch heed {
    case .nothing:
      (heedsAt, heedsFrom) = (.infinity, .distantFuture)
      return false
    case .regions:
      // What it does not take lies on the common way as well: what was reckoned before holds on.
      if isDenied(stored.fix) || !services.regions.take(stored.fix) { return false }
      if services.regions.hasEvents { restsUntil = .boot }
      let slack = services.regions.slack
      (heedsAt, heedsFrom) = (context.travelled + slack.metres, slack.until)
      return false
    case .everything:
      if isDenied(stored.fix) { return false }
      restsUntil = .boot
      return true
    }
  }
}

/// What a fix means to a client that rests.
enum FixHeed: UInt8, Sendable {
  /// Nothing: it uses no service.
  case nothing = 0
  /// It is looked at whether a circle changes.
  case regions = 1
  /// It ends the rest.
  case everything = 2
}

// MARK: - What the ring keeps for it

extension Client {
  /// Whether precise fixes may be shown to it at all.
  public var isShownFixes: Bool {
    mutating get { isAuthorized && !isReduced }
  }

  /// Whether it may receive this fix with full accuracy, now or later (RNG-6).
  public mutating func mayReceive(_ fix: Fix) -> Bool { isShownFixes && !isDenied(fix) }

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

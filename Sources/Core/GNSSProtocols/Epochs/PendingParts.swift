/// Which slots of an ``EpochAssembler`` are in use.
@usableFromInline struct PendingParts: Sendable {
  /// An open NMEA epoch in `draft`.
  @usableFromInline var hasDraft = false
  /// A complete epoch in `firstQueued`, emitted next.
  @usableFromInline var hasFirstQueued = false
  /// A NAV-PVT epoch in `held` that waits for sentences of its time.
  @usableFromInline var hasHeld = false
  /// An open UBX epoch in `parts`.
  @usableFromInline var hasParts = false
  /// An epoch in `secondQueued`: waits for its NAV-HPPOSLLH, or is emitted after `firstQueued`.
  @usableFromInline var hasSecondQueued = false
  /// Satellites for the next epoch in `nextSatellites`. Not an epoch.
  var hasNextSatellites = false

  /// Whether any epoch is open or complete.
  @inlinable var hasEpoch: Bool {
    hasDraft || hasFirstQueued || hasHeld || hasParts || hasSecondQueued
  }
  /// Whether the queue may hold an epoch to emit.
  @inlinable var mayHaveNext: Bool { hasFirstQueued || hasSecondQueued }
}

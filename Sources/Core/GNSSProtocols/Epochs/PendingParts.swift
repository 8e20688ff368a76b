/// Which slots of an ``EpochAssembler`` are in use, one bit each.
///
/// NAV-PVT can be emitted directly if no bit is set, which is one comparison.
@usableFromInline struct PendingParts: Sendable {
  @usableFromInline var bits: UInt8 = 0

  /// An open NMEA epoch in `draft`.
  static let draft: UInt8 = 1 << 0
  /// A complete epoch in `firstQueued`, emitted next.
  static let firstQueued: UInt8 = 1 << 1
  /// A NAV-PVT epoch in `held` that waits for sentences of its time.
  static let held: UInt8 = 1 << 2
  /// An open UBX epoch in `parts`.
  static let parts: UInt8 = 1 << 3
  /// An epoch in `secondQueued`: waits for its NAV-HPPOSLLH, or is emitted after `firstQueued`.
  static let secondQueued: UInt8 = 1 << 4
  /// Satellites for the next epoch in `nextSatellites`. Not an epoch.
  static let nextSatellites: UInt8 = 1 << 5
  /// Option ``EpochOptions/waitsForSentences``. Not an epoch.
  static let waitsForSentences: UInt8 = 1 << 6

  /// Whether any epoch is open or complete.
  @inlinable var hasEpoch: Bool { bits & 0b1_1111 != 0 }
  /// Whether the queue may hold an epoch to emit.
  @inlinable var mayHaveNext: Bool { bits & 0b1_0010 != 0 }
  /// Whether no slot is in use.
  @inline(__always) var isEmpty: Bool { bits == 0 }

  /// Whether the slot of that bit is in use.
  @inline(__always) subscript(_ bit: UInt8) -> Bool {
    get { bits & bit != 0 }
    set { bits = newValue ? bits | bit : bits & ~bit }
  }
}

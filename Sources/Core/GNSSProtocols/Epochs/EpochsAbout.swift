/// Which slots of an ``EpochAssembler`` are in use, one bit each.
///
/// NAV-PVT can be emitted directly if no bit is set, which is one comparison.
@usableFromInline struct EpochsAbout: Sendable {
  @usableFromInline var bits: UInt8 = 0

  /// An open NMEA epoch in `draft`.
  static let draft: UInt8 = 1 << 0
  /// A complete epoch in `firstQueued`, emitted next.
  static let waiting: UInt8 = 1 << 1
  /// A NAV-PVT epoch in `held` that waits for sentences of its time.
  static let held: UInt8 = 1 << 2
  /// An open UBX epoch in `parts`.
  static let parts: UInt8 = 1 << 3
  /// An epoch in `secondQueued`: waits for its NAV-HPPOSLLH, or is emitted after `firstQueued`.
  static let awaited: UInt8 = 1 << 4
  /// Satellites for the next epoch in `nextSatellites`. Not an epoch.
  static let view: UInt8 = 1 << 5
  /// Option ``EpochOptions/waitsForSentences``. Not an epoch.
  static let sentences: UInt8 = 1 << 6

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

extension EpochAssembler {
  var hasDraft: Bool {
    @inline(__always) get { about[EpochsAbout.draft] }
    @inline(__always) set { about[EpochsAbout.draft] = newValue }
  }
  var hasWaiting: Bool {
    @inline(__always) get { about[EpochsAbout.waiting] }
    @inline(__always) set { about[EpochsAbout.waiting] = newValue }
  }
  var isHolding: Bool {
    @inline(__always) get { about[EpochsAbout.held] }
    @inline(__always) set { about[EpochsAbout.held] = newValue }
  }
  var hasParts: Bool {
    @inline(__always) get { about[EpochsAbout.parts] }
    @inline(__always) set { about[EpochsAbout.parts] = newValue }
  }
  var isAwaiting: Bool {
    @inline(__always) get { about[EpochsAbout.awaited] }
    @inline(__always) set { about[EpochsAbout.awaited] = newValue }
  }
  var hasView: Bool {
    @inline(__always) get { about[EpochsAbout.view] }
    @inline(__always) set { about[EpochsAbout.view] = newValue }
  }
}

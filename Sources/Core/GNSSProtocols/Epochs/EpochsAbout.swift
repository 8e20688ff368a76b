/// What an assembler has about beside NAV-PVT, one bit each: whether there is anything is one question.
@usableFromInline struct EpochsAbout: Sendable {
  @usableFromInline var bits: UInt8 = 0

  /// Sentences of an open epoch.
  static let draft: UInt8 = 1 << 0
  /// An epoch that goes out next.
  static let waiting: UInt8 = 1 << 1
  /// An epoch that waits for sentences of its time.
  static let held: UInt8 = 1 << 2
  /// UBX messages of an open epoch.
  static let parts: UInt8 = 1 << 3
  /// An epoch that waits for its NAV-HPPOSLLH, or goes out after the one that goes out next.
  static let awaited: UInt8 = 1 << 4
  /// Satellites for the epoch that comes next: no epoch.
  static let view: UInt8 = 1 << 5
  /// Not an epoch, but that sentences are waited for.
  static let sentences: UInt8 = 1 << 6

  /// Whether there is an epoch, in the making or made.
  @inlinable var hasEpoch: Bool { bits & 0b1_1111 != 0 }
  /// Whether there is an epoch that goes out next, or may.
  @inlinable var mayHaveNext: Bool { bits & 0b1_0010 != 0 }
  /// Whether there is nothing.
  @inline(__always) var isEmpty: Bool { bits == 0 }

  /// Whether what that bit stands for is about.
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

/// A fix in the ring, with its name.
@frozen public struct StoredFix: Equatable, Sendable {
  /// Unique and permanent name.
  public var name: FixName
  /// Position, time and accuracies.
  public var fix: Fix

  /// Creates a stored fix.
  @inlinable public init(name: FixName, fix: Fix) {
    self.name = name
    self.fix = fix
  }

  /// Time at which the position was measured.
  @inlinable public var time: FixTime { FixTime(acquired: fix.acquired, utc: fix.utc) }
}

/// Time at which a position was measured, on both clocks.
@frozen public struct FixTime: Equatable, Sendable {
  /// Time on the boot clock of the boot during which the position was measured.
  public var acquired: Instant
  /// UTC; nil if unknown.
  public var utc: UTCTime?

  /// Creates a time.
  @inlinable public init(acquired: Instant, utc: UTCTime?) {
    self.acquired = acquired
    self.utc = utc
  }
}

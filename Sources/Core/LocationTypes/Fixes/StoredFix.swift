/// A fix as it lies in the ring: with its name.
@frozen public struct StoredFix: Equatable, Sendable {
  /// What it is called, for ever.
  public var name: FixName
  /// What the receiver said.
  public var fix: Fix

  /// Creates a stored fix.
  @inlinable public init(name: FixName, fix: Fix) {
    self.name = name
    self.fix = fix
  }

  /// When the fix was true.
  @inlinable public var time: FixTime { FixTime(acquired: fix.acquired, utc: fix.utc) }
}

/// When a fix was true, on both clocks.
@frozen public struct FixTime: Equatable, Sendable {
  /// On the boot clock of the boot that saw it.
  public var acquired: Instant
  /// In UTC, where known.
  public var utc: UTCTime?

  /// Creates a time.
  @inlinable public init(acquired: Instant, utc: UTCTime?) {
    self.acquired = acquired
    self.utc = utc
  }
}

/// Fixes that a client will not get: how many, which, and when they were true (RNG-4).
@frozen public struct Gap: Equatable, Sendable {
  /// How many fixes are missing; 0 only where ``mayBeMore`` is all there is to tell.
  public var count: UInt64
  /// The sequence numbers from the first missing to the last; others in it need not be missing.
  public var range: Range<UInt64>
  /// No missing fix is older than this; nil if not known.
  public var from: FixTime?
  /// No missing fix is newer than this; nil if not known.
  public var to: FixTime?
  /// More than ``count`` may be missing, and nobody knows how many: a power cut took what was not yet
  /// synced, or nothing was recorded while a suspended client's queue was full (BKG-5).
  public var mayBeMore: Bool

  /// Creates the gap of all sequence numbers in `range`.
  ///
  /// - Precondition: `range` is not empty.
  public init(_ range: Range<UInt64>, from: FixTime?, to: FixTime?) {
    precondition(!range.isEmpty, "a gap is not empty")
    count = range.upperBound - range.lowerBound
    self.range = range
    self.from = from
    self.to = to
    mayBeMore = false
  }

  /// Creates the gap that a power cut left: an unknown number of fixes before `sequence`.
  ///
  /// - Parameters:
  ///   - sequence: where the new generation begins: the ring's start.
  ///   - newest: the newest fix that survived.
  public init(unsyncedBefore sequence: UInt64, after newest: FixTime?) {
    count = 0
    range = sequence..<sequence
    from = newest
    to = nil
    mayBeMore = true
  }

  /// Takes in a later gap, which need not follow directly; ``count`` stays exact. O(1).
  ///
  /// - Precondition: `later` does not begin before this one ends.
  public mutating func merge(_ later: Gap) {
    precondition(later.range.lowerBound >= range.upperBound, "gaps are merged in order")
    count += later.count
    range = range.lowerBound..<later.range.upperBound
    to = later.to
    mayBeMore = mayBeMore || later.mayBeMore
  }
}

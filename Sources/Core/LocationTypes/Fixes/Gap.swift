/// Fixes that are lost to a client: their number, sequence numbers and times (RNG-4).
@frozen public struct Gap: Equatable, Sendable {
  /// Number of missing fixes; 0 only if ``mayBeMore`` is true and the number is unknown.
  public var count: UInt64
  /// Sequence numbers from the first missing fix to the last. The range may contain fixes that are not missing.
  public var range: Range<UInt64>
  /// Earliest possible time of a missing fix; nil if unknown.
  public var from: FixTime?
  /// Latest possible time of a missing fix; nil if unknown.
  public var to: FixTime?
  /// Whether an unknown number of fixes beyond ``count`` may be missing: a power cut erased unsynced fixes, or no
  /// fix was recorded while a suspended client's queue was full (BKG-5).
  public var mayBeMore: Bool

  /// Creates the gap of all sequence numbers in `range`.
  ///
  /// - Precondition: `range` is not empty.
  ///
  /// - Parameters:
  ///   - range: Sequence numbers, all of them missing.
  ///   - from: Earliest possible time of a missing fix; nil if unknown.
  ///   - to: Latest possible time of a missing fix; nil if unknown.
  public init(_ range: Range<UInt64>, from: FixTime?, to: FixTime?) {
    precondition(!range.isEmpty, "a gap is not empty")
    count = range.upperBound - range.lowerBound
    self.range = range
    self.from = from
    self.to = to
    mayBeMore = false
  }

  /// Creates the gap after a power cut: an unknown number of missing fixes before `sequence`.
  ///
  /// - Parameters:
  ///   - sequence: First sequence number of the new generation (the ring's `start`).
  ///   - newest: Time of the newest fix that survived; nil if none did.
  public init(unsyncedBefore sequence: UInt64, after newest: FixTime?) {
    count = 0
    range = sequence..<sequence
    from = newest
    to = nil
    mayBeMore = true
  }

  /// Merges a later gap, which need not be adjacent, into this one; ``count`` stays exact. O(1).
  ///
  /// - Precondition: `later` does not start before this gap ends.
  public mutating func merge(_ later: Gap) {
    precondition(later.range.lowerBound >= range.upperBound, "merge gaps in order")
    count += later.count
    range = range.lowerBound..<later.range.upperBound
    to = later.to
    mayBeMore = mayBeMore || later.mayBeMore
  }
}

import LocationTypes

/// Result of opening a storage image: what ``FixRing`` found and recovered.
@frozen public struct RingRecovery: Equatable, Sendable {
  /// Whether the image was blank, so that the ring is new.
  public var isNew = false
  /// Whether the previous run shut down cleanly with ``FixRing/close()`` and no fix of it is lost.
  ///
  /// If false, and the board lost power since, unsynced fixes may be lost (RNG-4): report this to clients
  /// with ``Gap/init(unsyncedBefore:after:)``.
  public var wasClosed = false
  /// Number of unreadable header copies, 0 to 2.
  public var lostHeaders = 0
  /// Number of missing slots between ``FixRing/tail`` and ``FixRing/start``.
  public var missing: UInt64 = 0
  /// Newest readable fix.
  public var newest: StoredFix?
}

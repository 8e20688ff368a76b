import LocationTypes

/// What opening an image found.
@frozen public struct RingRecovery: Equatable, Sendable {
  /// The image was blank: a new ring.
  public var isNew = false
  /// The service had ended in order with ``FixRing/close()``, and all of its fixes are there.
  ///
  /// If not, and the board was off since, fixes not yet synced may be lost (RNG-4): tell clients
  /// with ``Gap/init(unsyncedBefore:after:)``.
  public var wasClosed = false
  /// How many of the two header copies could not be read.
  public var lostHeaders = 0
  /// How many slots between ``FixRing/tail`` and ``FixRing/start`` are missing.
  public var missing: UInt64 = 0
  /// The newest fix that survived.
  public var newest: StoredFix?
}

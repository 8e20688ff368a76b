import DeferralCache
import LocationTypes

/// Surroundings of the clients at one event: time, ring head, receiver, battery. Computed by `Engine`; all clients get
/// the same value.
public struct ClientContext: Sendable {
  /// Time of the step.
  public var now: Instant
  /// Sequence number that the next fix will get.
  public var head: UInt64
  /// The newest fix in the ring, for any client; nil before the first.
  public var newest: StoredFix?
  /// Whether the receiver may hold fixes that are not in the ring yet; the end of a deferral waits for them.
  public var receiverBuffers: Bool
  /// Whether the receiver's buffer is being drained; normal delivery waits until it is empty.
  public var isDraining: Bool
  /// Whether the board has a receiver and it works.
  public var hasReceiver: Bool
  /// State of the motion line.
  public var motionLine: MotionLine
  /// Service levels that the battery's charge sheds (PWR-10).
  public var shed: ServiceLevelSet
  /// Whether deferral is possible: a working receiver and a low-power state in which fixes are cached (DEF-1, DEF-7).
  public var isDeferralAvailable: Bool
  /// Deferral limit N, fixes (RNG-1).
  public var deferralLimit: Int
  /// How long a delivered batch keeps the board awake for its acknowledgement (RNG-8).
  public var deliveryHold: Interval

  /// Creates a context. Inlinable, because a call would create the value elsewhere and copy it.
  @inlinable public init(
    now: Instant, head: UInt64, newest: StoredFix?, receiverBuffers: Bool, isDraining: Bool,
    isDeferralAvailable: Bool, deferralLimit: Int, deliveryHold: Interval,
    hasReceiver: Bool = true, motionLine: MotionLine = .absent, shed: ServiceLevelSet = .none
  ) {
    self.now = now
    self.head = head
    self.newest = newest
    self.receiverBuffers = receiverBuffers
    self.isDraining = isDraining
    self.hasReceiver = hasReceiver
    self.motionLine = motionLine
    self.shed = shed
    self.isDeferralAvailable = isDeferralAvailable
    self.deferralLimit = deferralLimit
    self.deliveryHold = deliveryHold
  }
}

extension ClientContext {
  /// Returns the newest fix if it was acquired after `denied`; nil for `denied` means no limit.
  func newest(after denied: Instant?) -> StoredFix? {
    guard let newest else { return nil }
    if let denied, newest.fix.acquired <= denied { return nil }
    return newest
  }
}

import DeferralCache
import LocationTypes

/// What a client's policy must know of its surroundings in one step.
public struct ClientContext: Sendable {
  /// The step's time.
  public var now: Instant
  /// Sequence that the next fix will get.
  public var head: UInt64
  /// The newest fix that went into the ring, of whatever client; nil when there was none yet.
  public var newest: StoredFix?
  /// The receiver may hold fixes that are not in the ring yet: an end waits for them.
  public var receiverBuffers: Bool
  /// The receiver's buffer is being emptied: normal delivery waits for the rest.
  public var isDraining: Bool
  /// There is a receiver, and it works.
  public var hasReceiver: Bool
  /// What the motion line says.
  public var motionLine: MotionLine
  /// What the battery is too low for (PWR-10).
  public var givenUp: PromiseSet
  /// Deferral is possible: a receiver that works and a low-power caching state (DEF-1, DEF-7).
  public var isDeferralAvailable: Bool
  /// ``CommonWay/length`` up to the newest fix.
  public var travelled: Double
  /// N (RNG-1).
  public var deferralLimit: Int
  /// How long a delivered batch keeps the board awake (RNG-8).
  public var deliveryHold: Interval

  /// Creates a context: inlinable, for a call would make it elsewhere and copy it.
  @inlinable public init(
    now: Instant, head: UInt64, newest: StoredFix?, receiverBuffers: Bool, isDraining: Bool,
    isDeferralAvailable: Bool, deferralLimit: Int, deliveryHold: Interval,
    hasReceiver: Bool = true, motionLine: MotionLine = .absent, givenUp: PromiseSet = .none,
    travelled: Double = 0
  ) {
    self.now = now
    self.head = head
    self.newest = newest
    self.receiverBuffers = receiverBuffers
    self.isDraining = isDraining
    self.hasReceiver = hasReceiver
    self.motionLine = motionLine
    self.givenUp = givenUp
    self.travelled = travelled
    self.isDeferralAvailable = isDeferralAvailable
    self.deferralLimit = deferralLimit
    self.deliveryHold = deliveryHold
  }
}

extension ClientContext {
  /// The newest fix, if it was made after `denied`.
  func newest(after denied: Instant?) -> StoredFix? {
    guard let newest else { return nil }
    if let denied, newest.fix.acquired <= denied { return nil }
    return newest
  }
}

import LocationPolicy
import LocationTypes

/// Everything that can happen to an engine beside bytes, which ``Engine/step(bytes:at:)`` takes: pin edges,
/// time, requests and hardware's answers.
public enum Event: Sendable {
  /// Go on with what the step before left, because ``Effects/proceeds`` said so.
  case proceed
  /// The receiver's batch pin rose.
  case batchPin
  /// What the motion sensor's line says from now on; never, on a board without one.
  case motion(PinLevel)
  /// What the battery's gauge says from now on, percent; never, on a board without one (PWR-10).
  case battery(UInt8)
  /// The time of ``Effects/wake`` has come; too early or too often does no harm.
  case time
  /// A client asks.
  case request(ClientID, Request)
  /// Something keeps the board from sleeping, or no longer does (DEF-28).
  case sleepInhibitor(Bool)
  /// The service ends: nobody is served any more, and the receiver is put to rest.
  case end
  /// The line to the receiver went away or would not take bytes (DEF-43).
  case lineFault
  /// A pin could not be driven; it is as it was before, for all that is known (PWR-4).
  case pinFault(OutputPin)
}

/// What a step wants done, in this order: pin, line speed, output, aiding, notices, then the plan.
public struct Effects: Sendable {
  /// A line to drive.
  public var pin: PinCommand?
  /// The speed the byte line must have from now on, baud.
  public var lineSpeed: UInt32?
  /// ``Engine/output`` must be written to the receiver before the next step.
  public var hasOutput = false
  /// What is to be done with the memory of what the receiver knows of the sky, after ``hasOutput``: to keep
  /// ``Engine/aidingFrame``, or to write what is kept to the receiver (PWR-8).
  public var aiding = AidingWork.none
  /// The fix that went into the ring in this step.
  public var appended: FixName?
  /// ``Engine/nextNotice()`` must be called until nil before the next step.
  public var hasNotices = false
  /// The next step must be ``Event/proceed``, at the same time; the plan is not made yet.
  public var proceeds = false
  /// How deeply the board may sleep until then: ``BoardState/idle`` at the least.
  public var board = BoardState.idle
  /// When the engine must be stepped again at the latest; `.distantFuture` for never.
  public var wake = Instant.distantFuture
  /// Whether bytes end the sleep.
  public var listens = true

  /// Nothing done yet, and no sleep.
  init() {}

  /// Whether pin, line or its bytes are to be seen to.
  @inlinable public var isForHardware: Bool {
    if hasOutput || pin != nil || lineSpeed != nil { return true }
    if case .give = aiding { return true }
    return false
  }

  /// The receiver's driver has had its turn in this step.
  var isDriverDone: Bool {
    hasOutput || pin != nil || lineSpeed != nil || aiding != .none
  }
}

/// A notice and whom it concerns.
public struct ClientNotice: Sendable {
  /// Who must be told.
  public var client: ClientID
  /// What.
  public var notice: Notice
}

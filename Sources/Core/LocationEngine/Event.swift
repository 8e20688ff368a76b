import LocationPolicy
import LocationTypes

// Input and output of an ``Engine``, for its caller (`LocationLoop`): events, effects and notices.

/// Input of an engine, except the receiver's bytes (``Engine/step(bytes:at:)``): pin edges, time, requests and
/// hardware faults.
public enum Event: Sendable {
  /// Continue the previous step, because ``Effects/needsProceed`` was set.
  case proceed
  /// Rising edge of the receiver's batch pin.
  case batchPin
  /// New level of the motion sensor's line; never on a board without one.
  case motion(PinLevel)
  /// New charge from the battery's gauge, percent; never on a board without one (PWR-10).
  case battery(UInt8)
  /// The time ``Effects/wake`` was reached; may be sent early or repeatedly.
  case time
  /// Request of a client.
  case request(ClientID, Request)
  /// Whether a sleep inhibitor is active (DEF-28).
  case sleepInhibitor(Bool)
  /// Whether the owner may switch the board off in a long wait, because no program uses the service (PWR-14). False
  /// until sent; ignored on a board that no alarm can switch on again.
  case powerOff(isAllowed: Bool)
  /// Whether satellites in view are read from the receiver (``Engine/satellites(at:)``). No reason to switch the
  /// receiver on: only while it runs, it sends them.
  case watchSatellites(Bool)
  /// The service ends: no client is served any more, and the receiver is put to sleep.
  case end
  /// The serial line disappeared or could not be written (DEF-43).
  case lineFault
  /// A pin could not be driven; it is assumed to be unchanged (PWR-4).
  case pinFault(OutputPin)
}

/// What the caller must do after a step, in this order: store a received database entry, pin, line speed, output, send
/// a stored database entry, notices, then wait as planned.
public struct Effects: Sendable {
  /// An output pin to drive.
  public var pin: PinCommand?
  /// The new speed of the serial line, baud.
  public var lineSpeed: UInt32?
  /// Whether ``Engine/output`` must be written to the receiver before the next step.
  public var hasOutput = false
  /// What to do with the stored navigation database: before the other effects, store ``Engine/aidingFrame``; after
  /// the output, write a stored entry to the receiver (PWR-8).
  public var aiding = AidingOperation.none
  /// The fix that was appended to the ring in this step.
  public var appended: FixName?
  /// Whether ``Engine/nextNotice()`` must be called until nil before the next step.
  public var hasNotices = false
  /// Whether the next step must be ``Event/proceed`` at the same time; the plan is not computed yet.
  public var needsProceed = false
  /// Deepest allowed sleep state until the next step; at least ``BoardState/idle``.
  public var board = BoardState.idle
  /// Latest time of the next step; `.distantFuture` for none.
  public var wake = Instant.distantFuture
  /// Whether bytes end the wait.
  public var wakesOnInput = true

  /// Creates effects without actions and without sleep.
  init() {}

  /// Whether pin, line speed or bytes must be sent to the hardware.
  @inlinable public var needsHardware: Bool {
    if hasOutput || pin != nil || lineSpeed != nil { return true }
    if case .send = aiding { return true }
    return false
  }

  /// Whether the receiver's driver has acted in this step.
  var hasDriverActed: Bool {
    hasOutput || pin != nil || lineSpeed != nil || aiding != .none
  }
}

/// A notice and its client.
public struct ClientNotice: Sendable {
  /// The client that receives the notice.
  public var client: ClientID
  /// The notice.
  public var notice: Notice
}

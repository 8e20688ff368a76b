import BoardHardware
import LocationTypes

// The records that ``SimulatedBoard`` makes during a run: events for the trace, and violations of the hardware's rules.
// All times are of the board's virtual clock.

/// An event on the simulated board, for a trace.
///
/// `EnergyLedger` can be computed from the events and the end time of the run.
public enum BoardEvent: Equatable, Sendable {
  /// The receiver entered a state with the given power.
  case receiver(ReceiverPowerState, mW: Double)
  /// The board entered a state with the given power.
  case board(BoardState, mW: Double)
  /// The battery gauge reported a new charge, percent.
  case battery(UInt8)
  /// The battery became empty.
  case batteryEmpty
  /// The sleeping board woke; directly follows `board(.awake)`.
  case wake(WakeReason)
}

/// A ``BoardEvent`` with its time.
public struct TimedBoardEvent: Equatable, Sendable {
  /// Time of the event.
  public var time: Instant
  /// The event.
  public var event: BoardEvent
}

/// A request to the board or receiver that the hardware forbids or cannot execute. `torpor simulate` fails if a
/// run has one.
public struct Violation: Equatable, Sendable, CustomStringConvertible {
  /// The rule that was broken.
  public enum Kind: Equatable, Sendable {
    /// Bytes were written to a receiver without power. The signal would feed the receiver through its input pin.
    case wroteWithoutSupply
    /// A pin was driven active while the receiver had no power.
    case drovePinWithoutSupply
    /// The power was switched off before a pending standby command was completed (PWR-5).
    case poweredOffBeforeStandby
    /// The receiver rejected a command that it does not support (NAK).
    case rejectedByReceiver
    /// An M10 received the 8-byte standby request, which leaves it at a current of several milliamperes.
    case shortStandbyRequest
    /// The alarm was too near for the requested sleep state; the board entered a lighter one (PWR-9).
    case alarmTooNear
    /// The board does not have the requested sleep state; it entered a lighter one.
    case unsupportedSleepState
    /// The board went to sleep and no enabled event can wake it.
    case sleepWithoutWakeSource
  }

  /// Time of the request.
  public var time: Instant
  /// The rule that was broken.
  public var kind: Kind
  /// Description of the request.
  public var text: String

  /// Time and description in one line.
  public var description: String { "\(time.seconds) s: \(text)" }
}

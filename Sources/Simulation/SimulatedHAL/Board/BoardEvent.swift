import BoardHardware
import LocationTypes

/// What happened on the simulated board, for a trace.
///
/// The events alone, with the time the run ended, give the energy ledger back.
public enum BoardEvent: Equatable, Sendable {
  /// The receiver entered a state in which it draws that many milliwatts.
  case receiver(ReceiverPowerState, mW: Double)
  /// The board entered a state in which it draws that many milliwatts.
  case board(BoardState, mW: Double)
  /// The battery's gauge said something new, percent.
  case battery(UInt8)
  /// The battery has nothing left.
  case batteryEmpty
  /// The sleeping board was woken; comes right after its `board(.awake)`.
  case wake(WakeReason)
}

/// A ``BoardEvent`` and when it happened.
public struct TimedBoardEvent: Equatable, Sendable {
  /// When.
  public var time: Instant
  /// What.
  public var event: BoardEvent

  /// Creates an event.
  public init(time: Instant, event: BoardEvent) {
    self.time = time
    self.event = event
  }
}

/// Something a board must never be asked for, and was.
public struct Violation: Equatable, Sendable, CustomStringConvertible {
  /// Which rule was broken.
  public enum Kind: Equatable, Sendable {
    /// Bytes were written to a receiver without supply (they feed it through its pin).
    case wroteWithoutSupply
    /// A pin was driven into a receiver without supply.
    case droveWithoutSupply
    /// The supply was cut while a standby command was on its way or being carried out (PWR-5).
    case cutBeforeStandby
    /// The receiver was asked for something it does not have and said no (NAK).
    case refusedByReceiver
    /// An M10 was sent to standby by the 8-byte request, in which it goes on taking milliamperes.
    case shortPowerRequest
    /// A sleep was asked for with the alarm too near; a lighter one was entered (PWR-9).
    case alarmTooNear
    /// A sleep was asked for that the board does not have; a lighter one was entered.
    case noSuchSleep
    /// The board was sent to sleep without anything that can ever wake it.
    case sleepWithoutEnd
  }

  /// When.
  public var time: Instant
  /// Which rule.
  public var kind: Kind
  /// What happened, in words.
  public var text: String

  /// Creates a violation.
  public init(time: Instant, kind: Kind, text: String) {
    self.time = time
    self.kind = kind
    self.text = text
  }

  /// Time and words on one line.
  public var description: String { "\(time.seconds) s: \(text)" }
}

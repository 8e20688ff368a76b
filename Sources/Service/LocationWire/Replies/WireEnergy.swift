import BoardHardware
import LocationTypes

/// Where time and energy went since the service started: times by state, and the sums of time and
/// the power that the board's profile gives for each state. Reckoned, not measured.
public struct WireEnergy: Equatable, Sendable {
  /// When the ledger was opened.
  public var since: FixTime
  /// Up to when it goes.
  public var until: FixTime
  /// Millijoules that the receiver took.
  public var receiver_mJ = 0.0
  /// Millijoules that the board took, the receiver apart.
  public var board_mJ = 0.0
  /// How often the board was woken.
  public var hostWakes: UInt64 = 0
  /// By ``WakeReason``, as many as there are.
  public private(set) var wakes = [UInt64](repeating: 0, count: WakeReason.wireWords.count)
  /// By ``ReceiverPowerState``, as many as there are.
  public private(set) var receiverTime = [Interval](
    repeating: .zero, count: ReceiverPowerState.allCases.count)
  /// By ``BoardState``, as many as there are.
  public private(set) var boardTime = [Interval](repeating: .zero, count: 4)

  /// Creates an empty ledger.
  public init(since: FixTime, until: FixTime) {
    self.since = since
    self.until = until
  }

  /// How often the board was woken for `reason`.
  public subscript(reason: WakeReason) -> UInt64 {
    get { wakes[Int(reason.rawValue)] }
    set { wakes[Int(reason.rawValue)] = newValue }
  }

  /// The time that the receiver was in `state`.
  public subscript(state: ReceiverPowerState) -> Interval {
    get { receiverTime[state.rawValue] }
    set { receiverTime[state.rawValue] = newValue }
  }

  /// The time that the board was in `state`.
  public subscript(state: BoardState) -> Interval {
    get { boardTime[Int(state.rawValue)] }
    set { boardTime[Int(state.rawValue)] = newValue }
  }
}

extension ReceiverPowerState: WireWord {
  static let wireWords: [(ReceiverPowerState, StaticString)] = [
    (.off, "off"), (.backup, "backup"), (.standby, "standby"), (.acquiring, "acquiring"),
    (.tracking, "tracking"), (.powersave, "powersave"), (.batching, "batching"),
  ]
}

extension WakeReason: WireWord {
  static let wireWords: [(WakeReason, StaticString)] = [
    (.alarm, "alarm"), (.bytes, "bytes"), (.batchPin, "batch_pin"), (.request, "request"),
    (.motion, "motion"),
  ]
}

import BoardHardware
import LocationTypes

/// Time and energy since the service started: time in each state, and energy as the sum of time and the power that the
/// board's profile gives for each state. The energy is computed, not measured.
public struct WireEnergy: Equatable, Sendable {
  /// Start of the accounted time.
  public var since: FixTime
  /// End of the accounted time.
  public var until: FixTime
  /// Energy of the receiver, millijoules.
  public var receiver_mJ = 0.0
  /// Energy of the board without the receiver, millijoules.
  public var board_mJ = 0.0
  /// Number of wakes of the board.
  public var hostWakes: UInt64 = 0
  /// Number of wakes, indexed by ``WakeReason``.
  public private(set) var wakes = [UInt64](repeating: 0, count: WakeReason.wireWords.count)
  /// Time of the receiver in each state, indexed by ``ReceiverPowerState``.
  public private(set) var receiverTime = [Interval](
    repeating: .zero, count: ReceiverPowerState.allCases.count)
  /// Time of the board in each state, indexed by ``BoardState``.
  public private(set) var boardTime = [Interval](repeating: .zero, count: 4)

  /// Creates an empty ledger.
  public init(since: FixTime, until: FixTime) {
    self.since = since
    self.until = until
  }

  /// Number of wakes of the board for `reason`.
  public subscript(reason: WakeReason) -> UInt64 {
    get { wakes[Int(reason.rawValue)] }
    set { wakes[Int(reason.rawValue)] = newValue }
  }

  /// Time for which the receiver was in `state`.
  public subscript(state: ReceiverPowerState) -> Interval {
    get { receiverTime[state.rawValue] }
    set { receiverTime[state.rawValue] = newValue }
  }

  /// Time for which the board was in `state`.
  public subscript(state: BoardState) -> Interval {
    get { boardTime[Int(state.rawValue)] }
    set { boardTime[Int(state.rawValue)] = newValue }
  }
}

extension ReceiverPowerState: WireEnum {
  static let wireWords: [(ReceiverPowerState, StaticString)] = [
    (.off, "off"), (.backup, "backup"), (.standby, "standby"), (.acquiring, "acquiring"),
    (.tracking, "tracking"), (.powersave, "powersave"), (.batching, "batching"),
  ]
}

extension WakeReason: WireEnum {
  static let wireWords: [(WakeReason, StaticString)] = [
    (.alarm, "alarm"), (.bytes, "bytes"), (.batchPin, "batch_pin"), (.request, "request"),
    (.motion, "motion"),
  ]
}

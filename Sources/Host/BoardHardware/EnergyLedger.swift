import LocationTypes

/// Time and energy that the receiver and the board used in each power state. Kept by `SimulatedBoard` and by
/// `ServiceEnergy`.
///
/// Time is summed in whole microseconds for each pair of state and power. Energy is power times time, so a reader of
/// the trace computes the same values. 1 mJ = 1 mW for 1 s.
public struct EnergyLedger: Equatable, Sendable {
  /// Time spent in one state at one power.
  private struct Entry: Equatable, Sendable {
    var state: Int
    var mW: Double
    var time: Interval
  }

  private var receiverEntries: [Entry] = []
  private var boardEntries: [Entry] = []
  private var receiverState = 0
  private var receiver_mW = 0.0
  private var receiverSince: Instant
  private var boardState = BoardState.awake
  private var board_mW = 0.0
  private var boardSince: Instant
  /// Wakes by raw value of ``WakeReason``, which has five cases.
  private var wakesByReason: [Int] = [0, 0, 0, 0, 0]
  /// Time at which the ledger starts.
  public let begin: Instant
  /// Time up to which the ledger is complete.
  public private(set) var end: Instant

  /// Creates a ledger in which nothing draws power yet.
  public init(from begin: Instant = .boot) {
    self.begin = begin
    receiverSince = begin
    boardSince = begin
    end = begin
  }

  /// Records that the receiver is in `state` from `time` on and draws `mW` milliwatts. Times must not decrease.
  public mutating func setReceiver(_ state: ReceiverPowerState, mW: Double, at time: Instant) {
    closeReceiver(at: time)
    receiverState = state.rawValue
    receiver_mW = mW
    end = max(end, time)
  }

  /// Records that the board is in `state` from `time` on and draws `mW` milliwatts. Times must not decrease.
  public mutating func setBoard(_ state: BoardState, mW: Double, at time: Instant) {
    EnergyLedger.add(
      time - boardSince, to: &boardEntries, state: Int(boardState.rawValue), mW: board_mW)
    boardState = state
    board_mW = mW
    boardSince = time
    end = max(end, time)
  }

  /// Counts wakes of the sleeping board.
  public mutating func countWakes(for reason: WakeReason, times: Int = 1) {
    wakesByReason[Int(reason.rawValue)] += times
  }

  /// A copy of the ledger that includes the current states up to `time`.
  public func closed(at time: Instant) -> EnergyLedger {
    var copy = self
    copy.close(at: time)
    return copy
  }

  private mutating func close(at time: Instant) {
    closeReceiver(at: time)
    EnergyLedger.add(
      time - boardSince, to: &boardEntries, state: Int(boardState.rawValue), mW: board_mW)
    boardSince = time
    end = time
  }

  private mutating func closeReceiver(at time: Instant) {
    EnergyLedger.add(
      time - receiverSince, to: &receiverEntries, state: receiverState, mW: receiver_mW)
    receiverSince = time
  }

  private static func add(_ time: Interval, to entries: inout [Entry], state: Int, mW: Double) {
    guard time > .zero else { return }
    for i in entries.indices where entries[i].state == state && entries[i].mW == mW {
      entries[i].time = entries[i].time + time
      return
    }
    entries.append(Entry(state: state, mW: mW, time: time))
  }
}

extension EnergyLedger {
  private static func energy(_ entries: [Entry]) -> Double {
    entries.reduce(0) { $0 + $1.mW * $1.time.seconds }
  }

  private static func time(_ entries: [Entry], _ state: Int) -> Interval {
    var sum = Interval.zero
    for entry in entries where entry.state == state { sum = sum + entry.time }
    return sum
  }

  /// Energy the receiver used, mJ.
  public var receiver_mJ: Double { EnergyLedger.energy(receiverEntries) }
  /// Energy the board used, mJ.
  public var board_mJ: Double { EnergyLedger.energy(boardEntries) }
  /// Time the receiver spent in one state.
  public func time(of state: ReceiverPowerState) -> Interval {
    EnergyLedger.time(receiverEntries, state.rawValue)
  }
  /// Time the board spent in one state.
  public func time(of state: BoardState) -> Interval {
    EnergyLedger.time(boardEntries, Int(state.rawValue))
  }
  /// Number of wakes of the sleeping board.
  public var hostWakes: Int { wakesByReason.reduce(0, +) }
  /// Number of wakes of the sleeping board for one reason.
  public func hostWakes(for reason: WakeReason) -> Int { wakesByReason[Int(reason.rawValue)] }

  /// Energy the receiver and the board used, mJ.
  public var total_mJ: Double { receiver_mJ + board_mJ }
}

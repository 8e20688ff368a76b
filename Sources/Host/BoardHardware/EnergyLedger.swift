import LocationTypes

/// Time and energy that the receiver and the board used in each power state. Kept by `SimulatedBoard` and by
/// `ServiceEnergy`.
///
/// Time is summed in whole microseconds for each pair of state and power. Energy is power times time, so a reader of
/// the trace computes the same values. 1 mJ = 1 mW for 1 s.
public struct EnergyLedger: Equatable, Sendable {
  /// The states of the receiver or of the board, one after another.
  private struct Meter<State: Equatable & Sendable>: Equatable, Sendable {
    /// Time spent in one state at one power.
    struct Entry: Equatable, Sendable {
      var state: State
      var mW: Double
      var time: Interval
    }

    var entries: [Entry] = []
    /// The current state, its power and its start.
    var state: State
    var mW = 0.0
    var since: Instant

    /// Adds the time up to `now` to the entry of the current state.
    mutating func close(at now: Instant) {
      let time = now - since
      since = now
      guard time > .zero else { return }
      if let i = entries.firstIndex(where: { $0.state == state && $0.mW == mW }) {
        entries[i].time = entries[i].time + time
      } else {
        entries.append(Entry(state: state, mW: mW, time: time))
      }
    }

    var energy_mJ: Double { entries.reduce(0) { $0 + $1.mW * $1.time.seconds } }

    func time(of state: State) -> Interval {
      entries.reduce(.zero) { $1.state == state ? $0 + $1.time : $0 }
    }
  }

  private var receiver: Meter<ReceiverPowerState>
  private var board: Meter<BoardState>
  /// Wakes by raw value of ``WakeReason``, which has five cases.
  private var wakesByReason: [Int] = [0, 0, 0, 0, 0]
  /// Time at which the ledger starts.
  public let begin: Instant
  /// Time up to which the ledger is complete.
  public private(set) var end: Instant

  /// Creates a ledger in which nothing draws power yet.
  public init(from begin: Instant = .boot) {
    self.begin = begin
    receiver = Meter(state: .off, since: begin)
    board = Meter(state: .awake, since: begin)
    end = begin
  }

  /// Records that the receiver is in `state` from `time` on and draws `mW` milliwatts. Times must not decrease.
  public mutating func setReceiver(_ state: ReceiverPowerState, mW: Double, at time: Instant) {
    receiver.close(at: time)
    (receiver.state, receiver.mW) = (state, mW)
    end = max(end, time)
  }

  /// Records that the board is in `state` from `time` on and draws `mW` milliwatts. Times must not decrease.
  public mutating func setBoard(_ state: BoardState, mW: Double, at time: Instant) {
    board.close(at: time)
    (board.state, board.mW) = (state, mW)
    end = max(end, time)
  }

  /// Counts wakes of the sleeping board.
  public mutating func countWakes(for reason: WakeReason, times: Int = 1) {
    wakesByReason[Int(reason.rawValue)] += times
  }

  /// A copy of the ledger that includes the current states up to `time`.
  public func closed(at time: Instant) -> EnergyLedger {
    var copy = self
    copy.receiver.close(at: time)
    copy.board.close(at: time)
    copy.end = time
    return copy
  }

  /// Energy the receiver used, mJ.
  public var receiver_mJ: Double { receiver.energy_mJ }
  /// Energy the board used, mJ.
  public var board_mJ: Double { board.energy_mJ }
  /// Time the receiver spent in one state.
  public func time(of state: ReceiverPowerState) -> Interval { receiver.time(of: state) }
  /// Time the board spent in one state.
  public func time(of state: BoardState) -> Interval { board.time(of: state) }
  /// Number of wakes of the sleeping board.
  public var hostWakes: Int { wakesByReason.reduce(0, +) }
  /// Number of wakes of the sleeping board for one reason.
  public func hostWakes(for reason: WakeReason) -> Int { wakesByReason[Int(reason.rawValue)] }

  /// Energy the receiver and the board used, mJ.
  public var total_mJ: Double { receiver_mJ + board_mJ }
}

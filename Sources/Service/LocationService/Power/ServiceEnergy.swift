import BoardHardware
import LocationTypes
import LocationWire

/// Counters of the kernel for the service. Read by ``LocationServer/Environment/usage``, used by the energy ledger.
public struct BoardUsage: Equatable, Sendable {
  /// Processor time of the service.
  public var processor: Interval
  /// Time that the board was suspended, for any reason.
  public var suspended: Interval
  /// Number of wakes of the service since its start: ``EventWait/wakeCount``.
  public var wakes: UInt64

  /// Creates counters.
  public init(processor: Interval = .zero, suspended: Interval = .zero, wakes: UInt64 = 0) {
    self.processor = processor
    self.suspended = suspended
    self.wakes = wakes
  }
}

/// Time and energy per state since the service started: an estimate from the profile's power figures, not a
/// measurement.
///
/// The receiver's states come from its driver. The board counts as awake for the service's own processor time, as
/// suspended as reported by the kernel's clocks, and as idle for the remaining time; other programs on the board are
/// not included. Reading the ledger costs three clock readings.
struct ServiceEnergy {
  private let power: PowerFigures
  private let start: Instant
  private let usage: BoardUsage
  private var receiver: EnergyLedger
  private var countedWakes: UInt64

  /// Starts the ledger.
  init(_ power: PowerFigures, _ usage: BoardUsage, at now: Instant) {
    self.power = power
    self.usage = usage
    start = now
    receiver = EnergyLedger(from: now)
    countedWakes = usage.wakes
  }

  /// Records that the receiver is in `state` from now on.
  mutating func setReceiver(_ state: ReceiverPowerState, at now: Instant) {
    receiver.setReceiver(state, mW: power.receiver.mW(in: state), at: now)
  }

  /// Records the end of a wait and its reason. `wakes` is ``BoardUsage/wakes`` after the wait.
  mutating func recordWake(for reason: WakeReason, wakes: UInt64) {
    receiver.countWakes(for: reason, times: Int(clamping: wakes - countedWakes))
    countedWakes = wakes
  }

  /// The ledger up to `now`.
  func closed(_ usage: BoardUsage, at now: Instant) -> EnergyLedger {
    var ledger = receiver
    let elapsed = now - start
    let suspended = min(max(usage.suspended - self.usage.suspended, .zero), elapsed)
    let awake = min(max(usage.processor - self.usage.processor, .zero), elapsed - suspended)
    // Only sums are reported, so the states may be in any order.
    ledger.setBoard(.awake, mW: power.mW(in: .awake), at: start)
    ledger.setBoard(.suspended, mW: power.mW(in: .suspended), at: start + awake)
    ledger.setBoard(.idle, mW: power.mW(in: .idle), at: start + awake + suspended)
    return ledger.closed(at: now)
  }
}

extension WireEnergy {
  /// Converts a ledger for the socket.
  init(_ ledger: EnergyLedger, since: UTCTime?, until: UTCTime?) {
    self.init(
      since: FixTime(acquired: ledger.begin, utc: since),
      until: FixTime(acquired: ledger.end, utc: until))
    receiver_mJ = ledger.receiver_mJ
    board_mJ = ledger.board_mJ
    hostWakes = UInt64(ledger.hostWakes)
    for state in ReceiverPowerState.allCases { self[state] = ledger.time(of: state) }
    for state in [BoardState.awake, .idle, .suspended, .off] {
      self[state] = ledger.time(of: state)
    }
    for reason in [WakeReason.alarm, .bytes, .batchPin, .request, .motion] {
      self[reason] = UInt64(ledger.hostWakes(for: reason))
    }
  }
}

import BoardHardware
import LocationTypes
import LocationWire

/// What the kernel has counted for the service.
public struct BoardUsage: Equatable, Sendable {
  /// Processor time that the service took.
  public var processor: Interval
  /// Time that the board was suspended, by whoever.
  public var suspended: Interval
  /// How often a wait of the service slept and came back.
  public var wakes: UInt64

  /// Creates a count.
  public init(processor: Interval = .zero, suspended: Interval = .zero, wakes: UInt64 = 0) {
    self.processor = processor
    self.suspended = suspended
    self.wakes = wakes
  }
}

/// Where time and energy went since the service started: an estimate from the board's profile, not a
/// measurement.
///
/// The receiver's states are what the driver says it does, from event to event. The board counts as awake
/// for the processor time that the service itself took, as suspended for the time that the kernel's clocks
/// say so, and as idle for the rest: what else runs on the board is not the service's. Reading it costs two
/// clocks; keeping it costs a comparison a turn.
struct ServiceEnergy {
  private let power: PowerFigures
  private let begun: Instant
  private let usage: BoardUsage
  private var receiver: EnergyLedger
  private var wakesSeen: UInt64

  /// Opens the ledger.
  init(_ power: PowerFigures, _ usage: BoardUsage, at now: Instant) {
    self.power = power
    self.usage = usage
    begun = now
    receiver = EnergyLedger(from: now)
    wakesSeen = usage.wakes
  }

  /// The receiver is in `state` from now on.
  mutating func receiver(is state: ReceiverPowerState, at now: Instant) {
    receiver.receiver(is: state, mW: power.receiver.mW(in: state), at: now)
  }

  /// A wait has ended for `reason`; so many had slept by then since the process began.
  mutating func woke(for reason: WakeReason, wakes: UInt64) {
    receiver.woke(for: reason, times: Int(clamping: wakes - wakesSeen))
    wakesSeen = wakes
  }

  /// The ledger as it stands at `now`.
  func closed(_ usage: BoardUsage, at now: Instant) -> EnergyLedger {
    var ledger = receiver
    let all = now - begun
    let suspended = min(max(usage.suspended - self.usage.suspended, .zero), all)
    let awake = min(max(usage.processor - self.usage.processor, .zero), all - suspended)
    // Only the sums are told, so the order of the states is free.
    ledger.board(is: .awake, mW: power.mW(in: .awake), at: begun)
    ledger.board(is: .suspended, mW: power.mW(in: .suspended), at: begun + awake)
    ledger.board(is: .idle, mW: power.mW(in: .idle), at: begun + awake + suspended)
    return ledger.closed(at: now)
  }
}

extension WireEnergy {
  /// A ledger in the words of the socket.
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

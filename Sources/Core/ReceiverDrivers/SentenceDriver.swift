import GNSSProtocols
import LocationTypes

/// Drives a receiver that is commanded by sentences: MediaTek, Airoha, CASIC. Pure.
///
/// What it shares with other machines is in ``CommandedDriver``; here is what becomes of a receiver that
/// refuses to sleep. It neither batches nor has a duty cycle: both are refused, and it tracks. Sequences:
/// Docs/Reference/receivers.md.
struct SentenceDriver: CommandedDriver {
  private(set) var state = State.idle
  var link: ReceiverLink<SentenceCommand>
  let dialect: SentenceDialect
  /// Standby was refused; not tried again before the next goal, or a while.
  var refusesStandby = false
  /// When standby, which it refused, is asked for again.
  var standbyAgainAt: Instant?
  /// How often it refused standby since it slept last; stops at 6.
  var standbyRefusals: Int64 = 0

  /// Creates a driver that knows nothing of the receiver and does nothing before the first goal.
  init(_ setup: ReceiverSetup) {
    link = ReceiverLink(setup)
    dialect = SentenceDialect(setup.family)
  }

  /// What its owner must know of it now; O(1).
  var status: DriverStatus {
    DriverStatus(
      activity: activity, deadline: deadline, hasOutgoing: hasOutgoing, isSettled: isSettled,
      buffersFixes: false, isDraining: isDraining, hasHeld: false, entriesBehind: 0,
      isStreaming: link.isStreaming)
  }

  /// Whether a drain that was asked for is still to be answered: there is never anything to drain.
  var isDraining: Bool { link.pending.drained }

  /// What the receiver does, as far as is known.
  var activity: ReceiverActivity {
    switch state {
    case .unpowered: .off
    case .standby, .fallingAsleep: .standby
    case .idle, .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed,
      .restarting, .configuring:
      .starting
    case .tracking: .running
    case .lost: .lost
    }
  }

  mutating func enter(_ new: State) {
    let old = state
    state = new
    link.beginState(endsPulse: old == .pulsing)
    begin(new)
  }

  /// What to do with an epoch that the decoder produced; comes after `handle` of its message.
  ///
  /// None counts that was begun before the configuration was acknowledged (PWR-6).
  mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    link.now = now
    let isEarly = epoch.fix.map { $0.acquired < link.configuredAt } ?? false
    switch state {
    case .tracking, .fallingAsleep:
      if link.isConfigured && !isEarly { return .accept }
      link.counters.unconfigured.count()
      return .drop
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .restarting, .configuring, .standby, .lost:
      link.noteUnconfigured()
      // One that answers no command is used as it is (PWR-12).
      return link.isStreaming ? .accept : .drop
    }
  }
}

import GNSSProtocols
import LocationTypes

/// Drives a u-blox M8 or M10 (MAX-M8Q, MAX-M10S and kin): configuration, standby, wake-up, batching.
///
/// Pure. The two differ in how they are told, not in what is done: `UBloxCommand` has the words of both.
/// What it shares with other machines is in ``CommandedDriver``; here is the receiver's own buffer, of which
/// nothing is lost whenever the goal changes, and its duty cycle. Sequences: Docs/Reference/receivers.md.
struct UBloxDriver: CommandedDriver {
  private(set) var state = State.idle
  var link: ReceiverLink<UBloxCommand>
  var facts: Facts
  var isDrainWanted = false
  var drain = Drain()
  var held = HeldEpochs()
  var aiding = Aiding()
  /// When epochs were held for the last time.
  var heldUntil = Instant.boot
  /// UTC of the fix that was handed on last; written by `give` alone.
  var given_utc: UTCTime?
  /// Since when the receiver has had to obey the configuration that it has now.
  var obeysSince = Instant.boot

  /// Creates a driver that knows nothing of the receiver and does nothing before the first goal.
  init(_ setup: ReceiverSetup) {
    link = ReceiverLink(setup)
    facts = Facts(batch: setup.batch == nil ? .off : .unknown)
  }

  /// What its owner must know of it now; O(1).
  var status: DriverStatus {
    DriverStatus(
      activity: activity, deadline: deadline, hasOutgoing: hasOutgoing, isSettled: isSettled,
      buffersFixes: buffersFixes, isDraining: isDraining, hasHeld: held.released > 0,
      entriesBehind: entriesBehind, isStreaming: link.isStreaming)
  }

  /// Whether the receiver may hold fixes that have not been drained.
  var buffersFixes: Bool { facts.mayHold }

  /// An earlier run may have left fixes in the receiver's buffer: they count until it was emptied once. Without supply
  /// the buffer is lost.
  mutating func expectBufferedFixes() { facts.mayHold = facts.batch != .off && link.power != .cut }

  /// Whether the receiver's buffer is being emptied, or is going to be because that was asked for.
  var isDraining: Bool {
    isDrainWanted || link.pending.drained || state == .draining || state == .leaving
  }

  /// What the receiver does, as far as is known.
  var activity: ReceiverActivity {
    switch state {
    case .unpowered: .off
    case .standby, .fallingAsleep: .standby
    case .idle, .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed,
      .configuring:
      .starting
    case .tracking, .changingPower, .enabling, .muting, .unmuting, .disabling, .saving,
      .restoring:
      facts.powerMode == .cyclic ? .saving : .running
    case .batching, .changingWatermark, .draining, .leaving: .batching
    case .lost: .lost
    }
  }

  mutating func enter(_ new: State) {
    let old = state
    state = new
    if old.holdsLive { heldUntil = now }
    answerDrainIfMoot()
    link.beginState(endsPulse: old == .pulsing)
    begin(new)
  }
}

import GNSSProtocols
import LocationTypes

/// Drives a receiver that streams by itself and takes no commands.
///
/// Writes never. With a supply switch it can be switched off; without, `.off` and `.standby` are
/// answered by `.refused`, as are batching and powersave, and it goes on tracking.
struct PassiveDriver: Sendable {
  /// Where the receiver is.
  enum State: UInt8, Sendable {
    /// Without supply.
    case unpowered = 0
    /// Supply was switched on; it starts.
    case powering = 1
    /// Streams.
    case tracking = 2
  }

  let setup: ReceiverSetup
  /// Where the receiver is.
  private(set) var state: State
  /// What has happened; a passive receiver counts nothing but what is dropped.
  private(set) var counters = DriverCounters()
  private var due: Instant?
  /// How often running the supply switch failed; it is switched again when `due`.
  private var switchFailures: Int64 = 0
  private var mustSwitchAgain = false
  /// UTC of the newest position that was accepted.
  private var newest: UTCTime?
  private var goal: ReceiverGoal?

  /// Creates a driver; with a supply switch the receiver counts as unpowered, else as streaming.
  init(_ setup: ReceiverSetup) {
    self.setup = setup
    state = setup.hasSupplySwitch ? .unpowered : .tracking
  }

  /// What its owner must know of it now; O(1).
  var status: DriverStatus {
    DriverStatus(
      activity: activity, deadline: deadline, hasOutgoing: hasOutgoing, isSettled: isSettled,
      buffersFixes: buffersFixes, isDraining: isDraining, hasHeld: false,
      entriesBehind: entriesBehind, isStreaming: false)
  }

  /// When it must be stepped with `.deadline`.
  var deadline: Instant? { due }
  /// Whether there is anything in `outgoing`: never.
  var hasOutgoing: Bool { false }
  /// Never anything.
  var outgoing: FrameBuffer { FrameBuffer() }
  /// Nothing in flight.
  var isSettled: Bool { due == nil || mustSwitchAgain }
  /// Never.
  var buffersFixes: Bool { false }
  /// Never.
  var isDraining: Bool { false }
  /// Never any.
  var entriesBehind: Int { 0 }

  /// What the receiver does. That one on a line is gone is not known here.
  var activity: ReceiverActivity {
    switch state {
    case .unpowered: .off
    case .powering: .starting
    case .tracking: .running
    }
  }

  /// Takes an event in; O(1).
  mutating func handle(_ event: DriverEvent, at now: Instant) -> DriverEffects {
    #if REACHED
      PassiveDriver.machine.reach(Int(state.rawValue), event.column)
    #endif
    var effects = DriverEffects()
    switch event {
    case .goal(let new): take(new, at: now, &effects)
    case .drain: effects.observation = .drained
    case .deadline: expire(at: now, &effects)
    case .lineFault, .pinFault(.receiverWake): effects.observation = .lost
    case .pinFault(.receiverSupply): takeSupplyFault(at: now, &effects)
    case .message, .batchPin: break
    }
    return effects
  }

  private mutating func take(_ new: ReceiverGoal, at now: Instant, _ effects: inout DriverEffects) {
    goal = new
    switch (new, state) {
    case (.off, _) where setup.hasSupplySwitch:
      state = .unpowered
      switchSupply(at: now, &effects)
    case (_, .unpowered):
      state = .powering
      switchSupply(at: now, &effects)
    case (_, .powering): break
    case (.tracking, .tracking): effects.observation = .settled(.tracking)
    case (.off, .tracking), (.standby, .tracking), (.powersave, .tracking),
      (.batching, .tracking):
      effects.observation = .refused(new)
    }
  }

  private mutating func expire(at now: Instant, _ effects: inout DriverEffects) {
    guard let due, now >= due, let goal else { return }
    if mustSwitchAgain { return switchSupply(at: now, &effects) }
    self.due = nil
    switchFailures = 0
    switch state {
    case .unpowered: effects.observation = .settled(.off)
    case .powering:
      state = .tracking
      effects.observation = goal == .tracking ? .settled(goal) : .refused(goal)
    case .tracking: break
    }
  }

  /// Puts the switch where the state wants it; settled when it has had time to fail (PWR-4).
  private mutating func switchSupply(at now: Instant, _ effects: inout DriverEffects) {
    mustSwitchAgain = false
    let isOn = state != .unpowered
    due = now + (isOn ? setup.powerSettle : Patience.switchTime)
    effects.pin = PinCommand(.receiverSupply, isOn ? .active : .inactive)
  }

  /// The switch did not obey: it is tried again, after 1, 2, 4 … 60 s.
  private mutating func takeSupplyFault(at now: Instant, _ effects: inout DriverEffects) {
    effects.observation = .lost
    guard state != .tracking, goal != nil else { return }
    mustSwitchAgain = true
    due = now + min(.seconds(1 << min(switchFailures, 6)), Patience.longestBackOff)
    switchFailures += 1
  }

  /// What to do with an epoch: accepted whenever the receiver has supply, once for each moment.
  ///
  /// A recording may hold an epoch twice, live and out of the receiver's own buffer.
  mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    switch state {
    case .tracking, .powering:
      guard epoch.fix != nil, let utc = epoch.utc else { return .accept }
      if utc == newest {
        counters.duplicates.count()
        return .drop
      }
      newest = utc
      return .accept
    case .unpowered:
      counters.unconfigured.count()
      return .drop
    }
  }

  /// Never any.
  mutating func nextHeld() -> Epoch? { nil }
}

extension UInt32 {
  /// One more, unless that is not to be had.
  mutating func count(_ more: UInt32 = 1) {
    let (sum, overflow) = addingReportingOverflow(more)
    self = overflow ? .max : sum
  }
}

#if REACHED
  extension PassiveDriver {
    static let machine = Machine(
      "PassiveDriver", states: "unpowered powering tracking", events: DriverEvent.columns)
  }
#endif

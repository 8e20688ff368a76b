import GNSSProtocols
import LocationTypes

/// Driver for a receiver that sends epochs and accepts no commands.
///
/// Never writes to the line. With a supply switch, the driver can power the receiver off. It answers all other goals
/// except tracking with `.refused`, and the receiver continues to track.
struct PassiveDriver: Sendable {
  /// State of the receiver.
  enum State: UInt8, Sendable {
    /// Powered off.
    case unpowered = 0
    /// Powered on, starting.
    case powering = 1
    /// Sending epochs.
    case tracking = 2
  }

  let setup: ReceiverSetup
  private(set) var state: State
  /// Event counters; a passive receiver counts only dropped epochs.
  private(set) var counters = DriverCounters()
  private var due: Instant?
  /// Back-off after faults of the supply switch.
  private var switchRetry = RetryBackoff(
    initial: .seconds(1), longest: DriverTimeouts.maximumBackOff)
  /// Whether the driver operates the supply switch again at `due`.
  private var needsSwitchRetry = false
  /// UTC of the newest accepted fix.
  private var newest_utc: UTCTime?
  private var goal: ReceiverMode?

  /// Creates a driver. The receiver counts as powered off if it has a supply switch, else as tracking.
  init(_ setup: ReceiverSetup) {
    self.setup = setup
    state = setup.hasSupplySwitch ? .unpowered : .tracking
  }

  /// Current status. O(1).
  var status: DriverStatus {
    DriverStatus(
      activity: activity, deadline: due, hasOutgoing: false,
      isQuiescent: due == nil || needsSwitchRetry, mayBufferFixes: false, isDraining: false,
      hasReleasedEpoch: false, remainingEntries: 0, isStreaming: false, sleepCheck: nil)
  }

  /// Activity derived from the state. This driver cannot detect that the receiver has stopped sending.
  var activity: ReceiverActivity {
    switch state {
    case .unpowered: .off
    case .powering: .starting
    case .tracking: .running
    }
  }

  /// Handles an event and returns the effects to execute. O(1).
  mutating func handle(_ event: DriverEvent, at now: Instant) -> DriverEffects {
    #if REACHED
      PassiveDriver.machine.record(Int(state.rawValue), event.column)
    #endif
    var effects = DriverEffects()
    switch event {
    case .goal(let new): setGoal(new, at: now, &effects)
    case .drain: effects.observation = .drained
    case .deadline: handleDeadline(at: now, &effects)
    case .lineFault, .pinFault(.receiverWake): effects.observation = .lost
    case .pinFault(.receiverSupply): handleSupplyFault(at: now, &effects)
    case .message, .batchPin, .satellites: break
    }
    return effects
  }

  private mutating func setGoal(
    _ new: ReceiverMode, at now: Instant, _ effects: inout DriverEffects
  ) {
    goal = new
    switch (new, state) {
    case (.off, _) where setup.hasSupplySwitch:
      state = .unpowered
      switchSupply(at: now, &effects)
    case (_, .unpowered):
      state = .powering
      switchSupply(at: now, &effects)
    case (_, .powering): break
    case (.tracking, .tracking): effects.observation = .reached(.tracking)
    case (.off, .tracking), (.standby, .tracking), (.powersave, .tracking),
      (.batching, .tracking):
      effects.observation = .refused(new)
    }
  }

  private mutating func handleDeadline(at now: Instant, _ effects: inout DriverEffects) {
    guard let due, now >= due, let goal else { return }
    if needsSwitchRetry { return switchSupply(at: now, &effects) }
    self.due = nil
    switchRetry.reset()
    switch state {
    case .unpowered: effects.observation = .reached(.off)
    case .powering:
      state = .tracking
      effects.observation = goal == .tracking ? .reached(goal) : .refused(goal)
    case .tracking: break
    }
  }

  /// Sets the supply switch as the state requires. The goal is reported as reached after the time for a fault (PWR-4).
  private mutating func switchSupply(at now: Instant, _ effects: inout DriverEffects) {
    needsSwitchRetry = false
    let isOn = state != .unpowered
    due = now + (isOn ? setup.powerSettle : DriverTimeouts.switchFaultTime)
    effects.pin = PinCommand(.receiverSupply, isOn ? .active : .inactive)
  }

  /// Handles a fault of the supply switch: retries after 1, 2, 4 … 60 s.
  private mutating func handleSupplyFault(at now: Instant, _ effects: inout DriverEffects) {
    effects.observation = .lost
    guard state != .tracking, goal != nil else { return }
    needsSwitchRetry = true
    due = switchRetry.recordFailure(at: now)
  }

  /// Accepts an epoch if the receiver is powered on, and drops it if its UTC equals that of the previous one.
  ///
  /// A recording may contain an epoch twice: live, and from the batch buffer.
  mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    switch state {
    case .tracking, .powering:
      guard epoch.hasFix, let utc = epoch.utc else { return .accept }
      if utc == newest_utc {
        counters.duplicates.incrementSaturating()
        return .drop
      }
      newest_utc = utc
      return .accept
    case .unpowered:
      counters.unconfiguredEpochs.incrementSaturating()
      return .drop
    }
  }
}

extension UInt32 {
  /// Adds `more`, saturating at the maximum.
  mutating func incrementSaturating(_ more: UInt32 = 1) {
    let (sum, overflow) = addingReportingOverflow(more)
    self = overflow ? .max : sum
  }
}

#if REACHED
  extension PassiveDriver {
    static let machine = TransitionCoverage(
      "PassiveDriver", states: "unpowered powering tracking", events: DriverEvent.columns)
  }
#endif

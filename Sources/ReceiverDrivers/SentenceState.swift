import GNSSProtocols
import LocationTypes

extension SentenceDriver {
  /// What the driver is doing. Of each command one is in flight; the others wait for the next state.
  public enum State: UInt8, Sendable {
    /// No goal yet.
    case idle = 0
    /// Supply cut.
    case unpowered = 1
    /// Supply on, the receiver starts.
    case powering = 2
    /// The wake pin is driven.
    case pulsing = 3
    /// Woken, the receiver starts.
    case waking = 4
    /// Asked at the line's own speed whether it is there.
    case probing = 5
    /// The same at the speed of an unconfigured receiver.
    case probingDefault = 6
    /// The receiver was told the line's speed.
    case changingSpeed = 7
    /// It starts anew, with the speed that it was told.
    case restarting = 8
    /// Configuration written.
    case configuring = 9
    /// Awake, live epochs.
    case tracking = 10
    /// Standby was asked for.
    case fallingAsleep = 11
    /// Asleep.
    case standby = 12
    /// Does not answer; waits before the next try.
    case lost = 13
  }

  /// What is known of the receiver; all that decides what comes next, beside the goal.
  struct Facts: Sendable {
    var power: UBloxDriver.Power
    /// Answered at the line's speed since it was last woken.
    var isHeard = false
    /// Our configuration was acknowledged since then.
    var isConfigured = false
    /// Standby was refused; not tried again before the next goal, or a while.
    var refusesStandby = false
    /// Standby was acknowledged since it was last asked for.
    var isSentToSleep = false
  }

  /// How long an answer may take to come.
  var answerTime: Interval {
    let speed = hostSpeed ?? setup.lineSpeed
    return setup.ackTimeout + Patience.transmission(Patience.queuedBytes, at: speed)
  }
}

// MARK: What comes next

extension SentenceDriver {
  /// The goal as far as this receiver and its wiring can follow it.
  var wanted: ReceiverGoal? {
    switch goal {
    case .none: nil
    case .off where setup.hasSupplySwitch: .off
    case .off, .standby: facts.refusesStandby ? .tracking : .standby
    case .tracking, .powersave, .batching: .tracking
    }
  }

  /// Goes on to whatever is next; called when nothing is in flight.
  mutating func proceed() {
    let next = nextState()
    if next == .unpowered && state == .unpowered {
      // Rests before the supply may come again, or is where it should be.
      due = wanted == .off ? nil : restUntil
      if due == nil {
        attempts.settle(at: now)
        announce()
      }
      return
    }
    enter(next)
  }

  /// The state that brings the receiver nearer to the goal, or the goal's own.
  func nextState() -> State {
    guard let wanted else { return .idle }
    switch facts.power {
    case .cut: return wanted == .off || now < restUntil ? .unpowered : .powering
    case .unknown: return wanted == .off || attempts.cyclesPower ? .fallingAsleep : wakingState
    case .asleep:
      switch wanted {
      case .off: return .unpowered
      case .standby: return .standby
      case .tracking, .powersave, .batching: return wakingState
      }
    case .awake:
      guard facts.isHeard else { return wanted == .off ? .fallingAsleep : .probing }
      switch wanted {
      case .off, .standby: return .fallingAsleep
      case .tracking, .powersave, .batching: return facts.isConfigured ? .tracking : .configuring
      }
    }
  }

  private var wakingState: State { setup.hasWakePin ? .pulsing : .waking }

  /// Sends what the state sends, and sets its deadline.
  mutating func begin(_ new: State) {
    switch new {
    case .idle: break
    case .unpowered: beginUnpowered()
    case .powering:
      facts.power = .awake
      effects.pin = PinCommand(.receiverSupply, .active)
      due = now + setup.powerSettle
    case .pulsing:
      effects.pin = PinCommand(.receiverWake, .active)
      due = now + setup.wakePulse
    case .waking:
      attempts.wakes += 1
      facts.power = .awake
      use(setup.lineSpeed)
      // Beside a pin too: which of the two wakes it depends on how it was put to sleep.
      command = .wakeUp
      due = now + setup.wakeSettle
    case .probing:
      use(setup.lineSpeed)
      send(.probe)
    case .probingDefault:
      use(setup.defaultLineSpeed)
      send(.probe)
    case .changingSpeed:
      attempts.speedChanges += 1
      send(.lineSpeed(setup.lineSpeed))
    case .restarting:
      command = .restart
      due = now + setup.powerSettle + Patience.sleepEntry
    case .configuring: send(.configuration)
    case .fallingAsleep:
      if hostSpeed == nil { use(setup.lineSpeed) }
      send(.standby)
    case .tracking, .standby: beginSettled(new)
    case .lost: due = now + Patience.backOff(after: attempts.losses)
    }
  }

  private mutating func beginUnpowered() {
    effects.pin = PinCommand(.receiverSupply, .inactive)
    restUntil = now + Patience.supplyRest
    wasCut = facts.power == .cut
    forget(power: .cut)
    attempts.cyclesPower = false
    due = wanted == .off ? now + Patience.switchTime : restUntil
  }

  private mutating func beginSettled(_ new: State) {
    attempts.settle(at: now)
    if new == .tracking {
      watch()
    } else {
      standbyRefusals = 0
      // It wakes by itself then, which nobody may hear.
      if dialect == .pcas { due = now + SentenceCommand.longestSleep + Patience.sleepEntry }
    }
    announce()
  }

  /// A tracking receiver is asked after some silence whether it is there, and to sleep if it refused.
  mutating func watch() {
    let silence = now + setup.silenceOfLoss
    due = standbyAgainAt.map { min($0, silence) } ?? silence
  }

  /// The goal is reached: tells so, once for each `.goal` and after each recovery.
  private mutating func announce() {
    // Without supply nothing has been recovered.
    if isRecovering && facts.power != .cut {
      isRecovering = false
      pending.recovered = true
    }
    guard !isAnnounced else { return }
    isAnnounced = true
    pending.settled = true
  }

  /// Sends a part of a command, for the first time or again, and sets the time by which it must be
  /// answered.
  mutating func send(_ new: SentenceCommand) {
    command = new
    sends += 1
    spent += 1
    counters.commands.count()
    facts.isSentToSleep = false
    due = now + answerTime + (state == .fallingAsleep ? setup.silenceOfSleep : .zero)
    sentAt = now
    lastSent = new
  }

  /// The receiver may have lost its RAM, its configuration with it.
  mutating func forget(power: UBloxDriver.Power) {
    facts.power = power
    facts.isHeard = false
    facts.isConfigured = false
  }

  /// Puts the host's side of the line to a speed.
  mutating func use(_ speed: UInt32) {
    guard hostSpeed != speed else { return }
    hostSpeed = speed
    effects.lineSpeed = speed
  }
}

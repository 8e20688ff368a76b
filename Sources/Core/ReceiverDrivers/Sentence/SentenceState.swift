import GNSSProtocols
import LocationTypes

extension SentenceDriver {
  /// What the driver is doing. Of each command one is in flight; the others wait for the next state.
  enum State: UInt8, CommandedState {
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
}

extension SentenceDriver.State {
  var stage: DriverStage {
    switch self {
    case .idle: .idle
    case .unpowered: .unpowered
    case .powering: .powering
    case .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .restarting, .configuring:
      .busy
    case .tracking, .standby: .settled
    case .fallingAsleep: .fallingAsleep
    case .lost: .lost
    }
  }
}

// MARK: What comes next

extension SentenceDriver {
  var wanted: ReceiverGoal? {
    switch link.goal {
    case .none: nil
    case .off where setup.hasSupplySwitch: .off
    case .off, .standby: refusesStandby ? .tracking : .standby
    case .tracking, .powersave, .batching: .tracking
    }
  }

  func nextStateOfHeard(_ wanted: ReceiverGoal) -> State {
    switch wanted {
    case .off, .standby: .fallingAsleep
    case .tracking, .powersave, .batching: link.isConfigured ? .tracking : .configuring
    }
  }

  /// Sends what the state sends, and sets its deadline.
  mutating func begin(_ new: State) {
    switch new {
    case .idle: break
    case .unpowered: beginUnpowered()
    case .powering: link.switchOn()
    case .pulsing: link.pulse()
    // Beside a pin too: which of the two wakes it depends on how it was put to sleep.
    case .waking: link.wake(saying: .wakeUp)
    case .probing: link.probe(at: setup.lineSpeed)
    case .probingDefault: link.probe(at: setup.defaultLineSpeed)
    case .changingSpeed: link.changeSpeed()
    case .restarting:
      link.command = .restart
      link.due = now + setup.powerSettle + Patience.sleepEntry
    case .configuring: link.send(.configuration)
    case .fallingAsleep: link.sendToSleep()
    case .tracking:
      watch()
      link.settle()
    case .standby: beginStandby()
    case .lost:
      forgiveRefusal()
      link.backOff()
    }
  }

  private mutating func beginStandby() {
    standbyRefusals = 0
    // It wakes by itself then, which nobody may hear.
    if dialect == .pcas { link.due = now + SentenceCommand.longestSleep + Patience.sleepEntry }
    link.settle()
  }

  /// A tracking receiver is asked after some silence whether it is there, and to sleep if it refused.
  mutating func watch() {
    let silence = now + setup.silenceOfLoss
    link.due = standbyAgainAt.map { min($0, silence) } ?? silence
  }
}

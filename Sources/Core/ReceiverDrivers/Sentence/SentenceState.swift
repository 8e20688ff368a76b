import GNSSProtocols
import LocationTypes

extension SentenceDriver {
  /// State of ``SentenceDriver``; diagram there. At most one command is in flight in each state.
  enum State: UInt8, CommandedState {
    /// No goal yet.
    case idle = 0
    /// Powered off.
    case unpowered = 1
    /// Powered on, starting.
    case powering = 2
    /// The wake pin is active.
    case pulsing = 3
    /// Waiting for the receiver to wake up.
    case waking = 4
    /// Sending a query at the line's baud rate.
    case probing = 5
    /// Sending a query at the baud rate of an unconfigured receiver.
    case probingDefault = 6
    /// Setting the receiver's baud rate.
    case changingSpeed = 7
    /// Restarting the receiver so that it applies the new baud rate (Airoha, Teseo) or configuration (Teseo).
    case restarting = 8
    /// Writing the configuration; a Teseo's is read, and written if it differs.
    case configuring = 9
    /// Awake with live output.
    case tracking = 10
    /// Standby requested; waiting for silence.
    case fallingAsleep = 11
    /// Asleep.
    case standby = 12
    /// Not answering; waiting for the next attempt.
    case lost = 13
    /// Awake with live output; switching GSV on or off.
    case switchingSatellites = 14
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
    case .switchingSatellites: .preemptible
    case .tracking, .standby: .steady
    case .fallingAsleep: .fallingAsleep
    case .lost: .lost
    }
  }
}

// MARK: Next state

extension SentenceDriver {
  var effectiveGoal: ReceiverMode? {
    switch link.goal {
    case .none: nil
    case .off where setup.hasSupplySwitch: .off
    case .off, .standby:
      isStandbyRejected || !setup.family.canStandby(hasWakePin: setup.hasWakePin)
        ? .tracking : .standby
    case .tracking, .powersave, .batching: .tracking
    }
  }

  func nextStateWhenResponsive(_ goal: ReceiverMode) -> State {
    switch goal {
    case .off, .standby: return .fallingAsleep
    case .tracking, .powersave, .batching:
      if !link.receiver.isConfigured { return .configuring }
      return needsSatelliteSwitch(isTracking: true) ? .switchingSatellites : .tracking
    }
  }

  /// Executes the entry actions of a state: sends its command and sets its deadline.
  mutating func begin(_ new: State) {
    switch new {
    case .idle: break
    case .unpowered: beginUnpowered()
    case .powering: link.powerOn()
    case .pulsing: link.pulse()
    // Send bytes after a wake pulse as well: the wake source depends on the standby mode.
    case .waking: link.wake(sending: .wakeUp)
    case .probing: link.probe(at: setup.lineSpeed)
    case .probingDefault: link.probe(at: setup.defaultLineSpeed)
    case .changingSpeed:
      // A receiver that does not keep the baud rate is used at the default one, so that its flash lasts.
      if setup.family.has(.configurationInFlash), !flash.countWrite() {
        link.keepDefaultSpeed()
        return proceed()
      }
      link.changeSpeed()
    case .restarting:
      link.exchange.write(.restart)
      link.due = now + setup.powerSettle + DriverTimeouts.sleepEntryTime
    case .configuring:
      flash.beginReading()
      link.send(.configuration)
    case .switchingSatellites:
      beginSatelliteSwitch(
        .satellites(every: link.satellites.isWatched ? setup.satelliteRate : 0))
    case .fallingAsleep: link.beginSleepEntry()
    case .tracking:
      setTrackingDeadline()
      link.reachGoal()
    case .standby: beginStandby()
    case .lost:
      clearStandbyRejection()
      link.backOff()
    }
  }

  private mutating func beginStandby() {
    standbyRetry.reset()
    // The receiver wakes after its maximum standby time; its first output may go unread.
    if let limit = setup.family.descriptor.standbyLimit {
      link.due = now + limit + DriverTimeouts.sleepEntryTime
    }
    if let check = link.sleepCheck { link.due = min(link.due ?? .distantFuture, check) }
    link.reachGoal()
  }

  /// Sets the deadline of tracking: a probe after silence, or the next standby attempt if standby was rejected.
  mutating func setTrackingDeadline() {
    let silence = now + setup.lossSilence
    link.due = isStandbyRejected ? min(standbyRetry.nextTime, silence) : silence
  }
}

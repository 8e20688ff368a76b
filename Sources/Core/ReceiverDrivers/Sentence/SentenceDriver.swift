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

// What happens, state by state.

extension SentenceDriver {
  /// There is never anything to drain.
  mutating func takeDrain() { link.pending.drained = true }

  /// It has no such pin.
  mutating func takeBatchPin() {}

  mutating func expire() {
    switch state {
    case .idle: link.due = nil
    case .standby: wokeUp()  // One that sleeps no longer than so long is told to again.
    case .unpowered, .powering, .waking: proceed()
    case .pulsing: enter(.waking)
    case .probing, .probingDefault: repeatProbe()
    case .changingSpeed: toldSpeed()  // Its answer may have come at either speed.
    case .restarting: enter(.probing)
    case .configuring: repeatOrLose()
    case .tracking: lookAfter()
    case .fallingAsleep: fellAsleep()
    case .lost: tryAgain()
    }
  }

  /// An Airoha takes a new speed with its next start, the others at once.
  private mutating func toldSpeed() { enter(dialect == .pair ? .restarting : .probing) }

  /// A tracking receiver was silent, or is to be asked again to sleep.
  private mutating func lookAfter() {
    if let again = standbyAgainAt, again <= now {
      forgiveRefusal()
      link.isAnnounced = false
    } else {
      link.isHeard = false
      link.isConfigured = false
    }
    proceed()
  }

  /// All that it has to lose is in the link.
  mutating func loseSettings() {}

  mutating func forget(power: KnownPower) { link.forget(power: power) }
}

// MARK: Sleep

extension SentenceDriver {
  /// It said that it goes to sleep: only what is on its way is waited for.
  private mutating func saysItSleeps() {
    link.isSentToSleep = true
    link.due = min(link.due ?? .distantFuture, now + Patience.sleepEntry)
  }

  /// It stays awake and is asked again after 1, 2, 4 … 60 minutes (PWR-4).
  mutating func giveUpSleep() {
    refusesStandby = true
    standbyAgainAt = now + min(.seconds(60 << standbyRefusals), .seconds(3_600))
    standbyRefusals = min(standbyRefusals + 1, 6)
    link.staysAwake()
    proceed()
  }

  mutating func tryAnew(_ goal: ReceiverGoal) { forgiveRefusal() }

  /// Standby, which it may have refused, counts as possible again.
  mutating func forgiveRefusal() {
    refusesStandby = false
    standbyAgainAt = nil
  }
}

// What the receiver says, state by state.

extension SentenceDriver {
  /// What a message means to this driver.
  enum Meaning: Equatable {
    /// A part of a live epoch that was asked for.
    case live
    /// A sentence that the configuration forbids.
    case forbidden
    /// What became of a command.
    case answer(SentenceAnswer, CommandResult.Outcome)
    /// It has started.
    case started
    /// Nothing; receivers talk in standby too.
    case nothing
  }

  mutating func hear(_ message: GNSSMessage) { hear(meaning(of: message)) }

  private func meaning(of message: GNSSMessage) -> Meaning {
    switch message {
    case .rmc, .gga, .gsa: .live
    case .gsv, .vtg, .gll: .forbidden
    case .commandResult(let result): meaning(of: result)
    case .receiverNotice(.started): .started
    case .receiverNotice(.firmware): dialect == .pcas ? .answer(.firmware, .done) : .nothing
    case .receiverNotice(.awake), .gst, .zda, .gns, .gbs, .ubloxPosition, .garminErrors,
      .garminAltitude, .navPVT, .hnrPVT, .navigation, .acknowledged, .refused, .receiverVersion,
      .batchStatus, .batchEntry, .aidingEntry, .aidingAnswer, .unread, .other:
      .nothing
    }
  }

  private func meaning(of result: CommandResult) -> Meaning {
    switch (result.family, dialect) {
    case (.pmtk, .pmtk), (.pair, .pair): .answer(.result(result.command), result.outcome)
    case (.pmtk, .pair), (.pmtk, .pcas), (.pair, .pmtk), (.pair, .pcas): .nothing
    }
  }

  private mutating func hear(_ meaning: Meaning) {
    switch state {
    case .idle, .unpowered, .powering, .pulsing, .waking, .restarting, .lost: break
    case .probing, .probingDefault: if isAnswered(meaning) { foundReceiver() }
    case .changingSpeed: if isAnswered(meaning) { toldSpeed() }
    case .configuring: hearConfiguring(meaning)
    case .tracking: hearTracking(meaning)
    case .fallingAsleep: hearWhileFallingAsleep(meaning)
    case .standby:
      switch meaning {
      case .live, .forbidden, .started: hearWhileAsleep()
      case .answer, .nothing: break
      }
    }
  }

  /// Whether the part in flight was answered, whatever the answer.
  private mutating func isAnswered(_ meaning: Meaning) -> Bool {
    switch meaning {
    case .answer(let answer, let outcome):
      guard outcome != .pending else { return false }
      return link.answersCommand(answer)
    case .live, .forbidden, .started, .nothing: return false
    }
  }

  private mutating func hearConfiguring(_ meaning: Meaning) {
    switch meaning {
    case .answer(let answer, let outcome):
      if outcome == .pending || !link.answersCommand(answer) { return }
      take(outcome)
    case .started: enter(.configuring)  // What was told before is forgotten.
    case .live, .forbidden, .nothing: break
    }
  }

  /// What a part of the configuration came to.
  private mutating func take(_ outcome: CommandResult.Outcome) {
    switch outcome {
    case .done: completedPart()
    case .pending, .busy: break  // Asked again when the time is over.
    case .unsupported, .failed, .invalid:
      link.counters.refusals.count()
      if link.lastSent.isDispensable(part: link.part, for: setup) { return completedPart() }
      repeatOrLose()
    }
  }

  mutating func completed() {
    link.isConfigured = true
    link.configuredAt = now
    proceed()
  }

  private mutating func hearTracking(_ meaning: Meaning) {
    watch()
    switch meaning {
    case .started: loseConfiguration()
    case .forbidden: if now - link.configuredAt > link.answerTime { loseConfiguration() }
    case .live, .answer, .nothing: break
    }
  }

  /// What was on its way is no proof; a refusal is, and an answer that it obeys.
  private mutating func hearWhileFallingAsleep(_ meaning: Meaning) {
    switch meaning {
    case .answer(let answer, let outcome):
      guard link.answersCommand(answer) else { return }
      switch outcome {
      case .done: saysItSleeps()
      case .pending, .busy: break
      case .unsupported, .failed, .invalid:
        link.counters.refusals.count()
        failToSleep()
      }
    case .live, .forbidden, .started: if now - link.sentAt > link.answerTime { failToSleep() }
    case .nothing: break
    }
  }
}

#if REACHED
  extension SentenceDriver {
    static let machine = Machine(
      "SentenceDriver",
      states: "idle unpowered powering pulsing waking probing probingDefault changingSpeed "
        + "restarting configuring tracking fallingAsleep standby lost",
      events: DriverEvent.columns)
  }
#endif

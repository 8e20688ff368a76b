import GNSSProtocols
import LocationTypes

/// Driver for receivers with proprietary NMEA commands: MediaTek (`$PMTK`), Airoha (`$PAIR`), CASIC (`$PCAS`) and
/// STMicroelectronics Teseo (`$PSTM`).
///
/// Problem. These receivers must be configured, put to standby, woken and powered off, but they differ in whether and
/// how they acknowledge a command, in what wakes them, in when a new baud rate takes effect, and in where they keep their
/// configuration. Some reject standby; standby of CASIC and Teseo ends by itself
/// (``FamilyDescriptor/standbyLimit``). The driver is pure: time is an argument, and bytes, pins and baud rate are
/// effects. Shared parts are in ``CommandedDriver`` and ``ReceiverLink``, the commands in `SentenceCommand`, the decision
/// to write a Teseo's flash in ``FlashConfiguration``. Sequences and their sources: `Docs/Reference/receivers.md`.
///
/// The driver supports neither batching nor a duty cycle: it reports those goals as `.refused` and tracks.
///
/// States of contact. `idle` has no goal yet; the first goal leads to `unpowered`, `powering`, `pulsing` or `waking`,
/// depending on the wiring.
///
/// ```
///                              with a wake pin
///   unpowered ─▶ powering         pulsing ──────────▶ waking ◀────────────────┐
///                    │                                  │                     │ no answer,
///                    └─────────────────┬────────────────┘                     │ at most 2 wake-ups
///                                      ▼      no answer                       │ (pulsing first)
///          ┌──────────────────────▶ probing ────────────▶ probingDefault ─────┤
///          │                           │                        │ answer      │ no answer,
///          │ $PMTK, $PCAS              │ answer                 ▼             │ no wake-up left
///          ├───────────────────────────┼───────────────── changingSpeed       ▼
///          │ $PAIR, $PSTM              │                        │            lost
///          └───────────────────────────┼── restarting ◀─────────┘
///                                      ▼        ▲
///                  a receiver that answers      └── configuring, after a write to flash ($PSTM)
/// ```
///
/// States of a receiver that answers:
///
/// ```
///            goal tracking, powersave, batching             goal off, standby
///                   ▼                                           ▼
///              configuring ── all parts acknowledged ─▶ tracking    fallingAsleep ─┬─▶ standby
///                   ▲                                    │   ▲           │         └─▶ unpowered
///                   └── configuration lost ──────────────┘   │           │   (supply switch, goal off
///                                                            │           │    or power cycle)
///                    standby rejected or failed three times  └───────────┘
///                    (through configuring; retry after 1, 2, 4 … 60 min)
/// ```
///
/// | state | leaves on | to |
/// |---|---|---|
/// | `tracking` | 10 intervals (at least 10 s) of silence | `probing` |
/// | `tracking` | standby rejected, `standbyRetry` reached | `fallingAsleep` |
/// | `tracking` | start notice, or a sentence that the configuration disables | `configuring` |
/// | `tracking` | satellites in view watched, or no longer (``SatelliteWatch``) | `switchingSatellites` |
/// | `switchingSatellites` | answer, or none after two transmissions | `tracking` |
/// | `switchingSatellites` | start notice | `configuring` |
/// | `fallingAsleep` | silence, or acknowledgement and 0.5 s | `standby` or `unpowered` |
/// | `standby` | live output, or a start notice | `fallingAsleep`; `lost` after the fourth time |
/// | `standby` (CASIC, Teseo) | 18 hours | `fallingAsleep` |
/// | `configuring` (Teseo) | values differ, flash written (``FlashConfiguration``) | `restarting` |
/// | every state with a command in flight | no answer after three transmissions | `lost` or another wake-up |
/// | every state except `idle` and `unpowered` | line fault | `lost` |
/// | `lost` | back-off of 1, 2, 4 … 60 s (240 s if streaming) | wake-up; every fourth time a power cycle, if wired |
/// | `unpowered`, `tracking`, `standby` | new goal | next state towards it |
///
/// With a supply switch and goal off, `powering`, `waking` and an unanswered probe lead to `fallingAsleep` directly.
///
/// Invariants:
/// 1. At most one command is in flight. A new goal takes effect when it is done (``DriverStage``).
/// 2. No state stores a target: the next state follows from the goal, the link and `isStandbyRejected`.
/// 3. No epoch that started before the acknowledgement of the configuration is accepted (PWR-6), unless the receiver
///    streams and answers no command (PWR-12).
/// 4. Standby is assumed only after silence or an acknowledgement (PWR-4).
///
/// Ownership. Only ``enter(_:)`` writes ``state``. The engine changes the driver through `handle` and `admit` only.
///
/// Bounds. Three transmissions per command part, two wake-ups per attempt, three reconfigurations per minute. Each
/// event is O(1). No heap.
struct SentenceDriver: CommandedDriver {
  private(set) var state = State.idle
  var link: ReceiverLink<SentenceCommand>
  /// Whether the receiver has rejected standby. Cleared by the next goal, by a loss, and at the retry's time.
  private(set) var isStandbyRejected = false
  /// Back-off after rejected standby attempts since the last standby.
  var standbyRetry = RetryBackoff(initial: .seconds(60), longest: .seconds(3_600))
  /// Which configuration the receiver's flash contains, as far as known.
  var flash: FlashConfiguration

  /// Creates a driver without known state of the receiver. It does nothing before the first goal.
  init(_ setup: ReceiverSetup) {
    link = ReceiverLink(setup)
    flash = FlashConfiguration(setup)
  }

  /// Current status. O(1).
  var status: DriverStatus {
    DriverStatus(
      activity: activity, deadline: deadline, hasOutgoing: hasOutgoing, isQuiescent: isQuiescent,
      mayBufferFixes: false, isDraining: link.pending.drained, hasReleasedEpoch: false,
      remainingEntries: 0, isStreaming: link.isStreaming, sleepCheck: link.sleepCheck)
  }

  /// Current activity of the receiver, as far as known.
  var activity: ReceiverActivity {
    switch state {
    case .unpowered: .off
    case .standby, .fallingAsleep: .standby
    case .idle, .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed,
      .restarting, .configuring:
      .starting
    case .tracking, .switchingSatellites: .running
    case .lost: .lost
    }
  }

  mutating func enter(_ new: State) {
    let old = state
    state = new
    link.beginState(endsPulse: old == .pulsing)
    begin(new)
  }

  /// Decides about an epoch from the decoder. Call it after `handle` of the epoch's message.
  ///
  /// Drops epochs that started before the configuration was acknowledged (PWR-6).
  mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    link.now = now
    let isEarly = epoch.acquired.map { $0 < link.receiver.configuredAt } ?? false
    switch state {
    case .tracking, .switchingSatellites, .fallingAsleep:
      if link.receiver.isConfigured && !isEarly { return .accept }
      link.counters.unconfiguredEpochs.incrementSaturating()
      return .drop
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .restarting, .configuring, .standby, .lost:
      link.countUnconfigured()
      // A receiver that answers no command is used as it is (PWR-12).
      return link.isStreaming ? .accept : .drop
    }
  }
}

// MARK: Events

extension SentenceDriver {
  /// Answers a drain request immediately: these receivers have no batch buffer.
  mutating func handleDrainRequest() { link.pending.drained = true }

  /// Does nothing: these receivers have no batch pin.
  mutating func handleBatchPin() {}

  mutating func handleDeadline() {
    switch state {
    case .idle: link.due = nil
    case .standby:
      // Otherwise the maximum standby time of a CASIC is over.
      if let check = link.sleepCheck, now >= check { checkSleep() } else { markAwake() }
    case .unpowered, .powering, .waking: proceed()
    case .pulsing: enter(.waking)
    case .probing, .probingDefault: repeatProbe()
    case .changingSpeed: finishSpeedChange()  // The answer may have been sent at either baud rate.
    case .restarting: enter(.probing)
    case .configuring: repeatOrDeclareLost()
    case .tracking: handleTrackingDeadline()
    case .switchingSatellites: repeatSatelliteSwitch()
    case .fallingAsleep: confirmSleep()
    case .lost: retryLost()
    }
  }

  /// Continues after a baud rate change. Airoha and Teseo apply it with the next restart, the others immediately.
  private mutating func finishSpeedChange() {
    enter(setup.family.has(.speedAtRestart) ? .restarting : .probing)
  }

  /// Handles the deadline of tracking: silence, or the next standby attempt.
  private mutating func handleTrackingDeadline() {
    if isStandbyRejected, !standbyRetry.isWaiting(at: now) {
      clearStandbyRejection()
      link.repeatGoalReport()
    } else {
      link.receiver.markSilent()
    }
    proceed()
  }

  mutating func invalidateSettings() { link.satellites.invalidate() }

  mutating func invalidateVolatileState(power: KnownPower) {
    link.invalidateVolatileState(power: power)
  }
}

// MARK: Sleep

extension SentenceDriver {
  /// Handles the acknowledgement of standby: waits only for data in transmission.
  private mutating func handleStandbyAcknowledgement() {
    link.exchange.acknowledgeStandby()
    link.due = min(link.due ?? .distantFuture, now + DriverTimeouts.sleepEntryTime)
  }

  /// Leaves the receiver awake and retries standby after 1, 2, 4 … 60 minutes (PWR-4).
  mutating func abandonSleep() {
    isStandbyRejected = true
    standbyRetry.recordFailure(at: now)
    link.markStillAwake()
    proceed()
  }

  mutating func clearRejections(for goal: ReceiverMode) { clearStandbyRejection() }

  /// Clears a recorded rejection of standby.
  mutating func clearStandbyRejection() { isStandbyRejected = false }
}

// MARK: Messages

extension SentenceDriver {
  /// Relevance of a message to this driver.
  enum Meaning: Equatable {
    /// Part of a live epoch that the configuration enables.
    case live
    /// Sentence that the configuration disables.
    case disabled
    /// Result of a command.
    case answer(CommandResult)
    /// Notice that the receiver has started.
    case started
    /// Irrelevant; receivers send some messages in standby as well.
    case nothing
  }

  mutating func receive(_ message: GNSSMessage) { receive(meaning(of: message)) }

  private func meaning(of message: GNSSMessage) -> Meaning {
    switch message {
    case .rmc, .gga, .gsa: .live
    case .gsv:
      link.satellites.mayArrive(at: now, within: link.answerTimeout) ? .live : .disabled
    case .vtg, .gll: .disabled
    case .commandResult(let result):
      result.family == setup.family ? .answer(result) : .nothing
    case .receiverNotice(.started): .started
    case .receiverNotice(.awake), .gst, .zda, .gns, .gbs, .ubloxPosition, .garminErrors,
      .garminAltitude, .navPVT, .hnrPVT, .navigation, .acknowledged, .refused, .configurationValues,
      .receiverVersion,
      .batchStatus, .batchEntry, .aidingEntry, .aidingAnswer, .unknown, .malformed:
      .nothing
    }
  }

  private mutating func receive(_ meaning: Meaning) {
    switch state {
    case .idle, .unpowered, .powering, .pulsing, .waking, .restarting, .lost: break
    case .probing, .probingDefault: if consumeAnswer(meaning) { handleProbeAnswer() }
    case .changingSpeed:
      if consumeAnswer(meaning), !link.sendNextPart() { finishSpeedChange() }
    case .configuring: receiveWhileConfiguring(meaning)
    case .tracking: receiveWhileTracking(meaning)
    case .switchingSatellites: receiveWhileSwitching(meaning)
    case .fallingAsleep: receiveWhileFallingAsleep(meaning)
    case .standby:
      switch meaning {
      case .live, .disabled, .started: handleUnexpectedWake()
      case .answer, .nothing: break
      }
    }
  }

  /// Whether the message is a final answer to the part in flight, with any result.
  private mutating func consumeAnswer(_ meaning: Meaning) -> Bool {
    switch meaning {
    case .answer(let result): result.outcome != .pending && consume(result)
    case .live, .disabled, .started, .nothing: false
    }
  }

  /// Whether a result answers the part in flight.
  private mutating func consume(_ result: CommandResult) -> Bool {
    link.consumeAnswer(SentenceAnswer(kind: result.command))
  }

  private mutating func receiveWhileConfiguring(_ meaning: Meaning) {
    switch meaning {
    case .answer(let result): if consumeAnswer(meaning) { handle(result) }
    case .started: enter(.configuring)  // The receiver has lost the parts sent before.
    case .live, .disabled, .nothing: break
    }
  }

  /// Handles the result of a part of the configuration.
  private mutating func handle(_ result: CommandResult) {
    switch result.outcome {
    case .done: if !correctsConfiguration(result) { finishPart() }
    case .pending, .busy: break  // Repeated at the deadline.
    case .unsupported, .failed, .invalid:
      link.counters.refusals.incrementSaturating()
      if link.exchange.lastSent.isOptional(part: link.exchange.part, for: setup) {
        return finishPart()
      }
      repeatOrDeclareLost()
    }
  }

  /// Starts to write the configuration to the receiver's flash if the reported values require it.
  private mutating func correctsConfiguration(_ result: CommandResult) -> Bool {
    let (part, family) = (link.exchange.part, setup.family)
    guard link.exchange.lastSent == .configuration, family.has(.configurationInFlash),
      flash.mustWrite(
        result.value,
        expected: family.expectedValue(part: part, interval_ms: setup.interval_ms),
        isLast: part + 1 == family.descriptor.configurationParts)
    else { return false }
    link.closeExchange()
    link.beginState(endsPulse: false)
    link.send(.storage)
    return true
  }

  mutating func finishCommand() {
    if link.exchange.lastSent == .storage {
      flash.markWritten()
      return enter(.restarting)
    }
    if case .satellites(let rate) = link.exchange.lastSent {
      link.satellites.finishSwitch(isOn: rate > 0, at: now)
    } else {
      link.receiver.markConfigured(at: now)
      // Every configuration disables GSV.
      link.satellites.finishSwitch(isOn: false, at: now)
    }
    proceed()
  }

  /// Handles a message while the switch of GSV is in flight.
  private mutating func receiveWhileSwitching(_ meaning: Meaning) {
    switch meaning {
    case .answer(let result):
      guard consumeAnswer(meaning) else { return }
      switch result.outcome {
      case .done: finishPart()
      case .pending, .busy: break  // Repeated at the deadline.
      case .unsupported, .failed, .invalid: handleSatelliteRejection()
      }
    case .started: handleLostConfiguration()
    case .live, .disabled, .nothing: break
    }
  }

  private mutating func receiveWhileTracking(_ meaning: Meaning) {
    setTrackingDeadline()
    switch meaning {
    case .started: handleLostConfiguration()
    case .disabled:
      if now - link.receiver.configuredAt > link.answerTimeout, !flash.keepsOtherSentences {
        handleLostConfiguration()
      }
    case .live: requestSatellites()
    case .answer, .nothing: break
    }
  }

  /// Requests GSV from a receiver that sends it only on request, and not again within the time of two reports.
  private mutating func requestSatellites() {
    guard link.satellites.isWatched, setup.satelliteOutput == .requested,
      link.satellites.beginRequest(at: now, after: setup.satelliteInterval)
    else { return }
    link.exchange.write(.satellites(every: 1))
    link.counters.commands.incrementSaturating()
  }

  /// Handles a message after the standby command. Live output counts only after the answer timeout, since earlier
  /// output may have been in transmission; an acknowledgement or a rejection counts immediately.
  private mutating func receiveWhileFallingAsleep(_ meaning: Meaning) {
    switch meaning {
    case .answer(let result):
      guard consume(result) else { return }
      switch result.outcome {
      case .done: handleStandbyAcknowledgement()
      case .pending, .busy: break
      case .unsupported, .failed, .invalid:
        link.counters.refusals.incrementSaturating()
        handleFailedSleep()
      }
    case .live, .disabled, .started:
      if now - link.exchange.sentAt > link.answerTimeout { handleFailedSleep() }
    case .nothing: break
    }
  }
}

#if REACHED
  extension SentenceDriver {
    static let machine = TransitionCoverage(
      "SentenceDriver",
      states: "idle unpowered powering pulsing waking probing probingDefault changingSpeed "
        + "restarting configuring tracking fallingAsleep standby lost switchingSatellites",
      events: DriverEvent.columns)
  }
#endif

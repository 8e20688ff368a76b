import GNSSProtocols
import LocationTypes

// What the receiver says, state by state.

extension UBloxDriver {
  /// What a message means to this driver.
  enum Meaning: Equatable {
    /// A live epoch, or a part of one, in this protocol.
    case live(ReceiverOutput)
    /// The command was carried out.
    case answer(UBXIdentity)
    /// The command was not.
    case refusal(UBXIdentity)
    /// MON-VER: it is there.
    case presence
    /// MON-BATCH.
    case status(UBXBatchStatus)
    /// LOG-BATCH.
    case entry
    /// MGA-DBD.
    case aidingEntry
    /// Nothing.
    case nothing
  }

  mutating func hear(_ message: GNSSMessage) {
    let meaning: Meaning
    switch message {
    case .rmc, .gga, .gsa, .gsv, .gst, .vtg, .zda, .gll, .gns, .gbs, .ubloxPosition:
      meaning = .live(.nmea)
    case .navPVT, .hnrPVT: meaning = .live(.ubx)
    case .acknowledged(let identity): meaning = .answer(identity)
    case .refused(let identity): meaning = .refusal(identity)
    case .receiverVersion: meaning = .presence
    case .batchStatus(let status): meaning = .status(status)
    case .batchEntry(let entry):
      note(entry)
      meaning = .entry
    case .aidingEntry: meaning = .aidingEntry
    case .aidingAnswer(let answer):
      meaning = answer.isAccepted ? .answer(answer.subject) : .refusal(answer.subject)
    case .navigation, .garminErrors, .garminAltitude, .commandResult, .receiverNotice, .unread,
      .other:
      meaning = .nothing
    }
    hear(meaning)
  }

  private mutating func hear(_ meaning: Meaning) {
    switch state {
    case .idle, .unpowered, .powering, .pulsing, .waking, .lost: break
    case .probing, .probingDefault: if meaning == .presence { foundReceiver() }
    case .changingSpeed, .configuring, .changingPower, .enabling, .muting, .changingWatermark,
      .unmuting, .disabling:
      hearAnswer(meaning)
    case .tracking:
      link.due = now + setup.silenceOfLoss
      hearUnasked(meaning, unless: setup.output)
    case .batching: hearUnasked(meaning, unless: nil)
    case .draining:
      hearUnasked(meaning, unless: nil)
      if state == .draining { hearDrain(meaning) }
    case .leaving: hearDrain(meaning)
    case .saving: hearSaving(meaning)
    case .restoring: hearRestoring(meaning)
    case .fallingAsleep: hearWhileFallingAsleep(meaning)
    case .standby: hearWhileAsleep()
    }
  }

  /// Live epochs that the configuration forbids show that the receiver has lost it.
  mutating func hearUnasked(_ meaning: Meaning, unless allowed: ReceiverOutput?) {
    guard case .live(let output) = meaning, output != allowed, !mayStraggle(now) else { return }
    loseConfiguration()
  }

  /// Whether what was made under the configuration before may still arrive.
  func mayStraggle(_ arrival: Instant) -> Bool { arrival - obeysSince <= link.answerTime }

  private mutating func hearAnswer(_ meaning: Meaning) {
    switch meaning {
    case .answer(let identity): if link.answersCommand(identity) { completedPart() }
    case .refusal(let identity): if link.answersCommand(identity) { refused() }
    case .live, .presence, .status, .entry, .aidingEntry, .nothing: break
    }
  }

  /// What was on its way is no proof that it does not fall asleep; a refusal is.
  private mutating func hearWhileFallingAsleep(_ meaning: Meaning) {
    if now - link.sentAt > link.answerTime || meaning == .refusal(.rxmPMREQ) { failToSleep() }
  }

  mutating func completed() {
    switch state {
    case .changingSpeed: return enter(.probing)
    case .configuring:
      link.isConfigured = true
      facts.isMuted = false
      facts.powerMode = askedPower ?? .full
      obeysSince = now
      link.configuredAt = now
    case .changingPower: facts.powerMode = askedPower ?? .full
    case .enabling:
      facts.batch = .on
      facts.isDrained = false
      facts.watermark = askedWatermark
      drain.expected = nil
      drain.emptied = now
    case .muting:
      facts.isMuted = true
      obeysSince = now
    case .changingWatermark: facts.watermark = askedWatermark
    case .unmuting:
      facts.isMuted = false
      facts.isDrained = false
    case .disabling: leftBatching()
    case .saving: return goOnSaving()
    case .restoring: return goOnRestoring()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault, .tracking,
      .batching, .draining, .leaving, .fallingAsleep, .standby, .lost:
      preconditionFailure("no command of this state is acknowledged")
    }
    proceed()
  }

  private mutating func leftBatching() {
    facts.batch = .off
    facts.mayHold = false
  }

  /// The receiver said no.
  private mutating func refused() {
    link.counters.refusals.count()
    switch state {
    case .enabling:
      facts.refusesBatching = true
      // It does what it did before: batch, where that is not known. And it may have obeyed the
      // command when it was sent before, and the answer was lost.
      if link.sends > 1 || facts.batch != .off { facts.batch = .unknown } else { leftBatching() }
      proceed()
    case .disabling:
      // One that knows no batching does not batch.
      leftBatching()
      proceed()
    case .changingSpeed: enter(.probing)
    case .configuring, .changingPower:
      // It may be the keys of its power that this receiver does not have: without them, then. But
      // one that saves power has them, and one that did may still; it may also be another by now.
      let mayCycle = facts.powerMode == .cyclic
      let asksAgain = mayCycle && (state == .changingPower || link.sends < Patience.tries)
      let isAboutPower = link.lastSent.isAboutPower(part: link.part, for: setup)
      guard isAboutPower, !asksAgain else { return repeatOrLose() }
      link.settleAnswers()
      facts.refusesPowerSave = true
      proceed()
    case .muting, .changingWatermark, .unmuting: repeatOrLose()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault, .tracking,
      .batching, .draining, .leaving, .fallingAsleep, .standby, .lost, .saving, .restoring:
      preconditionFailure("no command of this state is refused")
    }
  }

  /// The power of the command that was sent last.
  private var askedPower: UBloxPower? {
    switch link.lastSent {
    case .configuration(let power): power
    case .power(let power): power
    case .none, .probe, .wakeBytes, .lineSpeed, .liveOutput, .enableBatching, .watermark,
      .retrieveBatch, .disableBatching, .standby, .acknowledgeAiding, .pollAiding, .aidingTime,
      .aidingEntry:
      nil
    }
  }

  /// The watermark of the command that was sent last.
  private var askedWatermark: UInt16 {
    switch link.lastSent {
    case .enableBatching(let watermark), .watermark(let watermark): watermark
    case .none, .probe, .wakeBytes, .lineSpeed, .configuration, .power, .liveOutput,
      .retrieveBatch, .disableBatching, .standby, .acknowledgeAiding, .pollAiding, .aidingTime,
      .aidingEntry:
      preconditionFailure("the last command had no watermark")
    }
  }
}

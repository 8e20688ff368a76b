import GNSSProtocols
import LocationTypes

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

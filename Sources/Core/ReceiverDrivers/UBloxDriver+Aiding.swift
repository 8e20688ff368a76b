import GNSSProtocols
import LocationTypes

// What the receiver knows of the sky, kept by the driver's owner while the supply is cut (PWR-8).
//
// Read out before a cut and given back after it, one message at a time. It only helps: whatever goes
// wrong ends it, and the receiver is then what it would have been without it, cold.

extension UBloxDriver {
  /// What is kept, and how keeping or giving back goes.
  struct Aiding: Sendable {
    /// UTC of the boot clock's zero, µs; nil while nobody has told.
    var bootUTC_us: Int64?
    /// When the first of the kept entries was.
    var savedAt = Instant.boot
    /// Since when it may have learned what is not kept: its supply came, or what it knew was read out.
    var learnsSince = Instant.boot
    /// When reading out is given up.
    var end = Instant.distantFuture
    /// How many entries the owner keeps.
    var held: UInt8 = 0
    /// Which entry is the next to be kept or given.
    var next: UInt8 = 0
    /// Messages of this giving back that came to nothing.
    var failures: UInt8 = 0
    /// Its supply came, and what is kept was not given back since.
    var isDue = false
    /// It has told a fix since then: what it knew by then can be worth keeping.
    var hasFound = false
  }

  /// In less time no ephemeris comes whole: three subframes of six seconds (IS-GPS-200, 20.3.2).
  static let leastEphemeris = Interval.seconds(18)
  /// Messages in vain after which no more is given back.
  static let aidingFailures: UInt8 = 4
  /// How often a message of aiding is sent.
  static let aidingTries: UInt8 = 2

  /// Whether what is kept is young enough to be of use.
  private var isKeptUseful: Bool {
    guard let aiding = setup.aiding, self.aiding.held > 0 else { return false }
    return now - self.aiding.savedAt < aiding.lifetime
  }

  /// Whether what the receiver knows is to be read out before its supply is cut: it has found itself,
  /// and may know more than is kept.
  var isWorthSaving: Bool {
    guard setup.aiding != nil, link.isConfigured, aiding.hasFound else { return false }
    return !isKeptUseful || now - aiding.learnsSince >= UBloxDriver.leastEphemeris
  }

  /// Whether what is kept is to be given back: it was cut off, has not found itself meanwhile, and the
  /// time is known, without which it can make nothing of it.
  var isRestoringDue: Bool {
    aiding.isDue && !aiding.hasFound && aiding.bootUTC_us != nil && isKeptUseful
  }

  /// Its supply comes: it knows nothing.
  mutating func noteSupply() {
    aiding.isDue = true
    aiding.hasFound = false
    aiding.learnsSince = now
  }

  /// Sends a message, which is another one than the last.
  private mutating func sendAiding(_ command: UBloxCommand) {
    link.sends = 0
    link.send(command)
  }

  /// How long entries of that number take on the line, at most.
  private func transmission(ofEntries count: UInt8) -> Interval {
    link.transmission(Int64(count) * Int64(UBXAidingEntry.longestFrame))
  }
}

// MARK: Reading out

extension UBloxDriver {
  mutating func beginSaving() {
    aiding.next = 0
    sendAiding(.acknowledgeAiding)
  }

  mutating func hearSaving(_ meaning: Meaning) {
    switch meaning {
    case .live: hearUnasked(meaning, unless: setup.output)
    case .answer(let identity): if link.answersCommand(identity) { completedPart() }
    case .refusal(let identity): if link.answersCommand(identity) { goOnSaving() }
    case .aidingEntry: keepEntry()
    case .presence, .status, .entry, .nothing: break
    }
  }

  /// The message in flight was answered, or will not be: the poll follows, or is over.
  mutating func goOnSaving() {
    if link.lastSent == .pollAiding { return endSaving() }
    let capacity = setup.aiding?.capacity ?? 0
    aiding.end = now + transmission(ofEntries: capacity) * 2 + link.answerTime
    sendAiding(.pollAiding)
  }

  /// An entry has come; those for which there is no room are let go.
  private mutating func keepEntry() {
    guard link.lastSent == .pollAiding, let room = setup.aiding?.capacity else { return }
    link.due = min(now + link.answerTime + transmission(ofEntries: 1), aiding.end)
    guard aiding.next < room else { return }
    if aiding.next == 0 { aiding.savedAt = now }
    link.effects.aiding = .keep(aiding.next)
    link.counters.aidingKept.count()
    aiding.next += 1
    aiding.held = aiding.next
  }

  /// Nothing came for too long. Without acknowledgements silence ends it.
  mutating func expireSaving() {
    if aiding.next == 0, link.sends < UBloxDriver.aidingTries { return link.repeatCommand() }
    goOnSaving()
  }

  /// What came is kept, whether it was all or not: each entry is of use by itself.
  private mutating func endSaving() {
    aiding.hasFound = false
    aiding.learnsSince = now
    proceed()
  }
}

// MARK: Giving back

extension UBloxDriver {
  mutating func beginRestoring() {
    aiding.next = 0
    aiding.failures = 0
    sendAiding(.acknowledgeAiding)
  }

  mutating func hearRestoring(_ meaning: Meaning) {
    switch meaning {
    case .live(let output):
      guard output != setup.output, !mayStraggle(now) else { return }
      // It has started anew, and is not worth a second try.
      aiding.isDue = false
      loseConfiguration()
    case .answer(let identity): if link.answersCommand(identity) { completedPart() }
    case .refusal(let identity):
      guard link.answersCommand(identity) else { return }
      link.settleAnswers()
      failAiding()
    case .presence, .status, .entry, .aidingEntry, .nothing: break
    }
  }

  /// The message in flight was taken.
  mutating func goOnRestoring() {
    switch link.lastSent {
    case .acknowledgeAiding: sendTime()
    case .aidingTime: giveEntry()
    case .aidingEntry:
      link.counters.aidingGiven.count()
      aiding.next += 1
      giveEntry()
    case .none, .probe, .wakeBytes, .lineSpeed, .configuration, .power, .liveOutput,
      .enableBatching, .watermark, .retrieveBatch, .disableBatching, .standby, .pollAiding:
      preconditionFailure("no command of giving back")
    }
  }

  private mutating func sendTime() {
    guard let bootUTC_us = aiding.bootUTC_us else { return endRestoring() }
    sendAiding(.aidingTime(UTCTime(microseconds: bootUTC_us + now.microseconds)))
  }

  private mutating func giveEntry() {
    guard aiding.next < aiding.held, !aiding.hasFound else { return endRestoring() }
    link.sends = 0
    sendEntry()
  }

  /// Its bytes are the owner's to write.
  private mutating func sendEntry() {
    link.send(.aidingEntry(aiding.next))
    link.command = .none
    link.effects.aiding = .give(aiding.next)
    link.due = link.due.map { $0 + transmission(ofEntries: 1) }
  }

  mutating func expireRestoring() {
    guard link.sends < UBloxDriver.aidingTries else { return failAiding() }
    link.counters.repeats.count()
    if case .aidingEntry = link.lastSent { sendEntry() } else { link.send(link.lastSent) }
  }

  /// A message came to nothing: the next one is tried, unless too many did.
  private mutating func failAiding() {
    aiding.failures += 1
    guard aiding.failures < UBloxDriver.aidingFailures else { return endRestoring() }
    switch link.lastSent {
    case .aidingTime: giveEntry()
    case .aidingEntry:
      aiding.next += 1
      giveEntry()
    // Without acknowledgements nobody could tell when the next one may follow.
    case .acknowledgeAiding: endRestoring()
    case .none, .probe, .wakeBytes, .lineSpeed, .configuration, .power, .liveOutput,
      .enableBatching, .watermark, .retrieveBatch, .disableBatching, .standby, .pollAiding:
      preconditionFailure("no command of giving back")
    }
  }

  private mutating func endRestoring() {
    aiding.isDue = false
    proceed()
  }
}

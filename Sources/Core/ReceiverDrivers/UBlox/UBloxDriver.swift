import GNSSProtocols
import LocationTypes

/// Drives a u-blox M8 or M10 (MAX-M8Q, MAX-M10S and kin): configuration, standby, wake-up, batching.
///
/// Pure. The two differ in how they are told, not in what is done: `UBloxCommand` has the words of both.
/// What it shares with other machines is in ``CommandedDriver``; here is the receiver's own buffer, of which
/// nothing is lost whenever the goal changes, and its duty cycle. Sequences: Docs/Reference/receivers.md.
struct UBloxDriver: CommandedDriver {
  private(set) var state = State.idle
  var link: ReceiverLink<UBloxCommand>
  var facts: Facts
  var isDrainWanted = false
  var drain = Drain()
  var held = HeldEpochs()
  var aiding = Aiding()
  /// When epochs were held for the last time.
  var heldUntil = Instant.boot
  /// UTC of the fix that was handed on last; written by `give` alone.
  var given_utc: UTCTime?
  /// Since when the receiver has had to obey the configuration that it has now.
  var obeysSince = Instant.boot

  /// Creates a driver that knows nothing of the receiver and does nothing before the first goal.
  init(_ setup: ReceiverSetup) {
    link = ReceiverLink(setup)
    facts = Facts(batch: setup.batch == nil ? .off : .unknown)
  }

  /// What its owner must know of it now; O(1).
  var status: DriverStatus {
    DriverStatus(
      activity: activity, deadline: deadline, hasOutgoing: hasOutgoing, isSettled: isSettled,
      buffersFixes: buffersFixes, isDraining: isDraining, hasHeld: held.released > 0,
      entriesBehind: entriesBehind, isStreaming: link.isStreaming)
  }

  /// Whether the receiver may hold fixes that have not been drained.
  var buffersFixes: Bool { facts.mayHold }

  /// An earlier run may have left fixes in the receiver's buffer: they count until it was emptied once. Without supply
  /// the buffer is lost.
  mutating func expectBufferedFixes() { facts.mayHold = facts.batch != .off && link.power != .cut }

  /// Whether the receiver's buffer is being emptied, or is going to be because that was asked for.
  var isDraining: Bool {
    isDrainWanted || link.pending.drained || state == .draining || state == .leaving
  }

  /// What the receiver does, as far as is known.
  var activity: ReceiverActivity {
    switch state {
    case .unpowered: .off
    case .standby, .fallingAsleep: .standby
    case .idle, .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed,
      .configuring:
      .starting
    case .tracking, .changingPower, .enabling, .muting, .unmuting, .disabling, .saving,
      .restoring:
      facts.powerMode == .cyclic ? .saving : .running
    case .batching, .changingWatermark, .draining, .leaving: .batching
    case .lost: .lost
    }
  }

  mutating func enter(_ new: State) {
    let old = state
    state = new
    if old.holdsLive { heldUntil = now }
    answerDrainIfMoot()
    link.beginState(endsPulse: old == .pulsing)
    begin(new)
  }
}

// Which epochs count: each one once, in order, and none made without our configuration (PWR-6).

/// Live epochs kept until the buffer with the older ones is empty; at most eight, the latest.
///
/// The older ones that had to go are in the receiver's buffer, which is still being filled.
struct HeldEpochs: Sendable {
  static let capacity = 8

  private var epochs = InlineArray<8, Epoch>(repeating: Epoch())
  private var arrivals = InlineArray<8, Instant>(repeating: .boot)
  private var first = 0
  private(set) var count = 0
  /// How many of them may go; they are the oldest.
  private(set) var released = 0

  /// Adds an epoch; gives true when the oldest had to go for it.
  mutating func add(_ epoch: Epoch, at now: Instant) -> Bool {
    let isFull = count == HeldEpochs.capacity
    if isFull { drop() }
    let slot = (first + count) % HeldEpochs.capacity
    epochs[slot] = epoch
    arrivals[slot] = now
    count += 1
    return isFull
  }

  /// Lets all go that are newer than the newest batch entry, of which `utc` and `arrival` are given;
  /// throws the others away and gives their number.
  mutating func release(after utc: UTCTime?, _ arrival: Instant?) -> UInt32 {
    var dropped: UInt32 = 0
    // They came in the order of time: the oldest are the stale ones.
    while released == 0, count > 0, !isFirstNewer(than: utc, arrival) {
      drop()
      dropped += 1
    }
    released = count
    return dropped
  }

  private func isFirstNewer(than utc: UTCTime?, _ arrival: Instant?) -> Bool {
    if let utc, let own = epochs[first].utc { return own > utc }
    guard let arrival else { return true }
    return arrivals[first] > arrival
  }

  mutating func next() -> Epoch? {
    guard released > 0 else { return nil }
    let epoch = epochs[first]
    drop()
    return epoch
  }

  private mutating func drop() {
    first = (first + 1) % HeldEpochs.capacity
    count -= 1
    if released > 0 { released -= 1 }
  }
}

extension UBloxDriver.State {
  /// Whether live epochs are held back in this state.
  fileprivate var holdsLive: Bool {
    switch self {
    case .unmuting, .leaving, .disabling: true
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .configuring, .changingPower, .tracking, .enabling, .muting, .batching,
      .changingWatermark, .draining, .fallingAsleep, .standby, .lost, .saving, .restoring:
      false
    }
  }
}

extension UBloxDriver {
  /// What to do with an epoch that the decoder produced; comes after `handle` of its message.
  ///
  /// The fix's `acquired` is to be the moment at which its first message came.
  mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    link.now = now
    switch epoch.origin {
    case .batch: return admitEntry(epoch)
    case .live: return admitLive(epoch)
    }
  }

  /// The next epoch that was held and is free now, oldest first; nil when there is none.
  mutating func nextHeld() -> Epoch? {
    guard let epoch = held.next() else { return nil }
    give(epoch)
    return epoch
  }

  /// The only place that notes what is handed on: every epoch that is accepted, or was held, comes
  /// through here. Of one without a fix nothing is noted: the time may be wrong before the first fix.
  private mutating func give(_ epoch: Epoch) {
    guard epoch.fix != nil else { return }
    aiding.hasFound = true
    if let utc = epoch.utc { given_utc = utc }
  }

  private mutating func admitEntry(_ epoch: Epoch) -> Admission {
    if wasGiven(epoch) {
      link.counters.duplicates.count()
      return .drop
    }
    give(epoch)
    return .accept
  }

  /// Whether an entry is no newer than what was handed on last: it came live as well, or was on its
  /// way when its retrieval broke off, or has come too late to keep the order.
  private func wasGiven(_ entry: Epoch) -> Bool {
    guard let given_utc, let utc = entry.utc, utc <= given_utc else { return false }
    // Far before it is no duplicate but a clock that was set back.
    let span = Int64(setup.interval_ms) * 1_000 * (Int64(setup.batch?.capacity ?? 0) + 120)
    return (given_utc - utc).microseconds <= span
  }

  private mutating func admitLive(_ epoch: Epoch) -> Admission {
    // Its first sentence may have come before the configuration was acknowledged.
    if let fix = epoch.fix, fix.acquired < link.configuredAt { return dropUnconfigured() }
    switch state {
    case .tracking, .changingPower, .enabling, .muting, .saving, .restoring:
      return acceptLive(epoch)
    case .batching, .changingWatermark, .draining:
      // What was begun before the output was muted may be complete only now.
      guard mayStraggle(epoch.fix?.acquired ?? now) else { return dropUnconfigured() }
      return acceptLive(epoch)
    case .unmuting, .leaving, .disabling:
      if held.add(epoch, at: now) { link.counters.duplicates.count() }
      return .hold
    case .fallingAsleep:
      return link.isConfigured ? acceptLive(epoch) : dropUnconfigured()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .configuring, .standby, .lost:
      return link.isStreaming ? acceptStreamed(epoch) : dropUnconfigured()
    }
  }

  /// Whether an epoch was begun while others were held, but complete only now, and came as an entry.
  private func isStale(_ epoch: Epoch) -> Bool {
    guard let fix = epoch.fix, fix.acquired <= heldUntil else { return false }
    guard let utc = epoch.utc, let newest = drain.newest_utc else { return false }
    return utc <= newest
  }

  private mutating func acceptLive(_ epoch: Epoch) -> Admission {
    if isStale(epoch) {
      link.counters.duplicates.count()
      return .drop
    }
    give(epoch)
    return .accept
  }

  /// One that answers no command is used as it is (PWR-12).
  private mutating func acceptStreamed(_ epoch: Epoch) -> Admission {
    link.noteUnconfigured()
    // The same moment may come in both protocols, or have come from the buffer.
    if wasGiven(epoch) {
      link.counters.duplicates.count()
      return .drop
    }
    return acceptLive(epoch)
  }

  private mutating func dropUnconfigured() -> Admission {
    link.noteUnconfigured()
    return .drop
  }

  /// Batching has been left, or goes on with an empty buffer: what was held is free.
  mutating func releaseHeld() {
    guard held.released < held.count else { return }
    link.counters.duplicates.count(held.release(after: drain.newest_utc, drain.newest_arrival))
  }
}

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
  private static let leastEphemeris = Interval.seconds(18)
  /// Messages in vain after which no more is given back.
  private static let aidingFailures: UInt8 = 4
  /// How often a message of aiding is sent.
  private static let aidingTries: UInt8 = 2

  /// Whether what is kept is young enough to be of use.
  private var isKeptUseful: Bool {
    guard let aiding = setup.aiding, self.aiding.held > 0 else { return false }
    return now - self.aiding.savedAt < aiding.lifetime
  }

  /// Whether what the receiver knows is to be read out before its supply is cut: it has found itself,
  /// and may know more than is kept.
  private var isWorthSaving: Bool {
    guard setup.aiding != nil, link.isConfigured, aiding.hasFound else { return false }
    return !isKeptUseful || now - aiding.learnsSince >= UBloxDriver.leastEphemeris
  }

  /// Whether what is kept is to be given back: it was cut off, has not found itself meanwhile, and the
  /// time is known, without which it can make nothing of it.
  private var isRestoringDue: Bool {
    aiding.isDue && !aiding.hasFound && aiding.bootUTC_us != nil && isKeptUseful
  }

  /// Its supply comes: it knows nothing.
  private mutating func noteSupply() {
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
  private mutating func beginSaving() {
    aiding.next = 0
    sendAiding(.acknowledgeAiding)
  }

  private mutating func hearSaving(_ meaning: Meaning) {
    switch meaning {
    case .live: hearUnasked(meaning, unless: setup.output)
    case .answer(let identity): if link.answersCommand(identity) { completedPart() }
    case .refusal(let identity): if link.answersCommand(identity) { goOnSaving() }
    case .aidingEntry: keepEntry()
    case .presence, .status, .entry, .nothing: break
    }
  }

  /// The message in flight was answered, or will not be: the poll follows, or is over.
  private mutating func goOnSaving() {
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
  private mutating func expireSaving() {
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
  private mutating func beginRestoring() {
    aiding.next = 0
    aiding.failures = 0
    sendAiding(.acknowledgeAiding)
  }

  private mutating func hearRestoring(_ meaning: Meaning) {
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
  private mutating func goOnRestoring() {
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

  private mutating func expireRestoring() {
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

// Emptying the receiver's buffer: retrieve, count the entries, retrieve again, until it is empty.

extension UBloxDriver {
  /// How many entries are still to come after the one that is being handled, as MON-BATCH told.
  var entriesBehind: Int {
    state == .draining || state == .leaving ? Int(drain.remaining ?? 0) : 0
  }

  mutating func beginDrain() {
    drain.rounds = 0
    drain.isAnswered = false
    retrieve()
  }

  private mutating func retrieve() {
    drain.rounds += 1
    drain.remaining = nil
    drain.end = .distantFuture
    link.send(.retrieveBatch)
  }

  private mutating func hearDrain(_ meaning: Meaning) {
    switch meaning {
    case .status(let status): hear(status)
    case .entry: countEntry()
    case .refusal(.logRETRIEVEBATCH):
      link.counters.refusals.count()
      // One that does not batch refuses: it has lost its configuration, or never had batched.
      if state == .draining && loseConfiguration() { return }
      finishDrain()
    case .answer, .refusal, .live, .presence, .aidingEntry, .nothing: break
    }
  }

  private mutating func hear(_ status: UBXBatchStatus) {
    drain.isAnswered = true
    link.counters.batchDrops.count(UInt32(status.dropsSinceLast))
    if lostItsBuffer(status) && loseConfiguration() { return }
    noteNext(status.nextMessageCount)
    guard status.fillLevel > 0 else { return finishEmpty() }
    facts.mayHold = true
    drain.remaining = status.fillLevel
    let whole = link.transmission(Int64(status.fillLevel) * UBloxDriver.batchEntryBytes)
    drain.end = now + whole * 2 + link.answerTime
    waitForEntry()
  }

  /// Whether a status is that of a receiver that has been started anew since the last entry.
  private func lostItsBuffer(_ status: UBXBatchStatus) -> Bool {
    guard state == .draining, let expected = drain.expected, expected != 0 else { return false }
    return status.fillLevel == 0 && status.dropsAll == 0 && status.nextMessageCount == 0
  }

  private mutating func countEntry() {
    drain.isAnswered = true
    link.sends = 0
    if let remaining = drain.remaining {
      if remaining <= 1 { return retrieveNext() }
      drain.remaining = remaining - 1
    }
    waitForEntry()
  }

  /// The entries that were promised have come; asks whether there are new ones.
  private mutating func retrieveNext() {
    // Fills faster than the line drains: what comes now is left for the next drain.
    guard drain.rounds < UBloxDriver.drainRounds else { return finishDrain() }
    retrieve()
  }

  private mutating func waitForEntry() { link.due = min(now + link.answerTime, drain.end) }

  /// Nothing came for too long.
  private mutating func repeatRetrieval() {
    guard link.sends < Patience.tries, drain.rounds < UBloxDriver.drainRounds else {
      let neverBatched = facts.batch == .unknown && !drain.isAnswered
      return neverBatched ? finishDrain() : lose()
    }
    link.counters.repeats.count()
    retrieve()
  }

  private mutating func finishEmpty() {
    let patience = Interval.milliseconds(Int64(setup.interval_ms) * 4 + 2_000)
    if state == .draining, drain.rounds == 1, now - drain.emptied > patience {
      // Nothing buffered for so long: no sky, or no batching. Writing the keys again costs little.
      facts.batch = .unknown
      facts.isDrained = true
    }
    finishDrain()
  }

  private mutating func finishDrain() {
    drain.emptied = now
    if state == .leaving {
      facts.isDrained = true
      if facts.batch == .unknown { facts.mayHold = false }
    }
    if isDrainWanted {
      isDrainWanted = false
      link.pending.drained = true
    }
    proceed()
  }

  /// Takes note of an entry, whenever it comes.
  mutating func note(_ entry: UBXBatchEntry) {
    link.counters.batchEntries.count()
    noteNext(entry.messageCount)
    drain.expected = entry.messageCount &+ 1
    if let utc = entry.solution.utc { drain.newest_utc = utc }
    drain.newest_arrival = now
  }

  /// What the receiver counted and we have not seen got lost on the line.
  private mutating func noteNext(_ count: UInt16) {
    if let expected = drain.expected {
      let missing = count &- expected
      if missing < 0x8000 { link.counters.batchEntriesMissing.count(UInt32(missing)) }
    }
    drain.expected = count
  }
}

// What happens, state by state.

extension UBloxDriver {
  mutating func takeDrain() {
    switch state {
    case .idle, .unpowered, .standby, .lost, .tracking: link.pending.drained = true
    case .batching:
      isDrainWanted = true
      proceed()
    case .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .configuring,
      .changingPower, .enabling, .muting, .changingWatermark, .draining, .unmuting, .leaving,
      .disabling, .fallingAsleep, .saving, .restoring:
      isDrainWanted = true
      answerDrainIfMoot()
    }
  }

  /// The watermark is reached: as if a drain were asked for.
  mutating func takeBatchPin() {
    switch state {
    case .batching:
      isDrainWanted = true
      proceed()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .configuring, .changingPower, .tracking, .enabling, .muting,
      .changingWatermark, .draining, .unmuting, .leaving, .disabling, .fallingAsleep, .standby,
      .lost, .saving, .restoring:
      break  // Either the buffer is being emptied, or the pin floats.
    }
  }

  mutating func expire() {
    switch state {
    case .idle, .batching, .standby: link.due = nil
    case .unpowered, .powering, .waking: proceed()
    case .pulsing: enter(.waking)
    case .probing, .probingDefault: repeatProbe()
    case .changingSpeed: enter(.probing)  // Its answer may have come at either speed.
    case .configuring, .changingPower, .enabling, .muting, .changingWatermark, .unmuting,
      .disabling:
      repeatOrLose()
    case .tracking:
      link.isHeard = false
      link.isConfigured = false
      proceed()
    case .draining, .leaving: repeatRetrieval()
    case .saving: expireSaving()
    case .restoring: expireRestoring()
    case .fallingAsleep: fellAsleep()
    case .lost: tryAgain()
    }
  }

  /// A drain that nothing can come of any more, or that has nothing to do, is answered.
  private mutating func answerDrainIfMoot() {
    guard isDrainWanted else { return }
    let isAsleep = link.power == .asleep || link.power == .cut
    guard facts.batch == .off || isAsleep else { return }
    isDrainWanted = false
    link.pending.drained = true
  }
}

// MARK: No answer

extension UBloxDriver {
  mutating func tryAnew(_ goal: ReceiverGoal) {
    facts.refusesBatching = false
    if goal == .powersave { facts.refusesPowerSave = false }
  }

  mutating func giveUpSleep() { lose() }

  private mutating func beginLost() {
    facts.refusesBatching = false
    facts.refusesPowerSave = false
    if isDrainWanted { link.pending.lost = true }
    isDrainWanted = false
    // What comes back may be another receiver, which cannot make anything of it.
    aiding.held = 0
    link.backOff()
  }

  mutating func loseSettings() {
    facts.isMuted = false
    facts.isDrained = false
    // What was to switch it on may have been obeyed, though no answer came.
    if facts.batch == .on || state == .enabling { facts.batch = .unknown }
  }

  /// Its backup memory may switch batching on again by itself, and its duty cycle.
  mutating func forget(power: KnownPower) {
    link.forget(power: power)
    let before = facts
    facts = Facts(batch: before.batch == .off ? .off : .unknown)
    facts.powerMode = before.powerMode
    // What it said of its keys was no matter of its memory.
    facts.refusesPowerSave = before.refusesPowerSave
  }
}

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
  private mutating func hearUnasked(_ meaning: Meaning, unless allowed: ReceiverOutput?) {
    guard case .live(let output) = meaning, output != allowed, !mayStraggle(now) else { return }
    loseConfiguration()
  }

  /// Whether what was made under the configuration before may still arrive.
  private func mayStraggle(_ arrival: Instant) -> Bool { arrival - obeysSince <= link.answerTime }

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

// What comes next, from what is known and what is wanted.

extension UBloxDriver {
  // Inline, for the whole machine would be copied for a call.
  @inline(__always) var wanted: ReceiverGoal? {
    switch link.goal {
    case .none: return nil
    case .off: return setup.hasSupplySwitch ? .off : .standby
    case .standby: return .standby
    case .tracking: return .tracking
    case .powersave: return mayAskForPower && setup.canSavePower ? .powersave : .tracking
    case .batching(let watermark):
      guard let batch = setup.batch, !facts.refusesBatching else { return .tracking }
      return .batching(watermark: min(max(watermark, 1), batch.capacity))
    }
  }

  /// Whether anything is said of its power: it has not refused the keys.
  private var mayAskForPower: Bool { !facts.refusesPowerSave }

  /// How it is to spend its power; nil where nothing can be said of that.
  ///
  /// Full power is said as well where the duty cycle is not used: the backup memory may hold one of an
  /// earlier run.
  private var wantedPower: UBloxPower? {
    guard mayAskForPower else { return nil }
    return wanted == .powersave ? .cyclic : .full
  }

  /// Whether it must be told to spend its power otherwise.
  private var changesPower: Bool { wantedPower.map { $0 != facts.powerMode } ?? false }

  func nextStateOfHeard(_ wanted: ReceiverGoal) -> State {
    switch wanted {
    case .off, .standby:
      guard facts.batch == .off else { return stateToLeave }
      return wanted == .off && isWorthSaving ? .saving : .fallingAsleep
    case .tracking, .powersave:
      guard link.isConfigured else { return .configuring }
      guard facts.batch == .off else { return stateToLeave }
      if facts.isMuted { return .unmuting }
      if isRestoringDue { return .restoring }
      return changesPower ? .changingPower : .tracking
    case .batching(let watermark): return stateToBatch(watermark)
    }
  }

  /// The next step out of batching: live output first, then the buffer, then off.
  private var stateToLeave: State {
    if !link.isConfigured { return .configuring }
    if facts.isMuted { return .unmuting }
    return facts.isDrained ? .disabling : .leaving
  }

  /// The next step into batching, or within it.
  private func stateToBatch(_ watermark: UInt16) -> State {
    if !link.isConfigured { return .configuring }
    // Live epochs count while its power changes: only once the buffer has none that are older.
    if changesPower { return facts.batch == .off ? .changingPower : stateToLeave }
    switch facts.batch {
    case .unknown:
      // What an earlier run, or the time before a loss, left in the buffer comes first.
      if !facts.isDrained { return .leaving }
      return .enabling
    case .off: return isRestoringDue ? .restoring : .enabling
    case .on:
      // An M8 is told all of batching in one message, which may begin with an empty buffer.
      if facts.watermark != watermark && setup.family == .ubloxM8 { return stateToLeave }
      if !facts.isMuted { return .muting }
      if facts.watermark != watermark { return .changingWatermark }
      return isDrainWanted ? .draining : .batching
    }
  }

  /// Sends what the state sends, and sets its deadline.
  mutating func begin(_ new: State) {
    switch new {
    case .idle: break
    case .unpowered: beginUnpowered()
    case .powering:
      noteSupply()
      link.switchOn()
    case .pulsing: link.pulse()
    case .waking: link.wake(saying: setup.hasWakePin ? .none : .wakeBytes)
    case .probing: link.probe(at: setup.lineSpeed)
    case .probingDefault: link.probe(at: setup.defaultLineSpeed)
    case .changingSpeed: link.changeSpeed()
    case .configuring: link.send(.configuration(wantedPower))
    case .changingPower: link.send(.power(facts.powerMode == .full ? .cyclic : .full))
    case .enabling:
      facts.mayHold = true
      link.send(.enableBatching(watermark: wantedWatermark))
    case .muting: link.send(.liveOutput(false))
    case .changingWatermark: link.send(.watermark(wantedWatermark))
    case .draining, .leaving: beginDrain()
    case .unmuting: link.send(.liveOutput(true))
    case .disabling: link.send(.disableBatching)
    case .saving: beginSaving()
    case .restoring: beginRestoring()
    case .fallingAsleep: link.sendToSleep()
    case .tracking:
      link.due = now + setup.silenceOfLoss
      link.settle()
    case .batching, .standby: link.settle()
    case .lost: beginLost()
    }
    if new.releasesHeld { releaseHeld() }
  }

  private var wantedWatermark: UInt16 {
    switch wanted {
    case .batching(let watermark): watermark
    case .none, .off, .standby, .tracking, .powersave: facts.watermark
    }
  }
}

extension UBloxDriver.State {
  /// Whether live epochs that were held are given back on entering: batching has been left, or goes
  /// on with an empty buffer, or ends here.
  fileprivate var releasesHeld: Bool {
    switch self {
    case .tracking, .changingPower, .enabling, .muting, .batching, .fallingAsleep, .standby,
      .unpowered, .saving, .restoring:
      true
    case .idle, .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed,
      .configuring, .changingWatermark, .draining, .unmuting, .leaving, .disabling, .lost:
      false
    }
  }
}

#if REACHED
  extension UBloxDriver {
    static let machine = Machine(
      "UBloxDriver",
      states: "idle unpowered powering pulsing waking probing probingDefault changingSpeed "
        + "configuring tracking enabling muting batching changingWatermark draining unmuting "
        + "leaving disabling fallingAsleep standby lost changingPower saving restoring",
      events: DriverEvent.columns)
  }
#endif

import GNSSProtocols
import LocationTypes

/// Driver for u-blox M8 and M10 receivers (such as MAX-M8Q and MAX-M10S).
///
/// Problem. The driver brings the receiver to the latest goal (off, standby, tracking, powersave, batching) from any
/// state in which it finds it: unknown baud rate, lost configuration, batching left on by an earlier run. When the goal
/// changes it must lose no epoch of the batch buffer, deliver none twice, and keep the order of time. The driver is
/// pure: time is an argument, and bytes, pins and baud rate are effects. M8 and M10 have the same state machine;
/// `UBloxCommand` encodes the commands of both. Shared parts are in ``CommandedDriver`` and ``ReceiverLink``. Message
/// sequences and their sources: `Docs/Reference/receivers.md`.
///
/// No state stores a target. Whenever no command is in flight, the next state is computed from the goal, the link
/// (power, answered, configured) and the known batching and power mode (``KnownState``).
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
///          │                           │                        │ MON-VER     │ no answer,
///          │ ACK, NAK or timeout       │ MON-VER                ▼             │ no wake-up left
///          └───────────────────────────┼───────────────── changingSpeed       ▼
///                                      ▼                                     lost
///                            a receiver that answers
/// ```
///
/// `probingDefault` is used only if the default baud rate differs from the line's. With a supply switch and goal off,
/// `powering`, `waking` and an unanswered probe lead to `fallingAsleep` directly.
///
/// States of a receiver that answers:
///
/// ```
///   configuring                                  (skipped for goal off and standby if batching is off)
///     │ ACK
///     ├─ goal tracking or powersave, batching off ─▶ restoring? ─▶ changingPower? ─▶ tracking
///     │
///     ├─ goal batching, batching off ─▶ changingPower? ─▶ restoring? ─▶ enabling ─▶ muting ─▶ batching
///     │                 batching unknown ─▶ leaving ───────────────────────┘                   ▲   │
///     │                                                                                        │   ▼
///     │                                                              draining or changingWatermark
///     │
///     └─ other goal, batching on or unknown ─▶ unmuting? ─▶ leaving ─▶ disabling ─▶ tracking or fallingAsleep
///
///   goal off or standby, batching off ─▶ saving? ─▶ fallingAsleep ─┬─▶ standby
///                                                                  └─▶ unpowered (goal off, or power cycle)
/// ```
///
/// A question mark means that the state is entered only if it is needed: `restoring` if stored assistance data is
/// usable after a power-on, `changingPower` if the duty cycle is to be switched, `unmuting` if live output is off,
/// `saving` if the navigation database is worth storing before a power-off. An M8 cannot change the watermark alone: it
/// leaves batching and enters it again. A power mode change leaves batching as well.
///
/// | state | leaves on | to |
/// |---|---|---|
/// | `batching` | drain request, batch pin | `draining` |
/// | `draining`, `leaving` | MON-BATCH with fill level 0, a rejection, or 64 retrievals | next state |
/// | `tracking` | 10 intervals (at least 10 s) of silence | `probing` |
/// | `tracking`, `batching`, `draining`, `saving`, `restoring` | live output that is disabled | `configuring` |
/// | `standby` | any message | `fallingAsleep`; `lost` after the fourth time |
/// | `fallingAsleep` | a message after the answer timeout, three times | `lost`, or `unpowered` with goal off |
/// | every state with a command in flight | no answer after three transmissions | `lost` or another wake-up |
/// | `saving`, `restoring` | no answer after two transmissions | next message, or next state |
/// | every state except `idle` and `unpowered` | line fault | `lost` |
/// | `lost` | back-off of 1, 2, 4 … 60 s (240 s if streaming) | wake-up; every fourth time a power cycle, if wired |
///
/// A new goal takes effect immediately in `unpowered`, `tracking`, `batching` and `standby`; it aborts `saving` and
/// `restoring`, and shortens `fallingAsleep`. The goal off also powers off a `lost` receiver that has a supply switch.
/// In all other states the goal waits for the command in flight (``DriverStage``).
///
/// Invariants:
/// 1. At most one command is in flight.
/// 2. Batching is disabled only after live output is on and the buffer was drained, so that no epoch is lost. Live
///    epochs that arrive in `unmuting`, `leaving` and `disabling` are held until then, at most eight.
/// 3. Each epoch is delivered once and in the order of UTC: the driver drops entries that are not newer than the last
///    delivered epoch, and live epochs that it has already received as entries.
/// 4. No epoch measured without our configuration is accepted (PWR-6), unless the receiver streams and answers no
///    command (PWR-12).
/// 5. Standby is assumed only after silence (PWR-4). The supply is switched off only after a standby request (PWR-5).
/// 6. A drain request is always answered, with `.drained` or `.lost`.
/// 7. Assistance data is optional (PWR-8): a failure to save or restore it never blocks the goal.
///
/// Ownership. Only ``enter(_:)`` writes ``state``, and only `recordEmitted(_:)` writes `lastEmitted_utc`. The engine
/// changes the driver through `handle`, `admit`, `nextReleasedEpoch` and `expectBufferedFixes` only.
///
/// Bounds. Three transmissions per command part, two wake-ups per attempt, three reconfigurations per minute, 64
/// retrievals per drain, 8 held epochs. Each event is O(1). No heap.
struct UBloxDriver: CommandedDriver {
  private(set) var state = State.idle
  var link: ReceiverLink<UBloxCommand>
  var facts: Facts
  var isDrainWanted = false
  var drain = Drain()
  var held = HeldEpochs()
  var aiding = Aiding()
  /// Time at which the driver last left a state that holds live epochs.
  var heldUntil = Instant.boot
  /// UTC of the last delivered fix; only `recordEmitted(_:)` writes it.
  var given_utc: UTCTime?
  /// Time of the last acknowledged change of the output configuration.
  var obeysSince = Instant.boot

  /// Creates a driver without known state of the receiver. It does nothing before the first goal.
  init(_ setup: ReceiverSetup) {
    link = ReceiverLink(setup)
    facts = Facts(batch: setup.batch == nil ? .off : .unknown)
  }

  /// Current status. O(1).
  var status: DriverStatus {
    DriverStatus(
      activity: activity, deadline: deadline, hasOutgoing: hasOutgoing, isSettled: isSettled,
      buffersFixes: buffersFixes, isDraining: isDraining, hasHeld: held.released > 0,
      entriesBehind: entriesBehind, isStreaming: link.isStreaming)
  }

  /// Whether the batch buffer may contain epochs that were not drained.
  var buffersFixes: Bool { facts.mayHold }

  /// Records that an earlier run may have left epochs in the batch buffer, until the buffer is drained once. A receiver
  /// that is off has lost its buffer.
  mutating func expectBufferedFixes() { facts.mayHold = facts.batch != .off && link.power != .cut }

  /// Whether a drain is requested, in progress, or not yet reported as done.
  var isDraining: Bool {
    isDrainWanted || link.pending.drained || state == .draining || state == .leaving
  }

  /// Current activity of the receiver, as far as known.
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

// MARK: Admission of epochs

/// Live epochs that are held until the older ones in the batch buffer are drained; at most the eight latest.
///
/// An epoch that is dropped because the queue is full is not lost: the receiver also stores it in its batch buffer.
struct HeldEpochs: Sendable {
  static let capacity = 8

  private var epochs = InlineArray<8, Epoch>(repeating: Epoch())
  private var arrivals = InlineArray<8, Instant>(repeating: .boot)
  private var first = 0
  private(set) var count = 0
  /// Number of epochs that may be delivered; these are the oldest.
  private(set) var released = 0

  /// Adds an epoch. Returns true if the queue was full and the oldest epoch was dropped.
  mutating func add(_ epoch: Epoch, at now: Instant) -> Bool {
    let isFull = count == HeldEpochs.capacity
    if isFull { drop() }
    let slot = (first + count) % HeldEpochs.capacity
    epochs[slot] = epoch
    arrivals[slot] = now
    count += 1
    return isFull
  }

  /// Releases all epochs that are newer than the newest batch entry, which has this UTC and arrival time. Drops the
  /// others and returns their number.
  mutating func release(after utc: UTCTime?, _ arrival: Instant?) -> UInt32 {
    var dropped: UInt32 = 0
    // The epochs are in the order of time, so duplicates are at the front.
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
  /// Whether live epochs are held in this state.
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
  /// Decides about an epoch from the decoder. Call it after `handle` of the epoch's message.
  ///
  /// The fix's `acquired` must be the arrival time of the epoch's first message.
  mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    link.now = now
    switch epoch.origin {
    case .batch: return admitEntry(epoch)
    case .live: return admitLive(epoch)
    }
  }

  /// Removes and returns the oldest released epoch; nil if none is.
  mutating func nextHeld() -> Epoch? {
    guard let epoch = held.next() else { return nil }
    give(epoch)
    return epoch
  }

  /// Records a delivered epoch. Every epoch that is accepted, or released after it was held, passes through here.
  ///
  /// Ignores epochs without a fix, whose time may be wrong before the first fix.
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

  /// Whether an entry is not newer than the last delivered epoch.
  ///
  /// Such an entry also arrived live, or is from an interrupted retrieval, or is too late to keep the order.
  private func wasGiven(_ entry: Epoch) -> Bool {
    guard let given_utc, let utc = entry.utc, utc <= given_utc else { return false }
    // An entry that is much older is no duplicate: the receiver's clock was set back.
    let span = Int64(setup.interval_ms) * 1_000 * (Int64(setup.batch?.capacity ?? 0) + 120)
    return (given_utc - utc).microseconds <= span
  }

  private mutating func admitLive(_ epoch: Epoch) -> Admission {
    // The epoch's first sentence may have arrived before the configuration was acknowledged.
    if let fix = epoch.fix, fix.acquired < link.configuredAt { return dropUnconfigured() }
    switch state {
    case .tracking, .changingPower, .enabling, .muting, .saving, .restoring:
      return acceptLive(epoch)
    case .batching, .changingWatermark, .draining:
      // An epoch that started before live output was switched off may be complete only now.
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

  /// Whether an epoch started while live epochs were held, was completed later, and was already received as an entry.
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

  /// Accepts an epoch of a receiver that answers no command, unless it is a duplicate (PWR-12).
  private mutating func acceptStreamed(_ epoch: Epoch) -> Admission {
    link.noteUnconfigured()
    // The same epoch may arrive in both protocols, or may have been received as a batch entry.
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

  /// Releases held epochs, once batching is disabled or continues with an empty buffer.
  mutating func releaseHeld() {
    guard held.released < held.count else { return }
    link.counters.duplicates.count(held.release(after: drain.newest_utc, drain.newest_arrival))
  }
}

// MARK: Assistance data

// The receiver's navigation database, stored by the driver's owner while the receiver is powered off (PWR-8).
//
// The driver reads it out before power-off and sends it back after power-on, one message at a time. It is optional: any
// failure ends the procedure, and the receiver then performs a cold start.

extension UBloxDriver {
  /// State of the stored assistance data, and progress of saving or restoring it.
  struct Aiding: Sendable {
    /// UTC at the zero of the boot clock, µs; nil while unknown.
    var bootUTC_us: Int64?
    /// Time at which the first stored entry was received.
    var savedAt = Instant.boot
    /// Time since which the receiver may have decoded data that is not stored: power-on, or the last read-out.
    var learnsSince = Instant.boot
    /// Deadline of the read-out.
    var end = Instant.distantFuture
    /// Number of stored entries.
    var held: UInt8 = 0
    /// Index of the next entry to store or to send.
    var next: UInt8 = 0
    /// Number of failed messages in this restore.
    var failures: UInt8 = 0
    /// Whether the receiver was powered on and the stored data was not yet sent back.
    var isDue = false
    /// Whether the receiver has delivered a fix since power-on or the last read-out.
    var hasFound = false
  }

  /// Minimum time to receive a complete ephemeris: three subframes of six seconds (IS-GPS-200, 20.3.2).
  private static let leastEphemeris = Interval.seconds(18)
  /// Number of failed messages that ends a restore.
  private static let aidingFailures: UInt8 = 4
  /// Maximum number of transmissions of an assistance message.
  private static let aidingTries: UInt8 = 2

  /// Whether the stored data exists and is younger than its lifetime.
  private var isKeptUseful: Bool {
    guard let aiding = setup.aiding, self.aiding.held > 0 else { return false }
    return now - self.aiding.savedAt < aiding.lifetime
  }

  /// Whether to read out the navigation database before power-off: the receiver has had a fix, and may have data that
  /// is not stored.
  private var isWorthSaving: Bool {
    guard setup.aiding != nil, link.isConfigured, aiding.hasFound else { return false }
    return !isKeptUseful || now - aiding.learnsSince >= UBloxDriver.leastEphemeris
  }

  /// Whether to restore the stored data: the receiver was powered off and has had no fix since, and UTC is known,
  /// without which the receiver cannot use the data.
  private var isRestoringDue: Bool {
    aiding.isDue && !aiding.hasFound && aiding.bootUTC_us != nil && isKeptUseful
  }

  /// Records a power-on, after which the receiver's navigation database is empty.
  private mutating func noteSupply() {
    aiding.isDue = true
    aiding.hasFound = false
    aiding.learnsSince = now
  }

  /// Sends a new assistance message, with a new count of transmissions.
  private mutating func sendAiding(_ command: UBloxCommand) {
    link.sends = 0
    link.send(command)
  }

  /// Maximum transmission time of this number of entries.
  private func transmission(ofEntries count: UInt8) -> Interval {
    link.transmission(Int64(count) * Int64(UBXAidingEntry.longestFrame))
  }
}

// MARK: Saving assistance data

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

  /// Continues after an answer or a timeout: sends the poll, or ends the read-out after the poll.
  private mutating func goOnSaving() {
    if link.lastSent == .pollAiding { return endSaving() }
    let capacity = setup.aiding?.capacity ?? 0
    aiding.end = now + transmission(ofEntries: capacity) * 2 + link.answerTime
    sendAiding(.pollAiding)
  }

  /// Stores a received entry, or ignores it if the storage is full.
  private mutating func keepEntry() {
    guard link.lastSent == .pollAiding, let capacity = setup.aiding?.capacity else { return }
    link.due = min(now + link.answerTime + transmission(ofEntries: 1), aiding.end)
    guard aiding.next < capacity else { return }
    if aiding.next == 0 { aiding.savedAt = now }
    link.effects.aiding = .keep(aiding.next)
    link.counters.aidingKept.count()
    aiding.next += 1
    aiding.held = aiding.next
  }

  /// Handles a timeout: repeats the message, or continues. If acknowledgements are not enabled, silence ends the
  /// read-out.
  private mutating func expireSaving() {
    if aiding.next == 0, link.sends < UBloxDriver.aidingTries { return link.repeatCommand() }
    goOnSaving()
  }

  /// Ends the read-out. Keeps the stored entries even if the read-out is incomplete: each entry is useful by itself.
  private mutating func endSaving() {
    aiding.hasFound = false
    aiding.learnsSince = now
    proceed()
  }
}

// MARK: Restoring assistance data

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
      // The receiver has restarted; restoring is not tried again.
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

  /// Sends the next message after the one in flight was accepted.
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
      preconditionFailure("no command of a restore")
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

  /// Requests the owner to write the next stored entry to the receiver.
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

  /// Handles a failed message: sends the next one, unless too many have failed.
  private mutating func failAiding() {
    aiding.failures += 1
    guard aiding.failures < UBloxDriver.aidingFailures else { return endRestoring() }
    switch link.lastSent {
    case .aidingTime: giveEntry()
    case .aidingEntry:
      aiding.next += 1
      giveEntry()
    // Without acknowledgements, the driver cannot determine when to send the next message.
    case .acknowledgeAiding: endRestoring()
    case .none, .probe, .wakeBytes, .lineSpeed, .configuration, .power, .liveOutput,
      .enableBatching, .watermark, .retrieveBatch, .disableBatching, .standby, .pollAiding:
      preconditionFailure("no command of a restore")
    }
  }

  private mutating func endRestoring() {
    aiding.isDue = false
    proceed()
  }
}

// MARK: Draining

// A drain retrieves the batch buffer, counts the entries, and repeats the retrieval until the buffer is empty.

extension UBloxDriver {
  /// Number of entries still to arrive after the one being handled, according to MON-BATCH.
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
      // The receiver rejects a retrieval if batching is off: it has lost its configuration, or batching was never on.
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

  /// Whether a status shows that the receiver has restarted since the last entry.
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

  /// Sends another retrieval after all announced entries have arrived.
  private mutating func retrieveNext() {
    // The buffer fills faster than the line drains it: leave the remainder for the next drain.
    guard drain.rounds < UBloxDriver.drainRounds else { return finishDrain() }
    retrieve()
  }

  private mutating func waitForEntry() { link.due = min(now + link.answerTime, drain.end) }

  /// Handles a timeout of the retrieval: repeats it, ends the drain, or declares the receiver lost.
  private mutating func repeatRetrieval() {
    guard link.sends < Patience.tries, drain.rounds < UBloxDriver.drainRounds else {
      let neverBatched = facts.batch == .unknown && !drain.isAnswered
      return neverBatched ? finishDrain() : lose()
    }
    link.counters.repeats.count()
    retrieve()
  }

  private mutating func finishEmpty() {
    let emptyLimit = Interval.milliseconds(Int64(setup.interval_ms) * 4 + 2_000)
    if state == .draining, drain.rounds == 1, now - drain.emptied > emptyLimit {
      // An empty buffer after this time means no fixes, or that batching is off. Write the batching keys again.
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

  /// Records a batch entry, in any state.
  mutating func note(_ entry: UBXBatchEntry) {
    link.counters.batchEntries.count()
    noteNext(entry.messageCount)
    drain.expected = entry.messageCount &+ 1
    if let utc = entry.solution.utc { drain.newest_utc = utc }
    drain.newest_arrival = now
  }

  /// Counts the entries that the receiver has sent and the driver has not received, from the message counter.
  private mutating func noteNext(_ count: UInt16) {
    if let expected = drain.expected {
      let missing = count &- expected
      if missing < 0x8000 { link.counters.batchEntriesMissing.count(UInt32(missing)) }
    }
    drain.expected = count
  }
}

// MARK: Events

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

  /// Handles the watermark like a drain request.
  mutating func takeBatchPin() {
    switch state {
    case .batching:
      isDrainWanted = true
      proceed()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .configuring, .changingPower, .tracking, .enabling, .muting,
      .changingWatermark, .draining, .unmuting, .leaving, .disabling, .fallingAsleep, .standby,
      .lost, .saving, .restoring:
      break  // A drain is already in progress, or the pin floats.
    }
  }

  mutating func expire() {
    switch state {
    case .idle, .batching, .standby: link.due = nil
    case .unpowered, .powering, .waking: proceed()
    case .pulsing: enter(.waking)
    case .probing, .probingDefault: repeatProbe()
    case .changingSpeed: enter(.probing)  // The answer may have been sent at either baud rate.
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

  /// Answers a pending drain request if batching is off, or if the receiver is asleep or off.
  private mutating func answerDrainIfMoot() {
    guard isDrainWanted else { return }
    let isAsleep = link.power == .asleep || link.power == .cut
    guard facts.batch == .off || isAsleep else { return }
    isDrainWanted = false
    link.pending.drained = true
  }
}

// MARK: Loss and invalidation

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
    // The receiver may be replaced by another one, for which the stored data is invalid.
    aiding.held = 0
    link.backOff()
  }

  mutating func loseSettings() {
    facts.isMuted = false
    facts.isDrained = false
    // The receiver may have executed the command to enable batching although no answer arrived.
    if facts.batch == .on || state == .enabling { facts.batch = .unknown }
  }

  /// Batching becomes unknown unless it was off, because battery-backed RAM may restore it after a restart.
  mutating func forget(power: KnownPower) {
    link.forget(power: power)
    let before = facts
    facts = Facts(batch: before.batch == .off ? .off : .unknown)
    facts.powerMode = before.powerMode
    // A rejection of the power mode keys does not depend on the receiver's RAM.
    facts.refusesPowerSave = before.refusesPowerSave
  }
}

// MARK: Messages

extension UBloxDriver {
  /// Relevance of a message to this driver.
  enum Meaning: Equatable {
    /// A live epoch, or a part of one, in this protocol.
    case live(ReceiverOutput)
    /// Acknowledgement (ACK).
    case answer(UBXIdentity)
    /// Rejection (NAK).
    case refusal(UBXIdentity)
    /// MON-VER: the receiver answers.
    case presence
    /// MON-BATCH.
    case status(UBXBatchStatus)
    /// LOG-BATCH.
    case entry
    /// MGA-DBD.
    case aidingEntry
    /// Irrelevant.
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

  /// Detects a lost configuration: live output in a protocol that the configuration disables.
  private mutating func hearUnasked(_ meaning: Meaning, unless allowed: ReceiverOutput?) {
    guard case .live(let output) = meaning, output != allowed, !mayStraggle(now) else { return }
    loseConfiguration()
  }

  /// Whether output of the previous configuration may still be in transmission at this time.
  private func mayStraggle(_ arrival: Instant) -> Bool { arrival - obeysSince <= link.answerTime }

  private mutating func hearAnswer(_ meaning: Meaning) {
    switch meaning {
    case .answer(let identity): if link.answersCommand(identity) { completedPart() }
    case .refusal(let identity): if link.answersCommand(identity) { refused() }
    case .live, .presence, .status, .entry, .aidingEntry, .nothing: break
    }
  }

  /// Handles a message after the standby command. Output that was in transmission does not count; a rejection does.
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
      preconditionFailure("no command of this state can be acknowledged")
    }
    proceed()
  }

  private mutating func leftBatching() {
    facts.batch = .off
    facts.mayHold = false
  }

  /// Handles the rejection of the command in flight.
  private mutating func refused() {
    link.counters.refusals.count()
    switch state {
    case .enabling:
      facts.refusesBatching = true
      // The receiver keeps its batching mode, which may be unknown. It may also have executed an earlier
      // transmission of the command whose answer was lost.
      if link.sends > 1 || facts.batch != .off { facts.batch = .unknown } else { leftBatching() }
      proceed()
    case .disabling:
      // A receiver without batching rejects the command to disable it.
      leftBatching()
      proceed()
    case .changingSpeed: enter(.probing)
    case .configuring, .changingPower:
      // The receiver may not support the power mode keys: continue without them. A receiver that is in the duty cycle
      // supports them, so repeat the command first; it may have been replaced by another receiver.
      let mayCycle = facts.powerMode == .cyclic
      let canRepeat = mayCycle && (state == .changingPower || link.sends < Patience.tries)
      let isAboutPower = link.lastSent.isAboutPower(part: link.part, for: setup)
      guard isAboutPower, !canRepeat else { return repeatOrLose() }
      link.settleAnswers()
      facts.refusesPowerSave = true
      proceed()
    case .muting, .changingWatermark, .unmuting: repeatOrLose()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault, .tracking,
      .batching, .draining, .leaving, .fallingAsleep, .standby, .lost, .saving, .restoring:
      preconditionFailure("no command of this state can be rejected")
    }
  }

  /// Power mode in the last command; nil if it sets none.
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

  /// Watermark in the last command, which must set one.
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

// MARK: Next state

extension UBloxDriver {
  // Inlined, because a call would copy the whole driver.
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

  /// Whether the driver sets the power mode: the receiver has not rejected the keys.
  private var mayAskForPower: Bool { !facts.refusesPowerSave }

  /// Power mode to set; nil if the receiver does not support the keys.
  ///
  /// Full power is set explicitly even if the duty cycle is not used, because battery-backed RAM may contain the duty
  /// cycle of an earlier run.
  private var wantedPower: UBloxPower? {
    guard mayAskForPower else { return nil }
    return wanted == .powersave ? .cyclic : .full
  }

  /// Whether the receiver's power mode differs from the one to set.
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

  /// Next state on the way out of batching: live output on, drain, disable.
  private var stateToLeave: State {
    if !link.isConfigured { return .configuring }
    if facts.isMuted { return .unmuting }
    return facts.isDrained ? .disabling : .leaving
  }

  /// Next state on the way into batching, or within it.
  private func stateToBatch(_ watermark: UInt16) -> State {
    if !link.isConfigured { return .configuring }
    // Live epochs are accepted while the power mode changes, so the buffer must be drained first.
    if changesPower { return facts.batch == .off ? .changingPower : stateToLeave }
    switch facts.batch {
    case .unknown:
      // First drain the epochs from an earlier run or from before a loss.
      if !facts.isDrained { return .leaving }
      return .enabling
    case .off: return isRestoringDue ? .restoring : .enabling
    case .on:
      // An M8 has one message for all batching settings, which may clear the buffer.
      if facts.watermark != watermark && setup.family == .ubloxM8 { return stateToLeave }
      if !facts.isMuted { return .muting }
      if facts.watermark != watermark { return .changingWatermark }
      return isDrainWanted ? .draining : .batching
    }
  }

  /// Executes the entry actions of a state: sends its command and sets its deadline.
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
  /// Whether entering this state releases held live epochs: batching is disabled, ends here, or continues with an empty
  /// buffer.
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

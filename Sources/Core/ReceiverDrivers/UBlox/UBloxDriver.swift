import GNSSProtocols
import LocationTypes

/// Driver for u-blox M8 and M10 receivers (such as MAX-M8Q and MAX-M10S).
///
/// Problem. The driver brings the receiver to the latest goal (off, standby, tracking, powersave, batching) from any
/// state: unknown baud rate, lost configuration, batching left on by an earlier run. When the goal changes, the driver
/// must lose no epoch of the batch buffer, deliver none twice, and keep the order of time. The driver is
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
///          │ ACK, NAK or timeout       │ MON-VER, or            ▼             │ no wake-up left
///          └───────────────────────────┼───────────────── changingSpeed       ▼
///                                      ▼ values or NAK of CFG-VALGET         lost
///                            a receiver that answers
/// ```
///
/// `probing` polls an M10's configuration (CFG-VALGET) if the goal needs it. If the values are equal to those to write,
/// the receiver counts as configured, without a write. A receiver that rejects the poll is probed by MON-VER until the
/// next loss; one that ignores it, until it answers.
///
/// `probingDefault` is used only if the default baud rate differs from the line's. With a supply switch and goal off,
/// `powering`, `waking` and an unanswered probe lead to `fallingAsleep` directly.
///
/// States of a receiver that answers:
///
/// ```
///   configuring       (skipped if the poll has verified it; for goal off and standby, if batching is off)
///     │ ACK
///     ├─ goal tracking or powersave, batching off ─▶ restoring? ─▶ changingPower? ─▶ switchingSatellites? ─▶ tracking
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
/// A question mark means that the state is entered only if it is needed: `switchingSatellites` if satellites in view are
/// to be switched (with goal batching: off, as the first state), `restoring` if stored assistance data is
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
/// | `standby` | goal off before the standby command has timed out | `fallingAsleep`, without a command |
/// | `standby` | an hour without an observation of the receiver's silence | `fallingAsleep`, without a command |
/// | `fallingAsleep` | 0.5 s and the queued output, if the receiver is trusted | `standby` |
/// | `fallingAsleep` | a message after the answer timeout, three times | `lost`, or `unpowered` with goal off or before a power cycle |
/// | every state with a command in flight | no answer after three transmissions | `lost` or another wake-up |
/// | `saving`, `restoring` | no answer after two transmissions | next message, or next state |
/// | `tracking` | satellites in view watched, or no longer (``SatelliteWatch``) | `switchingSatellites` |
/// | `switchingSatellites` | answer, or none after two transmissions | next state |
/// | every state except `idle` and `unpowered` | line fault | `lost` |
/// | `lost` | back-off of 1, 2, 4 … 60 s (240 s if streaming) | wake-up; every fourth time a power cycle, if wired |
///
/// A new goal takes effect immediately in `unpowered`, `tracking`, `batching` and `standby`; it aborts `saving`,
/// `restoring` and `switchingSatellites`, and shortens `fallingAsleep`, except before a
/// power cycle. The goal off also powers off a `lost` receiver that has a supply switch.
/// In all other states the goal waits for the command in flight (``DriverStage``).
///
/// Invariants:
/// 1. At most one command is in flight.
/// 2. Batching is disabled only after live output is on and the buffer was drained, so that no epoch is lost. Live
///    epochs that arrive in `unmuting`, `leaving` and `disabling` are held until then, at most eight.
/// 3. Each epoch is delivered once and in the order of UTC: the driver drops entries that are not newer than the last
///    delivered epoch, and live epochs that it has already received as entries.
/// 4. No epoch measured before our configuration was verified or written is accepted (PWR-6), unless the receiver
///    streams and answers no command (PWR-12).
/// 5. Standby is assumed only after silence (PWR-4). The supply is switched off only after a standby request (PWR-5).
/// 6. A drain request is always answered, with `.drained` or `.lost`.
/// 7. Assistance data (PWR-8) and satellites in view are optional: their failure never blocks the goal.
///
/// Ownership. Only ``enter(_:)`` writes ``state``, and only `recordEmitted(_:)` writes `lastEmitted_utc`. The engine
/// changes the driver through `handle`, `admit`, `nextReleasedEpoch`, `expectBufferedFixes` and `setClock` only.
///
/// Bounds. Three transmissions per command part, two wake-ups per attempt, three reconfigurations per minute, 64
/// retrievals per drain, 8 held epochs. Each event is O(1). No heap.
struct UBloxDriver: CommandedDriver {
  private(set) var state = State.idle
  var link: ReceiverLink<UBloxCommand>
  private(set) var known: KnownState
  private(set) var isDrainRequested = false
  private(set) var drain = DrainProgress()
  private(set) var held = HeldEpochs()
  private(set) var aiding = Aiding()
  /// Time at which the driver last left a state that holds live epochs.
  private(set) var lastHeldAt = Instant.boot
  /// UTC of the last delivered fix; only `recordEmitted(_:)` writes it.
  private(set) var lastEmitted_utc: UTCTime?
  /// Time since which output may be disabled: the receiver acknowledged its configuration or the end of live output, or the
  /// configuration was read back.
  private(set) var outputChangedAt = Instant.boot

  /// Creates a driver without known state of the receiver. It does nothing before the first goal.
  init(_ setup: ReceiverSetup) {
    link = ReceiverLink(setup)
    known = KnownState(batch: setup.batch == nil ? .off : .unknown)
  }

  /// Current status. O(1).
  var status: DriverStatus {
    DriverStatus(
      activity: activity, deadline: deadline, hasOutgoing: hasOutgoing, isQuiescent: isQuiescent,
      mayBufferFixes: mayBufferFixes, isDraining: isDraining, hasReleasedEpoch: held.released > 0,
      remainingEntries: remainingEntries, isStreaming: link.isStreaming,
      sleepCheck: link.sleepCheck)
  }

  /// Whether the batch buffer may contain epochs that were not drained.
  var mayBufferFixes: Bool { known.mayBufferFixes }

  /// Records that an earlier run may have left epochs in the batch buffer, until the buffer is drained once. A receiver
  /// that is off has lost its buffer.
  mutating func expectBufferedFixes() {
    known.mayBufferFixes = known.batch != .off && link.receiver.power != .off
  }

  /// Whether a drain is requested, in progress, or not yet reported as done.
  var isDraining: Bool {
    isDrainRequested || link.pending.drained || state == .draining || state == .leaving
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
      .restoring, .switchingSatellites:
      known.powerMode == .cyclic ? .powersave : .running
    case .batching, .changingWatermark, .draining, .leaving: .batching
    case .lost: .lost
    }
  }

  mutating func enter(_ new: State) {
    let old = state
    state = new
    if old.holdsLiveEpochs { lastHeldAt = now }
    answerDrainIfObsolete()
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
    if isFull { removeFirst() }
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
      removeFirst()
      dropped += 1
    }
    released = count
    return dropped
  }

  private func isFirstNewer(than utc: UTCTime?, _ arrival: Instant?) -> Bool {
    if let utc, let epoch_utc = epochs[first].utc { return epoch_utc > utc }
    guard let arrival else { return true }
    return arrivals[first] > arrival
  }

  mutating func nextReleased() -> Epoch? {
    guard released > 0 else { return nil }
    let epoch = epochs[first]
    removeFirst()
    return epoch
  }

  private mutating func removeFirst() {
    first = (first + 1) % HeldEpochs.capacity
    count -= 1
    if released > 0 { released -= 1 }
  }
}

extension UBloxDriver.State {
  /// Whether live epochs are held in this state.
  fileprivate var holdsLiveEpochs: Bool {
    switch self {
    case .unmuting, .leaving, .disabling: true
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .configuring, .changingPower, .tracking, .enabling, .muting, .batching,
      .changingWatermark, .draining, .fallingAsleep, .standby, .lost, .saving, .restoring,
      .switchingSatellites:
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
  mutating func nextReleasedEpoch() -> Epoch? {
    while let epoch = held.nextReleased() {
      // A streamed epoch may have been accepted while this one was held (PWR-12), also long ago if the receiver was
      // lost in between. So an older time does not show that the receiver's clock was set back.
      if let lastEmitted_utc, let utc = epoch.utc, utc <= lastEmitted_utc {
        link.counters.duplicates.incrementSaturating()
        continue
      }
      recordEmitted(epoch)
      return epoch
    }
    return nil
  }

  /// Records a delivered epoch. Every epoch that is accepted, or released after it was held, passes through here.
  ///
  /// Ignores epochs without a fix, whose time may be wrong before the first fix.
  private mutating func recordEmitted(_ epoch: Epoch) {
    guard epoch.hasFix else { return }
    aiding.hasFix = true
    if let utc = epoch.utc { lastEmitted_utc = utc }
  }

  private mutating func admitEntry(_ epoch: Epoch) -> Admission {
    if wasEmitted(epoch) {
      link.counters.duplicates.incrementSaturating()
      return .drop
    }
    recordEmitted(epoch)
    return .accept
  }

  /// Whether an entry or a streamed epoch is not newer than the last delivered epoch.
  ///
  /// It was also delivered in another form, or is from an interrupted retrieval, or is too late to keep the order.
  private func wasEmitted(_ epoch: Epoch) -> Bool {
    guard let lastEmitted_utc, let utc = epoch.utc, utc <= lastEmitted_utc else { return false }
    // An epoch that is much older is no duplicate: the receiver's clock was set back.
    let span = Int64(setup.interval_ms) * 1_000 * (Int64(setup.batch?.capacity ?? 0) + 120)
    return (lastEmitted_utc - utc).microseconds <= span
  }

  private mutating func admitLive(_ epoch: Epoch) -> Admission {
    // The epoch's first sentence may have arrived before the configuration was acknowledged.
    if let acquired = epoch.acquired, acquired < link.receiver.configuredAt {
      return dropUnconfigured()
    }
    switch state {
    case .tracking, .changingPower, .enabling, .muting, .saving, .restoring,
      .switchingSatellites:
      return acceptLive(epoch)
    case .batching, .changingWatermark, .draining:
      // An epoch that started before live output was switched off may be complete only now.
      guard mayPredateOutputChange(epoch.acquired ?? now) else { return dropUnconfigured() }
      return acceptLive(epoch)
    case .unmuting, .leaving, .disabling:
      if held.add(epoch, at: now) { link.counters.duplicates.incrementSaturating() }
      return .hold
    case .fallingAsleep:
      return link.receiver.isConfigured ? acceptLive(epoch) : dropUnconfigured()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .configuring, .standby, .lost:
      return link.isStreaming ? acceptStreamed(epoch) : dropUnconfigured()
    }
  }

  /// Whether an epoch started while live epochs were held, was completed later, and was already received as an entry.
  private func isStale(_ epoch: Epoch) -> Bool {
    guard let acquired = epoch.acquired, acquired <= lastHeldAt else { return false }
    guard let utc = epoch.utc, let newest = drain.newest_utc else { return false }
    return utc <= newest
  }

  private mutating func acceptLive(_ epoch: Epoch) -> Admission {
    if isStale(epoch) {
      link.counters.duplicates.incrementSaturating()
      return .drop
    }
    recordEmitted(epoch)
    return .accept
  }

  /// Accepts an epoch of a receiver that answers no command, unless it is a duplicate (PWR-12).
  private mutating func acceptStreamed(_ epoch: Epoch) -> Admission {
    link.countUnconfigured()
    // The same epoch may arrive in both protocols, or may have been received as a batch entry.
    if wasEmitted(epoch) {
      link.counters.duplicates.incrementSaturating()
      return .drop
    }
    return acceptLive(epoch)
  }

  private mutating func dropUnconfigured() -> Admission {
    link.countUnconfigured()
    return .drop
  }

  /// Releases held epochs, once batching is disabled or continues with an empty buffer.
  mutating func releaseHeld() {
    guard held.released < held.count else { return }
    link.counters.duplicates.incrementSaturating(
      held.release(after: drain.newest_utc, drain.newestArrival))
  }
}

// MARK: Assistance data

// The receiver's navigation database, stored by the engine's caller while the receiver is powered off (PWR-8).
//
// The driver reads the database out before power-off and sends it back after power-on, one message at a time. Both are
// optional: any failure ends the procedure, and the receiver then performs a cold start.

extension UBloxDriver {
  /// State of the stored assistance data, and progress of saving or restoring it.
  struct Aiding: Sendable {
    /// UTC at the zero of the boot clock, µs; nil while unknown.
    var bootUTC_us: Int64?
    /// Time at which the first stored entry was received.
    var savedAt = Instant.boot
    /// Time since which the receiver may have decoded data that is not stored: power-on, or the last read-out.
    var unsavedSince = Instant.boot
    /// Deadline of the read-out.
    var deadline = Instant.distantFuture
    /// Number of stored entries.
    var storedCount: UInt8 = 0
    /// Index of the next entry to store or to send.
    var nextIndex: UInt8 = 0
    /// Number of failed messages in this restore.
    var failures: UInt8 = 0
    /// Whether the receiver was powered on and the stored data was not yet sent back.
    var isRestorePending = false
    /// Whether the receiver has delivered a fix since power-on or the last read-out.
    var hasFix = false
  }

  /// Sets UTC at the zero of the boot clock, µs.
  mutating func setClock(bootUTC_us: Int64) { aiding.bootUTC_us = bootUTC_us }

  /// Minimum time to receive a complete ephemeris: three subframes of six seconds (IS-GPS-200, 20.3.2).
  private static let minimumEphemerisTime = Interval.seconds(18)
  /// Number of failed messages that ends a restore.
  private static let maximumAidingFailures: UInt8 = 4
  /// Maximum number of transmissions of an assistance message.
  private static let maximumAidingSends: UInt8 = 2

  /// Whether the stored data exists and is younger than its lifetime.
  private var isStoredDataUsable: Bool {
    guard let aiding = setup.aiding, self.aiding.storedCount > 0 else { return false }
    return now - self.aiding.savedAt < aiding.lifetime
  }

  /// Whether to read out the navigation database before power-off: the receiver has had a fix, and may have data that
  /// is not stored.
  private var shouldSave: Bool {
    guard setup.aiding != nil, link.receiver.isConfigured, aiding.hasFix else { return false }
    return !isStoredDataUsable || now - aiding.unsavedSince >= UBloxDriver.minimumEphemerisTime
  }

  /// Whether to restore the stored data: the receiver was powered off and has had no fix since, and UTC is known,
  /// without which the receiver cannot use the data.
  private var shouldRestore: Bool {
    aiding.isRestorePending && !aiding.hasFix && aiding.bootUTC_us != nil && isStoredDataUsable
  }

  /// Records a power-on, after which the receiver's navigation database is empty.
  private mutating func resetAiding() {
    aiding.isRestorePending = true
    aiding.hasFix = false
    aiding.unsavedSince = now
  }

  /// Sends a new assistance message, with a new count of transmissions.
  private mutating func sendAiding(_ command: UBloxCommand) {
    link.exchange.resetSends()
    link.send(command)
  }

  /// Maximum transmission time of this number of entries.
  private func transmissionTime(ofEntries count: UInt8) -> Interval {
    link.transmissionTime(Int64(count) * Int64(UBXAidingEntry.longestFrame))
  }
}

// MARK: Saving assistance data

extension UBloxDriver {
  private mutating func beginSaving() {
    aiding.nextIndex = 0
    sendAiding(.enableAidingAcknowledgements)
  }

  private mutating func receiveWhileSaving(_ meaning: Meaning) {
    switch meaning {
    case .live: checkLiveOutput(meaning, allowed: setup.output)
    case .answer(let identity): if link.consumeAnswer(identity) { finishPart() }
    case .rejection(let identity): if link.consumeAnswer(identity) { continueSaving() }
    case .aidingEntry: storeEntry()
    case .satellites, .version, .configuration, .status, .entry, .nothing: break
    }
  }

  /// Continues after an answer or a timeout: sends the poll, or ends the read-out after the poll.
  private mutating func continueSaving() {
    if link.exchange.lastSent == .pollAiding { return endSaving() }
    let capacity = setup.aiding?.capacity ?? 0
    aiding.deadline = now + transmissionTime(ofEntries: capacity) * 2 + link.answerTimeout
    sendAiding(.pollAiding)
  }

  /// Stores a received entry, or ignores it if the storage is full.
  private mutating func storeEntry() {
    guard link.exchange.lastSent == .pollAiding, let capacity = setup.aiding?.capacity else {
      return
    }
    link.due = min(now + link.answerTimeout + transmissionTime(ofEntries: 1), aiding.deadline)
    guard aiding.nextIndex < capacity else { return }
    if aiding.nextIndex == 0 { aiding.savedAt = now }
    link.effects.aiding = .store(aiding.nextIndex)
    link.counters.aidingStored.incrementSaturating()
    aiding.nextIndex += 1
    aiding.storedCount = aiding.nextIndex
  }

  /// Handles a timeout: repeats the message, or continues. If acknowledgements are not enabled, silence ends the
  /// read-out.
  private mutating func handleSavingTimeout() {
    if aiding.nextIndex == 0, link.exchange.sends < UBloxDriver.maximumAidingSends {
      return link.repeatCommand()
    }
    continueSaving()
  }

  /// Ends the read-out. Keeps the stored entries even if the read-out is incomplete: each entry is useful by itself.
  private mutating func endSaving() {
    aiding.hasFix = false
    aiding.unsavedSince = now
    proceed()
  }
}

// MARK: Restoring assistance data

extension UBloxDriver {
  private mutating func beginRestoring() {
    aiding.nextIndex = 0
    aiding.failures = 0
    sendAiding(.enableAidingAcknowledgements)
  }

  private mutating func receiveWhileRestoring(_ meaning: Meaning) {
    switch meaning {
    case .live(let output):
      guard output != setup.output, !mayPredateOutputChange(now) else { return }
      // The receiver has restarted; restoring is not tried again.
      aiding.isRestorePending = false
      handleLostConfiguration()
    case .answer(let identity): if link.consumeAnswer(identity) { finishPart() }
    case .rejection(let identity):
      guard link.consumeAnswer(identity) else { return }
      link.closeExchange()
      handleFailedAiding()
    case .satellites, .version, .configuration, .status, .entry, .aidingEntry, .nothing: break
    }
  }

  /// Sends the next message after the one in flight was accepted, or has failed.
  private mutating func continueRestoring(isAccepted: Bool) {
    switch link.exchange.lastSent {
    // Without acknowledgements, the driver cannot determine when to send the next message.
    case .enableAidingAcknowledgements: if isAccepted { sendTime() } else { endRestoring() }
    case .aidingTime: sendNextEntry()
    case .aidingEntry:
      if isAccepted { link.counters.aidingRestored.incrementSaturating() }
      aiding.nextIndex += 1
      sendNextEntry()
    case .none, .probe, .pollConfiguration, .wakeBytes, .lineSpeed, .configuration, .powerMode,
      .liveOutput, .satellites, .enableBatching, .watermark, .retrieveBatch, .disableBatching,
      .standby, .pollAiding:
      preconditionFailure("no command of a restore")
    }
  }

  private mutating func sendTime() {
    guard let bootUTC_us = aiding.bootUTC_us else { return endRestoring() }
    sendAiding(.aidingTime(UTCTime(microseconds: bootUTC_us + now.microseconds)))
  }

  private mutating func sendNextEntry() {
    guard aiding.nextIndex < aiding.storedCount, !aiding.hasFix else { return endRestoring() }
    link.exchange.resetSends()
    sendEntry()
  }

  /// Requests the engine's caller to write the next stored entry to the receiver.
  private mutating func sendEntry() {
    link.send(.aidingEntry(aiding.nextIndex))
    link.exchange.clearCommand()
    link.effects.aiding = .send(aiding.nextIndex)
    link.due = link.due.map { $0 + transmissionTime(ofEntries: 1) }
  }

  private mutating func handleRestoringTimeout() {
    guard link.exchange.sends < UBloxDriver.maximumAidingSends else { return handleFailedAiding() }
    link.counters.repeats.incrementSaturating()
    if case .aidingEntry = link.exchange.lastSent {
      sendEntry()
    } else {
      link.send(link.exchange.lastSent)
    }
  }

  /// Handles a failed message: sends the next one, unless too many have failed.
  private mutating func handleFailedAiding() {
    aiding.failures += 1
    guard aiding.failures < UBloxDriver.maximumAidingFailures else { return endRestoring() }
    continueRestoring(isAccepted: false)
  }

  private mutating func endRestoring() {
    aiding.isRestorePending = false
    proceed()
  }
}

// MARK: Draining

// A drain retrieves the batch buffer, counts the entries, and repeats the retrieval until the buffer is empty.

extension UBloxDriver {
  /// Number of entries still to arrive after the one being handled, according to MON-BATCH.
  var remainingEntries: Int {
    state == .draining || state == .leaving ? Int(drain.remainingEntries ?? 0) : 0
  }

  mutating func beginDrain() {
    drain.retrievals = 0
    drain.isAnswered = false
    retrieve()
  }

  private mutating func retrieve() {
    drain.retrievals += 1
    drain.remainingEntries = nil
    drain.deadline = .distantFuture
    link.send(.retrieveBatch)
  }

  private mutating func receiveWhileDraining(_ meaning: Meaning) {
    switch meaning {
    case .status(let status): receive(status)
    case .entry: countEntry()
    case .rejection(.logRETRIEVEBATCH):
      link.counters.refusals.incrementSaturating()
      // The receiver rejects a retrieval if batching is off: it has lost its configuration, or batching was never on.
      if state == .draining && handleLostConfiguration() { return }
      finishDrain()
    case .answer, .rejection, .live, .satellites, .version, .configuration, .aidingEntry, .nothing:
      break
    }
  }

  private mutating func receive(_ status: UBXBatchStatus) {
    drain.isAnswered = true
    link.counters.batchDrops.incrementSaturating(UInt32(status.dropsSinceLast))
    if indicatesRestart(status) && handleLostConfiguration() { return }
    updateExpectedCount(status.nextMessageCount)
    guard status.fillLevel > 0 else { return finishEmpty() }
    known.mayBufferFixes = true
    drain.remainingEntries = status.fillLevel
    let duration = link.transmissionTime(Int64(status.fillLevel) * UBloxDriver.batchEntryBytes)
    drain.deadline = now + duration * 2 + link.answerTimeout
    waitForEntry()
  }

  /// Whether a status shows that the receiver has restarted since the last entry.
  private func indicatesRestart(_ status: UBXBatchStatus) -> Bool {
    guard state == .draining, let expected = drain.expectedCount, expected != 0 else {
      return false
    }
    return status.fillLevel == 0 && status.dropsAll == 0 && status.nextMessageCount == 0
  }

  private mutating func countEntry() {
    drain.isAnswered = true
    link.exchange.resetSends()
    if let remaining = drain.remainingEntries {
      if remaining <= 1 { return retrieveNext() }
      drain.remainingEntries = remaining - 1
    }
    waitForEntry()
  }

  /// Sends another retrieval after all announced entries have arrived.
  private mutating func retrieveNext() {
    // The buffer fills faster than the line drains it: leave the remainder for the next drain.
    guard drain.retrievals < UBloxDriver.maximumRetrievals else { return finishDrain() }
    retrieve()
  }

  private mutating func waitForEntry() { link.due = min(now + link.answerTimeout, drain.deadline) }

  /// Handles a timeout of the retrieval: repeats it, ends the drain, or declares the receiver lost.
  private mutating func repeatRetrieval() {
    guard link.exchange.sends < DriverTimeouts.maximumSends,
      drain.retrievals < UBloxDriver.maximumRetrievals
    else {
      let neverBatched = known.batch == .unknown && !drain.isAnswered
      return neverBatched ? finishDrain() : declareLost()
    }
    link.counters.repeats.incrementSaturating()
    retrieve()
  }

  private mutating func finishEmpty() {
    let emptyLimit = Interval.milliseconds(Int64(setup.interval_ms) * 4 + 2_000)
    if state == .draining, drain.retrievals == 1, now - drain.emptiedAt > emptyLimit {
      // An empty buffer after this time means no fixes, or that batching is off. Write the batching keys again.
      known.batch = .unknown
      known.isDrained = true
    }
    finishDrain()
  }

  private mutating func finishDrain() {
    drain.emptiedAt = now
    if state == .leaving {
      known.isDrained = true
      if known.batch == .unknown { known.mayBufferFixes = false }
    }
    if isDrainRequested {
      isDrainRequested = false
      link.pending.drained = true
    }
    proceed()
  }

  /// Records a batch entry, in any state.
  mutating func recordEntry(_ entry: UBXBatchEntry) {
    link.counters.batchEntries.incrementSaturating()
    updateExpectedCount(entry.messageCount)
    drain.expectedCount = entry.messageCount &+ 1
    if let utc = entry.solution.utc { drain.newest_utc = utc }
    drain.newestArrival = now
  }

  /// Counts the entries that the receiver has sent and the driver has not received, from the message counter.
  private mutating func updateExpectedCount(_ count: UInt16) {
    if let expected = drain.expectedCount {
      let missing = count &- expected
      if missing < 0x8000 { link.counters.batchEntriesMissing.incrementSaturating(UInt32(missing)) }
    }
    drain.expectedCount = count
  }
}

// MARK: Events

extension UBloxDriver {
  mutating func handleDrainRequest() {
    switch state {
    case .idle, .unpowered, .standby, .lost, .tracking: link.pending.drained = true
    case .batching:
      isDrainRequested = true
      proceed()
    case .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .configuring,
      .changingPower, .enabling, .muting, .changingWatermark, .draining, .unmuting, .leaving,
      .disabling, .fallingAsleep, .saving, .restoring, .switchingSatellites:
      isDrainRequested = true
      answerDrainIfObsolete()
    }
  }

  /// Handles the watermark like a drain request.
  mutating func handleBatchPin() {
    switch state {
    case .batching:
      isDrainRequested = true
      proceed()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .configuring, .changingPower, .tracking, .enabling, .muting,
      .changingWatermark, .draining, .unmuting, .leaving, .disabling, .fallingAsleep, .standby,
      .lost, .saving, .restoring, .switchingSatellites:
      break  // A drain is already in progress, or the pin floats.
    }
  }

  mutating func handleDeadline() {
    switch state {
    case .idle, .batching: link.due = nil
    case .standby: checkSleep()
    case .unpowered, .powering, .waking: proceed()
    case .pulsing: enter(.waking)
    case .probing, .probingDefault: handleProbeTimeout()
    case .changingSpeed: enter(.probing)  // The answer may have been sent at either baud rate.
    case .configuring, .changingPower, .enabling, .muting, .changingWatermark, .unmuting,
      .disabling:
      repeatOrDeclareLost()
    case .tracking:
      link.receiver.markSilent()
      proceed()
    case .draining, .leaving: repeatRetrieval()
    case .saving: handleSavingTimeout()
    case .restoring: handleRestoringTimeout()
    case .switchingSatellites: repeatSatelliteSwitch()
    case .fallingAsleep: confirmSleep()
    case .lost: retryLost()
    }
  }

  /// Answers a pending drain request if batching is off, or if the receiver is asleep or off.
  private mutating func answerDrainIfObsolete() {
    guard isDrainRequested else { return }
    let isAsleep = link.receiver.power == .asleep || link.receiver.power == .off
    guard known.batch == .off || isAsleep else { return }
    isDrainRequested = false
    link.pending.drained = true
  }
}

// MARK: Loss and invalidation

extension UBloxDriver {
  mutating func clearRejections(for goal: ReceiverMode) {
    known.isBatchingRejected = false
    if goal == .powersave { known.isPowerSaveRejected = false }
  }

  mutating func abandonSleep() { declareLost() }

  private mutating func beginLost() {
    known.isBatchingRejected = false
    known.isPowerSaveRejected = false
    known.poll = .assumed
    if isDrainRequested { link.pending.lost = true }
    isDrainRequested = false
    // The receiver may be replaced by another one, for which the stored data is invalid.
    aiding.storedCount = 0
    link.backOff()
  }

  mutating func invalidateSettings() {
    link.satellites.invalidate()
    known.isMuted = false
    known.isDrained = false
    // The receiver may have executed the command to enable batching although no answer arrived.
    if known.batch == .on || state == .enabling { known.batch = .unknown }
  }

  /// Batching becomes unknown unless it was off, because battery-backed RAM may restore it after a restart.
  mutating func invalidateVolatileState(power: KnownPower) {
    link.invalidateVolatileState(power: power)
    let before = known
    known = KnownState(batch: before.batch == .off ? .off : .unknown)
    known.powerMode = before.powerMode
    // Rejections of the power mode keys and of the poll do not depend on the receiver's RAM.
    known.isPowerSaveRejected = before.isPowerSaveRejected
    if before.poll == .rejected { known.poll = .rejected }
  }
}

// MARK: Messages

extension UBloxDriver {
  /// Relevance of a message to this driver.
  enum Meaning: Equatable {
    /// A live epoch, or a part of one, in this protocol.
    case live(ReceiverOutput)
    /// NAV-SAT or NAV-DOP.
    case satellites
    /// Acknowledgement (ACK).
    case answer(UBXIdentity)
    /// Rejection (NAK).
    case rejection(UBXIdentity)
    /// MON-VER: the receiver answers.
    case version
    /// CFG-VALGET.
    case configuration(UBXConfigurationValues)
    /// MON-BATCH.
    case status(UBXBatchStatus)
    /// LOG-BATCH.
    case entry
    /// MGA-DBD.
    case aidingEntry
    /// Irrelevant.
    case nothing
  }

  mutating func receive(_ message: GNSSMessage) {
    let meaning: Meaning
    switch message {
    case .rmc, .gga, .gsa, .gsv, .gst, .vtg, .zda, .gll, .gns, .gbs, .ubloxPosition:
      meaning = .live(.nmea)
    case .navPVT, .hnrPVT: meaning = .live(.ubx)
    case .navigation(.satellites), .navigation(.dilutions): meaning = .satellites
    case .acknowledged(let identity): meaning = .answer(identity)
    case .refused(let identity): meaning = .rejection(identity)
    case .configurationValues(let values): meaning = .configuration(values)
    case .receiverVersion: meaning = .version
    case .batchStatus(let status): meaning = .status(status)
    case .batchEntry(let entry):
      recordEntry(entry)
      meaning = .entry
    case .aidingEntry: meaning = .aidingEntry
    case .aidingAnswer(let answer):
      meaning = answer.isAccepted ? .answer(answer.subject) : .rejection(answer.subject)
    case .navigation, .garminErrors, .garminAltitude, .commandResult, .receiverNotice, .unknown,
      .malformed:
      meaning = .nothing
    }
    receive(meaning)
  }

  private mutating func receive(_ meaning: Meaning) {
    switch state {
    case .idle, .unpowered, .powering, .pulsing, .waking, .lost: break
    case .probing, .probingDefault: receiveWhileProbing(meaning)
    case .changingSpeed, .configuring, .changingPower, .enabling, .muting, .changingWatermark,
      .unmuting, .disabling:
      receiveAnswer(meaning)
    case .tracking:
      link.due = now + setup.lossSilence
      checkLiveOutput(meaning, allowed: setup.output)
      if case .satellites = meaning { checkSatellites() }
    case .batching: checkLiveOutput(meaning, allowed: nil)
    case .draining:
      checkLiveOutput(meaning, allowed: nil)
      if state == .draining { receiveWhileDraining(meaning) }
    case .leaving: receiveWhileDraining(meaning)
    case .saving: receiveWhileSaving(meaning)
    case .restoring: receiveWhileRestoring(meaning)
    case .switchingSatellites: receiveWhileSwitching(meaning)
    case .fallingAsleep: receiveWhileFallingAsleep(meaning)
    case .standby: handleUnexpectedWake()
    }
  }

  /// Handles a message while the receiver's answer is awaited.
  private mutating func receiveWhileProbing(_ meaning: Meaning) {
    switch meaning {
    case .version:
      if known.poll == .unanswered { known.poll = .assumed }
      handleProbeAnswer()
    case .configuration(let values): handlePolledValues(values)
    case .rejection(.cfgVALGET): handlePollRejection()
    case .answer, .rejection, .live, .satellites, .status, .entry, .aidingEntry, .nothing: break
    }
  }

  /// Handles the answer to the poll of the configuration: it is written if it differs.
  private mutating func handlePolledValues(_ values: UBXConfigurationValues) {
    guard case .pollConfiguration(let power) = link.exchange.lastSent, state == .probing else {
      return
    }
    let expected = UBloxCommand.configuration(power).items(for: setup)
    if values.layer == UBXPolledLayer.ram.rawValue, values.contains(expected) {
      recordConfiguration(power)
    }
    handleProbeAnswer()
  }

  private mutating func handlePollRejection() {
    guard case .pollConfiguration = link.exchange.lastSent, state == .probing else { return }
    link.counters.refusals.incrementSaturating()
    known.poll = .rejected
    handleProbeAnswer()
  }

  /// Records that the receiver has our configuration with this power mode: read back, or acknowledged.
  private mutating func recordConfiguration(_ power: UBloxPowerMode?) {
    link.receiver.markConfigured(at: now)
    known.isMuted = false
    known.powerMode = power ?? .full
    outputChangedAt = now
  }

  /// Repeats the probe. After the last transmission of a poll, MON-VER finds a receiver that ignores polls.
  private mutating func handleProbeTimeout() {
    if case .pollConfiguration = link.exchange.lastSent,
      link.exchange.sends >= DriverTimeouts.maximumSends
    {
      known.poll = .unanswered
    }
    repeatProbe()
  }

  /// Detects a lost configuration: live output in a protocol that the configuration disables.
  private mutating func checkLiveOutput(_ meaning: Meaning, allowed: ReceiverOutput?) {
    guard case .live(let output) = meaning, output != allowed, !mayPredateOutputChange(now) else {
      return
    }
    handleLostConfiguration()
  }

  /// Whether output of the previous configuration may still be in transmission at this time.
  private func mayPredateOutputChange(_ arrival: Instant) -> Bool {
    arrival - outputChangedAt <= link.answerTimeout
  }

  private mutating func receiveAnswer(_ meaning: Meaning) {
    switch meaning {
    case .answer(let identity): if link.consumeAnswer(identity) { finishPart() }
    case .rejection(let identity): if link.consumeAnswer(identity) { handleRejection() }
    case .live, .satellites, .version, .configuration, .status, .entry, .aidingEntry, .nothing:
      break
    }
  }

  /// Handles a message while the switch of the satellites in view is in flight.
  private mutating func receiveWhileSwitching(_ meaning: Meaning) {
    switch meaning {
    case .live: checkLiveOutput(meaning, allowed: setup.output)
    case .answer(let identity): if link.consumeAnswer(identity) { finishPart() }
    case .rejection(let identity): if link.consumeAnswer(identity) { handleSatelliteRejection() }
    case .satellites, .version, .configuration, .status, .entry, .aidingEntry, .nothing: break
    }
  }

  /// Switches satellites in view off that an earlier run left on.
  private mutating func checkSatellites() {
    guard setup.switchesSatellites,
      link.satellites.noteArrival(at: now, within: link.answerTimeout)
    else { return }
    proceed()
  }

  /// Handles a message after the standby command. Output that was in transmission does not count; a rejection does.
  private mutating func receiveWhileFallingAsleep(_ meaning: Meaning) {
    if now - link.exchange.sentAt > link.answerTimeout || meaning == .rejection(.rxmPMREQ) {
      handleFailedSleep()
    }
  }

  mutating func finishCommand() {
    switch state {
    case .changingSpeed: return enter(.probing)
    case .configuring: recordConfiguration(link.exchange.lastSent.powerMode)
    case .changingPower: known.powerMode = link.exchange.lastSent.powerMode ?? .full
    case .enabling:
      known.batch = .on
      known.isDrained = false
      known.watermark = commandedWatermark
      drain.expectedCount = nil
      drain.emptiedAt = now
    case .muting:
      known.isMuted = true
      outputChangedAt = now
    case .changingWatermark: known.watermark = commandedWatermark
    case .unmuting:
      known.isMuted = false
      known.isDrained = false
    case .disabling: markBatchingOff()
    case .saving: return continueSaving()
    case .restoring: return continueRestoring(isAccepted: true)
    case .switchingSatellites: finishSatelliteSwitch()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault, .tracking,
      .batching, .draining, .leaving, .fallingAsleep, .standby, .lost:
      preconditionFailure("no command of this state can be acknowledged")
    }
    proceed()
  }

  private mutating func finishSatelliteSwitch() {
    guard case .satellites(let rate) = link.exchange.lastSent else { return }
    link.satellites.finishSwitch(isOn: rate > 0, at: now)
  }

  private mutating func markBatchingOff() {
    known.batch = .off
    known.mayBufferFixes = false
  }

  /// Handles the rejection of the command in flight.
  private mutating func handleRejection() {
    link.counters.refusals.incrementSaturating()
    switch state {
    case .enabling:
      known.isBatchingRejected = true
      // The receiver keeps its batching mode, which may be unknown. It may also have executed an earlier
      // transmission of the command whose answer was lost.
      if link.exchange.sends > 1 || known.batch != .off {
        known.batch = .unknown
      } else {
        markBatchingOff()
      }
      proceed()
    case .disabling:
      // A receiver without batching rejects the command to disable it.
      markBatchingOff()
      proceed()
    case .changingSpeed: enter(.probing)
    case .configuring, .changingPower:
      // The receiver may not support the power mode keys: continue without them. A receiver that is in the duty cycle
      // supports them, so repeat the command first; it may have been replaced by another receiver.
      let mayCycle = known.powerMode == .cyclic
      let canRepeat =
        mayCycle && (state == .changingPower || link.exchange.sends < DriverTimeouts.maximumSends)
      let isAboutPower = link.exchange.lastSent.setsPowerMode(part: link.exchange.part, for: setup)
      guard isAboutPower, !canRepeat else { return repeatOrDeclareLost() }
      link.closeExchange()
      known.isPowerSaveRejected = true
      // The poll may have been rejected because of these keys.
      known.poll = .assumed
      proceed()
    case .muting, .changingWatermark, .unmuting: repeatOrDeclareLost()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault, .tracking,
      .batching, .draining, .leaving, .fallingAsleep, .standby, .lost, .saving, .restoring,
      .switchingSatellites:
      preconditionFailure("no command of this state can be rejected")
    }
  }

  /// Watermark in the last command, which must set one.
  private var commandedWatermark: UInt16 {
    switch link.exchange.lastSent {
    case .enableBatching(let watermark), .watermark(let watermark): watermark
    case .none, .probe, .pollConfiguration, .wakeBytes, .lineSpeed, .configuration, .powerMode,
      .liveOutput, .satellites, .retrieveBatch, .disableBatching, .standby,
      .enableAidingAcknowledgements, .pollAiding, .aidingTime, .aidingEntry:
      preconditionFailure("the last command had no watermark")
    }
  }
}

// MARK: Next state

extension UBloxDriver {
  var effectiveGoal: ReceiverMode? {
    switch link.goal {
    case .none: return nil
    case .off: return setup.hasSupplySwitch ? .off : .standby
    case .standby: return .standby
    case .tracking: return .tracking
    case .powersave:
      return !known.isPowerSaveRejected && setup.canSavePower ? .powersave : .tracking
    case .batching(let watermark):
      guard let batch = setup.batch, !known.isBatchingRejected else { return .tracking }
      return .batching(watermark: min(max(watermark, 1), batch.capacity))
    }
  }

  /// Power mode to set; nil if the receiver does not support the keys.
  ///
  /// Full power is set explicitly even if the duty cycle is not used, because battery-backed RAM may contain the duty
  /// cycle of an earlier run.
  private var targetPower: UBloxPowerMode? {
    if known.isPowerSaveRejected { return nil }
    return effectiveGoal == .powersave ? .cyclic : .full
  }

  /// Whether the receiver's power mode differs from the one to set.
  private var needsPowerChange: Bool { targetPower.map { $0 != known.powerMode } ?? false }

  func nextStateWhenResponsive(_ goal: ReceiverMode) -> State {
    switch goal {
    case .off, .standby:
      guard known.batch == .off else { return stateToLeave }
      return goal == .off && shouldSave ? .saving : .fallingAsleep
    case .tracking, .powersave:
      guard link.receiver.isConfigured else { return .configuring }
      guard known.batch == .off else { return stateToLeave }
      if known.isMuted { return .unmuting }
      if shouldRestore { return .restoring }
      if needsPowerChange { return .changingPower }
      return needsSatelliteSwitch(isTracking: true) ? .switchingSatellites : .tracking
    case .batching(let watermark): return stateToBatch(watermark)
    }
  }

  /// Next state on the way out of batching: live output on, drain, disable.
  private var stateToLeave: State {
    if !link.receiver.isConfigured { return .configuring }
    if known.isMuted { return .unmuting }
    return known.isDrained ? .disabling : .leaving
  }

  /// Next state on the way into batching, or within it.
  private func stateToBatch(_ watermark: UInt16) -> State {
    if !link.receiver.isConfigured { return .configuring }
    if known.batch == .off, needsSatelliteSwitch(isTracking: false) { return .switchingSatellites }
    // Live epochs are accepted while the power mode changes, so the buffer must be drained first.
    if needsPowerChange { return known.batch == .off ? .changingPower : stateToLeave }
    switch known.batch {
    case .unknown:
      // First drain the epochs from an earlier run or from before a loss.
      if !known.isDrained { return .leaving }
      return .enabling
    case .off: return shouldRestore ? .restoring : .enabling
    case .on:
      // An M8 has one message for all batching settings, which may clear the buffer.
      if known.watermark != watermark && setup.usesSeparateMessages { return stateToLeave }
      if !known.isMuted { return .muting }
      if known.watermark != watermark { return .changingWatermark }
      return isDrainRequested ? .draining : .batching
    }
  }

  /// Executes the entry actions of a state: sends its command and sets its deadline.
  mutating func begin(_ new: State) {
    switch new {
    case .idle: break
    case .unpowered: beginUnpowered()
    case .powering:
      resetAiding()
      link.powerOn()
    case .pulsing: link.pulse()
    case .waking: link.wake(sending: setup.hasWakePin ? .none : .wakeBytes)
    case .probing: link.probe(at: setup.lineSpeed, with: probe)
    case .probingDefault: link.probe(at: setup.defaultLineSpeed)
    case .changingSpeed: link.changeSpeed()
    case .configuring: link.send(.configuration(targetPower))
    case .changingPower: link.send(.powerMode(known.powerMode == .full ? .cyclic : .full))
    case .enabling:
      known.mayBufferFixes = true
      link.send(.enableBatching(watermark: targetWatermark))
    case .muting: link.send(.liveOutput(false))
    case .changingWatermark: link.send(.watermark(targetWatermark))
    case .draining, .leaving: beginDrain()
    case .unmuting: link.send(.liveOutput(true))
    case .disabling: link.send(.disableBatching)
    case .saving: beginSaving()
    case .restoring: beginRestoring()
    case .switchingSatellites:
      beginSatelliteSwitch(.satellites(every: wantsSatellites ? setup.satelliteRate : 0))
    case .fallingAsleep: link.beginSleepEntry()
    case .tracking:
      link.due = now + setup.lossSilence
      link.reachGoal()
    case .standby:
      link.due = link.sleepCheck
      link.reachGoal()
    case .batching: link.reachGoal()
    case .lost: beginLost()
    }
    if new.releasesHeldEpochs { releaseHeld() }
  }

  /// Query to a receiver whose state is unknown: the poll of the configuration if the goal needs it, else MON-VER.
  private var probe: UBloxCommand {
    guard !setup.usesSeparateMessages, known.poll == .assumed else { return .probe }
    switch effectiveGoal {
    case .none, .off, .standby: return .probe
    case .tracking, .powersave, .batching: return .pollConfiguration(targetPower)
    }
  }

  /// Whether the receiver should send satellites in view: they are watched, and the goal is to track.
  private var wantsSatellites: Bool {
    switch effectiveGoal {
    case .tracking, .powersave: link.satellites.isWatched
    case .none, .off, .standby, .batching: false
    }
  }

  private var targetWatermark: UInt16 {
    switch effectiveGoal {
    case .batching(let watermark): watermark
    case .none, .off, .standby, .tracking, .powersave: known.watermark
    }
  }
}

extension UBloxDriver.State {
  /// Whether entering this state releases held live epochs: batching is disabled, ends here, or continues with an empty
  /// buffer.
  fileprivate var releasesHeldEpochs: Bool {
    switch self {
    case .tracking, .changingPower, .enabling, .muting, .batching, .fallingAsleep, .standby,
      .unpowered, .saving, .restoring, .switchingSatellites:
      true
    case .idle, .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed,
      .configuring, .changingWatermark, .draining, .unmuting, .leaving, .disabling, .lost:
      false
    }
  }
}

#if REACHED
  extension UBloxDriver {
    static let machine = TransitionCoverage(
      "UBloxDriver",
      states: "idle unpowered powering pulsing waking probing probingDefault changingSpeed "
        + "configuring tracking enabling muting batching changingWatermark draining unmuting "
        + "leaving disabling fallingAsleep standby lost changingPower saving restoring switchingSatellites",
      events: DriverEvent.columns)
  }
#endif

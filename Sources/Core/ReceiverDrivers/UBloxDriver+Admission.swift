import GNSSProtocols
import LocationTypes

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
  var holdsLive: Bool {
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

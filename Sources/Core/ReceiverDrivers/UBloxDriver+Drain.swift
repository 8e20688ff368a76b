import GNSSProtocols
import LocationTypes

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

  mutating func hearDrain(_ meaning: Meaning) {
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
  mutating func repeatRetrieval() {
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

import DeferralCache
import LocationTypes

/// A period in which no fix was acquired for a client's updates, because the client was suspended and its queue was
/// full (BKG-5), or because the service was down (BKG-20). It is reported as a gap when the client runs again.
///
/// After a restart it is assumed to last from the ring's newest fix to the start. The fixes that are then drained from
/// the receiver's buffer shorten it:
///
///     awaited ── first fix, acquired more than `slack` after `from`: the ────→ drained
///        │       buffer has overwritten the fixes between them                    ↑
///        └─ first fix, acquired soon after `from` ─→ draining ── empty, ──────────┘
///                                                       receiver lost, or fix after `to`;
///                                                       each fix advances `from`
///
/// It is not reported before `drained`, and not at all if the remaining period is not longer than `slack`.
struct UnrecordedTime: Sendable {
  /// Progress of draining the receiver's buffer after a restart of the service.
  enum RestartDrain: Sendable {
    /// No fix has come out of the buffer.
    case awaited
    /// Fixes come out of the buffer that follow `from` without a gap.
    case draining
    /// No more fixes of this period are expected from the buffer.
    case drained
  }

  /// Sequence number before which the gap is reported: fixes with lower numbers were acquired earlier.
  var sequence: UInt64
  /// When acquisition stopped.
  var from: FixTime
  /// When acquisition restarted; nil while it has not.
  var to: FixTime?
  /// Whether it was reported to the process that is attached.
  var isReported = false
  /// Whether it belongs to an earlier process: the next one receives it when it starts updates or reads its backlog.
  var awaitsStart = false
  /// Progress of draining the receiver's buffer, which may still hold fixes of this period.
  var restartDrain = RestartDrain.drained
  /// Longest period that is not reported as a gap.
  var slack = Interval.zero

  /// Whether the receiver's buffer may hold fixes of this period.
  var isBuffered: Bool {
    switch restartDrain {
    case .awaited, .draining: true
    case .drained: false
    }
  }

  /// Whether one of its limits is still unknown.
  var isOpen: Bool { to == nil || isBuffered }

  /// Handles a fix from the receiver's buffer; it is the newest one in the ring, below `head`.
  mutating func accept(_ fix: Fix, head: UInt64) {
    if let to, fix.acquired >= to.acquired {
      restartDrain = .drained
      return
    }
    let time = FixTime(acquired: fix.acquired, utc: fix.utc)
    switch restartDrain {
    case .awaited where time.interval(since: from) > slack:
      to = time
      restartDrain = .drained
    case .awaited, .draining:
      from = time
      sequence = head
      restartDrain = .draining
    case .drained: break
    }
  }
}

extension Client {
  /// Whether fixes are acquired for the client's updates: always while it runs; while it is suspended until its queue
  /// is full, and as long as a deferral or a background session lasts (BKG-2, BKG-5).
  var isAcquiring: Bool {
    @inline(__always) get {
      execution != .suspended || !isQueueFull || use.keepsRunning || deferral.state != .idle
    }
  }

  /// Whether at least N fixes lie between the client's position and the head (RNG-1).
  @inline(__always) func hasReachedLimit(_ context: ClientContext) -> Bool {
    context.head - cursor.delivered >= UInt64(context.deferralLimit)
  }

  /// Whether no fix was delivered since updates started and, for a suspended client, none is in its queue.
  public func awaitsFirstFix(_ context: ClientContext) -> Bool {
    guard isUpdating, filterOrigin == nil else { return false }
    return execution != .suspended || cursor.delivered == context.head
  }

  /// Whether N fixes are queued for a suspended client (BKG-5). Excluded fixes do not count, but they occupy the ring
  /// as well, which has a capacity of at least 2 N (RNG-1).
  mutating func hasFullQueue(_ context: ClientContext) -> Bool {
    guard hasReachedLimit(context) else { return false }
    let limit = UInt64(context.deferralLimit)
    let all = context.head - cursor.delivered
    guard let excluded, excluded.upperBound > cursor.delivered, all < 2 * limit - 1 else {
      return true
    }
    return all - (excluded.upperBound - max(excluded.lowerBound, cursor.delivered)) >= limit
  }

  /// Updates whether the queue of a suspended client is full.
  mutating func updateQueue(_ context: ClientContext) {
    isQueueFull = execution == .suspended && isUpdating && hasFullQueue(context)
    if !isQueueFull { endUnrecorded(context) }
  }

  /// Begins a recording gap if the client's queue is full and nothing else keeps acquisition running.
  public mutating func beginUnrecorded(_ context: ClientContext) {
    guard isQueueFull, !isAcquiring else { return }
    if let period = unrecorded, !period.isReported {
      unrecorded?.to = nil
    } else {
      unrecorded = UnrecordedTime(sequence: context.head, from: context.time)
    }
  }

  /// Handles a fix with respect to the recording gap: a fix acquired before acquisition stopped, but delivered later by
  /// the receiver, lies before the gap.
  @inline(__always) mutating func noteRecorded(_ fix: Fix, _ context: ClientContext) {
    guard let period = unrecorded else { return }
    if period.isBuffered { return acceptFromRestartDrain(fix, context) }
    if fix.acquired <= period.from.acquired { unrecorded?.sequence = context.head }
  }

  private mutating func acceptFromRestartDrain(_ fix: Fix, _ context: ClientContext) {
    unrecorded?.accept(fix, head: context.head)
    if let period = unrecorded, !period.isBuffered { dropIfCovered() }
  }

  /// Ends the recording gap: fixes are acquired for the client again.
  public mutating func endUnrecorded(_ context: ClientContext) {
    guard let period = unrecorded, period.to == nil else { return }
    unrecorded?.to = context.time
  }

  /// Restores the recording gap at a start of the service (BKG-20).
  ///
  /// If the client's updates ran when the service ended, the time from the ring's newest fix until now is assumed to be
  /// unrecorded, unless the receiver does not batch and the queue was not full. The durable state contains neither what
  /// the receiver recorded nor whether the queue was full; a backlog of N fixes counts as a full queue. If the previous
  /// run assumed such a period and did not report it, it is restored.
  ///
  /// - Parameters:
  ///   - bookmark: The bookmark from which the client was restored.
  ///   - start: When the service started.
  ///   - recorder: State of the receiver's buffer while the service was down; `.none` if the client's updates did not
  ///     run.
  ///   - slack: Two fix intervals: a shorter period is not a gap.
  ///   - limit: Deferral limit N, fixes.
  public mutating func resumeRecording(
    from bookmark: ClientBookmark, at start: Instant, recorder: DowntimeRecording, slack: Interval,
    limit: Int, in ring: borrowing FixRing
  ) {
    let wasFull = cursor.backlog(in: ring) >= UInt64(limit)
    let isAssumed = bookmark.isOpenEnded && (wasFull || recorder != .none)
    let gapStart = bookmark.gapAfter.map { ring.resumeSequence(after: $0) }
    guard isAssumed || gapStart != nil else { return }
    unrecorded = UnrecordedTime(since: gapStart ?? ring.head, until: start, slack: slack, in: ring)
    // The first fix after the gap shows when it ended, unless another gap follows: both are one gap (BKG-5).
    if !isAssumed, let gapStart, let next = ring.stored(at: gapStart) { unrecorded?.to = next.time }
    guard recorder == .holdsFixes else { return dropIfCovered() }
    undeliveredEnd = .max
    isStopping = true
    stoppedAt = start + slack
    if gapStart ?? ring.head < ring.head { return }
    unrecorded?.restartDrain = ring.head > 0 ? .awaited : .draining
  }

  /// Ends draining: the receiver's buffer is empty or cannot be read, and fixes that did not come out of it are
  /// missing.
  mutating func endRestartDrain() {
    guard let period = unrecorded, period.isBuffered else { return }
    unrecorded?.restartDrain = .drained
    dropIfCovered()
  }

  /// Discards a period that is too short for a gap.
  private mutating func dropIfCovered() {
    guard let period = unrecorded, let to = period.to else { return }
    if to.interval(since: period.from) <= period.slack { unrecorded = nil }
  }

  /// Name of the newest fix before an unreported gap that must survive the service; nil if none exists.
  func gapAfter(in ring: borrowing FixRing) -> FixName? {
    guard let period = unrecorded, !period.isReported, !period.isOpen else { return nil }
    return ring.bookmark(below: period.sequence)
  }

  /// Whether a recording gap must be reported before anything else is delivered.
  var mustReportUnrecorded: Bool {
    guard let period = unrecorded, !period.isReported, !period.awaitsStart, !period.isOpen else {
      return false
    }
    return cursor.delivered >= period.sequence
  }

  /// Returns the gap to report now; nil if none exists.
  mutating func takeUnrecorded() -> Gap? {
    guard mustReportUnrecorded else { return nil }
    defer { if isUpdating { unrecorded?.isReported = true } else { unrecorded = nil } }
    return unrecorded?.gap(at: cursor.delivered)
  }

  /// Sequence number from which fixes are delivered after the gap.
  var unrecordedSequence: UInt64 {
    guard let period = unrecorded, !period.isReported, !period.awaitsStart else { return .max }
    return period.sequence
  }
}

/// What a receiver may have done with fixes while the service was down; computed by `Engine`.
public enum DowntimeRecording: Sendable {
  /// It does not batch.
  case none
  /// It batches, and had no supply.
  case lostFixes
  /// It batches, and its buffer may hold fixes.
  case holdsFixes
}

extension UnrecordedTime {
  /// Creates the period from the fix before `sequence` until the service starts; it is reported to the next process.
  fileprivate init(
    since sequence: UInt64, until start: Instant, slack: Interval, in ring: borrowing FixRing
  ) {
    var from = FixTime(acquired: .boot, utc: nil)
    if sequence > 0, let newest = ring.stored(at: sequence - 1)?.fix {
      // A fix acquired before the board restarted is on another boot clock; its UTC remains valid.
      from = FixTime(acquired: newest.acquired <= start ? newest.acquired : .boot, utc: newest.utc)
    }
    self.init(
      sequence: sequence, from: from, to: FixTime(acquired: start, utc: nil), awaitsStart: true,
      slack: slack)
  }

  /// The period as a gap. The number of missing fixes is unknown, because they were never acquired.
  func gap(at sequence: UInt64) -> Gap {
    var gap = Gap(unsyncedBefore: sequence, after: from)
    gap.to = to
    return gap
  }
}

extension FixTime {
  /// Time between both; in UTC if both have it, because the boot clocks may differ.
  fileprivate func interval(since other: FixTime) -> Interval {
    if let utc, let before = other.utc { return utc - before }
    return acquired - other.acquired
  }
}

extension ClientContext {
  /// The step's time, with UTC if the newest fix has a certain UTC.
  var time: FixTime {
    guard let fix = newest?.fix, let utc = fix.utc, !fix.isDateUncertain else {
      return FixTime(acquired: now, utc: nil)
    }
    return FixTime(acquired: now, utc: utc + (now - fix.acquired))
  }
}

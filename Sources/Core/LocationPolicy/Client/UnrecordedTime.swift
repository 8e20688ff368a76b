import DeferralCache
import LocationTypes

/// A time in which no fix was acquired for a client's updates, because it was suspended and its queue was
/// full (BKG-5), or because the service was down (BKG-20). Reported as a gap when the client runs again.
///
/// After a restart it is assumed from the ring's newest fix to the start. While the receiver's buffer is
/// drained, the fixes that come out of it reduce it:
///
///     awaited ── first fix, made long after `from`: the buffer overwrote those between ──→ drained
///        │                                                                                   ↑
///        └─ first fix, made right after `from` ─→ draining ── empty, or receiver lost ───────┘
///                                                 each fix advances `from`
///
/// It is not reported before `drained`, and not at all if no more than `slack` is left of it.
struct UnrecordedTime: Sendable {
  /// How far the receiver's buffer was drained after a restart of the service.
  enum OldBuffer: Sendable {
    /// No fix has come out of it.
    case awaited
    /// Fixes come out of it without a hole behind `from`.
    case draining
    /// Nothing more of this time is expected from it.
    case drained
  }

  /// Fixes below this sequence number were made before; the gap is reported behind them.
  var place: UInt64
  /// When acquisition stopped.
  var from: FixTime
  /// When it began again; nil while it has not.
  var to: FixTime?
  /// It was reported to the process that is there.
  var isReported = false
  /// It belongs to a process that is gone: the next one is told it when it starts updates, or reads its backlog.
  var awaitsStart = false
  /// What the receiver's buffer may still hold of it.
  var oldBuffer = OldBuffer.drained
  /// A shorter time is no gap.
  var slack = Interval.zero

  /// The receiver's buffer may hold fixes of it.
  var isBuffered: Bool {
    switch oldBuffer {
    case .awaited, .draining: true
    case .drained: false
    }
  }

  /// Its limits are not known yet.
  var isOpen: Bool { to == nil || isBuffered }

  /// A fix came out of the receiver's buffer; it is the newest in the ring, below `head`.
  mutating func take(_ fix: Fix, head: UInt64) {
    if let to, fix.acquired >= to.acquired {
      oldBuffer = .drained
      return
    }
    let time = FixTime(acquired: fix.acquired, utc: fix.utc)
    switch oldBuffer {
    case .awaited where time.interval(since: from) > slack:
      to = time
      oldBuffer = .drained
    case .awaited, .draining:
      from = time
      place = head
      oldBuffer = .draining
    case .drained: break
    }
  }
}

extension Client {
  /// Whether fixes are acquired for its updates: always while it runs; while it is suspended until its
  /// queue is full, and as long as a deferral or a background session lasts (BKG-2, BKG-5).
  var isAcquiring: Bool {
    @inline(__always) mutating get {
      execution != .suspended || !isQueueFull || use.keepsRunning || deferral.state != .idle
    }
  }

  /// Whether N fixes lie between its place and the head (RNG-1).
  @inline(__always) func holdsLimit(_ context: ClientContext) -> Bool {
    context.head - cursor.delivered >= UInt64(context.deferralLimit)
  }

  /// Whether it was told no fix since it started updates, and none waits until it is no longer suspended.
  public mutating func awaitsFirstFix(_ context: ClientContext) -> Bool {
    guard isUpdating, filterFrom == nil else { return false }
    return execution != .suspended || cursor.delivered == context.head
  }

  /// Whether N fixes wait for a suspended client (BKG-5). Those that are passed over are none of them, but the
  /// ring keeps them beside them, and has room for 2 N at least (RNG-1).
  mutating func hasFullQueue(_ context: ClientContext) -> Bool {
    guard holdsLimit(context) else { return false }
    let limit = UInt64(context.deferralLimit)
    let all = context.head - cursor.delivered
    guard let passed = notOwed, passed.upperBound > cursor.delivered, all < 2 * limit - 1 else {
      return true
    }
    return all - (passed.upperBound - max(passed.lowerBound, cursor.delivered)) >= limit
  }

  /// Notes whether the queue of a suspended client is full now.
  mutating func elapseQueue(_ context: ClientContext) {
    isQueueFull = execution == .suspended && isUpdating && hasFullQueue(context)
    if !isQueueFull { endUnrecorded(context) }
  }

  /// Fixes are not acquired for anybody while the client's queue is full and nothing keeps them coming.
  public mutating func noteUnrecorded(_ context: ClientContext) {
    guard isQueueFull, !isAcquiring else { return }
    if let known = unrecorded, !known.isReported {
      unrecorded?.to = nil
    } else {
      unrecorded = UnrecordedTime(place: context.head, from: context.time)
    }
  }

  /// A fix that was made before acquisition stopped, and handed over later by the receiver, lies before the
  /// gap.
  @inline(__always) mutating func noteRecorded(_ fix: Fix, _ context: ClientContext) {
    guard let known = unrecorded else { return }
    if known.isBuffered { return takeFromOldBuffer(fix, context) }
    if fix.acquired <= known.from.acquired { unrecorded?.place = context.head }
  }

  private mutating func takeFromOldBuffer(_ fix: Fix, _ context: ClientContext) {
    unrecorded?.take(fix, head: context.head)
    if let known = unrecorded, !known.isBuffered { dropIfCovered() }
  }

  /// Fixes are acquired for the client again.
  public mutating func endUnrecorded(_ context: ClientContext) {
    guard let known = unrecorded, known.to == nil else { return }
    unrecorded?.to = context.time
  }

  /// The service starts (BKG-20).
  ///
  /// If its updates ran when the service ended, the time from the ring's newest fix until now is assumed to be
  /// unrecorded, where the receiver may have recorded it or the queue may have been full. The durable state does not
  /// say either. If the run before assumed such a time and did not report it, it is restored.
  ///
  /// - Parameters:
  ///   - bookmark: What it was restored from.
  ///   - start: When the service starts.
  ///   - recorder: What the receiver may have done meanwhile; `.none` if its updates did not run.
  ///   - slack: Two fix intervals: a shorter time is no gap.
  ///   - limit: N.
  public mutating func resumeRecording(
    from bookmark: ClientBookmark, at start: Instant, recorder: OldRecorder, slack: Interval,
    limit: Int, in ring: borrowing FixRing
  ) {
    let wasFull = cursor.backlog(in: ring) >= UInt64(limit)
    let isAssumed = bookmark.owesAll && (wasFull || recorder != .none)
    let place = bookmark.gapAfter.map { ring.end(after: $0) }
    guard isAssumed || place != nil else { return }
    unrecorded = UnrecordedTime(since: place ?? ring.head, until: start, slack: slack, in: ring)
    // Fixes behind it say when it ended, unless there is another such time: both are one gap (BKG-5).
    if !isAssumed, let place, let next = ring.stored(at: place) { unrecorded?.to = next.time }
    guard recorder == .holdsFixes else { return dropIfCovered() }
    owedUntil = .max
    closesAtDrain = true
    closedAt = start + slack
    if place ?? ring.head < ring.head { return }
    unrecorded?.oldBuffer = ring.head > 0 ? .awaited : .draining
  }

  /// The receiver's buffer is empty, or cannot be read: what did not come out of it is missing.
  mutating func endOldBuffer() {
    guard let known = unrecorded, known.isBuffered else { return }
    unrecorded?.oldBuffer = .drained
    dropIfCovered()
  }

  /// Forgets a time that is too short for a gap.
  private mutating func dropIfCovered() {
    guard let known = unrecorded, let to = known.to else { return }
    if to.interval(since: known.from) <= known.slack { unrecorded = nil }
  }

  /// The newest fix before a gap that is to be reported, and is to outlive the service; nil if there is none.
  func gapAfter(in ring: borrowing FixRing) -> FixName? {
    guard let known = unrecorded, !known.isReported, !known.isOpen else { return nil }
    return ring.bookmark(below: known.place)
  }

  /// Whether such a time is to be reported before anything else is delivered.
  var mustReportUnrecorded: Bool {
    mutating get {
      guard let known = unrecorded, !known.isReported, !known.awaitsStart, !known.isOpen else {
        return false
      }
      return cursor.delivered >= known.place
    }
  }

  /// The gap to report now; nil if there is none.
  mutating func takeUnrecorded() -> Gap? {
    guard mustReportUnrecorded else { return nil }
    defer { if isUpdating { unrecorded?.isReported = true } else { unrecorded = nil } }
    return unrecorded?.gap(at: cursor.delivered)
  }

  /// Fixes from here on are delivered behind the gap.
  var unrecordedPlace: UInt64 {
    mutating get {
      guard let known = unrecorded, !known.isReported, !known.awaitsStart else { return .max }
      return known.place
    }
  }
}

/// What a receiver may have done with fixes while the service was down.
public enum OldRecorder: Sendable {
  /// It does not batch.
  case none
  /// It batches, and had no supply.
  case lostFixes
  /// It batches, and may hold them in its buffer.
  case holdsFixes
}

extension UnrecordedTime {
  /// The time from the fix before a place until the service starts; the next process is told.
  fileprivate init(
    since place: UInt64, until start: Instant, slack: Interval, in ring: borrowing FixRing
  ) {
    var from = FixTime(acquired: .boot, utc: nil)
    if place > 0, let newest = ring.stored(at: place - 1)?.fix {
      // Made before the board was started anew, it is on another clock; the date holds.
      from = FixTime(acquired: newest.acquired <= start ? newest.acquired : .boot, utc: newest.utc)
    }
    self.init(
      place: place, from: from, to: FixTime(acquired: start, utc: nil), awaitsStart: true,
      slack: slack)
  }

  /// How many fixes are missing is not known: they were never made.
  func gap(at sequence: UInt64) -> Gap {
    var gap = Gap(unsyncedBefore: sequence, after: from)
    gap.to = to
    return gap
  }
}

extension FixTime {
  /// How much later it is; in UTC where both are known, because the boot clocks may differ.
  fileprivate func interval(since other: FixTime) -> Interval {
    if let utc, let before = other.utc { return utc - before }
    return acquired - other.acquired
  }
}

extension ClientContext {
  /// Now, in UTC as well where the newest fix tells it.
  var time: FixTime {
    guard let fix = newest?.fix, let utc = fix.utc, !fix.isDateUncertain else {
      return FixTime(acquired: now, utc: nil)
    }
    return FixTime(acquired: now, utc: utc + (now - fix.acquired))
  }
}

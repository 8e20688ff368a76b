import DeferralCache
import LocationTypes

/// A time in which no fix was acquired for a client's updates, because it was suspended and its queue was
/// full (BKG-5). Reported as a gap when the client runs again.
struct UnrecordedTime: Sendable {
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
    guard let from = unrecorded?.from.acquired, fix.acquired <= from else { return }
    unrecorded?.place = context.head
  }

  /// Fixes are acquired for the client again.
  public mutating func endUnrecorded(_ context: ClientContext) {
    guard let known = unrecorded, known.to == nil else { return }
    unrecorded?.to = context.time
  }

  /// The service starts, and its updates ran when the service ended.
  ///
  /// What the durable state does not have is inferred: with N fixes waiting, the queue may have been full, and nothing
  /// recorded since the newest fix.
  ///
  /// - Parameters:
  ///   - start: When the service starts.
  ///   - last: When the last fix was made at the latest that the receiver may have recorded for it; nil if the receiver
  ///     holds none.
  ///   - isBufferLost: The receiver batches, and has had no supply while the service was down.
  ///   - limit: N.
  public mutating func resumeRecording(
    at start: Instant, until last: Instant?, isBufferLost: Bool, limit: Int,
    in ring: borrowing FixRing
  ) {
    if let last {
      owedUntil = .max
      closesAtDrain = true
      closedAt = last
      awaitsOldBuffer = true
    }
    let wasFull = cursor.backlog(in: ring) >= UInt64(limit)
    if wasFull || isBufferLost { noteLostTime(since: ring, at: start) }
  }

  /// Notes that fixes may be missing from the newest one on until now: the next process is told.
  private mutating func noteLostTime(since ring: borrowing FixRing, at now: Instant) {
    var from = FixTime(acquired: .boot, utc: nil)
    if ring.head > 0, let newest = ring.stored(at: ring.head - 1)?.fix {
      // Made before the board was started anew, it is on another clock; the date holds.
      from = FixTime(acquired: newest.acquired <= now ? newest.acquired : .boot, utc: newest.utc)
    }
    unrecorded = UnrecordedTime(
      place: ring.head, from: from, to: FixTime(acquired: now, utc: nil), awaitsStart: true)
  }

  /// The receiver does not answer: what an earlier run of the service left in its buffer is not to be had.
  mutating func loseOldBuffer(_ context: ClientContext) {
    guard awaitsOldBuffer else { return }
    awaitsOldBuffer = false
    guard unrecorded == nil else { return }
    let from = context.newest.map { FixTime(acquired: $0.fix.acquired, utc: $0.fix.utc) }
    unrecorded = UnrecordedTime(
      place: context.head, from: from ?? FixTime(acquired: .boot, utc: nil), to: context.time,
      awaitsStart: !isUpdating)
  }

  /// Whether such a time is to be reported before anything else is delivered.
  var mustReportUnrecorded: Bool {
    mutating get {
      guard let known = unrecorded, !known.isReported, !known.awaitsStart, known.to != nil else {
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

extension UnrecordedTime {
  /// How many fixes are missing is not known: they were never made.
  func gap(at sequence: UInt64) -> Gap {
    var gap = Gap(unsyncedBefore: sequence, after: from)
    gap.to = to
    return gap
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

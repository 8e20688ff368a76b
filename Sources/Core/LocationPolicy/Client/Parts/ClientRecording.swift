import DeferralCache
import LocationTypes

/// Whether fixes are recorded for a client: its queue, and the period without recording that is reported as a gap. A
/// part of ``Client``.
///
/// # Problem
///
/// A suspended client with N queued fixes is no reason to acquire more, and during a restart of the service nothing is
/// recorded. The client must receive the missing time as a gap: once, before newer fixes, and also if its process ends
/// before it has handled the gap.
///
/// # States
///
/// Of ``period``; how a restart restores it is described at ``UnrecordedTime``:
///
///              begin             end               takeGap while updates run
///     none ─────────────→ open ────────→ closed ────────────────────────────→ reported
///      ↑                   ↑ ← begin ───── │  ↑                                  │   │
///      │                   └───────────────│──│────────────── begin (extends it) ┘   │
///      │                          detach   ↓  │ startUpdates                         │
///      │                                  waiting ←───────────────────────── detach ─┤
///      └── drop; takeGap without updates; of a reported one: acknowledge, stop ──────┘
///
/// Not drawn: `markReported` leads from open, closed and waiting to reported.
///
/// A waiting period belongs to an earlier process: the next one receives it when it starts updates or reads its
/// backlog.
///
/// # Invariants
///
/// - At most one period is stored. One that begins while the last is not acknowledged extends it (RNG-4): both become
///   one gap, which is reported again.
/// - It is reported when the client's position has reached ``UnrecordedTime/position``, and only if both limits are
///   known.
///
/// Only the functions of this file write the properties; ``Client`` calls them. All are O(1).
struct ClientRecording: Sendable {
  /// Period in which fixes were not recorded because the queue was full or the service was down; nil if no such period
  /// is to be reported.
  private(set) var period: UnrecordedTime?
  /// Whether the client is suspended and N fixes are queued, so that none is acquired for its updates (BKG-5).
  private(set) var isQueueFull = false

  // MARK: Status

  /// Whether a gap must be reported before anything else is delivered; `delivered` is the client's position.
  func mustReport(at delivered: UInt64) -> Bool {
    guard let period, !period.isReported, !period.awaitsStart, !period.isOpen else { return false }
    return delivered >= period.position
  }

  /// Sequence number from which fixes are delivered after the gap.
  var sequence: UInt64 {
    guard let period, !period.isReported, !period.awaitsStart else { return .max }
    return period.position
  }

  /// Name of the newest fix before a gap that must survive the service: no fix after it is acknowledged; nil if none
  /// exists. An open period need not survive, unless it extends an earlier one: it is assumed at the next start.
  func gapAfter(in ring: borrowing FixRing) -> FixName? {
    guard let period, !period.isOpen || period.coversFixes else { return nil }
    return ring.bookmark(below: period.sequence)
  }

  /// Whether fixes lie within that gap.
  var coversFixes: Bool { period?.coversFixes ?? false }

  /// The gap of overwritten fixes and the unreported period, combined into one gap.
  func gap(with overwritten: Gap?) -> Gap? {
    guard let period, !period.isReported, !period.isBuffered else { return overwritten }
    var gap = overwritten ?? period.gap(at: period.sequence)
    gap.to = period.to ?? gap.to
    gap.mayBeMore = true
    return gap
  }

  // MARK: Events

  /// Updates whether the queue of a suspended client is full.
  mutating func setQueueFull(_ isFull: Bool, _ context: ClientContext) {
    isQueueFull = isFull
    if !isFull { end(context) }
  }

  /// Acquisition for the client stops.
  mutating func begin(_ context: ClientContext) {
    if period.isNil {
      period = UnrecordedTime(sequence: context.head, from: context.time)
    } else {
      period?.reopen(at: context.head, context.time)
    }
  }

  /// Fixes are acquired for the client again.
  mutating func end(_ context: ClientContext) {
    guard let period, period.to == nil else { return }
    self.period?.close(at: context.time)
  }

  /// Handles a fix: one acquired before acquisition stopped, but delivered later by the receiver, lies before the gap.
  @inline(__always) mutating func accept(_ fix: Fix, _ context: ClientContext) {
    guard let period else { return }
    if period.isBuffered { return acceptFromRestartDrain(fix, context) }
    self.period?.accept(fix, before: context.head)
  }

  private mutating func acceptFromRestartDrain(_ fix: Fix, _ context: ClientContext) {
    period?.accept(fix, head: context.head)
    if let period, !period.isBuffered { dropIfCovered() }
  }

  /// Ends draining after a restart: the receiver's buffer is empty or cannot be read, and fixes that did not come out
  /// of it are missing.
  mutating func endRestartDrain() {
    guard let period, period.isBuffered else { return }
    self.period?.endDrain()
    dropIfCovered()
  }

  /// Discards a period that is too short for a gap.
  private mutating func dropIfCovered() {
    guard let period, let to = period.to else { return }
    if to.interval(since: period.from) <= period.slack { self.period = nil }
  }

  /// Discards the period: none of its fixes was for the client.
  mutating func drop() { period = nil }

  /// Restores the period at a start of the service: see ``Client/resumeRecording(from:at:recorder:slack:limit:in:)``.
  ///
  /// - Parameters:
  ///   - isAssumed: Whether the time from the ring's newest fix until the start is assumed to be unrecorded.
  ///   - gapStart: Sequence number of a period of the previous run that was not acknowledged; nil if none exists.
  ///   - coversFixes: Whether fixes lie within that period.
  mutating func restore(
    isAssumed: Bool, gapStart: UInt64?, coversFixes: Bool, until start: Instant,
    recorder: DowntimeRecording, slack: Interval, in ring: borrowing FixRing
  ) {
    let sequence = gapStart ?? ring.head
    let extends = sequence < ring.head && (isAssumed || coversFixes)
    period = UnrecordedTime(
      since: sequence, until: start, slack: slack, coversFixes: extends, in: ring)
    // The first fix after the gap shows when it ended, unless another gap follows: both are one gap (BKG-5).
    if !extends, let next = ring.stored(at: sequence) { period?.close(at: next.time) }
    guard recorder == .holdsFixes else { return dropIfCovered() }
    if sequence < ring.head { return }
    period?.beginDrain(hasFixes: ring.head > 0)
  }

  // MARK: The client's process

  /// The process detaches. It may not have handled the gap: the next one receives it when it starts updates.
  mutating func detach(_ context: ClientContext) {
    end(context)
    period?.detach()
  }

  /// Updates start.
  mutating func startUpdates() { period?.startUpdates() }

  /// Updates stop.
  mutating func stopUpdates() { if let period, period.isReported { self.period = nil } }

  /// Returns the gap to report now; nil if none exists.
  mutating func takeGap(at delivered: UInt64, isUpdating: Bool) -> Gap? {
    guard mustReport(at: delivered) else { return nil }
    defer { if isUpdating { period?.markReported() } else { period = nil } }
    return period?.gap(at: delivered)
  }

  /// The gap was read with the backlog.
  mutating func markReported() {
    if let period, !period.isBuffered { self.period?.markReported() }
  }

  /// All fixes below `end` are acknowledged.
  mutating func acknowledge(below end: UInt64) {
    if let period, period.isReported, end > period.position {
      self.period = nil
    } else {
      period?.acknowledge(below: end)
    }
  }
}

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

  /// Sequence number before which the gap is reported to the next process: fixes with lower numbers were acquired
  /// earlier.
  private(set) var sequence: UInt64
  /// Sequence number before which the gap is reported to the attached process: after ``sequence`` if it extends a period
  /// that was reported to this process, because it has received the fixes between both.
  private(set) var position: UInt64
  /// Where its later part begins, if the earlier part was reported to the attached process and is not acknowledged: the
  /// fixes between both were delivered after the earlier part.
  private var laterPart: (sequence: UInt64, from: FixTime)?
  /// Whether fixes lie within it, because it extends an earlier period.
  private(set) var coversFixes = false
  /// When acquisition stopped.
  private(set) var from: FixTime
  /// When acquisition restarted; nil while it has not.
  private(set) var to: FixTime?
  /// Whether it was reported to the process that is attached.
  private(set) var isReported = false
  /// Whether it belongs to an earlier process: the next one receives it when it starts updates or reads its backlog.
  private(set) var awaitsStart = false
  /// Progress of draining the receiver's buffer, which may still hold fixes of this period.
  private(set) var restartDrain = RestartDrain.drained
  /// Longest period that is not reported as a gap.
  private(set) var slack = Interval.zero

  /// Whether the receiver's buffer may hold fixes of this period.
  var isBuffered: Bool {
    switch restartDrain {
    case .awaited, .draining: true
    case .drained: false
    }
  }

  /// Whether one of its limits is still unknown.
  var isOpen: Bool { to == nil || isBuffered }

  /// Creates a period, before or after its end.
  init(
    sequence: UInt64, from: FixTime, to: FixTime? = nil, awaitsStart: Bool = false,
    slack: Interval = .zero, coversFixes: Bool = false
  ) {
    self.sequence = sequence
    self.from = from
    self.to = to
    self.awaitsStart = awaitsStart
    self.slack = slack
    self.coversFixes = coversFixes
    position = sequence
  }

  /// Acquisition stops again, or still, at `time`, before the period was acknowledged; the newest fix in the ring is
  /// below `head`.
  mutating func reopen(at head: UInt64, _ time: FixTime) {
    guard to != nil || isReported else { return }
    if isReported {
      position = head
      if laterPart.isNil, head > sequence { laterPart = (head, time) }
    }
    if head > sequence { coversFixes = true }
    to = nil
    isReported = false
  }

  /// Acquisition restarts.
  mutating func close(at time: FixTime) { to = time }

  /// Handles a fix, the newest one in the ring, below `head`: if it was acquired before acquisition stopped, the gap
  /// follows it.
  mutating func accept(_ fix: Fix, before head: UInt64) {
    if let later = laterPart {
      guard fix.acquired <= later.from.acquired else { return }
      laterPart = (head, later.from)
      position = head
    } else if fix.acquired <= from.acquired {
      begin(at: head)
    }
  }

  private mutating func begin(at head: UInt64) {
    sequence = head
    position = head
  }

  /// All fixes below `end` are acknowledged. If one of them was delivered after the earlier part, only the later part
  /// remains.
  mutating func acknowledge(below end: UInt64) {
    guard let later = laterPart, end > sequence else { return }
    sequence = later.sequence
    from = later.from
    laterPart = nil
    coversFixes = position > sequence
  }

  /// It is reported to the process that is attached.
  mutating func markReported() { isReported = true }

  /// The process detaches: the next one receives the period.
  mutating func detach() {
    isReported = false
    awaitsStart = true
    position = sequence
    laterPart = nil
  }

  /// Updates start: the period is for the process that is attached.
  mutating func startUpdates() { awaitsStart = false }

  /// The receiver's buffer is drained after a restart; `hasFixes` is whether the ring has fixes from before it.
  mutating func beginDrain(hasFixes: Bool) { restartDrain = hasFixes ? .awaited : .draining }

  /// The receiver's buffer is empty or cannot be read.
  mutating func endDrain() { restartDrain = .drained }

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
      begin(at: head)
      restartDrain = .draining
    case .drained: break
    }
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
  ///
  /// - Parameter coversFixes: Whether fixes lie within it.
  init(
    since sequence: UInt64, until start: Instant, slack: Interval, coversFixes: Bool,
    in ring: borrowing FixRing
  ) {
    var from = FixTime(acquired: .boot, utc: nil)
    if sequence > 0, let newest = ring.stored(at: sequence - 1)?.fix {
      // A fix acquired before the board restarted is on another boot clock; its UTC remains valid.
      from = FixTime(acquired: newest.acquired <= start ? newest.acquired : .boot, utc: newest.utc)
    }
    self.init(
      sequence: sequence, from: from, to: FixTime(acquired: start, utc: nil), awaitsStart: true,
      slack: slack, coversFixes: coversFixes)
  }

  /// The period as a gap. The number of missing fixes is unknown, because they were never acquired.
  func gap(at sequence: UInt64) -> Gap {
    let isLater = sequence > self.sequence
    var gap = Gap(unsyncedBefore: sequence, after: isLater ? laterPart?.from ?? from : from)
    gap.to = to
    return gap
  }
}

extension FixTime {
  /// Time between both; in UTC if both have it, because the boot clocks may differ.
  func interval(since other: FixTime) -> Interval {
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

import LocationTypes

/// A client's read position in ``FixRing``, like a consumer offset in a log.
///
/// Problem. Many clients share one ring. Each client must receive every fix that is meant for it, in order and
/// at least once (RNG-3), even if it crashes between delivery and acknowledgement; and if the ring overwrites a
/// fix first, the client must receive a ``Gap`` in its place (RNG-4). A deferral is a cursor whose
/// ``delivered`` stays behind the head; a flush advances it to the head. Ring and cursor have no reference to each
/// other: every cursor operation that needs the ring borrows it.
///
/// Positions are sequence numbers:
///
/// ```
///        acknowledged            delivered                       head
///   ··········│·······················│······························│
///    finished │ delivered, may be     │ backlog: not yet delivered   │ not yet appended
///             │ delivered again       │                              │
///             ├── overwritten ──┤ (always starts at acknowledged)
/// ```
///
/// State of one sequence number with respect to one client:
///
/// ```
///                  deliver(to:in:)          acknowledge(_:in:)
///   ┌───────────┐  skip(to:)        ┌───────────┐  acknowledgeExcluded(to:)  ┌──────────────┐
///   │undelivered├──────────────────▶│ delivered ├───────────────────────────▶│ acknowledged │
///   └─────┬─────┘◀──────────────────┴─────┬─────┘                            └──────────────┘
///         │            rewind()           │ prepareForAppend(of:in:)             ▲
///         │ prepareForAppend(of:in:)      ▼                                      │ acknowledge(_:in:)
///         │              takeGap()  ┌──────────────────────────┐                 │ acknowledgeExcluded(to:)
///         │          ┌─────────────▶│ delivered and overwritten├─────────────────┘
///         ▼          │              └─────┬────────────────────┘
///   ┌────────────────┴─┐                  │
///   │ gap (overwritten,│◀─────────────────┘
///   │ not yet reported)│      rewind()
///   └──────────────────┘
/// ```
///
/// `skip(to:)` leads directly to *acknowledged* if no earlier fix awaits its acknowledgement, and
/// `acknowledgeExcluded(to:)` leads there from *undelivered* as well. A new cursor at the head, ``init(at:)``,
/// acknowledges every sequence number below it, from any state (RNG-6).
///
/// Invariants:
/// 1. ``acknowledged`` ≤ ``delivered`` ≤ the ring's head. Both only increase, except that ``rewind()`` decreases
///    ``delivered``.
/// 2. ``overwritten``, if not nil, starts at ``acknowledged`` and ends at or before ``delivered``.
/// 3. ``gap``, if not nil, ends at ``delivered`` and lies within ``overwritten``. While it is not nil, no fix
///    after it is delivered, skipped or acknowledged: the caller reports it first.
/// 4. An acknowledged fix is never delivered again. An unacknowledged fix may be delivered again after
///    ``rewind()``, under the same name.
///
/// Ownership. Each `Client` of `LocationPolicy` owns one cursor. All properties are `internal(set)`: only the methods
/// below change them. The owner calls ``prepareForAppend(of:in:)`` before every ``FixRing/append(_:)``.
///
/// Bounds. Fixed size, no heap; every operation is O(1).
@frozen public struct Cursor: Equatable, Sendable {
  /// All sequence numbers from ``acknowledged`` on that the ring overwrote before their acknowledgement.
  ///
  /// A connected client has received the delivered part, so that part is not missing. For a client that reconnects,
  /// the whole range becomes the ``gap``.
  public private(set) var overwritten: Gap?
  /// Fixes lost to this client since the last ``takeGap()``. Must be reported before the next delivery.
  public private(set) var gap: Gap?
  /// Sequence number below which every fix is acknowledged and is never delivered again.
  public private(set) var acknowledged: UInt64
  /// Sequence number below which every fix was delivered or is part of a gap. The next delivery starts here.
  public private(set) var delivered: UInt64

  /// Creates a cursor for a client that receives fixes from `sequence` on, usually the ring's head.
  public init(at sequence: UInt64) {
    acknowledged = sequence
    delivered = sequence
  }

  /// Creates the cursor of a client that reconnects after a restart of the service (BKG-20). O(1).
  ///
  /// Undelivered fixes that the ring no longer holds become the ``gap``. If `name` belongs to another ring image,
  /// which has replaced this one, the cursor starts at the tail.
  ///
  /// - Parameters:
  ///   - name: Name of the last durably acknowledged fix, or a ``FixRing/bookmark(below:)``; nil if the client
  ///     has acknowledged nothing.
  ///   - end: End of the undelivered range of the client. A client without undelivered fixes starts at the head;
  ///     fixes from `end` on are not part of its gap.
  public init(
    resumingAfter name: FixName?, before end: UInt64 = .max, in ring: borrowing FixRing
  ) {
    let sequence = ring.resumeSequence(after: name)
    self.init(at: sequence >= end ? ring.head : sequence)
    let missingEnd = min(ring.tail, end)
    guard acknowledged < missingEnd else { return }
    overwritten = Gap(acknowledged..<missingEnd, from: nil, to: ring.stored(at: ring.tail)?.time)
    rewind()
  }

  /// Number of sequence numbers between ``delivered`` and the head.
  @inlinable public func backlog(in ring: borrowing FixRing) -> UInt64 { ring.head - delivered }
}

/// Result of an acknowledgement.
@frozen public enum Acknowledgement: Equatable, Sendable {
  /// The cursor advanced by this number of sequence numbers.
  case advanced(UInt64)
  /// The fix was already acknowledged; nothing changed.
  case repeated
  /// The fix was not yet delivered; nothing changed.
  case ahead
  /// The ring has assigned this name to no fix; nothing changed.
  case unknown
}

extension Cursor {
  /// Records that every fix below `end` was delivered to the client. O(1).
  ///
  /// - Precondition: ``delivered`` ≤ `end` ≤ the head, and ``gap`` was reported with ``takeGap()`` (RNG-4).
  public mutating func deliver(to end: UInt64, in ring: borrowing FixRing) {
    precondition(gap.isNil, "report the gap before the fixes that follow it")
    precondition(end >= delivered && end <= ring.head, "deliver in order, up to the head")
    delivered = end
  }

  /// Skips fixes up to `end` that are excluded for this client; they count as neither delivered nor lost. O(1).
  ///
  /// Also advances ``acknowledged`` if no earlier fix awaits its acknowledgement.
  ///
  /// - Precondition: ``gap`` was reported with ``takeGap()``.
  public mutating func skip(to end: UInt64) {
    precondition(gap.isNil, "report the gap before the fixes that follow it")
    guard delivered < end else { return }
    if acknowledged == delivered {
      self = Cursor(at: end)
    } else {
      delivered = end
    }
  }

  /// Advances ``acknowledged`` over excluded fixes up to `end`. O(1).
  ///
  /// The caller ensures that every fix before the excluded ones is acknowledged. Does nothing if fixes beyond `end`
  /// were overwritten as well, or if ``gap`` is not yet reported.
  ///
  /// - Returns: Whether the cursor advanced.
  public mutating func acknowledgeExcluded(to end: UInt64) -> Bool {
    guard gap.isNil, overwritten.map({ $0.range.upperBound <= end }) ?? true else { return false }
    acknowledged = max(acknowledged, end)
    delivered = max(delivered, end)
    overwritten = nil
    return true
  }

  /// Records that the client has durably handled the fix `name` and all fixes before it. O(1).
  ///
  /// A repeated, premature or unknown acknowledgement changes nothing.
  public mutating func acknowledge(
    _ name: FixName, in ring: borrowing FixRing
  ) -> Acknowledgement {
    guard ring.mayHaveAssigned(name) else { return .unknown }
    let end = ring.sequence(after: name)
    if end <= acknowledged { return .repeated }
    if end > gap?.range.lowerBound ?? delivered { return .ahead }
    let count = end - acknowledged
    acknowledged = end
    trimOverwritten()
    return .advanced(count)
  }

  /// Returns to the first unacknowledged fix, because the client reconnected (RNG-3). O(1).
  ///
  /// Unacknowledged fixes that were overwritten become the ``gap``, to be reported before the remaining fixes are
  /// delivered again.
  public mutating func rewind() {
    gap = overwritten
    delivered = overwritten?.range.upperBound ?? acknowledged
  }

  /// Removes and returns the gap, which the caller then reports; nil if no gap is pending. O(1).
  ///
  /// ``rewind()`` restores it until a fix after it is acknowledged.
  public mutating func takeGap() -> Gap? {
    defer { gap = nil }
    return gap
  }
}

extension Cursor {
  /// Moves the cursor out of the slots that the next `count` appends overwrite; call it before them (RNG-4). O(1).
  ///
  /// Undelivered fixes in these slots join the ``gap``. Delivered fixes without acknowledgement are not lost to a
  /// connected client; they become part of the gap in ``rewind()``.
  ///
  /// - Returns: Number of undelivered fixes that this call lost.
  @discardableResult
  public mutating func prepareForAppend(
    of count: UInt64 = 1, in ring: borrowing FixRing
  ) -> UInt64 {
    let next = ring.head + count
    let size = UInt64(ring.capacity)
    guard next > size, acknowledged < next - size else { return 0 }
    return recordOverwritten(to: min(next - size, ring.head), in: ring)
  }

  /// Records that all fixes below `end` will be overwritten, and returns the number of undelivered ones.
  private mutating func recordOverwritten(to end: UInt64, in ring: borrowing FixRing) -> UInt64 {
    let begin = overwritten?.range.upperBound ?? acknowledged
    guard begin < end else { return 0 }
    let lost = Cursor.lost(begin..<end, in: ring)
    overwritten?.merge(lost)
    if overwritten.isNil { overwritten = lost }
    guard delivered < end else { return 0 }
    let undelivered = delivered == begin ? lost : Cursor.lost(delivered..<end, in: ring)
    gap?.merge(undelivered)
    if gap.isNil { gap = undelivered }
    delivered = end
    return undelivered.count
  }

  /// A gap with the times of its first and last fix, which the ring still holds at this point.
  private static func lost(_ range: Range<UInt64>, in ring: borrowing FixRing) -> Gap {
    Gap(
      range, from: ring.stored(at: range.lowerBound)?.time,
      to: ring.stored(at: range.upperBound - 1)?.time)
  }

  /// Removes the acknowledged part from ``overwritten``.
  private mutating func trimOverwritten() {
    guard var remainder = overwritten, remainder.range.lowerBound < acknowledged else { return }
    guard remainder.range.upperBound > acknowledged else {
      overwritten = nil
      return
    }
    remainder.range = acknowledged..<remainder.range.upperBound
    remainder.count = remainder.range.upperBound - acknowledged
    overwritten = remainder
  }
}

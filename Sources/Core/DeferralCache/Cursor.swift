import LocationTypes

/// A client's place in the ring: ``acknowledged`` ≤ ``delivered`` ≤ the head.
///
/// Deferral is a cursor left behind; a flush runs it to the head. Delivery is at least once and in
/// order (RNG-3): what was acknowledged never comes again, what was not may, under the same name.
@frozen public struct Cursor: Equatable, Sendable {
  /// All below is settled: never delivered again.
  public internal(set) var acknowledged: UInt64
  /// All below was delivered or told as a gap; the next delivery begins here.
  public internal(set) var delivered: UInt64
  /// What was lost to this client since the last ``takeGap()``; told before the next delivery.
  public internal(set) var gap: Gap?
  /// What was overwritten unacknowledged: from ``acknowledged`` on, and whole.
  ///
  /// A client that lives has got the delivered part of it and misses nothing; to one that begins
  /// anew it is a gap.
  public internal(set) var overwritten: Gap?

  /// Creates a cursor for a client that wants what comes from `sequence` on, mostly the head.
  public init(at sequence: UInt64) {
    acknowledged = sequence
    delivered = sequence
    gap = nil
    overwritten = nil
  }

  /// Creates the cursor of a client that came back after a restart of the service (BKG-20).
  ///
  /// What the ring no longer has is its ``gap``. A name that the ring cannot know, because another
  /// image was put in its place, begins at the tail. O(1).
  ///
  /// - Parameters:
  ///   - name: the last one acknowledged durably, or a ``FixRing/bookmark(below:)``; nil if
  ///     nothing ever was.
  ///   - end: where ends what the client is owed. A client that is owed nothing more begins at the
  ///     head, and what lies beyond was not lost to it.
  public init(
    resumingAfter name: FixName?, before end: UInt64 = .max, in ring: borrowing FixRing
  ) {
    let sequence = ring.end(after: name)
    self.init(at: sequence >= end ? ring.head : sequence)
    let missingEnd = min(ring.tail, end)
    guard acknowledged < missingEnd else { return }
    overwritten = Gap(acknowledged..<missingEnd, from: nil, to: ring.stored(at: ring.tail)?.time)
    rewind()
  }

  /// How many sequence numbers lie between this cursor and the head.
  @inlinable public func backlog(in ring: borrowing FixRing) -> UInt64 { ring.head - delivered }
}

/// What became of an acknowledgement.
@frozen public enum Acknowledgement: Equatable, Sendable {
  /// That many more are settled.
  case advanced(UInt64)
  /// All of it was acknowledged before; nothing changed.
  case repeated
  /// It names what was not yet delivered; nothing changed.
  case ahead
  /// No fix can have that name; nothing changed.
  case unknown
}

extension Cursor {
  /// Notes that everything below `end` was handed to the client. O(1).
  ///
  /// - Precondition: ``delivered`` ≤ `end` ≤ the head; ``gap`` was taken and told (RNG-4).
  public mutating func deliver(to end: UInt64, in ring: borrowing FixRing) {
    precondition(gap == nil, "a gap is told before what follows it")
    precondition(end >= delivered && end <= ring.head, "delivered in order, up to the head")
    delivered = end
  }

  /// Passes over what is not for this client, up to `end`: neither delivered nor lost. O(1).
  ///
  /// Where nothing before waits for its acknowledgement, it is settled as well.
  ///
  /// - Precondition: ``gap`` was taken and told.
  public mutating func pass(to end: UInt64) {
    precondition(gap == nil, "a gap is told before what follows it")
    guard delivered < end else { return }
    if acknowledged == delivered {
      self = Cursor(at: end)
    } else {
      delivered = end
    }
  }

  /// Settles what is not for this client, up to `end`, once all before it is acknowledged. O(1).
  ///
  /// Does nothing where what lies beyond `end` was overwritten too, or a ``gap`` waits to be told.
  ///
  /// - Returns: whether it did.
  public mutating func settle(to end: UInt64) -> Bool {
    guard gap == nil, overwritten.map({ $0.range.upperBound <= end }) ?? true else { return false }
    acknowledged = max(acknowledged, end)
    delivered = max(delivered, end)
    overwritten = nil
    return true
  }

  /// Notes that the client has durably handled the fix of that name and all before it. O(1).
  ///
  /// Late, repeated, foreign and premature ones change nothing.
  public mutating func acknowledge(
    _ name: FixName, in ring: borrowing FixRing
  ) -> Acknowledgement {
    guard ring.mayHaveNamed(name) else { return .unknown }
    let end = ring.end(of: name)
    if end <= acknowledged { return .repeated }
    if end > gap?.range.lowerBound ?? delivered { return .ahead }
    let settled = end - acknowledged
    acknowledged = end
    trimOverwritten()
    return .advanced(settled)
  }

  /// Goes back to what is not acknowledged: the client connected anew (RNG-3). O(1).
  ///
  /// What of it was overwritten meanwhile becomes the ``gap``, told before the rest comes again.
  public mutating func rewind() {
    gap = overwritten
    delivered = overwritten?.range.upperBound ?? acknowledged
  }

  /// Gives up all up to the head: revocation or reduction (RNG-6). No gap is told of it. O(1).
  public mutating func skipToHead(of ring: borrowing FixRing) {
    self = Cursor(at: ring.head)
  }

  /// The gap to tell now, which the caller then tells; nil if there is none. O(1).
  ///
  /// Until something after it is acknowledged, ``rewind()`` brings it back.
  public mutating func takeGap() -> Gap? {
    defer { gap = nil }
    return gap
  }
}

extension Cursor {
  /// Moves on what the next `count` appends would pass, before they do (RNG-4). O(1).
  ///
  /// Undelivered fixes among it join the ``gap``. Delivered ones not yet acknowledged are no loss to
  /// a client that lives; ``rewind()`` makes them one.
  ///
  /// - Returns: how many undelivered fixes were lost by this call.
  @discardableResult
  public mutating func makeRoom(
    for count: UInt64 = 1, in ring: borrowing FixRing
  ) -> UInt64 {
    let next = ring.head + count
    let size = UInt64(ring.capacity)
    guard next > size, acknowledged < next - size else { return 0 }
    return moveOn(to: min(next - size, ring.head), in: ring)
  }

  /// Takes note that all below `end` will be overwritten.
  private mutating func moveOn(to end: UInt64, in ring: borrowing FixRing) -> UInt64 {
    let begin = overwritten?.range.upperBound ?? acknowledged
    guard begin < end else { return 0 }
    let lost = Cursor.lost(begin..<end, in: ring)
    overwritten?.merge(lost)
    if overwritten == nil { overwritten = lost }
    guard delivered < end else { return 0 }
    let untold = delivered == begin ? lost : Cursor.lost(delivered..<end, in: ring)
    gap?.merge(untold)
    if gap == nil { gap = untold }
    delivered = end
    return untold.count
  }

  /// The gap of fixes that are still there to tell their times.
  private static func lost(_ range: Range<UInt64>, in ring: borrowing FixRing) -> Gap {
    Gap(
      range, from: ring.stored(at: range.lowerBound)?.time,
      to: ring.stored(at: range.upperBound - 1)?.time)
  }

  /// Forgets what was overwritten and is acknowledged by now.
  private mutating func trimOverwritten() {
    guard var rest = overwritten, rest.range.lowerBound < acknowledged else { return }
    guard rest.range.upperBound > acknowledged else {
      overwritten = nil
      return
    }
    rest.range = acknowledged..<rest.range.upperBound
    rest.count = rest.range.upperBound - acknowledged
    overwritten = rest
  }
}

import LocationTypes

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
  mutating func trimOverwritten() {
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

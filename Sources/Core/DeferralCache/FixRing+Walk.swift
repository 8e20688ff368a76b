import LocationTypes

/// What a walk along the ring meets.
@frozen public enum RingItem: Equatable, Sendable {
  /// A fix.
  case fix(StoredFix)
  /// Fixes that are not there.
  case gap(Gap)
}

extension FixRing {
  /// The next fix, or the gap before it, at `place`, and moves `place` behind it; nil at `end`.
  ///
  /// Called until nil it meets every fix of place ..< end once, in order, and every missing run as
  /// one gap, which is told before the fix behind it (RNG-4). Amortised O(1) for each number.
  ///
  /// - Parameters:
  ///   - place: where to look; at most ``head``.
  ///   - end: where to stop; what lies beyond ``head`` is not looked for.
  public func next(at place: inout UInt64, before end: UInt64) -> RingItem? {
    let end = min(end, head)
    guard place < end else { return nil }
    let first = place
    if let found = stored(at: first) {
      place = first + 1
      return .fix(found)
    }
    let following = nextFix(from: first, before: end)
    place = following?.name.sequence ?? end
    return .gap(
      Gap(
        first..<place, from: first == 0 ? nil : stored(at: first - 1)?.time,
        to: following?.time ?? stored(at: place)?.time))
  }

  /// The first fix of sequence ..< end that is there. O(1) if none is missing, else O(missing).
  public func nextFix(from sequence: UInt64, before end: UInt64) -> StoredFix? {
    let end = min(end, head)
    var place = max(sequence, tail)
    while place < end {
      if let found = stored(at: place) { return found }
      place += 1
    }
    return nil
  }

  /// All that is missing of `range`, as one gap; nil if every fix is there. O(length of `range`).
  public func missing(in range: Range<UInt64>) -> Gap? {
    var result: Gap?
    var place = range.lowerBound
    while let item = next(at: &place, before: range.upperBound) {
      guard case .gap(let gap) = item else { continue }
      result?.merge(gap)
      if result == nil { result = gap }
    }
    return result
  }
}

extension FixRing {
  /// The first sequence number whose fix is younger than `name`, at most ``head``. O(1).
  ///
  /// Not always `name.sequence + 1`: after a power cut a new generation may have begun below it.
  public func end(of name: FixName) -> UInt64 { min(starts.end(of: name), head) }

  /// The same for a name that came back from disk: 0 if there is none; the tail where the ring cannot
  /// know it, because another image was put in its place. O(1).
  public func end(after name: FixName?) -> UInt64 {
    guard let name else { return 0 }
    return name.generation > generation ? tail : end(of: name)
  }

  /// The name to keep durably for "all below `sequence`", from which ``Cursor`` resumes.
  ///
  /// It need not be that of a fix. Nil for 0: nothing.
  public func bookmark(below sequence: UInt64) -> FixName? {
    sequence == 0 ? nil : FixName(generation: generation, sequence: sequence - 1)
  }

  /// Whether a fix bore that name, as far as can be told: of earlier generations nothing is. O(1).
  public func mayHaveNamed(_ name: FixName) -> Bool {
    if name.generation == generation { return name.sequence >= start && name.sequence < head }
    return name.generation > 0 && name.generation < generation
  }
}

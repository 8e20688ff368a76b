/// Number of satellites in view of each system, from the GSV sentences of one epoch.
///
/// A receiver sends one group of GSV for each signal of a system, in any order and interleaved with
/// those of other systems. Only the largest number of each system is kept. Part of ``EpochDraft``.
struct SatelliteCounts {
  private var talkers = InlineArray<8, Talker>(repeating: .gps)
  private var counts = InlineArray<8, UInt8>(repeating: 0)
  private var count = 0

  /// Records the satellites in view of a talker; a ninth talker is ignored.
  mutating func record(_ talker: Talker, _ inView: UInt8) {
    var i = 0
    while i < count {
      if talkers[i] == talker {
        if inView > counts[i] { counts[i] = inView }
        return
      }
      i &+= 1
    }
    if count == 8 { return }
    talkers[count] = talker
    counts[count] = inView
    count &+= 1
  }

  /// Sum over all systems, at most 254; nil without a GSV.
  var sum: UInt8? {
    if count == 0 { return nil }
    var sum = 0
    for i in 0..<count { sum += Int(counts[i]) }
    return UInt8(min(sum, 254))
  }
}

/// Groups of satellites in the GSA sentences of one epoch, to detect a repeated group.
struct SatelliteGroups {
  private var hashes = InlineArray<8, UInt64>(repeating: 0)
  private var count = 0

  /// Whether the group of `m` is new; repeats of a ninth or later group are not detected.
  mutating func insert(_ m: GSA) -> Bool {
    // A 64-bit hash of the whole group: collisions are negligible.
    var sum = UInt64(m.talker.first) << 16 | UInt64(m.talker.second) << 8 | UInt64(m.system ?? 0)
    for i in 0..<Int(m.satellites) {
      sum = (sum ^ UInt64(m.satellite(i))) &* 0x9E37_79B9_7F4A_7C15
      sum ^= sum &>> 29
    }
    var i = 0
    while i < count {
      if hashes[i] == sum { return false }
      i &+= 1
    }
    if count < 8 {
      hashes[count] = sum
      count &+= 1
    }
    return true
  }
}

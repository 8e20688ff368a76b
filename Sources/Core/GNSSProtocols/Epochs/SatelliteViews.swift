/// How many satellites of each system are in view, as the GSV of one epoch tell.
///
/// A system has as many groups of GSV as it has signals, in any order and between those of other
/// systems; the largest number counts.
struct SatelliteViews {
  private var talkers = InlineArray<8, Talker>(repeating: .gps)
  private var counts = InlineArray<8, UInt8>(repeating: 0)
  private var count = 0

  /// Notes what a talker has in view; a ninth talker is not heard.
  mutating func hear(_ talker: Talker, _ inView: UInt8) {
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

  /// All together, at most 254; nil when nothing was said.
  var sum: UInt8? {
    if count == 0 { return nil }
    var sum = 0
    for i in 0..<count { sum += Int(counts[i]) }
    return UInt8(min(sum, 254))
  }
}

/// Which groups of satellites the GSA of one epoch have named, to know one that is repeated.
struct SatelliteSets {
  private var sums = InlineArray<8, UInt64>(repeating: 0)
  private var count = 0

  /// Whether the satellites of `m` were not named so far; beyond eight groups it cannot tell.
  mutating func insert(_ m: GSA) -> Bool {
    // One number stands for all of a sentence's: 64 bits make a mistake as good as impossible.
    var sum = UInt64(m.talker.first) << 16 | UInt64(m.talker.second) << 8 | UInt64(m.system ?? 0)
    for i in 0..<Int(m.satellites) {
      sum = (sum ^ UInt64(m.satellite(i))) &* 0x9E37_79B9_7F4A_7C15
      sum ^= sum &>> 29
    }
    var i = 0
    while i < count {
      if sums[i] == sum { return false }
      i &+= 1
    }
    if count < 8 {
      sums[count] = sum
      count &+= 1
    }
    return true
  }
}

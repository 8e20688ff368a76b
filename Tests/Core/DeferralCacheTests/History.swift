import DeferralCache
import LocationTypes
import TestSupport

/// A service that runs, syncs, loses power and starts again, and all that it ever named.
///
/// `memory` is what the process sees, `disk` what would be there after a power cut now.
struct History {
  let memory: RingMemory
  var disk: [UInt8]
  /// Every fix ever appended, by its name.
  private(set) var journal: [FixName: Fix] = [:]
  /// The content of the next fix; never the same twice, later ones greater.
  private(set) var next = 1
  /// A name was given a second time.
  private(set) var repeatedName: FixName?

  init(capacity: Int) {
    memory = RingMemory(capacity: capacity)
    disk = memory.bytes
  }

  var sectors: Int { (memory.size + 511) / 512 }

  /// Opens what is in memory; `synced` as a service does it before the first append.
  func open(synced: Bool = true) throws(RingError) -> FixRing {
    try synced ? memory.openSynced() : memory.open()
  }

  mutating func append(_ count: Int, to ring: inout FixRing) {
    for _ in 0..<count {
      let fix = fix(next)
      next += 1
      let name = ring.append(fix)
      if journal.updateValue(fix, forKey: name) != nil { repeatedName = name }
    }
  }

  /// Copies to the disk what `ring` says is not there, as `msync` of those bytes would.
  mutating func sync(_ ring: inout FixRing) {
    let unsynced = ring.unsynced
    let bytes = memory.bytes
    for case let range? in [unsynced.header, unsynced.slots, unsynced.wrapped] {
      disk.replaceSubrange(range, with: bytes[range])
    }
    ring.markSynced(unsynced)
  }

  /// The power fails: of the sectors that differ, those of `survivors` reached the disk.
  mutating func cutPower(_ survivors: (Int) -> Bool) {
    let bytes = memory.bytes
    for sector in 0..<sectors where survivors(sector) {
      let range = sector * 512..<min(sector * 512 + 512, bytes.count)
      disk.replaceSubrange(range, with: bytes[range])
    }
    memory.bytes = disk
  }
}

/// An image of which each sector is as in one of `versions`.
func mixed(_ versions: [[UInt8]], _ choice: (Int) -> Int) -> [UInt8] {
  var image: [UInt8] = []
  var sector = 0
  while image.count < versions[0].count {
    let end = min(image.count + 512, versions[0].count)
    image += versions[choice(sector)][image.count..<end]
    sector += 1
  }
  return image
}

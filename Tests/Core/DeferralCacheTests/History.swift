import DeferralCache
import LocationTypes
import TestSupport

/// A service that runs, syncs, loses power and starts again, with all fixes that it ever named.
///
/// `memory` is the content that the process reads, `disk` the content after a power cut now.
struct History {
  let memory: RingMemory
  var disk: [UInt8]
  /// Every fix ever appended, by its name.
  private(set) var journal: [FixName: Fix] = [:]
  /// Number of the next fix; unique and increasing.
  private(set) var next = 1
  /// The name that was assigned a second time.
  private(set) var repeatedName: FixName?

  init(capacity: Int) {
    memory = RingMemory(capacity: capacity)
    disk = memory.bytes
  }

  var sectors: Int { (memory.size + 511) / 512 }

  /// Opens the ring in memory; with `synced`, as a service does before the first append.
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

  /// Copies the unsynced bytes of `ring` to the disk, as `msync` of those bytes would.
  mutating func sync(_ ring: inout FixRing) {
    let unsynced = ring.unsynced
    let bytes = memory.bytes
    for case let range? in [unsynced.header, unsynced.slots, unsynced.wrapped] {
      disk.replaceSubrange(range, with: bytes[range])
    }
    ring.markSynced(unsynced)
  }

  /// Cuts the power: of the sectors that differ, those in `survivors` reached the disk.
  mutating func cutPower(_ survivors: (Int) -> Bool) {
    let bytes = memory.bytes
    for sector in 0..<sectors where survivors(sector) {
      let range = sector * 512..<min(sector * 512 + 512, bytes.count)
      disk.replaceSubrange(range, with: bytes[range])
    }
    memory.bytes = disk
  }
}

/// An image whose sectors are each from one of `versions`.
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

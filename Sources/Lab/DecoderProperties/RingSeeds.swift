import DeferralCache
import LocationTypes

extension Seeds {
  /// Images as a service writes them, and the input of one with missing and stale slots.
  static let rings: [[UInt8]] = [
    [0, 0],
    image(capacity: 4, sessions: [3], kind: 0),
    image(capacity: 4, sessions: [3, 4, 2], kind: 0),
    image(capacity: 2, sessions: [1], kind: 0),
    image(capacity: 9, sessions: [20, 1], kind: 0),
    image(capacity: 17, sessions: [Int](repeating: 1, count: 20), kind: 0),
    draft,
  ]

  /// Input with the image of a ring to which each session appended `sessions[i]` fixes; the last session closed it.
  private static func image(capacity: Int, sessions: [Int], kind: UInt8) -> [UInt8] {
    let storage = RingStorage(count: FixRing.storageSize(capacity: capacity))
    for (i, count) in sessions.enumerated() {
      guard var ring = try? storage.open(capacity: capacity) else { continue }
      ring.markSynced(ring.unsynced)
      for n in 0..<count {
        ring.append(
          Fix(
            acquired: Instant(seconds: Double(n)),
            coordinate: Coordinate(latitude_e9: Int64(n), longitude_e9: Int64(i))))
      }
      if i == sessions.count - 1 { ring.close() }
    }
    return [UInt8(capacity - 2), kind] + [0, 0, 1, 4, 2, 7, 0, 3] + storage.bytes
  }

  /// Header of generation 2 with two generation starts, one blank header copy and three slots, one of them stale.
  private static let draft: [UInt8] = {
    var bytes: [UInt8] = [2, 1, 1, 1, 1, 0, 2, 3, 15, 0]
    bytes += [1] + littleEndian(UInt32(2)) + littleEndian(UInt64(5)) + littleEndian(UInt64(4))
    bytes += [2] + littleEndian(UInt64(0)) + littleEndian(UInt32(1))
    bytes += littleEndian(UInt64(3)) + littleEndian(UInt32(2))
    bytes += [0]
    for (sequence, generation) in [(2, 1), (3, 1), (4, 2)] as [(UInt32, UInt32)] {
      bytes += [UInt8(sequence % 4), 0, 1, 9] + littleEndian(sequence) + littleEndian(generation)
      bytes += [UInt8](repeating: 0, count: 48)
    }
    return bytes
  }()
}

import DeferralCache
import GNSSProtocols
import LocationRuntime
import LocationTypes

/// A ring in its own memory, as on a board without storage.
private struct RingInMemory: ~Copyable {
  private let memory = EngineMemory(capacity: 4_096, clients: 1)
  var ring: FixRing

  init() { ring = memory.openRing() }
}

/// A fix to its slot, with checksum.
struct RingAppendPath: HotPath, ~Copyable {
  let unit = "fix"
  private var memory = RingInMemory()
  private var fix: Fix

  init() {
    let coordinate = Coordinate(latitude_e9: 48_118_000_000, longitude_e9: 11_520_000_000)
    fix = Fix(acquired: Instant(microseconds: 0), coordinate: coordinate)
    fix.utc = UTCTime(microseconds: 1_750_000_000_000_000)
    fix.speed_mmps = 1_400
    fix.course_e4 = 844_000
    fix.horizontalAccuracy_mm = 1_900
    fix.verticalAccuracy_mm = 2_600
    fix.satellites = 17
  }

  mutating func run(_ turns: Int) -> UInt64 {
    var last: UInt64 = 0
    for _ in 0..<turns {
      fix.acquired = fix.acquired + Interval(microseconds: 1_000_000)
      last = memory.ring.append(fix).sequence
    }
    return last
  }
}

/// Bytes to cache: one turn is one fix, decoded from a stream, assembled and stored in the ring.
struct CachedFixPath: HotPath, ~Copyable {
  let unit = "fix"
  private var memory = RingInMemory()
  private var stream: ByteStream
  private var decoder = GNSSDecoder()
  private var assembler = EpochAssembler()
  private var epoch = Epoch()
  private var chunk = 0..<0
  private var now = Instant(microseconds: 0)

  private init(_ stream: ByteStream) { self.stream = stream }

  /// From NAV-PVT frames, one per fix.
  static func ubx() -> CachedFixPath { CachedFixPath(.navPVT()) }

  /// From epochs of 14 sentences.
  static func nmea() -> CachedFixPath { CachedFixPath(.nmea()) }

  mutating func run(_ turns: Int) -> UInt64 {
    let bytes = stream.bytes
    var left = turns
    var last: UInt64 = 0
    while left > 0 {
      if chunk.isEmpty { chunk = stream.next() }
      var offset = 0
      let span = bytes.span.extracting(chunk)
      while left > 0, let message = decoder.next(span, &offset) {
        guard assembler.add(message, at: now, into: &epoch) else { continue }
        now = now + Interval(microseconds: 700_000)
        guard let fix = epoch.fix else { continue }
        last = memory.ring.append(fix).sequence
        left -= 1
      }
      chunk = (chunk.lowerBound + offset)..<chunk.upperBound
    }
    return last
  }
}

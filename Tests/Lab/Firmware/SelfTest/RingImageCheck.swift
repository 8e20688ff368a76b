import CFirmware
import DeferralCache
import LocationTypes

/// Images that a firmware may find in its storage, made by hand (Docs/Reference/ring-format.md):
/// numbers beyond 32 bits are read right, and no number of a damaged image is a trap.
func checkRingImages(_ report: inout Report) {
  let size = Int(FIRMWARE_RING_SIZE)
  let storage = unsafe UnsafeMutableRawBufferPointer(start: firmware_ring_start(), count: size)
  let head: UInt64 = 1 << 33 + 5
  unsafe writeHeader(storage, capacity: 256, head: head, starts: 0)
  do throws(RingError) {
    var ring = try unsafe FixRing(recovering: storage, capacity: 256)
    report.check(ring.start >= head, "a generation begins after the numbers of the one before")
    let place = Coordinate(latitude_e9: -33_856_784_000, longitude_e9: 151_215_297_000)
    for i in 0..<300 as Range<Int64> {
      var fix = Fix(acquired: Instant(microseconds: 1 << 45 + i), coordinate: place)
      fix.utc = UTCTime(microseconds: 1_749_643_200_000_000 + i)
      ring.append(fix)
    }
    let newest = ring.stored(at: ring.head - 1)
    report.check(newest?.fix.acquired.microseconds == 1 << 45 + 299, "a fix comes back as it was")
    report.check(newest?.fix.utc?.microseconds == 1_749_643_200_000_299, "and so does its UTC")
    report.check(newest?.fix.coordinate == place, "and its place")
    report.check(ring.head - ring.tail == 256, "a full ring holds its capacity")
    report.result("head-beyond-32-bits", Int64(ring.head))
  } catch {
    report.check(false, "a ring beyond 32 bits opens")
  }
  unsafe clear(storage)
  unsafe writeHeader(storage, capacity: .max, head: 0, starts: 0)
  do throws(RingError) {
    _ = try unsafe FixRing(recovering: storage, capacity: 256)
    report.check(false, "an image of another capacity is refused")
  } catch {
    if case .otherCapacity = error {} else { report.check(false, "and for that reason") }
  }
  unsafe clear(storage)
  unsafe writeHeader(storage, capacity: 256, head: 0, starts: .max)
  do throws(RingError) {
    let ring = try unsafe FixRing(recovering: storage, capacity: 256)
    report.check(ring.recovery.lostHeaders == 2, "a header with a mad record of starts is lost")
  } catch {
    // Refused is as good: what counts is that it was not a trap.
  }
  unsafe clear(storage)
}

@unsafe private func clear(_ storage: UnsafeMutableRawBufferPointer) {
  for i in storage.indices { unsafe storage[i] = 0 }
}

/// The first copy of the header.
@unsafe private func writeHeader(
  _ storage: UnsafeMutableRawBufferPointer, capacity: UInt32, head: UInt64, starts: UInt32
) {
  func put(_ value: UInt64, at offset: Int, _ size: Int) {
    for i in 0..<size {
      unsafe storage[offset + i] = UInt8(truncatingIfNeeded: value >> UInt64(8 * i))
    }
  }
  put(0x474E_4952_5052_4F54, at: 0, 8)  // "TORPRING"
  put(1, at: 8, 4)
  put(64, at: 12, 4)
  put(UInt64(capacity), at: 16, 4)
  put(1, at: 20, 4)
  put(1, at: 24, 8)
  put(head, at: 32, 8)
  put(0, at: 40, 4)
  put(UInt64(starts), at: 44, 4)
  put(UInt64(unsafe crc32c(storage, 508)), at: 508, 4)
}

/// CRC-32C of the first bytes, bit by bit: the definition, not the core's table.
@unsafe private func crc32c(_ storage: UnsafeMutableRawBufferPointer, _ count: Int) -> UInt32 {
  var register: UInt32 = .max
  for i in 0..<count {
    register ^= unsafe UInt32(storage[i])
    for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0x82F6_3B78 }
  }
  return ~register
}

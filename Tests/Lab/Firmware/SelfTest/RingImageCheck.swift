import CFirmware
import DeferralCache
import LocationTypes

/// Checks hand-made ring images (Docs/Reference/ring-format.md): numbers beyond 32 bits are read
/// correctly, and no number in a damaged image causes a trap.
func checkRingImages(_ report: inout Report) {
  let size = Int(FIRMWARE_RING_SIZE)
  let storage = unsafe UnsafeMutableRawBufferPointer(start: firmware_ring_start(), count: size)
  let head: UInt64 = 1 << 33 + 5
  unsafe writeHeader(storage, capacity: 256, head: head, starts: 0)
  do throws(RingError) {
    var ring = try unsafe FixRing(recovering: storage, capacity: 256)
    report.check(ring.start >= head, "a generation starts after the previous sequence numbers")
    let position = Coordinate(latitude_e9: -33_856_784_000, longitude_e9: 151_215_297_000)
    for i in 0..<300 as Range<Int64> {
      var fix = Fix(acquired: Instant(microseconds: 1 << 45 + i), coordinate: position)
      fix.utc = UTCTime(microseconds: 1_749_643_200_000_000 + i)
      ring.append(fix)
    }
    let newest = ring.stored(at: ring.head - 1)
    report.check(newest?.fix.acquired.microseconds == 1 << 45 + 299, "the time of a fix is stored")
    report.check(newest?.fix.utc?.microseconds == 1_749_643_200_000_299, "the UTC is stored")
    report.check(newest?.fix.coordinate == position, "the position of a fix is stored")
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
    if case .capacityMismatch = error {
    } else {
      report.check(false, "the error is a capacity mismatch")
    }
  }
  unsafe clear(storage)
  unsafe writeHeader(storage, capacity: 256, head: 0, starts: .max)
  do throws(RingError) {
    let ring = try unsafe FixRing(recovering: storage, capacity: 256)
    report.check(ring.recovery.lostHeaders == 2, "a header with invalid starts is lost")
  } catch {
    // An error is also correct; only a trap is not.
  }
  unsafe clear(storage)
}

@unsafe private func clear(_ storage: UnsafeMutableRawBufferPointer) {
  for i in storage.indices { unsafe storage[i] = 0 }
}

/// Writes the first copy of the header.
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

/// CRC-32C of the first bytes, computed bit by bit instead of with the core's table.
@unsafe private func crc32c(_ storage: UnsafeMutableRawBufferPointer, _ count: Int) -> UInt32 {
  var register: UInt32 = .max
  for i in 0..<count {
    register ^= unsafe UInt32(storage[i])
    for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0x82F6_3B78 }
  }
  return ~register
}

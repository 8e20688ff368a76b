import LocationTypes

/// The simulated receiver of the self-test.
enum FirmwareReceiver {
  /// Sends UBX-NAV-PVT while it has supply, and accepts no commands.
  case ubx
  /// Sends RMC and GGA while it has supply, and accepts no commands.
  case nmea
  /// Sends UBX-NAV-PVT, acknowledges every setting, rejects polls of settings, sleeps by command and wakes on any byte.
  case ubloxM10
}

/// The device's position at a second: stationary, then north-east at 10 m/s, then stationary.
struct DeviceMotion {
  /// Latitude, 1e-7 degree.
  let latitude_e7: Int64
  let longitude_e7: Int64
  let speed_mmps: Int64

  /// The device moves in the seconds of `drive`.
  init(at second: Int64, drive: Range<Int64>) {
    let driven = min(max(second, drive.lowerBound), drive.upperBound) - drive.lowerBound
    latitude_e7 = 481_180_000 + driven * 640
    longitude_e7 = 115_200_000 + driven * 950
    speed_mmps = drive.contains(second) ? 10_030 : 0
  }
}

/// One output of the receiver, encoded here independently of the core's encoders.
struct ReceiverBytes {
  private(set) var bytes = InlineArray<256, UInt8>(repeating: 0)
  private(set) var count = 0

  /// Creates an empty output.
  init() {}

  /// Creates the epoch of `second`, counted from 2025-06-11 12:00:00.
  init(_ receiver: FirmwareReceiver, at second: Int64, _ motion: DeviceMotion) {
    switch receiver {
    case .ubx, .ubloxM10: writeSolution(second, motion)
    case .nmea: writeSentences(second, motion)
    }
  }

  /// The next bytes from `offset` on, up to the capacity of a chunk.
  func chunk(from offset: Int) -> ByteChunk {
    var chunk = ByteChunk()
    var i = offset
    while i < count && !chunk.isFull {
      chunk.append(bytes[i])
      i += 1
    }
    return chunk
  }

  private mutating func put(_ byte: UInt8) {
    bytes[count] = byte
    count += 1
  }
}

// MARK: - UBX

extension ReceiverBytes {
  private mutating func writeSolution(_ second: Int64, _ motion: DeviceMotion) {
    put(little: 0x62B5, 2)
    let checked = count
    put(little: 0x0701, 2)
    put(little: 92, 2)
    put(little: 302_400_000 + 1_000 * second, 4)
    put(little: 2_025, 2)
    put(little: 0x0B06, 2)  // 11 June
    put(little: 12 + second / 3_600, 1)
    put(little: second / 60 % 60, 1)
    put(little: second % 60, 1)
    put(little: 0x37, 1)  // date, time and resolution are valid
    put(little: 25, 4)
    put(little: 0, 4)
    put(little: 0x1100_0103, 4)  // 3D, gnssFixOK, no more flags, 17 satellites
    put(little: motion.longitude_e7, 4)
    put(little: motion.latitude_e7, 4)
    put(little: 592_300, 4)
    put(little: 545_400, 4)
    put(little: 1_900, 4)
    put(little: 2_600, 4)
    put(little: motion.speed_mmps * 7 / 10, 4)
    put(little: motion.speed_mmps * 7 / 10, 4)
    put(little: 0, 4)
    put(little: motion.speed_mmps, 4)
    put(little: 4_500_000, 4)
    put(little: 180, 4)
    put(little: 520_000, 4)
    put(little: 121, 4)
    for _ in 0..<3 { put(little: 0, 4) }
    endFrame(checked)
  }

  /// Adds UBX-ACK-ACK for CFG-VALSET.
  mutating func acknowledgeSetting() {
    put(little: 0x62B5, 2)
    let checked = count
    put(little: 0x0105, 2)
    put(little: 2, 2)
    put(little: 0x8A06, 2)
    endFrame(checked)
  }

  /// Adds UBX-ACK-NAK for CFG-VALGET.
  mutating func rejectPoll() {
    put(little: 0x62B5, 2)
    let checked = count
    put(little: 0x0005, 2)
    put(little: 2, 2)
    put(little: 0x8B06, 2)
    endFrame(checked)
  }

  /// Adds UBX-MON-VER with empty version texts.
  mutating func writeVersion() {
    put(little: 0x62B5, 2)
    let checked = count
    put(little: 0x040A, 2)
    put(little: 40, 2)
    for _ in 0..<10 { put(little: 0, 4) }
    endFrame(checked)
  }

  private mutating func endFrame(_ checked: Int) {
    var first: UInt8 = 0
    var second: UInt8 = 0
    for i in checked..<count {
      first &+= bytes[i]
      second &+= first
    }
    put(first)
    put(second)
  }

  private mutating func put(little value: Int64, _ size: Int64) {
    for i in 0..<size { put(UInt8(truncatingIfNeeded: value >> (8 * i))) }
  }
}

// MARK: - NMEA

extension ReceiverBytes {
  private mutating func writeSentences(_ second: Int64, _ motion: DeviceMotion) {
    let rmc = begin("GNRMC,")
    writeTime(second)
    put("A,")
    writePosition(motion)
    put(",")
    // Thousandths of a knot; 1 knot is 1852 / 3600 m/s.
    let knots_e3 = motion.speed_mmps * 3_600 / 1_852
    put(decimal: knots_e3 / 1_000, digits: 1)
    put(".")
    put(decimal: knots_e3 % 1_000, digits: 3)
    put(",45.00,110625,,,A,V")
    end(rmc)
    let gga = begin("GNGGA,")
    writeTime(second)
    writePosition(motion)
    put(",1,12,0.93,545.4,M,46.9,M,,")
    end(gga)
  }

  private mutating func writeTime(_ second: Int64) {
    put(decimal: 12 + second / 3_600, digits: 2)
    put(decimal: second / 60 % 60, digits: 2)
    put(decimal: second % 60, digits: 2)
    put(".00,")
  }

  private mutating func writePosition(_ motion: DeviceMotion) {
    put(angle_e7: motion.latitude_e7, digits: 2)
    put(",N,")
    put(angle_e7: motion.longitude_e7, digits: 3)
    put(",E")
  }

  private mutating func put(angle_e7: Int64, digits: Int) {
    put(decimal: angle_e7 / 10_000_000, digits: digits)
    let minutes_e5 = angle_e7 % 10_000_000 * 6 / 10
    put(decimal: minutes_e5 / 100_000, digits: 2)
    put(".")
    put(decimal: minutes_e5 % 100_000, digits: 5)
  }

  private mutating func put(decimal value: Int64, digits: Int) {
    var power: Int64 = 1
    for _ in 1..<digits { power *= 10 }
    while power <= value / 10 { power *= 10 }
    while power > 0 {
      put(UInt8(ascii: "0") + UInt8(value / power % 10))
      power /= 10
    }
  }

  private mutating func put(_ text: StaticString) {
    for i in 0..<text.utf8CodeUnitCount { unsafe put(text.utf8Start[i]) }
  }

  /// Begins a sentence and returns the offset at which its checksum begins.
  private mutating func begin(_ address: StaticString) -> Int {
    put("$")
    let start = count
    put(address)
    return start
  }

  private mutating func end(_ start: Int) {
    var sum: UInt8 = 0
    for i in start..<count { sum ^= bytes[i] }
    put("*")
    put(ReceiverBytes.digit(sum >> 4))
    put(ReceiverBytes.digit(sum & 15))
    put("\r\n")
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}

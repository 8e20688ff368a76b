import LocationTypes

/// The bytes of a receiver, read cyclically in chunks as from a serial line.
struct ByteStream {
  /// Size of a read of `LocationLoop`, in bytes.
  static let chunk = ByteChunk.capacity

  let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    precondition(!bytes.isEmpty, "a stream has bytes")
    self.bytes = bytes
  }

  /// The next chunk; the last one before the end may be shorter.
  mutating func next() -> Range<Int> {
    if position == bytes.count { position = 0 }
    let end = min(position + ByteStream.chunk, bytes.count)
    defer { position = end }
    return position..<end
  }
}

extension ByteStream {
  /// One minute of a receiver with four constellations: epochs of 14 sentences, one per second.
  static func nmea(epochs: Int = 60) -> ByteStream {
    var text = ""
    for epoch in 0..<epochs {
      let time = "1203\(padded(epoch % 60)).00"
      let north = "4807.\(10_000 + 7 * epoch),N"
      let east = "01131.\(20_000 + 11 * epoch),E"
      let bodies = [
        "GNRMC,\(time),A,\(north),\(east),12.345,084.40,230394,003.1,W,A,V",
        "GNVTG,084.40,T,087.50,M,12.345,N,22.863,K,A",
        "GNGGA,\(time),\(north),\(east),1,12,0.93,545.4,M,46.9,M,,",
        "GNGSA,A,3,04,05,09,12,24,25,29,,,,,,1.61,0.93,1.31,1",
        "GNGSA,A,3,65,71,72,80,87,,,,,,,,1.61,0.93,1.31,2",
        "GPGSV,3,1,11,04,77,036,44,05,15,209,38,09,32,087,41,12,24,312,37,1",
        "GPGSV,3,2,11,24,08,265,29,25,46,248,42,29,60,122,45,31,03,190,,1",
        "GPGSV,3,3,11,06,05,061,22,19,12,042,,20,18,170,31,1",
        "GLGSV,2,1,07,65,36,092,39,71,21,312,33,72,66,348,41,80,12,028,28,1",
        "GLGSV,2,2,07,87,44,201,40,88,30,268,,73,04,330,,1",
        "GAGSV,1,1,04,02,34,066,38,07,55,190,41,13,17,240,30,26,09,305,,7",
        "GNGLL,\(north),\(east),\(time),A,A",
        "GNGST,\(time),8.1,1.9,1.4,67.0,1.8,1.5,2.6",
        "GNZDA,\(time),23,03,1994,00,00",
      ]
      for body in bodies { text += sentence(body) }
    }
    return ByteStream(Array(text.utf8))
  }

  /// NAV-PVT frames of a walk, one per second; written by hand, independent of the encoder under test.
  static func navPVT(frames: Int = 256) -> ByteStream {
    ByteStream((0..<frames).flatMap(navPVTFrame))
  }

  /// NAV-PVT frames of an hour, each in its own chunk.
  static func navPVTChunks() -> [ByteChunk] {
    (0..<3_600).map { ByteChunk(navPVTFrame($0).span) }
  }

  private static func navPVTFrame(_ second: Int) -> [UInt8] {
    var payload = [UInt8](repeating: 0, count: 92)
    // Offset, size and value, as in the u-blox interface description of UBX-NAV-PVT.
    let fields = [
      (0, 4, 302_400_000 + 1_000 * second), (4, 2, 2025), (6, 1, 6), (7, 1, 11), (8, 1, 12),
      (9, 1, second / 60 % 60), (10, 1, second % 60),
      (11, 1, 0x37),  // date, time and resolution are valid
      (12, 4, 25), (16, 4, -120_000),
      (20, 1, 3), (21, 1, 0x01), (23, 1, 17),  // 3D, gnssFixOK, satellites
      (24, 4, 115_200_000 + 190 * second), (28, 4, 481_180_000 + 130 * second),
      (32, 4, 592_300 + second), (36, 4, 545_400 + second), (40, 4, 1_900), (44, 4, 2_600),
      (48, 4, 980), (52, 4, 1_010), (56, 4, -15), (60, 4, 1_407), (64, 4, 4_586_200),
      (68, 4, 180), (72, 4, 520_000), (76, 2, 121),
    ]
    for (offset, size, value) in fields {
      for byte in 0..<size {
        payload[offset + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte))
      }
    }
    return ubxFrame(0x01, 0x07, payload)
  }

  private static func sentence(_ body: String) -> String {
    let checksum = body.utf8.reduce(0, ^)
    let digits = Array("0123456789ABCDEF")
    return "$\(body)*\(digits[Int(checksum >> 4)])\(digits[Int(checksum & 15)])\r\n"
  }

  private static func ubxFrame(_ group: UInt8, _ id: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let checked =
      [group, id, UInt8(payload.count & 0xFF), UInt8(payload.count >> 8)] + payload
    var a: UInt8 = 0
    var b: UInt8 = 0
    for byte in checked {
      a &+= byte
      b &+= a
    }
    return [0xB5, 0x62] + checked + [a, b]
  }

  private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

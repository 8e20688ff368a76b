/// Formats of binary frames on a receiver's line, each with its own start, length and checksum.
///
/// UBX frames are decoded; frames of other formats are skipped as a whole, so that no bytes inside them
/// are decoded as a sentence. Sources: u-blox interface descriptions; CASIC protocol specification 4.2 and
/// Quectel's specification of the L76K; SiRF binary protocol reference; SkyTraq binary messages (AN0003);
/// for Allystar, gpsd's note that it is UBX with a different start; RTCM 10403 for RTCM 3. Used by
/// ``StreamDecoder``. No dependencies.
enum BinaryFormat {
  case ubx
  case allystar
  case casic
  case sirf
  case skyTraq
  case rtcm3

  /// Format of the frame that two bytes may start.
  enum Start {
    /// No frame.
    case none
    /// A frame of this format.
    case frame(BinaryFormat)
  }

  /// Longest payload accepted, bytes: RXM-RAWX with 100 signals has 3,216.
  static var payloadLimit: Int { 4_096 }

  /// Whether a frame of any format can start with this byte.
  @inline(__always) static func canBegin(with byte: UInt8) -> Bool {
    switch byte {
    case 0xB5, 0xF1, 0xBA, 0xA0, 0xD3: true
    case _: false
    }
  }

  /// The format that begins with these two bytes.
  @inline(__always) static func start(_ first: UInt8, _ second: UInt8) -> Start {
    switch (first, second) {
    case (0xB5, 0x62): .frame(.ubx)
    case (0xF1, 0xD9): .frame(.allystar)
    case (0xBA, 0xCE): .frame(.casic)
    case (0xA0, 0xA2): .frame(.sirf)
    case (0xA0, 0xA1): .frame(.skyTraq)
    // Six zero bits, then ten bits of length.
    case (0xD3, 0...3): .frame(.rtcm3)
    case _: .none
    }
  }

  /// Number of bytes before the payload.
  @inline(__always) var headerLength: Int {
    switch self {
    case .ubx, .allystar, .casic: 6
    case .sirf, .skyTraq: 4
    case .rtcm3: 3
    }
  }

  /// Number of bytes after the payload.
  @inline(__always) var trailerLength: Int {
    switch self {
    case .ubx, .allystar: 2
    case .skyTraq, .rtcm3: 3
    case .casic, .sirf: 4
    }
  }

  /// Length of the payload, from the complete header at `i`.
  @inline(__always) func payloadLength(_ s: Span<UInt8>, _ i: Int) -> Int {
    switch self {
    case .ubx, .allystar: Int(s.u2(i + 4))
    case .casic: Int(s.u2(i + 2))
    case .sirf, .skyTraq: Int(s[i + 2]) << 8 | Int(s[i + 3])
    case .rtcm3: Int(s[i + 1] & 3) << 8 | Int(s[i + 2])
    }
  }

  /// Whether the format allows a payload of that length; otherwise the candidate is a false start.
  @inline(__always) func allows(_ length: Int) -> Bool {
    switch self {
    case .ubx, .allystar: length <= BinaryFormat.payloadLimit
    case .casic: length <= BinaryFormat.payloadLimit && length % 4 == 0
    case .sirf: length >= 1 && length <= 1_023
    case .skyTraq: length >= 1 && length <= BinaryFormat.payloadLimit
    case .rtcm3: true
    }
  }

  /// Whether checksum and end bytes of the complete frame at `i` are valid; `length` is that of its
  /// payload.
  @inline(__always) func hasValidChecksum(_ s: Span<UInt8>, _ i: Int, _ length: Int) -> Bool {
    let end = i + headerLength + length
    switch self {
    case .ubx, .allystar:
      let sum = UBXChecksum(of: s.extracting(i + 2..<end))
      return s[end] == sum.a && s[end + 1] == sum.b
    case .casic: return s.u4(end) == BinaryFormat.sumOfWords(s, i + 2, end)
    case .sirf: return BinaryFormat.hasValidSiRFChecksum(s, i, end)
    case .skyTraq: return BinaryFormat.hasValidSkyTraqChecksum(s, i, end)
    case .rtcm3:
      let received = UInt32(s[end]) << 16 | UInt32(s[end + 1]) << 8 | UInt32(s[end + 2])
      return received == BinaryFormat.crc24q(s, i, end)
    }
  }

  private static func hasValidSiRFChecksum(_ s: Span<UInt8>, _ i: Int, _ end: Int) -> Bool {
    var sum: UInt16 = 0
    for j in i + 4..<end { sum = (sum &+ UInt16(s[j])) & 0x7FFF }
    return UInt16(s[end]) << 8 | UInt16(s[end + 1]) == sum && s[end + 2] == 0xB0
      && s[end + 3] == 0xB3
  }

  private static func hasValidSkyTraqChecksum(_ s: Span<UInt8>, _ i: Int, _ end: Int) -> Bool {
    var parity: UInt8 = 0
    for j in i + 4..<end { parity ^= s[j] }
    return s[end] == parity && s[end + 1] == 0x0D && s[end + 2] == 0x0A
  }

  /// Sum of the little-endian words from `start` to `end`, a whole number of words.
  private static func sumOfWords(_ s: Span<UInt8>, _ start: Int, _ end: Int) -> UInt32 {
    var sum: UInt32 = 0
    var j = start
    while j < end {
      sum &+= s.u4(j)
      j += 4
    }
    return sum
  }

  /// CRC-24Q of the bytes from `start` to `end`.
  private static func crc24q(_ s: Span<UInt8>, _ start: Int, _ end: Int) -> UInt32 {
    var crc: UInt32 = 0
    for j in start..<end {
      crc ^= UInt32(s[j]) << 16
      for _ in 0..<8 { crc = crc & 0x80_0000 != 0 ? crc << 1 ^ 0x86_4CFB : crc << 1 }
      crc &= 0xFF_FFFF
    }
    return crc
  }
}

/// Properties that hold for any input bytes, one for each decoder or parser.
///
/// `make fuzz` searches for input that violates a property. The tests run the seeds and every
/// ``RegressionInput`` through the same functions. A trap or an endless loop also counts as a failure.
public enum DecoderProperty: String, CaseIterable, Sendable {
  /// The receiver's bytes, in chunks of any length, become messages and epochs.
  case stream
  /// Lines, framed as NMEA sentences with a correct checksum.
  case nmea
  /// Identities and payloads, framed as UBX with a correct checksum.
  case ubx
  /// UBX commands that a host sends to a receiver.
  case commands
  /// Any image of a ring (RNG-7).
  case ring
  /// The text of a board profile.
  case profile
  /// A track in CSV.
  case track
  /// A recording with header lines.
  case recording
  /// Calls and replies on the service's socket.
  case wire
  /// Requests of gpsd's protocol.
  case gpsd
  /// Messages of the uplink.
  case uplink

  /// Checks the property for `input`.
  public func check(_ input: [UInt8]) -> PropertyResult {
    var trial = PropertyResult()
    switch self {
    case .stream: StreamProperty.check(input, &trial)
    case .nmea: SentenceProperty.check(input, &trial)
    case .ubx: FrameProperty.check(input, &trial)
    case .commands: CommandProperty.check(input, &trial)
    case .ring: RingProperty.check(input, &trial)
    case .profile: ProfileProperty.check(input, &trial)
    case .track: TrackProperty.check(input, &trial)
    case .recording: RecordingProperty.check(input, &trial)
    case .wire: WireProperty.check(input, &trial)
    case .gpsd: GPSDProperty.check(input, &trial)
    case .uplink: UplinkProperty.check(input, &trial)
    }
    return trial
  }
}

/// The result of checking a property for one input.
public struct PropertyResult: Equatable, Sendable {
  /// Description of the first violation; nil if the property holds.
  public private(set) var violation: String?
  /// Number of items decoded from input with valid framing and checksum: messages, fixes, settings, points.
  public private(set) var decodedCount = 0

  /// Creates a result without violation.
  public init() {}

  /// Counts decoded items.
  mutating func countDecoded(_ count: Int = 1) { decodedCount += count }

  /// Records a violation with the description `what` if `holds` is false; keeps the first.
  mutating func require(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds, violation == nil { violation = what() }
  }
}

/// Reads an input from its start; past the end all bytes are zero.
struct InputReader {
  private let bytes: [UInt8]
  private(set) var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { offset >= bytes.count }

  mutating func byte() -> UInt8 {
    guard offset < bytes.count else { return 0 }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value {
    var value: Value = 0
    for i in 0..<Value.bitWidth / 8 { value |= Value(truncatingIfNeeded: byte()) << (8 * i) }
    return value
  }

  /// The next `count` bytes, or fewer at the end of the input.
  mutating func nextBytes(_ count: Int) -> [UInt8] {
    let end = min(offset + count, bytes.count)
    defer { offset = end }
    return Array(bytes[offset..<end])
  }

  /// All remaining bytes.
  mutating func remainingBytes() -> [UInt8] { nextBytes(bytes.count) }
}

/// Lengths of chunks, derived from one byte: constant (1 to 128) for values below 128, else pseudo-random (1 to 256).
struct ChunkLengths {
  private var state: UInt32
  private let fixed: Int?

  init(_ seed: UInt8) {
    state = UInt32(seed) &* 2_654_435_761 | 1
    fixed = seed < 128 ? Int(seed) + 1 : nil
  }

  mutating func next() -> Int {
    if let fixed { return fixed }
    state = state &* 1_664_525 &+ 1_013_904_223
    let length = Int(state >> 24) + 1
    // Short chunks are as frequent as long ones, because errors in offsets occur at chunk boundaries.
    return state & 0x80_0000 == 0 ? length : length % 7 + 1
  }
}

/// The ranges of the chunks of `count` bytes; without `lengths`, one chunk has all of them.
func chunkRanges(_ count: Int, _ lengths: ChunkLengths?) -> [Range<Int>] {
  var lengths = lengths
  var ranges: [Range<Int>] = []
  var start = 0
  while start < count {
    let end = min(count, start + (lengths?.next() ?? count))
    ranges.append(start..<end)
    start = end
  }
  return ranges
}

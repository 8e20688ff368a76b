/// What must hold for any bytes at all, one property for each thing that reads bytes.
///
/// `make fuzz` looks for input that breaks one; the tests run the seeds and whatever was once found
/// through the same functions. A property also fails by a trap or by running for ever.
public enum DecoderProperty: String, CaseIterable, Sendable {
  /// The receiver's bytes in any chunks, to messages and epochs.
  case stream
  /// Lines made into sentences with a right checksum.
  case nmea
  /// Identities and payloads made into UBX frames with a right checksum.
  case ubx
  /// What a host sends to a receiver.
  case commands
  /// Any image of a ring (RNG-7).
  case ring
  /// The text of a board profile.
  case profile
  /// A track in CSV.
  case track
  /// A recording with header lines.
  case recording
  /// What a program or the service says on the socket.
  case wire

  /// Tries the property on `input`.
  public func check(_ input: [UInt8]) -> Trial {
    var trial = Trial()
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
    }
    return trial
  }
}

/// What came of trying a property on one input.
public struct Trial: Equatable, Sendable {
  /// The first thing that did not hold; nil if all did.
  public private(set) var violation: String?
  /// How much was read behind framing and checksums: messages, fixes, settings, points.
  public private(set) var reached = 0

  /// Creates a trial of which nothing is known yet.
  public init() {}

  /// Notes that something was reached.
  mutating func reach(_ count: Int = 1) { reached += count }

  /// Notes a violation unless `holds`.
  mutating func require(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds, violation == nil { violation = what() }
  }
}

/// Takes an input apart from its front; past the end all bytes are zero.
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

  /// The next `count` bytes, or as many as are left.
  mutating func take(_ count: Int) -> [UInt8] {
    let end = min(offset + count, bytes.count)
    defer { offset = end }
    return Array(bytes[offset..<end])
  }

  /// All that is left.
  mutating func rest() -> [UInt8] { take(bytes.count) }
}

/// Lengths of chunks that follow from one byte: all of 1 to 256, of that byte's length, or mixed.
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
    // Short ones as often as long ones: that is where a place can go wrong.
    return state & 0x80_0000 == 0 ? length : length % 7 + 1
  }
}

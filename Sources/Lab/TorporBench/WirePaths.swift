import LocationTypes
import LocationWire
import TextFormats

/// The fix that the encoding benchmarks use.
private struct WireFix {
  static let bufferSize = 65_536
  var stored: StoredFix

  init() {
    let coordinate = Coordinate(latitude_e9: 48_118_273_512, longitude_e9: 11_520_123_457)
    var fix = Fix(acquired: Instant(microseconds: 123_456_789_012), coordinate: coordinate)
    fix.utc = UTCTime(microseconds: 1_750_000_000_250_000)
    fix.altitude_mm = 523_125
    fix.ellipsoidalAltitude_mm = 570_251
    fix.speed_mmps = 1_387
    fix.course_e4 = 844_123
    fix.horizontalAccuracy_mm = 1_912
    fix.verticalAccuracy_mm = 2_634
    fix.speedAccuracy_mmps = 312
    fix.courseAccuracy_e2 = 1_250
    fix.satellites = 17
    fix.quality = .autonomous
    stored = StoredFix(name: FixName(generation: 7, sequence: 1), fix: fix)
  }

  /// The next fix, a second later.
  mutating func advance() {
    stored.name.sequence += 1
    stored.fix.acquired = stored.fix.acquired + .seconds(1)
  }
}

/// A fix to a record of an upgraded connection.
struct WireRecordPath: HotPath, ~Copyable {
  let unit = "fix"
  private var fix = WireFix()
  private var output = JSONOutput()

  init() { output.text.retainedCapacity = 2 * WireFix.bufferSize }

  mutating func run(_ turns: Int) -> UInt64 {
    for _ in 0..<turns {
      if output.text.count + FixRecord.size > WireFix.bufferSize { output.removeAll() }
      FixRecord.append(fix.stored, to: &output)
      fix.advance()
    }
    return unsafe output.text.withUnsafeBytes { unsafe UInt64($0[$0.count / 2]) }
  }
}

/// A fix to the JSON of a notice, in batches of the size that the service sends.
struct WireFixPath: HotPath, ~Copyable {
  let unit = "fix"
  private var fix = WireFix()
  private var output = JSONOutput()

  init() { output.text.retainedCapacity = 2 * WireFix.bufferSize }

  mutating func run(_ turns: Int) -> UInt64 {
    var left = turns
    while left > 0 {
      output.removeAll()
      _ = ReplyEncoder.encodeFixes(to: &output) {
        guard left > 0 else { return nil }
        left -= 1
        fix.advance()
        return fix.stored
      }
    }
    return unsafe output.text.withUnsafeBytes { unsafe UInt64($0[$0.count / 2]) }
  }
}

/// Bytes to the most frequent call, a oneway acknowledgement: framed, decoded, validated.
struct WireCallPath: HotPath {
  let unit = "call"
  private let bytes: [UInt8]

  init() {
    var json = JSONOutput()
    CallEncoder.encode(
      .acknowledge(FixName(generation: 7, sequence: 123_456)), oneway: true, to: &json)
    bytes = json.bytes
  }

  mutating func run(_ turns: Int) -> UInt64 {
    var sum: UInt64 = 0
    let bytes = bytes
    var splitter = FrameSplitter()
    for _ in 0..<turns {
      var offset = 0
      guard splitter.next(in: bytes.span, at: &offset) == .frame,
        let read = try? CallDecoder.decode(splitter.frame),
        case .acknowledge(let name) = read.call
      else { preconditionFailure("the call cannot be decoded") }
      sum &+= name.sequence
    }
    return sum
  }
}

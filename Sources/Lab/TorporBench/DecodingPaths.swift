import CBench
import GNSSProtocols
import LocationTypes

/// Bytes to messages: one turn is one sentence of an NMEA stream, all kinds in their usual mix.
struct SentencePath: HotPath {
  let unit = "sentence"
  private var stream = ByteStream.nmea()
  private var decoder = GNSSDecoder()
  private var chunk = 0..<0
  private var floorPosition = 0

  mutating func run(_ turns: Int) -> UInt64 {
    messages(turns, from: &stream, with: &decoder, rest: &chunk)
  }

  mutating func runFloor(_ turns: Int) -> UInt64 {
    unsafe stream.bytes.withUnsafeBufferPointer {
      unsafe floor_nmea($0.baseAddress, $0.count, &floorPosition, UInt64(turns))
    }
  }
}

/// Bytes to fixes: one turn is one sentence of an NMEA stream, all its fields decoded, its epoch put
/// together and given as a fix.
///
/// The floor is that of ``SentencePath``: framing, checksum and the places of the fields, no more.
struct SentenceFixPath: HotPath {
  let unit = "sentence"
  private var stream = ByteStream.nmea()
  private var fixes = FixStream()
  /// Sentences wanted so far: an epoch's come together.
  private var wanted: UInt32 = 0
  private var floorPosition = 0

  mutating func run(_ turns: Int) -> UInt64 {
    wanted &+= UInt32(turns)
    var sum: UInt64 = 0
    while fixes.sentences < wanted { sum &+= fixes.next(from: &stream) }
    return sum
  }

  mutating func runFloor(_ turns: Int) -> UInt64 {
    unsafe stream.bytes.withUnsafeBufferPointer {
      unsafe floor_nmea($0.baseAddress, $0.count, &floorPosition, UInt64(turns))
    }
  }
}

/// Bytes to a fix: one turn is one NAV-PVT frame, decoded and made the fix of an epoch.
struct NavPVTPath: HotPath {
  let unit = "fix"
  private var stream = ByteStream.navPVT()
  private var fixes = FixStream()
  private var floorPosition = 0

  mutating func run(_ turns: Int) -> UInt64 {
    var sum: UInt64 = 0
    for _ in 0..<turns { sum &+= fixes.next(from: &stream) }
    return sum
  }

  mutating func runFloor(_ turns: Int) -> UInt64 {
    unsafe stream.bytes.withUnsafeBufferPointer {
      unsafe floor_ubx($0.baseAddress, $0.count, &floorPosition, UInt64(turns))
    }
  }
}

/// Makes fixes of a stream, an epoch a second.
private struct FixStream {
  private var decoder = GNSSDecoder()
  private var assembler = EpochAssembler()
  private var epoch = Epoch()
  private var now = Instant(microseconds: 0)
  /// What of the last chunk is not yet read.
  private var rest = 0..<0

  /// Sentences read so far.
  var sentences: UInt32 { decoder.counters.sentences }

  /// Reads on up to the next fix, and gives its latitude.
  mutating func next(from stream: inout ByteStream) -> UInt64 {
    let bytes = stream.bytes
    while true {
      if rest.isEmpty { rest = stream.next() }
      var offset = 0
      let span = bytes.span.extracting(rest)
      let isMade = decoder.next(span, &offset, through: &assembler, at: now, into: &epoch)
      rest = (rest.lowerBound + offset)..<rest.upperBound
      guard isMade, let fix = epoch.fix else { continue }
      now = now + Interval(microseconds: 1_000_000)
      return UInt64(truncatingIfNeeded: fix.coordinate.latitude_e9)
    }
  }
}

/// Decodes until `count` messages have come; `rest` is what of the last chunk is not yet read.
private func messages(
  _ count: Int, from stream: inout ByteStream, with decoder: inout GNSSDecoder,
  rest: inout Range<Int>
) -> UInt64 {
  let bytes = stream.bytes
  var left = count
  var sum: UInt64 = 0
  while left > 0 {
    if rest.isEmpty { rest = stream.next() }
    var offset = 0
    let span = bytes.span.extracting(rest)
    while left > 0, let message = decoder.next(span, &offset) {
      left -= 1
      switch message {
      case .unread, .other: continue
      case _: sum &+= 1
      }
    }
    rest = (rest.lowerBound + offset)..<rest.upperBound
  }
  return sum
}

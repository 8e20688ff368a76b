import CBenchFloor
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
  private var decoder = GNSSDecoder()
  private var assembler = EpochAssembler()
  private var chunk = 0..<0
  private var now = Instant(microseconds: 0)
  private var floorPosition = 0

  mutating func run(_ turns: Int) -> UInt64 {
    let bytes = stream.bytes
    var left = turns
    var sum: UInt64 = 0
    while left > 0 {
      if chunk.isEmpty { chunk = stream.next() }
      var offset = 0
      let span = bytes.span.extracting(chunk)
      while left > 0, let message = decoder.next(span, &offset) {
        left -= 1
        if let epoch = assembler.add(message, at: now), let fix = epoch.fix {
          now = now + Interval(microseconds: 1_000_000)
          sum &+= UInt64(truncatingIfNeeded: fix.coordinate.latitude_e9)
        }
      }
      chunk = (chunk.lowerBound + offset)..<chunk.upperBound
    }
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
  private var decoder = GNSSDecoder()
  private var assembler = EpochAssembler()
  private var now = Instant(microseconds: 0)
  private var chunk = 0..<0
  private var floorPosition = 0

  mutating func run(_ turns: Int) -> UInt64 {
    let bytes = stream.bytes
    var left = turns
    var sum: UInt64 = 0
    while left > 0 {
      if chunk.isEmpty { chunk = stream.next() }
      var offset = 0
      let span = bytes.span.extracting(chunk)
      while left > 0, let message = decoder.next(span, &offset) {
        now = now + Interval(microseconds: 1_000_000)
        guard let epoch = assembler.add(message, at: now), let fix = epoch.fix else { continue }
        sum &+= UInt64(truncatingIfNeeded: fix.coordinate.latitude_e9)
        left -= 1
      }
      chunk = (chunk.lowerBound + offset)..<chunk.upperBound
    }
    return sum
  }

  mutating func runFloor(_ turns: Int) -> UInt64 {
    unsafe stream.bytes.withUnsafeBufferPointer {
      unsafe floor_ubx($0.baseAddress, $0.count, &floorPosition, UInt64(turns))
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

import GNSSProtocols
import LocationTypes

/// Bytes to messages: one turn is one sentence of an NMEA stream with the usual mix of sentence types.
struct SentencePath: HotPath {
  let unit = "sentence"
  private var stream = ByteStream.nmea()
  private var decoder = GNSSDecoder()
  private var chunk = 0..<0

  mutating func run(_ turns: Int) -> UInt64 {
    let bytes = stream.bytes
    var remaining = turns
    var sum: UInt64 = 0
    while remaining > 0 {
      if chunk.isEmpty { chunk = stream.next() }
      var offset = 0
      let span = bytes.span.extracting(chunk)
      while remaining > 0, let message = decoder.next(span, &offset) {
        remaining -= 1
        switch message {
        case .unknown, .malformed: continue
        case _: sum &+= 1
        }
      }
      chunk = (chunk.lowerBound + offset)..<chunk.upperBound
    }
    return sum
  }
}

/// Bytes to fixes: one turn is one sentence of an NMEA stream, with all fields decoded and its epoch assembled
/// to a fix.
struct SentenceFixPath: HotPath {
  let unit = "sentence"
  private var stream = ByteStream.nmea()
  private var fixes = FixStream()
  /// Number of sentences to decode so far; the sentences of an epoch are decoded together.
  private var requestedSentences: UInt32 = 0

  mutating func run(_ turns: Int) -> UInt64 {
    requestedSentences &+= UInt32(turns)
    var sum: UInt64 = 0
    while fixes.sentences < requestedSentences { sum &+= fixes.next(from: &stream) }
    return sum
  }
}

/// Bytes to a fix: one turn is one NAV-PVT frame, decoded and assembled to a fix.
struct NavPVTPath: HotPath {
  let unit = "fix"
  private var stream = ByteStream.navPVT()
  private var fixes = FixStream()

  mutating func run(_ turns: Int) -> UInt64 {
    var sum: UInt64 = 0
    for _ in 0..<turns { sum &+= fixes.next(from: &stream) }
    return sum
  }
}

/// Decodes a stream to fixes, one epoch per second.
private struct FixStream {
  private var decoder = GNSSDecoder()
  private var assembler = EpochAssembler()
  private var epoch = Epoch()
  private var now = Instant(microseconds: 0)
  /// The unread part of the last chunk.
  private var unread = 0..<0

  /// Number of sentences decoded so far.
  var sentences: UInt32 { decoder.counters.sentences }

  /// Decodes up to the next fix, and returns its latitude.
  mutating func next(from stream: inout ByteStream) -> UInt64 {
    let bytes = stream.bytes
    while true {
      if unread.isEmpty { unread = stream.next() }
      var offset = 0
      let span = bytes.span.extracting(unread)
      defer { unread = (unread.lowerBound + offset)..<unread.upperBound }
      while let message = decoder.next(span, &offset) {
        guard assembler.add(message, at: now, into: &epoch), let fix = epoch.fix else { continue }
        now = now + Interval(microseconds: 1_000_000)
        return UInt64(truncatingIfNeeded: fix.coordinate.latitude_e9)
      }
    }
  }
}

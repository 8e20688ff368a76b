import DeferralCache
import GNSSProtocols
import LocationTypes

/// Chunk boundaries do not change the result, every byte is counted, and every fix can be stored.
///
/// Input: one byte of options; one of chunk lengths; one of the time between messages, whose highest bit accepts
/// sentences without a checksum; then the stream.
enum StreamProperty {
  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    var reader = InputReader(input)
    let options = EpochOptions(fuzzed: reader.byte())
    let chunks = ChunkLengths(reader.byte())
    let timing = reader.byte()
    let step = Interval.milliseconds(Int64(timing & 0x7F) * 50)
    var decoding = DecoderOptions()
    decoding.allowsMissingChecksum = timing & 0x80 != 0
    let bytes = reader.remainingBytes()
    let whole = decode(bytes, nil, decoding, step: step)
    let parts = decode(bytes, chunks, decoding, step: step)
    trial.require(whole.messages == parts.messages, "chunk boundaries change the messages")
    trial.require(whole.counters == parts.counters, "chunk boundaries change the counters")
    trial.require(!whole.isMidFrame && !parts.isMidFrame, "bytes stay buffered after the end")
    trial.require(whole.entries == parts.entries, "chunk boundaries change the bytes of an entry")
    trial.require(
      whole.satellites.views == parts.satellites.views, "chunk boundaries change the satellites")
    SatelliteProperty.check(whole.satellites.views, &trial)
    for entry in whole.entries {
      let again = decode(entry, nil)
      trial.require(
        again.messages.count == 1 && again.entries == [entry], "an entry's bytes differ")
    }
    checkCounters(of: whole, against: bytes, &trial)
    for detectsEnd in [false, true] {
      var options = options
      options.detectsEpochEnd = detectsEnd
      EpochProperty.check(whole.messages, options, step, &trial)
    }
    trial.countDecoded(whole.messages.count)
  }

  struct Decoded {
    var messages: [GNSSMessage] = []
    /// The frames of the messages that are entries of a receiver's navigation database.
    var entries: [[UInt8]] = []
    /// Satellites in view.
    var satellites = SatelliteProperty.Collection()
    var counters = DecoderCounters()
    var isMidFrame = false

    mutating func add(
      _ message: GNSSMessage, from decoder: GNSSDecoder, after step: Interval
    ) {
      messages.append(message)
      satellites.add(message, from: decoder, after: step)
      guard case .aidingEntry(let entry) = message else { return }
      let copy = decoder.frame(of: entry)
      let frame = copy.span
      entries.append(frame.indices.map { frame[$0] })
    }
  }

  /// Decodes `bytes` at once, or in chunks; `step` is the time between two messages.
  static func decode(
    _ bytes: [UInt8], _ chunks: ChunkLengths?, _ options: DecoderOptions = DecoderOptions(),
    step: Interval = .zero
  ) -> Decoded {
    var decoded = Decoded()
    var decoder = GNSSDecoder(options)
    for range in chunkRanges(bytes.count, chunks) {
      var offset = 0
      let chunk = bytes.span.extracting(range)
      while let message = decoder.next(chunk, &offset) {
        decoded.add(message, from: decoder, after: step)
      }
    }
    while let message = decoder.finish() { decoded.add(message, from: decoder, after: step) }
    decoded.counters = decoder.counters
    decoded.isMidFrame = decoder.isMidFrame
    return decoded
  }

  private static func checkCounters(
    of decoded: Decoded, against bytes: [UInt8], _ trial: inout PropertyResult
  ) {
    let c = decoded.counters
    let correct = Int(c.sentences) + Int(c.withoutChecksum) + Int(c.frames)
    trial.require(decoded.messages.count <= correct, "more messages than correct checksums")
    trial.require(
      Int(c.malformed) + Int(c.unknown) <= correct, "more malformed or unknown than correct")
    // The shortest sentence has 4 bytes, or 2 without a checksum, the shortest frame 8; no byte is counted twice.
    let minimum = UInt64(c.sentences) * 4 + UInt64(c.withoutChecksum) * 2 + UInt64(c.frames) * 8
    trial.require(c.skippedBytes + minimum <= UInt64(bytes.count), "more bytes counted than read")
  }
}

extension EpochOptions {
  /// Options selected by the bits of a byte.
  init(fuzzed byte: UInt8) {
    self.init()
    waitsForSentences = byte & 1 != 0
    isSimulated = byte & 2 != 0
    if byte & 4 != 0 { earliestDate = CalendarDate(year: 2_024, month: 2, day: 29) }
    switch byte >> 3 & 3 {
    case 1: recordingDate = CalendarDate(year: 2_016, month: 12, day: 31)
    case 2: recordingDate = CalendarDate(year: 1, month: 1, day: 1)
    case 3: recordingDate = CalendarDate(year: 9_999, month: 12, day: 31)
    case _: break
    }
    switch byte >> 5 & 3 {
    case 1: rangeError_mm = 0
    case 2: rangeError_mm = .max
    case 3: rangeError_mm = 1
    case _: break
    }
  }
}

/// Any messages give at most as many epochs, and the ring returns their fixes unchanged.
enum EpochProperty {
  /// Limit beyond which the ring stores UTC as unknown (Docs/Reference/ring-format.md), in microseconds.
  private static let utcLimit_us: Int64 = 1 << 55

  static func check(
    _ messages: [GNSSMessage], _ options: EpochOptions, _ step: Interval,
    _ trial: inout PropertyResult
  ) {
    var epochs: [Epoch] = []
    var assembler = EpochAssembler(options)
    var now = Instant.boot
    for message in messages {
      if let epoch = assembler.add(message, at: now) { epochs.append(epoch) }
      while let epoch = assembler.next() { epochs.append(epoch) }
      now = now + step
    }
    for _ in 0..<4 where assembler.isOpen {
      if let epoch = assembler.close() { epochs.append(epoch) }
    }
    trial.require(!assembler.isOpen, "an epoch stays open")
    trial.require(epochs.count <= messages.count, "more epochs than messages")
    store(epochs, options, &trial)
  }

  private static func store(
    _ epochs: [Epoch], _ options: EpochOptions, _ trial: inout PropertyResult
  ) {
    guard epochs.contains(where: { $0.fix != nil }) else { return }
    let storage = RingStorage(count: FixRing.storageSize(capacity: 2))
    guard var ring = try? storage.open(capacity: 2) else {
      trial.require(false, "a blank ring was rejected")
      return
    }
    for case var fix? in epochs.map(\.fix) {
      trial.require(fix.isSimulated == options.isSimulated, "a fix has the wrong simulation flag")
      trial.require(fix.coordinate.isValid, "a fix has an invalid coordinate (LOC-10)")
      if let utc = fix.utc, abs(utc.microseconds) >= utcLimit_us { fix.utc = nil }
      let name = ring.append(fix)
      trial.require(ring.stored(at: name.sequence)?.fix == fix, "the ring changed \(fix)")
    }
  }
}

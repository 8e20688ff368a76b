import GNSSProtocols
import LocationTypes
import SimulatedHAL

/// Computes when each part of a recording was sent, so that it can be replayed at its original times.
///
/// A recording contains no arrival times; they are derived from its epochs:
/// - Bytes up to the end of an epoch's last message are sent at the epoch's time.
/// - While the epochs' time is behind the last one by up to an hour, time stands still. A step of more than an hour
///   is accepted only if two epochs agree on it.
/// - Epochs without a time follow each other at the given interval.
/// - If the date is uncertain, or the epoch has no position, only the time of day is used.
/// - Epochs from the receiver's batch buffer are sent at their own time, even if a live epoch precedes them in the
///   recording.
public struct RecordingScan: Sendable {
  /// The recording with the time of each part; starts at time 0.
  public let recording: Recording
  /// Day of the recording, from its header or as given (STD-13).
  public let date: CalendarDate?
  /// Time at which the last byte has been sent.
  public let end: Instant
  /// Decoder options for the recording.
  public let decoding: DecoderOptions
  /// Number of epochs, with or without a fix.
  public let epochs: Int

  /// Scans a recording. Lines that start with `#` are its header and not sent by the receiver.
  ///
  /// - Parameters:
  ///   - file: Contents of the file.
  ///   - date: Day of the recording; overrides that in the header.
  ///   - interval: Time between epochs that have no time.
  ///   - lineSpeed: Line speed, baud.
  ///   - decoding: Decoder options.
  public init(
    _ file: [UInt8], date: CalendarDate?, interval: Interval, lineSpeed: UInt32,
    _ decoding: DecoderOptions = DecoderOptions()
  ) {
    self.init(
      file, date: date, interval: interval, lineSpeed: lineSpeed, decoding, decodesAll: false)
  }

  /// Scans a recording. With `decodesAll`, sentences without a time are decoded too; the result is the same.
  init(
    _ file: [UInt8], date: CalendarDate?, interval: Interval, lineSpeed: UInt32,
    _ decoding: DecoderOptions, decodesAll: Bool
  ) {
    var bytes: [UInt8] = []
    var headerDate: CalendarDate?
    var filter = RecordingFilter()
    var offset = 0
    while let piece = filter.next(file.span, &offset) {
      switch piece {
      // Most recordings have no header lines; then nothing is copied.
      case .bytes(let range) where range.count == file.count: bytes = file
      case .bytes(let range): bytes.append(contentsOf: file[range])
      case .date(let date): if headerDate == nil { headerDate = date }
      case .invalidDate: break
      }
    }
    self.date = date ?? headerDate
    self.decoding = decoding
    var options = EpochOptions()
    options.recordingDate = self.date
    var timeline = Timeline(interval: interval)
    timeline.scan(bytes, options, decoding, decodesAll: decodesAll)
    let chunks = RecordingScan.scheduled(timeline.chunks, lineSpeed)
    recording = Recording(bytes: bytes, chunks: chunks)
    epochs = timeline.epochs
    let last = chunks.last
    end = (last?.time ?? .boot) + RecordingScan.transmissionTime(last?.range.count ?? 0, lineSpeed)
  }

  /// Returns the parts in ascending order of time. Parts with the same time follow each other at line speed.
  private static func scheduled(
    _ parts: [Recording.Chunk], _ lineSpeed: UInt32
  ) -> [Recording.Chunk] {
    var paced: [Recording.Chunk] = []
    paced.reserveCapacity(parts.count)
    var previousTime = Instant.boot
    // Swift's sort is stable.
    for part in parts.sorted(by: { $0.time < $1.time }) {
      var time = part.time
      if let last = paced.last {
        let free = last.time + transmissionTime(last.range.count, lineSpeed)
        time = part.time == previousTime ? free : max(part.time, last.time)
      }
      previousTime = part.time
      paced.append(Recording.Chunk(time: time, range: part.range))
    }
    return paced
  }

  /// Returns the transmission time of `count` bytes at ten bits per byte.
  private static func transmissionTime(_ count: Int, _ lineSpeed: UInt32) -> Interval {
    Interval(seconds: Double(count * 10) / Double(lineSpeed))
  }
}

/// Divides a recording into epochs and computes their times.
private struct Timeline {
  let interval: Interval
  var chunks: [Recording.Chunk] = []
  var epochs = 0
  private var chunkStart = 0
  /// Largest time step that a single epoch may cause.
  private static let maximumStep = Interval.seconds(3_600)
  private var timeBase: Int64?
  private var unconfirmedTime: Int64?
  /// Whether two successive epochs have agreed on the time.
  private var isConfirmed = false
  private var now = Instant.boot
  private var last: (time: Int64, ofDay: Int64, hasFix: Bool)?
  /// Offset from UTC to the scale of ``time(of:)``, once a date is certain.
  private var utcShift: Int64?

  init(interval: Interval) { self.interval = interval }

  mutating func scan(
    _ bytes: [UInt8], _ options: EpochOptions, _ decoding: DecoderOptions, decodesAll: Bool
  ) {
    var decoder = GNSSDecoder(decoding)
    var assembler = EpochAssembler(options)
    let span = bytes.span
    var offset = 0
    var messageEnd = 0
    // Whether all messages so far are sentences. Among UBX messages, a sentence may open or close another epoch than
    // its own, so it must be decoded.
    var isNMEA = true
    // Time field of the open epoch's first sentence, if only that sentence has been decoded.
    var timeField: RepeatedTimeField?
    // Sentences before this position are decoded.
    var decodedEnd = decodesAll ? span.count : 0
    while offset < span.count {
      let maySkip = isNMEA && offset >= decodedEnd && decoder.bufferedByteCount == 0
      // Sentences without a new time and position only extend the open epoch.
      if maySkip, assembler.isOpen {
        let first = offset
        var last = offset
        while let end = TimelessSentence.end(of: span, from: offset, timeField) {
          last = offset
          offset = end
        }
        // The epoch ends with its last valid sentence: if the last one is damaged, all are decoded.
        if offset > first {
          if NMEAFraming.end(of: span, from: last) == offset {
            messageEnd = offset
          } else {
            decodedEnd = offset
            offset = first
          }
        }
      }
      let line = offset
      let piece = span.extracting(..<(isNMEA ? Timeline.lineEnd(span, offset) : span.count))
      while let message = decoder.next(piece, &offset) {
        // An epoch that this message closed ended with the previous message.
        let previousEnd = messageEnd
        messageEnd = offset - decoder.bufferedByteCount
        if isNMEA, !message.isSentence { isNMEA = false }
        let wasOpen = assembler.isOpen
        var closed = assembler.add(message, at: .boot)
        timeField = nil
        if maySkip, closed != nil || !wasOpen, assembler.isOpen,
          NMEAFraming.end(of: span, from: line) == messageEnd
        {
          timeField = RepeatedTimeField(message, in: span, from: line)
        }
        while let epoch = closed {
          closed = assembler.next()
          let isWhole = closed == nil && !assembler.isOpen
          endChunk(epoch, at: isWhole ? messageEnd : previousEnd)
        }
      }
    }
    while let message = decoder.finish() {
      if let epoch = assembler.add(message, at: .boot) { endChunk(epoch, at: messageEnd) }
      while let epoch = assembler.next() { endChunk(epoch, at: messageEnd) }
    }
    while assembler.isOpen {
      if let epoch = assembler.close() { endChunk(epoch, at: messageEnd) }
    }
    if chunkStart < bytes.count {
      chunks.append(Recording.Chunk(time: now, range: chunkStart..<bytes.count))
    }
  }

  /// Returns the end of the line that contains `start`, or a position at most 4,096 bytes after `start`.
  private static func lineEnd(_ bytes: Span<UInt8>, _ start: Int) -> Int {
    let limit = min(bytes.count, start + 4_096)
    var i = start
    while i &+ 8 <= limit {
      // Eight bytes are available, and all bit patterns are valid integers.
      let bits = unsafe bytes.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: i, as: UInt64.self)
      let marked = UInt64(littleEndian: bits) ^ 0x0A0A_0A0A_0A0A_0A0A
      // Subtracting one from a zero byte sets its highest bit; the lowest hit is exact.
      let hit = (marked &- 0x0101_0101_0101_0101) & ~marked & 0x8080_8080_8080_8080
      if hit != 0 { return i &+ hit.trailingZeroBitCount &>> 3 &+ 1 }
      i &+= 8
    }
    while i < limit {
      i += 1
      if bytes[i - 1] == UInt8(ascii: "\n") { break }
    }
    return i
  }

  private mutating func endChunk(_ epoch: Epoch, at end: Int) {
    epochs += 1
    let moment = self.sendTime(of: epoch)
    now = max(now, moment)
    guard end > chunkStart else { return }
    chunks.append(Recording.Chunk(time: moment, range: chunkStart..<end))
    chunkStart = end
  }

  private mutating func sendTime(of epoch: Epoch) -> Instant {
    let next = epochs > 1 ? now + interval : now
    guard let time = time(of: epoch) else { return next }
    let isFirst = timeBase == nil
    let base = timeBase ?? time - now.microseconds
    timeBase = base
    if isDateIgnored(epoch) {
      last?.time = base + next.microseconds
      return next
    }
    let own = Instant(microseconds: time - base)
    if epoch.origin == .batch { return max(own, .boot) }
    guard own - now > Timeline.maximumStep || now - own > Timeline.maximumStep else {
      unconfirmedTime = nil
      if !isFirst { isConfirmed = true }
      return max(own, now)
    }
    // A single epoch with a deviating date is an error of the receiver, even the first epoch. Two epochs that agree
    // are accepted.
    guard let previous = unconfirmedTime, time - previous >= 0,
      time - previous < Timeline.maximumStep.microseconds
    else {
      unconfirmedTime = time
      if hasCertainDate(epoch) { last?.time = base + next.microseconds }
      return next
    }
    unconfirmedTime = nil
    if own > now, isConfirmed { return own }
    isConfirmed = true
    timeBase = time - next.microseconds
    return next
  }

  /// Returns an epoch's time in microseconds on a private scale: UTC if it is certain, otherwise the accumulated
  /// steps of the time of day; nil without a time of day.
  ///
  /// The date of a receiver without a position may come from a clock that was never set.
  private mutating func time(of epoch: Epoch) -> Int64? {
    guard let ofDay = epoch.timeOfDay_us ?? epoch.utc?.microsecondsOfDay else { return nil }
    var time = accumulatedTime(to: ofDay, epoch)
    if let utc = epoch.utc, hasCertainDate(epoch) {
      let shift = utcShift ?? time - utc.microseconds
      utcShift = shift
      time = utc.microseconds + shift
    }
    last = (time, ofDay, epoch.fix != nil)
    return time
  }

  /// Whether an epoch's date is marked as uncertain after others were certain. Its time is then ignored.
  private func isDateIgnored(_ epoch: Epoch) -> Bool {
    utcShift != nil && epoch.utc != nil && epoch.isDateUncertain && epoch.fix != nil
  }

  private func hasCertainDate(_ epoch: Epoch) -> Bool {
    epoch.utc != nil && !epoch.isDateUncertain && epoch.fix != nil
  }

  /// Returns the previous epoch's time plus the step from its time of day, across midnight if necessary.
  ///
  /// Without a position the receiver's clock may be set between two epochs, so a step back or of more than an hour is
  /// replaced by the interval. Epochs from the batch buffer may be earlier.
  private func accumulatedTime(to ofDay: Int64, _ epoch: Epoch) -> Int64 {
    guard let last else { return ofDay }
    let day: Int64 = 86_400_000_000
    let leap = Timeline.maximumStep.microseconds
    var step = ofDay - last.ofDay
    if step < -day / 2 { step += day }
    if step > day - leap { step -= day }
    let isSure = epoch.fix != nil && last.hasFix
    if !isSure, epoch.origin == .live, step < 0 || step > leap { step = interval.microseconds }
    return last.time + step
  }
}

extension GNSSMessage {
  /// Whether the message is a sentence or malformed. Messages of every other kind come from a binary frame.
  fileprivate var isSentence: Bool {
    switch self {
    case .rmc, .gga, .gsa, .gsv, .gst, .vtg, .zda, .gll, .gns, .gbs, .ubloxPosition, .garminErrors,
      .garminAltitude, .commandResult, .receiverNotice, .unknown(.sentence), .malformed:
      true
    case .navPVT, .hnrPVT, .navigation, .acknowledged, .refused, .configurationValues,
      .receiverVersion, .batchStatus,
      .batchEntry, .aidingEntry, .aidingAnswer, .unknown(.frame):
      false
    }
  }
}

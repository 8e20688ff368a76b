import GNSSProtocols
import LocationTypes
import SimulatedHAL

/// Finds out when each part of a recording was sent, so that it can be played at its own time.
///
/// A recording does not say when its bytes came: their epochs do. Bytes up to the end of an epoch's
/// last message belong to that epoch's moment. Times that step back a little stand still until they
/// are passed, a step of more than an hour is believed when two epochs agree on it, and epochs
/// without any time follow each other at the given interval. Of an uncertain date, and of the date
/// of an epoch without a position, only the time of day counts. What comes out of a
/// receiver's own buffer is played when it was true, also where a live epoch was sent before it.
public struct RecordingScan: Sendable {
  /// The recording with the time of each part, from 0.
  public let recording: Recording
  /// The day of recording, from its header or as given (STD-13).
  public let date: CalendarDate?
  /// When the last byte has been sent.
  public let end: Instant
  /// How its bytes are to be decoded.
  public let decoding: DecoderOptions
  /// Epochs in it, with or without a fix.
  public let epochs: Int

  /// Scans a recording; `#` lines at line starts are its header and not the receiver's.
  ///
  /// - Parameters:
  ///   - bytes: The file.
  ///   - date: The day of recording, if known better than by its header.
  ///   - interval: The time between epochs that do not tell theirs.
  ///   - lineSpeed: Baud.
  ///   - decoding: What of its sentences counts.
  public init(
    _ file: [UInt8], date: CalendarDate?, interval: Interval, lineSpeed: UInt32,
    _ decoding: DecoderOptions = DecoderOptions()
  ) {
    self.init(
      file, date: date, interval: interval, lineSpeed: lineSpeed, decoding, readsAll: false)
  }

  /// Scans a recording; with `readsAll` also what tells no time is decoded, which changes nothing.
  init(
    _ file: [UInt8], date: CalendarDate?, interval: Interval, lineSpeed: UInt32,
    _ decoding: DecoderOptions, readsAll: Bool
  ) {
    var bytes: [UInt8] = []
    var headerDate: CalendarDate?
    var filter = RecordingFilter()
    var offset = 0
    while let piece = filter.next(file.span, &offset) {
      switch piece {
      // Most recordings carry no such lines: nothing is copied then.
      case .bytes(let range) where range.count == file.count: bytes = file
      case .bytes(let range): bytes.append(contentsOf: file[range])
      case .date(let date): if headerDate == nil { headerDate = date }
      case .unreadDate: break
      }
    }
    self.date = date ?? headerDate
    self.decoding = decoding
    var options = EpochOptions()
    options.recordingDate = self.date
    var timeline = Timeline(interval: interval)
    timeline.run(bytes, options, decoding, readsAll: readsAll)
    let chunks = RecordingScan.paced(timeline.chunks, lineSpeed)
    recording = Recording(bytes: bytes, chunks: chunks)
    epochs = timeline.epochs
    let last = chunks.last
    end = (last?.time ?? .boot) + RecordingScan.sending(last?.range.count ?? 0, lineSpeed)
  }

  /// The parts in the order of their times; parts of one time follow each other as the line lets them.
  private static func paced(
    _ parts: [Recording.Chunk], _ lineSpeed: UInt32
  ) -> [Recording.Chunk] {
    var paced: [Recording.Chunk] = []
    paced.reserveCapacity(parts.count)
    var before = Instant.boot
    // Swift's sort is stable.
    for part in parts.sorted(by: { $0.time < $1.time }) {
      var time = part.time
      if let last = paced.last {
        let free = last.time + sending(last.range.count, lineSpeed)
        time = part.time == before ? free : max(part.time, last.time)
      }
      before = part.time
      paced.append(Recording.Chunk(time: time, range: part.range))
    }
    return paced
  }

  /// How long `count` bytes take, ten bits each.
  private static func sending(_ count: Int, _ lineSpeed: UInt32) -> Interval {
    Interval(seconds: Double(count * 10) / Double(lineSpeed))
  }
}

/// Cuts a recording into epochs and dates them.
private struct Timeline {
  let interval: Interval
  var chunks: [Recording.Chunk] = []
  var epochs = 0
  private var begin = 0
  /// A step in time that one epoch alone is not believed.
  private static let leap = Interval.seconds(3_600)
  private var first: Int64?
  private var suspect: Int64?
  /// Two epochs in a row have agreed on the time.
  private var isAgreed = false
  private var now = Instant.boot
  private var last: (time: Int64, ofDay: Int64, hasFix: Bool)?
  /// From UTC to the scale of ``time(of:)``, once a date is certain.
  private var utcShift: Int64?

  init(interval: Interval) { self.interval = interval }

  mutating func run(
    _ bytes: [UInt8], _ options: EpochOptions, _ decoding: DecoderOptions, readsAll: Bool
  ) {
    var decoder = GNSSDecoder(decoding)
    var assembler = EpochAssembler(options)
    let span = bytes.span
    var offset = 0
    var messageEnd = 0
    // With epochs of UBX beside them sentences open and close more than their own.
    var isNMEA = true
    // What the open epoch's first sentence has told, if that is all that was read of it.
    var told: EchoedTime?
    while offset < span.count {
      let isFresh = isNMEA && !readsAll && decoder.unread == 0
      // Sentences without a new time and place change nothing but where the open epoch ends.
      if isFresh, assembler.isOpen {
        while offset < span.count, let end = TimelessSentence.end(of: span, from: offset, told) {
          offset = end
          messageEnd = end
        }
        if offset == span.count { break }
      }
      let line = offset
      let piece = span.extracting(..<(isNMEA ? Timeline.lineEnd(span, offset) : span.count))
      while let message = decoder.next(piece, &offset) {
        // An epoch that this message closed ended with the message before.
        let before = messageEnd
        messageEnd = offset - decoder.unread
        if isNMEA, !message.isSentence { isNMEA = false }
        let wasOpen = assembler.isOpen
        var closed = assembler.add(message, at: .boot)
        told = nil
        if isFresh, closed != nil || !wasOpen, assembler.isOpen,
          NMEAFraming.end(of: span, from: line) == messageEnd
        {
          told = EchoedTime(message, in: span, from: line)
        }
        while let epoch = closed {
          closed = assembler.next()
          let isWhole = closed == nil && !assembler.isOpen
          cut(epoch, at: isWhole ? messageEnd : before)
        }
      }
    }
    while let message = decoder.finish() {
      if let epoch = assembler.add(message, at: .boot) { cut(epoch, at: messageEnd) }
      while let epoch = assembler.next() { cut(epoch, at: messageEnd) }
    }
    while assembler.isOpen {
      if let epoch = assembler.close() { cut(epoch, at: messageEnd) }
    }
    if begin < bytes.count {
      chunks.append(Recording.Chunk(time: now, range: begin..<bytes.count))
    }
  }

  /// Where the line that holds `start` ends; or so far behind it that it does not matter.
  private static func lineEnd(_ bytes: Span<UInt8>, _ start: Int) -> Int {
    let limit = min(bytes.count, start + 4_096)
    var i = start
    while i &+ 8 <= limit {
      // Eight bytes are there, and any bits are an integer.
      let bits = unsafe bytes.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: i, as: UInt64.self)
      let marked = UInt64(littleEndian: bits) ^ 0x0A0A_0A0A_0A0A_0A0A
      // Where a byte is zero, taking one off it sets its highest bit; exact in the lowest.
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

  private mutating func cut(_ epoch: Epoch, at end: Int) {
    epochs += 1
    let moment = self.moment(of: epoch)
    now = max(now, moment)
    guard end > begin else { return }
    chunks.append(Recording.Chunk(time: moment, range: begin..<end))
    begin = end
  }

  private mutating func moment(of epoch: Epoch) -> Instant {
    let next = epochs > 1 ? now + interval : now
    guard let time = time(of: epoch) else { return next }
    let isFirst = first == nil
    let base = first ?? time - now.microseconds
    first = base
    if isMarked(epoch) {
      last?.time = base + next.microseconds
      return next
    }
    let own = Instant(microseconds: time - base)
    if epoch.origin == .batch { return max(own, .boot) }
    guard own - now > Timeline.leap || now - own > Timeline.leap else {
      suspect = nil
      if !isFirst { isAgreed = true }
      return max(own, now)
    }
    // One epoch with a strange date is a mistake of the receiver, be it the first; two that agree
    // are not.
    guard let before = suspect, time - before >= 0, time - before < Timeline.leap.microseconds
    else {
      suspect = time
      if isDated(epoch) { last?.time = base + next.microseconds }
      return next
    }
    suspect = nil
    if own > now, isAgreed { return own }
    isAgreed = true
    first = time - next.microseconds
    return next
  }

  /// Microseconds on a scale of its own: UTC where it is certain, else steps of the time of day.
  ///
  /// A receiver without a position tells the date of a clock that may never have been set.
  private mutating func time(of epoch: Epoch) -> Int64? {
    guard let ofDay = epoch.timeOfDay_us ?? epoch.utc?.microsecondsOfDay else { return nil }
    var time = stepped(to: ofDay, epoch)
    if let utc = epoch.utc, isDated(epoch) {
      let shift = utcShift ?? time - utc.microseconds
      utcShift = shift
      time = utc.microseconds + shift
    }
    last = (time, ofDay, epoch.fix != nil)
    return time
  }

  /// Whether a date is marked where others were certain: it says nothing of when, nor agrees with any.
  private func isMarked(_ epoch: Epoch) -> Bool {
    utcShift != nil && epoch.utc != nil && epoch.isDateUncertain && epoch.fix != nil
  }

  private func isDated(_ epoch: Epoch) -> Bool {
    epoch.utc != nil && !epoch.isDateUncertain && epoch.fix != nil
  }

  /// The epoch before and the way from its time of day, across midnight or not.
  ///
  /// Without a position the clock may be set to any time in between: a step back, or over an hour,
  /// is none in time then. Out of a buffer come earlier epochs.
  private func stepped(to ofDay: Int64, _ epoch: Epoch) -> Int64 {
    guard let last else { return ofDay }
    let day: Int64 = 86_400_000_000
    let leap = Timeline.leap.microseconds
    var step = ofDay - last.ofDay
    if step < -day / 2 { step += day }
    if step > day - leap { step -= day }
    let isSure = epoch.fix != nil && last.hasFix
    if !isSure, epoch.origin == .live, step < 0 || step > leap { step = interval.microseconds }
    return last.time + step
  }
}

extension GNSSMessage {
  /// Whether it was a sentence, or nothing that belongs to an epoch.
  fileprivate var isSentence: Bool {
    switch self {
    case .rmc, .gga, .gsa, .gsv, .gst, .vtg, .zda, .gll, .gns, .gbs, .ubloxPosition, .garminErrors,
      .garminAltitude, .commandResult, .receiverNotice, .unread(.sentence), .other:
      true
    case .navPVT, .hnrPVT, .navigation, .acknowledged, .refused, .receiverVersion, .batchStatus,
      .batchEntry, .aidingEntry, .aidingAnswer, .unread(.frame):
      false
    }
  }
}

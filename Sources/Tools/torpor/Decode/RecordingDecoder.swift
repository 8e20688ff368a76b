import CLinux
import GNSSProtocols
import LocationSimulation
import LocationTypes

/// Decodes the bytes of a recording or of live input into epochs, in blocks of any size and in bounded memory.
struct RecordingDecoder: ~Copyable {
  /// Source of the bytes.
  enum Source {
    /// A complete file.
    case file
    /// A pipe, or a file that grows: the blocks can end anywhere.
    case live
    /// A receiver, in real time: no date can be before that of the build (STD-13).
    case device
  }

  private var filter = RecordingFilter()
  private var decoder: GNSSDecoder
  private var assembler: EpochAssembler
  private let source: Source
  private let isDateGiven: Bool
  private var now = Instant.boot
  /// Valid messages that the decoder does not use.
  private(set) var unread = UnreadMessages()
  /// Number of epochs so far.
  private(set) var epochs = 0
  /// Number of epochs with a position.
  private(set) var fixes = 0
  /// Number of epochs with a time of day but no date.
  private(set) var undated = 0
  /// Number of epochs whose date was corrected or could not be checked.
  private(set) var uncertain = 0
  /// Number of `# Date:` lines that cannot be parsed.
  private var invalidDates = 0
  /// Whether a message was decoded that is only a part of an epoch.
  private var hasEpochParts = false
  /// Number of epochs that the last block completed.
  private var epochsInBlock = 0
  /// First bytes of the input, by which other formats are recognised; at most ``ForeignFormat/prefixLength``.
  private(set) var firstBytes: [UInt8] = []

  /// Creates a decoder.
  ///
  /// - Parameter date: Day of the recording, which overrides the recording's `# Date:` lines; nil if not given.
  init(dateGiven date: CalendarDate?, source: Source = .file, _ options: DecoderOptions = .init()) {
    self.source = source
    isDateGiven = date != nil
    decoder = GNSSDecoder(options)
    assembler = RecordingDecoder.assembler(date, source)
  }

  /// The decoder's counts of messages and errors.
  var counters: DecoderCounters { decoder.counters }
  /// Whether a sentence or frame was recognised.
  var hasMessages: Bool {
    counters.sentences > 0 || counters.withoutChecksum > 0 || counters.frames > 0
  }

  /// Decodes a block that was received at `now` and passes each epoch it completes to `emit`.
  ///
  /// A recording has no receive times, so all its blocks have the same `now`.
  mutating func decode(_ block: [UInt8], at now: Instant = .boot, _ emit: (Epoch) -> Void) {
    self.now = now
    epochsInBlock = 0
    let missing = ForeignFormat.prefixLength - firstBytes.count
    if missing > 0 { firstBytes += block.prefix(missing) }
    assembler.noteInput(at: now)
    let bytes = block.span
    var offset = 0
    while let piece = filter.next(bytes, &offset) {
      switch piece {
      case .bytes(let range): decode(bytes.extracting(range), emit)
      case .date(let date): startRecording(date, emit)
      case .invalidDate: invalidDates += 1
      }
    }
  }

  /// Time without input after which to call ``handleSilence(for:_:)``; nil if nothing is pending.
  ///
  /// For a device, `EpochAssembler` measures how long the receiver pauses between messages; a pause inside a message is
  /// a delay of the transport.
  ///
  /// Blocks from a pipe or a growing file can end anywhere. There is therefore no limit to the wait for the remainder
  /// of a frame, and if a block completed several epochs, the pauses are those of the writer, not of the receiver. The
  /// pauses of such input are not measured; the longest pause within an epoch applies, because an epoch that is closed
  /// too early would differ from the same epoch read from a file.
  var silenceTimeout: Interval? {
    switch source {
    case .file: nil
    case .device:
      assembler.idleTimeout(isMidFrame: decoder.isMidFrame, isMidSentence: decoder.isMidSentence)
    case .live:
      if !assembler.isOpen || decoder.isMidFrame {
        nil
      } else {
        epochsInBlock > 1 ? RecordingDecoder.longestWriterPause : longestReceiverPause
      }
    }
  }

  /// Longest pause within an epoch of a receiver that is read through a pipe: that of a receiver on a line, or the
  /// shortest one if every message has been a complete epoch so far.
  private var longestReceiverPause: Interval {
    epochs > 0 && !hasEpochParts
      ? EpochAssembler.minimumSilenceTimeout : EpochAssembler.maximumSilenceTimeout
  }

  /// Longest pause that a program makes within an epoch while it writes a recording to a pipe.
  private static let longestWriterPause = Interval.seconds(2)

  /// Closes the pending epoch after `silence` without input; if that is at least `EpochAssembler.messageTimeout`, first
  /// decodes the incomplete message.
  mutating func handleSilence(for silence: Interval, _ emit: (Epoch) -> Void) {
    if silence >= EpochAssembler.messageTimeout { finish(emit) } else { close(emit) }
  }

  /// Decodes the incomplete message and closes the pending epoch at the end of the input.
  mutating func finish(_ emit: (Epoch) -> Void) {
    while let message = decoder.finish() { add(message, emit) }
    close(emit)
  }

  private mutating func decode(_ bytes: Span<UInt8>, _ emit: (Epoch) -> Void) {
    var offset = 0
    while let message = decoder.next(bytes, &offset) { add(message, emit) }
  }

  private mutating func add(_ message: GNSSMessage, _ emit: (Epoch) -> Void) {
    switch message {
    case .unknown(let name): unread.add(name)
    case .rmc, .gga, .gsa, .gsv, .gst, .vtg, .zda, .gll, .gns, .gbs, .ubloxPosition,
      .garminErrors, .garminAltitude, .navigation:
      hasEpochParts = true
    case .navPVT, .hnrPVT, .acknowledged, .refused, .configurationValues, .receiverVersion,
      .batchStatus, .batchEntry,
      .aidingEntry, .aidingAnswer, .commandResult, .receiverNotice, .malformed:
      break
    }
    if let epoch = assembler.add(message, at: now) { countAndEmit(epoch, emit) }
    while let epoch = assembler.next() { countAndEmit(epoch, emit) }
  }

  private mutating func close(_ emit: (Epoch) -> Void) {
    while assembler.isOpen {
      if let epoch = assembler.close() { countAndEmit(epoch, emit) }
    }
  }

  private mutating func countAndEmit(_ epoch: Epoch, _ emit: (Epoch) -> Void) {
    epochs += 1
    epochsInBlock += 1
    if epoch.fix != nil { fixes += 1 }
    if epoch.utc == nil, epoch.timeOfDay_us != nil { undated += 1 }
    if epoch.utc != nil, epoch.isDateUncertain { uncertain += 1 }
    emit(epoch)
  }

  /// Starts a recording of the day `date`: the first one, or the next one in the same file.
  private mutating func startRecording(_ date: CalendarDate, _ emit: (Epoch) -> Void) {
    guard !isDateGiven else { return }
    close(emit)
    assembler = RecordingDecoder.assembler(date, source)
  }

  private static func assembler(_ date: CalendarDate?, _ source: Source) -> EpochAssembler {
    var options = EpochOptions()
    options.recordingDate = date
    switch source {
    // The same bytes must give the same epochs from a file and from a pipe, so an epoch waits for all its messages.
    case .file, .live: options.waitsForSentences = true
    case .device:
      options.detectsEpochEnd = true
      if date == nil { options.earliestDate = buildDate }
    }
    return EpochAssembler(options)
  }

  private static var buildDate: CalendarDate? {
    CalendarDate(
      year: Int(build_year()), month: Int(build_month()), day: Int(build_day()))
  }
}

extension RecordingDecoder {
  /// Counts of epochs, messages and errors in one line, without those that are 0, and advice on missing data.
  var report: String {
    let counts = counters
    var parts = [
      HumanFormat.count(epochs, of: "epoch"), "\(HumanFormat.count(fixes)) with a fix",
    ]
    func add(_ count: UInt64, _ what: String) {
      if count > 0 { parts.append("\(HumanFormat.count(Int(clamping: count))) \(what)") }
    }
    func add(_ count: UInt64, of what: String, _ more: String = "") {
      if count > 0 { parts.append(HumanFormat.count(Int(clamping: count), of: what) + more) }
    }
    add(UInt64(counts.sentences) + UInt64(counts.withoutChecksum), of: "NMEA sentence")
    add(UInt64(counts.withoutChecksum), "without a checksum")
    add(UInt64(counts.frames), of: "UBX frame")
    add(UInt64(counts.otherFrames), of: "other binary frame", " skipped")
    parts += unread.summaries
    add(UInt64(counts.checksumErrors), of: "wrong checksum")
    add(UInt64(counts.malformed), "malformed")
    add(UInt64(counts.truncated), "incomplete")
    add(UInt64(counts.overlong), "too long")
    add(counts.skippedBytes, of: "byte", " skipped")
    return "torpor: " + parts.joined(separator: ", ") + advice
  }

  /// Advice on an invalid date line and on missing data; empty if none exists.
  private var advice: String {
    let date =
      invalidDates == 0 || isDateGiven
      ? ""
      : "\ntorpor: a `# Date:` line cannot be parsed; "
        + "write it as # Date: YYYY-MM-DD, or set the date with --date"
    return date + missingDataAdvice
  }

  private var missingDataAdvice: String {
    if epochs == 0 {
      return "\ntorpor: there is no epoch, because no message reports a position; enable "
        + "RMC, GGA, GLL or NAV-PVT in the receiver"
    }
    if undated > 0 {
      return
        "\ntorpor: \(HumanFormat.count(undated, of: "epoch")) \(undated == 1 ? "has" : "have") a time of day "
        + "but no date; set the day of the first one with --date YYYY-MM-DD"
    }
    return ""
  }
}

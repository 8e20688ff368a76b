import CLinux
import GNSSProtocols
import LocationSimulation
import LocationTypes

/// What a receiver says, from bytes to epochs, in any blocks and with bounded memory.
struct RecordingDecoder: ~Copyable {
  /// Where the bytes come from.
  enum Source {
    /// All there is lies there already.
    case file
    /// They come as they are made, or as they are written to a file.
    case live
    /// They come from a receiver, now: no date can be before the build's (STD-13).
    case device
  }

  private var filter = RecordingFilter()
  private var decoder: GNSSDecoder
  private var assembler: EpochAssembler
  private let source: Source
  private let isDateGiven: Bool
  private var now = Instant.boot
  /// Messages that are right and that nobody here reads.
  private(set) var unread = UnreadMessages()
  /// Epochs so far.
  private(set) var epochs = 0
  /// Those of them with a position.
  private(set) var fixes = 0
  /// Those of them whose time of day is known and whose day is not.
  private(set) var undated = 0
  /// Those of them whose date was put right or could not be checked.
  private(set) var uncertain = 0
  /// Header lines with a date that cannot be read.
  private var unreadDates = 0
  /// Whether messages have come of which an epoch needs several.
  private var hasPieces = false
  /// Epochs that the last block has completed.
  private var epochsOfBlock = 0
  /// The first bytes, by which input of another kind is recognised.
  private(set) var beginning: [UInt8] = []

  /// Begins; a date that is given wins over those in the recording.
  init(dateGiven date: CalendarDate?, source: Source = .file, _ options: DecoderOptions = .init()) {
    self.source = source
    isDateGiven = date != nil
    decoder = GNSSDecoder(options)
    assembler = RecordingDecoder.assembler(date, source)
  }

  /// What the decoder met.
  var counters: DecoderCounters { decoder.counters }
  /// Whether anything was recognised.
  var hasMessages: Bool { counters.sentences > 0 || counters.unchecked > 0 || counters.frames > 0 }

  /// Takes a block that came at `now`; `emit` gets each epoch that it completes.
  ///
  /// A recording does not say when its bytes came: all of them come at once.
  mutating func decode(_ block: [UInt8], at now: Instant = .boot, _ emit: (Epoch) -> Void) {
    self.now = now
    epochsOfBlock = 0
    let missing = ForeignFormat.beginning - beginning.count
    if missing > 0 { beginning += block.prefix(missing) }
    assembler.hear(at: now)
    let bytes = block.span
    var offset = 0
    while let piece = filter.next(bytes, &offset) {
      switch piece {
      case .bytes(let range): decode(bytes.extracting(range), emit)
      case .date(let date): begin(date, emit)
      case .unreadDate: unreadDates += 1
      }
    }
  }

  /// How long a live line must be silent until ``fallSilent(for:_:)`` has something to give; nil when
  /// it has nothing.
  ///
  /// Between two messages the assembler knows how long its receiver pauses; what falls silent inside
  /// one was held up on its way.
  ///
  /// What is written to a file or a pipe comes in blocks that end anywhere: there a message that is
  /// not whole is waited for as long as it takes, and where a block had several epochs nobody waited
  /// for the receiver, so that a silence says little. Nothing is learned there: an epoch that a silence
  /// has cut would differ from the file's, so the longest that a receiver makes within one is waited for.
  var silence: Interval? {
    switch source {
    case .file: nil
    case .device:
      assembler.patience(isMidFrame: decoder.isMidFrame, isMidSentence: decoder.isMidSentence)
    case .live:
      if !assembler.isOpen || decoder.isMidFrame {
        nil
      } else {
        epochsOfBlock > 1 ? RecordingDecoder.writersPause : receiversPause
      }
    }
  }

  /// How long a receiver that is read through a pipe may be silent within an epoch: as long as one on a
  /// line, or hardly at all where each message has been an epoch so far.
  private var receiversPause: Interval {
    epochs > 0 && !hasPieces ? EpochAssembler.shortestPause : EpochAssembler.longestPause
  }

  /// How long whoever writes a recording into a pipe may be held up within an epoch.
  private static let writersPause = Interval.seconds(2)

  /// Gives what is complete, for the line has been silent for so long.
  mutating func fallSilent(for silence: Interval, _ emit: (Epoch) -> Void) {
    if silence >= EpochAssembler.messagePatience { finish(emit) } else { close(emit) }
  }

  /// Gives what the end of the recording completes.
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
    case .unread(let name): unread.add(name)
    case .rmc, .gga, .gsa, .gsv, .gst, .vtg, .zda, .gll, .gns, .gbs, .ubloxPosition,
      .garminErrors, .garminAltitude, .navigation:
      hasPieces = true
    case .navPVT, .hnrPVT, .acknowledged, .refused, .receiverVersion, .batchStatus, .batchEntry,
      .aidingEntry, .aidingAnswer, .commandResult, .receiverNotice, .other:
      break
    }
    if let epoch = assembler.add(message, at: now) { give(epoch, emit) }
    while let epoch = assembler.next() { give(epoch, emit) }
  }

  private mutating func close(_ emit: (Epoch) -> Void) {
    while assembler.isOpen {
      if let epoch = assembler.close() { give(epoch, emit) }
    }
  }

  private mutating func give(_ epoch: Epoch, _ emit: (Epoch) -> Void) {
    epochs += 1
    epochsOfBlock += 1
    if epoch.fix != nil { fixes += 1 }
    if epoch.utc == nil, epoch.timeOfDay_us != nil { undated += 1 }
    if epoch.utc != nil, epoch.isDateUncertain { uncertain += 1 }
    emit(epoch)
  }

  /// A recording, or the next one of several in one file, was made on `date`.
  private mutating func begin(_ date: CalendarDate, _ emit: (Epoch) -> Void) {
    guard !isDateGiven else { return }
    close(emit)
    assembler = RecordingDecoder.assembler(date, source)
  }

  private static func assembler(_ date: CalendarDate?, _ source: Source) -> EpochAssembler {
    var options = EpochOptions()
    options.recordingDate = date
    switch source {
    // The same bytes give the same epochs, from a file as from a pipe: what is in no hurry waits for all
    // that is said of a moment.
    case .file, .live: options.waitsForSentences = true
    case .device:
      options.learnsEnd = true
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
  /// What was met, in one line; what is nought goes without saying.
  var report: String {
    let met = counters
    var parts = [
      HumanFormat.count(epochs, of: "epoch"), "\(HumanFormat.count(fixes)) with a fix",
    ]
    func add(_ count: UInt64, _ what: String) {
      if count > 0 { parts.append("\(HumanFormat.count(Int(clamping: count))) \(what)") }
    }
    func add(_ count: UInt64, of what: String, _ more: String = "") {
      if count > 0 { parts.append(HumanFormat.count(Int(clamping: count), of: what) + more) }
    }
    add(UInt64(met.sentences) + UInt64(met.unchecked), of: "NMEA sentence")
    add(UInt64(met.unchecked), "of them without a checksum")
    add(UInt64(met.frames), of: "UBX frame")
    add(UInt64(met.otherFrames), of: "other binary frame", " passed over")
    parts += unread.words
    add(UInt64(met.checksumErrors), of: "wrong checksum")
    add(UInt64(met.malformed), "malformed")
    add(UInt64(met.brokenOff), "broken off")
    add(UInt64(met.overlong), "overlong")
    add(met.skippedBytes, of: "byte", " passed over")
    return "torpor: " + parts.joined(separator: ", ") + advice
  }

  /// What to do about what is missing, if anything is.
  private var advice: String {
    let date =
      unreadDates == 0 || isDateGiven
      ? ""
      : "\ntorpor: the day of a `# Date:` line cannot be read; "
        + "write it as # Date: YYYY-MM-DD, or tell it with --date"
    return date + missing
  }

  private var missing: String {
    if epochs == 0 {
      return "\ntorpor: there is no epoch: none of it tells of a position, as RMC, GGA, GLL or "
        + "NAV-PVT would; let the receiver send one of them"
    }
    if undated > 0 {
      return
        "\ntorpor: \(HumanFormat.count(undated, of: "epoch")) \(undated == 1 ? "has" : "have") a time of day and no date; "
        + "tell the day of the first one with --date YYYY-MM-DD"
    }
    return ""
  }
}

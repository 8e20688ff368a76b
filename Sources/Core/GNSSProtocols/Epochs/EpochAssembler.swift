import LocationTypes

/// Combines the messages of a stream into navigation epochs.
///
/// # Problem
///
/// A receiver computes one solution per navigation epoch and sends it in several messages: NMEA spreads
/// it over RMC, GGA, GSA, GSV …, older u-blox receivers over NAV-POSLLH, NAV-SOL, NAV-VELNED …, while
/// NAV-PVT contains nearly all of it. Order, subset and end of an epoch differ between receivers, both
/// protocols may be sent together with times rounded differently, and messages may come late. Clients
/// need each epoch once, as early as possible, with all values known at that time, in the order of the
/// stream.
///
/// # States
///
/// Several epochs exist at the same time, each in its own slot. ``PendingParts`` has one bit per slot.
///
///     slot           holds                                            at most
///     draft          the open NMEA epoch                              1
///     parts          the open UBX epoch of one GPS time of week       1
///     held           a UBX epoch waiting for sentences of its time    1 (only with waitsForSentences)
///     firstQueued    a complete epoch, emitted next                   1
///     secondQueued   an epoch that waits for its NAV-HPPOSLLH, or     1
///                    a complete one that is emitted after firstQueued
///
/// The NMEA epoch (`draft`):
///
///             any NMEA sentence except ZDA
///     empty ─────────────────────────────────────────────▶ open ──┐ sentence of the same
///       ▲                                                   │  ▲  │ time, or without time
///       │                                                   │  └──┘
///       ├── emitted: its validity was reported ◀── close ◀──┤ sentence of another time or date
///       │                                          │        │ sentence without time, of the kind that opened it
///       ├── discarded: no validity was reported ◀──┘        │ UBX solution of another time, or without time
///       │                                                   │ detected last message
///       │                                                   │ close(): silence or end of stream
///       └── discarded: UBX solution of the same time ◀──────┘
///           (without waitsForSentences)
///
/// Only sentences that may contain a time (RMC, GGA, GLL, GST, GNS, GBS, PUBX) close an epoch. GSA,
/// GSV, VTG, PGRME and PGRMZ belong to the open epoch, or open the next one. ZDA neither opens nor
/// closes one, because some receivers send it with the time of the second to come; only in a recording
/// without any other time does each ZDA end an epoch (`isOnlyTimeSource`). A sentence of an epoch
/// already emitted is ignored.
///
/// The UBX epoch (`parts`):
///
///             part of a new time of week
///     empty ──────────────────────────────▶ open ──┐ part of the same time of week
///       ▲                                    │  ▲  │
///       │                                    │  └──┘
///       ├── emitted if a fix status came ◀───┤ part of another time of week (opens the next one)
///       │   (NAV-SOL or NAV-STATUS),         │ NAV-EOE of the same time of week
///       │   else discarded                   │ NAV-PVT or HNR-PVT of another time of week
///       │                                    │ detected last message; close()
///       └── merged into the NAV-PVT ◀────────┘ NAV-PVT or HNR-PVT of the same time of week
///
/// A whole UBX solution (NAV-PVT, HNR-PVT, or a closed `parts`):
///
///     solution ──▶ without valid UTC ──▶ emitted immediately
///         │
///         ├── its time was emitted already ──▶ discarded
///         ├── waitsForSentences ──▶ held ──▶ merged with `draft` when that closes, or
///         │                                  emitted unchanged when a sentence or solution of another
///         │                                  time arrives, or at close()
///         ├── NAV-HPPOSLLH expected ──▶ secondQueued, `awaitedPrecisionTime_ms` set
///         │                                ├── NAV-HPPOSLLH of its time: refined, emitted
///         │                                ├── other part of its time: waits on
///         │                                ├── NAV-EOE, any other epoch message: emitted, one miss
///         │                                └── close(): emitted
///         └── otherwise ──▶ emitted immediately
///
/// Only NAV-PVT and HNR-PVT wait for NAV-HPPOSLLH, and only with a fix and while nothing else is closed
/// or queued; ``HighPrecisionDetector`` decides whether it is expected. LOG-BATCH was measured earlier: it is
/// emitted immediately and changes no slot.
///
/// # Invariants
///
/// - An epoch is emitted at most once: `lastEmitted` identifies the newest one, and messages of its
///   time within ``lateWindow`` are late. UBX epochs are compared by UTC and time of week, NMEA epochs by
///   time of day and date, epochs of different protocols by time of day within
///   ``roundingTolerance_us``.
/// - One message completes at most three epochs: the sentences and the parts that it closed, and its
///   own. The first is returned, two are queued; queued epochs are emitted before newer ones, so their
///   order is kept.
/// - A message is processed in O(1). All storage is inline, without heap.
/// - While no bit of `pending` is set and no NAV-HPPOSLLH is expected, NAV-PVT is decoded directly into
///   the caller's epoch (`addDirectly`); all other paths go through `emit`.
///
/// # Who changes what
///
/// `draft` and `parts` change only while a message is added or closed here. ``EpochCalendar`` owns all
/// dates, ``EpochEndDetector`` the detection of the last message (only with
/// ``EpochOptions/detectsEpochEnd``).
/// `placement` and `messageKey` describe only the message being added. ``GNSSDecoder`` sets `arrival`
/// before it decodes a chunk, ``add(_:at:)`` for each message.
///
/// Depends on `LocationTypes` and the message types of this module. No clock: the arrival time is an
/// argument.
public struct EpochAssembler: Sendable {
  let options: EpochOptions
  var calendar: EpochCalendar
  // Which of the following slots are in use.
  @usableFromInline var about = EpochsAbout()
  // Not optional: the draft is large and only ever changed in place.
  var draft = EpochDraft()
  var waiting = Epoch()
  var held = Epoch()
  var last: Given?
  var pendingDate: ZDA?
  // Time from ZDA for an epoch without another time.
  var clock: ZDA?
  // Members read from other modules are inlinable: a call would copy the whole assembler.
  @usableFromInline var end: EpochEnd
  var landing = Landing.nowhere
  // Arrival time of the message being added, and its key if it has one.
  @usableFromInline var arrival = Instant.boot
  var mark = EpochMark(kind: 0)
  // The open UBX epoch.
  var parts = UBXDraft()
  var awaited = Epoch()
  var awaitedTime_ms: UInt32?
  var precision = PrecisionHabit()
  var view = UBXSatellites(timeOfWeek_ms: 0)
  var leapSeconds: Int8?

  /// Identity of the last emitted epoch, to recognise late and repeated messages.
  struct Given: Equatable {
    var time_us: Int64
    var isUBX: Bool
    var at: Instant
    var date: ShortDate?
    /// GPS time of week, ms; −1 if unknown.
    var timeOfWeek_ms: Int64 = -1
    var utc_us = Int64.min
    var isHighRate = false
    /// Kinds of sentences that contained its time.
    var timed = EpochMarks()
  }

  /// Where the last added message was placed.
  enum Landing {
    /// In no open epoch.
    case nowhere
    /// In an epoch that it opened.
    case opened
    /// In the open epoch.
    case joined
    /// Ignored: its epoch was already emitted.
    case late
  }

  /// Bound of the difference between UBX and NMEA times of one epoch, which receivers round
  /// differently.
  static let tolerance_us: Int64 = 15_000
  /// Age after which an equal time of day means another day instead of a late message.
  static let lateness = Interval.seconds(3_600)

  /// Creates an assembler at the start of a stream.
  public init(_ options: EpochOptions = EpochOptions()) {
    self.options = options
    calendar = EpochCalendar(options)
    end = EpochEnd(pause: options.pause)
    about[EpochsAbout.sentences] = options.waitsForSentences
  }

  /// Silence on the line that ends the open epoch: call ``close()`` when it has passed since the last
  /// byte. Measured if the options request it, 40 to 400 ms.
  @inlinable public var pause: Interval { end.pause }

  /// Whether the last message of this receiver's epochs is detected, so that no silence is needed.
  @inlinable public var isEndKnown: Bool { end.isLearned }

  /// Records the arrival of bytes, before their messages are added; used to measure the receiver's
  /// silences within an epoch.
  ///
  /// - Parameter isBuffered: Whether the bytes were buffered instead of read on arrival; their arrival
  ///   time, and any silence before them, is then unknown.
  public mutating func hear(at now: Instant, isGathered: Bool = false) {
    if options.learnsEnd { end.hear(at: now, isGathered: isGathered) }
  }

  /// Whether an unfinished epoch, or one for ``next()``, is stored.
  @inlinable public var isOpen: Bool { about.hasEpoch }

  /// Adds a message and returns the epoch that it closed or completed.
  ///
  /// `now` is the arrival time of the message; a fix has the arrival time of its first sentence. If a
  /// UBX epoch closes an NMEA epoch, the NMEA epoch is returned, and the UBX epoch by ``next()`` or by
  /// the next call of any kind: none is lost. O(1).
  public mutating func add(_ message: GNSSMessage, at now: Instant) -> Epoch? {
    arrival = now
    var epoch = Epoch()
    return add(message, into: &epoch) ? epoch : nil
  }

  /// Adds a message that arrived at ``arrival``; writes the epoch that it closed or completed and
  /// returns true, else returns false.
  private mutating func add(_ message: GNSSMessage, into epoch: inout Epoch) -> Bool {
    if hasWaiting || isAwaiting { return addBehind(message, into: &epoch) }
    let isMade = made(by: message, into: &epoch)
    return options.learnsEnd ? closeIfOver(isMade, into: &epoch) : isMade
  }

  /// Whether ``next()`` may return an epoch.
  @inlinable public var hasNext: Bool { about.mayHaveNext }

  /// Returns a further epoch that the last message completed in addition to the one returned by
  /// ``add(_:at:)``.
  public mutating func next() -> Epoch? {
    if hasWaiting {
      hasWaiting = false
      return waiting
    }
    return isAwaiting && awaitedTime_ms == nil ? takeAwaited() : nil
  }

  /// Closes the open epoch, after a silence on the line or at the end of the stream.
  ///
  /// - Returns: nil if none is open, or if no message reported whether there is a position.
  public mutating func close() -> Epoch? {
    if hasWaiting { return next() }
    if isAwaiting { return takeAwaited() }
    if hasParts, let epoch = closeParts(at: parts.received, by: .silence) { return epoch }
    return closeDraft(at: draft.received, by: .silence)
  }

  mutating func made(by message: GNSSMessage, into epoch: inout Epoch) -> Bool {
    landing = .nowhere
    let made: Epoch?
    switch message {
    case .rmc(let m): return take(m, into: &epoch)
    case .gga(let m): return take(m, into: &epoch)
    case .gsa(let m): return take(m, into: &epoch)
    case .gsv(let m): return take(m, into: &epoch)
    case .gll(let m): return take(m, into: &epoch)
    case .gst(let m): return take(m, into: &epoch)
    case .vtg(let m): return take(m, into: &epoch)
    case .gns, .gbs, .ubloxPosition, .zda, .garminErrors, .garminAltitude:
      return take(message, into: &epoch)
    case .navPVT(let solution): return addLive(solution, at: arrival, into: &epoch)
    case .hnrPVT(let solution): return addHighRate(solution, at: arrival, into: &epoch)
    case .navigation(let part): made = addPart(part, at: arrival)
    case .batchEntry(let entry): made = addStored(entry.solution, at: arrival)
    case .acknowledged, .refused, .receiverVersion, .batchStatus, .aidingEntry, .aidingAnswer,
      .commandResult, .receiverNotice, .unread, .other:
      return false
    }
    guard let made else { return false }
    epoch = made
    return true
  }
}

// MARK: Decoding without GNSSMessage values

extension EpochAssembler: FrameReader {
  @inline(__always)
  mutating func frame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters,
    into epoch: inout Epoch
  ) -> Bool {
    // Fast path: every fix of a UBX receiver passes here.
    if identity == .navPVT, !hasWaiting, !isAwaiting, UBXSolution.isNavPVT(payload) {
      return addLive(payload, into: &epoch)
    }
    return add(UBXDecoding.message(identity, payload, &counters), into: &epoch)
  }

  @inline(__always)
  mutating func sentence(
    _ fields: inout NMEAFields, _ counters: inout DecoderCounters, into epoch: inout Epoch
  ) -> Bool {
    if hasWaiting || isAwaiting { return addBehind(&fields, &counters, into: &epoch) }
    landing = .nowhere
    let isMade = NMEADecoding.read(&fields, &counters, for: &self, into: &epoch)
    return options.learnsEnd ? closeIfOver(isMade, into: &epoch) : isMade
  }

  /// Adds a sentence while an epoch is queued, which is emitted first.
  @inline(never)
  private mutating func addBehind(
    _ fields: inout NMEAFields, _ counters: inout DecoderCounters, into epoch: inout Epoch
  ) -> Bool {
    var reader = MessageReader()
    var message: GNSSMessage?
    guard reader.sentence(&fields, &counters, into: &message), let message else { return false }
    return addBehind(message, into: &epoch)
  }
}

// MARK: Detected end of an epoch

extension EpochAssembler {
  /// Closes the open epoch if the message just added is the detected last one; `isMade` says whether
  /// the message already completed an epoch.
  private mutating func closeIfOver(_ isMade: Bool, into epoch: inout Epoch) -> Bool {
    switch landing {
    case .nowhere: return isMade
    case .late:
      end.comeLate()
      return isMade
    case .opened: end.begin(with: mark)
    case .joined: end.goOn(with: mark)
    }
    // With epochs of both protocols open, or queued, the next message closes them.
    guard end.isOver, !hasWaiting, !isAwaiting else { return isMade }
    if !isMade { return closeOver(into: &epoch) }
    var own = Epoch()
    if closeOver(into: &own) { wait(own) }
    return true
  }

  private mutating func closeOver(into epoch: inout Epoch) -> Bool {
    if hasParts, parts.isTold {
      guard !hasDraft, let own = closeParts(at: arrival, by: .lastMessage) else { return false }
      epoch = own
      return true
    }
    hasParts = false
    return closeDraft(at: arrival, by: .lastMessage, into: &epoch)
  }
}

// MARK: Silence

extension EpochAssembler {
  /// Time to wait for the rest of a message that was delayed on the line.
  public static var messagePatience: Interval { .milliseconds(250) }

  /// Shortest silence that ends an epoch, for any receiver.
  public static var shortestPause: Interval { EpochEnd.shortestPause }
  /// Longest silence within an epoch that is waited for.
  public static var longestPause: Interval { EpochEnd.longestPause }

  /// Silence on the line after which the caller must act; nil while nothing is stored.
  ///
  /// An epoch is closed after ``silenceTimeout``, but not inside a sentence, which may belong to it.
  ///
  /// The arguments are properties of the decoder instead of the decoder itself, which is too large to
  /// pass.
  @inlinable public func patience(isMidFrame: Bool, isMidSentence: Bool) -> Interval? {
    if isOpen && !isMidSentence { return pause }
    return isOpen || isMidFrame ? EpochAssembler.messagePatience : nil
  }
}

// MARK: - NMEA sentences: opening and closing the draft

extension EpochAssembler: SentenceTaker {
  @inline(__always) mutating func take(_ m: RMC, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(0, m.talker)
    return enter(m.time_us, m.date, into: &epoch) { $0.take(m) }
  }

  @inline(__always) mutating func take(_ m: GGA, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(1, m.talker)
    return enter(m.time_us, into: &epoch) { $0.take(m) }
  }

  @inline(__always) mutating func take(_ m: GLL, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(2, m.talker)
    return enter(m.time_us, into: &epoch) { $0.take(m) }
  }

  @inline(__always) mutating func take(_ m: GST, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(3, m.talker)
    return enter(m.time_us, into: &epoch) { $0.take(m) }
  }

  @inline(__always) mutating func take(_ m: GSA, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(5, m.talker)
    open()
    draft.take(m)
    return false
  }

  @inline(__always) mutating func take(_ m: GSV, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(6, m.talker)
    mark.mayEnd = m.number == m.sentences
    open()
    draft.take(m)
    return false
  }

  @inline(__always) mutating func take(_ m: VTG, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(7, m.talker)
    open()
    draft.take(m)
    return false
  }

  /// Handles sentences that few receivers send, or that come once per epoch.
  @inline(never)
  mutating func take(_ other: GNSSMessage, into epoch: inout Epoch) -> Bool {
    switch other {
    case .gns(let m):
      mark = EpochMark(8, m.talker)
      return enter(m.time_us, into: &epoch) { $0.take(m) }
    case .gbs(let m):
      mark = EpochMark(9, m.talker)
      return enter(m.time_us, into: &epoch) { $0.take(m) }
    case .ubloxPosition(let m):
      mark = EpochMark(kind: 10)
      return enter(m.time_us, into: &epoch) { $0.take(m) }
    case .zda(let m):
      mark = EpochMark(4, m.talker)
      return take(m, into: &epoch)
    case .garminErrors(let m):
      mark = EpochMark(kind: 11)
      open()
      draft.take(m)
    case .garminAltitude(let m):
      mark = EpochMark(kind: 12)
      open()
      draft.take(m)
    case _: break
    }
    return false
  }
}

extension EpochAssembler {
  /// Ensures that a draft is open for a sentence without time.
  @inline(__always) mutating func open() {
    if hasDraft { landing = .joined } else { begin() }
  }

  @inline(never) private mutating func begin() {
    draft = EpochDraft()
    draft.received = arrival
    hasDraft = true
    landing = .opened
  }

  /// How a sentence that may contain a time was assigned to an epoch.
  private enum Entry {
    /// Ignored: late for the epoch last emitted.
    case late
    /// Assigned to the draft.
    case plain
    /// Assigned to a new draft; the previous epoch was closed.
    case closing
  }

  /// Adds the content of a sentence that may contain a time to its draft, unless it is late; if that
  /// closes an epoch, writes it and returns true.
  @inline(__always)
  private mutating func enter(
    _ told_us: Int64?, _ date: ShortDate? = nil, into epoch: inout Epoch,
    _ say: (inout EpochDraft) -> Void
  ) -> Bool {
    let entry = enter(told_us, date, into: &epoch)
    if entry != .late { say(&draft) }
    return entry == .closing
  }

  /// Selects the draft for a sentence that may contain a time, whose kind is in ``messageKey``, and
  /// writes the epoch that this closes.
  private mutating func enter(
    _ told_us: Int64?, _ date: ShortDate?, into epoch: inout Epoch
  ) -> Entry {
    let time_us = told_us.map { EpochCalendar.withinDay($0) }
    if let time_us, !isOfDraft(time_us, date), isLate(time_us, arrival, date) {
      landing = .late
      return .late
    }
    var entry = Entry.plain
    if isHolding, let time_us, !isHeld(time_us), !hasDraft || draft.time_us == nil {
      // A sentence of another time: none of the held NAV-PVT's time came.
      isHolding = false
      epoch = held
      entry = .closing
    }
    if hasDraft, startsAnother(time_us, date) {
      entry = closeDraft(at: arrival, by: .nextTime, into: &epoch) ? .closing : .plain
    }
    open()
    if draft.opener == nil {
      draft.opener = mark
      draft.received = arrival
    }
    // Of times that differ by rounding, the first is kept, so that time does not decrease.
    if let time_us {
      if draft.time_us == nil { draft.time_us = time_us }
      draft.timed.insert(mark)
    }
    return entry
  }

  /// Handles a ZDA. It neither opens nor closes an epoch, because some receivers send it with the time
  /// of the second to come.
  ///
  /// If no other message ever contained a time, ZDA is the only time source, and each one closes an
  /// epoch.
  private mutating func take(_ m: ZDA, into epoch: inout Epoch) -> Bool {
    guard let told_us = m.time_us else {
      if hasDraft, draft.time_us == nil { landing = .joined }
      return false
    }
    let time_us = EpochCalendar.withinDay(told_us)
    var m = m
    m.time_us = time_us
    if !hasDraft, let last, EpochAssembler.isSameMoment(time_us, m.hasDate, last.time_us) {
      landing = .late
    }
    if hasDraft, let open = draft.time_us,
      EpochAssembler.isSameMoment(time_us, m.hasDate, open)
    {
      landing = .joined
      if let day = calendar.day(of: m) { draft.zdaDay = day }
    } else if hasDraft, draft.opener != nil {
      if draft.time_us == nil, clock == nil {
        clock = m
        landing = .joined
      } else if draft.time_us == nil || m.hasDate {
        pendingDate = m
      }
    } else {
      let isMade = clock?.time_us != time_us && closeClock(into: &epoch)
      clock = m
      if isOnlyClock { open() }
      if let day = calendar.day(of: m) { calendar.learn(day, time_us) }
      return isMade
    }
    return false
  }

  /// Whether ZDA is the only time source so far. Not in live use, where the next sentence may contain a
  /// time.
  private var isOnlyClock: Bool {
    @inline(__always) get { last == nil && !isHolding && !options.learnsEnd }
  }

  /// Writes an epoch from the time of a ZDA and the satellites reported since, if no sentence contained
  /// a time.
  private mutating func closeClock(into epoch: inout Epoch) -> Bool {
    guard let clock, isOnlyClock, hasDraft, draft.opener == nil else { return false }
    self.clock = nil
    hasDraft = false
    draft.write(to: &epoch, options)
    epoch.mode = .notSeen
    date(&epoch, by: clock)
    return true
  }

  /// Sets the date of an epoch in which only ZDA contained a time.
  private mutating func date(_ epoch: inout Epoch, by clock: ZDA) {
    epoch.timeOfDay_us = clock.time_us
    calendar.date(
      &epoch,
      by: EpochCalendar.Told(
        time_us: clock.time_us, zdaDay: calendar.day(of: clock), rmcDate: draft.rmcDate,
        isRMCValid: draft.rmcVerdict == .valid))
  }

  @inline(__always) private func startsAnother(_ time_us: Int64?, _ date: ShortDate?) -> Bool {
    if let time_us, let open = draft.time_us {
      if time_us != open, !EpochAssembler.isRounding(time_us, date != nil, open, mark, draft.timed)
      {
        return true
      }
      return EpochAssembler.isAnotherDay(date, draft.rmcDate)
    }
    // Without a time, a repetition of the opening sentence starts the next epoch.
    guard let opener = draft.opener else { return false }
    return opener.isLike(mark)
  }

  /// Whether the time of a sentence is that of the draft.
  @inline(__always) private func isOfDraft(_ time_us: Int64, _ date: ShortDate?) -> Bool {
    guard hasDraft, let open = draft.time_us else { return false }
    return time_us == open
      || EpochAssembler.isRounding(time_us, date != nil, open, mark, draft.timed)
  }

  /// Whether two times differ by no more than the rounding within one epoch.
  ///
  /// A kind of sentence contains the time once per epoch. With a different time it belongs to the next
  /// epoch, for example of a receiver at 100 Hz.
  ///
  /// Static, because the compiler copies the whole assembler for a nonmutating method.
  private static func isRounding(
    _ time_us: Int64, _ isDated: Bool, _ open_us: Int64, _ mark: EpochMark, _ timed: EpochMarks
  ) -> Bool {
    isSameMoment(time_us, isDated, open_us) && !timed.contains(mark)
  }

  /// Whether two times of day may be the same moment, rounded differently; `isDated` says whether the
  /// first has a date.
  ///
  /// A date fixes the side of midnight, so a dated time does not match one across midnight.
  private static func isSameMoment(_ time_us: Int64, _ isDated: Bool, _ other_us: Int64) -> Bool {
    let distance = isDated ? abs(time_us - other_us) : distance_us(time_us, other_us)
    return distance <= tolerance_us
  }

  /// Removes and returns the held epoch, if any.
  private mutating func takeHeld() -> Epoch? {
    if !isHolding { return nil }
    isHolding = false
    return held
  }

  /// Removes the held epoch and writes it to `epoch`; false if there is none.
  private mutating func giveHeld(into epoch: inout Epoch) -> Bool {
    if !isHolding { return false }
    isHolding = false
    epoch = held
    return true
  }

  @inline(__always) func isHeld(_ time_us: Int64) -> Bool {
    guard isHolding, let utc = held.utc else { return false }
    return EpochAssembler.distance_us(time_us, utc.microsecondsOfDay)
      <= EpochAssembler.tolerance_us
  }

  @inline(__always) private func isLate(
    _ time_us: Int64, _ now: Instant, _ date: ShortDate?
  ) -> Bool {
    if isHeld(time_us) { return false }
    guard let last, now - last.at < EpochAssembler.lateness else { return false }
    if !last.isUBX {
      if time_us != last.time_us,
        !EpochAssembler.isRounding(time_us, date != nil, last.time_us, mark, last.timed)
      {
        return false
      }
      return !EpochAssembler.isAnotherDay(date, last.date)
    }
    // Sentences follow UBX, possibly after the next UBX epoch was emitted.
    let behind_us = last.time_us - time_us
    let isBehind = behind_us > 0 && behind_us < EpochAssembler.overtaken_us
    return isBehind
      || EpochAssembler.distance_us(time_us, last.time_us) <= EpochAssembler.tolerance_us
  }

  /// Whether both dates are known and differ; an equal time of day is then another epoch.
  private static func isAnotherDay(_ a: ShortDate?, _ b: ShortDate?) -> Bool {
    guard let a, let b else { return false }
    return a != b
  }

  /// Distance of two times of day, µs, across midnight where that is shorter.
  static func distance_us(_ a: Int64, _ b: Int64) -> Int64 {
    let distance = abs(a - b)
    return min(distance, abs(EpochCalendar.day_us - distance))
  }

  /// Closes the draft, if any, and returns its epoch, or the epoch held for it.
  private mutating func closeDraft(at now: Instant, by cause: EpochEnd.Cause) -> Epoch? {
    var epoch = Epoch()
    return closeDraft(at: now, by: cause, into: &epoch) ? epoch : nil
  }

  /// Closes the draft and writes its epoch, or the held one, to `epoch`; false if there is none.
  private mutating func closeDraft(
    at now: Instant, by cause: EpochEnd.Cause, into epoch: inout Epoch
  ) -> Bool {
    if !hasDraft { return giveHeld(into: &epoch) }
    if cause == .silence, closeClock(into: &epoch) { return true }
    hasDraft = false
    if options.learnsEnd {
      if draft.opener == nil { end.dissolve() } else { end.close(by: cause) }
    }
    defer { learnPendingDate() }
    if !draft.isTold, !isHolding { return false }
    draft.write(to: &epoch, options)
    if isHolding {
      completeHeld(into: &epoch)
      return true
    }
    guard let time_us = draft.time_us else {
      if let clock { date(&epoch, by: clock) }
      return true
    }
    if let clock, let told_us = clock.time_us, draft.zdaDay == nil,
      EpochAssembler.isSameMoment(told_us, clock.hasDate, time_us)
    {
      draft.zdaDay = calendar.day(of: clock)
    }
    // Passing the draft itself would copy all of it.
    let dates = EpochCalendar.Told(
      time_us: time_us, zdaDay: draft.zdaDay, rmcDate: draft.rmcDate,
      isRMCValid: draft.rmcVerdict == .valid)
    calendar.date(&epoch, by: dates)
    last = Given(
      time_us: time_us, isUBX: false, at: now, date: draft.rmcDate, timed: draft.timed)
    return true
  }

  /// Merges the epoch of the sentences with the held NAV-PVT; NAV-PVT's values have precedence.
  @inline(never)
  private mutating func completeHeld(into epoch: inout Epoch) {
    isHolding = false
    if held.hasFix || !epoch.hasFix {
      held.complete(by: epoch)
      epoch = held
    } else {
      // Without a position, NAV-PVT still has the better time.
      epoch.take(
        DatedMoment(utc_us: held.utc_us, time_us: held.time_us, isUncertain: held.isDateUncertain))
      epoch.timeAccuracy_ns = held.timeAccuracy_ns
    }
  }

  /// Applies the date of a ZDA whose time is after this epoch, and keeps it as the time of the next
  /// epoch if this one had no time.
  private mutating func learnPendingDate() {
    clock = nil
    guard let later = pendingDate, let time_us = later.time_us else { return }
    if let day = calendar.day(of: later) { calendar.learn(day, time_us) }
    if draft.time_us == nil { clock = later }
    pendingDate = nil
  }
}

// MARK: - UBX parts: messages of one time of week form one epoch

extension EpochAssembler {
  /// Adds a part to the open UBX epoch of its time of week, or opens one.
  ///
  /// NAV-EOE, and a part of another time of week, close the open epoch. A part of an epoch already
  /// emitted is ignored, except that a late NAV-HPPOSLLH refines a held epoch or shows that the
  /// receiver sends it.
  private mutating func addPart(_ part: UBXNavigation, at now: Instant) -> Epoch? {
    hear(part)
    mark = EpochMark(part)
    let time_ms = part.timeOfWeek_ms
    if isGiven(time_ms, now) {
      landing = .late
      if case .precisePosition(let precise) = part {
        if isHolding { _ = held.refine(precise) } else { precision.came() }
      }
      return nil
    }
    if case .endOfEpoch = part {
      return hasParts && parts.timeOfWeek_ms == time_ms ? closeParts(at: now, by: .nextTime) : nil
    }
    var closed: Epoch?
    if hasParts, parts.timeOfWeek_ms != time_ms { closed = closeParts(at: now, by: .nextTime) }
    landing = .joined
    if !hasParts {
      parts = UBXDraft()
      parts.timeOfWeek_ms = time_ms
      parts.received = now
      hasParts = true
      landing = hasDraft ? .joined : .opened
    }
    parts.take(part)
    return closed
  }

  /// Closes the UBX epoch; nil if no fix status came, or if its time was already emitted.
  private mutating func closeParts(at now: Instant, by cause: EpochEnd.Cause) -> Epoch? {
    hasParts = false
    // Parts without a fix status are no epoch, and are not used to detect the last message.
    guard parts.isTold else { return nil }
    if options.learnsEnd { end.close(by: cause) }
    let (solution, place) = parts.solution(leapSeconds)
    var epoch = Epoch(solution, options.isSimulated, at: parts.received)
    if let place { epoch.fix?.coordinate = place }
    // NAV-PVT always contains a speed; without a part with a velocity it is unknown, not 0.
    if !parts.hasVelocity { epoch.fix?.speed_mmps = nil }
    parts.complete(&epoch)
    return give(&epoch, solution, mayWait: false, at: now)
  }

  /// Updates leap seconds and satellites, which outlive the message's epoch.
  private mutating func hear(_ part: UBXNavigation) {
    switch part {
    case .gpsTime(let m): if m.valid & 4 != 0 { leapSeconds = m.leapSeconds }
    // Source 0 is the firmware's default, no better than this build's.
    case .leapSeconds(let m): if m.valid & 1 != 0, m.source != 0 { leapSeconds = m.current }
    case .satellites(let m), .channels(let m):
      view = m
      hasView = true
    case .ecefPosition, .position, .status, .dilutions, .ecefSolution, .ecefVelocity, .velocity,
      .precisePosition, .utc, .endOfEpoch:
      break
    }
  }

  private func isGiven(_ time_ms: UInt32, _ now: Instant) -> Bool {
    guard let last, last.isUBX, now - last.at < EpochAssembler.lateness else { return false }
    return last.timeOfWeek_ms == Int64(time_ms)
  }

  // MARK: Queue

  /// Adds a message while an epoch is queued, which is emitted first.
  @inline(never)
  mutating func addBehind(_ message: GNSSMessage, into epoch: inout Epoch) -> Bool {
    let hadWaiting = hasWaiting
    let first = hadWaiting ? next() : nil
    let second = isAwaiting && settles(message) ? takeAwaited() : nil
    let isMade = made(by: message, into: &epoch)
    guard let first = first ?? second else { return isMade }
    // Epochs that the message queued are emitted after these.
    if isMade { waitFirst(epoch) }
    if let second, hadWaiting { waitFirst(second) }
    epoch = first
    return true
  }

  /// Whether a message ends the wait for NAV-HPPOSLLH: it arrived, or will not. True as well for an
  /// epoch that is only queued.
  private mutating func settles(_ message: GNSSMessage) -> Bool {
    switch message {
    case .navigation(let part):
      guard part.timeOfWeek_ms == awaitedTime_ms else { break }
      if case .precisePosition(let precise) = part {
        _ = awaited.refine(precise)
        return true
      }
      guard case .endOfEpoch = part else { return false }
    case .acknowledged, .refused, .receiverVersion, .batchStatus, .batchEntry, .aidingEntry,
      .aidingAnswer, .commandResult, .receiverNotice, .unread, .other:
      return awaitedTime_ms == nil
    case .navPVT, .hnrPVT, .rmc, .gga, .gsa, .gsv, .gst, .vtg, .zda, .gll, .gns, .gbs,
      .ubloxPosition,
      .garminErrors, .garminAltitude:
      break
    }
    if awaitedTime_ms != nil { precision.failed() }
    return true
  }

  private mutating func takeAwaited() -> Epoch? {
    isAwaiting = false
    awaitedTime_ms = nil
    return awaited
  }

  /// Appends an epoch to the queue.
  ///
  /// Two slots suffice: one message completes at most three epochs (the sentences that it closed, the
  /// parts that it closed, and its own), and the first is returned immediately. A caller that never
  /// calls ``next()`` gets one queued epoch with each message, and a message completes an epoch only by
  /// closing or being one.
  mutating func wait(_ epoch: Epoch) {
    if !hasWaiting {
      waiting = epoch
      hasWaiting = true
      return
    }
    precondition(!isAwaiting, "at most two epochs are queued")
    awaited = epoch
    isAwaiting = true
    awaitedTime_ms = nil
  }

  /// Prepends an epoch to the queue.
  private mutating func waitFirst(_ epoch: Epoch) {
    if hasWaiting {
      let second = waiting
      waiting = epoch
      wait(second)
    } else {
      wait(epoch)
    }
  }
}

// MARK: - UBX solutions: whole epochs, live or from a batch

extension EpochAssembler {
  /// Adds the payload of NAV-PVT; writes the epoch that it closed or completed and returns true, else
  /// returns false.
  ///
  /// One function for the usual case, NAV-PVT alone: the payload is decoded directly into the epoch.
  @inline(never)
  mutating func addLive(_ payload: Span<UInt8>, into epoch: inout Epoch) -> Bool {
    let utc_us = UBXSolution.moment(ofNavPVT: payload)
    guard !isAmongOthers, utc_us != .min else {
      return addAmongOthers(UBXSolution(navPVT: payload), at: arrival, into: &epoch)
    }
    return addAlone(UBXSolution(ofNavPVT: payload, utc_us), at: arrival, into: &epoch)
  }

  /// Adds NAV-PVT; writes the epoch that it closed or completed and returns true, else returns false.
  @inline(never)
  mutating func addLive(_ solution: UBXSolution, at now: Instant, into epoch: inout Epoch) -> Bool {
    guard !isAmongOthers, solution.utc_us != .min else {
      return addAmongOthers(solution, at: now, into: &epoch)
    }
    return addAlone(solution, at: now, into: &epoch)
  }

  /// Adds NAV-PVT with a valid time while no slot is in use.
  @inline(always)
  private mutating func addAlone(
    _ solution: UBXSolution, at now: Instant, into epoch: inout Epoch
  ) -> Bool {
    var moment = calendar.date(solution.utc_us, isResolved: solution.isTimeResolved)
    if isRepeated(solution, moment.time_us, now) { return false }
    calendar.hold(&moment)
    remember(solution, moment.time_us, now)
    epoch.write(solution, moment, options.isSimulated, at: now)
    return true
  }

  /// Adds HNR-PVT, which is an epoch of its own; a NAV-PVT of the same or an earlier time is then too
  /// late.
  private mutating func addHighRate(
    _ solution: UBXSolution, at now: Instant, into epoch: inout Epoch
  ) -> Bool {
    let before = last
    let isMade = addLive(solution, at: now, into: &epoch)
    if let time = last, time.isUBX, time != before { last?.isHighRate = true }
    return isMade
  }

  /// Whether any slot is in use, or NAV-HPPOSLLH is expected.
  @inline(__always) private var isAmongOthers: Bool { !about.isEmpty || precision.isAwaited }

  /// Whether the epoch of that time was already emitted, from this protocol or from sentences.
  @inline(__always) func isRepeated(
    _ solution: UBXSolution, _ time_us: Int64, _ now: Instant
  ) -> Bool {
    guard let last, now - last.at < EpochAssembler.lateness else { return false }
    if !last.isUBX {
      return EpochAssembler.distance_us(last.time_us, time_us) <= EpochAssembler.tolerance_us
    }
    let difference = solution.utc_us &- last.utc_us
    if last.isHighRate, difference <= 0, difference > -EpochAssembler.overtaken_us { return true }
    // Two messages round a time differently. The end of a leap second may have the same UTC as another
    // time; its time of week differs.
    return difference.magnitude <= EpochAssembler.rounding_us
      && last.timeOfWeek_ms == EpochAssembler.week(solution)
  }

  /// Bound of the difference between times of UBX messages of one epoch.
  private static let rounding_us: UInt64 = 100
  /// Bound of the delay of NAV-PVT after HNR-PVT, which the receiver computes faster, and of sentences
  /// after UBX.
  private static let overtaken_us: Int64 = 2_000_000

  @inline(__always) private mutating func remember(
    _ solution: UBXSolution, _ time_us: Int64, _ now: Instant
  ) {
    last = Given(
      time_us: time_us, isUBX: true, at: now, timeOfWeek_ms: EpochAssembler.week(solution),
      utc_us: solution.utc_us)
  }

  /// Time of week in the form of ``LastEmitted``.
  @inline(__always) private static func week(_ solution: UBXSolution) -> Int64 {
    solution.timeOfWeek_ms.map { Int64($0) } ?? -1
  }

  @inline(never)
  private mutating func addAmongOthers(
    _ solution: UBXSolution, at now: Instant, into made: inout Epoch
  ) -> Bool {
    var epoch = Epoch(solution, options.isSimulated, at: now)
    var earlier: Epoch?
    var isPrecise = false
    if hasParts {
      if parts.timeOfWeek_ms == solution.timeOfWeek_ms {
        hasParts = false
        parts.complete(&epoch)
        if let precise = parts.precise { isPrecise = epoch.refine(precise) }
      } else {
        earlier = closeParts(at: now, by: .nextTime)
      }
    }
    let mayWait = precision.isAwaited && !isPrecise && epoch.fix != nil && earlier == nil
    let given = give(&epoch, solution, mayWait: mayWait, at: now)
    guard let first = inOrder(earlier, given) else { return false }
    made = first
    return true
  }

  /// Sets the date of a UBX epoch and emits it, or the held NAV-PVT before it.
  mutating func give(
    _ epoch: inout Epoch, _ solution: UBXSolution, mayWait: Bool, at now: Instant
  ) -> Epoch? {
    if hasView {
      epoch.take(view)
      hasView = false
    }
    guard let utc = solution.utc else { return inOrder(closeDraft(at: now, by: .nextTime), epoch) }
    let time_us = utc.microsecondsOfDay
    let isDrafted = isDrafted(time_us)
    // The same epoch in both protocols: in live use the sentences are discarded.
    if isDrafted, !options.waitsForSentences { hasDraft = false }
    if isRepeated(solution, time_us, now) { return nil }
    let closed =
      isDrafted && hasDraft ? takeHeld() : closeDraft(at: now, by: .nextTime)
    var moment = calendar.date(utc.microseconds, isResolved: solution.isTimeResolved)
    calendar.hold(&moment)
    epoch.take(moment)
    remember(solution, time_us, now)
    if options.waitsForSentences {
      held = epoch
      isHolding = true
      return closed
    }
    if mayWait, closed == nil, !hasWaiting, !isAwaiting {
      awaited = epoch
      awaitedTime_ms = solution.timeOfWeek_ms
      isAwaiting = true
      return closed
    }
    return inOrder(closed, epoch)
  }

  /// Whether the draft has that time, up to rounding.
  @inline(__always) private func isDrafted(_ time_us: Int64) -> Bool {
    guard hasDraft, let open = draft.time_us else { return false }
    return EpochAssembler.distance_us(open, time_us) <= EpochAssembler.tolerance_us
  }

  /// Adds an entry of a batch. It was measured earlier, so no slot changes and nothing is compared.
  private mutating func addStored(_ solution: UBXSolution, at now: Instant) -> Epoch? {
    var epoch = Epoch(solution, options.isSimulated, at: now)
    epoch.origin = .batch
    if let utc = solution.utc {
      epoch.take(calendar.date(utc.microseconds, isResolved: solution.isTimeResolved))
    }
    return epoch
  }

  mutating func inOrder(_ first: Epoch?, _ second: Epoch?) -> Epoch? {
    guard let first else { return second }
    if let second { wait(second) }
    return first
  }
}

extension Epoch {
  /// Creates the epoch of a UBX solution without a date.
  init(_ s: UBXSolution, _ isSimulated: Bool, at now: Instant) {
    self.init()
    become(s, isSimulated, at: now)
  }

  /// Writes the epoch of a UBX solution without a date.
  @inline(never)
  mutating func become(_ s: UBXSolution, _ isSimulated: Bool, at now: Instant) {
    let moment = DatedMoment(utc_us: .min, time_us: .min, isUncertain: false)
    write(s, moment, isSimulated, at: now)
  }

  /// Writes the epoch of a UBX solution in place, each field once.
  @inline(always)
  mutating func write(
    _ s: UBXSolution, _ moment: DatedMoment, _ isSimulated: Bool, at now: Instant
  ) {
    let coordinate = s.place
    guard s.isFixOK, s.fixType >= 1, s.fixType <= 5, coordinate.isValid else {
      self = Epoch()
      mode = .noFix
      pdop_e2 = s.positionDOP_e2
      timeAccuracy_ns = s.timeAccuracy_ns
      take(moment)
      return
    }
    hasFix = true
    place.acquired = now
    place.coordinate = coordinate
    place.isSimulated = isSimulated
    place.quality = Epoch.quality(s)
    take(moment)
    writeMotion(s)
    writeAltitude(s)
    place.horizontalAccuracy_mm = Epoch.accuracy(s.horizontalAccuracy_mm)
    place.satellites = s.satellites.map { Int16($0) }
    pdop_e2 = s.positionDOP_e2
    timeAccuracy_ns = s.timeAccuracy_ns
    origin = .live
    // Values that these messages lack.
    latitudeError_mm = nil
    longitudeError_mm = nil
    hdop_e2 = nil
    vdop_e2 = nil
    satellitesInView = nil
    meanSignal_dBHz = nil
    bestSignal_dBHz = nil
  }

  /// Writes speed, course and climb.
  @inline(always) private mutating func writeMotion(_ s: UBXSolution) {
    let course_e4 = Epoch.course_e4(s)
    place.speed_mmps = s.groundSpeed_mmps
    place.course_e4 = course_e4
    place.speedAccuracy_mmps = s.speedAccuracy_mmps.map { Epoch.accuracy($0) }
    place.courseAccuracy_e2 =
      course_e4 == nil ? nil : s.headingAccuracy_e5.map { Int32($0 / 1_000) }
    // Negating the minimum yields the minimum, which means "unknown".
    climb_mmps = s.velocityDown_mmps.map { 0 &- $0 }
  }

  /// Writes altitudes and the dimension of the fix.
  @inline(always) private mutating func writeAltitude(_ s: UBXSolution) {
    // Dead reckoning alone is two-dimensional, as in u-blox's own GSA and in gpsd.
    let isSpatial = s.fixType > 2
    mode = isSpatial ? .threeDimensional : .twoDimensional
    place.mode = isSpatial ? .threeDimensional : .twoDimensional
    place.ellipsoidalAltitude_mm = s.height_mm
    place.altitude_mm = s.heightMSL_mm
    place.verticalAccuracy_mm = isSpatial ? s.verticalAccuracy_mm.map { Epoch.accuracy($0) } : nil
    geoidSeparation_mm = nil
    if let heightMSL = s.heightMSL_mm {
      let (difference, isOver) = s.height_mm.subtractingReportingOverflow(heightMSL)
      geoidSeparation_mm = isOver ? nil : difference
    }
  }

  /// Sets date and time of the epoch and its fix.
  @inline(__always) mutating func take(_ moment: DatedMoment) {
    utc_us = moment.utc_us
    time_us = moment.time_us
    isDateUncertain = moment.isUncertain
    if hasFix {
      place.utc = UTCTime(microseconds: moment.utc_us)
      place.isDateUncertain = moment.isUncertain
    }
  }

  /// An accuracy clamped to the maximum of ``Fix``.
  @inline(__always) private static func accuracy(_ told: UInt32) -> Int32 {
    Int32(truncatingIfNeeded: min(told, UInt32(Fix.accuracyLimit_mm)))
  }

  /// Course, 1e-4 degree; nil if its error is 180° or more, which means undetermined.
  @inline(__always) private static func course_e4(_ s: UBXSolution) -> Int32? {
    if let error = s.headingAccuracy_e5, error >= 18_000_000 { return nil }
    let heading = UInt32(bitPattern: s.headingOfMotion_e5)
    return heading <= 36_000_000 ? Int32((heading + 5) / 10) : nil
  }

  @inline(__always) private static func quality(_ s: UBXSolution) -> FixQuality {
    if s.fixType == 1 { return .deadReckoning }
    if s.fixType == 5 { return .surveyed }
    switch s.carrierSolution {
    case 1: return .rtkFloat
    case 2: return .rtkFixed
    case _: break
    }
    if s.fixType == 4 { return .combined }
    return s.isDifferential ? .differential : .autonomous
  }
}

// MARK: - Detection of NAV-HPPOSLLH

/// Whether the receiver sends NAV-HPPOSLLH after NAV-PVT, detected from the stream.
struct PrecisionHabit {
  /// Whether NAV-PVT should wait for it.
  private(set) var isAwaited = false
  private var missed: UInt8 = 0

  /// Number of consecutive misses after which it is no longer expected.
  static let patience: UInt8 = 3

  /// Records a NAV-HPPOSLLH after the NAV-PVT of its time.
  mutating func came() {
    isAwaited = true
    missed = 0
  }

  /// Records that another message came instead of the expected NAV-HPPOSLLH.
  mutating func failed() {
    missed += 1
    if missed >= PrecisionHabit.patience { self = PrecisionHabit() }
  }
}

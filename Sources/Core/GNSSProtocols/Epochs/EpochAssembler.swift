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
/// Several epochs exist at the same time, each in its own slot. ``PendingParts`` says which are in use.
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
/// without any other time does each ZDA end an epoch (`isOnlyTimeSource`). A sentence with the time of
/// an epoch already emitted is ignored.
///
/// The UBX epoch (`parts`):
///
///             part of a new time of week
///     empty ──────────────────────────────▶ open ──┐ part of the same time of week
///       ▲                                    │  ▲  │
///       │                                    │  └──┘
///       ├── emitted with a fix status    ◀───┤ part of another time of week (opens the next one)
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
///         │                                ├── other part of its time: continues to wait
///         │                                ├── NAV-EOE, any other epoch message: emitted, a miss
///         │                                │   is counted
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
///
/// # Who changes what
///
/// `draft` and `parts` change only in this file, while a message is added or an epoch is closed.
/// ``EpochCalendar`` owns all dates, ``EpochEndDetector`` the detection of the last message (only with
/// ``EpochOptions/detectsEpochEnd``). `current` describes only the message being added.
///
/// Depends on `LocationTypes` and the message types of this module. No clock: the arrival time is an
/// argument.
public struct EpochAssembler: Sendable {
  private let options: EpochOptions
  private var calendar: EpochCalendar
  /// Which slots are in use.
  @usableFromInline private(set) var pending = PendingParts()
  private var draft = EpochDraft()
  private var parts = UBXDraft()
  private var held = Epoch()
  private var firstQueued = Epoch()
  private var secondQueued = Epoch()
  /// Time of week for whose NAV-HPPOSLLH `secondQueued` waits; nil if it does not wait.
  private var awaitedPrecisionTime_ms: UInt32?
  private var lastEmitted: LastEmitted?
  private var zda = ZDAClock()
  private var ubx = UBXStreamState()
  private var current = CurrentMessage()
  // Inlinable members of the detector are read by other modules for every chunk.
  @usableFromInline private(set) var endDetector: EpochEndDetector

  /// The message that is being added.
  private struct CurrentMessage {
    var arrival = Instant.boot
    var key = EpochMessageKey(kind: 0)
    var placement = Placement.unrelated
  }

  /// The ZDAs whose time and date are not applied yet.
  private struct ZDAClock {
    /// Gives an epoch without another time its time and date, and an epoch of the same time its date.
    var time: ZDA?
    /// The last ZDA that does not belong to the open epoch; without a date only if that epoch has no time.
    ///
    /// When that epoch closes, the date is recorded for the following ones; if the epoch had no time, this ZDA becomes
    /// `time`.
    var later: ZDA?
  }

  /// Values of UBX messages that apply beyond the epoch of their message.
  private struct UBXStreamState {
    var precisionDetector = HighPrecisionDetector()
    /// Valid while ``PendingParts/hasNextSatellites`` is set.
    var nextSatellites = UBXSatellites(timeOfWeek_ms: 0)
    var leapSeconds: Int8?
    /// Change of leap seconds at the end of the day.
    var leapChange: Int8 = 0
  }

  /// Identity of the last emitted epoch, to recognise late and repeated messages.
  struct LastEmitted {
    var time_us: Int64
    var isUBX: Bool
    var at: Instant
    var date: ShortDate?
    /// GPS time of week, ms; −1 if unknown.
    var timeOfWeek_ms: Int64 = -1
    var utc_us = Int64.min
    var isHighRate = false
    /// Kinds of sentences that contained its time.
    var timedKinds = EpochMessageKinds()

    /// Whether this is the epoch of a UBX solution, from UBX or from sentences.
    @inline(__always) func isEpoch(
      of solution: UBXSolution, _ solutionTime_us: Int64, at now: Instant
    ) -> Bool {
      guard now - at < EpochAssembler.lateWindow else { return false }
      if !isUBX {
        return EpochAssembler.distance_us(time_us, solutionTime_us)
          <= EpochAssembler.roundingTolerance_us
      }
      let difference = solution.utc_us &- utc_us
      if isHighRate, difference <= 0, difference > -EpochAssembler.maximumLag_us { return true }
      // Two messages round a time differently. The end of a leap second may have the same UTC as another
      // time; its time of week differs.
      return difference.magnitude <= EpochAssembler.ubxRoundingTolerance_us
        && timeOfWeek_ms == EpochAssembler.timeOfWeek(solution)
    }
  }

  /// Where the last added message was placed.
  enum Placement {
    /// In no open epoch.
    case unrelated
    /// In an epoch that it opened.
    case opened
    /// In the open epoch.
    case joined
    /// Ignored: its epoch was already emitted.
    case late
  }

  /// Bound of the difference between UBX and NMEA times of one epoch, which receivers round
  /// differently.
  static let roundingTolerance_us: Int64 = 15_000
  /// Age after which an equal time of day means another day instead of a late message.
  static let lateWindow = Interval.seconds(3_600)

  /// Creates an assembler at the start of a stream.
  public init(_ options: EpochOptions = EpochOptions()) {
    self.options = options
    calendar = EpochCalendar(options)
    endDetector = EpochEndDetector(silenceTimeout: options.silenceTimeout)
  }

  /// Silence on the line that ends the open epoch: call ``close()`` when it has passed since the last
  /// byte. With ``EpochOptions/detectsEpochEnd`` it is measured, 40 to 400 ms; else it is the option's.
  @inlinable public var silenceTimeout: Interval { endDetector.silenceTimeout }

  /// Change of leap seconds at the end of the present day, from NAV-TIMELS; 0 if none is announced.
  public var leapChange: Int8 { ubx.leapChange }

  /// Whether the last message of this receiver's epochs is detected, so that no silence is needed.
  @inlinable public var isEndReliable: Bool { endDetector.isReliable }

  /// Records the arrival of bytes, before their messages are added; used to measure the receiver's
  /// silences within an epoch.
  ///
  /// - Parameter isBuffered: Whether the bytes were buffered instead of read on arrival; their arrival
  ///   time, and any silence before them, is then unknown.
  public mutating func noteInput(at now: Instant, isBuffered: Bool = false) {
    if options.detectsEpochEnd { endDetector.noteInput(at: now, isBuffered: isBuffered) }
  }

  /// Whether an unfinished epoch, or one for ``next()``, is stored.
  @inlinable public var isOpen: Bool { pending.hasEpoch }

  /// Adds a message and returns the epoch that it closed or completed.
  ///
  /// `now` is the arrival time of the message; a fix has the arrival time of its first message. If a UBX
  /// epoch closes an NMEA epoch, this call returns the NMEA epoch, and ``next()`` or the next call of any
  /// kind the UBX epoch: none is lost. O(1).
  public mutating func add(_ message: GNSSMessage, at now: Instant) -> Epoch? {
    var epoch = Epoch()
    return add(message, at: now, into: &epoch) ? epoch : nil
  }

  /// Adds a message as ``add(_:at:)``; writes the epoch that it closed or completed into `epoch` and
  /// returns true, else returns false.
  public mutating func add(
    _ message: GNSSMessage, at now: Instant, into epoch: inout Epoch
  ) -> Bool {
    current.arrival = now
    if pending.hasFirstQueued || pending.hasSecondQueued {
      return addWhileQueued(message, into: &epoch)
    }
    let isWritten = assemble(message, into: &epoch)
    return options.detectsEpochEnd ? closeIfOver(isWritten, into: &epoch) : isWritten
  }

  /// Whether ``next()`` may return an epoch.
  @inlinable public var hasNext: Bool { pending.mayHaveNext }

  /// Returns a further epoch that the last message completed in addition to the one returned by
  /// ``add(_:at:)``.
  public mutating func next() -> Epoch? {
    if pending.hasFirstQueued {
      pending.hasFirstQueued = false
      return firstQueued
    }
    return pending.hasSecondQueued && awaitedPrecisionTime_ms == nil ? removeSecondQueued() : nil
  }

  /// Closes the open epoch, after a silence on the line or at the end of the stream.
  ///
  /// - Returns: nil if none is open, or if no message reported whether there is a position.
  public mutating func close() -> Epoch? {
    if pending.hasFirstQueued { return next() }
    if pending.hasSecondQueued { return removeSecondQueued() }
    if pending.hasParts, let epoch = closeParts(at: parts.received, by: .silence) { return epoch }
    return closeDraft(at: draft.received, by: .silence)
  }

  mutating func assemble(_ message: GNSSMessage, into epoch: inout Epoch) -> Bool {
    current.placement = .unrelated
    let completed: Epoch?
    switch message {
    case .rmc, .gga, .gsa, .gsv, .gll, .gst, .vtg, .gns, .gbs, .ubloxPosition, .zda, .garminErrors,
      .garminAltitude:
      return addSentence(message, into: &epoch)
    case .navPVT(let solution): return addLive(solution, into: &epoch)
    case .hnrPVT(let solution): return addLive(solution, isHighRate: true, into: &epoch)
    case .navigation(let part): completed = addPart(part, at: current.arrival)
    case .batchEntry(let entry): completed = addBatchEntry(entry.solution, at: current.arrival)
    case .acknowledged, .refused, .configurationValues, .receiverVersion, .batchStatus,
      .aidingEntry, .aidingAnswer,
      .commandResult, .receiverNotice, .unknown, .malformed:
      return false
    }
    guard let completed else { return false }
    epoch = completed
    return true
  }
}

// MARK: Detected end of an epoch

extension EpochAssembler {
  /// Closes the open epoch if the message just added is the detected last one. `isWritten`: whether the
  /// message already completed an epoch, which is in `epoch`.
  private mutating func closeIfOver(_ isWritten: Bool, into epoch: inout Epoch) -> Bool {
    switch current.placement {
    case .unrelated: return isWritten
    case .late:
      endDetector.recordLate()
      return isWritten
    case .opened: endDetector.beginEpoch(with: current.key)
    case .joined: endDetector.continueEpoch(with: current.key)
    }
    // With epochs of both protocols open, or queued, the next message closes them.
    guard endDetector.isOver, !pending.hasFirstQueued, !pending.hasSecondQueued else {
      return isWritten
    }
    if !isWritten { return closeFinished(into: &epoch) }
    var closed = Epoch()
    if closeFinished(into: &closed) { enqueue(closed) }
    return true
  }

  private mutating func closeFinished(into epoch: inout Epoch) -> Bool {
    if pending.hasParts, parts.hasFixStatus {
      guard !pending.hasDraft, let closed = closeParts(at: current.arrival, by: .lastMessage) else {
        return false
      }
      epoch = closed
      return true
    }
    pending.hasParts = false
    return closeDraft(at: current.arrival, by: .lastMessage, into: &epoch)
  }
}

// MARK: Silence

extension EpochAssembler {
  /// Time to wait for the remaining bytes of a message that was delayed on the line.
  public static var messageTimeout: Interval { .milliseconds(250) }

  /// Shortest silence that ends an epoch, for any receiver.
  public static var minimumSilenceTimeout: Interval { EpochEndDetector.minimumSilenceTimeout }
  /// Longest silence that can be required to end an epoch.
  public static var maximumSilenceTimeout: Interval { EpochEndDetector.maximumSilenceTimeout }

  /// Silence on the line after which the caller must act; nil while nothing is stored.
  ///
  /// An epoch is closed after ``silenceTimeout``, but not inside a sentence, which may belong to it.
  ///
  /// The arguments are properties of the ``GNSSDecoder``, which is too large to pass itself.
  @inlinable public func idleTimeout(isMidFrame: Bool, isMidSentence: Bool) -> Interval? {
    if isOpen && !isMidSentence { return silenceTimeout }
    return isOpen || isMidFrame ? EpochAssembler.messageTimeout : nil
  }
}

// MARK: - NMEA sentences: opening and closing the draft

extension EpochAssembler {
  /// Adds a sentence to its draft; writes the epoch that it closes and returns true, else returns false.
  private mutating func addSentence(
    _ message: GNSSMessage, into epoch: inout Epoch
  ) -> Bool {
    switch message {
    case .rmc(let m):
      current.key = EpochMessageKey(0, m.talker)
      return addTimed(m.time_us, m.date, into: &epoch) { $0.apply(m) }
    case .gga(let m):
      current.key = EpochMessageKey(1, m.talker)
      return addTimed(m.time_us, into: &epoch) { $0.apply(m) }
    case .gll(let m):
      current.key = EpochMessageKey(2, m.talker)
      return addTimed(m.time_us, into: &epoch) { $0.apply(m) }
    case .gst(let m):
      current.key = EpochMessageKey(3, m.talker)
      return addTimed(m.time_us, into: &epoch) { $0.apply(m) }
    case .zda(let m):
      current.key = EpochMessageKey(4, m.talker)
      return add(m, into: &epoch)
    case .gsa(let m):
      current.key = EpochMessageKey(5, m.talker)
      openDraft()
      draft.apply(m)
    case .gsv(let m):
      current.key = EpochMessageKey(6, m.talker)
      current.key.canEndEpoch = m.number == m.sentences
      openDraft()
      draft.apply(m)
    case .vtg(let m):
      current.key = EpochMessageKey(7, m.talker)
      openDraft()
      draft.apply(m)
    case .gns(let m):
      current.key = EpochMessageKey(8, m.talker)
      return addTimed(m.time_us, into: &epoch) { $0.apply(m) }
    case .gbs(let m):
      current.key = EpochMessageKey(9, m.talker)
      return addTimed(m.time_us, into: &epoch) { $0.apply(m) }
    case .ubloxPosition(let m):
      current.key = EpochMessageKey(kind: 10)
      return addTimed(m.time_us, into: &epoch) { $0.apply(m) }
    case .garminErrors(let m):
      current.key = EpochMessageKey(kind: 11)
      openDraft()
      draft.apply(m)
    case .garminAltitude(let m):
      current.key = EpochMessageKey(kind: 12)
      openDraft()
      draft.apply(m)
    case _: break
    }
    return false
  }

  /// Ensures that a draft is open for a sentence without time.
  @inline(__always) mutating func openDraft() {
    if pending.hasDraft { current.placement = .joined } else { beginDraft() }
  }

  @inline(never) private mutating func beginDraft() {
    draft = EpochDraft()
    draft.received = current.arrival
    pending.hasDraft = true
    current.placement = .opened
  }

  /// How a sentence that may contain a time was assigned to an epoch.
  private enum DraftAssignment {
    /// Ignored: late for the epoch last emitted.
    case late
    /// Assigned to the draft.
    case added
    /// Assigned to a new draft; the previous epoch was closed.
    case closedPrevious
  }

  /// Adds the content of a sentence that may contain a time to its draft, unless it is late. If the
  /// sentence closes an epoch, writes that epoch and returns true.
  @inline(__always)
  private mutating func addTimed(
    _ reported_us: Int64?, _ date: ShortDate? = nil, into epoch: inout Epoch,
    _ add: (inout EpochDraft) -> Void
  ) -> Bool {
    let assignment = selectDraft(reported_us, date, into: &epoch)
    if assignment != .late { add(&draft) }
    return assignment == .closedPrevious
  }

  /// Selects the draft for a sentence that may contain a time and whose key is ``messageKey``, and writes
  /// the epoch that the sentence closes.
  private mutating func selectDraft(
    _ reported_us: Int64?, _ date: ShortDate?, into epoch: inout Epoch
  ) -> DraftAssignment {
    let time_us = reported_us.map { EpochCalendar.withinDay($0) }
    if let time_us, !belongsToDraft(time_us, date), isLate(time_us, current.arrival, date) {
      current.placement = .late
      return .late
    }
    var assignment = DraftAssignment.added
    if pending.hasHeld, let time_us, !isHeldTime(time_us), !pending.hasDraft || draft.time_us == nil
    {
      // This sentence has another time, so the held NAV-PVT has no sentences.
      pending.hasHeld = false
      epoch = held
      assignment = .closedPrevious
    }
    if pending.hasDraft, startsNewEpoch(time_us, date) {
      assignment =
        closeDraft(at: current.arrival, by: .nextTime, into: &epoch) ? .closedPrevious : .added
    }
    openDraft()
    if draft.openingMessage == nil {
      draft.openingMessage = current.key
      draft.received = current.arrival
    }
    // Of times that differ by rounding, the first is kept, so that time does not decrease.
    if let time_us {
      if draft.time_us == nil { draft.time_us = time_us }
      draft.timedKinds.insert(current.key)
    }
    return assignment
  }

  /// Adds a ZDA. It neither opens nor closes an epoch, because some receivers send it with the time
  /// of the second to come.
  ///
  /// If no other message of a recording ever contained a time, ZDA is the only time source, and each one
  /// closes an epoch.
  private mutating func add(_ m: ZDA, into epoch: inout Epoch) -> Bool {
    guard let reported_us = m.time_us else {
      if pending.hasDraft, draft.time_us == nil { current.placement = .joined }
      return false
    }
    let time_us = EpochCalendar.withinDay(reported_us)
    var m = m
    m.time_us = time_us
    if !pending.hasDraft, let lastEmitted,
      EpochAssembler.isSameMoment(time_us, m.hasDate, lastEmitted.time_us)
    {
      current.placement = .late
    }
    if pending.hasDraft, let open = draft.time_us,
      EpochAssembler.isSameMoment(time_us, m.hasDate, open)
    {
      current.placement = .joined
      if let day = calendar.day(of: m) { draft.zdaDay = day }
    } else if pending.hasDraft, draft.openingMessage != nil {
      if draft.time_us == nil, zda.time == nil {
        zda.time = m
        current.placement = .joined
      } else if draft.time_us == nil || m.hasDate {
        zda.later = m
      }
    } else {
      let isWritten = zda.time?.time_us != time_us && closeTimeOnlyEpoch(into: &epoch)
      zda.time = m
      if isOnlyTimeSource { openDraft() }
      if let day = calendar.day(of: m) { calendar.recordDay(day, time_us) }
      return isWritten
    }
    return false
  }

  /// Whether ZDA is the only time source so far. Not in live use, where the next sentence may contain a
  /// time.
  private var isOnlyTimeSource: Bool {
    @inline(__always) get { lastEmitted == nil && !pending.hasHeld && !options.detectsEpochEnd }
  }

  /// Writes an epoch from the time of a ZDA and the satellites reported since, if no sentence contained
  /// a time.
  private mutating func closeTimeOnlyEpoch(into epoch: inout Epoch) -> Bool {
    guard let zdaTime = zda.time, isOnlyTimeSource, pending.hasDraft, draft.openingMessage == nil
    else {
      return false
    }
    zda.time = nil
    pending.hasDraft = false
    draft.write(to: &epoch, options)
    epoch.mode = .notSeen
    setDate(&epoch, from: zdaTime)
    return true
  }

  /// Sets the date of an epoch in which only ZDA contained a time.
  private mutating func setDate(_ epoch: inout Epoch, from clock: ZDA) {
    epoch.timeOfDay_us = clock.time_us
    calendar.setDate(
      &epoch,
      from: EpochCalendar.ReportedDate(
        time_us: clock.time_us, zdaDay: calendar.day(of: clock), rmcDate: draft.rmc.date,
        isRMCValid: draft.rmc.validity == .valid))
  }

  @inline(__always) private func startsNewEpoch(_ time_us: Int64?, _ date: ShortDate?) -> Bool {
    if let time_us, let open = draft.time_us {
      if time_us != open,
        !EpochAssembler.isRoundedTime(time_us, date != nil, open, current.key, draft.timedKinds)
      {
        return true
      }
      return EpochAssembler.isAnotherDay(date, draft.rmc.date)
    }
    // Without a time, a repetition of the opening sentence starts the next epoch.
    guard let opener = draft.openingMessage else { return false }
    return opener.matches(current.key)
  }

  /// Whether the time of a sentence is that of the draft.
  @inline(__always) private func belongsToDraft(_ time_us: Int64, _ date: ShortDate?) -> Bool {
    guard pending.hasDraft, let open = draft.time_us else { return false }
    return time_us == open
      || EpochAssembler.isRoundedTime(time_us, date != nil, open, current.key, draft.timedKinds)
  }

  /// Whether two times differ by no more than the rounding within one epoch.
  ///
  /// A kind of sentence contains the time once per epoch. With a different time it belongs to the next
  /// epoch, for example of a receiver at 100 Hz.
  private static func isRoundedTime(
    _ time_us: Int64, _ isDated: Bool, _ open_us: Int64, _ key: EpochMessageKey,
    _ timed: EpochMessageKinds
  ) -> Bool {
    isSameMoment(time_us, isDated, open_us) && !timed.contains(key)
  }

  /// Whether two times of day may be the same moment, rounded differently; `isDated` says whether the
  /// first has a date.
  ///
  /// A date fixes the side of midnight, so a dated time does not match one across midnight.
  private static func isSameMoment(_ time_us: Int64, _ isDated: Bool, _ other_us: Int64) -> Bool {
    let distance = isDated ? abs(time_us - other_us) : distance_us(time_us, other_us)
    return distance <= roundingTolerance_us
  }

  /// Removes the held epoch and writes it to `epoch`; false if none exists.
  private mutating func removeHeld(into epoch: inout Epoch) -> Bool {
    if !pending.hasHeld { return false }
    pending.hasHeld = false
    epoch = held
    return true
  }

  @inline(__always) func isHeldTime(_ time_us: Int64) -> Bool {
    guard pending.hasHeld, let utc = held.utc else { return false }
    return EpochAssembler.distance_us(time_us, utc.microsecondsOfDay)
      <= EpochAssembler.roundingTolerance_us
  }

  @inline(__always) private func isLate(
    _ time_us: Int64, _ now: Instant, _ date: ShortDate?
  ) -> Bool {
    if isHeldTime(time_us) { return false }
    guard let lastEmitted, now - lastEmitted.at < EpochAssembler.lateWindow else { return false }
    if !lastEmitted.isUBX {
      if time_us != lastEmitted.time_us,
        !EpochAssembler.isRoundedTime(
          time_us, date != nil, lastEmitted.time_us, current.key, lastEmitted.timedKinds)
      {
        return false
      }
      return !EpochAssembler.isAnotherDay(date, lastEmitted.date)
    }
    // Sentences follow UBX, possibly after the next UBX epoch was emitted.
    let behind_us = lastEmitted.time_us - time_us
    let isBehind = behind_us > 0 && behind_us < EpochAssembler.maximumLag_us
    return isBehind
      || EpochAssembler.distance_us(time_us, lastEmitted.time_us)
        <= EpochAssembler.roundingTolerance_us
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
  private mutating func closeDraft(at now: Instant, by cause: EpochEndDetector.Cause) -> Epoch? {
    var epoch = Epoch()
    return closeDraft(at: now, by: cause, into: &epoch) ? epoch : nil
  }

  /// Closes the draft and writes its epoch, or the held one, to `epoch`; false if none exists.
  private mutating func closeDraft(
    at now: Instant, by cause: EpochEndDetector.Cause, into epoch: inout Epoch
  ) -> Bool {
    if !pending.hasDraft { return removeHeld(into: &epoch) }
    if cause == .silence, closeTimeOnlyEpoch(into: &epoch) { return true }
    pending.hasDraft = false
    if options.detectsEpochEnd {
      if draft.openingMessage == nil {
        endDetector.discardOpen()
      } else {
        endDetector.endEpoch(by: cause)
      }
    }
    defer { applyPendingDate() }
    if !draft.hasPositionStatus, !pending.hasHeld { return false }
    draft.write(to: &epoch, options)
    if pending.hasHeld {
      mergeHeld(into: &epoch)
      return true
    }
    guard let time_us = draft.time_us else {
      if let zdaTime = zda.time { setDate(&epoch, from: zdaTime) }
      return true
    }
    if let zdaTime = zda.time, let reported_us = zdaTime.time_us, draft.zdaDay == nil,
      EpochAssembler.isSameMoment(reported_us, zdaTime.hasDate, time_us)
    {
      draft.zdaDay = calendar.day(of: zdaTime)
    }
    let dates = EpochCalendar.ReportedDate(
      time_us: time_us, zdaDay: draft.zdaDay, rmcDate: draft.rmc.date,
      isRMCValid: draft.rmc.validity == .valid)
    calendar.setDate(&epoch, from: dates)
    lastEmitted = LastEmitted(
      time_us: time_us, isUBX: false, at: now, date: draft.rmc.date, timedKinds: draft.timedKinds)
    return true
  }

  /// Merges the epoch of the sentences with the held NAV-PVT; NAV-PVT's values have precedence.
  @inline(never)
  private mutating func mergeHeld(into epoch: inout Epoch) {
    pending.hasHeld = false
    if held.hasFix || !epoch.hasFix {
      held.fillMissing(from: epoch)
      epoch = held
    } else {
      // Without a position, NAV-PVT still has the better time.
      epoch.apply(
        DatedMoment(utc_us: held.utc_us, time_us: held.time_us, isUncertain: held.isDateUncertain))
      epoch.timeAccuracy_ns = held.timeAccuracy_ns
    }
  }

  /// Applies the date of a ZDA whose time is after this epoch, and keeps it as the time of the next
  /// epoch if this one had no time.
  private mutating func applyPendingDate() {
    zda.time = nil
    guard let later = zda.later, let time_us = later.time_us else { return }
    if let day = calendar.day(of: later) { calendar.recordDay(day, time_us) }
    if draft.time_us == nil { zda.time = later }
    zda.later = nil
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
    updateStreamState(from: part)
    current.key = EpochMessageKey(part)
    let time_ms = part.timeOfWeek_ms
    if isEmitted(time_ms, now) {
      current.placement = .late
      if case .precisePosition(let precise) = part {
        if pending.hasHeld {
          _ = held.refine(precise)
        } else {
          ubx.precisionDetector.recordArrival()
        }
      }
      return nil
    }
    if case .endOfEpoch = part {
      return pending.hasParts && parts.timeOfWeek_ms == time_ms
        ? closeParts(at: now, by: .nextTime) : nil
    }
    var closed: Epoch?
    if pending.hasParts, parts.timeOfWeek_ms != time_ms {
      closed = closeParts(at: now, by: .nextTime)
    }
    current.placement = .joined
    if !pending.hasParts {
      parts = UBXDraft()
      parts.timeOfWeek_ms = time_ms
      parts.received = now
      pending.hasParts = true
      current.placement = pending.hasDraft ? .joined : .opened
    }
    parts.apply(part)
    return closed
  }

  /// Closes the UBX epoch and returns the epoch to emit; nil if no fix status was received, if its time was
  /// already emitted, or if it is now held for sentences.
  private mutating func closeParts(at now: Instant, by cause: EpochEndDetector.Cause) -> Epoch? {
    pending.hasParts = false
    // Parts without a fix status are no epoch, and are not used to detect the last message.
    guard parts.hasFixStatus else { return nil }
    if options.detectsEpochEnd { endDetector.endEpoch(by: cause) }
    let (solution, coordinate) = parts.solution(ubx.leapSeconds)
    var epoch = Epoch(solution, options.isSimulated, at: parts.received)
    if let coordinate, epoch.hasFix { epoch.storedFix.coordinate = coordinate }
    // NAV-PVT always contains a speed; without a part with a velocity it is unknown, not 0.
    if !parts.hasVelocity, epoch.hasFix { epoch.storedFix.speed_mmps = nil }
    parts.addDilutions(to: &epoch)
    return emit(&epoch, solution, mayWait: false, at: now) ? epoch : nil
  }

  /// Stores leap seconds and satellites, which also apply after the epoch of their message.
  private mutating func updateStreamState(from part: UBXNavigation) {
    switch part {
    case .gpsTime(let m): if m.valid & 4 != 0 { ubx.leapSeconds = m.leapSeconds }
    // Source 0 is the firmware's default, no better than this build's.
    case .leapSeconds(let m):
      let isCurrent = m.valid & 1 != 0 && m.source != 0
      if isCurrent { ubx.leapSeconds = m.current }
      ubx.leapChange = isCurrent ? m.pending : 0
    case .satellites(let m), .channels(let m):
      ubx.nextSatellites = m
      pending.hasNextSatellites = true
    case .ecefPosition, .position, .status, .dilutions, .ecefSolution, .ecefVelocity, .velocity,
      .precisePosition, .utc, .endOfEpoch:
      break
    }
  }

  private func isEmitted(_ time_ms: UInt32, _ now: Instant) -> Bool {
    guard let lastEmitted, lastEmitted.isUBX, now - lastEmitted.at < EpochAssembler.lateWindow
    else { return false }
    return lastEmitted.timeOfWeek_ms == Int64(time_ms)
  }

  // MARK: Queue

  /// Adds a message while an epoch is queued, which is emitted first.
  @inline(never)
  private mutating func addWhileQueued(
    _ message: GNSSMessage, into epoch: inout Epoch
  ) -> Bool {
    let hadFirstQueued = pending.hasFirstQueued
    let first = hadFirstQueued ? next() : nil
    var second: Epoch?
    if pending.hasSecondQueued, endsPrecisionWait(message) { second = removeSecondQueued() }
    let isWritten = assemble(message, into: &epoch)
    guard let first = first ?? second else { return isWritten }
    // Epochs that this message completed are emitted after those already queued.
    if isWritten { enqueueFirst(epoch) }
    if let second, hadFirstQueued { enqueueFirst(second) }
    epoch = first
    return true
  }

  /// Whether a message ends the wait for NAV-HPPOSLLH: it arrived, or will not. Also true if
  /// `secondQueued` does not wait.
  private mutating func endsPrecisionWait(_ message: GNSSMessage) -> Bool {
    switch message {
    case .navigation(let part):
      guard part.timeOfWeek_ms == awaitedPrecisionTime_ms else { break }
      if case .precisePosition(let precise) = part {
        _ = secondQueued.refine(precise)
        return true
      }
      guard case .endOfEpoch = part else { return false }
    case .acknowledged, .refused, .configurationValues, .receiverVersion, .batchStatus, .batchEntry,
      .aidingEntry,
      .aidingAnswer, .commandResult, .receiverNotice, .unknown, .malformed:
      return awaitedPrecisionTime_ms == nil
    case .navPVT, .hnrPVT, .rmc, .gga, .gsa, .gsv, .gst, .vtg, .zda, .gll, .gns, .gbs,
      .ubloxPosition,
      .garminErrors, .garminAltitude:
      break
    }
    if awaitedPrecisionTime_ms != nil { ubx.precisionDetector.recordMiss() }
    return true
  }

  private mutating func removeSecondQueued() -> Epoch? {
    pending.hasSecondQueued = false
    awaitedPrecisionTime_ms = nil
    return secondQueued
  }

  /// Appends an epoch to the queue.
  ///
  /// Two slots suffice: one message completes at most three epochs (the sentences that it closed, the
  /// parts that it closed, and its own), and the first is returned immediately. If the caller never calls
  /// ``next()``, each message returns one queued epoch.
  mutating func enqueue(_ epoch: Epoch) {
    if !pending.hasFirstQueued {
      firstQueued = epoch
      pending.hasFirstQueued = true
      return
    }
    precondition(!pending.hasSecondQueued, "at most two epochs are queued")
    secondQueued = epoch
    pending.hasSecondQueued = true
    awaitedPrecisionTime_ms = nil
  }

  /// Prepends an epoch to the queue.
  private mutating func enqueueFirst(_ epoch: Epoch) {
    if pending.hasFirstQueued {
      let second = firstQueued
      firstQueued = epoch
      enqueue(second)
    } else {
      enqueue(epoch)
    }
  }
}

// MARK: - UBX solutions: whole epochs, live or from a batch

extension EpochAssembler {
  /// Bound of the difference between times of UBX messages of one epoch.
  fileprivate static let ubxRoundingTolerance_us: UInt64 = 100
  /// Bound of the delay of NAV-PVT after HNR-PVT, which the receiver computes faster, and of sentences
  /// after UBX.
  fileprivate static let maximumLag_us: Int64 = 2_000_000

  private mutating func recordEmitted(
    _ solution: UBXSolution, _ time_us: Int64, _ now: Instant, isHighRate: Bool
  ) {
    lastEmitted = LastEmitted(
      time_us: time_us, isUBX: true, at: now, timeOfWeek_ms: EpochAssembler.timeOfWeek(solution),
      utc_us: solution.utc_us, isHighRate: isHighRate)
  }

  /// Time of week in the form of ``LastEmitted``.
  fileprivate static func timeOfWeek(_ solution: UBXSolution) -> Int64 {
    solution.timeOfWeek_ms.map { Int64($0) } ?? -1
  }

  /// Adds NAV-PVT or HNR-PVT (`isHighRate`), with or without other epochs pending; writes the epoch that
  /// it closed or completed and returns true, else returns false.
  ///
  /// A NAV-PVT that arrives after an HNR-PVT with the same or an earlier time is ignored.
  private mutating func addLive(
    _ solution: UBXSolution, isHighRate: Bool = false, into epoch: inout Epoch
  ) -> Bool {
    let now = current.arrival
    epoch = Epoch()
    epoch.apply(solution, options.isSimulated, at: now)
    var earlier: Epoch?
    var isPrecise = false
    if pending.hasParts {
      if parts.timeOfWeek_ms == solution.timeOfWeek_ms {
        pending.hasParts = false
        parts.addDilutions(to: &epoch)
        if let precise = parts.precise { isPrecise = epoch.refine(precise) }
      } else {
        earlier = closeParts(at: now, by: .nextTime)
      }
    }
    let mayWait =
      ubx.precisionDetector.isExpected && !isPrecise && epoch.hasFix && earlier == nil
    let isEmitted = emit(&epoch, solution, isHighRate: isHighRate, mayWait: mayWait, at: now)
    guard let earlier else { return isEmitted }
    if isEmitted { enqueue(epoch) }
    epoch = earlier
    return true
  }

  /// Sets the date of a UBX epoch. If an epoch is to be emitted, writes the first one into `epoch` (the
  /// NMEA epoch or held NAV-PVT that it closed, else the UBX epoch itself) and returns true; false if it
  /// was already emitted, or waits.
  private mutating func emit(
    _ epoch: inout Epoch, _ solution: UBXSolution, isHighRate: Bool = false, mayWait: Bool,
    at now: Instant
  ) -> Bool {
    if pending.hasNextSatellites {
      epoch.apply(ubx.nextSatellites)
      pending.hasNextSatellites = false
    }
    // Optional epochs would be copied; this one is empty unless `hasClosed` is true.
    var closed = Epoch()
    guard let utc = solution.utc else {
      if closeDraft(at: now, by: .nextTime, into: &closed) { enqueue(&epoch, after: closed) }
      return true
    }
    let time_us = utc.microsecondsOfDay
    let isDrafted = isDraftTime(time_us)
    // The same epoch in both protocols: in live use the sentences are discarded.
    if isDrafted, !options.waitsForSentences { pending.hasDraft = false }
    if let lastEmitted, lastEmitted.isEpoch(of: solution, time_us, at: now) { return false }
    let hasClosed =
      isDrafted && pending.hasDraft
      ? removeHeld(into: &closed) : closeDraft(at: now, by: .nextTime, into: &closed)
    var moment = calendar.datedMoment(utc.microseconds, isResolved: solution.isTimeResolved)
    calendar.record(&moment)
    epoch.apply(moment)
    recordEmitted(solution, time_us, now, isHighRate: isHighRate)
    if options.waitsForSentences {
      held = epoch
      pending.hasHeld = true
    } else if mayWait, !hasClosed, !pending.hasFirstQueued, !pending.hasSecondQueued {
      secondQueued = epoch
      awaitedPrecisionTime_ms = solution.timeOfWeek_ms
      pending.hasSecondQueued = true
    } else {
      if hasClosed { enqueue(&epoch, after: closed) }
      return true
    }
    if hasClosed { epoch = closed }
    return hasClosed
  }

  /// Whether the draft has that time, up to rounding.
  @inline(__always) private func isDraftTime(_ time_us: Int64) -> Bool {
    guard pending.hasDraft, let open = draft.time_us else { return false }
    return EpochAssembler.distance_us(open, time_us) <= EpochAssembler.roundingTolerance_us
  }

  /// Adds an entry of a batch. It was measured earlier, so no slot changes and nothing is compared.
  private mutating func addBatchEntry(_ solution: UBXSolution, at now: Instant) -> Epoch? {
    var epoch = Epoch(solution, options.isSimulated, at: now)
    epoch.origin = .batch
    if let utc = solution.utc {
      epoch.apply(calendar.datedMoment(utc.microseconds, isResolved: solution.isTimeResolved))
    }
    return epoch
  }

  /// Queues `epoch` and replaces it by `first`, which is emitted before it.
  private mutating func enqueue(_ epoch: inout Epoch, after first: Epoch) {
    enqueue(epoch)
    epoch = first
  }
}

extension Epoch {
  /// Creates the epoch of a UBX solution without a date.
  init(_ s: UBXSolution, _ isSimulated: Bool, at now: Instant) {
    self.init()
    apply(s, isSimulated, at: now)
  }

  /// Writes a UBX solution without its date into an empty epoch.
  mutating func apply(_ s: UBXSolution, _ isSimulated: Bool, at now: Instant) {
    mode = .noFix
    pdop_e2 = s.positionDOP_e2
    timeAccuracy_ns = s.timeAccuracy_ns
    let coordinate = s.coordinate
    guard s.isFixOK, s.fixType >= 1, s.fixType <= 5, coordinate.isValid else { return }
    hasFix = true
    storedFix.acquired = now
    storedFix.coordinate = coordinate
    storedFix.isSimulated = isSimulated
    storedFix.quality = Epoch.quality(s)
    writeMotion(s)
    writeAltitude(s)
    storedFix.horizontalAccuracy_mm = Epoch.accuracy(s.horizontalAccuracy_mm)
    storedFix.satellites = s.satellites.map { Int16($0) }
  }

  /// Writes speed, course and climb.
  @inline(__always) private mutating func writeMotion(_ s: UBXSolution) {
    let course_e4 = Epoch.course_e4(s)
    storedFix.speed_mmps = s.groundSpeed_mmps
    storedFix.course_e4 = course_e4
    storedFix.speedAccuracy_mmps = s.speedAccuracy_mmps.map { Epoch.accuracy($0) }
    storedFix.courseAccuracy_e2 =
      course_e4 == nil ? nil : s.headingAccuracy_e5.map { Int32($0 / 1_000) }
    // Negating the minimum yields the minimum, which means "unknown".
    climb_mmps = s.velocityDown_mmps.map { 0 &- $0 }
  }

  /// Writes altitudes and the dimension of the fix.
  @inline(__always) private mutating func writeAltitude(_ s: UBXSolution) {
    // Dead reckoning alone is two-dimensional, as in u-blox's own GSA and in gpsd.
    let isSpatial = s.fixType > 2
    mode = isSpatial ? .threeDimensional : .twoDimensional
    storedFix.mode = isSpatial ? .threeDimensional : .twoDimensional
    storedFix.ellipsoidalAltitude_mm = s.height_mm
    storedFix.altitude_mm = s.heightMSL_mm
    storedFix.verticalAccuracy_mm =
      isSpatial ? s.verticalAccuracy_mm.map { Epoch.accuracy($0) } : nil
    if let heightMSL = s.heightMSL_mm {
      let (difference, isOver) = s.height_mm.subtractingReportingOverflow(heightMSL)
      geoidSeparation_mm = isOver ? nil : difference
    }
  }

  /// Sets date and time of the epoch and its fix.
  @inline(__always) mutating func apply(_ moment: DatedMoment) {
    utc_us = moment.utc_us
    time_us = moment.time_us
    isDateUncertain = moment.isUncertain
    if hasFix {
      storedFix.utc = UTCTime(microseconds: moment.utc_us)
      storedFix.isDateUncertain = moment.isUncertain
    }
  }

  /// An accuracy clamped to the maximum of ``Fix``.
  @inline(__always) private static func accuracy(_ reported: UInt32) -> Int32 {
    Int32(truncatingIfNeeded: min(reported, UInt32(Fix.accuracyLimit_mm)))
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
struct HighPrecisionDetector {
  /// Whether NAV-PVT waits for NAV-HPPOSLLH.
  private(set) var isExpected = false
  private var misses: UInt8 = 0

  /// Number of consecutive misses after which NAV-HPPOSLLH is no longer expected.
  static let maximumMisses: UInt8 = 3

  /// Records a NAV-HPPOSLLH after the NAV-PVT of its time.
  mutating func recordArrival() {
    isExpected = true
    misses = 0
  }

  /// Records that another message came instead of the expected NAV-HPPOSLLH.
  mutating func recordMiss() {
    misses += 1
    if misses >= HighPrecisionDetector.maximumMisses { self = HighPrecisionDetector() }
  }
}

// MARK: - Slots in use

/// Which slots of an ``EpochAssembler`` are in use.
@usableFromInline struct PendingParts: Sendable {
  /// An open NMEA epoch in `draft`.
  @usableFromInline fileprivate(set) var hasDraft = false
  /// A complete epoch in `firstQueued`, emitted next.
  @usableFromInline fileprivate(set) var hasFirstQueued = false
  /// A NAV-PVT epoch in `held` that waits for sentences of its time.
  @usableFromInline fileprivate(set) var hasHeld = false
  /// An open UBX epoch in `parts`.
  @usableFromInline fileprivate(set) var hasParts = false
  /// An epoch in `secondQueued`: waits for its NAV-HPPOSLLH, or is emitted after `firstQueued`.
  @usableFromInline fileprivate(set) var hasSecondQueued = false
  /// Satellites for the next epoch in `nextSatellites`. Not an epoch.
  fileprivate(set) var hasNextSatellites = false

  /// Whether any epoch is open or complete.
  @inlinable var hasEpoch: Bool {
    hasDraft || hasFirstQueued || hasHeld || hasParts || hasSecondQueued
  }
  /// Whether the queue may hold an epoch to emit.
  @inlinable var mayHaveNext: Bool { hasFirstQueued || hasSecondQueued }
}

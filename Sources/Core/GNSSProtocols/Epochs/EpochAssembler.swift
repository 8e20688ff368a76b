import LocationTypes

/// Puts the messages of one epoch together, whatever their order.
///
/// An NMEA epoch is open from its first sentence until one comes that bears another time, or until
/// ``close()``; with ``EpochOptions/learnsEnd`` until the sentence that has ended the epochs before.
/// Sentences without a time of their own (GSA, GSV, VTG, Garmin's) belong to the open epoch, and
/// to the one that comes next when none is open. NAV-PVT and LOG-BATCH are whole epochs. An epoch
/// is given once: what comes late for the one just given, or again in the other protocol, is left
/// out; with ``EpochOptions/waitsForSentences`` both protocols make one epoch.
public struct EpochAssembler: Sendable {
  let options: EpochOptions
  var calendar: EpochCalendar
  // What of the following means something.
  @usableFromInline var about = EpochsAbout()
  // No optionals: the draft is large, and is only ever changed in place.
  var draft = EpochDraft()
  var waiting = Epoch()
  var held = Epoch()
  var last: Given?
  var pendingDate: ZDA?
  // The time of an epoch of which no other sentence tells one.
  var clock: ZDA?
  // What is looked at from other modules is inlinable: a call would copy the whole assembler.
  @usableFromInline var end: EpochEnd
  var landing = Landing.nowhere
  // Of the message that is being added: when it came, and its place in its epoch if it has one.
  @usableFromInline var arrival = Instant.boot
  var mark = EpochMark(kind: 0)
  // The parts of a UBX epoch: see EpochAssembler+Navigation.swift.
  var parts = UBXDraft()
  var awaited = Epoch()
  var awaitedTime_ms: UInt32?
  var precision = PrecisionHabit()
  var view = UBXSatellites(timeOfWeek_ms: 0)
  var leapSeconds: Int8?

  /// The epoch given last, to know it again.
  struct Given: Equatable {
    var time_us: Int64
    var isUBX: Bool
    var at: Instant
    var date: ShortDate?
    /// −1 where it was not told.
    var timeOfWeek_ms: Int64 = -1
    var utc_us = Int64.min
    var isHighRate = false
    /// The sentences that told its time.
    var timed = EpochMarks()
  }

  /// What became of the message that was added last.
  enum Landing {
    /// It is of no epoch in the making.
    case nowhere
    /// It opened an epoch.
    case opened
    /// It went into the open epoch.
    case joined
    /// The epoch to which it belongs had been given.
    case late
  }

  /// Receivers round UBX and NMEA times of one epoch differently, by less than this.
  static let tolerance_us: Int64 = 15_000
  /// What comes with the same time of day much later is not late but another day's.
  static let lateness = Interval.seconds(3_600)

  /// Creates an assembler at the start of a stream.
  public init(_ options: EpochOptions = EpochOptions()) {
    self.options = options
    calendar = EpochCalendar(options)
    end = EpochEnd(pause: options.pause)
    about[EpochsAbout.sentences] = options.waitsForSentences
  }

  /// The silence of the line that ends the open epoch: to be closed when so much has passed since the
  /// last byte. Learned, where the options say so; 40 to 400 ms.
  @inlinable public var pause: Interval { end.pause }

  /// Whether the message that ends this receiver's epochs is known, so that no silence is needed.
  @inlinable public var isEndKnown: Bool { end.isLearned }

  /// Tells that bytes have come, before what they make is added: how long a receiver is silent within
  /// an epoch is learned from it.
  ///
  /// - Parameter isGathered: They were not read at once: when they came, and so any silence before
  ///   them, is not known.
  public mutating func hear(at now: Instant, isGathered: Bool = false) {
    if options.learnsEnd { end.hear(at: now, isGathered: isGathered) }
  }

  /// Whether sentences of an unfinished epoch, or an epoch for ``next()``, are held.
  @inlinable public var isOpen: Bool { about.hasEpoch }

  /// Adds a message and gives the epoch that it closed or is.
  ///
  /// `now` is when the message came; a fix bears the moment of its first sentence. Where a UBX
  /// epoch closes an NMEA epoch, the NMEA one is given and the other by ``next()``, or by the next
  /// call of whatever kind: none is lost. O(1).
  public mutating func add(_ message: GNSSMessage, at now: Instant) -> Epoch? {
    arrival = now
    var epoch = Epoch()
    return add(message, into: &epoch) ? epoch : nil
  }

  /// Adds a message that has come at ``arrival``; true where it closed an epoch or is one, which is
  /// written then.
  private mutating func add(_ message: GNSSMessage, into epoch: inout Epoch) -> Bool {
    if hasWaiting || isAwaiting { return addBehind(message, into: &epoch) }
    let isMade = made(by: message, into: &epoch)
    return options.learnsEnd ? closeIfOver(isMade, into: &epoch) : isMade
  }

  /// Whether ``next()`` may have something to give.
  @inlinable public var hasNext: Bool { about.mayHaveNext }

  /// Gives the epoch that the last message completed beside the one that ``add(_:at:)`` gave.
  public mutating func next() -> Epoch? {
    if hasWaiting {
      hasWaiting = false
      return waiting
    }
    return isAwaiting && awaitedTime_ms == nil ? takeAwaited() : nil
  }

  /// Closes the epoch in the making: the line has been silent, or the stream has ended.
  ///
  /// - Returns: nil when none is open, or when nothing told whether there is a position.
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

// MARK: Without messages

extension EpochAssembler: FrameReader {
  @inline(__always)
  mutating func frame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters,
    into epoch: inout Epoch
  ) -> Bool {
    // The usual one first: it is on the way of every fix.
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

  /// Adds a sentence while an epoch waits, which is given first.
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

// MARK: The learned end

extension EpochAssembler {
  /// Closes the open epoch if the message that was just added is known to be the last of an epoch;
  /// `isMade` says whether it has made one already.
  private mutating func closeIfOver(_ isMade: Bool, into epoch: inout Epoch) -> Bool {
    switch landing {
    case .nowhere: return isMade
    case .late:
      end.comeLate()
      return isMade
    case .opened: end.begin(with: mark)
    case .joined: end.goOn(with: mark)
    }
    // With epochs of both protocols open, or waiting, it is left to the next message.
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
  /// What falls silent inside a message was held up on its way, and is waited for so long.
  public static var messagePatience: Interval { .milliseconds(250) }

  /// The shortest silence that ends an epoch, however little its receiver pauses.
  public static var shortestPause: Interval { EpochEnd.shortestPause }
  /// The longest silence that is waited for within an epoch.
  public static var longestPause: Interval { EpochEnd.longestPause }

  /// How long the line must be silent until something is to be done; nil while nothing is held.
  ///
  /// The epoch is closed after ``pause``, but not inside a sentence, which may be one of its own.
  ///
  /// What the decoder holds is told and not the decoder, which is too large to be handed about.
  @inlinable public func patience(isMidFrame: Bool, isMidSentence: Bool) -> Interval? {
    if isOpen && !isMidSentence { return pause }
    return isOpen || isMidFrame ? EpochAssembler.messagePatience : nil
  }
}

// MARK: - NMEA sentences: the epoch that is open, and what opens and closes it

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

  /// Takes a sentence that few receivers send, or once an epoch.
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
  /// Makes the draft the one to which a sentence without a time belongs.
  @inline(__always) mutating func open() {
    if hasDraft { landing = .joined } else { begin() }
  }

  @inline(never) private mutating func begin() {
    draft = EpochDraft()
    draft.received = arrival
    hasDraft = true
    landing = .opened
  }

  /// How a sentence that may bear a time comes into its epoch.
  private enum Entry {
    /// It comes late for the epoch just given, and is left out.
    case late
    /// It is in.
    case plain
    /// It is in, and has closed the epoch before.
    case closing
  }

  /// Lets a sentence that may bear a time say its part, unless it comes late; true where it closes an
  /// epoch, which is written then.
  @inline(__always)
  private mutating func enter(
    _ told_us: Int64?, _ date: ShortDate? = nil, into epoch: inout Epoch,
    _ say: (inout EpochDraft) -> Void
  ) -> Bool {
    let entry = enter(told_us, date, into: &epoch)
    if entry != .late { say(&draft) }
    return entry == .closing
  }

  /// Makes the draft the one to which a sentence belongs that may bear a time, and writes the epoch
  /// that this closes. Of what kind it is its ``mark`` says.
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
      // The time that NAV-PVT waited for has passed, with no sentence of it.
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
    // Of times that differ by a rounding the first counts: time does not go back.
    if let time_us {
      if draft.time_us == nil { draft.time_us = time_us }
      draft.timed.insert(mark)
    }
    return entry
  }

  /// A ZDA neither begins nor ends an epoch: some receivers send the time of the second to come.
  ///
  /// Where nothing else has ever told a time, it is the only clock there is: then each is an epoch.
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

  /// Whether no epoch had a time of its own so far, so that a ZDA is one; live the next sentence may be.
  private var isOnlyClock: Bool {
    @inline(__always) get { last == nil && !isHolding && !options.learnsEnd }
  }

  /// Makes an epoch of a time that ZDA told alone, if one did, and of what was said of satellites.
  private mutating func closeClock(into epoch: inout Epoch) -> Bool {
    guard let clock, isOnlyClock, hasDraft, draft.opener == nil else { return false }
    self.clock = nil
    hasDraft = false
    draft.write(to: &epoch, options)
    epoch.mode = .notSeen
    date(&epoch, by: clock)
    return true
  }

  /// Dates an epoch in which no sentence but ZDA told a time.
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
    // No time to go by: the sentence that began the epoch comes again.
    guard let opener = draft.opener else { return false }
    return opener.isLike(mark)
  }

  /// Whether a sentence's time is that of the open epoch.
  @inline(__always) private func isOfDraft(_ time_us: Int64, _ date: ShortDate?) -> Bool {
    guard hasDraft, let open = draft.time_us else { return false }
    return time_us == open
      || EpochAssembler.isRounding(time_us, date != nil, open, mark, draft.timed)
  }

  /// Whether two times differ by no more than the sentences of one epoch round theirs.
  ///
  /// A kind of sentence that has told the epoch its time does not do so again: with another time it is of
  /// the next one, of a receiver that has a hundred a second.
  ///
  /// Static: of a method that changes nothing the whole assembler would be copied.
  private static func isRounding(
    _ time_us: Int64, _ isDated: Bool, _ open_us: Int64, _ mark: EpochMark, _ timed: EpochMarks
  ) -> Bool {
    isSameMoment(time_us, isDated, open_us) && !timed.contains(mark)
  }

  /// Whether two times of day may be one moment's, rounded otherwise; the first with its date or without.
  ///
  /// A date tells on which side of midnight its time is: it is of no time on the other side.
  private static func isSameMoment(_ time_us: Int64, _ isDated: Bool, _ other_us: Int64) -> Bool {
    let distance = isDated ? abs(time_us - other_us) : distance_us(time_us, other_us)
    return distance <= tolerance_us
  }

  /// Takes the epoch that waits for sentences of its time, if one does.
  private mutating func takeHeld() -> Epoch? {
    if !isHolding { return nil }
    isHolding = false
    return held
  }

  /// The same, written where it is wanted; false where none waits.
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
    // Sentences are told after UBX, perhaps when the next epoch of UBX has gone out already.
    let behind_us = last.time_us - time_us
    let isBehind = behind_us > 0 && behind_us < EpochAssembler.overtaken_us
    return isBehind
      || EpochAssembler.distance_us(time_us, last.time_us) <= EpochAssembler.tolerance_us
  }

  /// Whether both are told and differ: the same time of day is another epoch then.
  private static func isAnotherDay(_ a: ShortDate?, _ b: ShortDate?) -> Bool {
    guard let a, let b else { return false }
    return a != b
  }

  /// The distance of two times of day, across midnight where that is shorter.
  static func distance_us(_ a: Int64, _ b: Int64) -> Int64 {
    let distance = abs(a - b)
    return min(distance, abs(EpochCalendar.day_us - distance))
  }

  /// Closes the draft, if there is one, and gives what it adds up to, or the epoch that was held for it.
  private mutating func closeDraft(at now: Instant, by cause: EpochEnd.Cause) -> Epoch? {
    var epoch = Epoch()
    return closeDraft(at: now, by: cause, into: &epoch) ? epoch : nil
  }

  /// The same, written where it is wanted; false where there is none.
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
    // Handed on as a value, all of the draft would be copied.
    let dates = EpochCalendar.Told(
      time_us: time_us, zdaDay: draft.zdaDay, rmcDate: draft.rmcDate,
      isRMCValid: draft.rmcVerdict == .valid)
    calendar.date(&epoch, by: dates)
    last = Given(
      time_us: time_us, isUBX: false, at: now, date: draft.rmcDate, timed: draft.timed)
    return true
  }

  /// Makes of the sentences' epoch that of NAV-PVT that has waited for them: each value is of the
  /// richer source that has it, so NAV-PVT's first.
  @inline(never)
  private mutating func completeHeld(into epoch: inout Epoch) {
    isHolding = false
    if held.hasFix || !epoch.hasFix {
      held.complete(by: epoch)
      epoch = held
    } else {
      // NAV-PVT has no position; it knows the moment best all the same.
      epoch.take(
        DatedMoment(utc_us: held.utc_us, time_us: held.time_us, isUncertain: held.isDateUncertain))
      epoch.timeAccuracy_ns = held.timeAccuracy_ns
    }
  }

  /// The date of a time after this epoch, and the clock of the next one if that tells no time.
  private mutating func learnPendingDate() {
    clock = nil
    guard let later = pendingDate, let time_us = later.time_us else { return }
    if let day = calendar.day(of: later) { calendar.learn(day, time_us) }
    if draft.time_us == nil { clock = later }
    pendingDate = nil
  }
}

// MARK: - UBX parts: messages that bear one time of week make one epoch

extension EpochAssembler {
  /// Adds a part. It belongs to the epoch that is open for its time of week, or opens one.
  ///
  /// NAV-EOE, and a part of another time, close the open one. What comes for an epoch that was given
  /// is left out, but that it teaches whether NAV-HPPOSLLH is to be waited for.
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

  /// Closes the parts; nil where none told whether there is a position, or the epoch was given.
  private mutating func closeParts(at now: Instant, by cause: EpochEnd.Cause) -> Epoch? {
    hasParts = false
    // Parts that tell no position are no epoch, and teach nothing about where one ends.
    guard parts.isTold else { return nil }
    if options.learnsEnd { end.close(by: cause) }
    let (solution, place) = parts.solution(leapSeconds)
    var epoch = Epoch(solution, options.isSimulated, at: parts.received)
    if let place { epoch.fix?.coordinate = place }
    // NAV-PVT always has a speed; that of parts is unknown where none of them tells it, and not 0.
    if !parts.hasVelocity { epoch.fix?.speed_mmps = nil }
    parts.complete(&epoch)
    return give(&epoch, solution, mayWait: false, at: now)
  }

  /// What a message says beyond its epoch.
  private mutating func hear(_ part: UBXNavigation) {
    switch part {
    case .gpsTime(let m): if m.valid & 4 != 0 { leapSeconds = m.leapSeconds }
    // Source 0 is what the firmware was built with: no better than what we know.
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

  // MARK: Epochs that wait

  /// Adds a message while an epoch waits, which is given first.
  @inline(never)
  mutating func addBehind(_ message: GNSSMessage, into epoch: inout Epoch) -> Bool {
    let hadWaiting = hasWaiting
    let first = hadWaiting ? next() : nil
    let second = isAwaiting && settles(message) ? takeAwaited() : nil
    let isMade = made(by: message, into: &epoch)
    guard let first = first ?? second else { return isMade }
    // What the message closed lies in the two places already, and comes after these.
    if isMade { waitFirst(epoch) }
    if let second, hadWaiting { waitFirst(second) }
    epoch = first
    return true
  }

  /// Whether the epoch that waits for its NAV-HPPOSLLH waits no longer: it has come, or will not.
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

  /// Puts an epoch behind those that wait.
  ///
  /// There are two places. Three epochs come of one message at most: sentences that it closed, parts
  /// that it closed, and its own; the first is given at once. A caller that never fetches what waits
  /// gets one with each message, and no message makes one without closing or being one.
  mutating func wait(_ epoch: Epoch) {
    if !hasWaiting {
      waiting = epoch
      hasWaiting = true
      return
    }
    precondition(!isAwaiting, "two epochs wait at most")
    awaited = epoch
    isAwaiting = true
    awaitedTime_ms = nil
  }

  /// Puts an epoch before those that wait.
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

// MARK: - UBX solutions: whole epochs, live or out of a batch

extension EpochAssembler {
  /// Adds the payload of NAV-PVT; true where it closed an epoch or is one, which is written then.
  ///
  /// One function for the usual case, NAV-PVT alone: what the payload says goes straight into the epoch.
  @inline(never)
  mutating func addLive(_ payload: Span<UInt8>, into epoch: inout Epoch) -> Bool {
    let utc_us = UBXSolution.moment(ofNavPVT: payload)
    guard !isAmongOthers, utc_us != .min else {
      return addAmongOthers(UBXSolution(navPVT: payload), at: arrival, into: &epoch)
    }
    return addAlone(UBXSolution(ofNavPVT: payload, utc_us), at: arrival, into: &epoch)
  }

  /// Adds NAV-PVT; true where it closed an epoch or is one, which is written then.
  @inline(never)
  mutating func addLive(_ solution: UBXSolution, at now: Instant, into epoch: inout Epoch) -> Bool {
    guard !isAmongOthers, solution.utc_us != .min else {
      return addAmongOthers(solution, at: now, into: &epoch)
    }
    return addAlone(solution, at: now, into: &epoch)
  }

  /// Adds NAV-PVT with a time while nothing else is about.
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

  /// HNR-PVT is an epoch of its own; NAV-PVT of its time, or of one before it, comes too late.
  private mutating func addHighRate(
    _ solution: UBXSolution, at now: Instant, into epoch: inout Epoch
  ) -> Bool {
    let before = last
    let isMade = addLive(solution, at: now, into: &epoch)
    if let time = last, time.isUBX, time != before { last?.isHighRate = true }
    return isMade
  }

  /// Whether sentences or parts of epochs are about, or are wanted.
  @inline(__always) private var isAmongOthers: Bool { !about.isEmpty || precision.isAwaited }

  /// Whether the epoch of that time was given already, in this protocol or as sentences.
  @inline(__always) func isRepeated(
    _ solution: UBXSolution, _ time_us: Int64, _ now: Instant
  ) -> Bool {
    guard let last, now - last.at < EpochAssembler.lateness else { return false }
    if !last.isUBX {
      return EpochAssembler.distance_us(last.time_us, time_us) <= EpochAssembler.tolerance_us
    }
    let difference = solution.utc_us &- last.utc_us
    if last.isHighRate, difference <= 0, difference > -EpochAssembler.overtaken_us { return true }
    // Two messages round a time differently. A leap second's end may fall on the same UTC; its
    // time of week does not.
    return difference.magnitude <= EpochAssembler.rounding_us
      && last.timeOfWeek_ms == EpochAssembler.week(solution)
  }

  /// By how much two UBX messages may differ in one epoch's time.
  private static let rounding_us: UInt64 = 100
  /// How late NAV-PVT may come behind HNR-PVT, which is worked out faster, and sentences behind UBX.
  private static let overtaken_us: Int64 = 2_000_000

  @inline(__always) private mutating func remember(
    _ solution: UBXSolution, _ time_us: Int64, _ now: Instant
  ) {
    last = Given(
      time_us: time_us, isUBX: true, at: now, timeOfWeek_ms: EpochAssembler.week(solution),
      utc_us: solution.utc_us)
  }

  /// The time of week as ``Given`` has it.
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

  /// Dates a UBX epoch and gives it, or the NAV-PVT before it that had waited.
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
    // The same epoch in both protocols: live the sentences are left out.
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

  /// Whether sentences of that time, or one rounded otherwise, are in the making.
  @inline(__always) private func isDrafted(_ time_us: Int64) -> Bool {
    guard hasDraft, let open = draft.time_us else { return false }
    return EpochAssembler.distance_us(open, time_us) <= EpochAssembler.tolerance_us
  }

  /// An entry out of a batch was measured earlier: the open epoch stays open, nothing is compared.
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
  /// The epoch of a UBX solution, not dated yet.
  init(_ s: UBXSolution, _ isSimulated: Bool, at now: Instant) {
    self.init()
    become(s, isSimulated, at: now)
  }

  /// Becomes the epoch of a UBX solution, not dated yet.
  @inline(never)
  mutating func become(_ s: UBXSolution, _ isSimulated: Bool, at now: Instant) {
    let moment = DatedMoment(utc_us: .min, time_us: .min, isUncertain: false)
    write(s, moment, isSimulated, at: now)
  }

  /// Becomes the epoch of a UBX solution at a moment: where it lies, and every field once.
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
    // What these messages do not say.
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
    // Of the smallest value there is no opposite: it stays itself, which stands for "not known".
    climb_mmps = s.velocityDown_mmps.map { 0 &- $0 }
  }

  /// Writes altitudes, and whether they count.
  @inline(always) private mutating func writeAltitude(_ s: UBXSolution) {
    // Dead reckoning alone is two-dimensional: u-blox's own GSA says so, and gpsd.
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

  /// Takes its moment, and so does its fix.
  @inline(__always) mutating func take(_ moment: DatedMoment) {
    utc_us = moment.utc_us
    time_us = moment.time_us
    isDateUncertain = moment.isUncertain
    if hasFix {
      place.utc = UTCTime(microseconds: moment.utc_us)
      place.isDateUncertain = moment.isUncertain
    }
  }

  /// No fix tells of a larger one, whatever it measures.
  @inline(__always) private static func accuracy(_ told: UInt32) -> Int32 {
    Int32(truncatingIfNeeded: min(told, UInt32(Fix.accuracyLimit_mm)))
  }

  /// Nil when the receiver says that it may be any: an error of 180° or more.
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

// MARK: - Habits of a stream

/// Whether NAV-HPPOSLLH comes behind NAV-PVT, as learned from the stream.
struct PrecisionHabit {
  /// NAV-PVT waits for it.
  private(set) var isAwaited = false
  private var missed: UInt8 = 0

  /// So often in a row it may be missing before it is waited for no more.
  static let patience: UInt8 = 3

  /// It came behind a NAV-PVT of its time.
  mutating func came() {
    isAwaited = true
    missed = 0
  }

  /// It was waited for, and something else came.
  mutating func failed() {
    missed += 1
    if missed >= PrecisionHabit.patience { self = PrecisionHabit() }
  }
}

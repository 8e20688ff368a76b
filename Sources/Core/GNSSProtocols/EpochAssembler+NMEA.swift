import LocationTypes

// Sentences: the epoch that is open, and what opens and closes it.

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
  mutating func takeHeld() -> Epoch? {
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
  static func isAnotherDay(_ a: ShortDate?, _ b: ShortDate?) -> Bool {
    guard let a, let b else { return false }
    return a != b
  }

  /// The distance of two times of day, across midnight where that is shorter.
  static func distance_us(_ a: Int64, _ b: Int64) -> Int64 {
    let distance = abs(a - b)
    return min(distance, abs(EpochCalendar.day_us - distance))
  }

  /// Closes the draft, if there is one, and gives what it adds up to, or the epoch that was held for it.
  mutating func closeDraft(at now: Instant, by cause: EpochEnd.Cause) -> Epoch? {
    var epoch = Epoch()
    return closeDraft(at: now, by: cause, into: &epoch) ? epoch : nil
  }

  /// The same, written where it is wanted; false where there is none.
  mutating func closeDraft(
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

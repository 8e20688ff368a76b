import LocationTypes

// Sentences: the epoch that is open, and what opens and closes it.

extension EpochAssembler: SentenceTaker {
  @inline(__always) mutating func take(_ m: RMC, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(0, m.talker)
    return enter(m.talker, m.time_us, m.date, into: &epoch) { $0.take(m) }
  }

  @inline(__always) mutating func take(_ m: GGA, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(1, m.talker)
    return enter(m.talker, m.time_us, into: &epoch) { $0.take(m) }
  }

  @inline(__always) mutating func take(_ m: GLL, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(2, m.talker)
    return enter(m.talker, m.time_us, into: &epoch) { $0.take(m) }
  }

  @inline(__always) mutating func take(_ m: GST, into epoch: inout Epoch) -> Bool {
    mark = EpochMark(3, m.talker)
    return enter(m.talker, m.time_us, into: &epoch) { $0.take(m) }
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
      return enter(m.talker, m.time_us, into: &epoch) { $0.take(m) }
    case .gbs(let m):
      mark = EpochMark(9, m.talker)
      return enter(m.talker, m.time_us, into: &epoch) { $0.take(m) }
    case .ubloxPosition(let m):
      mark = EpochMark(kind: 10)
      return enter(.ublox, m.time_us, into: &epoch) { $0.take(m) }
    case .zda(let m):
      mark = EpochMark(4, m.talker)
      take(m)
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
    _ talker: Talker, _ told_us: Int64?, _ date: ShortDate? = nil, into epoch: inout Epoch,
    _ say: (inout EpochDraft) -> Void
  ) -> Bool {
    let entry = enter(talker, told_us, date, into: &epoch)
    if entry != .late { say(&draft) }
    return entry == .closing
  }

  /// Makes the draft the one to which a sentence belongs that may bear a time, and writes the epoch
  /// that this closes. Of what kind it is its ``mark`` says.
  private mutating func enter(
    _ talker: Talker, _ told_us: Int64?, _ date: ShortDate?, into epoch: inout Epoch
  ) -> Entry {
    let time_us = told_us.map { EpochCalendar.withinDay($0) }
    if let time_us, !hasDraft || time_us != draft.time_us, isLate(time_us, arrival, date) {
      landing = .late
      return .late
    }
    var entry = Entry.plain
    if isHolding, let time_us, !isHeld(time_us), !hasDraft || draft.opener == nil {
      // The time that NAV-PVT waited for has passed, with no sentence of it.
      isHolding = false
      epoch = held
      entry = .closing
    }
    if hasDraft, startsAnother(mark.kind, talker, time_us, date) {
      entry = closeDraft(at: arrival, by: .nextTime, into: &epoch) ? .closing : .plain
    }
    open()
    if draft.opener == nil {
      draft.opener = (mark.kind, talker)
      draft.received = arrival
    }
    if let time_us { draft.time_us = time_us }
    return entry
  }

  /// A ZDA neither begins nor ends an epoch: some receivers send the time of the second to come.
  mutating func take(_ m: ZDA) {
    var m = m
    m.time_us = m.time_us.map { EpochCalendar.withinDay($0) }
    if hasDraft {
      if draft.time_us == m.time_us { landing = .joined }
    } else if let time_us = m.time_us, last?.time_us == time_us {
      landing = .late
    }
    guard m.date != nil, let time_us = m.time_us else { return }
    if hasDraft, draft.time_us == time_us {
      draft.zdaDate = m.date
    } else if !hasDraft || draft.opener == nil {
      calendar.learn(m.date, time_us)
    } else {
      heardDate = m
    }
  }

  @inline(__always) func startsAnother(
    _ kind: UInt8, _ talker: Talker, _ time_us: Int64?, _ date: ShortDate?
  ) -> Bool {
    if let time_us, let open = draft.time_us {
      return time_us != open || EpochAssembler.isAnotherDay(date, draft.rmcDate)
    }
    // No time to go by: the sentence that began the epoch comes again.
    guard let opener = draft.opener else { return false }
    return opener.kind == kind && opener.talker == talker
  }

  /// Gives the epoch that waits for sentences of its time; false where none does.
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

  @inline(__always) func isLate(_ time_us: Int64, _ now: Instant, _ date: ShortDate?) -> Bool {
    if isHeld(time_us) { return false }
    guard let last, now - last.at < EpochAssembler.lateness else { return false }
    if !last.isUBX {
      return time_us == last.time_us && !EpochAssembler.isAnotherDay(date, last.date)
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
    return min(distance, abs(86_400_000_000 - distance))
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
    hasDraft = false
    if options.learnsEnd {
      if draft.opener == nil { end.dissolve() } else { end.close(by: cause) }
    }
    defer {
      // The date of a time after this epoch.
      if let later = heardDate, let time_us = later.time_us { calendar.learn(later.date, time_us) }
      heardDate = nil
    }
    if !draft.isTold { return giveHeld(into: &epoch) }
    draft.write(to: &epoch, options)
    // Handed on as a value, all of the draft would be copied.
    let dates = EpochCalendar.Told(
      time_us: draft.time_us, zdaDate: draft.zdaDate, rmcDate: draft.rmcDate,
      isRMCValid: draft.rmcVerdict == .valid)
    calendar.date(&epoch, by: dates)
    if isHolding {
      isHolding = false
      guard epoch.hasFix, draft.time_us != nil else {
        epoch = held
        return true
      }
      epoch.climb_mmps = held.climb_mmps
      epoch.timeAccuracy_ns = held.timeAccuracy_ns
    }
    if let time_us = draft.time_us {
      last = Given(time_us: time_us, isUBX: false, at: now, date: draft.rmcDate)
    }
    return true
  }
}

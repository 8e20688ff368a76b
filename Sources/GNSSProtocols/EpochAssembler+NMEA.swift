import LocationTypes

// Sentences: the epoch that is open, and what opens and closes it.

extension EpochAssembler {
  @inline(never) mutating func addRMC(_ message: GNSSMessage, _ now: Instant) -> Epoch? {
    guard case .rmc(let m) = message, let closed = enter(0, m.talker, m.time_us, now, m.date)
    else { return nil }
    draft.take(m)
    return closed.epoch
  }

  @inline(never) mutating func addGGA(_ message: GNSSMessage, _ now: Instant) -> Epoch? {
    guard case .gga(let m) = message, let closed = enter(1, m.talker, m.time_us, now)
    else { return nil }
    draft.take(m)
    return closed.epoch
  }

  @inline(never) mutating func addGLL(_ message: GNSSMessage, _ now: Instant) -> Epoch? {
    guard case .gll(let m) = message, let closed = enter(2, m.talker, m.time_us, now)
    else { return nil }
    draft.take(m)
    return closed.epoch
  }

  @inline(never) mutating func addGST(_ message: GNSSMessage, _ now: Instant) -> Epoch? {
    guard case .gst(let m) = message, let closed = enter(3, m.talker, m.time_us, now)
    else { return nil }
    draft.take(m)
    return closed.epoch
  }

  @inline(never) mutating func addGSA(_ message: GNSSMessage, _ now: Instant) {
    guard case .gsa(let m) = message else { return }
    open(now)
    draft.take(m)
  }

  @inline(never) mutating func addGSV(_ message: GNSSMessage, _ now: Instant) {
    guard case .gsv(let m) = message else { return }
    open(now)
    draft.take(m)
  }

  @inline(never) mutating func addVTG(_ message: GNSSMessage, _ now: Instant) {
    guard case .vtg(let m) = message else { return }
    open(now)
    draft.take(m)
  }

  /// Adds a sentence that few receivers send, or once an epoch.
  @inline(never) mutating func addOther(_ message: GNSSMessage, _ now: Instant) -> Epoch? {
    switch message {
    case .gns(let m):
      guard let closed = enter(4, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .gbs(let m):
      guard let closed = enter(5, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .ubloxPosition(let m):
      guard let closed = enter(6, .ublox, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .zda(let m): take(m)
    case .garminErrors(let m):
      open(now)
      draft.take(m)
    case .garminAltitude(let m):
      open(now)
      draft.take(m)
    case _: break
    }
    return nil
  }

  /// What entering an epoch closed, if anything.
  struct Entry {
    var epoch: Epoch?
  }

  mutating func open(_ now: Instant) {
    if hasDraft {
      landing = .joined
      return
    }
    draft = EpochDraft()
    draft.received = now
    hasDraft = true
    landing = .opened
  }

  /// Makes the draft the one to which a sentence belongs that may bear a time.
  ///
  /// - Returns: nil when the sentence comes late for the epoch just given, and is left out.
  mutating func enter(
    _ kind: UInt8, _ talker: Talker, _ told_us: Int64?, _ now: Instant, _ date: ShortDate? = nil
  ) -> Entry? {
    let time_us = told_us.map { EpochCalendar.withinDay($0) }
    if let time_us, !hasDraft || time_us != draft.time_us, isLate(time_us, now, date) {
      landing = .late
      return nil
    }
    var entry = Entry()
    if isHolding, let time_us, !isHeld(time_us), !hasDraft || draft.opener == nil {
      // The time that NAV-PVT waited for has passed, with no sentence of it.
      isHolding = false
      entry.epoch = held
    }
    if hasDraft, startsAnother(kind, talker, time_us, date) {
      entry.epoch = closeDraft(at: now, by: .nextTime)
    }
    open(now)
    if draft.opener == nil {
      draft.opener = (kind, talker)
      draft.received = now
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

  mutating func takeHeld() -> Epoch? {
    if !isHolding { return nil }
    isHolding = false
    return held
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

  mutating func closeDraft(at now: Instant, by cause: EpochEnd.Cause) -> Epoch? {
    if !hasDraft { return takeHeld() }
    hasDraft = false
    if options.learnsEnd {
      if draft.opener == nil { end.dissolve() } else { end.close(by: cause) }
    }
    defer {
      // The date of a time after this epoch.
      if let later = heardDate, let time_us = later.time_us { calendar.learn(later.date, time_us) }
      heardDate = nil
    }
    if !draft.isTold { return takeHeld() }
    var epoch = draft.epoch(options)
    calendar.date(&epoch, from: draft)
    if let earlier = takeHeld() {
      guard epoch.fix != nil, draft.time_us != nil else { return earlier }
      epoch.climb_mmps = earlier.climb_mmps
      epoch.timeAccuracy_ns = earlier.timeAccuracy_ns
    }
    if let time_us = draft.time_us {
      last = Given(time_us: time_us, isUBX: false, at: now, date: draft.rmcDate)
    }
    return epoch
  }
}

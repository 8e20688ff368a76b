import LocationTypes

// The parts of UBX epochs: messages that bear one time of week make one epoch.

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

extension EpochAssembler {
  /// Adds a part. It belongs to the epoch that is open for its time of week, or opens one.
  ///
  /// NAV-EOE, and a part of another time, close the open one. What comes for an epoch that was given
  /// is left out, but that it teaches whether NAV-HPPOSLLH is to be waited for.
  mutating func addPart(_ part: UBXNavigation, at now: Instant) -> Epoch? {
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
  mutating func closeParts(at now: Instant, by cause: EpochEnd.Cause) -> Epoch? {
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

  mutating func takeAwaited() -> Epoch? {
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

extension Epoch {
  /// Takes the digits of NAV-HPPOSLLH, if it is valid and the same place; says whether it did.
  mutating func refine(_ precise: UBXPrecisePosition) -> Bool {
    guard var fix, precise.refines(fix.coordinate) else { return false }
    fix.coordinate = precise.place
    fix.ellipsoidalAltitude_mm = precise.height_mm
    fix.altitude_mm = precise.heightMSL_mm
    fix.horizontalAccuracy_mm = Int32(clamping: precise.horizontalAccuracy_mm)
    if fix.mode == .threeDimensional {
      fix.verticalAccuracy_mm = Int32(clamping: precise.verticalAccuracy_mm)
    }
    self.fix = fix
    return true
  }

  /// Takes what was said of the satellites.
  mutating func take(_ satellites: UBXSatellites) {
    satellitesInView = min(satellites.inView, 254)
    meanSignal_dBHz = satellites.mean_dBHz
    bestSignal_dBHz = satellites.used == 0 ? nil : satellites.best_dBHz
  }
}

extension UBXDraft {
  /// Adds to an epoch what NAV-PVT does not say.
  func complete(_ epoch: inout Epoch) {
    guard let dilutions else { return }
    epoch.hdop_e2 = UBXDraft.known(dilutions.horizontal_e2)
    epoch.vdop_e2 = UBXDraft.known(dilutions.vertical_e2)
    epoch.pdop_e2 = UBXDraft.known(dilutions.position_e2)
  }

  /// From 99 up, and 0, say that there is none, as in NMEA.
  private static func known(_ dilution_e2: UInt16) -> UInt16? {
    dilution_e2 == 0 || dilution_e2 >= 9_900 ? nil : dilution_e2
  }
}

import LocationTypes

/// Puts the messages of one epoch together, whatever their order.
///
/// An NMEA epoch is open from its first sentence until one comes that bears another time, or until
/// ``close()``. Sentences without a time of their own (GSA, GSV, VTG) belong to the open epoch, and
/// to the one that comes next when none is open. NAV-PVT and LOG-BATCH are whole epochs. An epoch
/// is given once: what comes late for the one just given, or again in the other protocol, is left
/// out.
public struct EpochAssembler: Sendable {
  private let options: EpochOptions
  private var calendar: EpochCalendar
  // No optionals: the draft is large, and is only ever changed in place.
  private var draft = EpochDraft()
  private var hasDraft = false
  private var waiting = Epoch()
  private var hasWaiting = false
  private var held = Epoch()
  private var isHolding = false
  private var last: Given?
  private var heardDate: ZDA?

  /// The epoch given last, to know it again.
  private struct Given {
    var time_us: Int64
    var isUBX: Bool
    var at: Instant
  }

  /// Receivers round UBX and NMEA times of one epoch differently, by less than this.
  private static let tolerance_us: Int64 = 15_000
  /// What comes with the same time of day much later is not late but another day's.
  private static let lateness = Interval.seconds(3_600)

  /// Creates an assembler at the start of a stream.
  public init(_ options: EpochOptions = EpochOptions()) {
    self.options = options
    calendar = EpochCalendar(options)
  }

  /// Whether sentences of an unfinished epoch, or an epoch for ``next()``, are held.
  public var isOpen: Bool { hasDraft || hasWaiting || isHolding }

  /// Adds a message and gives the epoch that it closed or is.
  ///
  /// `now` is when the message came; a fix bears the moment of its first sentence. Where a UBX
  /// epoch closes an NMEA epoch, the NMEA one is given and the other by ``next()``, or by the next
  /// call of whatever kind: none is lost. O(1).
  public mutating func add(_ message: GNSSMessage, at now: Instant) -> Epoch? {
    if !hasWaiting { return made(by: message, at: now) }
    let earlier = next()
    // An epoch waits only where none is open, so this message makes one at most.
    if let made = made(by: message, at: now) { wait(made) }
    return earlier
  }

  /// Gives the epoch that the last message completed beside the one that ``add(_:at:)`` gave.
  public mutating func next() -> Epoch? {
    if !hasWaiting { return nil }
    hasWaiting = false
    return waiting
  }

  private mutating func wait(_ epoch: Epoch) {
    waiting = epoch
    hasWaiting = true
  }

  /// Closes the epoch in the making: the line has been silent, or the stream has ended.
  ///
  /// - Returns: nil when none is open, or when nothing told whether there is a position.
  public mutating func close() -> Epoch? {
    if hasWaiting { return next() }
    return closeDraft(at: draft.received)
  }

  private mutating func made(by message: GNSSMessage, at now: Instant) -> Epoch? {
    switch message {
    case .rmc(let m):
      guard let closed = enter(0, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .gga(let m):
      guard let closed = enter(1, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .gll(let m):
      guard let closed = enter(2, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .gst(let m):
      guard let closed = enter(3, m.talker, m.time_us, now) else { return nil }
      draft.take(m)
      return closed.epoch
    case .zda(let m): take(m)
    case .gsa(let m):
      open(now)
      draft.take(m)
    case .gsv(let m):
      open(now)
      draft.take(m)
    case .vtg(let m):
      open(now)
      draft.take(m)
    case .navPVT(let solution): return addLive(solution, at: now)
    case .batchEntry(let entry): return addStored(entry.solution, at: now)
    case .acknowledged, .refused, .receiverVersion, .batchStatus, .other: break
    }
    return nil
  }
}

// MARK: NMEA

extension EpochAssembler {
  /// What entering an epoch closed, if anything.
  private struct Entry {
    var epoch: Epoch?
  }

  private mutating func open(_ now: Instant) {
    if hasDraft { return }
    draft = EpochDraft()
    draft.received = now
    hasDraft = true
  }

  /// Makes the draft the one to which a sentence belongs that may bear a time.
  ///
  /// - Returns: nil when the sentence comes late for the epoch just given, and is left out.
  private mutating func enter(
    _ kind: UInt8, _ talker: Talker, _ time_us: Int64?, _ now: Instant
  ) -> Entry? {
    if let time_us, !hasDraft || time_us != draft.time_us, isLate(time_us, now) { return nil }
    var entry = Entry()
    if isHolding, let time_us, !isHeld(time_us), !hasDraft || draft.opener == nil {
      // The time that NAV-PVT waited for has passed, with no sentence of it.
      isHolding = false
      entry.epoch = held
    }
    if hasDraft, startsAnother(kind, talker, time_us) { entry.epoch = closeDraft(at: now) }
    open(now)
    if draft.opener == nil {
      draft.opener = (kind, talker)
      draft.received = now
    }
    if let time_us { draft.time_us = time_us }
    return entry
  }

  /// A ZDA neither begins nor ends an epoch: some receivers send the time of the second to come.
  private mutating func take(_ m: ZDA) {
    guard m.date != nil, let time_us = m.time_us else { return }
    if hasDraft, draft.time_us == time_us {
      draft.zdaDate = m.date
    } else if !hasDraft || draft.opener == nil {
      calendar.learn(m.date, time_us)
    } else {
      heardDate = m
    }
  }

  private func startsAnother(_ kind: UInt8, _ talker: Talker, _ time_us: Int64?) -> Bool {
    if let time_us, let open = draft.time_us { return time_us != open }
    // No time to go by: the sentence that began the epoch comes again.
    guard let opener = draft.opener else { return false }
    return opener.kind == kind && opener.talker == talker
  }

  private mutating func takeHeld() -> Epoch? {
    if !isHolding { return nil }
    isHolding = false
    return held
  }

  private func isHeld(_ time_us: Int64) -> Bool {
    guard isHolding, let utc = held.utc else { return false }
    return EpochAssembler.distance_us(time_us, utc.microsecondsOfDay)
      <= EpochAssembler.tolerance_us
  }

  private func isLate(_ time_us: Int64, _ now: Instant) -> Bool {
    if isHeld(time_us) { return false }
    guard let last, now - last.at < EpochAssembler.lateness else { return false }
    if !last.isUBX { return time_us == last.time_us }
    return EpochAssembler.distance_us(time_us, last.time_us) <= EpochAssembler.tolerance_us
  }

  /// The distance of two times of day, across midnight where that is shorter.
  private static func distance_us(_ a: Int64, _ b: Int64) -> Int64 {
    let distance = abs(a - b)
    return min(distance, abs(86_400_000_000 - distance))
  }

  private mutating func closeDraft(at now: Instant) -> Epoch? {
    if !hasDraft { return takeHeld() }
    hasDraft = false
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
    if let time_us = draft.time_us { last = Given(time_us: time_us, isUBX: false, at: now) }
    return epoch
  }
}

// MARK: UBX

extension EpochAssembler {
  private mutating func addLive(_ solution: UBXSolution, at now: Instant) -> Epoch? {
    var epoch = Epoch(solution, options, at: now)
    guard let utc = solution.utc else {
      return inOrder(closeDraft(at: now), epoch)
    }
    let time_us = utc.microsecondsOfDay
    if hasDraft, let open = draft.time_us,
      EpochAssembler.distance_us(open, time_us) <= EpochAssembler.tolerance_us
    {
      // The same epoch in both protocols; NAV-PVT says all that the sentences say.
      hasDraft = false
    }
    let closed = closeDraft(at: now)
    if let last, now - last.at < EpochAssembler.lateness, closed == nil,
      last.isUBX
        ? last.time_us == time_us
        : EpochAssembler.distance_us(last.time_us, time_us) <= EpochAssembler.tolerance_us
    {
      return nil
    }
    calendar.date(&epoch, reported: utc, isResolved: solution.isTimeResolved)
    last = Given(time_us: time_us, isUBX: true, at: now)
    if options.waitsForSentences {
      held = epoch
      isHolding = true
      return closed
    }
    return inOrder(closed, epoch)
  }

  /// An entry out of a batch was measured earlier: the open epoch stays open, nothing is compared.
  private mutating func addStored(_ solution: UBXSolution, at now: Instant) -> Epoch? {
    var epoch = Epoch(solution, options, at: now)
    epoch.origin = .batch
    if let utc = solution.utc {
      var aside = calendar
      aside.date(&epoch, reported: utc, isResolved: solution.isTimeResolved)
    }
    return epoch
  }

  private mutating func inOrder(_ first: Epoch?, _ second: Epoch) -> Epoch {
    guard let first else { return second }
    wait(second)
    return first
  }
}

extension Epoch {
  /// The epoch of a UBX solution, but for its time.
  init(_ s: UBXSolution, _ options: EpochOptions, at now: Instant) {
    self.init()
    mode = .noFix
    pdop_e2 = s.positionDOP_e2
    timeAccuracy_ns = s.timeAccuracy_ns
    let place = Coordinate(
      latitude_e9: Int64(s.latitude_e7) * 100, longitude_e9: Int64(s.longitude_e7) * 100)
    guard s.isFixOK, s.fixType >= 1, s.fixType <= 4, place.isValid else { return }
    let isSpatial = s.fixType != 2
    var fix = Fix(
      acquired: now, coordinate: place, mode: isSpatial ? .threeDimensional : .twoDimensional)
    fix.ellipsoidalAltitude_mm = s.height_mm
    fix.altitude_mm = s.heightMSL_mm
    fix.speed_mmps = max(s.groundSpeed_mmps, 0)
    fix.course_e4 = Epoch.course_e4(s)
    fix.horizontalAccuracy_mm = Int32(clamping: s.horizontalAccuracy_mm)
    if isSpatial { fix.verticalAccuracy_mm = s.verticalAccuracy_mm.map { Int32(clamping: $0) } }
    fix.speedAccuracy_mmps = s.speedAccuracy_mmps.map { Int32(clamping: $0) }
    if fix.course_e4 != nil {
      fix.courseAccuracy_e2 = s.headingAccuracy_e5.map { Int32(clamping: $0 / 1_000) }
    }
    fix.satellites = s.satellites.map { Int16($0) }
    fix.quality = Epoch.quality(s)
    fix.isSimulated = options.isSimulated
    self.fix = fix
    mode = isSpatial ? .threeDimensional : .twoDimensional
    geoidSeparation_mm = s.heightMSL_mm.flatMap {
      let (difference, isOver) = s.height_mm.subtractingReportingOverflow($0)
      return isOver ? nil : difference
    }
    climb_mmps = s.velocityDown_mmps.flatMap { $0 == .min ? nil : -$0 }
  }

  /// Nil when the receiver says that it may be any: an error of 180° or more.
  private static func course_e4(_ s: UBXSolution) -> Int32? {
    if let error = s.headingAccuracy_e5, error >= 18_000_000 { return nil }
    guard s.headingOfMotion_e5 >= 0, s.headingOfMotion_e5 <= 36_000_000 else { return nil }
    return (s.headingOfMotion_e5 + 5) / 10
  }

  private static func quality(_ s: UBXSolution) -> FixQuality {
    if s.fixType == 1 { return .deadReckoning }
    switch s.carrierSolution {
    case 1: return .rtkFloat
    case 2: return .rtkFixed
    case _: break
    }
    if s.fixType == 4 { return .deadReckoning }
    return s.isDifferential ? .differential : .autonomous
  }
}

import LocationTypes

// UBX solutions: whole epochs, live or out of a batch.

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
  mutating func addHighRate(
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
  static let overtaken_us: Int64 = 2_000_000

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
  mutating func addStored(_ solution: UBXSolution, at now: Instant) -> Epoch? {
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

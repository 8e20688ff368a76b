import LocationTypes

// UBX solutions: whole epochs, live or out of a batch.

extension EpochAssembler {
  /// Adds NAV-PVT; true where it closed an epoch or is one, which is written then.
  @inline(__always)
  mutating func addLive(_ solution: UBXSolution, at now: Instant, into epoch: inout Epoch) -> Bool {
    if isAmongOthers { return addAmongOthers(solution, at: now, into: &epoch) }
    // The usual way: NAV-PVT alone. The epoch is made in one place and never copied.
    guard solution.utc_us != .min else {
      epoch.become(solution, options.isSimulated, at: now)
      return true
    }
    let moment = calendar.date(solution.utc_us, isResolved: solution.isTimeResolved)
    if isRepeated(solution, moment.time_us, now) { return false }
    calendar.hold(moment)
    remember(solution, moment.time_us, now)
    epoch.become(solution, options.isSimulated, at: now)
    epoch.take(moment)
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
    if hasDraft, let open = draft.time_us,
      EpochAssembler.distance_us(open, time_us) <= EpochAssembler.tolerance_us
    {
      // The same epoch in both protocols; UBX says all that the sentences say.
      hasDraft = false
    }
    if isRepeated(solution, time_us, now) { return nil }
    let closed = closeDraft(at: now, by: .nextTime)
    let moment = calendar.date(utc.microseconds, isResolved: solution.isTimeResolved)
    calendar.hold(moment)
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

  /// Becomes the epoch of a UBX solution, not dated yet: written field by field where it lies.
  @inline(never)
  mutating func become(_ s: UBXSolution, _ isSimulated: Bool, at now: Instant) {
    self = Epoch()
    mode = .noFix
    if let dilution = s.positionDOP_e2 { pdop_raw = dilution }
    if let accuracy = s.timeAccuracy_ns { timeAccuracy_raw = accuracy }
    let coordinate = s.place
    guard s.isFixOK, s.fixType >= 1, s.fixType <= 4, coordinate.isValid else { return }
    let isSpatial = s.fixType != 2
    mode = isSpatial ? .threeDimensional : .twoDimensional
    hasFix = true
    place.acquired = now
    place.coordinate = coordinate
    place.mode = isSpatial ? .threeDimensional : .twoDimensional
    place.isSimulated = isSimulated
    place.quality = Epoch.quality(s)
    place.ellipsoidalAltitude_mm = s.height_mm
    place.speed_mmps = s.groundSpeed_mmps
    place.course_e4 = Epoch.course_e4(s)
    place.horizontalAccuracy_mm = Epoch.accuracy(s.horizontalAccuracy_mm)
    if isSpatial, let accuracy = s.verticalAccuracy_mm {
      place.verticalAccuracy_mm = Epoch.accuracy(accuracy)
    }
    if let accuracy = s.speedAccuracy_mmps {
      place.speedAccuracy_mmps = Epoch.accuracy(accuracy)
    }
    if let accuracy = s.headingAccuracy_e5, place.course_e4 != nil {
      place.courseAccuracy_e2 = Int32(accuracy / 1_000)
    }
    if let satellites = s.satellites { place.satellites = Int16(satellites) }
    if let heightMSL = s.heightMSL_mm {
      place.altitude_mm = heightMSL
      let (difference, isOver) = s.height_mm.subtractingReportingOverflow(heightMSL)
      geoidSeparation_raw = isOver ? .min : difference
    }
    // Of the smallest value there is no opposite: it stays itself, which stands for "not known".
    if let down = s.velocityDown_mmps { climb_raw = 0 &- down }
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
    guard s.headingOfMotion_e5 >= 0, s.headingOfMotion_e5 <= 36_000_000 else { return nil }
    return (s.headingOfMotion_e5 + 5) / 10
  }

  @inline(__always) private static func quality(_ s: UBXSolution) -> FixQuality {
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

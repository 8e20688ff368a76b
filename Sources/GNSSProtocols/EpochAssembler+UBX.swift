import LocationTypes

// UBX solutions: whole epochs, live or out of a batch.

extension EpochAssembler {
  mutating func addLive(_ solution: UBXSolution, at now: Instant) -> Epoch? {
    var epoch = Epoch(solution, options, at: now)
    guard let utc = solution.utc else {
      return inOrder(closeDraft(at: now, by: .nextTime), epoch)
    }
    let time_us = utc.microsecondsOfDay
    if hasDraft, let open = draft.time_us,
      EpochAssembler.distance_us(open, time_us) <= EpochAssembler.tolerance_us
    {
      // The same epoch in both protocols; NAV-PVT says all that the sentences say.
      hasDraft = false
    }
    let closed = closeDraft(at: now, by: .nextTime)
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
  mutating func addStored(_ solution: UBXSolution, at now: Instant) -> Epoch? {
    var epoch = Epoch(solution, options, at: now)
    epoch.origin = .batch
    if let utc = solution.utc {
      var aside = calendar
      aside.date(&epoch, reported: utc, isResolved: solution.isTimeResolved)
    }
    return epoch
  }

  mutating func inOrder(_ first: Epoch?, _ second: Epoch) -> Epoch {
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

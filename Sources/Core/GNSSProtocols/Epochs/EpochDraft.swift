import LocationTypes

/// The open NMEA epoch: content of its sentences so far.
///
/// The result does not depend on the order of the sentences, because each value has a fixed order of
/// sources (position: GGA, GNS, RMC, GLL, PUBX; speed and course: RMC, VTG, PUBX; accuracy: GST, PUBX,
/// GBS, PGRME, DOP). Owned by ``EpochAssembler``; depends on `LocationTypes`.
struct EpochDraft {
  /// Whether the sentences of one kind report a valid position.
  enum Validity {
    case unreported
    case invalid
    case valid

    /// Two talkers may differ; one with a valid position is sufficient.
    mutating func update(_ isValid: Bool) {
      if isValid { self = .valid } else if self == .unreported { self = .invalid }
    }
  }

  /// UTC time of day, µs; nil until a sentence contains it.
  var time_us: Int64?
  /// Arrival time of the first sentence that may contain a time, or of the first sentence if there is
  /// none.
  var received = Instant.boot
  /// Key of the first sentence that may contain a time; nil before it.
  var openingMessage: EpochMessageKey?
  /// Kinds of sentences that contained the time.
  var timedKinds = EpochMessageKinds()

  var rmcValidity = Validity.unreported
  var ggaValidity = Validity.unreported
  var gllValidity = Validity.unreported
  var gnsValidity = Validity.unreported
  var pubxValidity = Validity.unreported
  var rmcCoordinate: Coordinate?
  var ggaCoordinate: Coordinate?
  var gllCoordinate: Coordinate?
  var rmcDate: ShortDate?
  var zdaDay: Int?
  var quality: UInt8?
  var indicator: NMEAMode?
  var ggaSatellites: UInt8?
  var gsaSatellites: Int16 = 0
  var gsaMode: UInt8 = 0
  var hdop_e2: UInt16?
  var gsaHDOP_e2: UInt16?
  var vdop_e2: UInt16?
  var pdop_e2: UInt16?
  var altitude_mm: Int32?
  var separation_mm: Int32?
  var rmcSpeed_mmps: Int32?
  var rmcCourse_e4: Int32?
  var vtgSpeed_mmps: Int32?
  var vtgCourse_e4: Int32?
  var latitudeError_mm: Int32?
  var longitudeError_mm: Int32?
  var altitudeError_mm: Int32?
  var gns = GNS()
  var pubx = UBloxPosition()
  var gbs = GBS()
  var garminErrors = GarminErrors()
  var garminAltitude = GarminAltitude()
  var inViewCounts = SatelliteCounts()
  var usedGroups = SatelliteGroups()

  /// Creates an empty draft in place.
  @inline(always) init() {}

  /// Whether a sentence reported whether there is a position.
  var hasPositionStatus: Bool {
    rmcValidity != .unreported || ggaValidity != .unreported || gllValidity != .unreported
      || gnsValidity != .unreported || pubxValidity != .unreported
  }

  /// Whether a sentence reported an invalid position.
  var hasInvalidPosition: Bool {
    rmcValidity == .invalid || ggaValidity == .invalid || gllValidity == .invalid
      || gnsValidity == .invalid || pubxValidity == .invalid
  }
}

extension EpochDraft {
  mutating func apply(_ m: RMC) {
    let isValid = m.isValid && m.mode != .notValid
    rmcValidity.update(isValid)
    if let date = m.date { rmcDate = date }
    guard isValid else { return }
    if let coordinate = m.coordinate { rmcCoordinate = coordinate }
    if let speed = m.speed_mmps { rmcSpeed_mmps = speed }
    if let course = m.course_e4 { rmcCourse_e4 = course }
    if let mode = m.mode { indicator = mode }
  }

  mutating func apply(_ m: GGA) {
    // A GGA without a quality has no content.
    guard let quality = m.quality else { return }
    let isValid = quality != 0
    ggaValidity.update(isValid)
    guard isValid else { return }
    if let coordinate = m.coordinate { ggaCoordinate = coordinate }
    self.quality = quality
    if let count = m.satellites { ggaSatellites = max(count, ggaSatellites ?? 0) }
    if let dop = m.horizontalDOP_e2 { hdop_e2 = dop }
    if let altitude = m.altitude_mm { altitude_mm = altitude }
    if let separation = m.separation_mm { separation_mm = separation }
  }

  mutating func apply(_ m: GLL) {
    let isValid = m.isValid && m.mode != .notValid
    gllValidity.update(isValid)
    guard isValid else { return }
    if let coordinate = m.coordinate { gllCoordinate = coordinate }
    if indicator == nil { indicator = m.mode }
  }

  mutating func apply(_ m: GSA) {
    gsaMode = max(gsaMode, m.fixMode ?? 0)
    // A repeated group adds no satellites.
    if usedGroups.insert(m) { gsaSatellites = min(gsaSatellites &+ Int16(m.satellites), 254) }
    if let dop = m.horizontalDOP_e2 { gsaHDOP_e2 = dop }
    if let dop = m.verticalDOP_e2 { vdop_e2 = dop }
    if let dop = m.positionDOP_e2 { pdop_e2 = dop }
  }

  mutating func apply(_ m: GSV) {
    if let inView = m.inView { inViewCounts.record(m.talker, inView) }
  }

  mutating func apply(_ m: GST) {
    if let error = m.latitude_mm { latitudeError_mm = error }
    if let error = m.longitude_mm { longitudeError_mm = error }
    if let error = m.altitude_mm { altitudeError_mm = error }
  }

  mutating func apply(_ m: VTG) {
    if m.mode == .notValid { return }
    if let speed = m.speed_mmps { vtgSpeed_mmps = speed }
    if let course = m.course_e4 { vtgCourse_e4 = course }
  }

  mutating func apply(_ m: GNS) {
    if m.mode == nil && m.coordinate == nil { return }
    let isValid = m.mode != .notValid
    gnsValidity.update(isValid)
    if isValid && m.coordinate != nil { gns = m }
  }

  mutating func apply(_ m: UBloxPosition) {
    guard let status = m.status else { return }
    // A timing receiver at a surveyed position computes only the time.
    let isValid = status != .noFix && (status != .timeOnly || m.coordinate != nil)
    pubxValidity.update(isValid)
    if isValid { pubx = m }
  }

  mutating func apply(_ m: GBS) { gbs = m }

  mutating func apply(_ m: GarminErrors) { garminErrors = m }

  mutating func apply(_ m: GarminAltitude) {
    if m.dimensions != 1 { garminAltitude = m }
  }
}

// Conversion of the draft to an epoch.

extension EpochDraft {
  /// Writes the epoch without its date.
  ///
  /// `mutating` although it changes nothing: for a nonmutating method the compiler copies the draft.
  mutating func write(to epoch: inout Epoch, _ options: EpochOptions) {
    epoch = Epoch()
    epoch.timeOfDay_us = time_us
    epoch.hdop_e2 = hdop_e2 ?? gns.horizontalDOP_e2 ?? gsaHDOP_e2 ?? pubx.horizontalDOP_e2
    epoch.vdop_e2 = vdop_e2 ?? pubx.verticalDOP_e2
    epoch.pdop_e2 = pdop_e2
    epoch.satellitesInView = inViewCounts.sum
    epoch.mode = .noFix
    if !hasInvalidPosition,
      let coordinate = ggaCoordinate ?? gns.coordinate ?? rmcCoordinate ?? gllCoordinate
        ?? pubx.coordinate
    {
      writePosition(&epoch, coordinate, options)
    }
  }

  private mutating func writePosition(
    _ epoch: inout Epoch, _ coordinate: Coordinate, _ options: EpochOptions
  ) {
    let altitude_mm = self.altitude_mm ?? gns.altitude_mm ?? garminAltitude.altitude_mm
    let separation_mm = self.separation_mm ?? gns.separation_mm
    let height_mm = EpochDraft.sum(altitude_mm, separation_mm) ?? pubx.height_mm
    let hasHeight = altitude_mm != nil || height_mm != nil
    let isSpatial = dimensions == 3 || (dimensions == 0 && hasHeight)
    var fix = Fix(
      acquired: received, coordinate: coordinate,
      mode: isSpatial ? .threeDimensional : .twoDimensional)
    fix.altitude_mm = altitude_mm
    fix.ellipsoidalAltitude_mm = height_mm
    fix.speed_mmps = rmcSpeed_mmps ?? vtgSpeed_mmps ?? pubx.speed_mmps
    fix.course_e4 = rmcCourse_e4 ?? vtgCourse_e4 ?? pubx.course_e4
    fix.horizontalAccuracy_mm =
      horizontalError_mm ?? error(of: epoch.hdop_e2, options.rangeError_mm)
    if isSpatial && hasHeight {
      fix.verticalAccuracy_mm =
        verticalError_mm ?? error(of: epoch.vdop_e2, options.rangeError_mm)
    }
    let counted = gns.satellites ?? ggaSatellites ?? pubx.satellites
    fix.satellites = counted.map { Int16($0) } ?? (gsaMode == 0 ? nil : gsaSatellites)
    fix.quality = fixQuality
    fix.isSimulated = options.isSimulated
    epoch.fix = fix
    epoch.mode = isSpatial ? .threeDimensional : .twoDimensional
    epoch.geoidSeparation_mm = separation_mm
    epoch.climb_mmps = pubx.velocityDown_mmps.flatMap { $0 == .min ? nil : -$0 }
    if EpochDraft.root(latitudeError_mm, longitudeError_mm) != nil {
      epoch.latitudeError_mm = latitudeError_mm
      epoch.longitudeError_mm = longitudeError_mm
    }
  }

  /// 2 or 3 dimensions; 0 if not reported. A GSA with "no fix" is ignored, because a position exists.
  private var dimensions: UInt8 {
    if gsaMode > 1 { return gsaMode }
    switch pubx.status {
    case .twoDimensional?, .differential2D?, .deadReckoning?: return 2
    case .threeDimensional?, .differential3D?, .combined?, .timeOnly?: return 3
    case .noFix?, nil: return garminAltitude.dimensions ?? 0
    }
  }

  private static func sum(_ a: Int32?, _ b: Int32?) -> Int32? {
    guard let a, let b else { return nil }
    let (sum, isOver) = a.addingReportingOverflow(b)
    return isOver || sum == .min ? nil : sum
  }

  private var horizontalError_mm: Int32? {
    if let error = EpochDraft.root(latitudeError_mm, longitudeError_mm) { return error }
    if let error = EpochDraft.positive(pubx.horizontalAccuracy_mm) { return error }
    if let error = EpochDraft.root(gbs.latitude_mm, gbs.longitude_mm) { return error }
    // As in gpsd: half of the errors are below 1.18 σ (σ: one axis), and the error of both axes is √2 σ.
    return EpochDraft.positive(garminErrors.horizontal_mm).map {
      Int32(clamping: Int64($0) * 11_985 / 10_000)
    }
  }

  private var verticalError_mm: Int32? {
    if let error = EpochDraft.positive(altitudeError_mm) { return error }
    if let error = EpochDraft.positive(pubx.verticalAccuracy_mm) { return error }
    if let error = EpochDraft.positive(gbs.altitude_mm) { return error }
    // As in gpsd: half of the errors are below 1.18 σ.
    return EpochDraft.positive(garminErrors.vertical_mm).map { Int32(Int64($0) * 8_475 / 10_000) }
  }

  /// A positive error; zero means unknown.
  private static func positive(_ error_mm: Int32?) -> Int32? {
    guard let error_mm, error_mm > 0 else { return nil }
    return error_mm
  }

  /// √(σ latitude² + σ longitude²); nil if both are zero, which means unknown.
  private static func root(_ latitude_mm: Int32?, _ longitude_mm: Int32?) -> Int32? {
    guard let latitude_mm, let longitude_mm else { return nil }
    guard latitude_mm > 0 || longitude_mm > 0 else { return nil }
    let limit = Fix.accuracyLimit_mm
    let y = Int64(min(max(latitude_mm, 0), limit))
    let x = Int64(min(max(longitude_mm, 0), limit))
    return Int32(Double(y * y + x * x).squareRoot().rounded())
  }

  private func error(of dilution_e2: UInt16?, _ rangeError_mm: Int32) -> Int32? {
    guard let dilution_e2 else { return nil }
    let product = Int64(dilution_e2) * Int64(max(rangeError_mm, 0)) / 100
    return Int32(clamping: product)
  }

  private var fixQuality: FixQuality {
    switch quality {
    case 1?, 3?: return .autonomous
    case 2?: return .differential
    case 4?: return .rtkFixed
    case 5?: return .rtkFloat
    case 6?: return .deadReckoning
    // Manual or surveyed input: a known position, as in gpsd.
    case 7?: return .surveyed
    case 8?: return .simulated
    case _: break
    }
    switch gns.mode ?? indicator {
    case .autonomous?, .precise?: return .autonomous
    case .differential?: return .differential
    case .rtkFixed?: return .rtkFixed
    case .rtkFloat?: return .rtkFloat
    case .estimated?: return .deadReckoning
    case .manual?: return .surveyed
    case .simulator?: return .simulated
    case .notValid?, nil: break
    }
    switch pubx.status {
    case .differential2D?, .differential3D?: return .differential
    case .twoDimensional?, .threeDimensional?: return .autonomous
    case .deadReckoning?: return .deadReckoning
    case .combined?: return .combined
    case .timeOnly?: return .surveyed
    case .noFix?, nil: return .unknown
    }
  }
}

extension Epoch {
  /// Fills missing values from the sentences of the same time.
  mutating func fillMissing(from sentences: Epoch) {
    hdop_e2 = hdop_e2 ?? sentences.hdop_e2
    vdop_e2 = vdop_e2 ?? sentences.vdop_e2
    pdop_e2 = pdop_e2 ?? sentences.pdop_e2
    satellitesInView = satellitesInView ?? sentences.satellitesInView
    guard hasFix, sentences.hasFix else { return }
    let other = sentences.storedFix
    storedFix.quality = storedFix.quality.moreDetailed(other.quality)
    if storedFix.speed_mmps == nil {
      // A speed without a course means that the course is undetermined.
      storedFix.speed_mmps = other.speed_mmps
      storedFix.course_e4 = storedFix.course_e4 ?? other.course_e4
    }
    storedFix.horizontalAccuracy_mm = Epoch.known(
      storedFix.horizontalAccuracy_mm, other.horizontalAccuracy_mm)
    if storedFix.mode == .threeDimensional {
      storedFix.verticalAccuracy_mm = Epoch.known(
        storedFix.verticalAccuracy_mm, other.verticalAccuracy_mm)
    }
    storedFix.satellites = storedFix.satellites ?? other.satellites
    storedFix.altitude_mm = storedFix.altitude_mm ?? other.altitude_mm
    storedFix.ellipsoidalAltitude_mm =
      storedFix.ellipsoidalAltitude_mm ?? other.ellipsoidalAltitude_mm
    geoidSeparation_mm = geoidSeparation_mm ?? sentences.geoidSeparation_mm
    climb_mmps = climb_mmps ?? sentences.climb_mmps
    latitudeError_mm = latitudeError_mm ?? sentences.latitudeError_mm
    longitudeError_mm = longitudeError_mm ?? sentences.longitudeError_mm
  }

  /// `error_mm`, or `other_mm` if it is unknown: nil, or the limit, to which UBX's maximum is clamped.
  private static func known(_ error_mm: Int32?, _ other_mm: Int32?) -> Int32? {
    guard let error_mm, error_mm < Fix.accuracyLimit_mm else { return other_mm ?? error_mm }
    return error_mm
  }
}

extension FixQuality {
  /// The more detailed of this quality and that of sentences of the same time.
  fileprivate func moreDetailed(_ other: FixQuality) -> FixQuality {
    other.detail > detail ? other : self
  }

  /// Level of detail about the positioning method.
  private var detail: UInt8 {
    switch self {
    case .unknown: 0
    case .autonomous: 1
    case .differential: 2
    case .rtkFixed, .rtkFloat, .deadReckoning, .manual, .simulated, .surveyed, .combined: 3
    }
  }
}

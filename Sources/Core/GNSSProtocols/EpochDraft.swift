import LocationTypes

/// What the NMEA sentences of one epoch have said so far.
///
/// The result does not depend on the order of the sentences: each value has one source that goes
/// before the others (place: GGA, GNS, RMC, GLL, PUBX; speed and course: RMC, VTG, PUBX; accuracy:
/// GST, PUBX, GBS, PGRME, DOP).
struct EpochDraft {
  /// Whether the sentences of one kind hold the position for valid.
  enum Verdict {
    case unsaid
    case invalid
    case valid

    /// Two talkers may differ; one that has a position is enough.
    mutating func hear(_ isValid: Bool) {
      if isValid { self = .valid } else if self == .unsaid { self = .invalid }
    }
  }

  /// UTC time of day, once a sentence has told it.
  var time_us: Int64?
  /// When the first sentence came.
  var received = Instant.boot
  /// What the first sentence that may bear a time is, and whose; nil before it.
  var opener: EpochMark?
  /// The sentences that have told the time.
  var timed = EpochMarks()

  var rmcVerdict = Verdict.unsaid
  var ggaVerdict = Verdict.unsaid
  var gllVerdict = Verdict.unsaid
  var gnsVerdict = Verdict.unsaid
  var pubxVerdict = Verdict.unsaid
  var rmcPlace: Coordinate?
  var ggaPlace: Coordinate?
  var gllPlace: Coordinate?
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
  var views = SatelliteViews()
  var used = SatelliteSets()

  /// Creates one of which nothing was said; in place, where it is wanted.
  @inline(always) init() {}

  /// Whether a sentence has come that says if there is a position.
  var isTold: Bool {
    rmcVerdict != .unsaid || ggaVerdict != .unsaid || gllVerdict != .unsaid
      || gnsVerdict != .unsaid || pubxVerdict != .unsaid
  }

  /// Whether a sentence says that there is no position.
  var isRefused: Bool {
    rmcVerdict == .invalid || ggaVerdict == .invalid || gllVerdict == .invalid
      || gnsVerdict == .invalid || pubxVerdict == .invalid
  }
}

extension EpochDraft {
  mutating func take(_ m: RMC) {
    let isValid = m.isValid && m.mode != .notValid
    rmcVerdict.hear(isValid)
    if let date = m.date { rmcDate = date }
    guard isValid else { return }
    if let place = m.coordinate { rmcPlace = place }
    if let speed = m.speed_mmps { rmcSpeed_mmps = speed }
    if let course = m.course_e4 { rmcCourse_e4 = course }
    if let mode = m.mode { indicator = mode }
  }

  mutating func take(_ m: GGA) {
    // Without a quality it says nothing.
    guard let quality = m.quality else { return }
    let isValid = quality != 0
    ggaVerdict.hear(isValid)
    guard isValid else { return }
    if let place = m.coordinate { ggaPlace = place }
    self.quality = quality
    if let count = m.satellites { ggaSatellites = max(count, ggaSatellites ?? 0) }
    if let dop = m.horizontalDOP_e2 { hdop_e2 = dop }
    if let altitude = m.altitude_mm { altitude_mm = altitude }
    if let separation = m.separation_mm { separation_mm = separation }
  }

  mutating func take(_ m: GLL) {
    let isValid = m.isValid && m.mode != .notValid
    gllVerdict.hear(isValid)
    guard isValid else { return }
    if let place = m.coordinate { gllPlace = place }
    if indicator == nil { indicator = m.mode }
  }

  mutating func take(_ m: GSA) {
    gsaMode = max(gsaMode, m.fixMode ?? 0)
    // A receiver that repeats itself uses no more satellites than before.
    if used.insert(m) { gsaSatellites = min(gsaSatellites &+ Int16(m.satellites), 254) }
    if let dop = m.horizontalDOP_e2 { gsaHDOP_e2 = dop }
    if let dop = m.verticalDOP_e2 { vdop_e2 = dop }
    if let dop = m.positionDOP_e2 { pdop_e2 = dop }
  }

  mutating func take(_ m: GSV) {
    if let inView = m.inView { views.hear(m.talker, inView) }
  }

  mutating func take(_ m: GST) {
    if let error = m.latitude_mm { latitudeError_mm = error }
    if let error = m.longitude_mm { longitudeError_mm = error }
    if let error = m.altitude_mm { altitudeError_mm = error }
  }

  mutating func take(_ m: VTG) {
    if m.mode == .notValid { return }
    if let speed = m.speed_mmps { vtgSpeed_mmps = speed }
    if let course = m.course_e4 { vtgCourse_e4 = course }
  }
  mutating func take(_ m: GNS) {
    if m.mode == nil && m.coordinate == nil { return }
    let isValid = m.mode != .notValid
    gnsVerdict.hear(isValid)
    if isValid && m.coordinate != nil { gns = m }
  }

  mutating func take(_ m: UBloxPosition) {
    guard let status = m.status else { return }
    // A timing receiver of which the place was surveyed computes time alone.
    let isValid = status != .noFix && (status != .timeOnly || m.coordinate != nil)
    pubxVerdict.hear(isValid)
    if isValid { pubx = m }
  }

  mutating func take(_ m: GBS) { gbs = m }

  mutating func take(_ m: GarminErrors) { garminErrors = m }

  mutating func take(_ m: GarminAltitude) {
    if m.dimensions != 1 { garminAltitude = m }
  }
}

import LocationTypes

/// What the NMEA sentences of one epoch have said so far.
///
/// The result does not depend on the order of the sentences: each value has one source that goes
/// before the others (position: GGA, RMC, GLL; speed and course: RMC, VTG; accuracy: GST, DOP).
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
  /// What kind the first sentence that may bear a time is, and whose; nil before it.
  var opener: (kind: UInt8, talker: Talker)?

  var rmcVerdict = Verdict.unsaid
  var ggaVerdict = Verdict.unsaid
  var gllVerdict = Verdict.unsaid
  private var rmcPlace: Coordinate?
  private var ggaPlace: Coordinate?
  private var gllPlace: Coordinate?
  var rmcDate: ShortDate?
  var zdaDate: CalendarDate?
  private var quality: UInt8?
  private var indicator: NMEAMode?
  private var ggaSatellites: UInt8?
  private var gsaSatellites: Int16 = 0
  private var gsaMode: UInt8 = 0
  private var hdop_e2: UInt16?
  private var gsaHDOP_e2: UInt16?
  private var vdop_e2: UInt16?
  private var pdop_e2: UInt16?
  private var altitude_mm: Int32?
  private var separation_mm: Int32?
  private var rmcSpeed_mmps: Int32?
  private var rmcCourse_e4: Int32?
  private var vtgSpeed_mmps: Int32?
  private var vtgCourse_e4: Int32?
  private var latitudeError_mm: Int32?
  private var longitudeError_mm: Int32?
  private var altitudeError_mm: Int32?
  private var viewTalker: Talker?
  private var viewOfTalker: UInt8 = 0
  private var viewOfOthers: UInt8 = 0

  /// Whether a sentence has come that says if there is a position.
  var isTold: Bool {
    rmcVerdict != .unsaid || ggaVerdict != .unsaid || gllVerdict != .unsaid
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
    let isValid = m.quality != 0
    // Without quality and place it says nothing.
    if m.quality == nil && m.coordinate == nil { return }
    ggaVerdict.hear(isValid)
    guard isValid else { return }
    if let place = m.coordinate { ggaPlace = place }
    if let value = m.quality { quality = value }
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
    gsaSatellites += Int16(m.satellites)
    if gsaSatellites > 254 { gsaSatellites = 254 }
    if let dop = m.horizontalDOP_e2 { gsaHDOP_e2 = dop }
    if let dop = m.verticalDOP_e2 { vdop_e2 = dop }
    if let dop = m.positionDOP_e2 { pdop_e2 = dop }
  }

  mutating func take(_ m: GSV) {
    guard m.number == 1, let inView = m.inView else { return }
    if m.talker == viewTalker {
      // A second signal of the same system.
      viewOfTalker = max(viewOfTalker, inView)
    } else {
      viewOfOthers = viewOfOthers &+ min(viewOfTalker, 254 - viewOfOthers)
      viewTalker = m.talker
      viewOfTalker = min(inView, 254)
    }
  }

  mutating func take(_ m: GST) {
    latitudeError_mm = m.latitude_mm
    longitudeError_mm = m.longitude_mm
    altitudeError_mm = m.altitude_mm
  }

  mutating func take(_ m: VTG) {
    if m.mode == .notValid { return }
    if let speed = m.speed_mmps { vtgSpeed_mmps = speed }
    if let course = m.course_e4 { vtgCourse_e4 = course }
  }
}

extension EpochDraft {
  /// What it adds up to, but for the date.
  func epoch(_ options: EpochOptions) -> Epoch {
    var epoch = Epoch()
    epoch.timeOfDay_us = time_us
    epoch.hdop_e2 = hdop_e2 ?? gsaHDOP_e2
    epoch.vdop_e2 = vdop_e2
    epoch.pdop_e2 = pdop_e2
    if viewTalker != nil {
      epoch.satellitesInView = viewOfOthers + min(viewOfTalker, 254 - viewOfOthers)
    }
    epoch.mode = .noFix
    let isRefused = rmcVerdict == .invalid || ggaVerdict == .invalid || gllVerdict == .invalid
    if !isRefused, let place = ggaPlace ?? rmcPlace ?? gllPlace {
      complete(&epoch, place, options)
    }
    return epoch
  }

  private func complete(_ epoch: inout Epoch, _ place: Coordinate, _ options: EpochOptions) {
    let hasHeight = altitude_mm != nil
    let isSpatial = gsaMode == 3 || (gsaMode == 0 && hasHeight)
    var fix = Fix(
      acquired: received, coordinate: place,
      mode: isSpatial ? .threeDimensional : .twoDimensional)
    fix.altitude_mm = altitude_mm
    fix.ellipsoidalAltitude_mm = ellipsoidalAltitude_mm
    fix.speed_mmps = rmcSpeed_mmps ?? vtgSpeed_mmps
    fix.course_e4 = rmcCourse_e4 ?? vtgCourse_e4
    fix.horizontalAccuracy_mm =
      horizontalError_mm ?? error(of: epoch.hdop_e2, options.rangeError_mm)
    if isSpatial && hasHeight {
      fix.verticalAccuracy_mm =
        verticalError_mm ?? error(of: vdop_e2, options.rangeError_mm)
    }
    fix.satellites = ggaSatellites.map { Int16($0) } ?? (gsaMode == 0 ? nil : gsaSatellites)
    fix.quality = fixQuality
    fix.isSimulated = options.isSimulated
    epoch.fix = fix
    epoch.mode = isSpatial ? .threeDimensional : .twoDimensional
    epoch.geoidSeparation_mm = separation_mm
    if horizontalError_mm != nil {
      epoch.latitudeError_mm = latitudeError_mm
      epoch.longitudeError_mm = longitudeError_mm
    }
  }

  private var ellipsoidalAltitude_mm: Int32? {
    guard let altitude_mm, let separation_mm else { return nil }
    let (sum, isOver) = altitude_mm.addingReportingOverflow(separation_mm)
    return isOver || sum == .min ? nil : sum
  }

  /// √(σ latitude² + σ longitude²); both zero means that the receiver does not know.
  private var horizontalError_mm: Int32? {
    guard let latitudeError_mm, let longitudeError_mm else { return nil }
    guard latitudeError_mm > 0 || longitudeError_mm > 0 else { return nil }
    let limit = Fix.accuracyLimit_mm
    let y = Int64(min(max(latitudeError_mm, 0), limit))
    let x = Int64(min(max(longitudeError_mm, 0), limit))
    return Int32(Double(y * y + x * x).squareRoot().rounded())
  }

  private var verticalError_mm: Int32? {
    guard let altitudeError_mm, altitudeError_mm > 0 else { return nil }
    return altitudeError_mm
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
    case 7?: return .manual
    case 8?: return .simulated
    case _: break
    }
    switch indicator {
    case .autonomous?, .precise?: return .autonomous
    case .differential?: return .differential
    case .rtkFixed?: return .rtkFixed
    case .rtkFloat?: return .rtkFloat
    case .estimated?: return .deadReckoning
    case .manual?: return .manual
    case .simulator?: return .simulated
    case .notValid?, nil: return .unknown
    }
  }
}

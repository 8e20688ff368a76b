import LocationTypes

/// The open NMEA epoch: content of its sentences so far.
///
/// # Problem
///
/// An NMEA epoch consists of up to a dozen kinds of sentences in any order, some of them repeated by
/// several talkers, and several contain the same value. The draft collects them until the epoch ends, and
/// then combines them.
///
/// # Parts
///
/// A part has what the epoch needs of one or two kinds of sentences, and only ever receives these
/// (`apply`). How a later sentence of the same kind is merged depends on the kind:
///
///     kind                part             a later sentence
///     RMC, GGA, GST, VTG  one for each     replaces the values that it contains; of GGA, the larger
///                                          number of satellites is kept
///     GLL                 `GLLPart`        replaces the position; the first mode is kept
///     GNS, PUBX           one for each     replaces all values, if valid; a GNS only with a position
///     GSA                 `SatellitePart`  replaces the DOPs that it contains; the largest fix mode is
///                                          kept, and the satellites of different groups are summed
///     GSV                 `SatellitePart`  the largest number of each talker is kept
///     GBS                 none             replaces the whole sentence
///     PGRME, PGRMZ        `GarminPart`     replaces the values of its kind; PGRMZ without a fix is ignored
///
/// Of sentences that report an invalid position, only the date of RMC is used. Positions come from RMC,
/// GGA, GLL, GNS and PUBX, whose parts also record whether a position was reported as valid:
///
///     unreported ──▶ invalid ──▶ valid        (``Validity``; never back)
///          └─────────────────────▲
///
/// # Invariants
///
/// - The order of sentences of different kinds does not affect the collected values, because
///   ``write(to:_:)`` has a fixed order of sources for each of them (position: GGA, GNS, RMC, GLL, PUBX;
///   speed and course: RMC, VTG, PUBX; accuracy: GST, PUBX, GBS, PGRME, DOP). The order of repeated
///   sentences of one kind does. The time is that of the first sentence with a time.
/// - One invalid part makes the whole epoch one without a position.
///
/// # Who changes what
///
/// Only the parts write their values; the draft itself writes the GBS. ``EpochAssembler``, which owns the
/// draft, writes `time_us`, `received`, `openingMessage`, `timedKinds` and `zdaDay`. All storage is inline.
/// Depends on `LocationTypes` and the message types of this module.
struct EpochDraft {
  /// UTC time of day, µs; nil until a sentence contains it.
  var time_us: Int64?
  /// Arrival time of the first sentence that may contain a time, or of the first sentence if there is
  /// none.
  var received = Instant.boot
  /// Key of the first sentence that may contain a time; nil before it.
  var openingMessage: EpochMessageKey?
  /// Kinds of sentences that contained the time.
  var timedKinds = EpochMessageKinds()
  /// Day from a ZDA of the same time.
  var zdaDay: Int?

  private(set) var rmc = RMCPart()
  private var gga = GGAPart()
  private var gll = GLLPart()
  private var gns = GNSPart()
  private var pubx = UBloxPart()
  private var satellites = SatellitePart()
  private var gst = GSTPart()
  private var vtg = VTGPart()
  private var gbs = GBS()
  private var garmin = GarminPart()

  /// Creates an empty draft in place.
  @inline(always) init() {}

  /// Whether a sentence reported whether there is a position.
  var hasPositionStatus: Bool {
    rmc.validity != .unreported || gga.validity != .unreported || gll.validity != .unreported
      || gns.validity != .unreported || pubx.validity != .unreported
  }

  /// Whether a sentence reported an invalid position.
  private var hasInvalidPosition: Bool {
    rmc.validity == .invalid || gga.validity == .invalid || gll.validity == .invalid
      || gns.validity == .invalid || pubx.validity == .invalid
  }

  mutating func apply(_ m: RMC) { rmc.apply(m) }
  mutating func apply(_ m: GGA) { gga.apply(m) }
  mutating func apply(_ m: GLL) { gll.apply(m) }
  mutating func apply(_ m: GNS) { gns.apply(m) }
  mutating func apply(_ m: UBloxPosition) { pubx.apply(m) }
  mutating func apply(_ m: GSA) { satellites.apply(m) }
  mutating func apply(_ m: GSV) { satellites.apply(m) }
  mutating func apply(_ m: GST) { gst.apply(m) }
  mutating func apply(_ m: VTG) { vtg.apply(m) }
  mutating func apply(_ m: GBS) { gbs = m }
  mutating func apply(_ m: GarminErrors) { garmin.apply(m) }
  mutating func apply(_ m: GarminAltitude) { garmin.apply(m) }
}

// The parts: values of one or two kinds of sentences.

extension EpochDraft {
  /// Whether the sentences of one kind report a valid position.
  enum Validity {
    case unreported
    case invalid
    case valid

    /// Two talkers may differ; one with a valid position is sufficient.
    fileprivate mutating func update(_ isValid: Bool) {
      if isValid { self = .valid } else if self == .unreported { self = .invalid }
    }
  }

  /// Content of RMC.
  struct RMCPart {
    private(set) var validity = Validity.unreported
    private(set) var date: ShortDate?
    fileprivate private(set) var coordinate: Coordinate?
    fileprivate private(set) var speed_mmps: Int32?
    fileprivate private(set) var course_e4: Int32?
    fileprivate private(set) var mode: NMEAMode?

    fileprivate mutating func apply(_ m: RMC) {
      let isValid = m.isValid && m.mode != .notValid
      validity.update(isValid)
      if let date = m.date { self.date = date }
      guard isValid else { return }
      if let coordinate = m.coordinate { self.coordinate = coordinate }
      if let speed = m.speed_mmps { speed_mmps = speed }
      if let course = m.course_e4 { course_e4 = course }
      if let mode = m.mode { self.mode = mode }
    }
  }

  /// Content of GGA.
  private struct GGAPart {
    private(set) var validity = Validity.unreported
    private(set) var coordinate: Coordinate?
    private(set) var quality: UInt8?
    private(set) var satellites: UInt8?
    private(set) var hdop_e2: UInt16?
    private(set) var altitude_mm: Int32?
    private(set) var separation_mm: Int32?

    mutating func apply(_ m: GGA) {
      // A GGA without a quality has no content.
      guard let quality = m.quality else { return }
      let isValid = quality != 0
      validity.update(isValid)
      guard isValid else { return }
      if let coordinate = m.coordinate { self.coordinate = coordinate }
      self.quality = quality
      if let count = m.satellites { satellites = max(count, satellites ?? 0) }
      if let dop = m.horizontalDOP_e2 { hdop_e2 = dop }
      if let altitude = m.altitude_mm { altitude_mm = altitude }
      if let separation = m.separation_mm { separation_mm = separation }
    }
  }

  /// Content of GLL.
  private struct GLLPart {
    private(set) var validity = Validity.unreported
    private(set) var coordinate: Coordinate?
    private(set) var mode: NMEAMode?

    mutating func apply(_ m: GLL) {
      let isValid = m.isValid && m.mode != .notValid
      validity.update(isValid)
      guard isValid else { return }
      if let coordinate = m.coordinate { self.coordinate = coordinate }
      mode = mode ?? m.mode
    }
  }

  /// Content of GNS.
  private struct GNSPart {
    private(set) var validity = Validity.unreported
    /// The last valid sentence with a position.
    private(set) var sentence = GNS()

    mutating func apply(_ m: GNS) {
      if m.mode == nil && m.coordinate == nil { return }
      let isValid = m.mode != .notValid
      validity.update(isValid)
      if isValid && m.coordinate != nil { sentence = m }
    }
  }

  /// Content of u-blox' PUBX,00.
  private struct UBloxPart {
    private(set) var validity = Validity.unreported
    /// The last valid sentence.
    private(set) var sentence = UBloxPosition()

    mutating func apply(_ m: UBloxPosition) {
      guard let status = m.status else { return }
      // A timing receiver at a surveyed position computes only the time.
      let isValid = status != .noFix && (status != .timeOnly || m.coordinate != nil)
      validity.update(isValid)
      if isValid { sentence = m }
    }
  }

  /// Content of GSA and GSV.
  private struct SatellitePart {
    private(set) var fixMode: UInt8 = 0
    private(set) var used: Int16 = 0
    private(set) var hdop_e2: UInt16?
    private(set) var vdop_e2: UInt16?
    private(set) var pdop_e2: UInt16?
    private(set) var inView = SatelliteCounts()
    private var usedGroups = SatelliteGroups()

    mutating func apply(_ m: GSA) {
      fixMode = max(fixMode, m.fixMode ?? 0)
      // A repeated group adds no satellites.
      if usedGroups.insert(m) { used = min(used &+ Int16(m.satellites), 254) }
      if let dop = m.horizontalDOP_e2 { hdop_e2 = dop }
      if let dop = m.verticalDOP_e2 { vdop_e2 = dop }
      if let dop = m.positionDOP_e2 { pdop_e2 = dop }
    }

    mutating func apply(_ m: GSV) {
      if let count = m.inView { inView.record(m.talker, count) }
    }
  }

  /// Content of GST.
  private struct GSTPart {
    private(set) var latitude_mm: Int32?
    private(set) var longitude_mm: Int32?
    private(set) var altitude_mm: Int32?

    mutating func apply(_ m: GST) {
      if let error = m.latitude_mm { latitude_mm = error }
      if let error = m.longitude_mm { longitude_mm = error }
      if let error = m.altitude_mm { altitude_mm = error }
    }
  }

  /// Content of VTG.
  private struct VTGPart {
    private(set) var speed_mmps: Int32?
    private(set) var course_e4: Int32?

    mutating func apply(_ m: VTG) {
      if m.mode == .notValid { return }
      if let speed = m.speed_mmps { speed_mmps = speed }
      if let course = m.course_e4 { course_e4 = course }
    }
  }

  /// Content of Garmin's PGRME and PGRMZ.
  private struct GarminPart {
    private(set) var errors = GarminErrors()
    private(set) var altitude = GarminAltitude()

    mutating func apply(_ m: GarminErrors) { errors = m }

    mutating func apply(_ m: GarminAltitude) {
      if m.dimensions != 1 { altitude = m }
    }
  }
}

// Conversion of the draft to an epoch.

extension EpochDraft {
  /// Writes the epoch without its date.
  func write(to epoch: inout Epoch, _ options: EpochOptions) {
    epoch = Epoch()
    epoch.timeOfDay_us = time_us
    epoch.hdop_e2 =
      gga.hdop_e2 ?? gns.sentence.horizontalDOP_e2 ?? satellites.hdop_e2
      ?? pubx.sentence.horizontalDOP_e2
    epoch.vdop_e2 = satellites.vdop_e2 ?? pubx.sentence.verticalDOP_e2
    epoch.pdop_e2 = satellites.pdop_e2
    epoch.satellitesInView = satellites.inView.sum
    epoch.mode = .noFix
    if !hasInvalidPosition,
      let coordinate = gga.coordinate ?? gns.sentence.coordinate ?? rmc.coordinate
        ?? gll.coordinate ?? pubx.sentence.coordinate
    {
      writePosition(&epoch, coordinate, options)
    }
  }

  private func writePosition(
    _ epoch: inout Epoch, _ coordinate: Coordinate, _ options: EpochOptions
  ) {
    let altitude_mm = gga.altitude_mm ?? gns.sentence.altitude_mm ?? garmin.altitude.altitude_mm
    let separation_mm = gga.separation_mm ?? gns.sentence.separation_mm
    let height_mm = EpochDraft.sum(altitude_mm, separation_mm) ?? pubx.sentence.height_mm
    let hasHeight = altitude_mm != nil || height_mm != nil
    let isSpatial = dimensions == 3 || (dimensions == 0 && hasHeight)
    var fix = Fix(
      acquired: received, coordinate: coordinate,
      mode: isSpatial ? .threeDimensional : .twoDimensional)
    fix.altitude_mm = altitude_mm
    fix.ellipsoidalAltitude_mm = height_mm
    fix.speed_mmps = rmc.speed_mmps ?? vtg.speed_mmps ?? pubx.sentence.speed_mmps
    fix.course_e4 = rmc.course_e4 ?? vtg.course_e4 ?? pubx.sentence.course_e4
    fix.horizontalAccuracy_mm =
      horizontalError_mm ?? error(of: epoch.hdop_e2, options.rangeError_mm)
    if isSpatial && hasHeight {
      fix.verticalAccuracy_mm =
        verticalError_mm ?? error(of: epoch.vdop_e2, options.rangeError_mm)
    }
    let counted = gns.sentence.satellites ?? gga.satellites ?? pubx.sentence.satellites
    fix.satellites = counted.map { Int16($0) } ?? (satellites.fixMode == 0 ? nil : satellites.used)
    fix.quality = fixQuality
    fix.isSimulated = options.isSimulated
    epoch.storedFix = fix
    epoch.hasFix = true
    epoch.mode = isSpatial ? .threeDimensional : .twoDimensional
    epoch.geoidSeparation_mm = separation_mm
    epoch.climb_mmps = pubx.sentence.velocityDown_mmps.flatMap { $0 == .min ? nil : -$0 }
    if EpochDraft.root(gst.latitude_mm, gst.longitude_mm) != nil {
      epoch.latitudeError_mm = gst.latitude_mm
      epoch.longitudeError_mm = gst.longitude_mm
    }
  }

  /// 2 or 3 dimensions; 0 if not reported. A GSA with "no fix" is ignored, because a position exists.
  private var dimensions: UInt8 {
    if satellites.fixMode > 1 { return satellites.fixMode }
    switch pubx.sentence.status {
    case .twoDimensional?, .differential2D?, .deadReckoning?: return 2
    case .threeDimensional?, .differential3D?, .combined?, .timeOnly?: return 3
    case .noFix?, nil: return garmin.altitude.dimensions ?? 0
    }
  }

  private static func sum(_ a: Int32?, _ b: Int32?) -> Int32? {
    guard let a, let b else { return nil }
    let (sum, isOver) = a.addingReportingOverflow(b)
    return isOver || sum == .min ? nil : sum
  }

  private var horizontalError_mm: Int32? {
    if let error = EpochDraft.root(gst.latitude_mm, gst.longitude_mm) { return error }
    if let error = EpochDraft.positive(pubx.sentence.horizontalAccuracy_mm) { return error }
    if let error = EpochDraft.root(gbs.latitude_mm, gbs.longitude_mm) { return error }
    // As in gpsd: half of the errors are below 1.18 σ (σ: one axis), and the error of both axes is √2 σ.
    return EpochDraft.positive(garmin.errors.horizontal_mm).map {
      Int32(clamping: Int64($0) * 11_985 / 10_000)
    }
  }

  private var verticalError_mm: Int32? {
    if let error = EpochDraft.positive(gst.altitude_mm) { return error }
    if let error = EpochDraft.positive(pubx.sentence.verticalAccuracy_mm) { return error }
    if let error = EpochDraft.positive(gbs.altitude_mm) { return error }
    // As in gpsd: half of the errors are below 1.18 σ.
    return EpochDraft.positive(garmin.errors.vertical_mm).map { Int32(Int64($0) * 8_475 / 10_000) }
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
    switch gga.quality {
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
    switch gns.sentence.mode ?? rmc.mode ?? gll.mode {
    case .autonomous?, .precise?: return .autonomous
    case .differential?: return .differential
    case .rtkFixed?: return .rtkFixed
    case .rtkFloat?: return .rtkFloat
    case .estimated?: return .deadReckoning
    case .manual?: return .surveyed
    case .simulator?: return .simulated
    case .notValid?, nil: break
    }
    switch pubx.sentence.status {
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

import LocationTypes

/// Kind of fix, with gpsd's numbers (`mode` of TPV).
@frozen public enum EpochMode: UInt8, Sendable {
  /// Not reported.
  case notSeen = 0
  /// The receiver has no position.
  case noFix = 1
  /// Latitude and longitude.
  case twoDimensional = 2
  /// Latitude, longitude and altitude.
  case threeDimensional = 3
}

/// Origin of an epoch.
@frozen public enum EpochOrigin: UInt8, Sendable {
  /// Sent when measured.
  case live = 0
  /// Read from the receiver's batch buffer; measured earlier.
  case batch = 1
}

/// The combined content of all messages of one navigation epoch; the output of ``EpochAssembler``.
///
/// Stored like ``Fix``: the smallest or largest value of a field means "unknown", so that an epoch is
/// copied in a few wide moves.
public struct Epoch: Equatable, Sendable {
  /// The fix; nil without a valid position.
  ///
  /// Its `acquired` is the arrival time of the epoch's first message.
  public var fix: Fix? {
    get { hasFix ? storedFix : nil }
    set {
      hasFix = newValue != nil
      storedFix = newValue ?? Epoch.emptyFix
    }
  }
  // Not optional, so that an epoch is written in place. Without a fix it is `emptyFix`.
  var storedFix = Epoch.emptyFix
  /// Whether the epoch has a valid position.
  public internal(set) var hasFix = false
  var utc_us: Int64 = .min
  var time_us: Int64 = .min
  var geoidSeparation_raw: Int32 = .min
  var climb_raw: Int32 = .min
  var timeAccuracy_raw: UInt32 = .max
  var latitudeError_raw: Int32 = .min
  var longitudeError_raw: Int32 = .min
  var hdop_raw: UInt16 = .max
  var vdop_raw: UInt16 = .max
  var pdop_raw: UInt16 = .max
  var satellitesInView_raw: UInt8 = .max
  var meanSignal_raw: UInt8 = .max
  var bestSignal_raw: UInt8 = .max
  /// Whether the date was repaired, taken from the recording's header, not resolved by the receiver, or
  /// jumped (STD-13).
  public var isDateUncertain = false
  /// Kind of fix, or none.
  public var mode = EpochMode.notSeen
  /// Live or from a batch.
  public var origin: EpochOrigin

  /// Creates an epoch with all values unknown.
  public init(origin: EpochOrigin = .live) { self.origin = origin }

  // Inlined constants: no call and no copy.
  @inline(__always) private static var emptyFix: Fix {
    Fix(
      acquired: Instant(microseconds: 0), coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0))
  }
}

extension Epoch {
  /// Arrival time of the epoch's first message; nil without a valid position.
  public var acquired: Instant? { hasFix ? storedFix.acquired : nil }
  /// UTC of the epoch, if date and time are known.
  public var utc: UTCTime? {
    get { utc_us == .min ? nil : UTCTime(microseconds: utc_us) }
    set { utc_us = newValue?.microseconds ?? .min }
  }
  /// UTC time of day, µs, if at least that is known.
  public var timeOfDay_us: Int64? {
    get { time_us == .min ? nil : time_us }
    set { time_us = newValue ?? .min }
  }
  /// Horizontal dilution of precision × 100; at most 65,534.
  public var hdop_e2: UInt16? {
    get { hdop_raw == .max ? nil : hdop_raw }
    set { hdop_raw = newValue ?? .max }
  }
  /// Vertical dilution of precision × 100; at most 65,534.
  public var vdop_e2: UInt16? {
    get { vdop_raw == .max ? nil : vdop_raw }
    set { vdop_raw = newValue ?? .max }
  }
  /// Position dilution of precision × 100; at most 65,534.
  public var pdop_e2: UInt16? {
    get { pdop_raw == .max ? nil : pdop_raw }
    set { pdop_raw = newValue ?? .max }
  }
  /// Satellites in view as reported since the previous epoch; at most 254.
  public var satellitesInView: UInt8? {
    get { satellitesInView_raw == .max ? nil : satellitesInView_raw }
    set { satellitesInView_raw = newValue ?? .max }
  }
  /// Mean C/N0 of the satellites used, dBHz, if reported; at most 254.
  public var meanSignal_dBHz: UInt8? {
    get { meanSignal_raw == .max ? nil : meanSignal_raw }
    set { meanSignal_raw = newValue ?? .max }
  }
  /// Best C/N0 of the satellites used, dBHz, if reported; at most 254.
  public var bestSignal_dBHz: UInt8? {
    get { bestSignal_raw == .max ? nil : bestSignal_raw }
    set { bestSignal_raw = newValue ?? .max }
  }
  /// Geoid above ellipsoid, mm.
  public var geoidSeparation_mm: Int32? {
    get { geoidSeparation_raw == .min ? nil : geoidSeparation_raw }
    set { geoidSeparation_raw = newValue ?? .min }
  }
  /// Upward speed, mm/s.
  public var climb_mmps: Int32? {
    get { climb_raw == .min ? nil : climb_raw }
    set { climb_raw = newValue ?? .min }
  }
  /// Time accuracy, ns; nil where the receiver sends the maximum.
  public var timeAccuracy_ns: UInt32? {
    get { timeAccuracy_raw == .max ? nil : timeAccuracy_raw }
    set { timeAccuracy_raw = newValue ?? .max }
  }
  /// Error of the latitude, 1 σ, mm, where reported separately from the longitude's.
  public var latitudeError_mm: Int32? {
    get { latitudeError_raw == .min ? nil : latitudeError_raw }
    set { latitudeError_raw = newValue ?? .min }
  }
  /// Error of the longitude, 1 σ, mm.
  public var longitudeError_mm: Int32? {
    get { longitudeError_raw == .min ? nil : longitudeError_raw }
    set { longitudeError_raw = newValue ?? .min }
  }
}

/// Properties of the stream that an ``EpochAssembler`` reads.
public struct EpochOptions: Equatable, Sendable {
  /// The receiver's range error (UERE), mm: without a reported error, accuracy is DOP times this
  /// (LOC-4).
  public var rangeError_mm: Int32 = 5_000
  /// Date of a recording, from its header; repairs century and GPS week rollover (STD-13).
  public var recordingDate: CalendarDate?
  /// Earliest possible date of a live receiver, that of the build; repairs GPS week rollover (STD-13).
  public var earliestDate: CalendarDate?
  /// Whether NAV-PVT waits for NMEA sentences of its time, which then supply the values it lacks.
  ///
  /// Set it for files and pipes. From a live receiver NAV-PVT is emitted immediately and its sentences
  /// are ignored.
  public var waitsForSentences = false
  /// Whether the last message of an epoch is detected, so that the epoch is emitted with it and not
  /// with the first message of the next epoch.
  ///
  /// Set it for live receivers; messages later than the detected end are ignored.
  public var detectsEpochEnd = false
  /// Silence that ends an epoch until the receiver's silences are measured.
  public var silenceTimeout = Interval.milliseconds(100)
  /// Whether all fixes are marked as simulated or replayed (LOC-8).
  public var isSimulated = false

  /// Creates the default options of a live receiver.
  public init() {}
}

extension Epoch {
  /// Applies the additional digits of NAV-HPPOSLLH if it is valid and of the same position; returns
  /// whether it was applied.
  mutating func refine(_ precise: UBXPrecisePosition) -> Bool {
    guard hasFix, precise.refines(storedFix.coordinate) else { return false }
    storedFix.coordinate = precise.coordinate
    storedFix.ellipsoidalAltitude_mm = precise.height_mm
    storedFix.altitude_mm = precise.heightMSL_mm
    storedFix.horizontalAccuracy_mm = Int32(clamping: precise.horizontalAccuracy_mm)
    if storedFix.mode == .threeDimensional {
      storedFix.verticalAccuracy_mm = Int32(clamping: precise.verticalAccuracy_mm)
    }
    return true
  }

  /// Applies the satellites in view and their signals.
  mutating func apply(_ satellites: UBXSatellites) {
    satellitesInView = min(satellites.inView, 254)
    meanSignal_dBHz = satellites.mean_dBHz
    bestSignal_dBHz = satellites.used == 0 ? nil : satellites.best_dBHz
  }
}

import LocationTypes

/// Whether a position was found, with gpsd's numbers (`mode` of TPV).
@frozen public enum EpochMode: UInt8, Sendable {
  /// Nothing was said of it.
  case notSeen = 0
  /// The receiver has no position.
  case noFix = 1
  /// Latitude and longitude.
  case twoDimensional = 2
  /// Latitude, longitude and altitude.
  case threeDimensional = 3
}

/// Where an epoch comes from.
@frozen public enum EpochOrigin: UInt8, Sendable {
  /// Sent when it was measured.
  case live = 0
  /// Out of the receiver's batch buffer, measured earlier.
  case batch = 1
}

/// What one epoch's messages add up to.
///
/// Stored as ``Fix`` is: a field's smallest or largest value stands for "not known", so that an epoch
/// is copied in a few wide moves.
public struct Epoch: Equatable, Sendable {
  /// The position; nil when there is no valid one.
  ///
  /// `acquired` is the moment that was given with the epoch's first message.
  public var fix: Fix? {
    get { hasFix ? place : nil }
    set {
      hasFix = newValue != nil
      place = newValue ?? Epoch.nowhere
    }
  }
  // No optional: an epoch is written where it lies. Without a fix it is `nowhere`.
  var place = Epoch.nowhere
  var hasFix = false
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
  /// The date was repaired, taken from the recording's, or not resolved by the receiver (STD-13).
  public var isDateUncertain = false
  /// Whether there is one and of what kind.
  public var mode = EpochMode.notSeen
  /// Live or out of a batch.
  public var origin: EpochOrigin

  /// Creates an epoch of which nothing is known.
  public init(origin: EpochOrigin = .live) { self.origin = origin }

  // Constants that are written where they are needed: nothing to be asked for or copied.
  @inline(__always) private static var nowhere: Fix {
    Fix(
      acquired: Instant(microseconds: 0), coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0))
  }
}

extension Epoch {
  /// When, if date and time are known.
  public var utc: UTCTime? {
    get { utc_us == .min ? nil : UTCTime(microseconds: utc_us) }
    set { utc_us = newValue?.microseconds ?? .min }
  }
  /// UTC time of day in µs, if at least that is known.
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
  /// Satellites in view, as far as the receiver said since the epoch before; at most 254.
  public var satellitesInView: UInt8? {
    get { satellitesInView_raw == .max ? nil : satellitesInView_raw }
    set { satellitesInView_raw = newValue ?? .max }
  }
  /// Mean C/N0 of the satellites used, dBHz, where the receiver said; at most 254.
  public var meanSignal_dBHz: UInt8? {
    get { meanSignal_raw == .max ? nil : meanSignal_raw }
    set { meanSignal_raw = newValue ?? .max }
  }
  /// Best C/N0 of the satellites used, dBHz, where the receiver said; at most 254.
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
  /// Error of the time, ns; unknown where the receiver writes its largest value.
  public var timeAccuracy_ns: UInt32? {
    get { timeAccuracy_raw == .max ? nil : timeAccuracy_raw }
    set { timeAccuracy_raw = newValue ?? .max }
  }
  /// Error of the latitude, 1 σ, mm, where told apart from the longitude's.
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

/// What an assembler must be told of its stream.
public struct EpochOptions: Equatable, Sendable {
  /// The receiver's range error (UERE), mm: accuracy is DOP times this, where no error is sent (LOC-4).
  public var rangeError_mm: Int32 = 5_000
  /// The day a recording was made, from its header; repairs century and GPS week rollover (STD-13).
  public var recordingDate: CalendarDate?
  /// For a live receiver: no date can be before that of the build; repairs week rollover (STD-13).
  public var earliestDate: CalendarDate?
  /// Of an epoch in both protocols: whether NAV-PVT waits for sentences of its time, which then add what
  /// it does not say. For files and pipes; from a receiver it is given at once and the sentences left out.
  public var waitsForSentences = false
  /// Whether the last sentence of an epoch is learned, so that the epoch is given with it and not with
  /// the next one's first. For live receivers; then what comes late is left out.
  public var learnsEnd = false
  /// The silence that ends an epoch until the receiver's own is learned.
  public var pause = Interval.milliseconds(100)
  /// Marks all fixes as coming from a simulation or replay (LOC-8).
  public var isSimulated = false

  /// Creates options as for a live receiver of which nothing is known.
  public init() {}
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

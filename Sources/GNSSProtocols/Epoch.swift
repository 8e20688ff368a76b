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
public struct Epoch: Equatable, Sendable {
  /// When, if date and time are known.
  public var utc: UTCTime?
  /// UTC time of day in µs, if at least that is known.
  public var timeOfDay_us: Int64?
  /// The date was repaired, taken from the recording's, or not resolved by the receiver (STD-13).
  public var isDateUncertain = false
  /// The position; nil when there is no valid one.
  ///
  /// `acquired` is the moment that was given with the epoch's first message.
  public var fix: Fix?
  /// Whether there is one and of what kind.
  public var mode = EpochMode.notSeen
  /// Live or out of a batch.
  public var origin: EpochOrigin
  /// Horizontal dilution of precision × 100.
  public var hdop_e2: UInt16?
  /// Vertical dilution of precision × 100.
  public var vdop_e2: UInt16?
  /// Position dilution of precision × 100.
  public var pdop_e2: UInt16?
  /// Satellites in view, as far as the receiver said since the epoch before.
  public var satellitesInView: UInt8?
  /// Geoid above ellipsoid, mm.
  public var geoidSeparation_mm: Int32?
  /// Upward speed, mm/s.
  public var climb_mmps: Int32?
  /// Error of the time, ns.
  public var timeAccuracy_ns: UInt32?
  /// Error of the latitude, 1 σ, mm, where told apart from the longitude's.
  public var latitudeError_mm: Int32?
  /// Error of the longitude, 1 σ, mm.
  public var longitudeError_mm: Int32?

  /// Creates an epoch of which nothing is known.
  public init(origin: EpochOrigin = .live) { self.origin = origin }
}

/// What an assembler must be told of its stream.
public struct EpochOptions: Equatable, Sendable {
  /// The receiver's range error (UERE), mm: accuracy is DOP times this, where no error is sent (LOC-4).
  public var rangeError_mm: Int32 = 5_000
  /// The day a recording was made, from its header; repairs century and GPS week rollover (STD-13).
  public var recordingDate: CalendarDate?
  /// For a live receiver: no date can be before that of the build; repairs week rollover (STD-13).
  public var earliestDate: CalendarDate?
  /// Of an epoch in both protocols: whether NAV-PVT waits for sentences of its time, which then go
  /// before it, as with gpsd. For recordings; live it is given at once and the sentences left out.
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

/// GSA: mode, satellites used and dilution of precision. Empty fields are nil.
public struct GSA: Equatable, Sendable {
  /// Talker identifier.
  public var talker: Talker
  /// Whether the receiver selects 2D or 3D automatically (`A`); nil if not reported.
  public var isAutomatic: Bool?
  /// 1 no fix, 2 2D, 3 3D.
  public var fixMode: UInt8?
  /// Number of satellites in the sentence, 0 to 12.
  public private(set) var satellites: UInt8
  /// Satellite numbers, in the order of the sentence.
  private var numbers = InlineArray<12, UInt16>(repeating: 0)
  /// Position dilution of precision × 100.
  public var positionDOP_e2: UInt16?
  /// Horizontal dilution of precision × 100.
  public var horizontalDOP_e2: UInt16?
  /// Vertical dilution of precision × 100.
  public var verticalDOP_e2: UInt16?
  /// System identifier of NMEA 4.1: 1 GPS, 2 GLONASS, 3 Galileo, 4 BeiDou, 5 QZSS, 6 NavIC.
  public var system: UInt8?

  /// Creates a sentence with the satellites from 1 to `satellites`.
  ///
  /// - Precondition: `satellites` is at most 12.
  public init(talker: Talker = .combined, fixMode: UInt8? = nil, satellites: UInt8 = 0) {
    precondition(satellites <= 12, "a GSA names at most twelve satellites")
    self.talker = talker
    isAutomatic = true
    self.fixMode = fixMode
    self.satellites = satellites
    for i in 0..<Int(satellites) { numbers[i] = UInt16(i + 1) }
  }

  /// Number of a satellite, as in the sentence.
  ///
  /// - Precondition: `index` is below ``satellites``.
  public func satellite(_ index: Int) -> UInt16 {
    precondition(index < satellites, "past the last satellite")
    return numbers[index]
  }

  /// Appends a satellite number.
  ///
  /// - Precondition: the sentence has fewer than twelve satellites.
  @inline(__always) public mutating func append(_ satellite: UInt16) {
    numbers[Int(satellites)] = satellite
    satellites &+= 1
  }

  /// Whether both have the same content; unused slots after the last satellite are ignored.
  public static func == (a: GSA, b: GSA) -> Bool {
    guard a.talker == b.talker, a.isAutomatic == b.isAutomatic, a.fixMode == b.fixMode,
      a.satellites == b.satellites, a.positionDOP_e2 == b.positionDOP_e2,
      a.horizontalDOP_e2 == b.horizontalDOP_e2, a.verticalDOP_e2 == b.verticalDOP_e2,
      a.system == b.system
    else { return false }
    for i in 0..<Int(a.satellites) where a.numbers[i] != b.numbers[i] { return false }
    return true
  }
}

/// One satellite of a GSV. Empty fields are nil.
@frozen public struct SatelliteInView: Equatable, Sendable {
  /// Satellite number, as in the sentence; never 0.
  public var number: UInt16
  /// Degrees above the horizon, −90 to 90.
  public var elevation_deg: Int8?
  /// Degrees from true north, 0 to 360.
  public var azimuth_deg: UInt16?
  /// Carrier-to-noise density, 0 to 99 dB-Hz; nil if the satellite is not tracked.
  public var signal_dBHz: UInt8?

  /// Creates a satellite.
  @inlinable public init(
    number: UInt16, elevation_deg: Int8? = nil, azimuth_deg: UInt16? = nil,
    signal_dBHz: UInt8? = nil
  ) {
    self.number = number
    self.elevation_deg = elevation_deg
    self.azimuth_deg = azimuth_deg
    self.signal_dBHz = signal_dBHz
  }
}

/// GSV: satellites in view, at most four a sentence. Empty fields are nil.
public struct GSV: Equatable, Sendable {
  /// Talker identifier, which determines the system.
  public var talker: Talker
  /// Number of sentences in the group.
  public var sentences: UInt8?
  /// Number of this sentence, from 1.
  public var number: UInt8?
  /// Number of satellites of the system in view.
  public var inView: UInt8?
  /// Signal identifier of NMEA 4.1, 0 to 15, numbered per system.
  public var signal: UInt8?
  /// Number of satellites in this sentence, 0 to 4.
  public private(set) var count: UInt8 = 0
  private var satellites = InlineArray<4, SatelliteInView>(repeating: SatelliteInView(number: 0))

  /// Creates a sentence without satellites.
  public init(talker: Talker = .gps, sentences: UInt8?, number: UInt8?, inView: UInt8?) {
    self.talker = talker
    self.sentences = sentences
    self.number = number
    self.inView = inView
  }

  /// A satellite of this sentence.
  ///
  /// - Precondition: `index` is below ``count``.
  public func satellite(_ index: Int) -> SatelliteInView {
    precondition(index < count, "past the last satellite")
    return satellites[index]
  }

  /// Appends a satellite.
  ///
  /// - Precondition: the sentence has fewer than four satellites.
  @inline(__always) public mutating func append(_ satellite: SatelliteInView) {
    satellites[Int(count)] = satellite
    count &+= 1
  }

  /// Whether both have the same content; unused slots after the last satellite are ignored.
  public static func == (a: GSV, b: GSV) -> Bool {
    guard a.talker == b.talker, a.sentences == b.sentences, a.number == b.number,
      a.inView == b.inView, a.signal == b.signal, a.count == b.count
    else { return false }
    for i in 0..<Int(a.count) where a.satellites[i] != b.satellites[i] { return false }
    return true
  }
}

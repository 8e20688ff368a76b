/// Satellite system. Raw values: gnssId of UBX, which gpsd calls `gnssid`.
@frozen public enum Constellation: UInt8, Sendable {
  /// GPS.
  case gps = 0
  /// Satellite-based augmentation: WAAS, EGNOS, MSAS and others.
  case sbas = 1
  /// Galileo.
  case galileo = 2
  /// BeiDou.
  case beidou = 3
  /// IMES, transmitters inside buildings.
  case imes = 4
  /// QZSS.
  case qzss = 5
  /// GLONASS.
  case glonass = 6
  /// NavIC (IRNSS).
  case navic = 7
}

/// A satellite in view of the receiver. Unknown values are nil.
@frozen public struct Satellite: Equatable, Sendable {
  /// Satellite system.
  public var constellation: Constellation
  /// Number in the system: svId of UBX, which gpsd calls `svid`. The pseudorandom noise number (SBAS 120 to 158), of
  /// GLONASS the slot; 255 for a GLONASS satellite whose slot is not yet known.
  public var number: UInt8
  /// Whether the satellite was used for the last fix.
  public var isUsed: Bool
  /// Degrees above the horizon, −90 to 90.
  public var elevation_deg: Int8?
  /// Degrees from true north, 0 to 359.
  public var azimuth_deg: UInt16?
  /// Carrier-to-noise density (C/N0) of the strongest signal, dB-Hz; nil if no signal is tracked.
  public var signal_dBHz: UInt8?

  /// Creates a satellite.
  @inlinable public init(
    _ constellation: Constellation, _ number: UInt8, isUsed: Bool = false,
    elevation_deg: Int8? = nil, azimuth_deg: UInt16? = nil, signal_dBHz: UInt8? = nil
  ) {
    self.constellation = constellation
    self.number = number
    self.isUsed = isUsed
    self.elevation_deg = elevation_deg
    self.azimuth_deg = azimuth_deg
    self.signal_dBHz = signal_dBHz
  }

  /// The satellite's number in NMEA sentences, which gpsd calls `PRN`; nil without one.
  ///
  /// Source: u-blox M8 receiver description, appendix *Satellite numbering*, column *NMEA 2.X – 4.0 (extended)*, extended
  /// by the QZSS numbers of NMEA 4.11. gpsd uses the same numbers (`ubx2_to_prn` in `driver_ubx.c`, and gpsd_json(5)).
  public var nmeaNumber: UInt16? {
    let value = UInt16(number)
    switch (constellation, number) {
    case (.gps, 1...32): return value
    case (.sbas, 120...151): return value - 87
    case (.sbas, 152...158): return value
    case (.galileo, 1...36): return value + 300
    case (.beidou, 1...63): return value + 400
    case (.imes, 1...10): return value + 172
    case (.qzss, 1...10): return value + 192
    case (.glonass, 1...32): return value + 64
    case (.gps, _), (.sbas, _), (.galileo, _), (.beidou, _), (.imes, _), (.qzss, _),
      (.glonass, _), (.navic, _):
      return nil
    }
  }

  /// Whether both are the same satellite.
  @inlinable public func isSame(as other: Satellite) -> Bool {
    constellation == other.constellation && number == other.number
  }
}

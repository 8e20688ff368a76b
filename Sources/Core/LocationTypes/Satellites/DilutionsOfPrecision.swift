/// Dilutions of precision × 100, as far as the receiver reports them.
///
/// NMEA sentences contain position, horizontal and vertical dilution, UBX-NAV-DOP all of them.
@frozen public struct DilutionsOfPrecision: Equatable, Sendable {
  /// East (longitude); gpsd's `xdop`.
  public var east_e2: UInt16?
  /// North (latitude); gpsd's `ydop`.
  public var north_e2: UInt16?
  /// Geometric: position and time; gpsd's `gdop`.
  public var geometric_e2: UInt16?
  /// Position in three dimensions; gpsd's `pdop`.
  public var position_e2: UInt16?
  /// Horizontal position; gpsd's `hdop`.
  public var horizontal_e2: UInt16?
  /// Vertical position; gpsd's `vdop`.
  public var vertical_e2: UInt16?
  /// Time; gpsd's `tdop`.
  public var time_e2: UInt16?

  /// Creates unknown dilutions.
  @inlinable public init() {}
}

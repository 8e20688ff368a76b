import LocationTypes

// Satellites of UBX-NAV-SAT and UBX-NAV-SVINFO. Layouts: u-blox 8 / M8 receiver description, UBX-13003221; M10 SPG 5.10
// interface description, UBX-21035062. Both messages have an entry of 12 bytes for each satellite.

extension UBXSatellites {
  /// Length of a frame with this number of satellites, bytes.
  static func frameLength(_ count: UInt8) -> Int { 16 + 12 * Int(count) }

  /// Adds the satellites of a whole frame to a view; adds nothing for another message.
  static func add(_ frame: Span<UInt8>, to view: inout SatelliteView) {
    guard frame.count >= 16 else { return }
    let isChannelList = UBXIdentity(frame[2], frame[3]) == .navSVINFO
    guard isChannelList || UBXIdentity(frame[2], frame[3]) == .navSAT else { return }
    var i = 14
    while i + 14 <= frame.count {
      let entry = frame.extracting(i..<i + 12)
      if let satellite = isChannelList ? Satellite(channel: entry) : Satellite(entry: entry) {
        view.add(satellite)
      }
      i += 12
    }
  }
}

extension Satellite {
  /// Reads an entry of NAV-SAT; nil if its system is undefined.
  fileprivate init?(entry p: Span<UInt8>) {
    guard let constellation = Constellation(rawValue: p[0]), p[1] > 0 else { return nil }
    self.init(constellation, p[1], isUsed: p[8] & 8 != 0)
    setSignal(p[2], elevation: p.i1(3), azimuth: p.i2(4))
  }

  /// Reads an entry of NAV-SVINFO; nil if its number is undefined.
  fileprivate init?(channel p: Span<UInt8>) {
    guard let (constellation, number) = Satellite.channel(p[1]) else { return nil }
    self.init(constellation, number, isUsed: p[2] & 1 != 0)
    setSignal(p[4], elevation: p.i1(5), azimuth: p.i2(6))
  }

  /// Sets signal and direction. The direction is unknown if the elevation is out of range.
  private mutating func setSignal(_ signal: UInt8, elevation: Int8, azimuth: Int16) {
    signal_dBHz = signal == 0 ? nil : signal
    guard elevation >= -90, elevation <= 90 else { return }
    elevation_deg = elevation
    if azimuth >= 0, azimuth <= 360 { azimuth_deg = azimuth == 360 ? 0 : UInt16(azimuth) }
  }

  /// System and number of a satellite with this single number of NAV-SVINFO; nil for an undefined one.
  private static func channel(_ number: UInt8) -> (Constellation, UInt8)? {
    switch number {
    case 1...32: (.gps, number)
    case 33...64: (.beidou, number - 27)
    case 65...96: (.glonass, number - 64)
    case 120...158: (.sbas, number)
    case 159...163: (.beidou, number - 158)
    case 173...182: (.imes, number - 172)
    case 193...202: (.qzss, number - 192)
    case 211...246: (.galileo, number - 210)
    case 255: (.glonass, 255)
    case _: nil
    }
  }
}

extension DilutionsOfPrecision {
  /// Converts a NAV-DOP; 99.99 stands for an unknown dilution.
  init(_ m: UBXDilutions) {
    self.init()
    func known(_ value: UInt16) -> UInt16? { value == 0 || value >= 9_999 ? nil : value }
    east_e2 = known(m.easting_e2)
    north_e2 = known(m.northing_e2)
    geometric_e2 = known(m.geometric_e2)
    position_e2 = known(m.position_e2)
    horizontal_e2 = known(m.horizontal_e2)
    vertical_e2 = known(m.vertical_e2)
    time_e2 = known(m.time_e2)
  }
}

extension FrameBuffer {
  /// Appends a NAV-SAT, 16 bytes and 12 for each satellite; unknown values are written as zero.
  public mutating func appendNavSAT(_ view: SatelliteView, timeOfWeek_ms: UInt32) {
    let start = beginUBX(.navSAT)
    append(littleEndian: timeOfWeek_ms)
    append(1)
    append(UInt8(view.count))
    append(littleEndian: UInt16(0))
    for i in 0..<view.count {
      let satellite = view[i]
      append(satellite.constellation.rawValue)
      append(satellite.number)
      append(satellite.signal_dBHz ?? 0)
      // A direction is unknown if the elevation is out of range.
      append(UInt8(bitPattern: satellite.elevation_deg ?? 91))
      append(littleEndian: satellite.azimuth_deg ?? 0)
      append(littleEndian: UInt16(0))
      append(littleEndian: UInt32(satellite.isUsed ? 8 : 0))
    }
    endUBX(start)
  }

  /// Appends a NAV-DOP, 26 bytes; an unknown dilution is written as 99.99.
  public mutating func appendNavDOP(_ dilutions: DilutionsOfPrecision, timeOfWeek_ms: UInt32) {
    func reported(_ dilution_e2: UInt16?) -> UInt16 { dilution_e2 ?? 9_999 }
    append(
      .dilutions(
        UBXDilutions(
          timeOfWeek_ms: timeOfWeek_ms, geometric_e2: reported(dilutions.geometric_e2),
          position_e2: reported(dilutions.position_e2), time_e2: reported(dilutions.time_e2),
          vertical_e2: reported(dilutions.vertical_e2),
          horizontal_e2: reported(dilutions.horizontal_e2),
          northing_e2: reported(dilutions.north_e2), easting_e2: reported(dilutions.east_e2))))
  }
}

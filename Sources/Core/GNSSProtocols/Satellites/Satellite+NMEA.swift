import LocationTypes

extension Constellation {
  /// The system of a talker; nil for `GN` (several systems) and other talkers.
  init?(_ talker: Talker) {
    switch (talker.first, talker.second) {
    case (UInt8(ascii: "G"), UInt8(ascii: "P")): self = .gps
    case (UInt8(ascii: "G"), UInt8(ascii: "L")): self = .glonass
    case (UInt8(ascii: "G"), UInt8(ascii: "A")): self = .galileo
    case (UInt8(ascii: "G"), UInt8(ascii: "B")), (UInt8(ascii: "B"), UInt8(ascii: "D")):
      self = .beidou
    case (UInt8(ascii: "G"), UInt8(ascii: "Q")), (UInt8(ascii: "Q"), UInt8(ascii: "Z")):
      self = .qzss
    case (UInt8(ascii: "G"), UInt8(ascii: "I")): self = .navic
    case _: return nil
    }
  }

  /// The system of a system identifier of NMEA 4.1; nil for an undefined one.
  init?(system: UInt8) {
    switch system {
    case 1: self = .gps
    case 2: self = .glonass
    case 3: self = .galileo
    case 4: self = .beidou
    case 5: self = .qzss
    case 6: self = .navic
    case _: return nil
    }
  }
}

extension Satellite {
  /// Creates a satellite from its number in a sentence; nil for an undefined number.
  ///
  /// Numbers of different systems overlap, so the system of the sentence decides where it is known. Sources: u-blox M8
  /// receiver description, appendix *Satellite numbering* (NMEA 2.X – 4.0, 4.10 and extended); numbers that other
  /// makers use besides: gpsd's `nmeaid_to_prn` in `driver_nmea0183.c`.
  ///
  /// - Parameter constellation: System of the sentence, from its system identifier or its talker; nil if unknown.
  init?(nmeaNumber number: UInt16, of constellation: Constellation?) {
    let found: (Constellation, UInt16)? =
      switch (number, constellation) {
      case (1...32, nil), (1...32, .gps): (.gps, number)
      case (1...32, .glonass): (.glonass, number)
      case (1...36, .galileo): (.galileo, number)
      case (1...63, .beidou): (.beidou, number)
      case (1...10, .qzss): (.qzss, number)
      case (1...14, .navic): (.navic, number)
      case (33...64, _): (.sbas, number + 87)
      case (65...96, _): (.glonass, number - 64)
      case (101...136, .galileo): (.galileo, number - 100)
      case (120...158, _): (.sbas, number)
      case (173...182, _): (.imes, number - 172)
      case (201...263, .beidou), (203...263, nil): (.beidou, number - 200)
      case (193...202, _): (.qzss, number - 192)
      case (301...336, _): (.galileo, number - 300)
      case (401...463, _): (.beidou, number - 400)
      case _: nil
      }
    guard let (constellation, number) = found else { return nil }
    self.init(constellation, UInt8(number))
  }
}

extension GSV {
  /// A satellite of this sentence; nil if its number is undefined.
  ///
  /// - Precondition: `index` is below ``count``.
  func resolvedSatellite(_ index: Int) -> Satellite? {
    let entry = satellite(index)
    var resolved = Satellite(nmeaNumber: entry.number, of: Constellation(talker))
    resolved?.elevation_deg = entry.elevation_deg
    resolved?.azimuth_deg = entry.azimuth_deg.map { $0 == 360 ? 0 : $0 }
    // Many receivers send 0 for a satellite that is not tracked.
    resolved?.signal_dBHz = entry.signal_dBHz == 0 ? nil : entry.signal_dBHz
    return resolved
  }
}

/// Satellites that were used for a fix, from the GSA sentences of one epoch: one bit each.
struct UsedSatellites: Equatable, Sendable {
  private var bits = InlineArray<8, UInt64>(repeating: 0)

  /// Adds the satellites of a sentence; none if it reports no fix.
  mutating func insert(_ m: GSA) {
    guard m.fixMode != 1 else { return }
    let constellation =
      m.system.map { Constellation(system: $0) } ?? Constellation(m.talker)
    for i in 0..<Int(m.satellites) {
      guard
        let satellite = Satellite(nmeaNumber: m.satellite(i), of: constellation)
      else { continue }
      bits[Int(satellite.constellation.rawValue)] |= UsedSatellites.bit(satellite.number)
    }
  }

  /// Whether the set contains the satellite.
  func contains(_ satellite: Satellite) -> Bool {
    bits[Int(satellite.constellation.rawValue)] & UsedSatellites.bit(satellite.number) != 0
  }

  /// Marks the satellites of a view as used or not.
  func mark(_ view: inout SatelliteView) {
    for i in 0..<view.count { view.setUsed(contains(view[i]), at: i) }
  }

  /// SBAS has the numbers from 120 to 158, every other system those from 1 to 63.
  private static func bit(_ number: UInt8) -> UInt64 {
    let index = number >= 120 ? number - 120 : number
    return index < 64 ? 1 << UInt64(index) : 0
  }

  static func == (a: UsedSatellites, b: UsedSatellites) -> Bool {
    for i in a.bits.indices where a.bits[i] != b.bits[i] { return false }
    return true
  }
}

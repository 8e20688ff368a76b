import LocationTypes
import Testing

@Suite("Satellites in view") struct SatelliteTests {
  @Test(
    "the NMEA number is that of gpsd; numbers that NMEA does not define have none",
    arguments: [
      (Constellation.gps, 1, 1), (.gps, 32, 32), (.sbas, 120, 33), (.sbas, 151, 64),
      (.sbas, 152, 152), (.sbas, 158, 158), (.galileo, 1, 301), (.galileo, 36, 336),
      (.beidou, 1, 401), (.beidou, 63, 463), (.imes, 1, 173), (.imes, 10, 182),
      (.qzss, 1, 193), (.qzss, 10, 202), (.glonass, 1, 65), (.glonass, 32, 96),
    ] as [(Constellation, UInt8, UInt16)])
  func numbers(_ constellation: Constellation, _ number: UInt8, _ expected: UInt16) {
    #expect(Satellite(constellation, number).nmeaNumber == expected)
  }

  @Test(
    "a satellite outside these ranges has no NMEA number",
    arguments: [
      (Constellation.gps, 0), (.gps, 33), (.sbas, 119), (.sbas, 159), (.galileo, 37),
      (.beidou, 64), (.imes, 11), (.qzss, 11), (.glonass, 33), (.glonass, 255), (.navic, 1),
    ] as [(Constellation, UInt8)])
  func undefined(_ constellation: Constellation, _ number: UInt8) {
    #expect(Satellite(constellation, number).nmeaNumber == nil)
  }

  @Test("a satellite is contained once, with its strongest signal and all known values")
  func merges() {
    var view = SatelliteView(at: .boot)
    view.add(Satellite(.gps, 3, elevation_deg: 40, signal_dBHz: 31))
    view.add(Satellite(.gps, 3, isUsed: true, azimuth_deg: 100, signal_dBHz: 44))
    view.add(Satellite(.gps, 3, elevation_deg: 41, signal_dBHz: 12))
    view.add(Satellite(.glonass, 3))
    #expect(view.count == 2)
    #expect(
      view[0]
        == Satellite(
          .gps, 3, isUsed: true, elevation_deg: 40, azimuth_deg: 100, signal_dBHz: 44))
    #expect(view[1] == Satellite(.glonass, 3))
    #expect(view.usedCount == 1)
  }

  @Test("a full view drops further satellites, and unused ones for a used one")
  func capacity() {
    var view = SatelliteView()
    for number: UInt8 in 1...63 { view.add(Satellite(.beidou, number, isUsed: number != 5)) }
    view.add(Satellite(.gps, 1))
    #expect(view.count == SatelliteView.capacity)
    view.add(Satellite(.gps, 2))
    #expect(view.count == SatelliteView.capacity)
    #expect(view[63] == Satellite(.gps, 1))
    view.add(Satellite(.gps, 7, isUsed: true))
    #expect(view[4] == Satellite(.gps, 7, isUsed: true))
    view.add(Satellite(.gps, 8, isUsed: true))
    #expect(view[63] == Satellite(.gps, 8, isUsed: true))
    view.add(Satellite(.gps, 9, isUsed: true))
    #expect(view.count == SatelliteView.capacity)
    #expect(view.usedCount == SatelliteView.capacity)
  }

  @Test("views differ by time, dilutions, number and satellites; unused slots are ignored")
  func equality() {
    var view = SatelliteView(at: .boot)
    view.add(Satellite(.gps, 1))
    var other = view
    #expect(view == other)
    other.dilutions.time_e2 = 90
    #expect(view != other)
    other = view
    other.time = .boot + .seconds(1)
    #expect(view != other)
    other = view
    other.setUsed(true, at: 0)
    #expect(view != other)
    other = view
    other.add(Satellite(.gps, 2))
    #expect(view != other)
  }
}

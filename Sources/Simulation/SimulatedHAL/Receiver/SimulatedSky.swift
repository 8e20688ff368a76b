import GNSSProtocols
import LocationTypes

/// Satellites in view of the simulated receiver: they keep their elevation and cross the sky in a day.
///
/// No orbits are computed: clients only need numbers, directions and signals that change with time.
struct SimulatedSky: Sendable {
  let view: SatelliteView
  let timeOfWeek_ms: UInt32

  /// System, number, elevation, azimuth at 0:00 UTC, signal.
  private static let satellites: [(Constellation, UInt8, Int8, Int64, UInt8)] = [
    (.gps, 2, 71, 285, 46), (.gps, 5, 33, 61, 41), (.gps, 12, 18, 204, 36), (.gps, 15, 47, 141, 43),
    (.gps, 21, 9, 331, 27), (.gps, 25, 62, 28, 45), (.gps, 29, 24, 97, 38), (.gps, 31, 4, 250, 0),
    (.sbas, 123, 31, 162, 37), (.galileo, 3, 55, 190, 42), (.galileo, 8, 14, 310, 31),
    (.galileo, 26, 39, 75, 39), (.glonass, 1, 44, 230, 40), (.glonass, 8, 21, 18, 34),
    (.glonass, 9, 7, 348, 22), (.glonass, 17, 66, 120, 44), (.beidou, 11, 28, 45, 35),
  ]
  /// Elevation below which satellites are not used, degrees.
  private static let elevationMask: Int8 = 10

  /// Creates the view at the time of an epoch; without a fix, no satellite is used.
  init(_ solution: UBXSolution, at time: Instant) {
    var view = SatelliteView(at: time)
    let hasFix = solution.fixType >= 2 && solution.isFixOK
    let turn = (solution.utc?.microsecondsOfDay ?? 0) / 240_000_000
    for (constellation, number, elevation, azimuth, signal) in SimulatedSky.satellites {
      let isUsed = hasFix && elevation > SimulatedSky.elevationMask && constellation != .sbas
      view.add(
        Satellite(
          constellation, number, isUsed: isUsed, elevation_deg: elevation,
          azimuth_deg: UInt16((azimuth + turn) % 360), signal_dBHz: signal == 0 ? nil : signal))
    }
    if hasFix {
      view.dilutions.east_e2 = 61
      view.dilutions.north_e2 = 66
      view.dilutions.geometric_e2 = 180
      view.dilutions.position_e2 = 150
      view.dilutions.horizontal_e2 = 90
      view.dilutions.vertical_e2 = 120
      view.dilutions.time_e2 = 100
    }
    self.view = view
    timeOfWeek_ms = solution.timeOfWeek_ms ?? 0
  }

  // MARK: Sentences

  /// Systems in the order of the sentences: those of their satellites, talker, and system identifier of NMEA 4.1.
  private static let systems: [([Constellation], Talker, UInt8)] = [
    ([.gps, .sbas], .gps, 1), ([.glonass], Talker(UInt8(ascii: "G"), UInt8(ascii: "L")), 2),
    ([.galileo], Talker(UInt8(ascii: "G"), UInt8(ascii: "A")), 3),
    ([.beidou], Talker(UInt8(ascii: "G"), UInt8(ascii: "B")), 4),
  ]

  /// The satellites of some systems.
  private func satellites(of systems: [Constellation]) -> [Satellite] {
    (0..<view.count).map { view[$0] }.filter { systems.contains($0.constellation) }
  }

  /// Number in sentences of a system's own talker: not extended.
  private static func number(_ satellite: Satellite) -> UInt16 {
    switch satellite.constellation {
    case .galileo, .beidou: UInt16(satellite.number)
    case .gps, .sbas, .imes, .qzss, .glonass, .navic: satellite.nmeaNumber ?? 0
    }
  }

  /// Appends a GSA for each system, with the values of `common`.
  func appendGSA(to frame: inout FrameBuffer, _ common: GSA) {
    for (constellations, _, system) in SimulatedSky.systems {
      var sentence = GSA(fixMode: common.fixMode)
      sentence.positionDOP_e2 = common.positionDOP_e2
      sentence.horizontalDOP_e2 = common.horizontalDOP_e2
      sentence.verticalDOP_e2 = common.verticalDOP_e2
      sentence.system = system
      for satellite in satellites(of: constellations) where satellite.isUsed {
        sentence.append(SimulatedSky.number(satellite))
      }
      frame.append(sentence)
    }
  }

  /// Appends the GSV of all systems.
  func appendGSV(to frame: inout FrameBuffer) {
    for (constellations, talker, _) in SimulatedSky.systems {
      let all = satellites(of: constellations)
      let pages = (all.count + 3) / 4
      for page in 0..<pages {
        var sentence = GSV(
          talker: talker, sentences: UInt8(pages), number: UInt8(page + 1),
          inView: UInt8(all.count))
        for satellite in all[(page * 4)..<min(page * 4 + 4, all.count)] {
          sentence.append(
            SatelliteInView(
              number: SimulatedSky.number(satellite), elevation_deg: satellite.elevation_deg,
              azimuth_deg: satellite.azimuth_deg, signal_dBHz: satellite.signal_dBHz))
        }
        frame.append(sentence)
      }
    }
  }
}

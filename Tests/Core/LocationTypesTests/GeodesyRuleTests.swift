import Testing

@testable import LocationTypes

@Suite("Geodesics and frames, branch by branch") struct GeodesyRuleTests {
  @Test("LOC-6: the solved length of a short line equals its given length within 20 nm")
  func short() {
    for latitude in [-89.9, -45, -0.001, 0, 12, 60, 80] {
      for bearing in [0.0, 1, 45, 89.999, 90, 170, 251] {
        for distance in [0.05, 0.2, 0.25, 30, 1_000, 10_000, 22_000, 90_000] {
          let end = GeodesicEnd(
            latitude: latitude, azimuth: Angle(degrees: bearing), distance: distance)
          let line = GeodesicSolution(
            latitude1: latitude, latitude2: end.latitude, longitude: end.longitude)
          #expect(abs(line.length - distance) < 2e-8, "\(latitude) \(bearing) \(distance)")
        }
      }
    }
  }

  @Test("LOC-7: longitudes beyond ±360° are wrapped")
  func wrapped() {
    func at(_ longitude: Int64) -> Coordinate {
      Coordinate(latitude_e9: 10_000_000_000, longitude_e9: longitude * 1_000_000_000)
    }
    let expected = at(-10).distance(to: at(10))
    for (west, east) in [(350, -350), (-350, 350), (710, -710), (-10, 370)] as [(Int64, Int64)] {
      #expect(at(west).distance(to: at(east)) == expected, "\(west) \(east)")
    }
  }

  @Test("a velocity is resolved into its components north, east and up")
  func components() {
    let position = Coordinate(latitude_e9: 30_000_000_000, longitude_e9: 0)
    let root = 0.75.squareRoot()
    for (v, north, east, up) in [
      (ECEF(x: 1, y: 0, z: 0), -0.5, 0, root), (ECEF(x: 0, y: 1, z: 0), 0, 1, 0),
      (ECEF(x: 0, y: 0, z: 1), root, 0, 0.5),
    ] as [(ECEF, Double, Double, Double)] {
      let found = v.localVelocity(at: position)
      #expect(abs(found.north - north) < 1e-12 && abs(found.east - east) < 1e-12)
      #expect(abs(found.up - up) < 1e-12)
    }
  }

  @Test("a pole has longitude 0, also for a negative zero")
  func pole() {
    let position = ECEF(x: -0.0, y: 0, z: 6_400_000).geodetic?.coordinate
    #expect(position == Coordinate(latitude_e9: 90_000_000_000, longitude_e9: 0))
  }
}

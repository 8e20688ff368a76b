import LocationTypes
import Testing

@Suite("ECEF") struct ECEFTests {
  @Test("equator, pole and a position computed by gpsd are converted to coordinates")
  func known() {
    let equator = ECEF(x: 6_378_137, y: 0, z: 0).geodetic
    #expect(equator?.coordinate == Coordinate(latitude_e9: 0, longitude_e9: 0))
    #expect(abs(equator?.height ?? 1) < 1e-6)
    let pole = ECEF(x: 0, y: 0, z: -6_356_752.314_245).geodetic
    #expect(pole?.coordinate == Coordinate(latitude_e9: -90_000_000_000, longitude_e9: 0))
    #expect(abs(pole?.height ?? 1) < 1e-5)
    let edmonton = ECEF(x: -1_510_299.52, y: -3_483_497.94, z: 5_108_533.23).geodetic
    #expect(abs((edmonton?.coordinate.latitude ?? 0) - 53.563_256_267) < 1e-9)
    #expect(abs((edmonton?.coordinate.longitude ?? 0) + 113.439_544_853) < 1e-9)
    #expect(abs((edmonton?.height ?? 0) - 635.458_7) < 1e-4)
  }

  @Test("a round trip is exact to 1 mm, from 1,000 km below to 50,000 km above the ellipsoid")
  func roundTrip() throws {
    for height in [-1_000_000.0, -11_000, 0, 8_848, 400_000, 20_200_000, 50_000_000] {
      var latitude: Int64 = -90_000_000_000
      while latitude <= 90_000_000_000 {
        for longitude in [-180_000_000_000, -113_439_544_853, 0, 1, 90_000_000_000] as [Int64] {
          let position = Coordinate(latitude_e9: latitude, longitude_e9: longitude)
          let ecef = ECEF(position, height: height)
          let back = try #require(ecef.geodetic)
          let again = ECEF(back.coordinate, height: back.height)
          let (x, y, z) = (ecef.x - again.x, ecef.y - again.y, ecef.z - again.z)
          #expect((x * x + y * y + z * z).squareRoot() < 1e-3, "\(position) \(height)")
          #expect(abs(back.height - height) < 1e-4)
        }
        latitude += 1_234_567_891
      }
    }
  }

  @Test("a position near the centre or beyond all orbits has no coordinate, without a trap")
  func bounds() {
    #expect(ECEF(x: 0, y: 0, z: 0).geodetic == nil)
    #expect(ECEF(x: 999_999, y: 0, z: 0).geodetic == nil)
    #expect(ECEF(x: 2e8, y: 0, z: 0).geodetic == nil)
    #expect(ECEF(x: .nan, y: 0, z: 0).geodetic == nil)
    #expect(ECEF(x: .infinity, y: 0, z: 0).geodetic == nil)
  }

  @Test("a velocity is resolved into north, east, up and course")
  func velocities() {
    let position = Coordinate(latitude_e9: 0, longitude_e9: 90_000_000_000)
    let local = ECEF(x: -3, y: 5, z: 4).localVelocity(at: position)
    #expect(abs(local.north - 4) < 1e-9 && abs(local.east - 3) < 1e-9 && abs(local.up - 5) < 1e-9)
    #expect(abs(ECEF.course(north: 4, east: 3) - 36.869_897_645_8) < 1e-9)
    #expect(ECEF.course(north: 0, east: -1) == 270 && ECEF.course(north: -1, east: 0) == 180)
    #expect(ECEF.course(north: 0, east: 0) == 0 && ECEF.course(north: 1, east: -1e-300) < 360)
  }
}

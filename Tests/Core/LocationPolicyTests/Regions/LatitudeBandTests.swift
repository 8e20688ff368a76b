import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite("Distances measured without trigonometry") struct LatitudeBandTests {
  @Test("REG-16: a latitude band never shortens a distance and contains its whole circle")
  func band() throws {
    var random = SplitMix64(seed: 3)
    for _ in 0..<3_000 {
      let latitudes: [Double] = [
        Double.random(in: -90...90, using: &random), 0.0001, 89.99, -90, 70,
      ]
      let latitude = latitudes.randomElement(using: &random) ?? 0
      let origin = try #require(
        Coordinate(
          latitude: latitude, longitude: Double.random(in: -180...180, using: &random)))
      let widths: [Double] = [0, 10, 4_000, 300_000]
      let metres = widths.randomElement(using: &random) ?? 0
      let band = LatitudeBand(Circle(center: origin, radius: metres).boundingBox)
      let positions = (0..<2).map { _ in
        origin.destination(
          bearing: Double.random(in: 0...360, using: &random),
          distance: metres * Double.random(in: 0...0.999, using: &random))
      }
      #expect(band.contains(origin) && positions.allSatisfy { band.contains($0) })
      #expect(band.contains(origin, metres: metres * 0.999))
      let measured = band.squaredDistance(from: positions[0], to: positions[1]).squareRoot()
      #expect(measured > positions[0].distance(to: positions[1]) - 1e-3)
    }
    #expect(!LatitudeBand().contains(equator))
  }
}

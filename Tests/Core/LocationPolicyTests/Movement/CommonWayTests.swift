import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite("Ways that are measured without trigonometry") struct CommonWayTests {
  /// The equator, towns, the antimeridian, both poles.
  static let places = [
    (0.0, 0.0), (0.01, 180), (48.1, 11.6), (-33.9, -179.999), (54.9, 25), (69.9, 19), (-84, 50),
    (89.9999, 20), (-90, 0),
  ]

  @Test(
    "REG-16: the common way is never shorter than the distance of two of its places, anywhere on the globe",
    arguments: places, 0..<4 as Range<UInt64>)
  func length(_ place: (Double, Double), _ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var here = try #require(Coordinate(latitude: place.0, longitude: place.1))
    var way = Odometer()
    var places: [(Coordinate, Double)] = []
    var (exact, jumps) = (0.0, 0.0)
    for _ in 0..<300 {
      let isJump = Int.random(in: 0..<40, using: &random) == 0
      let usual: [Double] = [0, 3, 30, 300]
      let step = isJump ? 2_000_000 : usual.randomElement(using: &random) ?? 0
      let there = here.destination(
        bearing: Double.random(in: 0...360, using: &random),
        distance: Double.random(in: 0...step, using: &random))
      exact += here.distance(to: there)
      if isJump { jumps += 1 }
      here = there
      way.advance(to: here)
      places.append((here, way.length))
    }
    for _ in 0..<2_000 {
      let (a, b) = (
        Int.random(in: 0..<300, using: &random), Int.random(in: 0..<300, using: &random)
      )
      let length = abs(places[a].1 - places[b].1)
      // 1 mm is what the exact distance may be wrong by.
      #expect(length > places[a].0.distance(to: places[b].0) - 1e-3)
    }
    let lengthened = way.length / exact
    #expect(lengthened < 1.03, "nor much longer than it is")
    if abs(place.0) < 55 && jumps == 0 { #expect(lengthened < 1.003) }
  }

  @Test("REG-16: a band takes no way for shorter than it is, and holds what it was laid for")
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
      let band = LatitudeBand(around: origin, metres: metres)
      let places = (0..<2).map { _ in
        origin.destination(
          bearing: Double.random(in: 0...360, using: &random),
          distance: metres * Double.random(in: 0...0.999, using: &random))
      }
      #expect(band.contains(origin) && places.allSatisfy { band.contains($0) })
      #expect(band.contains(origin, metres: metres * 0.999))
      let measured = band.squaredDistance(from: places[0], to: places[1]).squareRoot()
      #expect(measured > places[0].distance(to: places[1]) - 1e-3)
    }
    #expect(!LatitudeBand().contains(equator))
  }
}

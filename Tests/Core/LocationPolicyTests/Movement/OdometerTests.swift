import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite("Distances measured without trigonometry") struct OdometerTests {
  /// The equator, towns, the antimeridian, both poles.
  static let positions = [
    (0.0, 0.0), (0.01, 180), (48.1, 11.6), (-33.9, -179.999), (54.9, 25), (69.9, 19), (-84, 50),
    (89.9999, 20), (-90, 0),
  ]

  @Test(
    "REG-16: the odometer never advances less than the distance of two positions, anywhere",
    arguments: positions, 0..<4 as Range<UInt64>)
  func length(_ position: (Double, Double), _ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var current = try #require(Coordinate(latitude: position.0, longitude: position.1))
    var odometer = Odometer()
    var positions: [(Coordinate, Double)] = []
    var (exact, jumps) = (0.0, 0.0)
    for _ in 0..<300 {
      let isJump = Int.random(in: 0..<40, using: &random) == 0
      let usual: [Double] = [0, 3, 30, 300]
      let step = isJump ? 2_000_000 : usual.randomElement(using: &random) ?? 0
      let next = current.destination(
        bearing: Double.random(in: 0...360, using: &random),
        distance: Double.random(in: 0...step, using: &random))
      exact += current.distance(to: next)
      if isJump { jumps += 1 }
      current = next
      odometer.advance(to: current)
      positions.append((current, odometer.length))
    }
    for _ in 0..<2_000 {
      let (a, b) = (
        Int.random(in: 0..<300, using: &random), Int.random(in: 0..<300, using: &random)
      )
      let length = abs(positions[a].1 - positions[b].1)
      // The exact distance has an error of up to 1 mm.
      #expect(length > positions[a].0.distance(to: positions[b].0) - 1e-3)
    }
    let lengthened = odometer.length / exact
    #expect(lengthened < 1.03, "not much longer than the exact path")
    if abs(position.0) < 55 && jumps == 0 { #expect(lengthened < 1.003) }
  }

  @Test("REG-16: a path of many short steps is measured at most 0.2 % too long")
  func shortSteps() {
    var odometer = Odometer()
    for step in 0...2_000 { odometer.advance(to: equator.moved(east: 0, north: Double(step))) }
    // Besides, 5 cm for each distance measured outside a band of latitudes.
    #expect(odometer.length >= 2_000 && odometer.length < 2_004.5)
  }

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
      let band = LatitudeBand(around: origin, metres: metres)
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

import Foundation
import LocationTypes
import TestSupport
import Testing

/// Vincenty's inverse formula (Survey Review 23, 1975): the length of the geodesic, metres; NaN where
/// it does not converge.
func vincenty(_ p: Coordinate, _ q: Coordinate) -> Double {
  let a = 6_378_137.0
  let f = 1 / 298.257223563
  let b = a * (1 - f)
  let radian = Double.pi / 180
  let difference = (q.longitude - p.longitude) * radian
  let u1 = atan((1 - f) * tan(p.latitude * radian))
  let u2 = atan((1 - f) * tan(q.latitude * radian))
  var lambda = difference
  for _ in 0..<200 {
    let sinSigma =
      (pow(cos(u2) * sin(lambda), 2)
      + pow(cos(u1) * sin(u2) - sin(u1) * cos(u2) * cos(lambda), 2)).squareRoot()
    if sinSigma == 0 { return 0 }
    let cosSigma = sin(u1) * sin(u2) + cos(u1) * cos(u2) * cos(lambda)
    let sigma = atan2(sinSigma, cosSigma)
    let sinAlpha = cos(u1) * cos(u2) * sin(lambda) / sinSigma
    let cos2Alpha = 1 - sinAlpha * sinAlpha
    let cos2Middle = cos2Alpha == 0 ? 0 : cosSigma - 2 * sin(u1) * sin(u2) / cos2Alpha
    let c = f / 16 * cos2Alpha * (4 + f * (4 - 3 * cos2Alpha))
    let before = lambda
    lambda =
      difference + (1 - c) * f * sinAlpha
      * (sigma + c * sinSigma * (cos2Middle + c * cosSigma * (2 * cos2Middle * cos2Middle - 1)))
    guard abs(lambda - before) < 1e-14 else { continue }
    let w = cos2Alpha * (a * a - b * b) / (b * b)
    let k1 = 1 + w / 16384 * (4096 + w * (-768 + w * (320 - 175 * w)))
    let k2 = w / 1024 * (256 + w * (-128 + w * (74 - 47 * w)))
    let part =
      cosSigma * (2 * cos2Middle * cos2Middle - 1)
      - k2 / 6 * cos2Middle * (4 * sinSigma * sinSigma - 3) * (4 * cos2Middle * cos2Middle - 3)
    return b * k1 * (sigma - k2 * sinSigma * (cos2Middle + k2 / 4 * part))
  }
  return .nan
}

/// A coordinate from valid degrees.
func point(_ latitude: Double, _ longitude: Double) -> Coordinate {
  Coordinate(
    latitude_e9: Int64((latitude * 1e9).rounded()), longitude_e9: Int64((longitude * 1e9).rounded())
  )
}

@Suite("Distances on the tangent plane of the ellipsoid")
struct GeodesyTests {
  static let latitudes = [-70.0, -51.5, -33.9, -0.001, 0, 1, 23.4, 45, 60, 70]

  @Test("Vincenty's formula gives the published length (Flinders Peak to Buninyong)")
  func reference() {
    let flinders = point(-(37 + 57 / 60.0 + 3.72030 / 3600), 144 + 25 / 60.0 + 29.52440 / 3600)
    let buninyong = point(-(37 + 39 / 60.0 + 10.15610 / 3600), 143 + 55 / 60.0 + 35.38390 / 3600)
    // Geoscience Australia gives it on GRS 80, which differs by less than 0.1 mm here.
    #expect(abs(vincenty(flinders, buninyong) - 54_972.271) < 0.001)
  }

  @Test("LOC-6: Vincenty's formula agrees with the geodesic where it converges")
  func vincentyAgrees() {
    var random = SplitMix64(seed: 1975)
    for _ in 0..<2_000 {
      let (a, b) = (random.anywhere(), random.anywhere())
      let other = vincenty(a, b)
      // Near antipodes the formula does not converge, which is why the product does not use it.
      guard other.isFinite else { continue }
      #expect(abs(a.distance(to: b) - other) < 0.000_2, "\(a) \(b)")
    }
    #expect(vincenty(point(0, 0), point(0.5, 179.7)).isNaN)
    let flinders = point(-(37 + 57 / 60.0 + 3.72030 / 3600), 144 + 25 / 60.0 + 29.52440 / 3600)
    let buninyong = point(-(37 + 39 / 60.0 + 10.15610 / 3600), 143 + 55 / 60.0 + 35.38390 / 3600)
    #expect(abs(flinders.distance(to: buninyong) - 54_972.271) < 0.001)
  }

  /// Error of the local form as a share of its documented bound d³ / 20 r²; r is the distance from
  /// the axis of the end nearer to a pole.
  static func share(_ start: Coordinate, _ end: Coordinate) -> Double {
    let distance = start.distance(to: end)
    let latitude = max(abs(start.latitude), abs(end.latitude))
    let radius = 6_357_000 * cos(latitude * .pi / 180)
    let allowed = distance * distance * distance / (20 * radius * radius)
    // Positions are stored to 1e-9° and converted to metres in `Double`.
    return abs(start.localDistance(to: end) - distance) / (allowed + 2e-8)
  }

  @Test("LOC-6: the error of the local form is within its documented bound, over a grid")
  func localErrorOnGrid() {
    var worst = 0.0
    for latitude in Self.latitudes + [-89, -85, -80, 75, 82, 88] {
      let start = point(latitude, 8.5)
      let reach = 6_357_000 * cos(latitude * .pi / 180) / 10
      for bearing in stride(from: 0.0, to: 360, by: 7.5) {
        for length in [0.001, 0.1, 1, 12, 400, 3_000, 10_000, 50_000, 100_000, 500_000] {
          guard length <= reach else { continue }
          let end = start.destination(bearing: bearing, distance: length)
          let share = Self.share(start, end)
          #expect(share <= 1, "\(length) m to \(bearing)° from \(latitude)°: \(share)")
          worst = max(worst, share)
        }
      }
    }
    #expect(worst > 0.9, "the documented bound is too large: \(worst)")
  }

  @Test("LOC-6: up to |70°|, the local error is within 1e-6 to 10 km and 1e-4 to 100 km")
  func localErrorInNumbers() {
    var random = SplitMix64(seed: 70)
    var worst = (near: 0.0, far: 0.0)
    for _ in 0..<20_000 {
      let start = random.anywhere()
      let bearing = Double.random(in: 0..<360, using: &random)
      let (near, far) = (
        start.destination(
          bearing: bearing, distance: Double.random(in: 1...10_000, using: &random)),
        start.destination(
          bearing: bearing, distance: Double.random(in: 10_000...100_000, using: &random))
      )
      for (end, limit) in [(near, 1e-6), (far, 1e-4)] {
        guard abs(start.latitude) <= 70, abs(end.latitude) <= 70 else { continue }
        let distance = start.distance(to: end)
        let error = abs(start.localDistance(to: end) - distance)
        #expect(error <= distance * limit + 1e-8, "\(start) \(end)")
        if limit == 1e-6 {
          worst.near = max(worst.near, error / distance)
        } else {
          worst.far = max(worst.far, error / distance)
        }
        #expect(Self.share(start, end) <= 1)
      }
    }
    #expect(worst.near > 5e-7 && worst.far > 5e-5, "\(worst)")
  }

  @Test("LOC-6: the local offset agrees with the geodesic's bearing and length")
  func localOffset() {
    for latitude in Self.latitudes {
      let start = point(latitude, 179.99)
      for bearing in stride(from: 0.0, to: 360, by: 15) {
        let end = start.destination(bearing: bearing, distance: 2_000)
        let offset = start.localOffset(to: end)
        // The plane touches midway: its north is the mean of the norths of both ends.
        let line = Geodesic(from: start, to: end)
        let turn = (line.finalBearing - line.initialBearing).remainder(dividingBy: 360)
        let middle = (line.initialBearing + turn / 2) * .pi / 180
        #expect(abs(offset.east - line.length * sin(middle)) < 2e-4)
        #expect(abs(offset.north - line.length * cos(middle)) < 2e-4)
      }
    }
  }

  @Test("LOC-6: distances are symmetric, and 0 for equal positions")
  func symmetric() {
    for latitude in Self.latitudes {
      let (a, b) = (point(latitude, 179.99), point(latitude + 0.01, -179.98))
      #expect(a.localDistance(to: b) == b.localDistance(to: a))
      #expect(a.localDistance(to: a) == 0)
      let (forth, back) = (a.localOffset(to: b), b.localOffset(to: a))
      #expect(forth.east == -back.east)
      #expect(forth.north == -back.north)
    }
  }

  @Test("LOC-7: distances across the antimeridian are correct")
  func antimeridian() {
    let (west, east) = (point(10, 179.999), point(10, -179.999))
    #expect(abs(west.localDistance(to: east) - point(10, 0).distance(to: point(10, 0.002))) < 1e-4)
    #expect(west.localOffset(to: east).east > 0)
    #expect(east.localOffset(to: west).east < 0)
    let exactly = (point(0, 180), point(0, -180))
    #expect(exactly.0.localDistance(to: exactly.1) == 0)
    // At 180° both directions are equally long: no wrap, no NaN.
    #expect(point(0, 0).localOffset(to: point(0, 180)).east > 2e7)
    #expect(point(0, 0).localOffset(to: point(0, -180)).east < -2e7)
  }

  @Test("LOC-7: poles and antipodes give finite distances")
  func extremes() {
    let positions = [
      point(90, 0), point(90, 180), point(-90, -180), point(-90, 77), point(0, 180), point(0, -180),
      point(89.999_999_999, -180), point(0, 0), point(1e-9, -180),
    ]
    for a in positions {
      for b in positions {
        let distance = a.localDistance(to: b)
        #expect(distance.isFinite)
        #expect(distance >= 0)
      }
      for (east, north) in [(1e5, 1e5), (-1e5, -1e5), (0, 1e5), (1e5, 0), (0, 0)] {
        #expect(a.moved(east: east, north: north).isValid)
      }
    }
    #expect(point(90, 10).localDistance(to: point(90, -100)) < 1e-6)
  }

  @Test("a moved position has the given local offset")
  func movedRoundTrip() {
    for latitude in Self.latitudes + [-85, 85] {
      for longitude in [0.0, -179.999_5, 179.999_5, 8.5] {
        let start = point(latitude, longitude)
        for (east, north) in [
          (0.0, 0.0), (1, 0), (0, 1), (-3, 4), (250, -800), (9_000, 9_000), (-60_000, 60_000),
        ] {
          let end = start.moved(east: east, north: north)
          let offset = start.localOffset(to: end)
          let length = (east * east + north * north).squareRoot()
          // At 60 km the mean radius of `moved` is approximate; below 10 km it is exact enough.
          let allowed = 2e-4 + length * (length > 10_000 ? 1e-5 : 1e-7)
          #expect(abs(offset.east - east) < allowed, "\(latitude): \(offset.east - east)")
          #expect(abs(offset.north - north) < allowed, "\(latitude): \(offset.north - north)")
          #expect(end.isValid)
        }
      }
    }
  }

  @Test("LOC-7: moving stops at a pole and wraps at the antimeridian")
  func movedAtEdges() {
    #expect(point(90, 0).moved(east: 0, north: 10).latitude_e9 == 90_000_000_000)
    #expect(point(-90, 0).moved(east: 0, north: -10).latitude_e9 == -90_000_000_000)
    #expect(point(89.9999, 0).moved(east: 0, north: 1_000).latitude_e9 == 90_000_000_000)
    #expect(point(-89.9999, 0).moved(east: 0, north: -1_000).latitude_e9 == -90_000_000_000)
    #expect(point(90, 12).moved(east: 50, north: 0) == point(90, 12))
    #expect(point(0, 179.999).moved(east: 1_000, north: 0).longitude < -179)
    #expect(point(0, -179.999).moved(east: -1_000, north: 0).longitude > 179)
    #expect(point(0, 180).moved(east: 0, north: 0).longitude_e9 == 180_000_000_000)
  }
}

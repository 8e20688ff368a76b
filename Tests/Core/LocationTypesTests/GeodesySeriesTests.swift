import Foundation
import Testing

@testable import LocationTypes

/// ∫ f from `a` to `b` by Gauss–Legendre quadrature, five points on 60 panels: exact to rounding.
func integral(from a: Double, to b: Double, _ f: (Double) -> Double) -> Double {
  let nodes = [-0.906_179_845_938_664, -0.538_469_310_105_683_1, 0]
  let weights = [0.236_926_885_056_189_1, 0.478_628_670_499_366_5, 0.568_888_888_888_888_9]
  let half = (b - a) / 120
  var sum = 0.0
  for panel in 0..<60 {
    let middle = a + Double(2 * panel + 1) * half
    sum += weights[2] * f(middle)
    for (node, weight) in zip(nodes, weights).prefix(2) {
      sum += weight * (f(middle + node * half) + f(middle - node * half))
    }
  }
  return sum * half
}

/// Compares the series with their integrals at large parameters, where the truncation error is
/// visible: it must shrink as fast as the order of the series, which a wrong coefficient prevents.
@Suite("Series along a geodesic")
struct GeodesySeriesTests {
  static let arcs = stride(from: 0.15, to: 3.1, by: 0.17)

  /// √(1 + k²) for ε.
  static func root(_ e: Double) -> Double { (1 + e) / (1 - e) }

  /// The worst error over arcs from σ = 0.
  static func error(of series: GeodesicSeries, _ integrand: (Double) -> Double) -> Double {
    arcs.map { sigma in
      let sum = series.integral(
        from: Angle(radians: 0), to: Angle(radians: sigma), arc: sigma)
      return abs(sum - integral(from: 0, to: sigma, integrand))
    }.max()!
  }

  /// Ratio of `error` at 0.1 to `error` at 0.05.
  static func gain(_ error: (Double) -> Double) -> Double { error(0.1) / error(0.05) }

  @Test("the distance is complete to the sixth order: I1")
  func distance() {
    let gain = Self.gain { e in
      let k2 = Self.root(e) * Self.root(e) - 1
      return Self.error(of: .distance(e)) { (1 + k2 * sin($0) * sin($0)).squareRoot() }
    }
    #expect(gain > 110 && gain < 150, "\(gain), 2⁷ is 128")
  }

  @Test("the reduced length is complete to the sixth order: I2")
  func reducedLength() {
    let gain = Self.gain { e in
      let k2 = Self.root(e) * Self.root(e) - 1
      return Self.error(of: .reducedLength(e)) { 1 / (1 + k2 * sin($0) * sin($0)).squareRoot() }
    }
    #expect(gain > 110 && gain < 150, "\(gain), 2⁷ is 128")
  }

  @Test("the inverse series from distance to arc is complete to the sixth order")
  func arc() {
    let gain = Self.gain { e in
      Self.arcs.map { sigma in
        let tau = sigma + GeodesicSeries.distance(e).sines.sum(at: Angle(radians: sigma))
        return abs(tau + GeodesicSeries.arc(e).sum(at: Angle(radians: tau)) - sigma)
      }.max()!
    }
    #expect(gain > 110 && gain < 150, "\(gain), 2⁷ is 128")
  }

  @Test("longitude is complete to the fifth order in ε and n: I3", arguments: [0.3, 1, -0.6])
  func longitude(_ ratio: Double) {
    let gain = Self.gain { e in
      let n = ratio * e
      let f = 2 * n / (1 + n)
      let k2 = Self.root(e) * Self.root(e) - 1
      return Self.error(of: .longitude(e, n)) {
        (2 - f) / (1 + (1 - f) * (1 + k2 * sin($0) * sin($0)).squareRoot())
      }
    }
    #expect(gain > 52 && gain < 75, "\(gain), 2⁶ is 64")
  }

  @Test("on WGS 84 every series equals its integral within rounding")
  func rounding() {
    let f = WGS84.flattening
    for inclination in stride(from: 0.0, through: 1, by: 0.1) {
      let k2 = WGS84.secondEccentricitySquared * inclination
      let e = geodesicParameter(k2)
      let w = { (1 + k2 * sin($0) * sin($0)).squareRoot() }
      #expect(Self.error(of: .distance(e), w) < 1e-14)
      #expect(Self.error(of: .reducedLength(e)) { 1 / w($0) } < 1e-14)
      let lag = Self.error(of: .longitude(e, WGS84.thirdFlattening)) {
        (2 - f) / (1 + (1 - f) * w($0))
      }
      #expect(lag < 1e-14)
    }
  }

  @Test("the sum of six sines equals the direct sum")
  func sines() {
    let c = [0.3, -0.2, 0.17, 0.11, -0.05, 0.7]
    let series = SineSeries(c1: c[0], c2: c[1], c3: c[2], c4: c[3], c5: c[4], c6: c[5])
    for sigma in stride(from: -3.0, through: 3, by: 0.37) {
      let plain = c.enumerated().reduce(0) {
        $0 + $1.element * sin(2 * Double($1.offset + 1) * sigma)
      }
      #expect(abs(series.sum(at: Angle(radians: sigma)) - plain) < 1e-14)
    }
  }

  @Test("the constants are those of WGS 84 and consistent with a and 1/f")
  func constants() {
    let (a, f) = (6_378_137.0, 1 / 298.257223563)
    #expect(WGS84.semiMajorAxis == a)
    #expect(WGS84.flattening == f)
    #expect(abs(WGS84.semiMinorAxis - a * (1 - f)) < 1e-9)
    #expect(abs(WGS84.axisRatio - (1 - f)) < 2e-16)
    #expect(abs(WGS84.eccentricitySquared - f * (2 - f)) < 2e-18)
    #expect(abs(WGS84.secondEccentricitySquared - f * (2 - f) / ((1 - f) * (1 - f))) < 3e-18)
    #expect(abs(WGS84.thirdFlattening - f / (2 - f)) < 5e-19)
    #expect(abs(WGS84.radiansPerUnit * 180e9 - .pi) < 1e-15)
    #expect(Angle.radiansPerDegree == .pi / 180)
    #expect(Angle.degreesPerRadian == 180 / .pi)
  }

  @Test("an angle in degrees is exact at quarter turns and converts back to a bearing")
  func angles() {
    for quarter in -4...4 {
      let angle = Angle(degrees: 90 * Double(quarter))
      let sine = [0.0, 1, 0, -1][quarter & 3]
      let cosine = [1.0, 0, -1, 0][quarter & 3]
      #expect(angle == Angle(sine: sine, cosine: cosine))
    }
    for degrees in stride(from: -359.9, to: 360, by: 7.3) {
      let angle = Angle(degrees: degrees)
      #expect(abs(angle.sine - sin(degrees * .pi / 180)) < 2e-15)
      #expect(abs(angle.cosine - cos(degrees * .pi / 180)) < 2e-15)
      let bearing = degrees < 0 ? degrees + 360 : degrees
      #expect(abs(angle.bearing - bearing) < 1e-13)
      #expect(abs(angle.versine - (1 - cos(degrees * .pi / 180))) < 2e-15)
      #expect(abs(angle.vercosine - (1 + cos(degrees * .pi / 180))) < 2e-15)
    }
    // Angles near 0° and near 180° keep their digits.
    #expect(Angle(radians: 1e-9).versine == 0.5e-18)
    #expect(abs(Angle(degrees: 180 - 0x1p-30).vercosine / 1.321_067_473e-22 - 1) < 1e-6)
  }

  @Test("LOC-3: a bearing is from 0 to below 360, also just west of north")
  func bearings() {
    #expect(Angle(sine: -1e-20, cosine: 1).bearing == 0)
    #expect(Angle(sine: -0.0, cosine: 1).bearing == 0)
    #expect(Angle(sine: 0, cosine: 1).bearing == 0)
    #expect(Angle(sine: 0, cosine: -1).bearing == 180)
    #expect(Angle(sine: -0.0, cosine: -1).bearing == 180)
    #expect(Angle(sine: -1, cosine: 0).bearing == 270)
  }

  @Test("the quartic for antipodes is solved on both sides of the astroid")
  func astroid() {
    for x in [-3.0, -1.2, -1, -0.999_999, -0.7, -0.2, -1e-6, 0] {
      for y in [-2.0, -1, -0.4, -0.05, -1e-3, -1e-7] {
        let k = astroidRoot(x, y)
        #expect(k > 0)
        // The quartic divided by κ²: the point is on the unit circle.
        let (u, v) = (x / (1 + k), y / k)
        #expect(abs(u * u + v * v - 1) < 1e-8, "\(x) \(y): \(k)")
      }
    }
  }
}

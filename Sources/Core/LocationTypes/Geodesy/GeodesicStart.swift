import CCore

/// Starting point of the solver.
enum GeodesicStart {
  /// A solution: the points are so close that the spherical solution is exact to rounding.
  case short(GeodesicSolution)
  /// Approximation of the azimuth α1.
  case azimuth(Angle)
}

extension GeodesicProblem {
  /// Arc length in radians (0.23 m) below which the spherical solution is used without iteration.
  ///
  /// The relative error of the spherical azimuth is σ² f / 2, which is 0.01 units of rounding at this length
  /// (Karney, GeographicLib 1.25, notes on short lines).
  static let shortArc = 3.6e-8

  /// A first azimuth: that of the great circle, or near the antipodes, where it is useless, that of the astroid.
  /// For points less than ``shortArc`` apart, the solution.
  func start() -> GeodesicStart {
    let (b1, b2) = (first.beta, second.beta)
    // β2 − β1 and β2 + β1.
    let difference = b2.sine * b1.cosine - b2.cosine * b1.sine
    let sum = b2.sine * b1.cosine + b2.cosine * b1.sine
    let isNear =
      b2.cosine * b1.cosine + b2.sine * b1.sine >= 0 && difference < 0.5
      && b2.cosine * longitude_rad < 0.5
    let ratio = isNear ? middleStretch : 1
    let omega = isNear ? Angle(radians: longitude_rad / (WGS84.axisRatio * ratio)) : longitude
    let initial = greatCircle(omega, difference, sum)
    let sine = (initial.sine * initial.sine + initial.cosine * initial.cosine).squareRoot()
    let cosine = b1.sine * b2.sine + b1.cosine * b2.cosine * omega.cosine
    if isNear && sine < GeodesicProblem.shortArc {
      let final = Angle(
        sine: b1.cosine * omega.sine,
        cosine: difference - b1.cosine * b2.sine * omega.versine)
      return .short(
        GeodesicSolution(
          length: atan2(sine, cosine) * WGS84.semiMinorAxis * ratio,
          initial: initial.normalized, final: final.normalized))
    }
    let reach = 6 * WGS84.thirdFlattening * .pi * b1.cosine * b1.cosine
    return .azimuth(cosine < 0 && sine < reach ? antipodal(sum) : initial.normalized)
  }

  /// Azimuth at the first point of the great circle to longitude `omega`, multiplied by the sine of its arc.
  private func greatCircle(_ omega: Angle, _ difference: Double, _ sum: Double) -> Angle {
    let (b1, b2) = (first.beta, second.beta)
    return Angle(
      sine: b2.cosine * omega.sine,
      cosine: omega.cosine >= 0
        ? difference + b2.cosine * b1.sine * omega.versine
        : sum - b2.cosine * b1.sine * omega.vercosine)
  }

  /// √(1 + e′² sin²β) at the mean latitude: ratio of a short arc's length to its length on the sphere. As equation
  /// (48), but with the mean of the latitudes.
  private var middleStretch: Double {
    let sines = (first.beta.sine + second.beta.sine) * (first.beta.sine + second.beta.sine)
    let cosines = first.beta.cosine + second.beta.cosine
    return (1 + WGS84.secondEccentricitySquared * sines / (sines + cosines * cosines)).squareRoot()
  }

  /// Azimuth for nearly antipodal points (section 5).
  ///
  /// The geodesics near the antipode have an astroid as their envelope. In the scaled coordinates x, y of the astroid
  /// the azimuth is the solution of a quartic equation. `sum` is the sine of β2 + β1.
  private func antipodal(_ sum: Double) -> Angle {
    let b1 = first.beta
    let square = b1.sine * b1.sine * WGS84.secondEccentricitySquared
    let series = GeodesicSeries.longitude(geodesicParameter(square))
    let unit = WGS84.flattening * b1.cosine * series.scale * .pi
    let x = atan2(-longitude.sine, -longitude.cosine) / unit
    let y = sum / (unit * b1.cosine)
    if y > -4e-14 && x > -1 - 1.5e-5 {
      // On the mirrored latitude, inside the astroid: the root of the quartic is 0; use its limit.
      let sine = -x < 1 ? -x : 1
      let cosine = (1 - sine * sine).squareRoot()
      // On the equator, a geodesic due east would stay on it; deviate by the smallest angle.
      let isStuck = cosine == 0 && b1.sine == 0
      return Angle(sine: sine, cosine: isStuck ? -Angle.tiny : -cosine)
    }
    // Computing the azimuth from the spherical longitude saves one iteration over using it directly.
    let root = astroidRoot(x, y)
    let omega = Angle(radians: -unit * x * root / (1 + root))
    let guess = Angle(
      sine: second.beta.cosine * omega.sine,
      cosine: sum - second.beta.cosine * b1.sine * omega.versine)
    return guess.sine > 0 ? guess.normalized : Angle(sine: 1, cosine: 0)
  }
}

/// Expansion parameter ε of a geodesic with k² = `square`: (√(1 + k²) − 1) / (√(1 + k²) + 1); equation (16).
func geodesicParameter(_ square: Double) -> Double {
  square / (2 * (1 + (1 + square).squareRoot()) + square)
}

/// Positive root κ of κ⁴ + 2κ³ − (x² + y² − 1) κ² − 2y²κ − y² = 0, equation (55), with y ≠ 0.
///
/// Vermeille's method (appendix B), with branches that avoid cancellation.
func astroidRoot(_ x: Double, _ y: Double) -> Double {
  let (p, q) = (x * x, y * y)
  let r = (p + q - 1) / 6
  let s = p * q / 4
  let r3 = r * r * r
  let discriminant = s * (s + 2 * r3)
  var u = r
  if discriminant >= 0 {
    let root = discriminant.squareRoot()
    let cube = s + r3
    let t = cbrt(cube < 0 ? cube - root : cube + root)
    u += t + (t == 0 ? 0 : r * r / t)
  } else {
    let angle = atan2((-discriminant).squareRoot(), -(s + r3))
    u += 2 * r * cos(angle / 3)
  }
  let v = (u * u + q).squareRoot()
  let sum = u < 0 ? q / (v - u) : u + v
  let w = (sum - q) / (2 * v)
  return sum / ((sum + w * w).squareRoot() + w)
}

import CCore

/// One iteration of the solver: the geodesic from the first point at a trial azimuth to the latitude φ2.
struct GeodesicTrial {
  /// Trial azimuth α1.
  let initial: Angle
  /// Azimuth α2 at the latitude φ2.
  let final: Angle
  /// Arcs σ1 and σ2 from the equator on the auxiliary sphere.
  let sigma1: Angle
  let sigma2: Angle
  /// Arc length σ12 in radians, 0 to π.
  let arc: Double
  /// Expansion parameter ε.
  let parameter: Double
  /// Longitude at φ2 minus λ12, in radians.
  let excess: Double
}

extension GeodesicProblem {
  /// Maximum number of trial azimuths (LOC-7): Newton steps, then bisections down to rounding.
  static let newtonTrials = 20
  static let trials = newtonTrials + 60

  /// Finds the azimuth whose geodesic ends at the second point.
  ///
  /// Newton's method on the longitude within a bracket that every trial narrows. If a step leaves the bracket, or
  /// the slope is not positive, a bisection step replaces it.
  func search(from guess: Angle) -> GeodesicSolution {
    let rounding = 0x1p-52
    var low = Angle(sine: Angle.tiny, cosine: 1)
    var high = Angle(sine: Angle.tiny, cosine: -1)
    var trial = follow(guess)
    var tolerance = rounding
    var count = 1
    while abs(trial.excess) > tolerance && count < GeodesicProblem.trials {
      if trial.excess > 0 { high = trial.initial } else { low = trial.initial }
      var next = Angle(sine: low.sine + high.sine, cosine: low.cosine + high.cosine).normalized
      tolerance = rounding
      if count < GeodesicProblem.newtonTrials, let step = newton(trial, low, high) {
        next = step
        // Near convergence the excess is dominated by rounding: accept up to 8 units.
        if abs(trial.excess) <= 16 * rounding { tolerance = 8 * rounding }
      }
      trial = follow(next)
      count += 1
    }
    let integral = GeodesicSeries.distance(trial.parameter)
    let length = integral.integral(from: trial.sigma1, to: trial.sigma2, arc: trial.arc)
    return GeodesicSolution(
      length: WGS84.semiMinorAxis * length, initial: trial.initial, final: trial.final,
      trials: count)
  }

  /// Azimuth after one Newton step; nil if it is not between `low` and `high`.
  private func newton(_ trial: GeodesicTrial, _ low: Angle, _ high: Angle) -> Angle? {
    let slope = slope(trial)
    guard slope > 0 else { return nil }
    let step = -trial.excess / slope
    guard abs(step) < .pi else { return nil }
    let next = trial.initial.plus(Angle(radians: step)).normalized
    // Within a half circle, the sign of the sine of the difference gives the order.
    let isAboveLow = next.sine * low.cosine > next.cosine * low.sine
    let isBelowHigh = high.sine * next.cosine > high.cosine * next.sine
    return next.sine > 0 && isAboveLow && isBelowHigh ? next : nil
  }

  /// Follows the geodesic with the initial azimuth `initial`, 0 to 180°, to the latitude φ2 (section 4).
  func follow(_ initial: Angle) -> GeodesicTrial {
    let (b1, b2) = (first.beta, second.beta)
    // Clairaut's relation: sin α0 = sin α cos β everywhere on the geodesic.
    let sineAlpha0 = initial.sine * b1.cosine
    let rise = initial.sine * b1.sine
    let square =
      (initial.cosine * initial.cosine + rise * rise) * WGS84.secondEccentricitySquared
    let final = azimuthAtSecond(initial, sineAlpha0)
    let omega1 = Angle(sine: sineAlpha0 * b1.sine, cosine: initial.cosine * b1.cosine)
    let omega2 = Angle(sine: sineAlpha0 * b2.sine, cosine: final.cosine * b2.cosine)
    let sigma1 = Angle(sine: b1.sine, cosine: omega1.cosine).normalized
    let sigma2 = Angle(sine: b2.sine, cosine: omega2.cosine).normalized
    let arc = sigma1.forwardAngle(to: sigma2).radians
    let omega = omega1.forwardAngle(to: omega2)
    let parameter = geodesicParameter(square)
    let series = GeodesicSeries.longitude(parameter)
    let lag =
      WGS84.flattening * sineAlpha0 * series.integral(from: sigma1, to: sigma2, arc: arc)
    let overshoot = omega.minus(longitude)
    return GeodesicTrial(
      initial: initial, final: final, sigma1: sigma1, sigma2: sigma2, arc: arc,
      parameter: parameter, excess: overshoot.radians - lag)
  }

  /// Azimuth α2: the sine from Clairaut's relation, the cosine from the difference of the latitudes; both exact for
  /// equal or mirrored latitudes.
  private func azimuthAtSecond(_ initial: Angle, _ sineAlpha0: Double) -> Angle {
    let (b1, b2) = (first.beta, second.beta)
    if b2.cosine == b1.cosine && abs(b2.sine) == -b1.sine {
      return Angle(sine: initial.sine, cosine: abs(initial.cosine))
    }
    let start = initial.cosine * b1.cosine
    let gain =
      b1.cosine < -b1.sine
      ? (b2.cosine - b1.cosine) * (b1.cosine + b2.cosine)
      : (b1.sine - b2.sine) * (b1.sine + b2.sine)
    return Angle(
      sine: sineAlpha0 / b2.cosine,
      cosine: (start * start + gain).squareRoot() / b2.cosine)
  }

  /// Derivative dλ12 / dα1, from the reduced length m12; equation (46).
  private func slope(_ trial: GeodesicTrial) -> Double {
    guard trial.final.cosine != 0 else {
      // Both points are at a vertex: the limit, equation (47).
      return -2 * WGS84.axisRatio * first.stretch / first.beta.sine
    }
    let (s1, s2) = (trial.sigma1, trial.sigma2)
    let i1 = GeodesicSeries.distance(trial.parameter)
    let i2 = GeodesicSeries.reducedLength(trial.parameter)
    // J, equation (40).
    let j =
      i1.integral(from: s1, to: s2, arc: trial.arc)
      - i2.integral(from: s1, to: s2, arc: trial.arc)
    // m12 / b, equation (38).
    let reduced =
      second.stretch * (s1.cosine * s2.sine) - first.stretch * (s1.sine * s2.cosine)
      - s1.cosine * s2.cosine * j
    return reduced * WGS84.axisRatio / (trial.final.cosine * second.beta.cosine)
  }
}

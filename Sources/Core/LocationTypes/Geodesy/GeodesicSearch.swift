import CCore

/// The geodesic that leaves the first place at a tried azimuth, followed to the second's latitude.
struct GeodesicTrial {
  /// α1, as tried.
  let initial: Angle
  /// α2, where it reaches the latitude φ2.
  let final: Angle
  /// σ1 and σ2, arcs from the equator on the auxiliary sphere.
  let sigma1: Angle
  let sigma2: Angle
  /// σ12, 0 to π.
  let arc: Double
  /// ε.
  let parameter: Double
  /// By how much its longitude there is beyond λ12, radians.
  let excess: Double
}

extension GeodesicProblem {
  /// How often an azimuth is tried at most (LOC-7): Newton's steps, then halvings down to rounding.
  static let newtonTrials = 20
  static let trials = newtonTrials + 60

  /// Finds the azimuth whose geodesic ends at the second place.
  ///
  /// Newton's method on the longitude, inside a bracket that every trial narrows; a step that leaves
  /// the bracket, or a slope that points the wrong way, gives way to its middle.
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
        // Near the end the excess is all rounding: so much of it will do.
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

  /// The azimuth after one step of Newton's method; nil if it is not between `low` and `high`.
  private func newton(_ trial: GeodesicTrial, _ low: Angle, _ high: Angle) -> Angle? {
    let slope = slope(trial)
    guard slope > 0 else { return nil }
    let step = -trial.excess / slope
    guard abs(step) < .pi else { return nil }
    let next = trial.initial.plus(Angle(radians: step)).normalized
    // In a half circle, the sine of a difference tells the order.
    let isAboveLow = next.sine * low.cosine > next.cosine * low.sine
    let isBelowHigh = high.sine * next.cosine > high.cosine * next.sine
    return next.sine > 0 && isAboveLow && isBelowHigh ? next : nil
  }

  /// Follows the geodesic that leaves the first place at `initial`, 0 to 180° (section 4).
  func follow(_ initial: Angle) -> GeodesicTrial {
    let (b1, b2) = (first.beta, second.beta)
    // Clairaut: sin α0 = sin α cos β all along.
    let sineAlpha0 = initial.sine * b1.cosine
    let rise = initial.sine * b1.sine
    let square =
      (initial.cosine * initial.cosine + rise * rise) * WGS84.secondEccentricitySquared
    let final = azimuthAtSecond(initial, sineAlpha0)
    let omega1 = Angle(sine: sineAlpha0 * b1.sine, cosine: initial.cosine * b1.cosine)
    let omega2 = Angle(sine: sineAlpha0 * b2.sine, cosine: final.cosine * b2.cosine)
    let sigma1 = Angle(sine: b1.sine, cosine: omega1.cosine).normalized
    let sigma2 = Angle(sine: b2.sine, cosine: omega2.cosine).normalized
    let arc = sigma1.ahead(to: sigma2).radians
    let omega = omega1.ahead(to: omega2)
    let parameter = geodesicParameter(square)
    let series = GeodesicSeries.longitude(parameter, WGS84.thirdFlattening)
    let lag =
      WGS84.flattening * sineAlpha0 * series.integral(from: sigma1, to: sigma2, arc: arc)
    let beyond = omega.minus(longitude)
    return GeodesicTrial(
      initial: initial, final: final, sigma1: sigma1, sigma2: sigma2, arc: arc,
      parameter: parameter, excess: beyond.radians - lag)
  }

  /// α2: its sine by Clairaut, its cosine by what the latitudes differ in, both exact for equal or
  /// mirrored latitudes.
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

  /// dλ12 / dα1: the reduced length m12 over the radius that it spans at the second place, (46).
  private func slope(_ trial: GeodesicTrial) -> Double {
    guard trial.final.cosine != 0 else {
      // Both places at a vertex: the limit, (47).
      return -2 * WGS84.axisRatio * first.stretch / first.beta.sine
    }
    let (s1, s2) = (trial.sigma1, trial.sigma2)
    let i1 = GeodesicSeries.distance(trial.parameter)
    let i2 = GeodesicSeries.reducedLength(trial.parameter)
    // J, (40).
    let j =
      i1.integral(from: s1, to: s2, arc: trial.arc)
      - i2.integral(from: s1, to: s2, arc: trial.arc)
    // m12 over the semi-minor axis, (38).
    let reduced =
      second.stretch * (s1.cosine * s2.sine) - first.stretch * (s1.sine * s2.cosine)
      - s1.cosine * s2.cosine * j
    return reduced * WGS84.axisRatio / (trial.final.cosine * second.beta.cosine)
  }
}

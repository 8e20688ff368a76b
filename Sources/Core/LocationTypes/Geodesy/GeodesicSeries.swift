/// Fourier sine series Σ c_l sin 2lσ with l = 1…6.
struct SineSeries {
  var c1, c2, c3, c4, c5, c6: Double

  /// Value at `sigma`, by Clenshaw summation, which needs only one sine and cosine.
  func sum(at sigma: Angle) -> Double {
    let twice = 2 * (sigma.cosine - sigma.sine) * (sigma.cosine + sigma.sine)
    let b5 = twice * c6 + c5
    let b4 = twice * b5 - c6 + c4
    let b3 = twice * b4 - b5 + c3
    let b2 = twice * b3 - b4 + c2
    let b1 = twice * b2 - b3 + c1
    return 2 * sigma.sine * sigma.cosine * b1
  }

  /// Difference of the values at `sigma2` and `sigma1`.
  func growth(from sigma1: Angle, to sigma2: Angle) -> Double {
    sum(at: sigma2) - sum(at: sigma1)
  }
}

/// Integrals along a geodesic as series in the expansion parameter ε, to the sixth order.
///
/// Source: C. F. F. Karney, Algorithms for geodesics, J. Geodesy 87 (2013), 43–55; numbers in parentheses are its
/// equations. Each integral is A (σ + Σ C_l sin 2lσ), where σ is the arc on the auxiliary sphere. On WGS 84,
/// 0 ≤ ε ≤ 0.00168, so the truncation error is below 1e-19.
struct GeodesicSeries {
  /// Factor A.
  var scale: Double
  /// Sine series with the coefficients C_l.
  var sines: SineSeries

  /// I1, the distance divided by the semi-minor axis: ∫ √(1 + k² sin²σ) dσ; (15), (17), (18).
  static func distance(_ e: Double) -> GeodesicSeries {
    let e2 = e * e
    let e3 = e2 * e
    let e4 = e2 * e2
    return GeodesicSeries(
      scale: (1 + e2 * (1 / 4 + e2 * (1 / 64 + e2 / 256))) / (1 - e),
      sines: SineSeries(
        c1: e * (-1 / 2 + e2 * (3 / 16 - e2 / 32)),
        c2: e2 * (-1 / 16 + e2 * (1 / 32 - e2 * 9 / 2048)),
        c3: e3 * (-1 / 48 + e2 * 3 / 256),
        c4: e4 * (-5 / 512 + e2 * 3 / 512),
        c5: e4 * e * -7 / 1280,
        c6: e4 * e2 * -7 / 2048))
  }

  /// Inverse of I1: from τ = I1 / A1 to σ = τ + Σ C′_l sin 2lτ; (20), (21).
  static func arc(_ e: Double) -> SineSeries {
    let e2 = e * e
    let e3 = e2 * e
    let e4 = e2 * e2
    return SineSeries(
      c1: e * (1 / 2 + e2 * (-9 / 32 + e2 * 205 / 1536)),
      c2: e2 * (5 / 16 + e2 * (-37 / 96 + e2 * 1335 / 4096)),
      c3: e3 * (29 / 96 - e2 * 75 / 128),
      c4: e4 * (539 / 1536 - e2 * 2391 / 2560),
      c5: e4 * e * 3467 / 7680,
      c6: e4 * e2 * 38081 / 61440)
  }

  /// I2, for the reduced length: ∫ 1 / √(1 + k² sin²σ) dσ; (41), (42), (43).
  static func reducedLength(_ e: Double) -> GeodesicSeries {
    let e2 = e * e
    let e3 = e2 * e
    let e4 = e2 * e2
    return GeodesicSeries(
      scale: (1 - e) * (1 + e2 * (1 / 4 + e2 * (9 / 64 + e2 * 25 / 256))),
      sines: SineSeries(
        c1: e * (1 / 2 + e2 * (1 / 16 + e2 / 32)),
        c2: e2 * (3 / 16 + e2 * (1 / 32 + e2 * 35 / 2048)),
        c3: e3 * (5 / 48 + e2 * 5 / 256),
        c4: e4 * (35 / 512 + e2 * 7 / 512),
        c5: e4 * e * 63 / 1280,
        c6: e4 * e2 * 77 / 2048))
  }

  /// I3 on WGS 84, for the difference between ellipsoidal and spherical longitude. One function for all callers: inlined
  /// into each, its code takes 1.2 kB more on a Cortex-M4.
  @inline(never)
  static func longitude(_ e: Double) -> GeodesicSeries { longitude(e, WGS84.thirdFlattening) }

  /// I3 on an ellipsoid with the third flattening `n`; (23), (24), (25).
  ///
  /// If `n` is a constant, the compiler folds each polynomial in it to a number. The fifth order is sufficient, because
  /// the result is multiplied by the flattening.
  @inline(__always)
  static func longitude(_ e: Double, _ n: Double) -> GeodesicSeries {
    let e2 = e * e
    let n2 = n * n
    let a5 = 3.0 / 128
    let a4 = 3 / 64 + n / 32 + e * a5
    let a3 = 1 / 16 + n * 3 / 16 + n2 / 16 + e * a4
    let a2 = 1 / 4 + n / 8 - n2 * 3 / 8 + e * a3
    let a1 = 1 / 2 - n / 2 + e * a2
    let c14 = 5 / 128 + n / 64 + e * 3 / 128
    let c13 = 3 / 64 + n * 3 / 64 - n2 / 64 + e * c14
    let c12 = 1 / 8 - n2 / 8 + e * c13
    let c11 = 1 / 4 - n / 4 + e * c12
    let c24 = 3 / 128 + n / 128 + e * 5 / 256
    let c23 = 3 / 64 - n / 32 - n2 * 3 / 64 + e * c24
    let c22 = 1 / 16 - n * 3 / 32 + n2 / 32 + e * c23
    let c34 = 3 / 128 - n * 5 / 192 + e * 7 / 512
    let c33 = 5 / 192 - n * 3 / 64 + n2 * 5 / 192 + e * c34
    let c44 = 7 / 512 - n * 7 / 256 + e * 7 / 512
    return GeodesicSeries(
      scale: 1 - e * a1,
      sines: SineSeries(
        c1: e * c11, c2: e2 * c22, c3: e2 * e * c33, c4: e2 * e2 * c44,
        c5: e2 * e2 * e * 21 / 2560, c6: 0))
  }

  /// Value of the integral from `sigma1` to `sigma2`, which are `sigma12` radians apart.
  func integral(from sigma1: Angle, to sigma2: Angle, arc sigma12: Double) -> Double {
    scale * (sigma12 + sines.growth(from: sigma1, to: sigma2))
  }
}

import CCore

/// End point of a geodesic of given start, azimuth and length: the direct problem (Karney 2013, section 3).
struct GeodesicEnd {
  /// Latitude in degrees, −90 to 90.
  let latitude: Double
  /// Longitude relative to the start in degrees, east positive; beyond ±180 if the geodesic goes farther.
  let longitude: Double
  /// Azimuth at the end point, not normalised.
  let azimuth: Angle

  /// Follows the geodesic for `distance` metres from `latitude` degrees at `azimuth`; backwards if negative.
  init(latitude: Double, azimuth: Angle, distance: Double) {
    var beta1 = ReducedLatitude(degrees: latitude).beta
    // At a pole, the azimuth determines the meridian.
    if beta1.cosine < Angle.tiny { beta1.cosine = Angle.tiny }
    let sineAlpha0 = azimuth.sine * beta1.cosine
    let rise = azimuth.sine * beta1.sine
    let square = azimuth.cosine * azimuth.cosine + rise * rise
    let cosineAlpha0 = square.squareRoot()

    // On the equator every point is a node: measure σ from the start.
    let isEquatorial = beta1.sine == 0 && azimuth.cosine == 0
    let along = isEquatorial ? 1 : azimuth.cosine * beta1.cosine
    let sigma1 = Angle(sine: beta1.sine, cosine: along).normalized
    let parameter = geodesicParameter(square * WGS84.secondEccentricitySquared)
    let arc = GeodesicEnd.arc(of: distance, from: sigma1, parameter)
    let sigma2 = sigma1.plus(Angle(radians: arc))

    let omega1 = Angle(sine: sineAlpha0 * beta1.sine, cosine: along)
    let omega2 = Angle(sine: sineAlpha0 * sigma2.sine, cosine: sigma2.cosine)
    let series = GeodesicSeries.longitude(parameter)
    let lag =
      WGS84.flattening * sineAlpha0 * series.integral(from: sigma1, to: sigma2, arc: arc)
    longitude = (omega2.minus(omega1).radians - lag) * Angle.degreesPerRadian

    let north = cosineAlpha0 * sigma2.cosine
    self.azimuth = Angle(sine: sineAlpha0, cosine: north)
    let beta2 = Angle(
      sine: cosineAlpha0 * sigma2.sine,
      cosine: (sineAlpha0 * sineAlpha0 + north * north).squareRoot())
    self.latitude =
      Angle(sine: beta2.sine, cosine: beta2.cosine * WGS84.axisRatio).radians
      * Angle.degreesPerRadian
  }

  /// σ12 for `distance`, from the reverted series (20).
  private static func arc(of distance: Double, from sigma1: Angle, _ parameter: Double) -> Double {
    let integral = GeodesicSeries.distance(parameter)
    let growth1 = integral.sines.sum(at: sigma1)
    let tau1 = sigma1.plus(Angle(radians: growth1))
    let tau12 = distance / (WGS84.semiMinorAxis * integral.scale)
    let tau2 = tau1.plus(Angle(radians: tau12))
    return tau12 + GeodesicSeries.arc(parameter).sum(at: tau2) + growth1
  }
}

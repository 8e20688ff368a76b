import CCore

// The inverse geodesic problem for `Coordinate` and ``Geodesic``: reduced latitudes, solution, canonical form, and the
// reflections to and from that form.

/// Reduced latitude β on the auxiliary sphere: tan β = (1 − f) tan φ.
struct ReducedLatitude {
  /// β, with a non-negative cosine.
  let beta: Angle
  /// √(1 + e′² sin²β).
  let stretch: Double

  init(_ beta: Angle) {
    self.beta = beta
    stretch = (1 + WGS84.secondEccentricitySquared * beta.sine * beta.sine).squareRoot()
  }

  /// Creates the reduced latitude of a geodetic latitude, −90 to 90 degrees.
  init(degrees: Double) {
    let phi = Angle(degrees: degrees)
    self.init(
      Angle(sine: phi.sine * WGS84.axisRatio, cosine: phi.cosine).normalized)
  }
}

/// Solution of the inverse geodesic problem: the shortest path between two points.
struct GeodesicSolution {
  /// Length in metres.
  var length: Double
  /// Azimuth α1 at the first point, clockwise from north.
  var initial: Angle
  /// Forward azimuth α2 at the second point, clockwise from north.
  var final: Angle
  /// Number of azimuths that the solver tried; 0 if the solution is closed-form.
  var trials = 0
}

/// The inverse geodesic problem in canonical form; all other configurations are reflected to this form.
///
/// −90° ≤ φ1 ≤ 0, φ1 ≤ φ2 ≤ −φ1, 0 ≤ λ12 ≤ 180° (Karney 2013, section 4): the first point is the one farther from
/// the equator, and lies south. In this form the azimuth is between 0 and 180°, and the difference between λ12 and
/// the longitude at which a geodesic reaches φ2 has exactly one zero.
struct GeodesicProblem {
  let first: ReducedLatitude
  let second: ReducedLatitude
  /// Longitude difference λ12.
  let longitude: Angle
  let longitude_rad: Double
  /// Whether both points are on one meridian or on opposite meridians.
  let isMeridional: Bool
  /// Whether both points are on the equator, and the equator is the shortest path.
  let isEquatorial: Bool

  /// Creates a problem from degrees in canonical form.
  init(latitude1: Double, latitude2: Double, longitude degrees: Double) {
    first = ReducedLatitude(degrees: latitude1)
    second = ReducedLatitude(degrees: latitude2).snapped(to: first)
    longitude = Angle(degrees: degrees)
    longitude_rad = degrees * Angle.radiansPerDegree
    isMeridional = latitude1 == -90 || degrees == 0 || degrees == 180
    isEquatorial = latitude1 == 0 && 180 - degrees >= 180 * WGS84.flattening
  }

  func solve() -> GeodesicSolution {
    if isMeridional { return alongMeridian() }
    if isEquatorial { return alongEquator() }
    switch start() {
    case .short(let solution): return solution
    case .azimuth(let guess): return search(from: guess)
    }
  }

  private func alongMeridian() -> GeodesicSolution {
    // Across the near pole for opposite meridians. On an oblate ellipsoid no other path is shorter.
    let sigma1 = Angle(
      sine: first.beta.sine, cosine: longitude.cosine * first.beta.cosine)
    let sigma2 = second.beta
    let arc = sigma1.forwardAngle(to: sigma2).radians
    let integral = GeodesicSeries.distance(WGS84.thirdFlattening)
    return GeodesicSolution(
      length: WGS84.semiMinorAxis * integral.integral(from: sigma1, to: sigma2, arc: arc),
      initial: longitude, final: Angle(sine: 0, cosine: 1))
  }

  private func alongEquator() -> GeodesicSolution {
    let east = Angle(sine: 1, cosine: 0)
    return GeodesicSolution(
      length: WGS84.semiMajorAxis * longitude_rad, initial: east, final: east)
  }
}

extension ReducedLatitude {
  /// This latitude, replaced by `other` or its mirror image if it is numerically indistinguishable from it.
  ///
  /// Near the poles two different latitudes can have the same sine, near the equator the same cosine. The solver
  /// needs sine and cosine to agree for equal latitudes.
  func snapped(to other: ReducedLatitude) -> ReducedLatitude {
    var beta = beta
    if other.beta.cosine < -other.beta.sine {
      guard beta.cosine == other.beta.cosine else { return self }
      beta.sine = beta.sine < 0 ? other.beta.sine : -other.beta.sine
    } else {
      guard abs(beta.sine) == -other.beta.sine else { return self }
      beta.cosine = other.beta.cosine
    }
    return ReducedLatitude(beta)
  }
}

extension GeodesicSolution {
  /// Computes the shortest path from `latitude1` to `latitude2`, `longitude` degrees farther east.
  ///
  /// Latitudes from −90 to 90, longitude from −180 to 180 degrees. Of two paths of equal length, this is the one
  /// on the side of the first point's pole; on the equator, the northern one.
  init(latitude1: Double, latitude2: Double, longitude: Double) {
    let isSwapped = abs(latitude1) < abs(latitude2)
    let (far, near) = isSwapped ? (latitude2, latitude1) : (latitude1, latitude2)
    let mirror: Double = far >= 0 ? -1 : 1
    self = GeodesicProblem(
      latitude1: far * mirror, latitude2: near * mirror, longitude: abs(longitude)
    ).solve()
    // Undo the reflections. Reversing the path turns its azimuths by 180°, and the reflection that goes with it
    // swaps east and west, so that only the cosine changes its sign.
    let east: Double = longitude < 0 ? -1 : 1
    let north = isSwapped ? -mirror : mirror
    if isSwapped { swap(&initial, &final) }
    initial = Angle(sine: initial.sine * east, cosine: initial.cosine * north)
    final = Angle(sine: final.sine * east, cosine: final.cosine * north)
  }
}

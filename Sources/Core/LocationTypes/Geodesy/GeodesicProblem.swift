import CCore

/// A latitude on the auxiliary sphere: the reduced latitude β, tan β = (1 − f) tan φ.
struct ReducedLatitude {
  /// β; the cosine is never negative.
  let beta: Angle
  /// √(1 + e′² sin²β).
  let stretch: Double

  init(_ beta: Angle) {
    self.beta = beta
    stretch = (1 + WGS84.secondEccentricitySquared * beta.sine * beta.sine).squareRoot()
  }

  /// From a geodetic latitude of −90 to 90 degrees.
  init(degrees: Double) {
    let phi = Angle(degrees: degrees)
    self.init(
      Angle(sine: phi.sine * WGS84.axisRatio, cosine: phi.cosine).normalized)
  }
}

/// The shortest line between two places as its solver hands it out.
struct GeodesicSolution {
  /// Metres.
  var length: Double
  /// The azimuth α1 at the first place, clockwise from north.
  var initial: Angle
  /// The azimuth α2 at the second place, of the line carried on.
  var final: Angle
  /// How often the solver tried an azimuth; 0 where none had to be searched.
  var trials = 0
}

/// The inverse geodesic problem in the one form to which the others are reflected.
///
/// −90° ≤ φ1 ≤ 0, φ1 ≤ φ2 ≤ −φ1, 0 ≤ λ12 ≤ 180° (Karney 2013, section 4): the first place is the one
/// farther from the equator, and lies south. There the azimuth is between 0 and 180°, and the longitude
/// that a line reaches at φ2 has one zero of its distance from λ12.
struct GeodesicProblem {
  let first: ReducedLatitude
  let second: ReducedLatitude
  /// λ12.
  let longitude: Angle
  let longitude_rad: Double
  /// Both on one great ellipse through the poles.
  let isMeridional: Bool
  /// Both on the equator, and not so far apart that a way off it is shorter.
  let isEquatorial: Bool

  /// From degrees in the form above.
  init(latitude1: Double, latitude2: Double, longitude degrees: Double) {
    first = ReducedLatitude(degrees: latitude1)
    second = ReducedLatitude(degrees: latitude2).alike(first)
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
    // Over the near pole if they lie on opposite sides of it. On an oblate ellipsoid no other line
    // is shorter.
    let sigma1 = Angle(
      sine: first.beta.sine, cosine: longitude.cosine * first.beta.cosine)
    let sigma2 = second.beta
    let arc = sigma1.ahead(to: sigma2).radians
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
  /// This latitude, but exactly `other`'s or its mirror image if it cannot be told from it.
  ///
  /// Near the poles sines are blind to a difference, near the equator cosines: the search must see
  /// equal latitudes in both.
  func alike(_ other: ReducedLatitude) -> ReducedLatitude {
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
  /// The shortest line from `latitude1` to `latitude2`, `longitude` degrees farther east.
  ///
  /// Latitudes from −90 to 90, the longitude from −180 to 180 degrees. Of two lines of equal
  /// length, the one on the side of the first place's pole; on the equator, the northern one.
  init(latitude1: Double, latitude2: Double, longitude: Double) {
    let isSwapped = abs(latitude1) < abs(latitude2)
    let (far, near) = isSwapped ? (latitude2, latitude1) : (latitude1, latitude2)
    let mirror: Double = far >= 0 ? -1 : 1
    self = GeodesicProblem(
      latitude1: far * mirror, latitude2: near * mirror, longitude: abs(longitude)
    ).solve()
    // Back through the same mirrors. A line run backwards has its azimuths turned by 180°, but has been
    // mirrored from east to west on top of it.
    let east: Double = longitude < 0 ? -1 : 1
    let north = isSwapped ? -mirror : mirror
    if isSwapped { swap(&initial, &final) }
    initial = Angle(sine: initial.sine * east, cosine: initial.cosine * north)
    final = Angle(sine: final.sine * east, cosine: final.cosine * north)
  }
}

import CCore

/// An angle by its sine and cosine, so that nothing is lost near 0°, 90° or 180°.
///
/// Of length 1 unless said otherwise.
struct Angle: Equatable {
  var sine: Double
  var cosine: Double

  static let radiansPerDegree = 0.017_453_292_519_943_295_769
  static let degreesPerRadian = 57.295_779_513_082_320_877
  /// So small that its square is still a normal number: what stands for a cosine of 0 where its
  /// direction must not be lost.
  static let tiny = 1e-150

  init(sine: Double, cosine: Double) {
    self.sine = sine
    self.cosine = cosine
  }

  init(radians: Double) {
    sine = sin(radians)
    cosine = cos(radians)
  }

  /// From −360 to 360 degrees; multiples of 90° come out exactly.
  init(degrees: Double) {
    let quarter = (degrees / 90).rounded()
    // Both steps are exact: only what is left over is turned into radians.
    let rest = Angle(radians: (degrees - 90 * quarter) * Angle.radiansPerDegree)
    switch Int(quarter) & 3 {
    case 0: self = rest
    case 1: self = Angle(sine: rest.cosine, cosine: 0 - rest.sine)
    case 2: self = Angle(sine: 0 - rest.sine, cosine: -rest.cosine)
    default: self = Angle(sine: -rest.cosine, cosine: rest.sine)
    }
  }

  /// −π to π.
  var radians: Double { atan2(sine, cosine) }

  /// 0 to 360, without 360: as a bearing is told (LOC-3).
  var bearing: Double {
    let degrees = radians * Angle.degreesPerRadian
    if degrees > 0 { return degrees }
    // A hair west of north would be rounded to 360.
    let turned = degrees + 360
    return turned < 360 ? turned : 0
  }

  /// The same direction with length 1; the length must not be 0.
  var normalized: Angle {
    let length = (sine * sine + cosine * cosine).squareRoot()
    return Angle(sine: sine / length, cosine: cosine / length)
  }

  /// This angle and `other` added.
  func plus(_ other: Angle) -> Angle {
    Angle(
      sine: sine * other.cosine + cosine * other.sine,
      cosine: cosine * other.cosine - sine * other.sine)
  }

  /// This angle less `other`.
  func minus(_ other: Angle) -> Angle {
    Angle(
      sine: sine * other.cosine - cosine * other.sine,
      cosine: cosine * other.cosine + sine * other.sine)
  }

  /// How far it is from here to `other`, counted forward and known to be at most 180°.
  func ahead(to other: Angle) -> Angle {
    let way = other.minus(self)
    // Rounding must not turn a half circle, or nothing, into a step back.
    return way.sine > 0 ? way : Angle(sine: 0, cosine: way.cosine)
  }

  /// 1 − cos, without cancellation.
  var versine: Double { cosine >= 0 ? sine * sine / (1 + cosine) : 1 - cosine }

  /// 1 + cos, without cancellation.
  var vercosine: Double { cosine >= 0 ? 1 + cosine : sine * sine / (1 - cosine) }
}

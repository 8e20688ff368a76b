import CCore

/// An angle as sine and cosine, which keeps full precision near 0°, 90° and 180°.
///
/// The vector (cosine, sine) has length 1 unless documented otherwise.
struct Angle: Equatable {
  var sine: Double
  var cosine: Double

  static let radiansPerDegree = 0.017_453_292_519_943_295_769
  static let degreesPerRadian = 57.295_779_513_082_320_877
  /// Replacement for a sine or cosine of 0 whose sign must be kept; its square is still a normal number.
  static let tiny = 1e-150

  init(sine: Double, cosine: Double) {
    self.sine = sine
    self.cosine = cosine
  }

  init(radians: Double) {
    sine = sin(radians)
    cosine = cos(radians)
  }

  /// Creates an angle from degrees, −360 to 360. Exact for multiples of 90°.
  init(degrees: Double) {
    let quarter = (degrees / 90).rounded()
    // Rounding and subtraction are exact; only the remainder is converted to radians.
    let remainder = Angle(radians: (degrees - 90 * quarter) * Angle.radiansPerDegree)
    switch Int(quarter) & 3 {
    case 0: self = remainder
    case 1: self = Angle(sine: remainder.cosine, cosine: 0 - remainder.sine)
    case 2: self = Angle(sine: 0 - remainder.sine, cosine: -remainder.cosine)
    default: self = Angle(sine: -remainder.cosine, cosine: remainder.sine)
    }
  }

  /// Angle in radians, −π to π.
  var radians: Double { atan2(sine, cosine) }

  /// Bearing in degrees, 0 ..< 360 (LOC-3).
  var bearing: Double {
    let degrees = radians * Angle.degreesPerRadian
    if degrees > 0 { return degrees }
    // A tiny negative angle rounds to 360.
    let turned = degrees + 360
    return turned < 360 ? turned : 0
  }

  /// The same direction with length 1. The length must not be 0.
  var normalized: Angle {
    let length = (sine * sine + cosine * cosine).squareRoot()
    return Angle(sine: sine / length, cosine: cosine / length)
  }

  /// The sum of this angle and `other`.
  func plus(_ other: Angle) -> Angle {
    Angle(
      sine: sine * other.cosine + cosine * other.sine,
      cosine: cosine * other.cosine - sine * other.sine)
  }

  /// The difference of this angle and `other`.
  func minus(_ other: Angle) -> Angle {
    Angle(
      sine: sine * other.cosine - cosine * other.sine,
      cosine: cosine * other.cosine + sine * other.sine)
  }

  /// The forward angle from this angle to `other`, which must be at most 180°.
  func forwardAngle(to other: Angle) -> Angle {
    let difference = other.minus(self)
    // Rounding must not turn 0° or 180° into a negative angle.
    return difference.sine > 0 ? difference : Angle(sine: 0, cosine: difference.cosine)
  }

  /// 1 − cosine, without cancellation.
  var versine: Double { cosine >= 0 ? sine * sine / (1 + cosine) : 1 - cosine }

  /// 1 + cosine, without cancellation.
  var vercosine: Double { cosine >= 0 ? 1 + cosine : sine * sine / (1 - cosine) }
}

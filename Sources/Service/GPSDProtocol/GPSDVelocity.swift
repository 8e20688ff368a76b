import Glibc

/// Components of a velocity over ground.
enum GPSDVelocity {
  /// The components to the north and to the east of a speed with a course in degrees.
  static func components(_ speed: Double, _ course: Double) -> (north: Double, east: Double) {
    let angle = course * .pi / 180
    return (speed * cos(angle), speed * sin(angle))
  }
}

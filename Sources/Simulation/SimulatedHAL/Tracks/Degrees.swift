import CCore

/// Angles in degrees.
enum Degrees {
  /// Returns the course of a movement, 0 ..< 360 clockwise from north; 0 for no movement.
  static func course(east: Double, north: Double) -> Double {
    if east == 0 && north == 0 { return 0 }
    let degrees = atan2(east, north) * (180 / 3.141_592_653_589_793)
    return degrees < 0 ? degrees + 360 : degrees
  }
}

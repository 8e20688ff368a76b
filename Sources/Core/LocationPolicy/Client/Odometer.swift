import LocationTypes

/// Distance travelled by the device, one measure for all dormant clients: each compares it with its
/// ``Client/wakeDistance``.
///
/// The length is never less than the distance between any two positions on the path. It may be greater: measurement
/// noise increases it even if the device stands still.
public struct Odometer: Sendable {
  /// Path length from the first position, metres.
  public private(set) var length = 0.0
  private var newest: Coordinate?
  private var band = LatitudeBand()

  /// Creates an odometer without a position.
  public init() {}

  /// Advances to a position. O(1), mostly without trigonometry.
  public mutating func advance(to coordinate: Coordinate) {
    defer { newest = coordinate }
    guard let newest, newest != coordinate else { return }
    if band.contains(newest) && band.contains(coordinate) {
      length += band.squaredDistance(from: newest, to: coordinate).squareRoot()
    } else {
      length += newest.regionDistance(to: coordinate) + CheckRadius.distanceError
      band = LatitudeBand(around: coordinate, metres: LatitudeBand.narrowExtent(around: coordinate))
    }
  }
}

import LocationTypes

/// How far the wearer has come: one measure for all clients that rest, each of which knows how far it
/// is until a fix may mean something to it.
///
/// The length of the way is never less than the distance of any two of its places, which is all that
/// matters. Standing still makes it longer too, by the noise of the fixes.
public struct CommonWay: Sendable {
  /// Metres from the first place on.
  public private(set) var length = 0.0
  private var newest: Coordinate?
  private var band = LatitudeBand()

  /// No place yet.
  public init() {}

  /// Goes on to a place. O(1), mostly without trigonometry.
  public mutating func go(to place: Coordinate) {
    defer { newest = place }
    guard let newest, newest != place else { return }
    if band.holds(newest) && band.holds(place) {
      length += band.square(from: newest, to: place).squareRoot()
    } else {
      length += newest.regionDistance(to: place) + RegionReach.error
      band = LatitudeBand(around: place, metres: LatitudeBand.narrow(around: place))
    }
  }
}

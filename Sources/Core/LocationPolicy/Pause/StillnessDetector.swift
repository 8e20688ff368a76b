import LocationTypes

/// Detects from fixes whether the device stands still or moves. Fixes may come every second or every few minutes.
///
/// It keeps the mean position of the fixes since the device stopped. The fixes of a stationary receiver scatter by a
/// few metres, occasionally by 20 to 30 m, so one fix outside the radius is not sufficient. It detects movement from
/// - a reliable speed above ``walkingSpeed``; or
/// - fixes farther away than ``outlierDistance``, for ``confirmation``; or
/// - fixes outside the radius for ``persistence``, while the Doppler speed does not show standing.
///
/// The mean does not follow slow movement: after 10 min a movement of 0.17 m/s is 50 m away from it. O(1) per fix.
public struct StillnessDetector: Equatable, Sendable {
  /// Result for one fix.
  public enum Finding: UInt8, Equatable, Sendable {
    /// The device stands, as far as this fix shows.
    case inside = 0
    /// The fix may be noise or the start of a movement, or it is inconclusive.
    case undecided = 1
    /// The device moves or has moved: standing restarts at this fix.
    case moved = 2
  }

  /// Speed above which the device does not stand, m/s (PAU-8).
  public static let walkingSpeed = 1.0
  /// Smallest ratio of a reliable speed to its standard deviation.
  static let reliability: Int32 = 3
  /// Greatest scatter of a stationary receiver, metres.
  static let outlierDistance = 40.0
  /// How long fixes must be beyond ``outlierDistance``: the first one after a start may be bad.
  static let confirmation = Interval.seconds(2)
  /// How long fixes must be outside the radius.
  static let persistence = Interval.seconds(30)
  /// Shortest time between two positions that are compared with a reported speed.
  static let speedCheckInterval = Interval.seconds(5)
  /// Greatest weight of earlier fixes against a new one, in fixes.
  static let weightLimit = 1_000.0

  /// Mean position of the fixes since ``since``; nil before the first.
  public private(set) var centre: Coordinate?
  /// Time since which the device has stood still, as far as known.
  public private(set) var since = Instant.boot
  /// Acquisition time of the newest fix.
  public private(set) var newest = Instant.boot
  /// Time since which fixes have been outside; nil if the last one was not.
  private var outsideSince: Instant?
  private var weight = 0.0
  /// Older fix with which later positions are compared.
  private var reference = Coordinate(latitude_e9: 0, longitude_e9: 0)
  private var referenceTime = Instant.boot

  /// Whether another fix is needed soon to interpret the last one.
  public var needsConfirmation: Bool { outsideSince != nil }

  /// Handles a fix; one that is not newer than the last is `undecided`. `radius` in metres.
  public mutating func add(_ fix: Fix, radius: Double) -> Finding {
    guard let oldCentre = centre else {
      let isFast = hasReliableSpeed(fix)
      restart(at: fix)
      return isFast ? .moved : .inside
    }
    guard fix.acquired > newest else { return .undecided }
    newest = fix.acquired
    if isMoving(fix) {
      restart(at: fix)
      return .moved
    }
    let offset = oldCentre.localOffset(to: fix.coordinate)
    let distance = (offset.east * offset.east + offset.north * offset.north).squareRoot()
    guard distance > radius else {
      outsideSince = nil
      weight = min(weight + 1, StillnessDetector.weightLimit)
      centre = oldCentre.moved(east: offset.east / weight, north: offset.north / weight)
      return .inside
    }
    return evaluate(fix, distance, radius)
  }

  /// Clears an unconfirmed movement, because no fix will come to confirm it.
  public mutating func clearUnconfirmedMovement() { outsideSince = nil }

  private mutating func evaluate(_ fix: Fix, _ distance: Double, _ radius: Double) -> Finding {
    let accuracy = fix.horizontalAccuracy ?? PathMeter.assumedAccuracy
    let isBeyond = distance > max(radius, StillnessDetector.outlierDistance) + accuracy
    if !isBeyond, distance <= accuracy || isStanding(fix) {
      outsideSince = nil
      return .undecided
    }
    let first = outsideSince ?? fix.acquired
    outsideSince = first
    let needed = isBeyond ? StillnessDetector.confirmation : StillnessDetector.persistence
    guard fix.acquired - first >= needed else { return .undecided }
    restart(at: fix)
    return .moved
  }

  private mutating func restart(at fix: Fix) {
    centre = fix.coordinate
    weight = 1
    since = fix.acquired
    newest = fix.acquired
    outsideSince = nil
    reference = fix.coordinate
    referenceTime = fix.acquired
  }

  private func isStanding(_ fix: Fix) -> Bool {
    fix.speed.map { $0 < PathMeter.standingSpeed } ?? false
  }

  /// Whether the reported speed is above walking speed and its reported error is small.
  private func hasReliableSpeed(_ fix: Fix) -> Bool {
    guard let speed = fix.speed, speed > StillnessDetector.walkingSpeed,
      let speed_mmps = fix.speed_mmps, let deviation_mmps = fix.speedAccuracy_mmps
    else { return false }
    return deviation_mmps * StillnessDetector.reliability <= speed_mmps
  }

  /// Whether the fix has a reliable speed above walking speed: its speed accuracy shows it, or the distance from an
  /// older position is at least half of the distance that the device would travel at that speed, and at least twice the
  /// accuracy.
  private mutating func isMoving(_ fix: Fix) -> Bool {
    if hasReliableSpeed(fix) { return true }
    let elapsed = fix.acquired - referenceTime
    guard elapsed >= StillnessDetector.speedCheckInterval else { return false }
    let travelled = reference.localDistance(to: fix.coordinate)
    if elapsed >= StillnessDetector.persistence {
      reference = fix.coordinate
      referenceTime = fix.acquired
    }
    guard let speed = fix.speed, speed > StillnessDetector.walkingSpeed else { return false }
    let accuracy = fix.horizontalAccuracy ?? PathMeter.assumedAccuracy
    return travelled >= max(speed * elapsed.seconds / 2, 2 * accuracy)
  }
}

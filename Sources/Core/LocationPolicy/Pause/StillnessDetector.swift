import LocationTypes

/// Tells standing still from moving by fixes, as they come: each second or every few minutes.
///
/// It keeps the mean of the fixes since the wearer stands. A receiver at rest wanders by a few metres
/// and strays by 20 to 30 m now and then, so one fix outside the radius says nothing yet. It takes
/// - a reliable speed above ``walking``; or
/// - fixes farther away than a receiver strays (``stray``), for ``confirmation``; or
/// - fixes outside the radius for ``persistence``, while Doppler does not say that it stands.
///
/// A mean is not dragged along by a creep: after 10 min one of 0.17 m/s is 50 m ahead of it. O(1) a
/// fix.
public struct StillnessDetector: Equatable, Sendable {
  /// What a fix says.
  public enum Finding: UInt8, Equatable, Sendable {
    /// The wearer stands, as far as this fix can tell.
    case inside = 0
    /// It may be noise or the beginning of a movement; or the fix cannot tell.
    case undecided = 1
    /// The wearer moves or has moved: standing begins anew at this fix.
    case moved = 2
  }

  /// The speed above which a wearer does not stand, m/s (PAU-8).
  public static let walking = 1.0
  /// The speed below which Doppler says that the wearer stands, m/s; see ``PathMeter``.
  static let standing = 0.2
  /// How many of its deviations a speed must be to be reliable.
  static let reliability: Int32 = 3
  /// How far a receiver at rest strays, metres.
  static let stray = 40.0
  /// Metres taken for a fix that does not tell its accuracy.
  static let assumedAccuracy = 10.0
  /// How long fixes must be farther than any stray: the first one after a start may be bad.
  static let confirmation = Interval.seconds(2)
  /// How long fixes must be outside the radius.
  static let persistence = Interval.seconds(30)
  /// How far apart fixes must be for their positions to bear out a speed.
  static let agreement = Interval.seconds(5)
  /// How many fixes weigh at most against a new one.
  static let weightLimit = 1_000.0

  /// The middle of the fixes since ``since``; nil before the first.
  public private(set) var centre: Coordinate?
  /// Since when the wearer stands, as far as is known.
  public private(set) var since = Instant.boot
  /// When the newest fix was acquired.
  public private(set) var newest = Instant.boot
  /// Since when fixes have been outside; nil when the last one was not.
  private var outsideSince: Instant?
  private var weight = 0.0
  /// An older fix that later positions are compared with.
  private var reference = Coordinate(latitude_e9: 0, longitude_e9: 0)
  private var referenceTime = Instant.boot

  /// Knows of no fix yet.
  public init() {}

  /// Whether the last fix needs another one soon to be understood.
  public var isInDoubt: Bool { outsideSince != nil }

  /// Takes a fix; one that is not newer than the last says nothing. `radius` in metres.
  public mutating func add(_ fix: Fix, radius: Double) -> Finding {
    guard let from = centre else {
      let isFast = bearsOutItsSpeed(fix)
      begin(at: fix)
      return isFast ? .moved : .inside
    }
    guard fix.acquired > newest else { return .undecided }
    newest = fix.acquired
    if isMoving(fix) {
      begin(at: fix)
      return .moved
    }
    let offset = from.localOffset(to: fix.coordinate)
    let distance = (offset.east * offset.east + offset.north * offset.north).squareRoot()
    guard distance > radius else {
      outsideSince = nil
      weight = min(weight + 1, StillnessDetector.weightLimit)
      centre = from.moved(east: offset.east / weight, north: offset.north / weight)
      return .inside
    }
    return judge(fix, distance, radius)
  }

  /// No fix will come to settle the doubt.
  public mutating func forgetDoubt() { outsideSince = nil }

  private mutating func judge(_ fix: Fix, _ distance: Double, _ radius: Double) -> Finding {
    let accuracy = fix.horizontalAccuracy ?? StillnessDetector.assumedAccuracy
    let isBeyond = distance > max(radius, StillnessDetector.stray) + accuracy
    if !isBeyond, distance <= accuracy || stands(fix) {
      outsideSince = nil
      return .undecided
    }
    let first = outsideSince ?? fix.acquired
    outsideSince = first
    let needed = isBeyond ? StillnessDetector.confirmation : StillnessDetector.persistence
    guard fix.acquired - first >= needed else { return .undecided }
    begin(at: fix)
    return .moved
  }

  private mutating func begin(at fix: Fix) {
    centre = fix.coordinate
    weight = 1
    since = fix.acquired
    newest = fix.acquired
    outsideSince = nil
    reference = fix.coordinate
    referenceTime = fix.acquired
  }

  private func stands(_ fix: Fix) -> Bool {
    guard let speed = fix.speed else { return false }
    return speed < StillnessDetector.standing
  }

  /// Whether the receiver's own account of a speed above walking is that its error is small.
  private func bearsOutItsSpeed(_ fix: Fix) -> Bool {
    guard let speed = fix.speed, speed > StillnessDetector.walking,
      let speed_mmps = fix.speed_mmps, let deviation_mmps = fix.speedAccuracy_mmps
    else { return false }
    return deviation_mmps * StillnessDetector.reliability <= speed_mmps
  }

  /// Whether the fix has a speed above walking that is reliable: its accuracy says so, or an older
  /// position agrees, at least half of the way that it would make and twice the accuracy away.
  private mutating func isMoving(_ fix: Fix) -> Bool {
    if bearsOutItsSpeed(fix) { return true }
    let elapsed = fix.acquired - referenceTime
    guard elapsed >= StillnessDetector.agreement else { return false }
    let way = reference.localDistance(to: fix.coordinate)
    if elapsed >= StillnessDetector.persistence {
      reference = fix.coordinate
      referenceTime = fix.acquired
    }
    guard let speed = fix.speed, speed > StillnessDetector.walking else { return false }
    let accuracy = fix.horizontalAccuracy ?? StillnessDetector.assumedAccuracy
    return way >= max(speed * elapsed.seconds / 2, 2 * accuracy)
  }
}

import CCore

/// A summary of how the device has moved, as input for ``ExitNetwork``: exponentially decaying sums in a fixed size,
/// O(1) for each fix.
///
/// Nearly all features are logarithms of a ratio to the accuracy bound, to the recent speed, or to the time scale that
/// follows from both. Therefore one network serves every bound and every kind of motion (Docs/Explanation/planner.md,
/// "The network"). Pure: no I/O, no clock, no heap; depends only on the C mathematics in `CCore`.
///
/// # Parts
///
/// Each part is a type in `MovementStatistics.swift`, which alone writes its properties:
///
/// - ``LastMove``: the move between the last two fixes.
/// - ``SpeedStatistics``: means, maxima and drift over several periods.
/// - ``AnchorCircles``: since when the device has stayed within three circles.
/// - ``MovingShares``: when the device last moved and stood, and the share of time in which it moved.
/// - ``LineShares``: the share of time in which the motion line reported motion.
package struct MovementHistory: Equatable, Sendable {
  /// One fix: seconds on any time base, metres in any local plane, m/s.
  package struct Sample: Equatable, Sendable {
    package var time = 0.0
    package var east = 0.0
    package var north = 0.0
    package var speed = 0.0
    package var accuracy = 0.0
    /// Whether the motion line reports motion.
    package var isMoving = false
    /// Seconds of motion since the previous fix, as the motion line reported.
    package var motionSeconds = 0.0
    /// Seconds since the level of the motion line changed.
    package var secondsSinceLineChange = 0.0
  }

  /// Accuracy bound: the largest allowed distance from the last reported position, metres.
  package let bound: Double
  let hasMotionLine: Bool
  private(set) var fixCount = 0
  package private(set) var last = Sample()
  /// The move between the last two fixes.
  private(set) var move = LastMove()
  /// Recent speed, m/s, at least 0.4, and the time to leave the bound at that speed, seconds.
  private(set) var recentSpeed = 0.4
  package private(set) var timeScale = 1.0

  private var startTime = 0.0
  package private(set) var speeds = SpeedStatistics()
  private var anchors = AnchorCircles()
  private var moving = MovingShares()
  private var line = LineShares()
  /// Decaying mean of the distance between two fixes, as a share of the bound, each at most 2.
  private var meanMoveRatio = 0.0

  init(within bound: Double, hasMotionLine: Bool) {
    self.bound = bound
    self.hasMotionLine = hasMotionLine
  }

  /// The part of the bound that remains after half the fix's accuracy is subtracted, at least 0.3 of the bound,
  /// metres.
  var distanceMargin: Double { max(bound - 0.5 * last.accuracy, 0.3 * bound) }

  /// Time of the fix at the centre of the smallest anchor circle, seconds.
  var stationarySince: Double { anchors.time(0) }

  /// Adds a fix. O(1).
  mutating func accept(_ sample: Sample) {
    if fixCount == 0 { reset(to: sample) } else { update(with: sample) }
    fixCount = min(fixCount + 1, 1_000_000)
    last = sample
    var speed = max(sample.speed, fixCount > 1 ? move.speed : sample.speed)
    speed = max(speed, 0.5 * speeds.peak(1))
    speed = max(speed, 0.25 * speeds.peak(2))
    recentSpeed = max(speed, 0.4)
    timeScale = distanceMargin / recentSpeed
  }

  private mutating func reset(to sample: Sample) {
    startTime = sample.time
    move.begin(at: sample)
    speeds.begin(at: sample)
    anchors.begin(at: sample)
    moving.begin(at: sample)
    line.begin(at: sample)
  }

  private mutating func update(with sample: Sample) {
    move.advance(from: last, to: sample)
    speeds.add(move, sample)
    moving.add(move, sample)
    anchors.add(sample, bound: bound)
    meanMoveRatio += 0.15 * (min(move.distance / bound, 2) - meanMoveRatio)
    line.add(sample, seconds: move.seconds)
  }
}

extension MovementHistory {
  /// The inputs of the network, in its order.
  package var features: InlineArray<36, Double> {
    var f = InlineArray<36, Double>(repeating: 0)
    let logRecentSpeed = log(recentSpeed)
    let moveSpeed = fixCount > 1 ? move.speed : last.speed
    f[0] = log(bound)
    f[1] = log(timeScale)
    f[2] = log(last.speed + 0.1) - logRecentSpeed
    f[3] = log(move.speedBefore + 0.1) - logRecentSpeed
    f[4] = log(moveSpeed + 0.1) - logRecentSpeed
    for i in 0..<3 { f[5 + i] = log(speeds.peak(i) + 0.1) - logRecentSpeed }
    for i in 0..<4 {
      f[8 + i] = log(speeds.mean(i) + 0.1) - logRecentSpeed
      f[12 + i] = log(0.05 + speeds.drift(i) / bound)
    }
    for i in 0..<3 { f[16 + i] = log((last.time - anchors.time(i) + 2) / timeScale) }
    f[19] = log(move.seconds / timeScale)
    f[20] = log(0.03 + move.distance / bound)
    f[21] = log((last.time - moving.lastMoving + 2) / timeScale)
    f[22] = log((last.time - moving.lastStanding + 2) / timeScale)
    f[23] = moving.share
    f[24] = moving.longShare
    f[25] = log(last.time - startTime + 2)
    f[26] = log(0.03 + last.accuracy / bound)
    f[27] = meanMoveRatio
    f[28] = move.turnCosine
    f[29] =
      (last.speed - move.speedBefore) / recentSpeed * (move.seconds < 5 ? 1 : 5 / move.seconds)
    f[30] = logRecentSpeed
    guard hasMotionLine else { return f }
    f[31] = last.isMoving ? 1 : 0
    f[32] = line.share
    f[33] = line.shortShare
    f[34] = line.longShare
    f[35] = log((last.secondsSinceLineChange + 2) / timeScale) * (last.isMoving ? 1 : -1)
    return f
  }
}

extension MovementHistory {
  /// Whether both histories give the same features.
  package static func == (a: MovementHistory, b: MovementHistory) -> Bool {
    guard a.fixCount == b.fixCount, a.bound == b.bound, a.hasMotionLine == b.hasMotionLine,
      a.last == b.last
    else {
      return false
    }
    let (f, g) = (a.features, b.features)
    for i in f.indices where f[i] != g[i] { return false }
    return true
  }
}

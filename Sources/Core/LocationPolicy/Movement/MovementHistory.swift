import CCore

/// A summary of how the device has moved, as input for ``ExitNetwork``: exponentially decaying sums in a fixed size,
/// O(1) for each fix.
///
/// Nearly all features are logarithms of a ratio to the accuracy bound, to the recent speed, or to the time scale that
/// follows from both. Therefore one network serves every bound and every kind of motion (Docs/Explanation/planner.md,
/// "The network"). Pure: it reads no clock and depends only on the C mathematics in `CCore`.
struct MovementHistory: Equatable, Sendable {
  /// One fix: seconds on any time base, metres in any local plane, m/s.
  struct Sighting: Equatable, Sendable {
    var time = 0.0
    var east = 0.0
    var north = 0.0
    var speed = 0.0
    var accuracy = 0.0
    /// Whether the motion line reports motion.
    var isMoving = false
    /// Seconds of motion since the previous fix, as the motion line reported.
    var motion = 0.0
    /// Seconds since the level of the motion line changed.
    var sinceChange = 0.0
  }

  /// Accuracy bound: the largest allowed distance from the last reported position, metres.
  let bound: Double
  let hasLine: Bool
  private(set) var count = 0
  private(set) var last = Sighting()
  /// Time between the last two fixes, seconds, at least 0.5, and the distance between them, metres.
  private(set) var step = 1.0
  private(set) var moved = 0.0
  /// Time at which the device entered the smallest anchor circle, seconds.
  private(set) var restSince = 0.0
  /// Recent speed, m/s, at least 0.4, and the time to leave the bound at that speed, seconds.
  private(set) var pace = 0.4
  private(set) var unit = 1.0

  private var start = 0.0
  private var speedBefore = 0.0
  private var eastMoved = 0.0
  private var northMoved = 0.0
  private var movedBefore = 0.0
  private var turn = 0.0
  private var fastest = InlineArray<3, Double>(repeating: 0)
  private var mean = InlineArray<4, Double>(repeating: 0)
  private var eastDrift = InlineArray<4, Double>(repeating: 0)
  private var northDrift = InlineArray<4, Double>(repeating: 0)
  private var anchorEast = InlineArray<3, Double>(repeating: 0)
  private var anchorNorth = InlineArray<3, Double>(repeating: 0)
  private var anchorTime = InlineArray<3, Double>(repeating: 0)
  private var movingAt = 0.0
  private var standingAt = 0.0
  private var movingShare = 0.0
  private var longMovingShare = 0.0
  private var excess = 0.0
  private var motionShare = 0.0
  private var shortMotion = 0.0
  private var longMotion = 0.0

  init(within bound: Double, hasLine: Bool) {
    self.bound = bound
    self.hasLine = hasLine
  }

  /// The part of the bound that remains after half the fix's accuracy is subtracted, at least 0.3 of the bound,
  /// metres.
  var room: Double { max(bound - 0.5 * last.accuracy, 0.3 * bound) }

  /// Speed below which the device counts as stationary, m/s.
  private static let standing = 0.6
  private static func meanTime(_ i: Int) -> Double {
    let times: InlineArray<4, Double> = [30, 120, 480, 1_800]
    return times[i]
  }
  private static func peakTime(_ i: Int) -> Double {
    let times: InlineArray<3, Double> = [60, 300, 1_800]
    return times[i]
  }
  private static func circle(_ i: Int) -> Double {
    let radii: InlineArray<3, Double> = [0.35, 1, 3]
    return radii[i]
  }

  /// Adds a fix. O(1).
  mutating func take(_ seen: Sighting) {
    if count == 0 { begin(seen) } else { goOn(seen) }
    count = min(count + 1, 1_000_000)
    last = seen
    var pace = max(seen.speed, count > 1 ? moved / step : seen.speed)
    pace = max(pace, 0.5 * fastest[1])
    pace = max(pace, 0.25 * fastest[2])
    self.pace = max(pace, 0.4)
    unit = room / self.pace
  }

  private mutating func begin(_ seen: Sighting) {
    start = seen.time
    speedBefore = seen.speed
    for i in 0..<4 { mean[i] = seen.speed }
    for i in 0..<3 {
      fastest[i] = seen.speed
      setAnchor(i, seen)
    }
    restSince = seen.time
    movingAt = seen.time
    standingAt = seen.time
    movingShare = seen.speed > MovementHistory.standing ? 1 : 0
    longMovingShare = movingShare
    shortMotion = seen.isMoving ? 1 : 0
    longMotion = shortMotion
  }

  private mutating func goOn(_ seen: Sighting) {
    speedBefore = last.speed
    movedBefore = moved
    let (eastBefore, northBefore) = (eastMoved, northMoved)
    step = max(seen.time - last.time, 0.5)
    eastMoved = seen.east - last.east
    northMoved = seen.north - last.north
    moved = (eastMoved * eastMoved + northMoved * northMoved).squareRoot()
    turn = 0
    if moved > 1e-9 && movedBefore > 1e-9 {
      turn = (eastMoved * eastBefore + northMoved * northBefore) / (moved * movedBefore)
    }
    followSpeed(seen)
    followPlace(seen)
    followLine(seen)
  }

  private mutating func followSpeed(_ seen: Sighting) {
    let over = moved / step
    for i in 0..<4 {
      let time = MovementHistory.meanTime(i)
      let decay = exp(-step / time)
      mean[i] = over + (mean[i] - over) * decay
      let gain = time * (1 - decay) / step
      eastDrift[i] = eastMoved * gain + eastDrift[i] * decay
      northDrift[i] = northMoved * gain + northDrift[i] * decay
    }
    let fast = max(seen.speed, over)
    for i in 0..<3 {
      fastest[i] = max(fast, fastest[i] * exp(-step / MovementHistory.peakTime(i)))
    }
    if fast > MovementHistory.standing { movingAt = seen.time }
    if seen.speed < MovementHistory.standing { standingAt = seen.time }
    let moving = fast > MovementHistory.standing ? 1.0 : 0
    movingShare = moving + (movingShare - moving) * exp(-step / 600)
    longMovingShare = moving + (longMovingShare - moving) * exp(-step / 3_600)
  }

  private mutating func followPlace(_ seen: Sighting) {
    for i in 0..<3 {
      let east = seen.east - anchorEast[i]
      let north = seen.north - anchorNorth[i]
      let radius = max(MovementHistory.circle(i) * bound, 2.5 * seen.accuracy)
      if (east * east + north * north).squareRoot() > radius { setAnchor(i, seen) }
    }
    restSince = anchorTime[0]
    excess += 0.15 * (min(moved / bound, 2) - excess)
  }

  private mutating func setAnchor(_ i: Int, _ seen: Sighting) {
    anchorEast[i] = seen.east
    anchorNorth[i] = seen.north
    anchorTime[i] = seen.time
  }

  private mutating func followLine(_ seen: Sighting) {
    motionShare = min(seen.motion / step, 1)
    shortMotion = motionShare + (shortMotion - motionShare) * exp(-step / 120)
    longMotion = motionShare + (longMotion - motionShare) * exp(-step / 1_200)
  }
}

extension MovementHistory {
  /// The inputs of the network, in its order.
  var features: InlineArray<36, Double> {
    var f = InlineArray<36, Double>(repeating: 0)
    let logPace = log(pace)
    let over = count > 1 ? moved / step : last.speed
    f[0] = log(bound)
    f[1] = log(unit)
    f[2] = log(last.speed + 0.1) - logPace
    f[3] = log(speedBefore + 0.1) - logPace
    f[4] = log(over + 0.1) - logPace
    for i in 0..<3 { f[5 + i] = log(fastest[i] + 0.1) - logPace }
    for i in 0..<4 {
      f[8 + i] = log(mean[i] + 0.1) - logPace
      let drift = (eastDrift[i] * eastDrift[i] + northDrift[i] * northDrift[i]).squareRoot()
      f[12 + i] = log(0.05 + drift / bound)
    }
    for i in 0..<3 { f[16 + i] = log((last.time - anchorTime[i] + 2) / unit) }
    f[19] = log(step / unit)
    f[20] = log(0.03 + moved / bound)
    f[21] = log((last.time - movingAt + 2) / unit)
    f[22] = log((last.time - standingAt + 2) / unit)
    f[23] = movingShare
    f[24] = longMovingShare
    f[25] = log(last.time - start + 2)
    f[26] = log(0.03 + last.accuracy / bound)
    f[27] = excess
    f[28] = turn
    f[29] = (last.speed - speedBefore) / pace * (step < 5 ? 1 : 5 / step)
    f[30] = logPace
    guard hasLine else { return f }
    f[31] = last.isMoving ? 1 : 0
    f[32] = motionShare
    f[33] = shortMotion
    f[34] = longMotion
    f[35] = log((last.sinceChange + 2) / unit) * (last.isMoving ? 1 : -1)
    return f
  }
}

extension MovementHistory {
  /// Whether both histories give the same features.
  static func == (a: MovementHistory, b: MovementHistory) -> Bool {
    guard a.count == b.count, a.bound == b.bound, a.hasLine == b.hasLine, a.last == b.last else {
      return false
    }
    let (f, g) = (a.features, b.features)
    for i in f.indices where f[i] != g[i] { return false }
    return true
  }
}

import CCore

/// A summary of how the device has moved, as input for ``ExitNetwork``: exponentially decaying sums in a fixed size,
/// O(1) for each fix.
///
/// Nearly all features are logarithms of a ratio to the accuracy bound, to the recent speed, or to the time scale that
/// follows from both. Therefore one network serves every bound and every kind of motion (Docs/Explanation/planner.md,
/// "The network"). Pure: no I/O, no clock, no heap; depends only on the C mathematics in `CCore`.
struct MovementHistory: Equatable, Sendable {
  /// One fix: seconds on any time base, metres in any local plane, m/s.
  struct Sample: Equatable, Sendable {
    var time = 0.0
    var east = 0.0
    var north = 0.0
    var speed = 0.0
    var accuracy = 0.0
    /// Whether the motion line reports motion.
    var isMoving = false
    /// Seconds of motion since the previous fix, as the motion line reported.
    var motionSeconds = 0.0
    /// Seconds since the level of the motion line changed.
    var secondsSinceLineChange = 0.0
  }

  /// Accuracy bound: the largest allowed distance from the last reported position, metres.
  let bound: Double
  let hasMotionLine: Bool
  private(set) var fixCount = 0
  private(set) var last = Sample()
  /// Time between the last two fixes, seconds, at least 0.5, and the distance between them, metres.
  private(set) var timeStep = 1.0
  private(set) var displacement = 0.0
  /// Time of the fix at the centre of the smallest anchor circle, seconds. There are three such circles, with radii of
  /// 0.35, 1 and 3 times the bound: each is centred on a fix, and moves to the first fix outside it.
  private(set) var stationarySince = 0.0
  /// Recent speed, m/s, at least 0.4, and the time to leave the bound at that speed, seconds.
  private(set) var recentSpeed = 0.4
  private(set) var timeScale = 1.0

  private var startTime = 0.0
  private var previousSpeed = 0.0
  private var eastDisplacement = 0.0
  private var northDisplacement = 0.0
  private var previousDisplacement = 0.0
  private var turnCosine = 0.0
  private var peakSpeed = InlineArray<3, Double>(repeating: 0)
  private var meanSpeed = InlineArray<4, Double>(repeating: 0)
  private var eastDrift = InlineArray<4, Double>(repeating: 0)
  private var northDrift = InlineArray<4, Double>(repeating: 0)
  private var anchorEast = InlineArray<3, Double>(repeating: 0)
  private var anchorNorth = InlineArray<3, Double>(repeating: 0)
  private var anchorTime = InlineArray<3, Double>(repeating: 0)
  private var lastMovingTime = 0.0
  private var lastStandingTime = 0.0
  private var movingShare = 0.0
  private var longMovingShare = 0.0
  private var meanDisplacementRatio = 0.0
  private var motionShare = 0.0
  private var shortMotionShare = 0.0
  private var longMotionShare = 0.0

  init(within bound: Double, hasMotionLine: Bool) {
    self.bound = bound
    self.hasMotionLine = hasMotionLine
  }

  /// The part of the bound that remains after half the fix's accuracy is subtracted, at least 0.3 of the bound,
  /// metres.
  var distanceMargin: Double { max(bound - 0.5 * last.accuracy, 0.3 * bound) }

  /// Speed below which the device counts as stationary, m/s.
  private static let standingSpeed = 0.6
  private static func meanTimeConstant(_ i: Int) -> Double {
    let times: InlineArray<4, Double> = [30, 120, 480, 1_800]
    return times[i]
  }
  private static func peakTimeConstant(_ i: Int) -> Double {
    let times: InlineArray<3, Double> = [60, 300, 1_800]
    return times[i]
  }
  private static func anchorRadius(_ i: Int) -> Double {
    let radii: InlineArray<3, Double> = [0.35, 1, 3]
    return radii[i]
  }

  /// Adds a fix. O(1).
  mutating func accept(_ sample: Sample) {
    if fixCount == 0 { reset(to: sample) } else { update(with: sample) }
    fixCount = min(fixCount + 1, 1_000_000)
    last = sample
    var speed = max(sample.speed, fixCount > 1 ? displacement / timeStep : sample.speed)
    speed = max(speed, 0.5 * peakSpeed[1])
    speed = max(speed, 0.25 * peakSpeed[2])
    self.recentSpeed = max(speed, 0.4)
    timeScale = distanceMargin / self.recentSpeed
  }

  private mutating func reset(to sample: Sample) {
    startTime = sample.time
    previousSpeed = sample.speed
    for i in 0..<4 { meanSpeed[i] = sample.speed }
    for i in 0..<3 {
      peakSpeed[i] = sample.speed
      setAnchor(i, sample)
    }
    stationarySince = sample.time
    lastMovingTime = sample.time
    lastStandingTime = sample.time
    movingShare = sample.speed > MovementHistory.standingSpeed ? 1 : 0
    longMovingShare = movingShare
    shortMotionShare = sample.isMoving ? 1 : 0
    longMotionShare = shortMotionShare
  }

  private mutating func update(with sample: Sample) {
    previousSpeed = last.speed
    previousDisplacement = displacement
    let (eastBefore, northBefore) = (eastDisplacement, northDisplacement)
    timeStep = max(sample.time - last.time, 0.5)
    eastDisplacement = sample.east - last.east
    northDisplacement = sample.north - last.north
    displacement = (eastDisplacement * eastDisplacement + northDisplacement * northDisplacement)
      .squareRoot()
    turnCosine = 0
    if displacement > 1e-9 && previousDisplacement > 1e-9 {
      turnCosine =
        (eastDisplacement * eastBefore + northDisplacement * northBefore)
        / (displacement * previousDisplacement)
    }
    updateSpeeds(sample)
    updateAnchors(sample)
    updateMotionShares(sample)
  }

  private mutating func updateSpeeds(_ sample: Sample) {
    let stepSpeed = displacement / timeStep
    for i in 0..<4 {
      let time = MovementHistory.meanTimeConstant(i)
      let decay = exp(-timeStep / time)
      meanSpeed[i] = stepSpeed + (meanSpeed[i] - stepSpeed) * decay
      let gain = time * (1 - decay) / timeStep
      eastDrift[i] = eastDisplacement * gain + eastDrift[i] * decay
      northDrift[i] = northDisplacement * gain + northDrift[i] * decay
    }
    let speed = max(sample.speed, stepSpeed)
    for i in 0..<3 {
      peakSpeed[i] = max(speed, peakSpeed[i] * exp(-timeStep / MovementHistory.peakTimeConstant(i)))
    }
    if speed > MovementHistory.standingSpeed { lastMovingTime = sample.time }
    if sample.speed < MovementHistory.standingSpeed { lastStandingTime = sample.time }
    let moving = speed > MovementHistory.standingSpeed ? 1.0 : 0
    movingShare = moving + (movingShare - moving) * exp(-timeStep / 600)
    longMovingShare = moving + (longMovingShare - moving) * exp(-timeStep / 3_600)
  }

  private mutating func updateAnchors(_ sample: Sample) {
    for i in 0..<3 {
      let east = sample.east - anchorEast[i]
      let north = sample.north - anchorNorth[i]
      let radius = max(MovementHistory.anchorRadius(i) * bound, 2.5 * sample.accuracy)
      if (east * east + north * north).squareRoot() > radius { setAnchor(i, sample) }
    }
    stationarySince = anchorTime[0]
    meanDisplacementRatio += 0.15 * (min(displacement / bound, 2) - meanDisplacementRatio)
  }

  private mutating func setAnchor(_ i: Int, _ sample: Sample) {
    anchorEast[i] = sample.east
    anchorNorth[i] = sample.north
    anchorTime[i] = sample.time
  }

  private mutating func updateMotionShares(_ sample: Sample) {
    motionShare = min(sample.motionSeconds / timeStep, 1)
    shortMotionShare = motionShare + (shortMotionShare - motionShare) * exp(-timeStep / 120)
    longMotionShare = motionShare + (longMotionShare - motionShare) * exp(-timeStep / 1_200)
  }
}

extension MovementHistory {
  /// The inputs of the network, in its order.
  var features: InlineArray<36, Double> {
    var f = InlineArray<36, Double>(repeating: 0)
    let logRecentSpeed = log(recentSpeed)
    let stepSpeed = fixCount > 1 ? displacement / timeStep : last.speed
    f[0] = log(bound)
    f[1] = log(timeScale)
    f[2] = log(last.speed + 0.1) - logRecentSpeed
    f[3] = log(previousSpeed + 0.1) - logRecentSpeed
    f[4] = log(stepSpeed + 0.1) - logRecentSpeed
    for i in 0..<3 { f[5 + i] = log(peakSpeed[i] + 0.1) - logRecentSpeed }
    for i in 0..<4 {
      f[8 + i] = log(meanSpeed[i] + 0.1) - logRecentSpeed
      let drift = (eastDrift[i] * eastDrift[i] + northDrift[i] * northDrift[i]).squareRoot()
      f[12 + i] = log(0.05 + drift / bound)
    }
    for i in 0..<3 { f[16 + i] = log((last.time - anchorTime[i] + 2) / timeScale) }
    f[19] = log(timeStep / timeScale)
    f[20] = log(0.03 + displacement / bound)
    f[21] = log((last.time - lastMovingTime + 2) / timeScale)
    f[22] = log((last.time - lastStandingTime + 2) / timeScale)
    f[23] = movingShare
    f[24] = longMovingShare
    f[25] = log(last.time - startTime + 2)
    f[26] = log(0.03 + last.accuracy / bound)
    f[27] = meanDisplacementRatio
    f[28] = turnCosine
    f[29] = (last.speed - previousSpeed) / recentSpeed * (timeStep < 5 ? 1 : 5 / timeStep)
    f[30] = logRecentSpeed
    guard hasMotionLine else { return f }
    f[31] = last.isMoving ? 1 : 0
    f[32] = motionShare
    f[33] = shortMotionShare
    f[34] = longMotionShare
    f[35] = log((last.secondsSinceLineChange + 2) / timeScale) * (last.isMoving ? 1 : -1)
    return f
  }
}

extension MovementHistory {
  /// Whether both histories give the same features.
  static func == (a: MovementHistory, b: MovementHistory) -> Bool {
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

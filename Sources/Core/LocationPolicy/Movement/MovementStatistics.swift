import CCore

// The parts of ``MovementHistory``: sums of a fixed size, each updated by its own functions only. O(1).

/// The move between the last two fixes.
struct LastMove: Sendable {
  /// Time between the fixes, seconds, at least 0.5.
  private(set) var seconds = 1.0
  /// Distance between the fixes, metres.
  private(set) var distance = 0.0
  /// Cosine of the angle to the move before; 0 if one of them has no direction.
  private(set) var turnCosine = 0.0
  /// Reported speed at the fix before, m/s.
  private(set) var speedBefore = 0.0
  fileprivate var east = 0.0
  fileprivate var north = 0.0

  /// Mean speed of the move, m/s.
  var speed: Double { distance / seconds }

  /// Handles the first fix.
  mutating func begin(at sample: MovementHistory.Sample) { speedBefore = sample.speed }

  /// Handles the next fix.
  mutating func advance(from last: MovementHistory.Sample, to sample: MovementHistory.Sample) {
    let (eastBefore, northBefore, distanceBefore) = (east, north, distance)
    speedBefore = last.speed
    seconds = max(sample.time - last.time, 0.5)
    east = sample.east - last.east
    north = sample.north - last.north
    distance = (east * east + north * north).squareRoot()
    turnCosine = 0
    if distance > 1e-9 && distanceBefore > 1e-9 {
      turnCosine = (east * eastBefore + north * northBefore) / (distance * distanceBefore)
    }
  }
}

/// Speed over several periods: decaying means and maxima, and the drift, the decaying sum of the moves.
package struct SpeedStatistics: Sendable {
  private var peaks = InlineArray<3, Double>(repeating: 0)
  private var means = InlineArray<4, Double>(repeating: 0)
  private var eastDrifts = InlineArray<4, Double>(repeating: 0)
  private var northDrifts = InlineArray<4, Double>(repeating: 0)

  private static func peakTimeConstant(_ i: Int) -> Double {
    let times: InlineArray<3, Double> = [60, 300, 1_800]
    return times[i]
  }
  private static func meanTimeConstant(_ i: Int) -> Double {
    let times: InlineArray<4, Double> = [30, 120, 480, 1_800]
    return times[i]
  }

  /// Decaying maximum of the speed, m/s; `i` is 0 to 2, for 1, 5 and 30 minutes.
  package func peak(_ i: Int) -> Double { peaks[i] }

  /// Decaying mean of the speed, m/s; `i` is 0 to 3, for 0.5, 2, 8 and 30 minutes.
  package func mean(_ i: Int) -> Double { means[i] }

  /// Length of the drift, metres; `i` as in ``mean(_:)``.
  func drift(_ i: Int) -> Double {
    (eastDrifts[i] * eastDrifts[i] + northDrifts[i] * northDrifts[i]).squareRoot()
  }

  /// Handles the first fix.
  mutating func begin(at sample: MovementHistory.Sample) {
    for i in 0..<4 { means[i] = sample.speed }
    for i in 0..<3 { peaks[i] = sample.speed }
  }

  /// Adds a move, which ends at `sample`.
  mutating func add(_ move: LastMove, _ sample: MovementHistory.Sample) {
    let moveSpeed = move.speed
    for i in 0..<4 {
      let time = SpeedStatistics.meanTimeConstant(i)
      let decay = exp(-move.seconds / time)
      means[i] = moveSpeed + (means[i] - moveSpeed) * decay
      let gain = time * (1 - decay) / move.seconds
      eastDrifts[i] = move.east * gain + eastDrifts[i] * decay
      northDrifts[i] = move.north * gain + northDrifts[i] * decay
    }
    let speed = max(sample.speed, moveSpeed)
    for i in 0..<3 {
      peaks[i] = max(speed, peaks[i] * exp(-move.seconds / SpeedStatistics.peakTimeConstant(i)))
    }
  }
}

/// Three circles, with radii of 0.35, 1 and 3 times the bound: each is centred on a fix, and moves to the first fix
/// outside it.
struct AnchorCircles: Sendable {
  private struct Anchor: Sendable {
    var east = 0.0
    var north = 0.0
    var time = 0.0

    init() {}

    init(_ sample: MovementHistory.Sample) {
      east = sample.east
      north = sample.north
      time = sample.time
    }
  }

  private var anchors = InlineArray<3, Anchor>(repeating: Anchor())

  private static func radius(_ i: Int) -> Double {
    let radii: InlineArray<3, Double> = [0.35, 1, 3]
    return radii[i]
  }

  /// Time of the fix at the centre of a circle, seconds; 0 is the smallest circle.
  func time(_ i: Int) -> Double { anchors[i].time }

  /// Handles the first fix.
  mutating func begin(at sample: MovementHistory.Sample) {
    for i in 0..<3 { anchors[i] = Anchor(sample) }
  }

  /// Adds a fix. A circle is at least 2.5 times as large as the fix's accuracy.
  mutating func add(_ sample: MovementHistory.Sample, bound: Double) {
    for i in 0..<3 {
      let east = sample.east - anchors[i].east
      let north = sample.north - anchors[i].north
      let radius = max(AnchorCircles.radius(i) * bound, 2.5 * sample.accuracy)
      if (east * east + north * north).squareRoot() > radius { anchors[i] = Anchor(sample) }
    }
  }
}

/// When the device last moved and stood, and the share of time in which it moved.
struct MovingShares: Sendable {
  /// Time of the last fix at which the device moved, seconds.
  private(set) var lastMoving = 0.0
  /// Time of the last fix with a speed of a stationary device, seconds.
  private(set) var lastStanding = 0.0
  /// Decaying share of time in which the device moved, over 10 minutes.
  private(set) var share = 0.0
  /// The same over an hour.
  private(set) var longShare = 0.0

  /// Speed below which the device counts as stationary, m/s.
  private static let standingSpeed = 0.6

  /// Handles the first fix.
  mutating func begin(at sample: MovementHistory.Sample) {
    lastMoving = sample.time
    lastStanding = sample.time
    share = sample.speed > MovingShares.standingSpeed ? 1 : 0
    longShare = share
  }

  /// Adds a move, which ends at `sample`.
  mutating func add(_ move: LastMove, _ sample: MovementHistory.Sample) {
    let speed = max(sample.speed, move.speed)
    if speed > MovingShares.standingSpeed { lastMoving = sample.time }
    if sample.speed < MovingShares.standingSpeed { lastStanding = sample.time }
    let moving = speed > MovingShares.standingSpeed ? 1.0 : 0
    share = moving + (share - moving) * exp(-move.seconds / 600)
    longShare = moving + (longShare - moving) * exp(-move.seconds / 3_600)
  }
}

/// The share of time in which the motion line reported motion.
struct LineShares: Sendable {
  /// Share between the last two fixes.
  private(set) var share = 0.0
  /// Decaying share over 2 minutes.
  private(set) var shortShare = 0.0
  /// Decaying share over 20 minutes.
  private(set) var longShare = 0.0

  /// Handles the first fix.
  mutating func begin(at sample: MovementHistory.Sample) {
    shortShare = sample.isMoving ? 1 : 0
    longShare = shortShare
  }

  /// Adds a fix `seconds` after the last one.
  mutating func add(_ sample: MovementHistory.Sample, seconds: Double) {
    share = min(sample.motionSeconds / seconds, 1)
    shortShare = share + (shortShare - share) * exp(-seconds / 120)
    longShare = share + (longShare - share) * exp(-seconds / 1_200)
  }
}

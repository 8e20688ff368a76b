import LocationTypes

/// When the receiver must start again for the last reported place to stay true to a distance.
///
/// Takes each fix that is told and each change of the motion line, and keeps the moment up to date:
/// while the line says still the wearer goes nowhere, and the clock of the time off stands.
public struct MovementPlanner: Equatable, Sendable {
  /// After so long without a fix what was known of the wearer counts no more.
  static let memory = Interval.seconds(14_400)
  /// A motion line that says still is believed for so long at least and at most: as long as the
  /// wearer is known to have rested here already.
  static let shortestTrust = 300.0
  static let longestTrust = 7_200.0
  /// Below this distance a motion line says nothing about whether it was left, metres.
  static let leastBoundOfLine = 40.0

  private var model = MovementModel(within: 100, hasLine: false)
  private var line = MotionLine.absent
  private var lineChanged = Instant.boot
  private var clock = OffClock()
  private var place: Coordinate?
  private var placeTime = Instant.boot
  private var east = 0.0
  private var north = 0.0

  /// Nothing is known of the wearer.
  public init() {}

  /// What the motion line says, from now on.
  public mutating func hear(_ new: MotionLine, at now: Instant) {
    guard new != line else { return }
    clock.pass(line, until: now)
    line = new
    lineChanged = now
  }

  /// Takes a fix that is told to those who were promised `bound` metres.
  ///
  /// O(1): about 20,000 instructions.
  public mutating func take(
    _ fix: Fix, within bound: Double, accuracy: Double, _ figures: ReceiverFigures,
    _ predictor: TimeToFixPredictor, at now: Instant
  ) {
    let hasLine = line != .absent && bound >= MovementPlanner.leastBoundOfLine
    let isNew =
      place == nil || bound != model.history.bound || hasLine != model.history.hasLine
      || fix.acquired - placeTime > MovementPlanner.memory
    if isNew { begin(within: bound, hasLine: hasLine) }
    clock.pass(line, until: now)
    let seen = sighting(of: fix, accuracy: accuracy, at: now)
    let off = model.off(after: seen, figures, predictor)
    let rest = seen.time - model.history.restSince
    let trust = min(
      max(rest, MovementPlanner.shortestTrust), MovementPlanner.longestTrust)
    clock = OffClock(off: off, trust: trust, usesLine: hasLine, at: now)
  }

  /// When the receiver must start for those who are promised `bound` metres; now, when it must stay
  /// on, and when what was reckoned is for a wider promise.
  public mutating func start(within bound: Double, at now: Instant) -> Instant {
    clock.pass(line, until: now)
    return bound < model.history.bound ? now : clock.due(line, at: now)
  }

  /// Nobody is promised a distance any more: whoever is next needs a fix at once.
  public mutating func lapse() { clock.lapse() }

  private mutating func begin(within bound: Double, hasLine: Bool) {
    model = MovementModel(within: bound, hasLine: hasLine)
    place = nil
    east = 0
    north = 0
  }

  private mutating func sighting(
    of fix: Fix, accuracy: Double, at now: Instant
  ) -> MovementHistory.Sighting {
    var speed = fix.speed ?? 0
    if let place {
      let step = place.localOffset(to: fix.coordinate)
      east += step.east
      north += step.north
      if fix.speed == nil, fix.acquired > placeTime {
        speed =
          place.localDistance(to: fix.coordinate) / (fix.acquired - placeTime).seconds
      }
    }
    place = fix.coordinate
    placeTime = fix.acquired
    return MovementHistory.Sighting(
      time: fix.acquired.seconds, east: east, north: north, speed: speed, accuracy: accuracy,
      isMoving: line == .moving, motion: clock.motion, sinceChange: (now - lineChanged).seconds)
  }
}

/// The clock on which a time off is counted: it stands while the motion line says still.
struct OffClock: Equatable, Sendable {
  /// Seconds for which the receiver may be off.
  private(set) var off = 0.0
  /// Seconds that the line has said motion since the fix.
  private(set) var motion = 0.0
  /// Seconds for which the clock may stand, in all.
  private var trust = 0.0
  private var usesLine = false
  private var elapsed = 0.0
  private var stood = 0.0
  private var now = Instant.boot

  /// Nothing is promised: it is due at once.
  init() {}

  init(off: Double, trust: Double, usesLine: Bool, at now: Instant) {
    self.off = off
    self.trust = trust
    self.usesLine = usesLine
    self.now = now
  }

  /// Its time is over, whatever was left of it.
  mutating func lapse() { off = 0 }

  /// How fast it goes while the line says `line`.
  ///
  /// Still again after motion it goes at half speed, for a wearer who stops may go on; but a motion
  /// that was short is taken for a false alarm.
  private func rate(_ line: MotionLine) -> Double {
    guard usesLine else { return 1 }
    switch line {
    case .absent, .moving: return 1
    case .still:
      let alarm = min(MovementTuning.falseAlarm * off, MovementTuning.longestAlarm)
      return motion > alarm ? MovementTuning.standingRate : 0
    }
  }

  /// Time has passed, in which the line said `line`.
  mutating func pass(_ line: MotionLine, until time: Instant) {
    let seconds = max((time - now).seconds, 0)
    now = max(now, time)
    let rate = rate(line)
    elapsed += seconds * rate
    if rate == 0 { stood += seconds }
    if line == .moving { motion += seconds }
  }

  /// When the time off is over if the line goes on saying `line`.
  func due(_ line: MotionLine, at now: Instant) -> Instant {
    let left = max(off - elapsed, 0)
    guard left > 0 else { return now }
    let rate = rate(line)
    if rate > 0 { return now + Interval(seconds: left / rate) }
    return now + Interval(seconds: max(trust - stood, 0))
  }
}

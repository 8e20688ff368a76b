import LocationTypes

/// Computes when the receiver must start so that the last reported position stays within an accuracy bound.
///
/// **Problem.** A client that requests an accuracy of 100 m must not be farther than 100 m from its last reported fix.
/// A receiver that is always on satisfies this but takes far more power than a sleeping one. Clients with such a bound
/// (`Demand.within`) therefore need a start time after each fix: as late as possible, but early enough that the device
/// rarely leaves the bound.
///
/// **Method.** ``MovementModel`` converts the history of fixes into an off time. The planner counts that off time on
/// ``OffClock``. The motion line, if the board has one, controls the rate of this clock: a device that is still cannot
/// leave the bound, so the clock is paused. The planner also converts coordinates to a local plane and derives the
/// speed if the receiver does not report one.
///
/// **History.** `accept` continues the history, or restarts it with that fix if
///
/// - it is the first fix,
/// - the bound changed, or the motion line became usable or unusable for it,
/// - the previous fix is older than `historyLifetime` (4 h).
///
/// **Off clock.** Each `accept` starts a new clock. Its rate depends on the level of the motion line and on the motion
/// since that fix:
///
/// ```
///                  accept(fix): off time, pause limit
///                               |
///         line absent or moving | line still
///                +--------------+---------------+
///                v                              v
///          +-----------+    still, motion  +----------+
///          |  RUNNING  |    <= alarm       |  PAUSED  |
///          |  rate 1   | ----------------> |  rate 0  |
///          |           | <---------------- |          |
///          +-----------+      moving       +----------+
///              |   ^
///       still, |   | moving
///     motion > |   |
///        alarm v   |
///          +-----------+
///          |   SLOW    |
///          | rate 1/2  |
///          +-----------+
///
/// start time (all times from now)
///   RUNNING, SLOW:  (off time - elapsed) / rate
///   PAUSED:         pause limit - time paused so far
///   elapsed >= off time, expired, or no fix yet:  now
/// ```
///
/// Here *alarm* is the longest motion that counts as a false alarm of the sensor: 0.3 of the off time, at most 60 s.
/// The half rate covers a device that stops briefly and then continues. The rate is always 1 for a bound below
/// `minimumMotionLineBound`, and without a motion line.
///
/// **Pause limit.** The sensor may miss the start of a motion. The pause limit is therefore the time for which fixes
/// have already shown the device in one spot, but at least 300 s and at most 7,200 s.
///
/// **Invariants.**
///
/// - The start time is never in the past.
/// - A bound that is narrower than the one of the last `accept` needs a fix now; a wider one uses the time computed
///   before.
/// - `elapsed`, `paused` and `motionSeconds` only grow between two fixes.
/// - `expire` sets the off time to 0 and keeps the history.
///
/// **Who changes what.** ``MovementModel`` alone writes the history, ``OffClock`` alone its times. `Engine` calls
/// `accept` for each delivered fix while a bound applies, `motionLineChanged` for each level, `startTime` at the end of
/// each step unless a client needs every fix now, and `expire` when no client has a bound. Pure: time is an argument.
///
/// **Bounds.** Fixed size. O(1) for each call; `accept` evaluates one network and at most 109 candidates, about 20,000
/// instructions.
public struct MovementPlanner: Equatable, Sendable {
  /// Time without a fix after which the history is discarded.
  static let historyLifetime = Interval.seconds(14_400)
  /// Smallest bound, metres, for which the motion line is used: for a smaller one the sensor reacts too slowly.
  static let minimumMotionLineBound = 40.0

  private var model = MovementModel(within: 100, hasMotionLine: false)
  private var motionLine = MotionLine.absent
  private var motionLineChangeTime = Instant.boot
  private var offClock = OffClock()
  private var lastCoordinate: Coordinate?
  private var lastFixTime = Instant.boot
  private var east = 0.0
  private var north = 0.0

  /// Creates a planner without history.
  public init() {}

  /// Sets the level of the motion line from `now` on.
  public mutating func motionLineChanged(_ new: MotionLine, at now: Instant) {
    guard new != motionLine else { return }
    offClock.advance(motionLine, until: now)
    motionLine = new
    motionLineChangeTime = now
  }

  /// Adds a delivered fix.
  ///
  /// O(1): about 20,000 instructions.
  ///
  /// - Parameters:
  ///   - bound: The smallest accuracy bound of any client, metres.
  ///   - accuracy: Horizontal accuracy of the fix, metres.
  public mutating func accept(
    _ fix: Fix, within bound: Double, accuracy: Double, _ figures: ReceiverParameters,
    _ predictor: TimeToFixPredictor, at now: Instant
  ) {
    let hasLine = motionLine != .absent && bound >= MovementPlanner.minimumMotionLineBound
    let isNew =
      lastCoordinate == nil || bound != model.history.bound
      || hasLine != model.history.hasMotionLine
      || fix.acquired - lastFixTime > MovementPlanner.historyLifetime
    if isNew { restart(within: bound, hasMotionLine: hasLine) }
    offClock.advance(motionLine, until: now)
    let newest = sample(of: fix, accuracy: accuracy, at: now)
    let off = model.offTime(
      after: newest, figures, predictor, MovementTuning(hasMotionLine: hasLine))
    offClock = OffClock(
      offTime: off, pauseLimit: model.pauseLimit, usesMotionLine: hasLine, at: now)
  }

  /// The time at which the receiver must start for clients with `bound`, metres: `now` if it must stay on, and if the
  /// last off time was computed for a wider bound.
  public mutating func startTime(within bound: Double, at now: Instant) -> Instant {
    offClock.advance(motionLine, until: now)
    return bound < model.history.bound ? now : offClock.end(motionLine, at: now)
  }

  /// Ends the off time, when no client has a bound any more: the next client with a bound needs a fix immediately.
  public mutating func expire() { offClock.expire() }

  private mutating func restart(within bound: Double, hasMotionLine: Bool) {
    model = MovementModel(within: bound, hasMotionLine: hasMotionLine)
    lastCoordinate = nil
    east = 0
    north = 0
  }

  private mutating func sample(
    of fix: Fix, accuracy: Double, at now: Instant
  ) -> MovementHistory.Sample {
    var speed = fix.speed ?? 0
    if let lastCoordinate {
      let step = lastCoordinate.localOffset(to: fix.coordinate)
      east += step.east
      north += step.north
      if fix.speed == nil, fix.acquired > lastFixTime {
        speed =
          lastCoordinate.localDistance(to: fix.coordinate) / (fix.acquired - lastFixTime).seconds
      }
    }
    lastCoordinate = fix.coordinate
    lastFixTime = fix.acquired
    return MovementHistory.Sample(
      time: fix.acquired.seconds, east: east, north: north, speed: speed, accuracy: accuracy,
      isMoving: motionLine == .moving, motionSeconds: offClock.motionSeconds,
      secondsSinceLineChange: (now - motionLineChangeTime).seconds)
  }
}

/// A clock that measures the off time and is paused while the motion line reports "still".
///
/// States and rates: see ``MovementPlanner``.
struct OffClock: Equatable, Sendable {
  /// Seconds for which the receiver may be off.
  private(set) var offTime = 0.0
  /// Seconds of motion since the fix, as the line reported.
  private(set) var motionSeconds = 0.0
  /// Seconds for which the clock may be paused in total.
  private var pauseLimit = 0.0
  private var usesMotionLine = false
  private var elapsed = 0.0
  private var paused = 0.0
  private var lastUpdate = Instant.boot

  /// Creates a clock without off time: the receiver is due now.
  init() {}

  init(offTime: Double, pauseLimit: Double, usesMotionLine: Bool, at now: Instant) {
    self.offTime = offTime
    self.pauseLimit = pauseLimit
    self.usesMotionLine = usesMotionLine
    self.lastUpdate = now
  }

  /// Ends the off time.
  mutating func expire() { offTime = 0 }

  /// The rate of the clock while the line reports `line`.
  ///
  /// "Still" after motion gives half the rate, because the device may continue; short motion counts as a false alarm.
  private func rate(_ line: MotionLine) -> Double {
    guard usesMotionLine else { return 1 }
    switch line {
    case .absent, .moving: return 1
    case .still:
      return motionSeconds > MovementTuning.longestFalseAlarm(offTime: offTime)
        ? MovementTuning.stillAfterMotionRate : 0
    }
  }

  /// Advances the clock to `time`; the line reported `line` since the last call.
  mutating func advance(_ line: MotionLine, until time: Instant) {
    let seconds = max((time - lastUpdate).seconds, 0)
    lastUpdate = max(lastUpdate, time)
    let rate = rate(line)
    elapsed += seconds * rate
    if rate == 0 { paused += seconds }
    if line == .moving { motionSeconds += seconds }
  }

  /// The end of the off time if the line keeps reporting `line`.
  func end(_ line: MotionLine, at now: Instant) -> Instant {
    let remaining = max(offTime - elapsed, 0)
    guard remaining > 0 else { return now }
    let rate = rate(line)
    if rate > 0 { return now + Interval(seconds: remaining / rate) }
    return now + Interval(seconds: max(pauseLimit - paused, 0))
  }
}

import LocationTypes

/// State machine of the automatic pause of one client's updates (PAU-1 to PAU-10).
///
/// # Problem
///
/// Updates of a device that stands still cost energy and deliver nothing new. Pause them when the device has stayed
/// within a radius for the dwell time of the activity, and resume by itself, in the background too (X4), within the
/// time that PAU-4 allows. While paused, fixes are needed only now and then; how often depends on the motion line. Live
/// updates use the same machine for `stationary`.
///
/// # States
///
///                  start                    pause: fix inside the radius, see below
///     idle ────────────────→ watching ──────────────────────────────────────→ paused
///      ↑                      │  ↑ ↑                                           │  │
///      └──────── stop ────────┘  │ └────────────────── resume ─────────────────┘  │ stop
///                                │     start; fix that shows movement;            │
///                                │     allow(false); time at or after ``check``   │
///                                │                                                ↓
///                                └───────────── start: resume ─────────────── halted
///
/// All other pairs of state and event change no state and have the outcome `nothing`.
///
/// - `idle`: updates do not run.
/// - `watching`: updates run, fixes are delivered.
/// - `paused`: updates run but are paused; fixes are not delivered.
/// - `halted`: stopped while paused. The resume is still to be reported, at the next start (PAU-3).
///
/// A fix pauses if pausing is allowed (PAU-5), the detector finds it inside the radius, the device has stood for the
/// dwell time of the activity (PAU-7), and the motion line is absent, or has been still for ``stillBeforePause`` (60
/// s). While the line reports motion no fix pauses.
///
/// A fix resumes if the detector finds movement, or if the fix is outside the radius and unconfirmed while the line
/// reports motion: two independent signs need no confirmation. Without any fix, updates resume ``blindResumeDelay`` (45
/// s) after the line reported motion or after the newest fix, whichever is later; that leaves 15 s of the 60 s of PAU-4
/// to the caller.
///
/// # Checks during a pause
///
///     motion line    next fix after
///     still          none; one check 10 s after the last one if motion was reported and not checked since
///     moving         10 to 15 s: the time to travel 100 m at the greatest plausible speed
///     absent         60 to 300 s: the time to travel 1 km at the greatest plausible speed
///     any            5 s after an unconfirmed fix outside the radius
///
/// # Invariants
///
/// - Outcomes `pause` and `resume` alternate strictly, beginning with `pause` (PAU-3).
/// - Stillness before a pause does not count towards the next one: the detector restarts with each start from `idle`
///   and with each resume. After a resume by detected movement it has restarted by itself at that fix.
/// - Line reports and fixes update `line` and `detector` in every state.
///
/// # Who changes what
///
/// Only ``handle(_:)`` changes the value. It notifies no client and controls no receiver: the caller carries out the
/// returned outcome and requests a fix at each time that ``nextFix(at:speed:line:)`` returns. O(1) in time and
/// memory.
public struct PauseMonitor: Equatable, Sendable {
  /// State of the pause.
  public enum State: UInt8, Equatable, Sendable {
    /// Updates do not run.
    case idle = 0
    /// Updates run.
    case watching = 1
    /// Paused, and the pause is reported.
    case paused = 2
    /// Stopped while paused: the next start reports the resume (PAU-3).
    case halted = 3
  }

  /// Input of the state machine.
  public enum Event: Sendable {
    /// Updates are started; while they run, it only ends a pause (PAU-4).
    case start
    /// Updates are stopped.
    case stop
    /// `pausesLocationUpdatesAutomatically` (PAU-5).
    case allow(Bool)
    /// `activityType`.
    case activity(ActivityType)
    /// A fix was acquired, for this client or another, or as a check during the pause.
    case fix(Fix)
    /// A check during the pause ended without a fix.
    case noFix(at: Instant)
    /// A report of the motion line; a repeated state is ignored.
    case line(MotionLine, at: Instant)
    /// Time passed.
    case time(Instant)
  }

  /// What the caller must do.
  public enum Outcome: UInt8, Equatable, Sendable {
    /// Nothing; while paused, the fix is not delivered.
    case nothing = 0
    /// Deliver this fix regardless of filters (PAU-10), end a deferral (DEF-38), report the pause.
    case pause = 1
    /// Report the resume, then deliver this fix, if there is one, as any other.
    case resume = 2
  }

  /// How long the motion line must have been still before a pause.
  static let stillBeforePause = Interval.seconds(60)
  /// How long the motion line may report motion without any fix before updates resume. That leaves 15 s of the 60 s of
  /// PAU-4 to the caller.
  static let blindResumeDelay = Interval.seconds(45)
  /// Time between an unconfirmed fix outside and the check that confirms it.
  static let confirmationDelay = Interval.seconds(5)
  /// Checks while the motion line reports motion: distance that may be travelled between two, metres, and limits of the
  /// interval.
  static let movingCheckDistance = 100.0
  static let movingCheckInterval = Interval.seconds(10)
  static let longestMovingCheckInterval = Interval.seconds(15)
  /// The same without a motion line.
  static let lineAbsentCheckDistance = 1_000.0
  static let lineAbsentCheckInterval = Interval.seconds(60)
  static let longestLineAbsentCheckInterval = Interval.seconds(300)

  /// Whether pausing is allowed (PAU-5); true by default, as in Core Location (STD-2).
  public private(set) var isAllowed = true
  /// Thresholds of standing still.
  public private(set) var thresholds: PauseThresholds
  /// Detects stillness from fixes.
  public private(set) var detector = StillnessDetector()
  private var line = MotionLine.absent
  /// Time of the last change of `line`.
  private var lineSince = Instant.boot
  /// End of the last check, with or without a fix.
  private var lastCheck = Instant.boot
  /// Time at which the line reported motion that no check has covered yet; nil if none exists.
  private var uncheckedMotionSince: Instant?
  /// Current state.
  public private(set) var state = State.idle

  /// Creates a pause monitor for updates that have not started.
  public init(_ activity: ActivityType = .other) { thresholds = activity.pause }

  /// Creates a pause monitor with custom thresholds.
  init(thresholds: PauseThresholds) {
    precondition(
      thresholds.dwell >= .zero && thresholds.radius > 0, "dwell must be >= 0 and radius > 0")
    self.thresholds = thresholds
  }

  /// Handles an event; the only writer of the state. O(1).
  public mutating func handle(_ event: Event) -> Outcome {
    #if REACHED
      PauseMonitor.machine.record(Int(state.rawValue), event.column)
    #endif
    let finding = note(event)
    let (next, outcome) = step(event, finding)
    // Stillness before the pause does not count towards the next one. After movement shown by a fix, the detector has
    // already restarted.
    if outcome == .resume, finding != .moved { detector = StillnessDetector() }
    if state == .idle, next == .watching { detector = StillnessDetector() }
    state = next
    return outcome
  }

  private mutating func note(_ event: Event) -> StillnessDetector.Finding? {
    switch event {
    case .start, .stop, .time: return nil
    case .allow(let allowed): isAllowed = allowed
    case .activity(let activity): thresholds = activity.pause
    case .noFix(let now):
      noteCheck(at: now)
      detector.clearUnconfirmedMovement()
    case .line(let newLine, let now):
      guard newLine != line else { return nil }
      line = newLine
      lineSince = now
      if newLine == .moving { uncheckedMotionSince = now }
    case .fix(let fix):
      noteCheck(at: fix.acquired)
      return detector.add(fix, radius: thresholds.radius)
    }
    return nil
  }

  private mutating func noteCheck(at now: Instant) {
    // A fix acquired before the line reported motion does not check that motion.
    if let motion = uncheckedMotionSince, now >= motion { uncheckedMotionSince = nil }
    lastCheck = max(lastCheck, now)
  }

  private func step(_ event: Event, _ finding: StillnessDetector.Finding?) -> (State, Outcome) {
    switch (state, event) {
    case (.idle, .start): (.watching, .nothing)
    case (.idle, .stop), (.idle, .allow), (.idle, .activity), (.idle, .fix), (.idle, .noFix),
      (.idle, .line), (.idle, .time):
      (.idle, .nothing)
    case (.watching, .start): (.watching, .nothing)
    case (.watching, .stop): (.idle, .nothing)
    case (.watching, .allow), (.watching, .activity): (.watching, .nothing)
    case (.watching, .fix(let fix)):
      showsStop(fix, finding) ? (.paused, .pause) : (.watching, .nothing)
    case (.watching, .noFix), (.watching, .line), (.watching, .time): (.watching, .nothing)
    case (.paused, .start): (.watching, .resume)
    case (.paused, .stop): (.halted, .nothing)
    case (.paused, .allow(let allowed)): allowed ? (.paused, .nothing) : (.watching, .resume)
    case (.paused, .activity): (.paused, .nothing)
    case (.paused, .fix): showsMovement(finding) ? (.watching, .resume) : (.paused, .nothing)
    case (.paused, .noFix), (.paused, .line): (.paused, .nothing)
    case (.paused, .time(let now)): now >= check ? (.watching, .resume) : (.paused, .nothing)
    case (.halted, .start): (.watching, .resume)
    case (.halted, .stop), (.halted, .allow), (.halted, .activity), (.halted, .fix),
      (.halted, .noFix), (.halted, .line), (.halted, .time):
      (.halted, .nothing)
    }
  }

  /// Whether the fix shows movement. Outside the radius while the line reports motion needs no confirmation.
  private func showsMovement(_ finding: StillnessDetector.Finding?) -> Bool {
    finding == .moved || (line == .moving && detector.needsConfirmation)
  }

  private func showsStop(_ fix: Fix, _ finding: StillnessDetector.Finding?) -> Bool {
    guard isAllowed, finding == .inside, fix.acquired - detector.since >= thresholds.dwell else {
      return false
    }
    switch line {
    case .absent: return true
    case .moving: return false
    case .still: return fix.acquired - lineSince >= PauseMonitor.stillBeforePause
    }
  }
}

// MARK: - Checks during a pause

extension PauseMonitor {
  /// Whether updates are paused.
  public var isPaused: Bool { state == .paused }

  /// When time alone ends the pause, because the motion line reports motion and no fix can be acquired;
  /// ``Event/time(_:)`` is due then. `.distantFuture` if never.
  public var check: Instant {
    guard state == .paused, line == .moving else { return .distantFuture }
    return max(lineSince, detector.newest) + PauseMonitor.blindResumeDelay
  }

  /// When the next fix is needed during a pause; not before `now`, `.distantFuture` if none is.
  ///
  /// With a motion line that reports no motion: never, except for the one check after a false alarm. While it reports
  /// motion: every 10 to 15 s. Without a line: every 60 to 300 s, more often if the device can be faster, so that at
  /// most about 1 km of movement is missed. After a fix outside the radius: 5 s later. A check without a fix must be
  /// reported with ``Event/noFix(at:)``, otherwise it stays due.
  ///
  /// - Parameters:
  ///   - speed: Plausible speed of the device.
  ///   - line: Current state of the motion line.
  public func nextFix(at now: Instant, speed: PlausibleSpeed, line: MotionLine) -> Instant {
    guard state == .paused else { return .distantFuture }
    if detector.needsConfirmation { return max(now, lastCheck + PauseMonitor.confirmationDelay) }
    if line != .absent, uncheckedMotionSince != nil {
      return max(now, lastCheck + PauseMonitor.movingCheckInterval)
    }
    switch line {
    case .still: return .distantFuture
    case .moving:
      return wait(
        for: PauseMonitor.movingCheckDistance, speed, PauseMonitor.movingCheckInterval,
        PauseMonitor.longestMovingCheckInterval, at: now)
    case .absent:
      return wait(
        for: PauseMonitor.lineAbsentCheckDistance, speed, PauseMonitor.lineAbsentCheckInterval,
        PauseMonitor.longestLineAbsentCheckInterval, at: now)
    }
  }

  /// The time, not before `now`, at which `distance` can have been travelled since the last check, but `least` to `most`
  /// after it.
  private func wait(
    for distance: Double, _ speed: PlausibleSpeed, _ least: Interval, _ most: Interval,
    at now: Instant
  ) -> Instant {
    let travelTime = speed.shortestTime(toTravel: distance, after: lastCheck)
    return max(now, lastCheck + max(least, min(most, travelTime)))
  }
}

#if REACHED
  extension PauseMonitor {
    static let machine = TransitionCoverage(
      "PauseMonitor", states: "idle watching paused halted",
      events: "start stop allow activity fix noFix line time",
      excluded: [
        ("idle halted", "fix", "fixes come while updates run"),
        ("idle halted", "stop", "updates that do not run are not stopped"),
      ])
  }

  extension PauseMonitor.Event {
    var column: Int {
      switch self {
      case .start: 0
      case .stop: 1
      case .allow: 2
      case .activity: 3
      case .fix: 4
      case .noFix: 5
      case .line: 6
      case .time: 7
      }
    }
  }
#endif

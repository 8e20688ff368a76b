import LocationTypes

/// The automatic pause of one client: `idle → watching ⇄ paused`, and `halted` between a stop in a
/// pause and the next start.
///
/// It pauses when fixes stayed within the radius for the dwell time of the activity (PAU-7). It
/// resumes by itself, in the background too (X4): on a fix that shows movement, when a motion line
/// says *moving* and no fix can be had, or on a new start. It tells nobody; its owner does what the
/// outcome says. Live updates use the same machine for `stationary`.
public struct PauseMonitor: Equatable, Sendable {
  /// Where the client stands.
  public enum State: UInt8, Equatable, Sendable {
    /// Updates do not run.
    case idle = 0
    /// Updates run.
    case watching = 1
    /// Paused, and told so.
    case paused = 2
    /// Stopped while paused: the next start tells the resume that is still owed (PAU-3).
    case halted = 3
  }

  /// What happens.
  public enum Event: Sendable {
    /// Updates are started; while they run only an end of a pause (PAU-4).
    case start
    /// Updates are stopped.
    case stop
    /// `pausesLocationUpdatesAutomatically` (PAU-5).
    case allow(Bool)
    /// `activityType`.
    case activity(ActivityType)
    /// A fix was made, for this client or another, or as a look during the pause.
    case fix(Fix)
    /// A look during the pause ended without a fix.
    case noFix(at: Instant)
    /// The motion line says something; the same again is no news.
    case line(MotionLine, at: Instant)
    /// Time passed.
    case time(Instant)
  }

  /// What the owner has to do.
  public enum Outcome: UInt8, Equatable, Sendable {
    /// Nothing; while paused, the fix is not delivered.
    case nothing = 0
    /// Deliver this fix whatever filters say (PAU-10), end a deferral (DEF-38), tell the pause.
    case pause = 1
    /// Tell the resume; then this fix, if there is one, is delivered like any other.
    case resume = 2
  }

  /// How long a motion line must have been still for a pause.
  static let settling = Interval.seconds(60)
  /// How long a motion line may say *moving* without any fix; then updates resume blindly, which
  /// leaves 15 s of the 60 s of PAU-4 to whoever acts on it.
  static let blindness = Interval.seconds(45)
  /// How long a fix outside waits for the one that confirms it.
  static let doubt = Interval.seconds(5)
  /// Looks while a motion line says *moving*: the way that may be made between two, metres, and
  /// bounds.
  static let movingReach = 100.0
  static let movingLook = Interval.seconds(10)
  static let movingLookAtMost = Interval.seconds(15)
  /// The same without a motion line.
  static let blindReach = 1_000.0
  static let blindLook = Interval.seconds(60)
  static let blindLookAtMost = Interval.seconds(300)

  /// Where the client stands.
  public private(set) var state = State.idle
  /// Whether it may pause (PAU-5); Core Location's default is yes (STD-2).
  public private(set) var isAllowed = true
  /// When standing still is a pause.
  public private(set) var thresholds: PauseThresholds
  /// What the fixes say.
  public private(set) var detector = StillnessDetector()
  private var line = MotionLine.absent
  /// Since when the line has said what it says.
  private var lineSince = Instant.boot
  /// The end of the last look: its fix, or that there was none.
  private var looked = Instant.boot
  /// When the line said *moving*, if there was no look since.
  private var owedSince: Instant?

  /// A client that has not started updates.
  public init(_ activity: ActivityType = .other) { thresholds = activity.pause }

  /// The same with thresholds of its own.
  init(thresholds: PauseThresholds) { self.thresholds = thresholds }

  /// Takes an event; the one place that writes the state. O(1).
  public mutating func handle(_ event: Event) -> Outcome {
    #if REACHED
      PauseMonitor.machine.reach(Int(state.rawValue), event.column)
    #endif
    let finding = note(event)
    let (next, outcome) = step(event, finding)
    // What was still before the pause does not count towards the next one; after a movement that a
    // fix showed, the detector has begun anew by itself.
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
      look(at: now)
      detector.forgetDoubt()
    case .line(let said, let now):
      guard said != line else { return nil }
      line = said
      lineSince = now
      if said == .moving { owedSince = now }
    case .fix(let fix):
      look(at: fix.acquired)
      return detector.add(fix, radius: thresholds.radius)
    }
    return nil
  }

  private mutating func look(at now: Instant) {
    // A fix that was made before the line moved is no look at what moved it.
    if let owed = owedSince, now >= owed { owedSince = nil }
    looked = max(looked, now)
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

  /// Outside the radius while the line moves: two witnesses need no third.
  private func showsMovement(_ finding: StillnessDetector.Finding?) -> Bool {
    finding == .moved || (line == .moving && detector.isInDoubt)
  }

  private func showsStop(_ fix: Fix, _ finding: StillnessDetector.Finding?) -> Bool {
    guard isAllowed, finding == .inside, fix.acquired - detector.since >= thresholds.dwell else {
      return false
    }
    switch line {
    case .absent: return true
    case .moving: return false
    case .still: return fix.acquired - lineSince >= PauseMonitor.settling
    }
  }
}

// MARK: - Looks during a pause

extension PauseMonitor {
  /// Whether the pause is on.
  public var isPaused: Bool { state == .paused }

  /// When time alone ends the pause, because a motion line says *moving* and no fix can be had;
  /// ``Event/time(_:)`` is due then. `.distantFuture` if never.
  public var check: Instant {
    guard state == .paused, line == .moving else { return .distantFuture }
    return max(lineSince, detector.newest) + PauseMonitor.blindness
  }

  /// When the next fix is wanted during a pause; not before `now`, `.distantFuture` if none is.
  ///
  /// With a motion line that is still: never, but for the one look that a false alarm asks for. One
  /// that moves: each 10 to 15 s. Without a line: each 60 to 300 s, the more often the faster the
  /// wearer can be, so that about 1 km may be missed. After a fix outside the radius: 5 s later. A
  /// look that finds nothing must be told by ``Event/noFix(at:)``, else it stays due.
  ///
  /// - Parameters:
  ///   - fastest: The greatest plausible speed, m/s; not a number, or ≤ 0, asks for the rarest looks.
  ///   - line: What the motion line says now.
  public func nextFix(at now: Instant, fastest: Double, line: MotionLine) -> Instant {
    guard state == .paused else { return .distantFuture }
    if detector.isInDoubt { return max(now, looked + PauseMonitor.doubt) }
    switch line {
    case .still:
      return owedSince == nil ? .distantFuture : max(now, looked + PauseMonitor.movingLook)
    case .moving:
      if owedSince != nil { return max(now, looked + PauseMonitor.movingLook) }
      let wait = PauseMonitor.wait(
        for: PauseMonitor.movingReach, at: fastest, PauseMonitor.movingLook,
        PauseMonitor.movingLookAtMost)
      return max(now, looked + wait)
    case .absent:
      let wait = PauseMonitor.wait(
        for: PauseMonitor.blindReach, at: fastest, PauseMonitor.blindLook,
        PauseMonitor.blindLookAtMost)
      return max(now, looked + wait)
    }
  }

  private static func wait(
    for reach: Double, at fastest: Double, _ least: Interval, _ most: Interval
  ) -> Interval {
    guard fastest > 0 else { return most }
    return max(least, min(most, Interval(seconds: reach / fastest)))
  }
}

#if REACHED
  extension PauseMonitor {
    static let machine = Machine(
      "PauseMonitor", states: "idle watching paused halted",
      events: "start stop allow activity fix noFix line time",
      excluded: [
        ("idle halted", "fix", "fixes come while updates run"),
        ("idle halted", "stop", "what does not run is not stopped"),
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

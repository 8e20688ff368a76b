import LocationTypes

/// The machine of the significant-change service for one client: `idle → first → watching`.
///
/// It ignores filters and accuracies asked for (SLC-1) and takes whatever fixes there are; when
/// nobody else makes any, ``nextFix(at:fastest:line:)`` says when it needs the next one. It owns no
/// receiver and tells nobody; its owner does what the outcome says. O(1) in time and memory.
public struct SignificantChange: Equatable, Sendable {
  /// Metres from the previous notification that make a change significant (SLC-2).
  public static let distance = 500.0
  /// The shortest time between two notifications (SLC-3), and between two looks at rest.
  public static let gate = Interval.seconds(300)
  /// How old a fix may be to be told first (SLC-5).
  public static let recent = Interval.seconds(300)
  /// The time between two looks while the motion line says that nothing moves.
  public static let stillGap = Interval.seconds(1800)
  /// The time between two looks at the least, whatever speed was measured (SLC-10).
  public static let shortestGap = Interval.seconds(60)
  /// A fix with a worse accuracy than this, in metres, confirms no other one (SLC-7).
  static let confirmingAccuracy = distance / 2
  /// The speed in m/s from which a fix shows somebody under way.
  static let underWay = 1.0

  /// Where the service stands.
  public enum State: UInt8, Sendable {
    /// Not started.
    case idle = 0
    /// Started; a current fix was not told yet (SLC-5).
    case first = 1
    /// A place was told; the next one is 500 m from it.
    case watching = 2
  }

  /// What the owner has to do.
  public enum Outcome: Equatable, Sendable {
    /// Nothing.
    case nothing
    /// Tell this fix to the client.
    case report(Fix)
  }

  /// Where it stands.
  public private(set) var state = State.idle
  /// The place told last.
  public private(set) var told: Fix?
  /// When it was told.
  private var toldAt = Instant.boot
  private var startedAt = Instant.boot
  /// The newest fix, told or not.
  private var newest: Fix?
  /// The newest fix lies beyond ``distance``, but nothing else says so (SLC-7).
  private var isDoubtful = false
  /// The change is certain and waits for the gate (SLC-4).
  private var isPassed = false
  /// The last look, with or without a fix.
  private var look: Instant?

  /// Not started.
  public init() {}

  /// Starts the service; does nothing when it is started (SLC-9).
  ///
  /// - Parameters:
  ///   - now: The moment of the call.
  ///   - cached: The newest fix there is; told at once when it is ≤ ``recent`` old, and a current
  ///     fix is told after it (SLC-5).
  public mutating func start(at now: Instant, cached: Fix?) -> Outcome {
    #if REACHED
      reach(0)
    #endif
    guard state == .idle else { return .nothing }
    state = .first
    startedAt = now
    guard let cached, cached.acquired <= now, now - cached.acquired <= SignificantChange.recent
    else { return .nothing }
    newest = cached
    return tell(cached, at: now)
  }

  /// Stops the service and forgets all places: the next start gives a new initial event (SLC-9).
  public mutating func stop() {
    #if REACHED
      reach(1)
    #endif
    self = SignificantChange()
  }

  /// Takes a fix, from whatever source, in the order of acquisition; an older one is ignored.
  public mutating func take(_ fix: Fix, at now: Instant) -> Outcome {
    #if REACHED
      reach(2)
    #endif
    if let newest, fix.acquired <= newest.acquired { return .nothing }
    switch state {
    case .idle: return .nothing
    case .first:
      // One that comes late out of a receiver's buffer is no current one.
      guard startedAt - fix.acquired <= Client.freshness else { return .nothing }
      note(fix)
      state = .watching
      return tell(fix, at: now)
    case .watching:
      note(fix)
      judge(fix)
      return elapse(at: now)
    }
  }

  /// Time passed: a change that waited for the gate is told with the then newest fix (SLC-4).
  public mutating func elapse(at now: Instant) -> Outcome {
    #if REACHED
      reach(3)
    #endif
    guard state == .watching, isPassed, now >= gateOpens, let newest else { return .nothing }
    return tell(newest, at: now)
  }

  /// A search of the receiver that began for this service ended without a fix.
  public mutating func miss(at now: Instant) {
    #if REACHED
      reach(4)
    #endif
    guard state != .idle else { return }
    look = max(look ?? now, now)
  }

  /// Its client's accuracy turned: what is newest is not for it any more, nor what it shows (AUT-6).
  mutating func forgetNewest() {
    newest = nil
    isDoubtful = false
    isPassed = false
  }

  /// When the service needs the next fix: the moment at which a search should begin.
  ///
  /// Before the gate never; then when the distance left can have been passed, at rest no oftener
  /// than every 5 minutes, while nothing moves every 30. It is a moment and never a state: the
  /// receiver is not held in tracking (SLC-10). `.distantFuture` when not started.
  ///
  /// - Parameters:
  ///   - fastest: The plausible speed until then, m/s; one that is not above 0 is not used.
  ///   - line: What the motion line says now.
  public func nextFix(at now: Instant, fastest: Double, line: MotionLine) -> Instant {
    switch state {
    case .idle: .distantFuture
    case .first:
      // The search was in vain: the next one is no sooner than at rest.
      if let look { look + SignificantChange.gate } else { now }
    case .watching:
      if isPassed { gateOpens } else { max(gateOpens, afterLook(fastest: fastest, line: line)) }
    }
  }

  /// Until when nothing is told: the owner calls ``elapse(at:)`` then if ``isWaiting``.
  public var gateOpens: Instant { toldAt + SignificantChange.gate }

  /// Whether a change waits for the gate (SLC-4).
  public var isWaiting: Bool { isPassed }

  private func afterLook(fastest: Double, line: MotionLine) -> Instant {
    guard let told, let newest, let look else { return gateOpens }
    let away = told.coordinate.localDistance(to: newest.coordinate)
    let left = max(0, SignificantChange.distance - away)
    switch line {
    case .still: return look + SignificantChange.stillGap
    case .absent, .moving:
      // A speed that was measured says more than the worst that is plausible.
      if let speed = newest.speed, speed >= SignificantChange.underWay, look == newest.acquired {
        let gap = Interval(seconds: left / speed)
        return look + min(SignificantChange.gate, max(SignificantChange.shortestGap, gap))
      }
      let gap = fastest > 0 ? Interval(seconds: left / fastest) : .zero
      return look + max(SignificantChange.gate, gap)
    }
  }

  private mutating func note(_ fix: Fix) {
    newest = fix
    look = max(look ?? fix.acquired, fix.acquired)
  }

  /// Whether `fix` shows that 500 m were passed: beyond its accuracy, or with the one before.
  private mutating func judge(_ fix: Fix) {
    guard let told else { return }
    let away = told.coordinate.localDistance(to: fix.coordinate)
    let accuracy = fix.horizontalAccuracy ?? PathMeter.assumedAccuracy
    guard away >= SignificantChange.distance else {
      // Back again: SLC-2 counts from the place, not along the way.
      isDoubtful = false
      isPassed = false
      return
    }
    if away - accuracy >= SignificantChange.distance {
      isPassed = true
    } else if accuracy <= SignificantChange.confirmingAccuracy {
      if isDoubtful { isPassed = true }
      isDoubtful = true
    }
  }

  private mutating func tell(_ fix: Fix, at now: Instant) -> Outcome {
    told = fix
    toldAt = now
    isDoubtful = false
    isPassed = false
    return .report(fix)
  }
}

#if REACHED
  extension SignificantChange {
    static let machine = Machine(
      "SignificantChange", states: "idle first watching", events: "start stop fix time miss",
      excluded: [("idle first", "time", "only a change that waits for the gate is looked at")])

    func reach(_ event: Int) { SignificantChange.machine.reach(Int(state.rawValue), event) }
  }
#endif

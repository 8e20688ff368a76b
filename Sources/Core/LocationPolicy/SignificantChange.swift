import LocationTypes

/// State machine of the significant-change service for one client: `idle → first → watching` (SLC-1 to SLC-11).
///
/// It ignores distance filters and desired accuracies (SLC-1) and uses every fix that is available. If no other client
/// causes fixes, ``nextFix(at:speed:line:)`` returns the time at which it needs the next one. It controls no receiver
/// and notifies no client: the caller reports each fix that a function returns. Depends on `LocationTypes` only. O(1)
/// in time and memory.
public struct SignificantChange: Equatable, Sendable {
  /// Distance from the previously reported position that makes a change significant, metres (SLC-2).
  public static let distance = 500.0
  /// Shortest time between two reports (SLC-3), and shortest time between two checks while the device is stationary.
  public static let shortestReportInterval = Interval.seconds(300)
  /// Greatest age of a fix that may be reported first (SLC-5).
  public static let recent = Interval.seconds(300)
  /// Time between two checks while the motion line reports no motion.
  public static let stillCheckInterval = Interval.seconds(1800)
  /// Shortest time between two checks, whatever speed was measured (SLC-10).
  public static let shortestCheckInterval = Interval.seconds(60)
  /// Horizontal accuracy above which a fix does not confirm another one, metres (SLC-7).
  static let confirmingAccuracy = distance / 2
  /// Speed from which a fix shows that the device moves, m/s.
  static let movingSpeed = 1.0

  /// State of the service.
  public enum State: UInt8, Sendable {
    /// Not started.
    case idle = 0
    /// Started; no current fix has been reported yet (SLC-5).
    case first = 1
    /// A position was reported; the next report is due 500 m away from it.
    case watching = 2
  }

  /// The fix that was reported last.
  public private(set) var lastReported: Fix?
  private var startedAt = Instant.boot
  /// The newest fix, reported or not.
  private var newest: Fix?
  /// Whether a fix beyond ``distance`` waits for a second one that confirms it (SLC-7).
  private var isUnconfirmed = false
  /// The last check, with or without a fix.
  private var lastCheck: Instant?
  /// When ``lastReported`` was reported.
  private var reportedAt = Instant.boot
  /// Current state.
  public private(set) var state = State.idle
  /// Whether a confirmed change waits for ``earliestReport`` (SLC-4).
  public private(set) var isWaiting = false

  /// Starts the service; does nothing if it is already started (SLC-9).
  ///
  /// - Parameters:
  ///   - now: Time of the call.
  ///   - cached: The newest known fix. If it is at most ``recent`` old, it is reported immediately, and a current fix
  ///     is reported after it (SLC-5).
  public mutating func start(at now: Instant, cached: Fix?) -> Fix? {
    #if REACHED
      reach(0)
    #endif
    guard state == .idle else { return nil }
    state = .first
    startedAt = now
    guard let cached, cached.acquired <= now, now - cached.acquired <= SignificantChange.recent
    else { return nil }
    newest = cached
    return report(cached, at: now)
  }

  /// Stops the service and discards all positions: the next start gives a new initial event (SLC-9).
  public mutating func stop() {
    #if REACHED
      reach(1)
    #endif
    self = SignificantChange()
  }

  /// Handles a fix from any source, in order of acquisition; an older fix is ignored.
  public mutating func accept(_ fix: Fix, at now: Instant) -> Fix? {
    #if REACHED
      reach(2)
    #endif
    switch state {
    case .idle: return nil
    case .first:
      // A fix that the receiver's buffer delivers late is not current.
      guard isNewer(fix), startedAt - fix.acquired <= Client.freshness else { return nil }
      note(fix)
      state = .watching
      return report(fix, at: now)
    case .watching:
      guard isNewer(fix) else { return nil }
      note(fix)
      evaluate(fix)
      return elapse(at: now)
    }
  }

  private func isNewer(_ fix: Fix) -> Bool {
    newest.map { fix.acquired > $0.acquired } ?? true
  }

  /// Handles the passage of time: reports a waiting change with the newest fix (SLC-4).
  public mutating func elapse(at now: Instant) -> Fix? {
    #if REACHED
      reach(3)
    #endif
    guard state == .watching, isWaiting, now >= earliestReport, let newest else { return nil }
    return report(newest, at: now)
  }

  /// Handles again a fix that was handled before the board was switched off, with its time on the present boot clock; what
  /// it caused was reported then (PWR-14). The first one starts the service.
  mutating func replay(_ fix: Fix) {
    if state == .idle { _ = start(at: fix.acquired, cached: nil) }
    if isWaiting, earliestReport <= fix.acquired { _ = elapse(at: earliestReport) }
    _ = accept(fix, at: fix.acquired)
  }

  /// The fixes before a time off that began at `end` were handled again: a change that was due by then was reported.
  mutating func finishReplay(at end: Instant) {
    if isWaiting, earliestReport <= end { _ = elapse(at: earliestReport) }
  }

  /// Handles an acquisition for this service that ended without a fix.
  public mutating func acquisitionFailed(at now: Instant) {
    #if REACHED
      reach(4)
    #endif
    guard state != .idle else { return }
    lastCheck = max(lastCheck ?? now, now)
  }

  /// Discards the newest fix and an unreported change, because the client's accuracy changed between full and reduced
  /// (AUT-6).
  mutating func discardNewest() {
    newest = nil
    isUnconfirmed = false
    isWaiting = false
  }

  /// When the service needs the next fix, that is, when acquisition should begin.
  ///
  /// Before the first current fix: now, or 5 minutes after a failed acquisition. After it: never before ``earliestReport``,
  /// and when the remaining distance can have been travelled; while stationary at most every 5 minutes, with a motion
  /// line that reports no motion every 30 minutes. The receiver is not kept tracking until then (SLC-10).
  /// `.distantFuture` if the service is not started.
  ///
  /// - Parameters:
  ///   - speed: Plausible speed of the device.
  ///   - line: Current state of the motion line.
  public func nextFix(at now: Instant, speed: PlausibleSpeed, line: MotionLine) -> Instant {
    switch state {
    case .idle: .distantFuture
    case .first:
      // An acquisition failed: the next one begins after the interval of a stationary device.
      if let lastCheck { lastCheck + SignificantChange.shortestReportInterval } else { now }
    case .watching:
      isWaiting ? earliestReport : max(earliestReport, nextCheck(speed, line: line))
    }
  }

  /// Earliest time of the next report in state `watching`. If ``isWaiting``, the caller must call ``elapse(at:)`` at
  /// this time.
  public var earliestReport: Instant { reportedAt + SignificantChange.shortestReportInterval }

  private func nextCheck(_ plausible: PlausibleSpeed, line: MotionLine) -> Instant {
    guard let lastReported, let newest, let lastCheck else { return earliestReport }
    let distance = lastReported.coordinate.localDistance(to: newest.coordinate)
    let remaining = max(0, SignificantChange.distance - distance)
    switch line {
    case .still: return lastCheck + SignificantChange.stillCheckInterval
    case .absent, .moving:
      // A measured speed gives a better estimate than the greatest plausible one.
      if let speed = newest.speed, speed >= SignificantChange.movingSpeed,
        lastCheck == newest.acquired
      {
        let travelTime = Interval(seconds: remaining / speed)
        return lastCheck
          + min(
            SignificantChange.shortestReportInterval,
            max(SignificantChange.shortestCheckInterval, travelTime))
      }
      let travelTime = plausible.shortestTime(toTravel: remaining, after: lastCheck)
      return lastCheck + max(SignificantChange.shortestReportInterval, travelTime)
    }
  }

  private mutating func note(_ fix: Fix) {
    newest = fix
    lastCheck = max(lastCheck ?? fix.acquired, fix.acquired)
  }

  /// Checks whether `fix` shows that 500 m were passed: by more than its accuracy, or confirmed by an earlier fix
  /// (SLC-7).
  private mutating func evaluate(_ fix: Fix) {
    guard let lastReported else { return }
    let distance = lastReported.coordinate.localDistance(to: fix.coordinate)
    let accuracy = fix.horizontalAccuracy ?? PathMeter.assumedAccuracy
    guard distance >= SignificantChange.distance else {
      // The device is again near the reported position: SLC-2 counts the straight distance, not the path.
      isUnconfirmed = false
      isWaiting = false
      return
    }
    if distance - accuracy >= SignificantChange.distance {
      isWaiting = true
    } else if accuracy <= SignificantChange.confirmingAccuracy {
      if isUnconfirmed { isWaiting = true }
      isUnconfirmed = true
    }
  }

  private mutating func report(_ fix: Fix, at now: Instant) -> Fix {
    lastReported = fix
    reportedAt = now
    isUnconfirmed = false
    isWaiting = false
    return fix
  }
}

#if REACHED
  extension SignificantChange {
    static let machine = TransitionCoverage(
      "SignificantChange", states: "idle first watching", events: "start stop fix time miss",
      excluded: [("idle first", "time", "time is checked only for a change that waits")])

    func reach(_ event: Int) { SignificantChange.machine.record(Int(state.rawValue), event) }
  }
#endif

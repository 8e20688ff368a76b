import LocationTypes

/// State machine of the visits service for one client: reports arrivals and departures (VIS-1 to VIS-12).
///
/// # Problem
///
/// Fixes come every second from a streaming receiver, or only every few minutes when this service alone requests them.
/// From them, detect that the device stays at one location (a visit), report the arrival once and the departure once
/// with the same coordinate (VIS-6), with times that are close to the true ones even if fixes are minutes apart. One
/// bad fix must not end a visit, and a slow pass must not become one.
///
/// # States
///
///               start, no cached visit
///     idle ──────────────────────────────→ underWay ←──────────────────────┐
///      │                                      │                            │
///      │                                      │ fix inside the stay at or  │ second fix outside, at least
///      │                                      │ after its ``VisitStay/     │ `confirmation` after the first
///      │                                      │ visitDue``: .arrived       │ one: .departed
///      │   start, cached visit: .arrived      ↓                            │
///      └─────────────────────────────────→ visiting ───────────────────────┘
///
///     stop(at:) and forget() lead from every state to idle. After stop(at:) a visit that
///     lasted is kept for a start at most ``recent`` later (VIS-7); forget() keeps nothing (RNG-6).
///
/// In both running states, ``stay`` is the current candidate or visit and ``outside`` the candidate that would replace
/// it:
///
///     fix inside ``stay``               underWay: moves the centre; clears ``outside``
///     first fix outside ``stay``        becomes ``outside``
///     later fix outside, < 20 s later   nothing
///     later fix outside, ≥ 20 s later   ``outside`` becomes ``stay``; underWay: reports an arrival if it is due;
///                                       visiting: reports the departure (an arrival waits for the next fix)
///
/// *Inside* means within `max(minimumRadius, accuracyFactor × accuracy)` of the centre, 70 m or 2 × the accuracy;
/// during a visit within 1.5 times that. Between visits a fix in the outer part of the circle that is a whole radius
/// away from the stay's first fix counts as outside as well: it is a slow pass (VIS-10). A fix with an accuracy above
/// `worstAccuracy` (150 m) counts as a check without a fix.
///
/// # Invariants
///
/// - ``visit`` is non-nil exactly in state `visiting`.
/// - Time without fixes changes no state (VIS-11); it only moves the next check.
/// - At most one outcome per call. Arrival and departure of one visit have the same coordinate and accuracy.
/// - An arrival is not before the departure of the previous visit (``earliest``), a departure not before its arrival.
/// - Fixes that are not newer than the newest one are ignored.
///
/// # Who changes what
///
/// ``start(at:cached:)``, ``stop(at:)``, ``forget()`` and ``accept(_:)`` write the state. ``acquisitionFailed(at:)``
/// and ``motionLineChanged(_:at:)`` write only the last check, the failed checks and the motion, which determine the
/// next check and refine the departure time. The monitor controls no receiver and notifies no client: the caller
/// carries out the returned outcome. O(1) in time and memory.
public struct VisitMonitor: Equatable, Sendable {
  /// State of the service.
  public enum State: UInt8, Sendable {
    /// Not started.
    case idle = 0
    /// Started; no visit is reported as lasting.
    case underWay = 1
    /// An arrival was reported, its departure was not.
    case visiting = 2
  }

  /// What the caller must do.
  public enum Outcome: Equatable, Sendable {
    /// Nothing.
    case nothing
    /// Report a visit without a departure (VIS-5).
    case arrived(Visit)
    /// Report the same visit with its departure.
    case departed(Visit)
  }

  /// Current state.
  public private(set) var state = State.idle
  /// Parameters of detection and checks.
  public let parameters: VisitParameters
  /// The visit that was reported and lasts; it can be kept for a later start (VIS-7).
  public private(set) var visit: Visit?
  /// The current visit, or the candidate for the next one.
  private(set) var stay: VisitStay?
  /// The candidate that starts at the first of the newest consecutive fixes outside ``stay``.
  private(set) var outside: VisitStay?
  /// The newest fix that was used.
  private var newest: VisitSample?
  /// End of the last visit: the next one cannot begin earlier.
  private(set) var earliest = Instant.boot
  /// The last check, with or without a fix; nil before the first.
  private(set) var lastCheck: Instant?
  /// Number of consecutive checks without a fix; at most 8.
  private(set) var failedChecks = 0
  /// Reported motion.
  private(set) var motion = VisitMotion()
  /// Number of checks since the last hint of a departure; at most ``hintChecks``.
  private(set) var checksSinceHint = VisitMonitor.hintChecks
  /// Distance of the newest fix from the centre, metres.
  private(set) var distanceFromCentre = 0.0
  /// Whether the device, at the last check, was beyond the radius, or beyond half of it and moving, and had not left.
  private(set) var isAtEdge = false

  /// Visit that lasted when the service was stopped (VIS-7).
  private var stopped: StoppedVisit?

  /// How long after a stop a lasting visit is reported again by a new start.
  public static let recent = Interval.seconds(300)
  /// Number of checks after a hint from which the check interval has its normal length again.
  static let hintChecks = 3
  /// Number of failed checks that is assumed after a time off without a recent fix: the next check that fails doubles
  /// the interval to 8 minutes.
  private static let assumedFailures = 3

  /// Creates a stopped service.
  init(parameters: VisitParameters = VisitParameters()) { self.parameters = parameters }

  /// Starts the service; does nothing if it is started.
  ///
  /// - Parameter cached: A visit that lasted when the service stopped a short time ago, with its arrival on this boot's
  ///   clock. If nil, the visit that lasted at ``stop(at:)``, at most ``recent`` ago. It is reported again immediately
  ///   (VIS-7), and its departure later.
  public mutating func start(at now: Instant, cached cachedVisit: Visit? = nil) -> Outcome {
    #if REACHED
      reach(0)
    #endif
    guard state == .idle else { return .nothing }
    state = .underWay
    var lasting: Visit?
    if let stopped, now - stopped.at <= VisitMonitor.recent { lasting = stopped.visit }
    stopped = nil
    guard var cached = cachedVisit ?? lasting, cached.coordinate.isValid else { return .nothing }
    cached.departure = nil
    // No position is known since the stop, so the visit cannot have ended before now.
    var fix = Fix(acquired: now, coordinate: cached.coordinate)
    if let arrival = cached.arrival, let utc = arrival.utc {
      fix.utc = utc + (now - arrival.acquired)
    }
    if let arrival = cached.arrival, arrival.acquired > now { cached.arrival = nil }
    stay = VisitStay(
      first: VisitSample(fix), accuracy: max(0, cached.horizontalAccuracy), before: nil)
    visit = cached
    state = .visiting
    return .arrived(cached)
  }

  /// Stops the service and discards everything except a lasting visit, which a start within ``recent`` reports again. A
  /// reported arrival gets no departure.
  public mutating func stop(at now: Instant) {
    #if REACHED
      reach(1)
    #endif
    guard state != .idle else { return }
    let stopped = visit.map { StoppedVisit(visit: $0, at: now) }
    self = VisitMonitor(parameters: parameters)
    self.stopped = stopped
  }

  /// Stops the service and discards everything: the client may not receive visits any more (RNG-6).
  public mutating func forget() { self = VisitMonitor(parameters: parameters) }

  /// Handles a fix from any source, in order of acquisition; an older fix is ignored.
  public mutating func accept(_ fix: Fix) -> Outcome {
    #if REACHED
      reach(2)
    #endif
    guard state != .idle else { return .nothing }
    if let newest, fix.acquired <= newest.acquired { return .nothing }
    let accuracy = fix.horizontalAccuracy ?? PathMeter.assumedAccuracy
    guard accuracy <= parameters.worstAccuracy else {
      acquisitionFailed(at: fix.acquired)
      return .nothing
    }
    let sample = VisitSample(fix)
    let before = newest
    newest = sample
    failedChecks = 0
    let next = VisitStay(first: sample, accuracy: accuracy, before: before)
    let outcome = step(sample, accuracy: accuracy, next)
    noteCheck(at: fix.acquired)
    noteEdge(of: parameters.radius(accuracy: accuracy), sample)
    return outcome
  }

  /// Handles again a fix that was handled before the board was switched off, with its time on the present boot clock; the
  /// outcomes were reported then (PWR-14). The first one starts the service.
  mutating func replay(_ fix: Fix) {
    if state == .idle {
      _ = start(at: fix.acquired)
      earliest = min(earliest, fix.acquired)
    }
    _ = accept(fix)
  }

  /// The fixes before a time off that began at `end` were handled again. If the newest one is older than the longest
  /// interval between two checks, the checks since then have failed. Their number is unknown; it is assumed to be so high
  /// that another failed check is followed by the longest interval, because each boot would otherwise repeat the short
  /// ones.
  mutating func finishReplay(at end: Instant) {
    guard state != .idle, let lastCheck, end - lastCheck > parameters.visitCheckInterval else {
      return
    }
    failedChecks = max(failedChecks, VisitMonitor.assumedFailures)
  }

  /// Handles an acquisition for this service that ended without a fix. It implies nothing about the device (VIS-11).
  public mutating func acquisitionFailed(at now: Instant) {
    #if REACHED
      reach(3)
    #endif
    guard state != .idle else { return }
    failedChecks = min(failedChecks + 1, 8)
    checksSinceHint = min(checksSinceHint + 1, VisitMonitor.hintChecks)
    noteCheck(at: now)
  }

  /// Handles a change of the motion line. It changes no state by itself but moves the next check.
  public mutating func motionLineChanged(_ line: MotionLine, at now: Instant) {
    #if REACHED
      reach(4)
    #endif
    guard state != .idle, line != motion.line else { return }
    if line == .moving { checksSinceHint = 0 }
    motion.change(to: line, at: now, lastCheck: lastCheck)
  }

  /// Applies a fix to the state; `next` is the stay that would start with this fix.
  private mutating func step(
    _ sample: VisitSample, accuracy: Double, _ next: VisitStay
  ) -> Outcome {
    guard let current = stay else {
      stay = next
      return .nothing
    }
    distanceFromCentre = current.centre.localDistance(to: sample.coordinate)
    let radius = parameters.radius(accuracy: accuracy)
    switch state {
    case .idle: return .nothing
    case .underWay:
      if distanceFromCentre <= radius,
        current.includes(sample, away: distanceFromCentre, reach: radius)
      {
        stay?.add(sample, accuracy: accuracy, parameters: parameters)
        outside = nil
        return openVisit()
      }
      guard let departure = confirmedDeparture(sample, next) else { return .nothing }
      replaceStay(with: departure, sample, accuracy: accuracy, next)
      return openVisit()
    case .visiting:
      if distanceFromCentre <= parameters.departureFactor * radius {
        stay?.extend(to: sample)
        outside = nil
        return .nothing
      }
      guard let departure = confirmedDeparture(sample, next) else { return .nothing }
      replaceStay(with: departure, sample, accuracy: accuracy, next)
      // One outcome per fix: an arrival at the next location is reported at the next fix.
      return closeVisit(current, outside: departure.first)
    }
  }

  /// Handles a fix outside the stay; returns the stay that starts with the first such fix once a second one confirms it
  /// (VIS-9).
  private mutating func confirmedDeparture(_ sample: VisitSample, _ next: VisitStay) -> VisitStay? {
    guard let first = outside else {
      outside = next
      return nil
    }
    guard sample.acquired - first.first.acquired >= parameters.confirmation else { return nil }
    return first
  }

  /// Replaces ``stay``; the fix is inside the new stay or outside again.
  private mutating func replaceStay(
    with newStay: VisitStay, _ sample: VisitSample, accuracy: Double, _ next: VisitStay
  ) {
    stay = newStay
    outside = nil
    distanceFromCentre = newStay.centre.localDistance(to: sample.coordinate)
    if distanceFromCentre <= parameters.radius(accuracy: accuracy) {
      stay?.add(sample, accuracy: accuracy, parameters: parameters)
    } else {
      outside = next
    }
  }

  private mutating func openVisit() -> Outcome {
    guard let current = stay,
      current.last.acquired >= current.visitDue(parameters: parameters, earliest: earliest)
    else { return .nothing }
    var arrival = current.arrival(parameters: parameters)
    if let recorded = arrival, recorded.acquired < earliest {
      arrival = current.first.time(earliest)
    }
    let opened = Visit(
      coordinate: current.centre, horizontalAccuracy: current.accuracy, arrival: arrival)
    visit = opened
    state = .visiting
    checksSinceHint = VisitMonitor.hintChecks
    return .arrived(opened)
  }

  private mutating func closeVisit(_ endedStay: VisitStay, outside sample: VisitSample) -> Outcome {
    guard var closed = visit else { return .nothing }
    var departure = endedStay.departure(parameters: parameters, outside: sample)
    // The device left in the motion that still lasts, not before it.
    if motion.line == .moving, motion.since > departure.acquired, motion.since <= sample.acquired {
      departure = sample.time(motion.since)
    }
    if let arrival = closed.arrival, departure.acquired < arrival.acquired { departure = arrival }
    closed.departure = departure
    earliest = departure.acquired
    visit = nil
    state = .underWay
    return .departed(closed)
  }

  private mutating func noteCheck(at time: Instant) {
    lastCheck = max(lastCheck ?? time, time)
    motion.restart()
  }

  /// Counts the checks since the last hint of a departure: a device that comes to the edge of the circle.
  private mutating func noteEdge(of radius: Double, _ sample: VisitSample) {
    let wasAtEdge = isAtEdge
    isAtEdge = distanceFromCentre > (sample.isMoving ? radius / 2 : radius)
    checksSinceHint = isAtEdge && !wasAtEdge ? 0 : min(checksSinceHint + 1, VisitMonitor.hintChecks)
  }
}

extension VisitMonitor {
  /// When the service needs the next fix, that is, when acquisition should begin.
  ///
  /// Between visits every 4 minutes, and when a stay's dwell time is over. During a visit every 8 minutes, and 20 s
  /// after a first fix outside; with a motion line that reports no motion every hour, and 60 to 100 s after it reports
  /// motion, then at intervals that grow to 8 minutes while the motion lasts. `.distantFuture` if not started.
  ///
  /// - Parameters:
  ///   - speed: Plausible speed of the device. A visit is not checked before its circle can have been left.
  ///   - line: Current state of the motion line.
  public func nextFix(at now: Instant, speed: PlausibleSpeed, line: MotionLine) -> Instant {
    guard let lastCheck else { return state == .idle ? .distantFuture : now }
    switch state {
    case .idle: return .distantFuture
    case .underWay: return nextTravelCheck(after: lastCheck, line: line)
    case .visiting: return nextVisitCheck(after: lastCheck, speed, line: line)
    }
  }

  private func nextTravelCheck(after check: Instant, line: MotionLine) -> Instant {
    let isStill = line == .still
    // The device has stopped since the last check: a fix now gives the location and nearly the arrival time.
    if isStill, motion.line == .still, motion.since > check {
      return max(check + parameters.promptCheckDelay, motion.since)
    }
    guard let candidate = outside ?? stay else {
      return check + retryInterval(parameters.travelCheckInterval)
    }
    // A single fix at travelling speed does not start a stay.
    if candidate.last.isMoving && candidate.first == candidate.last && !isStill {
      return check + retryInterval(parameters.travelCheckInterval)
    }
    let due = candidate.visitDue(parameters: parameters, earliest: earliest)
    if due <= check {
      return check
        + (failedChecks > 0
          ? retryInterval(parameters.travelCheckInterval) : parameters.confirmation)
    }
    return isStill ? due : min(due, check + retryInterval(parameters.travelCheckInterval))
  }

  private func nextVisitCheck(
    after check: Instant, _ speed: PlausibleSpeed, line: MotionLine
  ) -> Instant {
    if !outside.isNil {
      return check
        + (failedChecks > 0
          ? retryInterval(parameters.visitCheckInterval) : parameters.confirmation)
    }
    switch line {
    case .absent:
      return check
        + max(intervalSinceHint(parameters.promptCheckDelay), shortestExitTime(speed, after: check))
    case .moving:
      let missingMotion = motionNeeded - motion.duration
      // Within the first minute a fix could not show a departure on foot.
      guard motion.line == .moving, motion.since > check else {
        return check + max(.zero, missingMotion)
      }
      return motion.since + max(parameters.promptCheckDelay, missingMotion)
    case .still:
      // There was enough motion, and no check followed.
      return motion.duration >= motionNeeded
        ? max(check, motion.since) : check + parameters.stillCheckInterval
    }
  }

  /// The required motion doubles with each check, because motion inside a building is usually no departure. At the edge
  /// of the circle a few steps are enough.
  private var motionNeeded: Interval {
    intervalSinceHint(isAtEdge ? parameters.confirmation : parameters.motionBeforeCheck)
  }

  /// `first` at a hint of a departure, doubled with each check since.
  private func intervalSinceHint(_ first: Interval) -> Interval {
    RetryBackoff.delay(
      after: Int64(checksSinceHint) + 1, initial: first, longest: parameters.visitCheckInterval)
  }

  /// Shortest time in which the device can leave the circle.
  private func shortestExitTime(_ speed: PlausibleSpeed, after check: Instant) -> Interval {
    guard let stay else { return .zero }
    let remaining =
      parameters.departureFactor * parameters.radius(accuracy: stay.accuracy) - distanceFromCentre
    return speed.shortestTime(toTravel: max(remaining, 0), after: check)
  }

  /// Back-off after failed acquisitions: one minute, doubled each time, at most `most`.
  private func retryInterval(_ most: Interval) -> Interval {
    failedChecks > 0
      ? RetryBackoff.delay(
        after: Int64(failedChecks), initial: parameters.promptCheckDelay, longest: most) : most
  }
}

/// A visit that lasted when the service was stopped.
private struct StoppedVisit: Equatable, Sendable {
  let visit: Visit
  let at: Instant
}

/// The motion that the line has reported.
struct VisitMotion: Equatable, Sendable {
  /// Last report.
  private(set) var line = MotionLine.absent
  /// Time of that report.
  private(set) var since = Instant.boot
  /// Duration of reported motion since the last check, until ``since``.
  private(set) var duration = Interval.zero

  /// The line reports another state.
  mutating func change(to new: MotionLine, at now: Instant, lastCheck: Instant?) {
    if line == .moving { duration = duration + max(.zero, now - max(since, lastCheck ?? since)) }
    line = new
    since = now
  }

  /// A check took place.
  mutating func restart() { duration = .zero }
}

#if REACHED
  extension VisitMonitor {
    static let machine = TransitionCoverage(
      "VisitMonitor", states: "idle underWay visiting", events: "start stop fix miss line")

    func reach(_ event: Int) { VisitMonitor.machine.record(Int(state.rawValue), event) }
  }
#endif

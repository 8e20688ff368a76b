import LocationTypes

/// The sessions of one client, and whether the client is in use (BKG-8 to BKG-17).
///
/// A client is in use while its process is in the foreground or has an active background session. Pure value: time is
/// an argument; the caller must call ``elapse(at:)`` at ``deadline``.
public struct ClientSessions: Sendable {
  /// Greatest number of service sessions of a process.
  public static let capacity = 8
  /// How long after its launch a process may create sessions as if it were in use (BKG-9, BKG-13).
  public static let standardGrace = Interval.seconds(10)

  /// State of the background session.
  @frozen public enum Background: Equatable, Sendable {
    /// No background session exists.
    case none
    /// That many objects of the process hold it.
    case active(Int)
    /// Its process died; the session is kept for the next one.
    case dormant
    /// The next process runs and must recreate the session until then.
    case resuming(until: Instant)
  }

  /// Authorization of the client.
  public private(set) var authorization = Authorization.notDetermined
  /// Whether the client's accuracy is reduced.
  public private(set) var isReduced = false
  /// Execution state of the process; nil without a process.
  public private(set) var process: ExecutionState?
  /// The background session.
  public private(set) var background = Background.none
  /// `allowsBackgroundLocationUpdates` (BKG-18).
  public private(set) var allowsBackground = false
  /// Number of background sessions that were opened in use while the client was undecided (AUT-8).
  private var pendingBackground = 0
  /// Number of open iterators of live updates and monitors; they imply a when-in-use session (BKG-15).
  public private(set) var implied = 0
  private let grace: Interval
  /// Whether the process set the key for explicit sessions (X8).
  private var needsExplicit = false
  private var launchedAt = Instant.boot
  /// Open service sessions by their numbers.
  private var sessions = InlineArray<8, ServiceSession?>(repeating: nil)

  /// Creates the sessions of a client without a process.
  ///
  /// - Parameters:
  ///   - grace: How long after its launch a process may recreate its sessions, above 0.
  ///   - hasBackground: Whether a background session was active when the service ended (BKG-20).
  public init(grace: Interval = ClientSessions.standardGrace, hasBackground: Bool = false) {
    precondition(grace > .zero, "grace must be above 0")
    self.grace = grace
    if hasBackground { background = .dormant }
  }

  /// Whether the client is in use.
  public var isInUse: Bool {
    guard let process else { return false }
    return process == .foreground || isBackgroundActive
  }

  /// Whether a background session is active: its process runs and holds it.
  public var isBackgroundActive: Bool {
    if case .active = background { true } else { false }
  }

  /// Whether a background session exists: active, or kept for the next process (BKG-9).
  public var hasBackground: Bool { background != .none }

  /// When ``elapse(at:)`` is due; `.distantFuture` if never.
  public var deadline: Instant {
    if case .resuming(let until) = background { until } else { .distantFuture }
  }

  /// Highest authorization that effective sessions require (BKG-16).
  public var requirement: SessionRequirement {
    var highest = SessionRequirement.none
    if !needsExplicit && (implied > 0 || isBackgroundActive) { highest = .whenInUse }
    for i in 0..<ClientSessions.capacity {
      if let session = sessions[i], session.isValid { highest = max(highest, session.requirement) }
    }
    return highest
  }

  /// Whether a service session is open.
  public var hasSessions: Bool {
    for i in 0..<ClientSessions.capacity where sessions[i] != nil { return true }
    return false
  }

  /// Highest authorization requested, including sessions that are pending because the client is undecided (AUT-8).
  public var requested: SessionRequirement {
    pendingBackground > 0 && !needsExplicit ? max(requirement, .whenInUse) : requirement
  }

  /// The client's use of location that follows from its sessions and its process.
  public var use: ClientUse {
    var use = ClientUse(flags: useFlags)
    use.keepsRunning = isBackgroundActive && authorization.isGranted
    guard authorization == .whenInUse && !isInUse else { return use }
    use.withheld.insert(.visits)
    use.withheld.insert(.regions)
    use.withheld.insert(.significantChange)
    // Updates that began in the foreground continue (BKG-18).
    if !(allowsBackground && process != nil) { use.withheld.insert(.updates) }
    return use
  }

  /// Flags for which live updates and a monitor's events are withheld, in addition to those of the authorization.
  private var useFlags: LiveFlags {
    var flags = LiveFlags.empty
    guard authorization.isGranted else { return flags }
    if needsExplicit && requirement == .none { flags = flags.union(.serviceSessionRequired) }
    if !isInUse && (authorization == .whenInUse || requirement < .always) {
      flags = flags.union(.insufficientlyInUse)
    }
    return flags
  }
}

// MARK: - Events

extension ClientSessions {
  /// Sets the client's authorization.
  public mutating func setAuthorization(_ authorization: Authorization, isReduced: Bool) {
    self.authorization = authorization
    self.isReduced = isReduced
    if !authorization.isGranted { background = .none }
    if authorization != .notDetermined { pendingBackground = 0 }
  }

  /// Handles the launch of a process.
  ///
  /// - Parameters:
  ///   - state: Background if the service relaunched it (BKG-19), otherwise foreground.
  ///   - needsExplicit: Whether it set the key for explicit sessions (BKG-15).
  public mutating func launch(_ state: ExecutionState, needsExplicit: Bool, at now: Instant) {
    if process != nil { end() }
    process = state
    launchedAt = now
    self.needsExplicit = needsExplicit
    if background == .dormant { background = .resuming(until: now + grace) }
  }

  /// Handles the death of the process: an active background session is kept for the next one (BKG-9).
  public mutating func end() {
    process = nil
    pendingBackground = 0
    allowsBackground = false
    implied = 0
    sessions = InlineArray(repeating: nil)
    switch background {
    case .none, .dormant: break
    case .active, .resuming: background = .dormant
    }
  }

  /// Handles a change of the process's execution state.
  public mutating func setExecution(_ state: ExecutionState) {
    guard process != nil else { return }
    process = state
    guard state == .foreground else { return }
    for i in 0..<ClientSessions.capacity { sessions[i]?.isValid = true }
  }

  /// Sets `allowsBackgroundLocationUpdates`; the caller checks whether the client may set it (BKG-18).
  public mutating func allowBackground(_ isAllowed: Bool) { allowsBackground = isAllowed }

  /// Sets the number of open iterators and monitors.
  public mutating func setImplied(_ count: Int) { implied = count }

  /// `CLBackgroundActivitySession()`; returns whether the session is active (BKG-8).
  public mutating func openBackground(at now: Instant) -> Bool {
    guard let process, authorization.isGranted else {
      if isInUse, authorization == .notDetermined { pendingBackground += 1 }
      return false
    }
    switch background {
    case .active(let count): background = .active(count + 1)
    case .resuming: background = .active(1)
    case .none, .dormant:
      guard process == .foreground else { return false }
      background = .active(1)
    }
    return true
  }

  /// `invalidate()`, or the object was released: the last one ends the session (BKG-10).
  public mutating func closeBackground() {
    pendingBackground = max(0, pendingBackground - 1)
    switch background {
    case .active(let count): background = count > 1 ? .active(count - 1) : .none
    case .resuming, .dormant: background = .none
    case .none: break
    }
  }

  /// `CLServiceSession(authorization:)`; returns its number, or nil if ``capacity`` sessions are open.
  public mutating func open(
    _ requirement: SessionRequirement, requiresFullAccuracy: Bool, at now: Instant
  ) -> Int? {
    let isPrompt = isInUse || now - launchedAt <= grace
    for number in 0..<ClientSessions.capacity where sessions[number] == nil {
      sessions[number] = ServiceSession(
        requirement: requirement, requiresFullAccuracy: requiresFullAccuracy,
        isValid: process != nil && isPrompt)
      return number
    }
    return nil
  }

  /// Ends the session; does nothing if no session has that number.
  public mutating func close(_ number: Int) {
    if (0..<ClientSessions.capacity).contains(number) { sessions[number] = nil }
  }

  /// Ends a background session that the new process did not recreate in time (BKG-9).
  public mutating func elapse(at now: Instant) {
    if case .resuming(let until) = background, now >= until { background = .none }
  }

  /// Returns the next session whose diagnostics changed since they were reported to its process, and marks them as
  /// reported (BKG-17).
  public mutating func nextDiagnostics() -> (number: Int, diagnostics: SessionDiagnostics)? {
    for i in 0..<ClientSessions.capacity {
      guard let session = sessions[i] else { continue }
      let current = diagnostics(of: session)
      guard current != session.reported else { continue }
      sessions[i]?.reported = current
      return (i, current)
    }
    return nil
  }

  private func diagnostics(of session: ServiceSession) -> SessionDiagnostics {
    var result = SessionDiagnostics()
    guard session.requirement > .none else { return result }
    result.flags = authorization.liveFlags
    result.alwaysAuthorizationDenied = authorization == .whenInUse && session.requirement == .always
    if isReduced && session.requiresFullAccuracy { result.fullAccuracyDenied = true }
    guard authorization.isGranted else { return result }
    let isEnough =
      isInUse || (session.isValid && authorization == .always && requirement == .always)
    if !isEnough { result.flags = result.flags.union(.insufficientlyInUse) }
    return result
  }
}

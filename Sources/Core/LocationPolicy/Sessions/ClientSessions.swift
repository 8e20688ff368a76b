import LocationTypes

/// The sessions of one client, and whether it is in use (BKG-8 to BKG-17).
///
/// In use is a process in the foreground, or one with an active background session. Pure: time is an
/// argument; its owner looks again at ``deadline``.
public struct ClientSessions: Sendable {
  /// How many service sessions a process may hold.
  public static let capacity = 8
  /// How long after its start a process may make sessions as if it were in use (BKG-9, BKG-13).
  public static let standardGrace = Interval.seconds(10)

  /// The background session.
  @frozen public enum Background: Equatable, Sendable {
    /// There is none.
    case none
    /// So many objects of the process hold it.
    case active(Int)
    /// Its process died; it waits for the next one.
    case dormant
    /// The next process runs; until then it must make it again.
    case resuming(until: Instant)
  }

  /// What the client may.
  public private(set) var authorization = Authorization.notDetermined
  /// Its accuracy is reduced.
  public private(set) var isReduced = false
  /// The state of its process; nil where there is none.
  public private(set) var process: ExecutionState?
  /// Its background session.
  public private(set) var background = Background.none
  /// `allowsBackgroundLocationUpdates` (BKG-18).
  public private(set) var allowsBackground = false
  /// Background sessions that were opened in use while the client was undecided (AUT-8).
  private var pendingBackground = 0
  /// Iterators of live updates and monitors that are open: they imply when-in-use (BKG-15).
  public private(set) var implied = 0
  private let grace: Interval
  /// The key for explicit sessions is set (X8).
  private var needsExplicit = false
  private var launchedAt = Instant.boot
  private var sessions = InlineArray<8, ServiceSession?>(repeating: nil)

  /// Creates the sessions of a client without a process.
  ///
  /// - Parameters:
  ///   - grace: How long a new process may take to make its sessions, > 0.
  ///   - hasBackground: A background session was active when the service ended (BKG-20).
  public init(grace: Interval = ClientSessions.standardGrace, hasBackground: Bool = false) {
    precondition(grace > .zero, "a process needs some time")
    self.grace = grace
    if hasBackground { background = .dormant }
  }

  /// Whether the client is in use.
  public var isInUse: Bool {
    guard let process else { return false }
    return process == .foreground || isBackgroundActive
  }

  /// Whether a background session is active: its process lives and holds it.
  public var isBackgroundActive: Bool {
    if case .active = background { true } else { false }
  }

  /// Whether a background session outlives the process, or waits for the next one (BKG-9).
  public var hasBackground: Bool { background != .none }

  /// Whether live updates, conditions and background sessions imply a service session (BKG-15).
  public var impliesSessions: Bool { !needsExplicit }

  /// When ``elapse(at:)`` has something to do; the far future where it has not.
  public var deadline: Instant {
    if case .resuming(let until) = background { until } else { .distantFuture }
  }

  /// The highest that is asked for by what counts (BKG-16).
  public var requirement: SessionRequirement {
    var highest = SessionRequirement.none
    if !needsExplicit && (implied > 0 || isBackgroundActive) { highest = .whenInUse }
    for i in 0..<ClientSessions.capacity {
      if let session = sessions[i], session.isValid { highest = max(highest, session.requirement) }
    }
    return highest
  }

  /// The highest that is asked for, though nobody has decided and it does not count yet (AUT-8).
  public var requested: SessionRequirement {
    pendingBackground > 0 && !needsExplicit ? max(requirement, .whenInUse) : requirement
  }

  /// What follows for the client's use of location.
  public var use: ClientUse {
    var use = ClientUse(flags: useFlags)
    use.keepsRunning = isBackgroundActive && authorization.isGranted
    guard authorization == .whenInUse && !isInUse else { return use }
    use.withheld.insert(.visits)
    use.withheld.insert(.regions)
    use.withheld.insert(.significantChange)
    // What began in the foreground goes on (BKG-18).
    if !(allowsBackground && process != nil) { use.withheld.insert(.updates) }
    return use
  }

  /// Why live updates and a monitor's events are withheld, beside the authorization.
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

// MARK: - What happens

extension ClientSessions {
  /// What the client may was decided.
  public mutating func permit(_ authorization: Authorization, isReduced: Bool) {
    self.authorization = authorization
    self.isReduced = isReduced
    if !authorization.isGranted { background = .none }
    if authorization != .notDetermined { pendingBackground = 0 }
  }

  /// A process began.
  ///
  /// - Parameters:
  ///   - state: In the background where it was relaunched (BKG-19), else in the foreground.
  ///   - needsExplicit: It has set the key for explicit sessions (BKG-15).
  public mutating func launch(_ state: ExecutionState, needsExplicit: Bool, at now: Instant) {
    if process != nil { end() }
    process = state
    launchedAt = now
    self.needsExplicit = needsExplicit
    if background == .dormant { background = .resuming(until: now + grace) }
  }

  /// The process died without a word: an active background session waits for the next one (BKG-9).
  public mutating func end() {
    process = nil
    pendingBackground = 0
    allowsBackground = false
    implied = 0
    for i in 0..<ClientSessions.capacity { sessions[i] = nil }
    switch background {
    case .none, .dormant: break
    case .active, .resuming: background = .dormant
    }
  }

  /// The process said in which state it is.
  public mutating func move(to state: ExecutionState) {
    guard process != nil else { return }
    process = state
    guard state == .foreground else { return }
    for i in 0..<ClientSessions.capacity { sessions[i]?.isValid = true }
  }

  /// `allowsBackgroundLocationUpdates`; whether the client may set it is its owner's business (BKG-18).
  public mutating func allowBackground(_ isAllowed: Bool) { allowsBackground = isAllowed }

  /// So many iterators and monitors are open.
  public mutating func imply(_ count: Int) { implied = count }

  /// `CLBackgroundActivitySession()`: whether it is active (BKG-8).
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

  /// `invalidate()`, or the object is gone: the last one ends it for good (BKG-10).
  public mutating func closeBackground() {
    pendingBackground = max(0, pendingBackground - 1)
    switch background {
    case .active(let count): background = count > 1 ? .active(count - 1) : .none
    case .resuming, .dormant: background = .none
    case .none: break
    }
  }

  /// `CLServiceSession(authorization:)`; gives its number, nil where there are ``capacity`` of them.
  public mutating func open(
    _ requirement: SessionRequirement, wantsFullAccuracy: Bool, at now: Instant
  ) -> Int? {
    for i in 0..<ClientSessions.capacity where sessions[i] == nil {
      let isPrompt = isInUse || now - launchedAt <= grace
      sessions[i] = ServiceSession(
        requirement: requirement, wantsFullAccuracy: wantsFullAccuracy,
        isValid: process != nil && isPrompt, told: nil)
      return i
    }
    return nil
  }

  /// The session ends; does nothing where there is none of that number.
  public mutating func close(_ number: Int) {
    guard (0..<ClientSessions.capacity).contains(number) else { return }
    sessions[number] = nil
  }

  /// A session that its new process did not make again in time is over (BKG-9).
  public mutating func elapse(at now: Instant) {
    if case .resuming(let until) = background, now >= until { background = .none }
  }

  /// The next session whose diagnostics are news to its process, with them (BKG-17).
  public mutating func nextDiagnostics() -> (number: Int, diagnostics: SessionDiagnostics)? {
    for i in 0..<ClientSessions.capacity {
      guard let session = sessions[i] else { continue }
      let found = diagnostics(of: session)
      guard found != session.told else { continue }
      sessions[i]?.told = found
      return (i, found)
    }
    return nil
  }

  private func diagnostics(of session: ServiceSession) -> SessionDiagnostics {
    var found = SessionDiagnostics()
    guard session.requirement > .none else { return found }
    switch authorization {
    case .always: break
    case .whenInUse: found.alwaysAuthorizationDenied = session.requirement == .always
    case .denied: found.flags = .authorizationDenied
    case .restricted: found.flags = .authorizationRestricted
    case .notDetermined: found.flags = .authorizationRequestInProgress
    }
    if isReduced && session.wantsFullAccuracy { found.fullAccuracyDenied = true }
    guard authorization.isGranted else { return found }
    let isEnough =
      isInUse || (session.isValid && authorization == .always && requirement == .always)
    if !isEnough { found.flags = found.flags.union(.insufficientlyInUse) }
    return found
  }
}

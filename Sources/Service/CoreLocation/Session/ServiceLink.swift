import LocationPolicy
import LocationTypes
import LocationWire

/// The connection of a process to the service: what it was asked for, and what the service said about the client.
///
/// # Problem
///
/// The service has one set of settings, one run of updates and one execution state for the process. ``request(for:)`` and
/// ``requestExecution(for:)`` compare the demand of the managers with what this connection was asked for, and return only the
/// calls for the difference. A new connection was asked for nothing, so that the same comparison repeats everything.
///
/// # States
///
///               connect                     disconnect
///     no demand ───────→ demand of a client ──────────→ no demand, absent ──→ closed (AUT-2)
///
/// Without a connection ``demand`` is nil, and no call is returned. A part of ``MergedDemand``.
struct ServiceLink: Sendable {
  /// What the connection was asked for; nil without a connection.
  private(set) var demand: ServiceDemand?
  /// Whether the last attempt to connect failed.
  private(set) var isAbsent = false
  /// Whether no further attempt will be made (AUT-2).
  private(set) var isClosed = false
  /// Whether updates can be deferred (DEF-7).
  private(set) var isDeferralAvailable = false
  /// Whether the service has paused the updates.
  private(set) var isPaused = false
  /// The client's authorization, also of the last connection.
  private(set) var authorization = Authorization.notDetermined
  /// Whether accuracy is reduced (AUT-5).
  private(set) var isReduced = false
  /// Whether the service started this process, which is in the background from then on (BKG-19).
  private var isLaunched = false
  /// Whether the service refused updates in the background (BKG-18).
  private var isBackgroundRefused = false
  /// Whether the service was asked for one location and has not answered.
  private var isRequestForwarded = false
  /// Whether the process has loops over live updates.
  private var hasLoops = false

  // MARK: Connection

  /// A connection was opened, which was asked for nothing yet.
  mutating func connect(_ session: WireSession) {
    demand = ServiceDemand()
    isAbsent = false
    isLaunched = session.launchReason != nil
    if isLaunched { demand?.execution = .background }
    isDeferralAvailable = session.isDeferralAvailable
    isBackgroundRefused = false
  }

  /// The connection was lost, or none could be opened.
  mutating func disconnect() {
    demand = nil
    isAbsent = true
    isRequestForwarded = false
  }

  /// No connection will be opened any more.
  mutating func close() { isClosed = true }

  // MARK: Notices

  /// The service has paused the updates, or resumed them.
  mutating func setPaused(_ isPaused: Bool) { self.isPaused = isPaused }

  /// Sets the client's rights.
  ///
  /// - Returns: Whether the client lost rights to fixes; nil if nothing changed.
  mutating func setAuthorization(_ new: Authorization, isReduced reduced: Bool) -> Bool? {
    guard new != authorization || reduced != isReduced else { return nil }
    let loses = new.isRefused && !authorization.isRefused || reduced && !isReduced
    authorization = new
    isReduced = reduced
    return loses
  }

  /// The service refused updates in the background (BKG-18).
  mutating func refuseBackground() {
    isBackgroundRefused = true
    demand?.allowsBackground = false
  }

  /// Other rights may allow what was refused; a loss of rights has switched it off in the service.
  mutating func resetBackground() {
    isBackgroundRefused = false
    demand?.allowsBackground = false
  }

  /// The service has answered the request of one location, or another call has cancelled it.
  mutating func endRequest() { isRequestForwarded = false }

  // MARK: Demand

  /// Returns the calls for settings, updates and a request that the connection was not asked for yet.
  mutating func request(for managers: some Collection<ManagerDemand>) -> [WireCall] {
    guard let asked = demand else { return [] }
    var calls: [WireCall] = []
    var target = asked
    target.merge(managers.filter { $0.isUpdating || $0.requestsLocation })
    target.allowsBackground = target.allowsBackground && !isBackgroundRefused
    target.isUpdating = managers.contains(where: \.isUpdating)
    if let settings = target.changedSettings(from: asked) { calls.append(.configure(settings)) }
    if target.allowsBackground != asked.allowsBackground {
      var settings = WireSettings()
      settings.allowsBackground = target.allowsBackground
      calls.append(.configure(settings))
    }
    if target.isUpdating != asked.isUpdating {
      calls.append(target.isUpdating ? .startUpdating : .stopUpdating)
      // Both cancel a request (STD-11).
      isRequestForwarded = false
      isPaused = false
    }
    demand = target
    if !target.isUpdating, !isRequestForwarded, managers.contains(where: \.requestsLocation) {
      isRequestForwarded = true
      calls.append(.requestLocation)
    }
    return calls
  }

  /// The process has loops over live updates, or none any more: while it has, it stays in the foreground.
  mutating func setLoops(exist: Bool) { hasLoops = exist }

  /// Returns the call that changes the execution state of the process, if it must change.
  ///
  /// A process counts as in the background while its updates may run there and all of them are deferred (DEF-28): a
  /// program on a board without a screen has no other way to leave the foreground.
  mutating func requestExecution(for managers: some Collection<ManagerDemand>) -> WireCall? {
    guard let asked = demand, !isLaunched else { return nil }
    // A loop and a request need fixes now, which a process in the background may not get.
    let needsForeground = hasLoops || managers.contains(where: \.requestsLocation)
    let running = managers.filter(\.isUpdating)
    let isDeferring = !running.isEmpty && running.allSatisfy(\.isDeferring)
    let target: ExecutionState =
      asked.allowsBackground && isDeferring && !needsForeground ? .background : .foreground
    guard target != asked.execution else { return nil }
    demand?.execution = target
    return .setExecution(target)
  }
}

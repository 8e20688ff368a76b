import DeferralCache
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationTypes

/// Service that a simulated client uses.
public enum ScriptedService: Equatable, Sendable {
  /// Location updates, deferred or not.
  case updates
  /// Significant change.
  case significantChange
  /// Visits.
  case visits
  /// Live updates.
  case live
  /// Monitoring of one region: centre, and radius in metres.
  case region(Coordinate, radius: Double)
  /// One fix an hour: a timer of the system launches the program, which uses updates until their first fix.
  case hourly

  /// Whether its program need not be connected: something launches it for each event.
  public var canBeLaunched: Bool {
    switch self {
    case .updates, .live: false
    case .significantChange, .visits, .region, .hourly: true
    }
  }
}

/// Uploads of a simulated client, as `torpor-uplink` does them: it keeps the board awake from a delivery to the receipt of
/// the store, and then acknowledges.
public struct UploadScript: Equatable, Sendable {
  /// Shortest time between the beginnings of two uploads; zero to upload each delivery.
  public var every = Interval.zero
  /// Time from a delivery to the receipt of the store, for which the board is kept awake.
  public var hold: Interval

  /// Creates uploads of each delivery.
  public init(hold: Interval) { self.hold = hold }
}

/// Service and parameters of a simulated client.
public struct ClientScript: Equatable, Sendable {
  /// Service.
  public var service = ScriptedService.updates
  /// `pausesLocationUpdatesAutomatically`.
  public var pauses = false
  /// `activityType`.
  public var activity = ActivityType.other
  /// Whether the client requests a deferral again whenever one has finished; otherwise every fix is delivered
  /// immediately.
  public var defers = true
  /// `desiredAccuracy`: metres or a constant of ``LocationAccuracy``.
  public var accuracy = LocationAccuracy.best
  /// Distance after which a deferral ends, metres; infinite for unlimited.
  public var distance = Double.infinity
  /// Time after which a deferral ends, seconds; infinite for unlimited.
  public var timeout = Double.infinity

  /// Periods in which the client uses updates, ascending and disjoint; nil for the whole run. Only for
  /// ``ScriptedService/updates``.
  public var sessions: [Range<Instant>]?
  /// Whether the program is connected only while it handles an event, for which the service launches it. The board may
  /// be switched off in between, if its profile permits that. Only for services that can be launched
  /// (``ScriptedService/canBeLaunched``).
  public var isLaunched = false
  /// Time from a delivery to its acknowledgement, which then needs its own wake, as with a program on the socket; nil
  /// for an acknowledgement in the turn of the delivery.
  public var acknowledgementDelay: Interval?

  /// Uploads to a store; nil for none.
  public var upload: UploadScript?

  /// Whether the board may be switched off in this run.
  var mayBeOff: Bool { isLaunched && service.canBeLaunched }

  /// Accuracy bound: largest distance of the last report from the true position, metres. Nil if no bound applies:
  /// with deferral, with an accuracy constant of Core Location that is not a distance, and with other services.
  public var bound_m: Double? {
    service == .updates && !defers ? LocationAccuracy.bound(of: accuracy) : nil
  }

  /// Creates the script of a background client that defers without limits.
  public init() {}
}

/// A background client as in Apple's discussion of deferred updates: it starts updates and calls
/// `allowDeferredLocationUpdates` in its `didUpdateLocations` handler, again after each finished deferral. It handles
/// each delivery immediately and acknowledges it.
struct SimulatedClient: LocationClients {
  static let id = ClientID(0)

  private let script: ClientScript
  private var requests: [Request] = []
  private var nextRequest = 0
  /// Requests to send later, in ascending order of time.
  private var scheduledRequests: [(due: Instant, request: Request, isBoardWoken: Bool)] = []
  private var isArmed = false
  private var isDone = false
  private var isStationary = false
  private var flags = LiveFlags.empty
  private var newest: FixName?
  /// The fix stored last in the ring.
  private var newestStored: FixName?
  /// Whether a notice has arrived, for which the service would launch the program.
  private var isCalling = false
  /// End of the hold of the present upload; nil without one.
  private var holdEnd: Instant?
  /// Whether the board is set to wake at ``holdEnd``.
  private var isHoldEndWoken = false
  private var lastUpload: Instant?
  /// Number of uploads that began before the end of the run.
  private(set) var uploads = 0
  /// Whether deferral failed with an error that a repeated request would cause again.
  private var isDeferralUnavailable = false
  /// Records of the run. ``SimulationRun`` adds the board's events.
  var trace = TraceSorter()

  /// Creates a client that has not sent any request.
  init(_ script: ClientScript) {
    self.script = script
    requests = SimulatedClient.startRequests(script)
    if script.service == .hourly { scheduleHourly(after: .boot) }
    if script.service == .updates {
      for session in script.sessions ?? [] {
        scheduledRequests.append((session.lowerBound, .startUpdating, false))
        scheduledRequests.append((session.upperBound, .stopUpdating, false))
      }
    }
  }

  /// Requests of a program that connects and starts its service.
  private static func startRequests(_ script: ClientScript) -> [Request] {
    var requests: [Request] = [
      .connect, .setPausesAutomatically(script.pauses), .setActivity(script.activity),
      .setExecution(.background), .setDesiredAccuracy(script.accuracy),
    ]
    switch script.service {
    case .updates: if script.sessions == nil { requests.append(.startUpdating) }
    case .hourly: requests.append(.startUpdating)
    case .significantChange: requests.append(.startSignificantChange)
    case .visits: requests.append(.startVisits)
    case .live: requests.append(.openLive(.default))
    case .region(let center, let radius):
      let region = Region(RegionIdentifier(.region, 1), center: center, radius: radius)
      requests.append(.addRegion(region, assuming: .unknown))
    }
    return requests
  }

  /// The service has restarted, and requests what outlives it, as the service does for each client (BKG-20).
  mutating func restoreServices() {
    requests = SimulatedClient.startRequests(script).filter {
      if case .startUpdating = $0 { false } else { true }
    }
    nextRequest = 0
    newest = nil
    newestStored = nil
  }

  /// Whether the program was launched since the last call.
  mutating func consumeLaunch() -> Bool {
    defer { isCalling = false }
    return isCalling
  }

  /// Whether an upload keeps the board awake.
  var keepsBoardAwake: Bool { holdEnd != nil }

  /// Begins an upload of a delivery if one is due.
  private mutating func beginUpload(at now: Instant) {
    guard let upload = script.upload, !isDone, holdEnd == nil,
      lastUpload.map({ now - $0 >= upload.every }) ?? true
    else { return }
    lastUpload = now
    uploads += 1
    holdEnd = now + upload.hold
    isHoldEndWoken = false
  }

  /// Time of the next later request, to which a timer of the system wakes the board; `.distantFuture` for none.
  var nextScheduledTime: Instant { scheduledRequests.first?.due ?? .distantFuture }

  mutating func didAppend(_ name: FixName, in engine: borrowing Engine, at now: Instant) {
    newestStored = name
    // The engine still holds the fix; reading it from the ring would compute its checksum again.
    guard let stored = engine.newestStored, stored.name == name else { return }
    record(.fix(TraceFix(name: name, fix: stored.fix)), at: stored.fix.acquired)
  }

  mutating func receive(
    _ notice: ClientNotice, from engine: borrowing Engine, at now: Instant
  ) {
    let client = notice.client.index
    isCalling = true
    switch notice.notice {
    case .gap(let gap):
      record(.gap(client: client, count: gap.count, from: gap.from?.utc, to: gap.to?.utc), at: now)
    case .finish(let code):
      record(.finish(client: client, code: code), at: now)
      didFinishDeferral(code)
    case .batch(let first, let last):
      beginUpload(at: now)
      record(
        .batch(client: client, first: first, last: last, count: Int(last - first) + 1), at: now)
      newest = newestStored?.sequence == last ? newestStored : engine.stored(at: last)?.name
      didUpdateLocations(at: now)
    case .authorization: break
    case .degraded(let shed):
      isDeferralUnavailable = false  // request deferral again; it may be available now
      traceNotice(.degraded(shed, charge: engine.batteryCharge ?? 0), at: now)
    case .failure(let code): traceNotice(.failed(code), at: now)
    case .paused: traceNotice(.paused, at: now)
    case .resumed: traceNotice(.resumed, at: now)
    case .report(let stored), .coarse(let stored):
      traceNotice(.report(sequence: stored.name.sequence), at: now)
      requests.append(.acknowledge(stored.name))
    case .visit(let visit):
      if let departure = visit.departure {
        traceNotice(.departed(coordinate: visit.coordinate, at: departure.acquired), at: now)
      } else {
        traceNotice(.arrived(coordinate: visit.coordinate, at: visit.arrival?.acquired), at: now)
      }
    case .region(let event): receive(event, at: now)
    case .live(let element): receive(element, at: now)
    case .liveRefused: preconditionFailure("the client opens one iterator, which is never refused")
    }
  }

  private mutating func traceNotice(_ notice: TraceNotice, at now: Instant) {
    switch notice {
    case .report, .arrived, .departed, .entered, .exited: beginUpload(at: now)
    case .paused, .resumed, .stationary, .flags, .degraded, .failed: break
    }
    record(.notice(client: SimulatedClient.id.index, notice), at: now)
  }

  private mutating func record(_ kind: TraceRecord.Kind, at now: Instant) {
    trace.add(TraceRecord(at: now, kind))
  }

  private mutating func receive(_ event: RegionEvent, at now: Instant) {
    switch event {
    case .entered(let region, _): traceNotice(.entered(region: region.number), at: now)
    case .exited(let region, _): traceNotice(.exited(region: region.number), at: now)
    case .failure(_, let code): traceNotice(.failed(code), at: now)
    case .determined, .crossedSilently, .monitor: break
    }
  }

  private mutating func receive(_ element: LiveElement, at now: Instant) {
    if element.flags != flags {
      flags = element.flags
      traceNotice(.flags(flags), at: now)
    }
    if element.isStationary != isStationary {
      isStationary = element.isStationary
      traceNotice(.stationary(isStationary), at: now)
    }
    if let location = element.location {
      traceNotice(.report(sequence: location.name.sequence), at: now)
    }
  }

  /// Returns the time of the first later request for which no board wake is scheduled yet, and marks it as scheduled;
  /// nil if none remains.
  mutating func consumeNextWakeTime() -> Instant? {
    if let holdEnd, !isHoldEndWoken {
      isHoldEndWoken = true
      return holdEnd
    }
    guard let index = scheduledRequests.firstIndex(where: { !$0.isBoardWoken }) else { return nil }
    scheduledRequests[index].isBoardWoken = true
    return scheduledRequests[index].due
  }

  private mutating func schedule(_ request: Request, at due: Instant) {
    let index = scheduledRequests.firstIndex { $0.due > due } ?? scheduledRequests.count
    scheduledRequests.insert((due, request, false), at: index)
  }

  /// Removes and returns the next request that is due; nil for none.
  private mutating func removeNextRequest(at now: Instant) -> Request? {
    if nextRequest < requests.count {
      defer { nextRequest += 1 }
      return requests[nextRequest]
    }
    requests.removeAll(keepingCapacity: true)
    nextRequest = 0
    guard let first = scheduledRequests.first, first.due <= now else { return nil }
    let request = scheduledRequests.removeFirst().request
    if script.service == .hourly, case .startUpdating = request {
      scheduleHourly(after: first.due)
    }
    return request
  }

  private mutating func scheduleHourly(after last: Instant) {
    schedule(.startUpdating, at: last + .seconds(3_600))
  }

  mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
    if let end = holdEnd, end <= now { holdEnd = nil }
    guard let request = removeNextRequest(at: now) else { return nil }
    if case .acknowledge(let name) = request {
      record(.ack(client: SimulatedClient.id.index, sequence: name.sequence), at: now)
    }
    return (SimulatedClient.id, request)
  }

  /// Returns the request that stops the service. Outstanding fixes are still delivered.
  mutating func stop() -> Request {
    isDone = true
    switch script.service {
    case .updates: return .stopUpdating
    case .significantChange: return .stopSignificantChange
    case .visits: return .stopVisits
    case .live: return .closeLive(0)
    case .region: return .removeRegion(RegionIdentifier(.region, 1))
    case .hourly: return .disconnect
    }
  }

  /// `didFinishDeferredUpdates`: the next deferral is requested in the handler of the batch that follows, or of the
  /// next fix.
  private mutating func didFinishDeferral(_ code: LocationErrorCode?) {
    isArmed = false
    if code == .deferredAccuracyTooLow || code == .deferredDistanceFiltered {
      isDeferralUnavailable = true
    }
  }

  /// `didUpdateLocations`: handles the fixes, requests the next deferral, acknowledges.
  private mutating func didUpdateLocations(at now: Instant) {
    if script.service == .hourly { requests.append(.stopUpdating) }
    if script.defers && script.service == .updates && !isArmed && !isDone && !isDeferralUnavailable
    {
      isArmed = true
      requests.append(.allowDeferred(distance: script.distance, timeout: script.timeout))
    }
    guard let newest else { return }
    if let holdEnd {
      // The receipt ends the hold in the same wake.
      isHoldEndWoken = true
      schedule(.acknowledge(newest), at: holdEnd)
    } else if let delay = script.acknowledgementDelay {
      schedule(.acknowledge(newest), at: now + delay)
    } else {
      requests.append(.acknowledge(newest))
    }
  }
}

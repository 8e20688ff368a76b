import DeferralCache
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationTypes

/// Which service a simulated client uses.
public enum ScriptedService: Equatable, Sendable {
  /// Updates, deferred or not.
  case updates
  /// Significant change.
  case significantChange
  /// Visits.
  case visits
  /// Live updates.
  case live
  /// One region: its centre and radius, metres.
  case region(Coordinate, radius: Double)
}

/// What a simulated client asks of the service.
public struct ClientScript: Equatable, Sendable {
  /// Which service.
  public var service = ScriptedService.updates
  /// `pausesLocationUpdatesAutomatically`.
  public var pauses = false
  /// `activityType`.
  public var activity = ActivityType.other
  /// Re-arms a deferral whenever one has finished; else takes every fix as it comes.
  public var defers = true
  /// `desiredAccuracy`: metres or a constant of ``LocationAccuracy``.
  public var accuracy = LocationAccuracy.best
  /// Metres to travel before a deferral ends; infinite for unlimited.
  public var distance = Double.infinity
  /// Seconds before a deferral ends; infinite for unlimited.
  public var timeout = Double.infinity

  /// When the client updates: it starts and stops with each range, in order and apart; nil for the whole
  /// run. Only for ``ScriptedService/updates``.
  public var sessions: [Range<Instant>]?
  /// How long after a delivery its acknowledgement comes, which is a wake of its own, as a program's on
  /// the socket is; nil for within the turn of the delivery.
  public var acknowledgesAfter: Interval?

  /// How far the last report may be from the truth, metres; nil where nothing of the kind was
  /// promised: with deferral, with an accuracy of Core Location's that is none, with other services.
  public var bound_m: Double? {
    service == .updates && !defers ? LocationAccuracy.bound(of: accuracy) : nil
  }

  /// Creates the script of a background client that defers without limits.
  public init() {}
}

/// A background client as Apple's discussion of deferral describes it: it starts updates, and calls
/// `allowDeferredLocationUpdates` in its `didUpdateLocations` handler, and again whenever a deferral
/// has finished. It handles everything at once, and acknowledges what it handled.
struct SimulatedClient: LocationClients {
  static let id = ClientID(0)

  private let script: ClientScript
  private var requests: [Request] = []
  private var nextRequest = 0
  /// Requests for a moment to come, in the order of time.
  private var later: [(due: Instant, request: Request, isBoardWoken: Bool)] = []
  private var isArmed = false
  private var isDone = false
  private var isStationary = false
  private var flags = LiveFlags.empty
  private var newest: FixName?
  /// The fix that went into the ring last.
  private var newestStored: FixName?
  /// Deferral is not to be had on these terms: asking again would give the same error.
  private var hasGivenUp = false
  /// What it has seen; what happened on the board is added by whoever runs it.
  var trace = Tracer()

  /// Creates a client that has asked nothing yet.
  init(_ script: ClientScript) {
    self.script = script
    requests = [
      .connect, .setPausesAutomatically(script.pauses), .setActivity(script.activity),
      .setExecution(.background), .setDesiredAccuracy(script.accuracy),
    ]
    switch script.service {
    case .updates where script.sessions == nil: requests.append(.startUpdating)
    case .updates:
      for session in script.sessions ?? [] {
        later.append((session.lowerBound, .startUpdating, false))
        later.append((session.upperBound, .stopUpdating, false))
      }
    case .significantChange: requests.append(.startSignificantChange)
    case .visits: requests.append(.startVisits)
    case .live: requests.append(.openLive(.default))
    case .region(let center, let radius):
      let region = Region(RegionIdentifier(.region, 1), center: center, radius: radius)
      requests.append(.addRegion(region, assuming: .unknown))
    }
  }

  mutating func appended(_ name: FixName, in engine: borrowing Engine, at now: Instant) {
    newestStored = name
    // What has just gone in: it is not read back out of the ring, whose checksum would be reckoned again.
    guard let stored = engine.newestStored, stored.name == name else { return }
    trace.add(TraceRecord(at: stored.fix.acquired, .fix(TraceFix(name: name, fix: stored.fix))))
  }

  mutating func receive(
    _ notice: ClientNotice, from engine: borrowing Engine, at now: Instant
  ) {
    let client = notice.client.index
    switch notice.notice {
    case .gap(let gap):
      trace.add(
        TraceRecord(
          at: now,
          .gap(client: client, count: gap.count, from: gap.from?.utc, to: gap.to?.utc)))
    case .finish(let code):
      trace.add(TraceRecord(at: now, .finish(client: client, code: code)))
      finished(code)
    case .batch(let first, let last):
      trace.add(
        TraceRecord(
          at: now,
          .batch(client: client, first: first, last: last, count: Int(last - first) + 1)))
      newest = newestStored?.sequence == last ? newestStored : engine.stored(at: last)?.name
      updated(at: now)
    case .authorization: break
    case .degraded(let givenUp):
      hasGivenUp = false  // asked once more: what was not to be had may be now
      add(.degraded(givenUp, charge: engine.batteryCharge ?? 0), at: now)
    case .failure(let code): add(.failed(code), at: now)
    case .paused: add(.paused, at: now)
    case .resumed: add(.resumed, at: now)
    case .report(let stored), .coarse(let stored):
      add(.report(sequence: stored.name.sequence), at: now)
      requests.append(.acknowledge(stored.name))
    case .visit(let visit):
      if let departure = visit.departure {
        add(.departed(place: visit.coordinate, at: departure.instant), at: now)
      } else {
        add(.arrived(place: visit.coordinate, at: visit.arrival?.instant), at: now)
      }
    case .region(let event): receive(event, at: now)
    case .live(let element): receive(element, at: now)
    case .liveRefused: preconditionFailure("it opens one iterator")
    }
  }

  private mutating func add(_ notice: TraceNotice, at now: Instant) {
    trace.add(TraceRecord(at: now, .told(client: SimulatedClient.id.index, notice)))
  }

  private mutating func receive(_ event: RegionEvent, at now: Instant) {
    switch event {
    case .entered(let region, _): add(.entered(region: region.number), at: now)
    case .exited(let region, _): add(.exited(region: region.number), at: now)
    case .failure(_, let code): add(.failed(code), at: now)
    case .determined, .crossedSilently, .monitor: break
    }
  }

  private mutating func receive(_ element: LiveElement, at now: Instant) {
    if element.flags != flags {
      flags = element.flags
      add(.flags(flags), at: now)
    }
    if element.isStationary != isStationary {
      isStationary = element.isStationary
      add(.stationary(isStationary), at: now)
    }
    if let location = element.location { add(.report(sequence: location.name.sequence), at: now) }
  }

  /// A moment at which it asks something and of which the board does not know yet.
  mutating func takeDue() -> Instant? {
    guard let place = later.firstIndex(where: { !$0.isBoardWoken }) else { return nil }
    later[place].isBoardWoken = true
    return later[place].due
  }

  private mutating func ask(_ request: Request, at due: Instant) {
    let place = later.firstIndex { $0.due > due } ?? later.count
    later.insert((due, request, false), at: place)
  }

  /// What it asks now; nil for nothing.
  private mutating func takeRequest(at now: Instant) -> Request? {
    if nextRequest < requests.count {
      defer { nextRequest += 1 }
      return requests[nextRequest]
    }
    requests.removeAll(keepingCapacity: true)
    nextRequest = 0
    guard let first = later.first, first.due <= now else { return nil }
    return later.removeFirst().request
  }

  mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
    guard let request = takeRequest(at: now) else { return nil }
    if case .acknowledge(let name) = request {
      trace.add(
        TraceRecord(
          at: now, .ack(client: SimulatedClient.id.index, sequence: name.sequence)))
    }
    return (SimulatedClient.id, request)
  }

  /// It wants no more; what is outstanding is still told.
  mutating func stop() -> Request {
    isDone = true
    switch script.service {
    case .updates: return .stopUpdating
    case .significantChange: return .stopSignificantChange
    case .visits: return .stopVisits
    case .live: return .closeLive(0)
    case .region: return .removeRegion(RegionIdentifier(.region, 1))
    }
  }

  /// `didFinishDeferredUpdates`: the next call is made in the handler of the batch that follows, or
  /// of the next fix.
  private mutating func finished(_ code: LocationErrorCode?) {
    isArmed = false
    if code == .deferredAccuracyTooLow || code == .deferredDistanceFiltered { hasGivenUp = true }
  }

  /// `didUpdateLocations`: handle, defer what comes next, acknowledge.
  private mutating func updated(at now: Instant) {
    if script.defers && !isArmed && !isDone && !hasGivenUp {
      isArmed = true
      requests.append(.allowDeferred(distance: script.distance, timeout: script.timeout))
    }
    guard let newest else { return }
    if let delay = script.acknowledgesAfter {
      ask(.acknowledge(newest), at: now + delay)
    } else {
      requests.append(.acknowledge(newest))
    }
  }
}

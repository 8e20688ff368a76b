import LocationEngine
import LocationPolicy
import LocationTypes
import SimulatedHAL

/// Clients with random requests, and one ``ClientAudit`` per client; deterministic for a seed.
final class RandomClients {
  let seed: UInt64
  private(set) var audits: [ClientAudit]
  private var random: SimulationRandom
  private var queue: [(ClientID, Request)] = []
  /// Whether every batch is acknowledged and no new deferral starts; else both are random.
  var acknowledgesAll = false
  var tally = SoakTotals()

  init(seed: UInt64, clients: Int, isExact: Bool) {
    self.seed = seed
    audits = Array(repeating: ClientAudit(isExact: isExact), count: clients)
    random = SimulationRandom(seed: seed, stream: 7)
    tally.runs = 1
  }

  var count: Int { audits.count }

  /// A random integer from 0 to `bound` - 1.
  func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
  private func one<T>(of values: T...) -> T { values[below(values.count)] }
  /// A random number, 0 ..< 1.
  func fraction() -> Double { random.uniform() }

  /// Records a failure; keeps the first.
  func fail(_ text: String, at now: Instant) {
    tally.fail(text, seed: seed, at: now)
  }
  var hasFailed: Bool { tally.failure != nil }

  // MARK: Between a soak run and its clients

  /// Updates the client's audit; call it before each request to the engine.
  func record(_ request: Request, of client: ClientID, head: UInt64, at now: Instant) {
    audits[client.index].apply(request, head: head, at: now)
  }

  /// The next request of a client's handler; sent after the engine's step is complete.
  func nextRequest() -> (ClientID, Request)? { queue.isEmpty ? nil : queue.removeFirst() }

  /// Updates all audits; call it before each battery event.
  func recordCharge(_ charge: UInt8, head: UInt64, at now: Instant) {
    for index in audits.indices { audits[index].updateCharge(charge, head: head, at: now) }
  }

  /// Updates all audits when regions were shed or restored.
  func recordRegionsShedOrRestored() {
    for index in audits.indices { audits[index].invalidateSides() }
  }

  func didAppend(_ sequence: UInt64, in engine: borrowing Engine) {
    tally.fixes += 1
    let stored = engine.stored(at: sequence)
    tally.digest.add(stored)
    let measured = stored?.fix.acquired ?? .boot
    for index in audits.indices { audits[index].didAppend(sequence, acquired: measured) }
  }

  func receive(_ notice: ClientNotice, from engine: borrowing Engine, at now: Instant) {
    let client = notice.client
    tally.digest.add(notice)
    if let text = audits[client.index].check(notice.notice, from: engine, &tally) {
      fail("client \(client.index): \(text)", at: now)
    }
    switch notice.notice {
    case .batch(_, let last):
      // Some batches are never acknowledged.
      guard acknowledgesAll || below(10) < 7, let name = engine.stored(at: last)?.name else {
        return
      }
      queue.append((client, .acknowledge(name)))
      if !acknowledgesAll && below(6) == 0 { queue.append((client, deferralRequest())) }
    case .finish:
      if !acknowledgesAll && below(3) == 0 { queue.append((client, deferralRequest())) }
    case .gap, .failure, .authorization, .degraded, .paused, .resumed, .report, .coarse, .visit,
      .region, .live, .liveRefused:
      break
    }
  }

  // MARK: Random clients

  private func deferralRequest() -> Request {
    .allowDeferred(
      distance: one(
        of: Double.greatestFiniteMagnitude, Double.greatestFiniteMagnitude, 500, 30, 0, -1, .nan),
      timeout: one(of: Double.greatestFiniteMagnitude, 600, 60, 20, 3, 0))
  }

  /// Connects all clients and starts their updates.
  func initialRequests() -> [(ClientID, Request)] {
    (0..<count).flatMap { index in
      let client = ClientID(index)
      return [(client, .connect), (client, .startUpdating)] + setUpRequests(client)
    }
  }

  /// The same requests of each client, client by client.
  private func ofAll(_ requests: [Request]) -> [(ClientID, Request)] {
    (0..<count).flatMap { index in requests.map { (ClientID(index), $0) } }
  }

  private func setUpRequests(_ client: ClientID) -> [(ClientID, Request)] {
    [
      .setPausesAutomatically(false), .setDesiredAccuracy(LocationAccuracy.best),
      .setDistanceFilter(LocationLimits.distanceFilterNone), .startUpdating,
      .setExecution(.background), deferralRequest(),
    ].map { (client, $0) }
  }

  /// Kind and frequency of the requests.
  enum Load {
    /// All clients send requests continuously.
    case busy
    /// Occasional requests.
    case calm
    /// No client needs every fix; the other services continue.
    case servicesOnly
    /// Only requests of single fixes, or their cancellation.
    case singleFixes

    /// Mean number of seconds between requests.
    var meanRequestInterval: Int {
      switch self {
      case .busy: 12
      case .calm: 120
      case .servicesOnly, .singleFixes: 60
      }
    }
  }

  private(set) var load = Load.busy

  /// Selects another load; returns the requests that start it.
  func changeLoad() -> [(ClientID, Request)] {
    let before = load
    load = one(of: .busy, .calm, .calm, .servicesOnly, .singleFixes)
    switch load {
    case .busy, .calm:
      let isNew = before == .servicesOnly || before == .singleFixes
      return isNew ? (0..<count).flatMap { setUpRequests(ClientID($0)) } : []
    case .servicesOnly:
      return ofAll([.stopUpdating] + (0..<LiveUpdates.capacity).map { .closeLive($0) })
    case .singleFixes: return stoppingRequests() + [(ClientID(0), .connect)]
    }
  }

  /// A request to send later, and the seconds until then.
  private var delayedRequest: (seconds: Int, client: ClientID, request: Request)?

  /// Advances by one second; returns the delayed request if it is due.
  func dueRequests() -> [(ClientID, Request)] {
    guard var next = delayedRequest else { return [] }
    next.seconds -= 1
    delayedRequest = next.seconds > 0 ? next : nil
    return next.seconds > 0 ? [] : [(next.client, next.request)]
  }

  /// Stops updates, perhaps during a pause, changes the settings and starts again.
  private func restartRequests(_ client: ClientID) -> [(ClientID, Request)] {
    [
      .stopUpdating, .setActivity(one(of: .other, .fitness)),
      .setPausesAutomatically(below(3) > 0), .startUpdating,
    ].map { (client, $0) }
  }

  /// Random requests near `coordinate`.
  func requests(near coordinate: Coordinate) -> [(ClientID, Request)] {
    let client = ClientID(below(count))
    if !audits[client.index].isConnected && below(3) == 0 { return [(client, .connect)] }
    switch load {
    case .busy, .calm: break
    case .servicesOnly:
      return [(client, below(8) == 0 ? rareRequest() : serviceRequest(near: coordinate))]
    case .singleFixes:
      delayedRequest = (1 + below(12), client, .stopUpdating)
      return [(client, .setDesiredAccuracy(one(of: -1, 10))), (client, .requestLocation)]
    }
    switch below(13) {
    case 12: return regionRequests(of: client, near: coordinate)
    case 0: return below(3) == 0 ? restartRequests(client) : setUpRequests(client)
    case 1...4: return [(client, basicRequest())]
    case 5: return [(client, rareRequest())]
    case 6, 7: return [(client, .setExecution(one(of: .background, .background, .foreground)))]
    default: return [(client, serviceRequest(near: coordinate))]
    }
  }

  private func basicRequest() -> Request {
    switch below(8) {
    case 0, 1: return .startUpdating
    case 2: return below(4) == 0 ? .stopUpdating : .startUpdating
    case 3, 4: return deferralRequest()
    case 5: return .disallowDeferred
    case 6: return .setDesiredAccuracy(one(of: -1, -1, -2, 10, 100, 1_000))
    default: return .setDistanceFilter(one(of: -1, -1, -1, 5, 50))
    }
  }

  private func rareRequest() -> Request {
    switch below(10) {
    case 0: return .disconnect
    case 1, 2: return .connect
    case 3, 4:
      return .setAuthorization(
        one(of: .always, .always, .always, .whenInUse, .denied, .notDetermined))
    case 5: return .setReducedAccuracy(below(3) == 0)
    case 6, 7: return .setExecution(.suspended)
    case 8: return .setPausesAutomatically(below(2) == 0)
    default: return .setActivity(one(of: .other, .fitness, .automotiveNavigation))
    }
  }

  private func serviceRequest(near point: Coordinate) -> Request {
    let identifier = RegionIdentifier(
      one(of: .region, .condition), UInt32(below(ClientAudit.regionCount)))
    switch below(14) {
    case 0, 1: return .requestLocation
    case 2: return .startSignificantChange
    case 3: return below(2) == 0 ? .stopSignificantChange : .startSignificantChange
    case 4, 5: return .startVisits
    case 6: return below(4) == 0 ? .stopVisits : .startVisits
    case 7, 8:
      let center = point.moved(east: 2_000 * (fraction() - 0.5), north: 2_000 * (fraction() - 0.5))
      return .addRegion(
        Region(identifier, center: center, radius: 30 + 400 * fraction()), assuming: .unknown)
    case 9: return below(3) == 0 ? .removeRegion(identifier) : .requestRegionState(identifier)
    case 10: return .requestRegionState(identifier)
    case 11:
      return load == .servicesOnly ? .requestLocation : .openLive(one(of: .default, .fitness))
    case 12: return .closeLive(below(4))
    default: return .setExecution(one(of: .background, .foreground))
    }
  }

  /// Adds, queries and removes regions while the end of a deferral may be waiting for its fixes.
  private func regionRequests(of client: ClientID, near point: Coordinate) -> [(ClientID, Request)]
  {
    let number = UInt32(below(ClientAudit.regionCount))
    let region = Region(
      RegionIdentifier(.region, number), center: point, radius: 20 + 50 * fraction())
    let condition = Region(
      RegionIdentifier(.condition, number), center: point, radius: 20 + 50 * fraction())
    return [
      .disallowDeferred, .addRegion(region, assuming: .unknown),
      .requestRegionState(region.identifier), .removeRegion(region.identifier),
      .addRegion(region, assuming: one(of: .unknown, .satisfied, .unsatisfied)),
      .addRegion(condition, assuming: .unknown),
      .addRegion(condition, assuming: one(of: .unknown, .satisfied, .unsatisfied)),
    ].map { (client, $0) }
  }

  // MARK: The end of a run

  /// Moves all clients to the foreground and cancels their deferrals.
  func cancellingRequests() -> [(ClientID, Request)] {
    ofAll([.setExecution(.foreground), .disallowDeferred])
  }

  /// Requests after which client 0 must receive every fix, whatever its state was.
  func resumingRequests() -> [(ClientID, Request)] {
    [
      .setAuthorization(.always), .setReducedAccuracy(false), .connect,
      .setPausesAutomatically(false), .startUpdating,
    ].map { (ClientID(0), $0) }
  }

  /// Stops all services of all clients and disconnects them.
  func stoppingRequests() -> [(ClientID, Request)] {
    var requests: [Request] = [.connect, .stopUpdating, .stopSignificantChange, .stopVisits]
    for number in 0..<UInt32(ClientAudit.regionCount) {
      requests.append(.removeRegion(RegionIdentifier(.region, number)))
      requests.append(.removeRegion(RegionIdentifier(.condition, number)))
    }
    return ofAll(requests + [.disconnect])
  }

  /// Checks that each deferral call has its finish.
  func expectFinished(at now: Instant) {
    for (index, audit) in audits.enumerated() where audit.outstandingCalls != 0 {
      fail("DEF-8: client \(index) misses \(audit.outstandingCalls) finishes", at: now)
    }
  }
}

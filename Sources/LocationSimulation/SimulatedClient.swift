import DeferralCache
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationTypes

/// What a simulated client asks of the service.
public struct ClientScript: Equatable, Sendable {
  /// Re-arms a deferral whenever one has finished; else takes every fix as it comes.
  public var defers = true
  /// `desiredAccuracy`: metres or a constant of ``LocationAccuracy``.
  public var accuracy = LocationAccuracy.best
  /// Metres to travel before a deferral ends; infinite for unlimited.
  public var distance = Double.infinity
  /// Seconds before a deferral ends; infinite for unlimited.
  public var timeout = Double.infinity

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
  private var isArmed = false
  private var isDone = false
  private var newest: FixName?
  /// Deferral is not to be had on these terms: asking again would give the same error.
  private var hasGivenUp = false
  private let trace: Tracer

  /// Creates a client that writes what it sees to `trace`.
  init(_ script: ClientScript, _ trace: Tracer) {
    self.script = script
    self.trace = trace
    requests = [
      .connect, .setExecution(.background), .setDesiredAccuracy(script.accuracy), .startUpdating,
    ]
  }

  mutating func appended(_ name: FixName, in engine: borrowing Engine, at now: Instant) {
    guard let stored = engine.stored(at: name.sequence) else { return }
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
      newest = engine.stored(at: last)?.name
      updated()
    case .failure:
      break
    }
  }

  mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
    if requests.isEmpty { return nil }
    guard nextRequest < requests.count else {
      requests.removeAll(keepingCapacity: true)
      nextRequest = 0
      return nil
    }
    let request = requests[nextRequest]
    nextRequest += 1
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
    return .stopUpdating
  }

  /// `didFinishDeferredUpdates`: the next call is made in the handler of the batch that follows, or
  /// of the next fix.
  private mutating func finished(_ code: LocationErrorCode?) {
    isArmed = false
    if code == .deferredAccuracyTooLow || code == .deferredDistanceFiltered { hasGivenUp = true }
  }

  /// `didUpdateLocations`: handle, defer what comes next, acknowledge.
  private mutating func updated() {
    if script.defers && !isArmed && !isDone && !hasGivenUp {
      isArmed = true
      requests.append(.allowDeferred(distance: script.distance, timeout: script.timeout))
    }
    if let newest { requests.append(.acknowledge(newest)) }
  }
}

import DeferralCache
import LocationEngine
import LocationPolicy
import LocationTypes
import Testing

/// Target of a test client's requests: `EngineBench` or `BoardBench`.
protocol RequestSink: AnyObject {
  /// Performs a request now.
  func request(_ request: Request, of client: ClientID)
  /// Performs a request after the current step, as a request of a handler.
  func requestLater(_ request: Request, of client: ClientID)
  /// The current time.
  var now: Instant { get }
}

extension Double {
  /// A criterion without limit, like `CLLocationDistanceMax` and `CLTimeIntervalMax`.
  static let unlimited = Double.greatestFiniteMagnitude
}

/// A notice that a client received.
enum ReceivedNotice: Equatable, CustomStringConvertible {
  case gap(UInt64)
  case finish(LocationErrorCode?)
  case batch(ClosedRange<UInt64>)
  case failure(LocationErrorCode)
  case degraded(ServiceLevelSet)
  case paused
  case resumed
  case report(UInt64)
  case coarse(UInt64)
  case visit(Visit)
  case region(RegionEvent)
  case live(LiveElement)
  case liveRefused(LiveConfiguration)

  var description: String {
    switch self {
    case .gap(let count): "gap(\(count))"
    case .finish(let code): code.map { "finish(\($0.rawValue))" } ?? "finish"
    case .batch(let range): "batch(\(range.lowerBound)...\(range.upperBound))"
    case .failure(let code): "fail(\(code.rawValue))"
    case .degraded(let shed): "degraded(\(shed.rawValue))"
    case .paused: "paused"
    case .resumed: "resumed"
    case .report(let sequence): "report(\(sequence))"
    case .coarse(let sequence): "coarse(\(sequence))"
    case .visit(let visit): visit.departure == nil ? "arrived" : "departed"
    case .region(let event): "\(event)"
    case .live(let element): "live(\(element.isStationary))"
    case .liveRefused(let configuration): "liveRefused(\(configuration.rawValue))"
    }
  }
}

/// A client of a bench: sends requests and records all notices it receives, in order.
///
/// Checks the invariants of every client: order, no duplicates, no empty batch,
/// `location` set before the callback.
final class TestClient {
  let id: ClientID
  private unowned let sink: any RequestSink
  /// The received notices.
  private(set) var notices: [ReceivedNotice] = []
  /// Times at which the notices were received.
  private(set) var times: [Instant] = []
  /// The received fixes, by batch.
  private(set) var batches: [[StoredFix]] = []
  private(set) var gaps: [Gap] = []
  /// Whether the client acknowledges each batch and report when it receives it.
  var acknowledges = true
  /// `pausesLocationUpdatesAutomatically`; off, so that a stationary test does not pause.
  var pauses = false
  /// The received changes of authorization.
  private(set) var authorizations: [Authorization] = []
  /// The fixes received outside of running updates.
  private(set) var reports: [StoredFix] = []
  /// Requests of the client's handlers.
  var onFinish: [Request] = []
  var onBatch: [Request] = []
  /// Smallest sequence that the next fix may have; reset when the client connects again.
  private var expected: UInt64 = 0
  private var isSkipping = true

  init(_ id: ClientID, _ sink: any RequestSink) {
    self.id = id
    self.sink = sink
  }

  // MARK: Requests

  func request(_ request: Request) {
    if case .connect = request {
      expected = 0
      isSkipping = true
    }
    sink.request(request, of: id)
  }

  func connect(in state: ExecutionState = .foreground) {
    request(.connect)
    if !pauses { request(.setPausesAutomatically(false)) }
    request(.setExecution(state))
  }
  func start() { request(.startUpdating) }
  func stop() { request(.stopUpdating) }
  func `defer`(untilTraveled distance: Double, timeout: Double) {
    request(.allowDeferred(distance: distance, timeout: timeout))
  }
  func disallow() { request(.disallowDeferred) }
  func foreground() { request(.setExecution(.foreground)) }
  func background() { request(.setExecution(.background)) }
  func suspend() { request(.setExecution(.suspended)) }

  // MARK: Received notices

  var finishes: [LocationErrorCode?] {
    notices.compactMap { if case .finish(let code) = $0 { .some(code) } else { nil } }
  }
  var failures: [LocationErrorCode] {
    notices.compactMap { if case .failure(let code) = $0 { code } else { nil } }
  }
  /// All received fixes, in order.
  var fixes: [StoredFix] { batches.flatMap { $0 } }
  var sequences: [UInt64] { fixes.map(\.name.sequence) }
  /// The received notices as one line.
  var text: String { notices.map(\.description).joined(separator: " ") }
  /// Time at which the first such notice was received.
  func time(of notice: ReceivedNotice) -> Instant? {
    notices.firstIndex(of: notice).map { times[$0] }
  }

  /// Clears the recorded notices, batches and gaps.
  func clearRecords() {
    notices = []
    times = []
    batches = []
    gaps = []
  }

  func receive(_ notice: Notice, from engine: borrowing Engine, at now: Instant) {
    if case .authorization(let new, _) = notice { return authorizations.append(new) }
    times.append(now)
    switch notice {
    case .gap(let gap):
      notices.append(.gap(gap.count))
      gaps.append(gap)
      #expect(gap.range.lowerBound >= expected || isSkipping, "gaps and fixes are in order")
      advance(to: gap.range.upperBound)
    case .finish(let code):
      notices.append(.finish(code))
      for request in onFinish { sink.requestLater(request, of: id) }
    case .failure(let code): notices.append(.failure(code))
    case .authorization: break
    case .degraded(let shed): notices.append(.degraded(shed))
    case .paused: notices.append(.paused)
    case .resumed: notices.append(.resumed)
    case .coarse(let stored):
      notices.append(.coarse(stored.name.sequence))
      reports.append(stored)
      #expect(
        engine.withClient(id) { $0.isReduced }, "AUT-12: only for a client with reduced accuracy")
      if acknowledges { sink.requestLater(.acknowledge(stored.name), of: id) }
    case .report(let stored):
      notices.append(.report(stored.name.sequence))
      reports.append(stored)
      if acknowledges { sink.requestLater(.acknowledge(stored.name), of: id) }
      let location = engine.location(of: id)?.name.sequence ?? 0
      #expect(location >= stored.name.sequence, "STD-8: location is the newest delivered fix")
      let isReduced = engine.withClient(id) { $0.isReduced }
      if !isReduced {
        #expect(
          engine.stored(at: stored.name.sequence) == stored, "RNG-2: a fix has its own name")
      }
    case .visit(let visit): notices.append(.visit(visit))
    case .region(let event): notices.append(.region(event))
    case .live(let element): notices.append(.live(element))
    case .liveRefused(let configuration): notices.append(.liveRefused(configuration))
    case .batch(let first, let last):
      guard first <= last else {
        Issue.record("DEF-34: a batch is never empty")
        return
      }
      notices.append(.batch(first...last))
      accept(first...last, from: engine)
    }
  }

  private func accept(_ range: ClosedRange<UInt64>, from engine: borrowing Engine) {
    let fixes = range.compactMap { engine.stored(at: $0) }
    #expect(fixes.count == range.count, "every fix of a batch is in the ring")
    #expect(isSkipping || range.lowerBound >= expected, "no fix is delivered twice or out of order")
    let location = engine.location(of: id)
    #expect(location == fixes.last, "STD-8: location is the newest delivered fix")
    advance(to: range.upperBound + 1)
    batches.append(fixes)
    if acknowledges, let name = fixes.last?.name { sink.requestLater(.acknowledge(name), of: id) }
    for request in onBatch { sink.requestLater(request, of: id) }
  }

  private func advance(to end: UInt64) {
    expected = end
    isSkipping = false
  }
}

import DeferralCache
import LocationEngine
import LocationPolicy
import LocationTypes
import Testing

/// Where a test's client brings what it asks.
protocol Desk: AnyObject {
  /// Asks now.
  func ask(_ request: Request, of client: ClientID)
  /// Asks after the step that is being done: from inside a handler.
  func askLater(_ request: Request, of client: ClientID)
  /// Now.
  var now: Instant { get }
}

extension Double {
  /// A criterion without limit, as `CLLocationDistanceMax` and `CLTimeIntervalMax`.
  static let unlimited = Double.greatestFiniteMagnitude
}

/// One thing a client was told.
enum Told: Equatable, CustomStringConvertible {
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
    case .degraded(let givenUp): "degraded(\(givenUp.rawValue))"
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

/// A client of a bench: what it asks, and all that it was told, in order.
///
/// Watches over what must hold for every client at every moment: order, no doubles, no batch without
/// fixes, `location` set before the callback.
final class TestClient {
  let id: ClientID
  private unowned let desk: any Desk
  /// What it was told, and when.
  private(set) var story: [Told] = []
  private(set) var times: [Instant] = []
  /// The fixes it was given, batch by batch.
  private(set) var batches: [[StoredFix]] = []
  private(set) var gaps: [Gap] = []
  /// Each batch and report is acknowledged as soon as it came.
  var acknowledges = true
  /// `pausesLocationUpdatesAutomatically`; off, so that a test may stand still for long.
  var pauses = false
  /// Changes of authorization it was told.
  private(set) var authorizations: [Authorization] = []
  /// Fixes it was told outside the running updates.
  private(set) var reports: [StoredFix] = []
  /// What its handlers ask in turn.
  var onFinish: [Request] = []
  var onBatch: [Request] = []
  /// The sequence that the next fix must have, or a later one; set anew by a reconnection.
  private var expected: UInt64 = 0
  private var isSkipping = true

  init(_ id: ClientID, _ desk: any Desk) {
    self.id = id
    self.desk = desk
  }

  // MARK: Asking

  func ask(_ request: Request) {
    if case .connect = request {
      expected = 0
      isSkipping = true
    }
    desk.ask(request, of: id)
  }

  func connect(in state: ExecutionState = .foreground) {
    ask(.connect)
    if !pauses { ask(.setPausesAutomatically(false)) }
    ask(.setExecution(state))
  }
  func start() { ask(.startUpdating) }
  func stop() { ask(.stopUpdating) }
  func `defer`(untilTraveled distance: Double, timeout: Double) {
    ask(.allowDeferred(distance: distance, timeout: timeout))
  }
  func disallow() { ask(.disallowDeferred) }
  func foreground() { ask(.setExecution(.foreground)) }
  func background() { ask(.setExecution(.background)) }
  func suspend() { ask(.setExecution(.suspended)) }

  // MARK: Told

  var finishes: [LocationErrorCode?] {
    story.compactMap { if case .finish(let code) = $0 { .some(code) } else { nil } }
  }
  var failures: [LocationErrorCode] {
    story.compactMap { if case .failure(let code) = $0 { code } else { nil } }
  }
  /// All fixes it was given, in the order in which they came.
  var fixes: [StoredFix] { batches.flatMap { $0 } }
  var sequences: [UInt64] { fixes.map(\.name.sequence) }
  /// Its story as a line.
  var text: String { story.map(\.description).joined(separator: " ") }
  /// When the first thing like this was told.
  func time(of told: Told) -> Instant? { story.firstIndex(of: told).map { times[$0] } }

  /// Forgets what was told so far.
  func forget() {
    story = []
    times = []
    batches = []
    gaps = []
  }

  func receive(_ notice: Notice, from engine: borrowing Engine, at now: Instant) {
    if case .authorization(let new, _) = notice { return authorizations.append(new) }
    times.append(now)
    switch notice {
    case .gap(let gap):
      story.append(.gap(gap.count))
      gaps.append(gap)
      #expect(gap.range.lowerBound >= expected || isSkipping, "a gap comes in its order")
      note(upTo: gap.range.upperBound)
    case .finish(let code):
      story.append(.finish(code))
      for request in onFinish { desk.askLater(request, of: id) }
    case .failure(let code): story.append(.failure(code))
    case .authorization: break
    case .degraded(let givenUp): story.append(.degraded(givenUp))
    case .paused: story.append(.paused)
    case .resumed: story.append(.resumed)
    case .coarse(let stored):
      story.append(.coarse(stored.name.sequence))
      reports.append(stored)
      #expect(engine.client(id).isReduced, "AUT-12: only of a client with reduced accuracy")
      if acknowledges { desk.askLater(.acknowledge(stored.name), of: id) }
    case .report(let stored):
      story.append(.report(stored.name.sequence))
      reports.append(stored)
      if acknowledges { desk.askLater(.acknowledge(stored.name), of: id) }
      let location = engine.location(of: id)?.name.sequence ?? 0
      #expect(location >= stored.name.sequence, "STD-8: location is the newest that was told")
      if !engine.client(id).isReduced {
        #expect(
          engine.stored(at: stored.name.sequence) == stored, "RNG-2: a fix bears its own name")
      }
    case .visit(let visit): story.append(.visit(visit))
    case .region(let event): story.append(.region(event))
    case .live(let element): story.append(.live(element))
    case .liveRefused(let configuration): story.append(.liveRefused(configuration))
    case .batch(let first, let last):
      guard first <= last else {
        Issue.record("DEF-34: a batch is never empty")
        return
      }
      story.append(.batch(first...last))
      take(first...last, from: engine)
    }
  }

  private func take(_ range: ClosedRange<UInt64>, from engine: borrowing Engine) {
    let fixes = range.compactMap { engine.stored(at: $0) }
    #expect(fixes.count == range.count, "every fix of a batch is in the ring")
    #expect(isSkipping || range.lowerBound >= expected, "no fix comes twice or out of order")
    let location = engine.location(of: id)
    #expect(location == fixes.last, "STD-8: location is the newest delivered fix")
    note(upTo: range.upperBound + 1)
    batches.append(fixes)
    if acknowledges, let name = fixes.last?.name { desk.askLater(.acknowledge(name), of: id) }
    for request in onBatch { desk.askLater(request, of: id) }
  }

  private func note(upTo end: UInt64) {
    expected = end
    isSkipping = false
  }
}

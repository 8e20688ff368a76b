import DeferralCache
import LocationTypes
import TestSupport

@testable import LocationPolicy

let equator = Coordinate(latitude_e9: 0, longitude_e9: 0)

/// A fix `east` metres east of (0, 0) with an accuracy of 3 m.
func fix(
  at seconds: Double, east: Double = 0, north: Double = 0, accuracy_mm: Int32? = 3_000,
  speed_mmps: Int32? = nil
) -> Fix {
  var fix = Fix(
    acquired: Instant(seconds: seconds), coordinate: equator.moved(east: east, north: north))
  fix.horizontalAccuracy_mm = accuracy_mm
  fix.speed_mmps = speed_mmps
  return fix
}

/// Equatable form of a notice.
enum NoticeValue: Equatable, CustomStringConvertible {
  case gap(Range<UInt64>, count: UInt64)
  case finish(Int?)
  case batch(ClosedRange<UInt64>)
  case failure(Int)
  case authorization(Authorization, isReduced: Bool)
  case degraded(UInt8)
  case paused
  case resumed
  case report(UInt64, accuracy_mm: Int32?)
  case coarse(UInt64, accuracy_mm: Int32?)
  case visit(arrival: Double?, departure: Double?)
  case region(RegionEvent)
  case live(Int, fix: UInt64?, stationary: Bool, flags: UInt8)
  case liveRefused(LiveConfiguration)

  init(_ notice: Notice) {
    switch notice {
    case .gap(let gap): self = .gap(gap.range, count: gap.count)
    case .finish(let code): self = .finish(code?.rawValue)
    case .batch(let first, let last): self = .batch(first...last)
    case .failure(let code): self = .failure(code.rawValue)
    case .authorization(let new, let isReduced): self = .authorization(new, isReduced: isReduced)
    case .degraded(let shedLevels): self = .degraded(shedLevels.rawValue)
    case .paused: self = .paused
    case .resumed: self = .resumed
    case .report(let stored):
      self = .report(stored.name.sequence, accuracy_mm: stored.fix.horizontalAccuracy_mm)
    case .coarse(let stored):
      self = .coarse(stored.name.sequence, accuracy_mm: stored.fix.horizontalAccuracy_mm)
    case .visit(let visit):
      self = .visit(
        arrival: visit.arrival?.acquired.seconds, departure: visit.departure?.acquired.seconds)
    case .region(let event): self = .region(event)
    case .live(let element):
      self = .live(
        element.iterator, fix: element.location?.name.sequence,
        stationary: element.isStationary, flags: element.flags.rawValue)
    case .liveRefused(let configuration): self = .liveRefused(configuration)
    }
  }

  var description: String {
    switch self {
    case .gap(let range, let count): "gap(\(range), \(count))"
    case .finish(let code): "finish(\(code.map(String.init) ?? "-"))"
    case .batch(let range): "batch(\(range))"
    case .failure(let code): "failure(\(code))"
    case .authorization(let new, let isReduced):
      "authorization(\(new), \(isReduced ? "reduced" : "full"))"
    case .degraded(let shedLevels): "degraded(\(shedLevels))"
    case .paused: "paused"
    case .resumed: "resumed"
    case .report(let sequence, _): "report(\(sequence))"
    case .coarse(let sequence, _): "coarse(\(sequence))"
    case .visit(let arrival, let departure): "visit(\(arrival ?? -1), \(departure ?? -1))"
    case .region(let event): "region(\(event))"
    case .live(let iterator, let fix, let stationary, let flags):
      "live(\(iterator), \(fix.map(String.init) ?? "-"), \(stationary), \(flags))"
    case .liveRefused(let configuration): "liveRefused(\(configuration.rawValue))"
    }
  }
}

/// One client over a real ring, with clock, receiver and board controlled by the test.
final class ClientBench {
  let memory: RingMemory
  var ring: FixRing
  var client: Client
  var now = 0.0
  var newest: StoredFix?
  /// Whether the receiver buffers fixes.
  var buffers = false
  var isDraining = false
  var isAvailable = true
  var limit = 4
  var hold = Interval.seconds(2)
  /// `pausesLocationUpdatesAutomatically`; off by default, so that tests can stay in one place.
  var pauses = false
  var line = MotionLine.absent
  /// Service levels shed for the battery.
  var shedLevels = ServiceLevelSet.none
  /// Whether `notices()` includes changes of authorization.
  var showsAuthorization = false

  init(capacity: Int = 16) {
    memory = RingMemory(capacity: capacity)
    do {
      ring = try memory.openSynced()
    } catch {
      preconditionFailure("empty storage opens: \(error)")
    }
    client = Client(at: ring.head)
  }

  var context: ClientContext {
    var context = ClientContext(
      now: Instant(seconds: now), head: ring.head, newest: newest, receiverBuffers: buffers,
      isDraining: isDraining, isDeferralAvailable: isAvailable, deferralLimit: limit,
      deliveryHold: hold)
    context.motionLine = line
    context.shed = shedLevels
    return context
  }

  var state: Deferral.State { client.deferral.state }
  var demand: Demand { client.demand(at: Instant(seconds: now)) }
  var hasNotices: Bool { client.hasNotices }
  var isWaitingForDrain: Bool { client.isWaitingForDrain }
  var acknowledgementDeadline: Instant? { client.acknowledgementDeadline }

  /// Handles requests and returns the notices that follow.
  @discardableResult
  func send(_ requests: Request...) -> [NoticeValue] {
    for request in requests { sendOnly(request) }
    return notices()
  }

  /// Handles a request without reading the notices.
  func sendOnly(_ request: Request) {
    client.handle(request, in: ring, context)
    if case .connect = request, !pauses {
      client.handle(.setPausesAutomatically(false), in: ring, context)
    }
  }

  /// Appends a fix to the ring as the engine does.
  func append(_ fix: Fix) {
    client.prepareOverwrite(in: ring)
    let stored = StoredFix(name: ring.append(fix), fix: fix)
    newest = stored
    client.accept(stored, context)
  }

  /// Advances one second per fix and appends `count` fixes `east` metres from the start.
  @discardableResult
  func fixes(_ count: Int = 1, east: Double = 0) -> [NoticeValue] {
    var all: [NoticeValue] = []
    for _ in 0..<count {
      now += 1
      append(fix(at: now, east: east))
      all += notices()
    }
    return all
  }

  /// When the client's services must be checked next.
  var check: Instant { client.elapse(context) }

  /// Advances the time.
  @discardableResult
  func wait(_ seconds: Double) -> [NoticeValue] {
    now += seconds
    client.elapse(context)
    return notices()
  }

  @discardableResult
  func updateEngagement(_ mayEngage: Bool) -> [NoticeValue] {
    client.updateEngagement(mayEngage, context)
    return notices()
  }

  /// Drains the receiver; `times` are the times of its buffered fixes.
  @discardableResult
  func drain(_ times: [Double] = [], east: Double = 0) -> [NoticeValue] {
    isDraining = true
    var all: [NoticeValue] = []
    for time in times {
      append(fix(at: time, east: east))
      all += notices()
    }
    isDraining = false
    buffers = false
    client.drainFinished(context)
    return all + notices()
  }

  @discardableResult
  func loseReceiver() -> [NoticeValue] {
    client.receiverLost(context)
    return notices()
  }

  func notices() -> [NoticeValue] {
    var all: [NoticeValue] = []
    while let notice = client.nextNotice(in: ring, hold: context.now + context.deliveryHold) {
      if case .authorization = notice, !showsAuthorization { continue }
      all.append(NoticeValue(notice))
    }
    return all
  }

  func name(_ sequence: UInt64) -> FixName {
    FixName(generation: ring.generation, sequence: sequence)
  }

  /// A client in the background that has started updates, and has no fix yet.
  static func started(capacity: Int = 16) -> ClientBench {
    let bench = ClientBench(capacity: capacity)
    bench.send(.connect, .startUpdating, .setExecution(.background))
    return bench
  }

  /// The same with an engaged deferral, called at `now`.
  static func engaged(
    distance: Double = .infinity, timeout: Double = .infinity, capacity: Int = 16
  ) -> ClientBench {
    let bench = ClientBench.started(capacity: capacity)
    bench.send(.allowDeferred(distance: distance, timeout: timeout))
    bench.updateEngagement(true)
    precondition(bench.state == .engaged)
    return bench
  }
}

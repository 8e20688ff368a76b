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

/// A notice in a form that compares.
enum Told: Equatable, CustomStringConvertible {
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
    case .degraded(let givenUp): self = .degraded(givenUp.rawValue)
    case .paused: self = .paused
    case .resumed: self = .resumed
    case .report(let stored):
      self = .report(stored.name.sequence, accuracy_mm: stored.fix.horizontalAccuracy_mm)
    case .coarse(let stored):
      self = .coarse(stored.name.sequence, accuracy_mm: stored.fix.horizontalAccuracy_mm)
    case .visit(let visit):
      self = .visit(
        arrival: visit.arrival?.instant.seconds, departure: visit.departure?.instant.seconds)
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
    case .degraded(let givenUp): "degraded(\(givenUp))"
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

/// One client over a real ring, with its surroundings in the test's hands.
final class World {
  let memory: RingMemory
  var ring: FixRing
  var client: Client
  var now = 0.0
  var newest: StoredFix?
  /// The receiver keeps fixes back.
  var buffers = false
  var isDraining = false
  var isAvailable = true
  var limit = 4
  var hold = Interval.seconds(2)
  /// `pausesLocationUpdatesAutomatically`; off, so that a test may stand still for long.
  var pauses = false
  var line = MotionLine.absent
  /// What the battery is too low for.
  var givenUp = ServiceLevelSet.none
  /// How far the wearer has come.
  var way = Odometer()
  /// The client is spared fixes that mean nothing to it, as the engine does it, and so many it was.
  var spares = false
  var spared = 0
  /// Whether a change of authorization is among what is told.
  var showsAuthorization = false

  init(capacity: Int = 16) {
    memory = RingMemory(capacity: capacity)
    do {
      ring = try memory.openSynced()
    } catch {
      preconditionFailure("storage of zeros opens: \(error)")
    }
    client = Client(at: ring.head)
  }

  var context: ClientContext {
    var context = ClientContext(
      now: Instant(seconds: now), head: ring.head, newest: newest, receiverBuffers: buffers,
      isDraining: isDraining, isDeferralAvailable: isAvailable, deferralLimit: limit,
      deliveryHold: hold)
    context.motionLine = line
    context.shed = givenUp
    context.travelled = way.length
    return context
  }

  var state: Deferral.State { client.deferral.state }
  var demand: Demand { client.demand(at: Instant(seconds: now)) }
  var hasNotices: Bool { client.hasNotices }
  var isWaitingForDrain: Bool { client.isWaitingForDrain }
  var awaitsAcknowledgementUntil: Instant? { client.acknowledgementDeadline }

  /// Asks and gives what is told afterwards.
  @discardableResult
  func ask(_ requests: Request...) -> [Told] {
    for request in requests { askQuietly(request) }
    return told()
  }

  /// Asks and leaves the notices where they are.
  func askQuietly(_ request: Request) {
    client.deliverSkippedFix(context)
    client.handle(request, in: ring, context)
    if case .connect = request, !pauses {
      client.handle(.setPausesAutomatically(false), in: ring, context)
    }
  }

  /// A fix goes into the ring, as the engine does it.
  func append(_ fix: Fix) {
    client.prepareOverwrite(in: ring)
    if let newest, fix.acquired <= newest.fix.acquired { client.deliverSkippedFix(context) }
    let stored = StoredFix(name: ring.append(fix), fix: fix)
    newest = stored
    way.advance(to: fix.coordinate)
    if spares && !client.needsFix(at: fix.acquired, way.length) {
      spared += 1
    } else {
      client.accept(stored, context)
    }
  }

  /// One second passes and brings a fix `east` metres from the start.
  @discardableResult
  func fixes(_ count: Int = 1, east: Double = 0) -> [Told] {
    var all: [Told] = []
    for _ in 0..<count {
      now += 1
      append(fix(at: now, east: east))
      all += told()
    }
    return all
  }

  /// Time passes.
  @discardableResult
  func wait(_ seconds: Double) -> [Told] {
    now += seconds
    client.elapse(context)
    return told()
  }

  @discardableResult
  func may(_ may: Bool) -> [Told] {
    client.updateEngagement(may, context)
    return told()
  }

  /// The receiver gives out what it held: `made` are the times of its fixes.
  @discardableResult
  func drain(_ made: [Double] = [], east: Double = 0) -> [Told] {
    isDraining = true
    var all: [Told] = []
    for time in made {
      append(fix(at: time, east: east))
      all += told()
    }
    isDraining = false
    buffers = false
    client.drainFinished(context)
    return all + told()
  }

  @discardableResult
  func lose() -> [Told] {
    client.receiverLost(context)
    return told()
  }

  func told() -> [Told] {
    var all: [Told] = []
    while let notice = client.nextNotice(in: ring, hold: context.now + context.deliveryHold) {
      if case .authorization = notice, !showsAuthorization { continue }
      all.append(Told(notice))
    }
    return all
  }

  func name(_ sequence: UInt64) -> FixName {
    FixName(generation: ring.generation, sequence: sequence)
  }

  /// A client in the background that has started updates, and has no fix yet.
  static func started(capacity: Int = 16) -> World {
    let world = World(capacity: capacity)
    world.ask(.connect, .startUpdating, .setExecution(.background))
    return world
  }

  /// The same with an engaged deferral, called at `now`.
  static func engaged(
    distance: Double = .infinity, timeout: Double = .infinity, capacity: Int = 16
  ) -> World {
    let world = World.started(capacity: capacity)
    world.ask(.allowDeferred(distance: distance, timeout: timeout))
    world.may(true)
    precondition(world.state == .engaged)
    return world
  }
}

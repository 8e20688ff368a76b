import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite("Regions on random paths")
struct RegionWalkTests {
  /// Centres and sizes of walks: the equator, a town, the antimeridian, both poles, a wide area.
  static let areas = [
    (0.0, 0.0, 400.0), (48.1, 11.6, 400), (-17.5, 180, 400), (89.9999, 20, 300), (-90, 0, 400),
    (62, 25, 60_000), (84, -179.99, 30_000),
  ]

  @Test(
    "REG-4 to REG-9, REG-12, REG-16: checking only when needed changes no event",
    arguments: areas, 0..<4 as Range<UInt64>)
  func lazy(_ area: (Double, Double, Double), _ seed: UInt64) throws {
    let middle = try #require(Coordinate(latitude: area.0, longitude: area.1))
    var walk = RegionWalk(seed: seed, middle: middle, size: area.2)
    for _ in 0..<2_000 { try walk.step() }
    #expect(walk.crossings > 10, "crossings: \(walk.crossings)")
    #expect(walk.checks * 10 < walk.fixes * 9, "\(walk.checks) of \(walk.fixes) fixes were checked")
  }

  @Test(
    "REG-2, REG-7: memory is bounded, each call has one answer, and events end in the state",
    arguments: 100..<120 as Range<UInt64>)
  func bounds(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var bench = RegionBench()
    var pendingCalls: [RegionIdentifier: Int] = [:]
    var reported: [RegionIdentifier: RegionState] = [:]
    var east = 0.0
    for second in 0..<3_000 {
      let now = Double(second)
      let number = UInt32.random(in: 0..<30, using: &random)
      let identifier = RegionIdentifier(.region, number)
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        let east = Double.random(in: -300...300, using: &random)
        let radius = Double.random(in: 20...200, using: &random)
        let region = circle(
          identifier, east: east, radius: radius, entry: Bool.random(using: &random),
          exit: Bool.random(using: &random))
        if bench.add(region, at: now) == nil { reported[identifier] = nil }
      case 1 where Int.random(in: 0..<3, using: &random) == 0: bench.monitor.remove(identifier)
      case 2...3:
        let timeout = Int64.random(in: 0...20, using: &random)
        if bench.requestState(identifier, at: now, timeout: timeout) == nil {
          pendingCalls[identifier, default: 0] += 1
        }
      case 4 where Int.random(in: 0..<40, using: &random) == 0:
        for number in 0..<30 as Range<UInt32> {
          bench.monitor.remove(RegionIdentifier(.region, number))
        }
      case 5 where Int.random(in: 0..<10, using: &random) == 0:
        bench.monitor.setInactive(Bool.random(using: &random), at: Instant(seconds: now))
        reported = [:]
      default:
        if Int.random(in: 0..<40, using: &random) == 0 {
          east = Double.random(in: -500...500, using: &random)
        }
        bench.accept(
          (now, east + random.normal()),
          accuracy_mm: Int32.random(in: 1_000...30_000, using: &random))
      }
      bench.elapse(now)
      #expect(bench.monitor.count <= RegionMonitor.capacity)
      #expect(bench.monitor.deadline > Instant(seconds: now))
      guard Int.random(in: 0..<30, using: &random) == 0 else { continue }
      let answered = answers(bench.events(), reported: &reported)
      for (identifier, count) in pendingCalls {
        let waiting = bench.monitor.slot(of: identifier).map {
          bench.monitor.slots[$0].waitingRequests
        }
        #expect(count == (answered[identifier] ?? 0) + Int(waiting ?? 0))
        pendingCalls[identifier] = Int(waiting ?? 0)
      }
      for (identifier, state) in reported where bench.monitor.state(of: identifier) != .unknown {
        #expect(bench.monitor.state(of: identifier) == state)
      }
    }
  }

  /// Counts the answers that belong to requests: each crossing has its own answer after it.
  private func answers(
    _ events: [RegionEvent], reported: inout [RegionIdentifier: RegionState]
  ) -> [RegionIdentifier: Int] {
    var count: [RegionIdentifier: Int] = [:]
    for event in events {
      switch event {
      case .entered(let identifier, _), .exited(let identifier, _):
        count[identifier, default: 0] -= 1
      case .determined(let identifier, let state):
        count[identifier, default: 0] += 1
        reported[identifier] = state == .unknown ? nil : state
      case .crossedSilently(let identifier, let state): reported[identifier] = state
      case .monitor, .failure: break
      }
    }
    return count
  }
}

/// A random walk among circles, compared with the oracle.
struct RegionWalk: ~Copyable {
  var random: SplitMix64
  let middle: Coordinate
  let size: Double
  var monitor = RegionMonitor(limits: RegionLimits(maximumRadius: 1e6))
  var oracle = RegionOracle()
  var now = Instant.boot
  var position: Coordinate
  var bearing = 0.0
  var stepsLeft = 0
  var speed = 0.0
  var (fixes, checks, crossings) = (0, 0, 0)

  init(seed: UInt64, middle: Coordinate, size: Double) {
    random = SplitMix64(seed: seed)
    (self.middle, self.size, position) = (middle, size, middle)
  }

  mutating func step() throws {
    var expected: [RegionEvent] = []
    switch Int.random(in: 0..<200, using: &random) {
    case 0...3: expected = add()
    case 4:
      let identifier = name()
      monitor.remove(identifier)
      oracle.remove(identifier)
    case 5 where Int.random(in: 0..<5, using: &random) == 0:
      let isInactive = Int.random(in: 0..<3, using: &random) == 0
      monitor.setInactive(isInactive, at: now)
      oracle.setInactive(isInactive, at: now)
    case 6:
      monitor.setInactive(false, at: now)
      oracle.setInactive(false, at: now)
    default: expected = move()
    }
    var events: [RegionEvent] = []
    while let event = monitor.nextEvent() { events.append(event) }
    try #require(byName(events) == byName(expected), "at \(now.seconds)")
    crossings += events.count
    for circle in oracle.circles {
      let state = circle.isInside.map { $0 ? RegionState.inside : .outside } ?? .unknown
      try #require(monitor.state(of: circle.region.identifier) == state)
    }
  }

  /// Events by identifier: circles that change with one fix may be reported in any order.
  private func byName(_ events: [RegionEvent]) -> [RegionIdentifier: [RegionEvent]] {
    Dictionary(grouping: events) { event in
      switch event {
      case .entered(let identifier, _), .exited(let identifier, _), .determined(let identifier, _),
        .crossedSilently(let identifier, _), .monitor(let identifier, _, _, _),
        .failure(let identifier, _):
        identifier
      }
    }
  }

  private mutating func name() -> RegionIdentifier {
    RegionIdentifier(
      Bool.random(using: &random) ? .region : .condition, UInt32.random(in: 0..<10, using: &random))
  }

  private mutating func add() -> [RegionEvent] {
    var region = Region(
      name(),
      center: middle.destination(
        bearing: Double.random(in: 0...360, using: &random),
        distance: size * Double.random(in: 0...2, using: &random)),
      radius: size * Double.random(in: 0.02...1, using: &random),
      notifyOnEntry: Bool.random(using: &random), notifyOnExit: Bool.random(using: &random))
    if Bool.random(using: &random), let held = monitor.region(region.identifier) {
      region.shape = held.shape
    }
    _ = monitor.add(region, at: now)
    return oracle.add(region, at: now)
  }

  private mutating func move() -> [RegionEvent] {
    if stepsLeft == 0 {
      stepsLeft = Int.random(in: 20...80, using: &random)
      speed = size / 80 * [0, 0.05, 0.3, 1].randomElement(using: &random)!
      bearing =
        position.distance(to: middle) > size
        ? position.bearing(to: middle) : Double.random(in: 0...360, using: &random)
    }
    stepsLeft -= 1
    let seconds = [1, 1, 1, 5, 30].randomElement(using: &random)!
    now = now + .seconds(Int64(seconds))
    position = position.destination(bearing: bearing, distance: speed * Double(min(seconds, 5)))
    var fix = Fix(
      acquired: Int.random(in: 0..<50, using: &random) == 0 ? now - .seconds(9) : now,
      coordinate: position.destination(
        bearing: Double.random(in: 0...360, using: &random), distance: abs(random.normal()) * 3))
    fix.horizontalAccuracy_mm = [3_000, 3_000, 8_000, 60_000, nil, 0].randomElement(using: &random)!
    fixes += 1
    if monitor.needsCheck(at: fix) { checks += 1 }
    monitor.accept(fix)
    return oracle.accept(fix)
  }
}

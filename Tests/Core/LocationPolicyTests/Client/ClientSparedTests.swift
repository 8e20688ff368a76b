import DeferralCache
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

/// A client that rests is spared fixes that mean nothing to it: nobody can tell it from one that takes all.
@Suite("A client that is spared fixes") struct ClientSparedTests {
  @Test(
    "REG-4 to REG-9, REG-16, SLC-2, LIV-7: whoever is spared fixes is told the same, and needs the same",
    arguments: 0..<60 as Range<UInt64>)
  func same(_ seed: UInt64) throws {
    var walk = SparedWalk(seed: seed)
    for _ in 0..<1_500 { try walk.step() }
    #expect(walk.told > 0 && walk.spared.spared > 0, "something happened")
  }

  @Test(
    "REG-4: a fix out of turn, which a circle does not look at, is a place of the way all the same")
  func outOfTurn() {
    let world = World(capacity: 64)
    world.spares = true
    world.ask(.connect, .addRegion(ClientRestTests.near, assuming: .unknown))
    world.fixes(1)
    world.client.enterDormancy(at: world.context.now)
    world.fixes(2)
    // 800 m to the circle, and 700 m nearer without a look: it is not 800 m from there.
    world.append(fix(at: world.now, east: 700))
    #expect(world.fixes(25, east: 900).count == 2, "entered and its state")
  }
}

/// A client that takes all fixes and one that is spared some, on the same way.
private struct SparedWalk {
  var random: SplitMix64
  let eager = World(capacity: 64)
  let spared = World(capacity: 64)
  var line = MotionLine.absent
  var here = (east: 0.0, north: 0.0)
  var speed = (east: 0.0, north: 0.0)
  var left = 0
  var told = 0

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    spared.spares = true
    for request in [.connect, .setExecution(.background)] as [Request] { ask(request) }
    for _ in 0..<3 { ask(region()) }
  }

  mutating func step() throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0...2: ask(request())
    case 3 where Int.random(in: 0..<6, using: &random) == 0: happen()
    case 4: both { $0.now += 20 }
    default: move()
    }
    both { world in
      let now = world.context.now
      guard world.client.dormantUntil <= now else { return }
      world.client.deliverSkippedFix(world.context)
      world.client.elapse(world.context)
      world.client.enterDormancy(at: now)
    }
    try compare()
  }

  private func both(_ act: (World) -> Void) {
    act(eager)
    act(spared)
  }

  private func ask(_ request: Request) { both { $0.askQuietly(request) } }

  /// What concerns all clients, as the engine tells it.
  private mutating func happen() {
    let kind = Int.random(in: 0..<6, using: &random)
    let givenUp = Bool.random(using: &random) ? ServiceLevelSet.none : ServiceLevelSet(.regions)
    line = [.still, .moving, .absent].randomElement(using: &random) ?? .absent
    both { world in
      let context = world.context
      world.client.deliverSkippedFix(context)
      switch kind {
      case 0: world.client.acquisitionFailed(at: context.now)
      case 1: world.client.reportLocationUnknown(context)
      case 2: world.client.receiverLost(context)
      case 3: world.client.drainFinished(context)
      case 4: world.client.motionLineChanged(line, at: context.now)
      default:
        world.givenUp = givenUp
        world.client.endDormancy()
      }
    }
  }

  private mutating func move() {
    if left == 0 {
      left = Int.random(in: 10...60, using: &random)
      let speeds: [Double] = [0, 1, 10, 30]
      let most = speeds.randomElement(using: &random) ?? 0
      let back = abs(here.east) + abs(here.north) > 2_000 ? -most / 2_000 : 0
      speed.east = Double.random(in: -most...most, using: &random) + back * here.east
      speed.north = Double.random(in: -most...most, using: &random) + back * here.north
    }
    left -= 1
    here.east += speed.east
    here.north += speed.north
    // Now and then late, and as old as the one before.
    let age = Int.random(in: 0..<5, using: &random) == 0 ? 1.0 : 0
    let place = (here.east + 3 * random.normal(), here.north + 3 * random.normal())
    let accuracies: [Int32] = [3_000, 3_000, 20_000, 100_000]
    let accuracy = accuracies.randomElement(using: &random) ?? 3_000
    both { world in
      world.now += 1
      let made = max(world.now - age, world.newest?.fix.acquired.seconds ?? 0)
      world.append(
        fix(at: made, east: place.0, north: place.1, accuracy_mm: accuracy))
    }
  }

  private mutating func request() -> Request {
    let number = UInt32.random(in: 0..<6, using: &random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0...6: return region()
    case 7: return .removeRegion(RegionIdentifier(.region, number))
    case 8: return .requestRegionState(RegionIdentifier(.region, number))
    case 9: return .setExecution(Bool.random(using: &random) ? .suspended : .background)
    case 10: return .setReducedAccuracy(Int.random(in: 0..<3, using: &random) == 0)
    case 11:
      return .setAuthorization(Int.random(in: 0..<3, using: &random) == 0 ? .denied : .always)
    case 12: return Bool.random(using: &random) ? .startSignificantChange : .stopSignificantChange
    case 13: return Bool.random(using: &random) ? .openLive(.default) : .closeLive(0)
    case 14: return Bool.random(using: &random) ? .startUpdating : .stopUpdating
    case 15: return Bool.random(using: &random) ? .connect : .disconnect
    default:
      // Mostly it is back to what lets it rest.
      let quiet: [Request] = [
        .stopUpdating, .closeLive(0), .stopSignificantChange, .setReducedAccuracy(false),
        .setAuthorization(.always), .setExecution(.background), .connect,
      ]
      return quiet.randomElement(using: &random) ?? .connect
    }
  }

  private mutating func region() -> Request {
    let identifier = RegionIdentifier(
      Bool.random(using: &random) ? .region : .condition, UInt32.random(in: 0..<6, using: &random))
    return .addRegion(
      circle(
        identifier, east: here.east + Double.random(in: -2_000...2_000, using: &random),
        north: here.north + Double.random(in: -2_000...2_000, using: &random),
        radius: Double.random(in: 30...1_000, using: &random)), assuming: .unknown)
  }

  private mutating func compare() throws {
    let all = eager.told()
    try #require(spared.told() == all)
    told += all.count
    let last = all.reduce(nil as UInt64?) { last, notice in
      switch notice {
      case .batch(let range): range.upperBound
      case .report(let sequence, _): sequence
      default: last
      }
    }
    if let last { ask(.acknowledge(eager.name(last))) }
    try #require(spared.client.dormantUntil == eager.client.dormantUntil)
    for place in 0..<RegionMonitor.capacity {
      let (a, b) = (eager.record(place), spared.record(place))
      try #require(a?.region == b?.region && a?.assuming == b?.assuming)
    }
    // What it needs is asked of it seldom, for that ends what it was spared.
    guard Int.random(in: 0..<20, using: &random) == 0 else { return }
    both { $0.client.deliverSkippedFix($0.context) }
    let needs = [eager, spared].map { world in
      world.client.fixNeed(at: world.context.now, fastest: 20, line: line)
    }
    try #require(
      needs[0].accuracy == needs[1].accuracy && needs[0].isRequired == needs[1].isRequired)
    let newest = [eager, spared].map { $0.client.services.regions.newest }
    try #require(newest[0]?.acquired == newest[1]?.acquired)
    try #require(newest[0]?.coordinate == newest[1]?.coordinate)
    try #require(newest[0]?.accuracy_mm == newest[1]?.accuracy_mm)
    try #require(spared.client.isLocationUnknown == eager.client.isLocationUnknown)
  }
}

extension World {
  fileprivate func record(_ place: Int) -> (region: Region, assuming: MonitorState)? {
    client.services.regions.record(at: place)
  }
}

import DeferralCache
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

/// Skipping the fixes that a dormant client does not need must not change its notices.
@Suite("Skipped fixes of a dormant client") struct ClientSkippedFixTests {
  @Test(
    "REG-4 to REG-9, REG-16, SLC-2, LIV-7: skipping fixes changes neither notices nor needs",
    arguments: 0..<60 as Range<UInt64>)
  func same(_ seed: UInt64) throws {
    var walk = SkippingWalk(seed: seed)
    for _ in 0..<1_500 { try walk.step() }
    #expect(walk.noticeCount > 0 && walk.skipping.skippedFixes > 0, "no notice or no skipped fix")
  }

  @Test("REG-4: a fix out of order, which circles ignore, still counts for the odometer")
  func outOfOrder() {
    let bench = ClientBench(capacity: 64)
    bench.skipsFixes = true
    bench.send(.connect, .addRegion(ClientDormancyTests.near, assuming: .unknown))
    bench.fixes(1)
    bench.client.enterDormancy(at: bench.context.now)
    bench.fixes(2)
    // 800 m to the circle, then 700 m nearer without a check: the 800 m no longer apply.
    bench.append(fix(at: bench.now, east: 700))
    #expect(bench.fixes(25, east: 900).count == 2, "entered and its state")
  }
}

/// A client that handles all fixes and one that skips some, on the same path.
private struct SkippingWalk {
  var random: SplitMix64
  let reference = ClientBench(capacity: 64)
  let skipping = ClientBench(capacity: 64)
  var line = MotionLine.absent
  var position = (east: 0.0, north: 0.0)
  var speed = (east: 0.0, north: 0.0)
  var secondsAtSpeed = 0
  var noticeCount = 0

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    skipping.skipsFixes = true
    for request in [.connect, .setExecution(.background)] as [Request] { send(request) }
    for _ in 0..<3 { send(region()) }
  }

  mutating func step() throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0...2: send(request())
    case 3 where Int.random(in: 0..<6, using: &random) == 0: handleEvent()
    case 4: both { $0.now += 20 }
    default: move()
    }
    both { bench in
      let now = bench.context.now
      guard bench.client.dormantUntil <= now else { return }
      bench.client.deliverSkippedFix(bench.context)
      bench.client.elapse(bench.context)
      bench.client.enterDormancy(at: now)
    }
    try compare()
  }

  private func both(_ act: (ClientBench) -> Void) {
    act(reference)
    act(skipping)
  }

  private func send(_ request: Request) { both { $0.sendOnly(request) } }

  /// An event for all clients, handled as the engine does.
  private mutating func handleEvent() {
    let kind = Int.random(in: 0..<6, using: &random)
    let shedLevels = Bool.random(using: &random) ? ServiceLevelSet.none : ServiceLevelSet(.regions)
    line = [.still, .moving, .absent].randomElement(using: &random) ?? .absent
    both { bench in
      let context = bench.context
      bench.client.deliverSkippedFix(context)
      switch kind {
      case 0: bench.client.acquisitionFailed(at: context.now)
      case 1: bench.client.reportLocationUnknown(context)
      case 2: bench.client.receiverLost(context)
      case 3: bench.client.drainFinished(context)
      case 4: bench.client.motionLineChanged(line, at: context.now)
      default:
        bench.shedLevels = shedLevels
        bench.client.endDormancy()
      }
    }
  }

  private mutating func move() {
    if secondsAtSpeed == 0 {
      secondsAtSpeed = Int.random(in: 10...60, using: &random)
      let speeds: [Double] = [0, 1, 10, 30]
      let most = speeds.randomElement(using: &random) ?? 0
      let back = abs(position.east) + abs(position.north) > 2_000 ? -most / 2_000 : 0
      speed.east = Double.random(in: -most...most, using: &random) + back * position.east
      speed.north = Double.random(in: -most...most, using: &random) + back * position.north
    }
    secondsAtSpeed -= 1
    position.east += speed.east
    position.north += speed.north
    // Sometimes late, with the time of the previous fix.
    let age = Int.random(in: 0..<5, using: &random) == 0 ? 1.0 : 0
    let reported = (position.east + 3 * random.normal(), position.north + 3 * random.normal())
    let accuracies: [Int32] = [3_000, 3_000, 20_000, 100_000]
    let accuracy = accuracies.randomElement(using: &random) ?? 3_000
    both { bench in
      bench.now += 1
      let time = max(bench.now - age, bench.newest?.fix.acquired.seconds ?? 0)
      bench.append(
        fix(at: time, east: reported.0, north: reported.1, accuracy_mm: accuracy))
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
      // Mostly return to settings that permit dormancy.
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
        identifier, east: position.east + Double.random(in: -2_000...2_000, using: &random),
        north: position.north + Double.random(in: -2_000...2_000, using: &random),
        radius: Double.random(in: 30...1_000, using: &random)), assuming: .unknown)
  }

  private mutating func compare() throws {
    let all = reference.notices()
    try #require(skipping.notices() == all)
    noticeCount += all.count
    let last = all.reduce(nil as UInt64?) { last, notice in
      switch notice {
      case .batch(let range): range.upperBound
      case .report(let sequence, _): sequence
      default: last
      }
    }
    if let last { send(.acknowledge(reference.name(last))) }
    try #require(skipping.client.dormantUntil == reference.client.dormantUntil)
    for slot in 0..<RegionMonitor.capacity {
      let (a, b) = (reference.record(slot), skipping.record(slot))
      try #require(a?.region == b?.region && a?.assuming == b?.assuming)
    }
    // Compare the needs rarely, because reading them delivers the skipped fix.
    guard Int.random(in: 0..<20, using: &random) == 0 else { return }
    both { $0.client.deliverSkippedFix($0.context) }
    let needs = [reference, skipping].map { bench in
      bench.client.fixNeed(at: bench.context.now, fastest: 20, line: line)
    }
    try #require(
      needs[0].accuracy == needs[1].accuracy && needs[0].isRequired == needs[1].isRequired)
    let newest = [reference, skipping].map { $0.client.services.regions.newest }
    try #require(newest[0]?.acquired == newest[1]?.acquired)
    try #require(newest[0]?.coordinate == newest[1]?.coordinate)
    try #require(newest[0]?.accuracy_mm == newest[1]?.accuracy_mm)
    try #require(
      skipping.client.failures.isLocationUnknown == reference.client.failures.isLocationUnknown)
  }
}

extension ClientBench {
  fileprivate func record(_ slot: Int) -> (region: Region, assuming: MonitorState)? {
    client.services.regions.record(at: slot)
  }
}

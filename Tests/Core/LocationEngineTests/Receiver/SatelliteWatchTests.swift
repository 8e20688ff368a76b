import GNSSProtocols
import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Satellites in view of the engine") struct SatelliteWatchTests {
  private static func sentence(_ text: String) -> [UInt8] {
    let parity = text.utf8.reduce(0) { $0 ^ $1 }
    let digits = String(parity, radix: 16, uppercase: true)
    return Array("$\(text)*\(digits.count < 2 ? "0" : "")\(digits)\r\n".utf8)
  }

  private static let gsv =
    sentence("GPGSV,2,1,05,03,35,178,45,07,36,250,44,22,17,170,42,09,62,310,44")
    + sentence("GPGSV,2,2,05,46,38,196,48") + sentence("GLGSV,1,1,01,70,32,068,43")

  private static func view(_ time: Instant, _ numbers: ClosedRange<UInt8>) -> FrameBuffer {
    var view = SatelliteView(at: time)
    for number in numbers { view.add(Satellite(.gps, number, isUsed: true, signal_dBHz: 40)) }
    var frame = FrameBuffer()
    frame.appendNavSAT(view, timeOfWeek_ms: 1)
    return frame
  }

  @Test("a view is reported only while satellites are watched, and starts again with each watch")
  func watched() throws {
    let bench = EngineBench()
    bench.fixes(count: 5)
    bench.send(Self.view(bench.now, 1...4))
    #expect(bench.satellites == nil)
    bench.perform(.watchSatellites(true))
    #expect(bench.isWatchingSatellites)
    #expect(bench.satellites == nil)
    bench.send(Self.view(bench.now, 1...4))
    let view = try #require(bench.satellites)
    #expect(view.count == 4 && view.usedCount == 4 && view.time == bench.now)
    bench.perform(.watchSatellites(true))
    #expect(bench.satellites == view)
    bench.perform(.watchSatellites(false))
    #expect(bench.satellites == nil)
    bench.perform(.watchSatellites(true))
    #expect(bench.satellites == nil)
  }

  @Test("a view is reported for 10 s and two reports, and replaced by the next one")
  func stale() {
    let bench = EngineBench()
    bench.perform(.watchSatellites(true))
    bench.send(Self.view(bench.now, 1...4))
    let limit = bench.now + .seconds(10) + .seconds(4)
    #expect(bench.satellites(at: limit) != nil)
    #expect(bench.satellites(at: limit + .milliseconds(1)) == nil)
    bench.run(30)
    #expect(bench.satellites == nil)
    bench.send(Self.view(bench.now, 2...3))
    #expect(bench.satellites?.count == 2)
  }

  @Test("a fix is stored before the GSV after it, which belong to no epoch while they are watched")
  func notDelayed() {
    let bench = EngineBench()
    bench.sendsNMEA = true
    func second(_ sendsSatellites: Bool) -> Bool {
      bench.run(until: bench.now + .milliseconds(700))
      let before = bench.head
      bench.fix()
      let isStored = bench.head > before
      bench.run(until: bench.now + .milliseconds(300))
      if sendsSatellites { bench.send(Self.gsv) }
      return isStored
    }
    for _ in 0..<10 { _ = second(true) }
    bench.perform(.watchSatellites(true))
    // The detection of the last message starts again.
    for _ in 0..<10 { _ = second(true) }
    var stored = 0
    for _ in 0..<30 where second(true) { stored += 1 }
    #expect(stored == 30)
    #expect(bench.satellites?.count == 6)
    // It continues when GSV come no longer, and when they are no longer watched.
    for _ in 0..<10 where second(false) { stored += 1 }
    bench.perform(.watchSatellites(false))
    for _ in 0..<10 where second(true) { stored += 1 }
    #expect(stored == 50)
    // Each fix was stored once.
    #expect(bench.appended.count == Set(bench.appended.map(\.sequence)).count)
  }

  @Test("NAV-SAT and NAV-DOP around a NAV-PVT change neither its fix nor its time")
  func sameFix() {
    func run(_ isWatched: Bool) -> [Fix] {
      let bench = EngineBench {
        $0.receiver?.output = .ubx
      }
      if isWatched { bench.perform(.watchSatellites(true)) }
      var fixes: [Fix] = []
      for _ in 0..<20 {
        bench.run(1)
        if isWatched {
          var dilutions = FrameBuffer()
          dilutions.appendNavDOP(DilutionsOfPrecision(), timeOfWeek_ms: 5)
          bench.send(dilutions)
        }
        bench.fix()
        if let fix = bench.newest { fixes.append(fix) }
        if isWatched { bench.send(Self.view(bench.now, 1...30)) }
      }
      return fixes
    }
    #expect(run(true) == run(false))
  }

  @Test("PWR-1: a watch is no demand: it plans no wake and commands no receiver")
  func noDemand() {
    let bench = EngineBench(connects: false)
    bench.run(10)
    let plan = bench.plan
    let mode = bench.receiverMode
    bench.perform(.watchSatellites(true))
    #expect(bench.plan.wake == plan.wake && bench.plan.board == plan.board)
    #expect(bench.receiverMode == mode)
    #expect(bench.satellites == nil)
  }

  @Test("a board without a receiver has no satellites")
  func absent() {
    let bench = EngineBench { $0.receiver = nil }
    bench.perform(.watchSatellites(true))
    #expect(bench.satellites == nil)
  }
}

extension EngineBench {
  fileprivate var satellites: SatelliteView? { satellites(at: now) }
  fileprivate func satellites(at time: Instant) -> SatelliteView? { engine.satellites(at: time) }
  fileprivate var isWatchingSatellites: Bool { engine.isWatchingSatellites }
  fileprivate var receiverMode: ReceiverMode? { engine.receiverMode }
}

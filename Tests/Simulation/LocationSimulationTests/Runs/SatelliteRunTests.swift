import BoardHardware
import BoardProfiles
import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationTypes
import ReceiverDrivers
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// A client in the foreground that uses every fix, and satellites in view on request.
private struct SkyClient: LocationClients {
  static let id = ClientID(0)

  var watchesSatellites = false
  var requests: [Request] = [
    .connect, .setExecution(.foreground), .setDesiredAccuracy(LocationAccuracy.best),
    .startUpdating,
  ]
  /// Times at which fixes were stored, and their measurement times.
  private(set) var fixes: [(stored: Instant, acquired: Instant)] = []
  /// The views, in order.
  private(set) var views: [SatelliteView] = []

  mutating func didAppend(_ name: FixName, in engine: borrowing Engine, at now: Instant) {
    guard let stored = engine.newestStored else { return }
    fixes.append((now, stored.fix.acquired))
  }

  mutating func receive(_ notice: ClientNotice, from engine: borrowing Engine, at now: Instant) {
    guard case .batch(_, let last) = notice.notice, let stored = engine.stored(at: last) else {
      return
    }
    requests.append(.acknowledge(stored.name))
  }

  mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
    requests.isEmpty ? nil : (SkyClient.id, requests.removeFirst())
  }

  mutating func finishTurn(
    _ engine: borrowing Engine, _ effects: Effects, at now: Instant
  ) -> Bool {
    if let view = engine.satellites(at: now), view != views.last { views.append(view) }
    return false
  }
}

@Suite("Satellites in view in whole runs") struct SatelliteRunTests {
  private static let families = FamilyRunTests.families + [.passive]

  /// A run of the loop with a receiver of a family.
  private final class SkyRun {
    var loop: LocationLoop<SimulatedBoard, SkyClient>
    private let memory: EngineMemory

    init(_ family: ReceiverFamily, speed: Int = 9_600) throws {
      var profile = try BoardCatalog(directory: PackageBoards.folder).find("simulated")
      profile.receiver?.family = family
      profile.receiver?.batch = nil
      profile.receiver?.lineSpeed_baud = speed
      if !family.isUBlox { profile.receiver?.output = .nmea }
      if family == .passive { profile.receiver?.defaultLineSpeed_baud = speed }
      var setup = profile.simulationSetup
      setup.receiver.hasSky = true
      let board = SimulatedBoard(
        setup, track: Scenario.drive.track(seed: 1, duration: .seconds(7_200)))
      memory = EngineMemory(capacity: profile.cache.capacity, clients: 1)
      loop = LocationLoop(
        engine: memory.makeEngine(profile.engineSetup), board: board, clients: SkyClient())
    }

    func run(_ seconds: Double) {
      let end = loop.board.now + Interval(seconds: seconds)
      loop.board.request(at: end)
      while loop.board.now < end { _ = loop.turn(atLatest: end) }
    }

    func watch(_ isOn: Bool) {
      loop.clients.watchesSatellites = isOn
      loop.poll()
    }

    var fixes: [(stored: Instant, acquired: Instant)] { loop.clients.fixes }
    var views: [SatelliteView] { loop.clients.views }
    var now: Instant { loop.board.now }
    var satellites: SatelliteView? { loop.engine.satellites(at: loop.board.now) }
    var decoderCounters: DecoderCounters { loop.engine.decoderCounters }
    var driverCounters: DriverCounters { loop.engine.driverCounters }
    var power: ReceiverPowerState { loop.board.receiverPowerState }
    var violations: [Violation] { loop.board.violations }

    func request(_ request: Request) { loop.request(request, of: SkyClient.id) }

    /// Longest time between two fixes from a time on, and longest time from a measurement to the fix.
    func delays(since start: Instant) -> (gap: Interval, latency: Interval) {
      let all = fixes.filter { $0.stored >= start }
      let gaps = zip(all, all.dropFirst()).map { $1.stored - $0.stored }
      let latencies = all.map { $0.stored - $0.acquired }
      return (gaps.max() ?? .zero, latencies.max() ?? .zero)
    }
  }

  @Test("satellites are reported while they are watched, and only then", arguments: families)
  func watched(_ family: ReceiverFamily) throws {
    let run = try SkyRun(family, speed: 38_400)
    run.run(120)
    #expect(run.fixes.count > 60)
    #expect(run.views.isEmpty)
    run.watch(true)
    run.run(30)
    let views = run.views
    #expect(views.count >= 14, "\(views.count) views")
    let view = try #require(views.last)
    #expect(run.now - view.time < .seconds(3))
    #expect(view.count == 17)
    #expect(view.usedCount == 13)
    #expect(view[0].constellation == .gps && view[0].number == 2)
    #expect(view[0].elevation_deg == 71 && view[0].signal_dBHz == 46 && view[0].isUsed)
    #expect(view.dilutions.horizontal_e2 == 90 && view.dilutions.position_e2 == 150)
    #expect((view.dilutions.time_e2 == 100) == family.isUBlox)
    let numbers = Set((0..<view.count).compactMap { view[$0].nmeaNumber })
    #expect(
      numbers == [2, 5, 12, 15, 21, 25, 29, 31, 36, 303, 308, 326, 65, 72, 73, 81, 411])
    run.watch(false)
    #expect(run.satellites == nil)
    run.run(5)
    let counters = run.decoderCounters
    run.run(20)
    let later = run.decoderCounters
    #expect(run.views.count == views.count)
    // NAV-PVT alone, or GGA, GSA of four systems and RMC; a receiver without commands continues.
    if family.isUBlox { #expect(later.frames - counters.frames <= 21) }
    if !family.isUBlox, family != .passive {
      #expect(later.sentences - counters.sentences <= 6 * 21)
    }
    #expect(run.driverCounters.configurationsLost == 0)
    #expect(run.driverCounters.losses == 0)
    #expect(run.violations.isEmpty, "\(run.violations)")
  }

  @Test(
    "satellites delay a fix by at most their own transmission, at 9,600 baud as at 38,400",
    arguments: families,
    [9_600, 38_400])
  func latency(_ family: ReceiverFamily, _ speed: Int) throws {
    let run = try SkyRun(family, speed: speed)
    run.run(120)
    let start = run.now
    run.run(60)
    let before = run.delays(since: start)
    run.watch(true)
    run.run(20)
    let watched = run.now
    run.run(60)
    let during = run.delays(since: watched)
    // The board reads all messages of an epoch at once, satellites included, for a single wake; satellites in
    // transmission also delay the fix after them. A receiver without commands sends them in any case.
    let bytes: Int64 = family == .passive ? 0 : 700
    let transmission = Interval(microseconds: bytes * 10_000_000 / Int64(speed))
    #expect(
      during.latency <= before.latency + transmission + .milliseconds(50), "\(during) \(before)")
    #expect(during.gap <= before.gap + transmission + .milliseconds(50), "\(during) \(before)")
    #expect(run.violations.isEmpty, "\(run.violations)")
  }

  @Test("PWR-1: a watch neither switches the receiver on nor keeps it awake", arguments: families)
  func asleep(_ family: ReceiverFamily) throws {
    let run = try SkyRun(family, speed: 38_400)
    run.run(120)
    run.watch(true)
    run.run(20)
    run.request(.stopUpdating)
    run.run(120)
    if family != .passive {
      #expect(run.power == .standby)
      #expect(run.satellites == nil)
    }
    let views = run.views.count
    let commands = run.driverCounters.commands
    run.watch(false)
    run.watch(true)
    run.run(60)
    if family != .passive {
      #expect(run.driverCounters.commands == commands)
      #expect(run.views.count == views)
    }
    run.request(.startUpdating)
    run.run(60)
    #expect(run.views.count > views + 10)
    #expect(run.violations.isEmpty, "\(run.violations)")
  }
}

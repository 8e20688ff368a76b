import DeferralCache
import GNSSProtocols
import LocationPolicy
import LocationRuntime
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationEngine

/// The engine over a receiver that streams, fed bytes that encoders made; virtual time.
///
/// Does what the loop does, and checks after each step what must hold after each step.
final class EngineBench: Desk {
  static let home = Coordinate(latitude_e9: 52_520_000_000, longitude_e9: 13_400_000_000)
  /// UTC of boot, as the receiver tells it: 2025-03-01.
  static let base = UTCTime(microseconds: 1_740_787_200_000_000)

  private(set) var now: Instant
  var engine: Engine
  private(set) var plan: Effects
  let setup: EngineSetup
  private(set) var clients: [TestClient] = []
  private let memory: EngineMemory
  private var later: [(ClientID, Request)] = []
  private var isStepping = false
  /// How often something woke the board from a sleep.
  private(set) var hostWakes = 0
  private(set) var steps = 0
  private(set) var pins: [PinCommand] = []
  private(set) var appended: [FixName] = []
  /// The most steps one event has caused.
  private(set) var longestChain = 0

  // What the receiver sends.
  var place = EngineBench.home
  var accuracy_mm: Int32 = 2_000
  var speed_mmps: Int32 = 0
  /// The receiver's UTC less the true one.
  var utcError = Interval.zero
  var hasUTC = true
  var sendsNMEA = false

  static func setup(limit: Int = 1_000) -> EngineSetup {
    var figures = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: limit,
      timeToFix: TimeToFixTable(cold: .seconds(30)))
    figures.idle = SleepParameters(
      state: .idle, resumeTime: .milliseconds(2), alarmResolution: .milliseconds(1),
      minimumDuration: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
    return EngineSetup(receiver: ReceiverSetup(family: .passive), parameters: figures)
  }

  /// - Parameters:
  ///   - limit: N.
  ///   - capacity: R; twice N if not given.
  init(
    limit: Int = 1_000, capacity: Int? = nil, clients count: Int = 1, connects: Bool = true,
    _ change: (inout EngineSetup) -> Void = { _ in }
  ) {
    var setup = EngineBench.setup(limit: limit)
    change(&setup)
    self.setup = setup
    memory = EngineMemory(capacity: capacity ?? 2 * limit, clients: count)
    engine = memory.makeEngine(setup)
    now = Instant(microseconds: 10_000_000)
    plan = engine.step(.time, at: now)
    perform(.time)
    clients = (0..<count).map { TestClient(ClientID($0), self) }
    if connects {
      for client in clients {
        client.connect()
        client.start()
      }
    }
  }

  /// A bench in the background whose first client has called `allowDeferred`.
  static func deferring(
    _ distance: Double = .unlimited, _ timeout: Double = .unlimited, limit: Int = 1_000,
    clients: Int = 1, _ change: (inout EngineSetup) -> Void = { _ in }
  ) -> EngineBench {
    let bench = EngineBench(limit: limit, clients: clients, change)
    bench.background()
    bench.client.defer(untilTraveled: distance, timeout: timeout)
    return bench
  }

  /// The service starts anew over the same ring.
  func restart() {
    engine = memory.makeEngine(setup)
    perform(.time)
  }

  var client: TestClient { clients[0] }
  /// How many fixes lie between the first client's cursor and the head.
  var cached: Int { Int(engine.head - engine.client(client.id).cursor.delivered) }
  var state: Deferral.State { state(of: client) }
  func state(of client: TestClient) -> Deferral.State { engine.client(client.id).deferral.state }
  var isDeferralAvailable: Bool { engine.isDeferralAvailable }
  var isReceiverAwake: Bool { engine.isReceiverAwake }
  var canReceiverSleep: Bool { engine.canReceiverSleep }
  var head: UInt64 { engine.head }
  func location(of id: ClientID) -> StoredFix? { engine.location(of: id) }
  var newest: Fix? { engine.stored(at: engine.head &- 1)?.fix }

  func foreground() { client.foreground() }
  func background() { client.background() }
  func inhibit(_ isOn: Bool) { perform(.sleepInhibitor(isOn)) }
  /// The battery's gauge says so many percent.
  func battery(_ charge: UInt8) { perform(.battery(charge)) }

  // MARK: Desk

  func ask(_ request: Request, of client: ClientID) {
    if isStepping { return askLater(request, of: client) }
    perform(.request(client, request))
  }

  func askLater(_ request: Request, of client: ClientID) { later.append((client, request)) }

  // MARK: Time

  /// Lets time pass; the engine is stepped when it asks to be.
  func run(_ seconds: Double) { run(until: now + Interval(seconds: seconds)) }

  func run(until end: Instant) {
    while plan.wake <= end {
      now = max(now, plan.wake)
      perform(.time)
    }
    now = end
  }

  /// The program is stopped, or its board sleeps without having been told to.
  func stop(for time: Interval) {
    now = now + time
    perform(.time)
  }

  // MARK: The receiver

  /// The fix that the receiver has now.
  var fix: Fix {
    var fix = Fix(acquired: now, coordinate: place)
    fix.utc = hasUTC ? EngineBench.base + (now - .boot) + utcError : nil
    fix.altitude_mm = 40_000
    fix.ellipsoidalAltitude_mm = 80_000
    fix.horizontalAccuracy_mm = accuracy_mm
    fix.verticalAccuracy_mm = 4_000
    fix.speed_mmps = speed_mmps
    fix.course_e4 = 900_000
    fix.satellites = 12
    fix.quality = .autonomous
    return fix
  }

  /// One fix now, whole.
  func fix(_ edit: (inout UBXSolution) -> Void = { _ in }) { send(frame(edit)) }

  /// The bytes of an epoch now, which are not sent.
  func bytes(hasFix: Bool) -> [UInt8] {
    let frame = frame {
      $0.fixType = hasFix ? 3 : 0
      $0.isFixOK = hasFix
    }
    return (0..<frame.count).map { frame[$0] }
  }

  private func frame(_ edit: (inout UBXSolution) -> Void) -> FrameBuffer {
    var frame = FrameBuffer()
    if sendsNMEA {
      frame.append(RMC(fix), format: .finest)
      frame.append(GGA(fix, horizontalDOP_e2: 90), format: .finest)
      frame.append(GST(fix), format: .finest)
    } else {
      var solution = UBXSolution(fix)
      edit(&solution)
      frame.appendNavPVT(solution)
    }
    return frame
  }

  /// An epoch without a position.
  func noFix() {
    fix {
      $0.fixType = 0
      $0.isFixOK = false
    }
  }

  /// So many fixes, one each `interval`, the first after the first interval.
  func fixes(count: Int, every interval: Interval = .seconds(1), east step: Double = 0) {
    for _ in 0..<count {
      run(until: now + interval)
      place = place.moved(east: step, north: 0)
      speed_mmps = Int32(step / interval.seconds * 1e3)
      fix()
    }
  }

  func send(_ frame: FrameBuffer) {
    var bytes: [UInt8] = []
    for i in 0..<frame.count { bytes.append(frame[i]) }
    send(bytes)
  }

  /// Bytes, in chunks of the loop's size or another.
  func send(_ bytes: [UInt8], chunk size: Int = ByteChunk.capacity) {
    var start = 0
    while start < bytes.count {
      let end = min(start + size, bytes.count)
      perform(bytes: ByteChunk(bytes.span.extracting(start..<end)))
      start = end
    }
  }

  /// Bytes at a moment at which the engine is not stepped for the time alone.
  func sendAt(_ time: Instant, _ bytes: [UInt8]) {
    now = max(now, time)
    send(bytes)
  }

  var repeats: UInt32 { engine.driverCounters.repeats }
  var commands: UInt32 { engine.driverCounters.commands }

  // MARK: Steps

  func perform(_ event: Event) {
    if isWaking(event) { hostWakes += 1 }
    follow { engine.step(event, at: now) }
  }

  func perform(bytes: ByteChunk) {
    if plan.wakesOnInput { hostWakes += 1 }
    follow { engine.step(bytes: bytes.span, at: now) }
  }

  /// A first step and all that comes of it.
  private func follow(_ first: () -> Effects) {
    isStepping = true
    var effects = watch(first)
    var chain = 0
    while true {
      if effects.needsProceed {
        effects = step(.proceed)
        chain += 1
        guard chain < 2_000 else {
          Issue.record("a chain of steps does not end")
          break
        }
      } else if !later.isEmpty {
        let (client, request) = later.removeFirst()
        effects = step(.request(client, request))
        longestChain = max(longestChain, chain)
        chain = 0
      } else {
        break
      }
    }
    longestChain = max(longestChain, chain)
    isStepping = false
    plan = effects
    #expect(plan.wake > now, "the next wake lies ahead")
    let isAllTold = !engine.hasNotices
    #expect(isAllTold, "all that can be told has been told")
  }

  private func isWaking(_ event: Event) -> Bool {
    switch event {
    case .time, .batchPin, .motion, .battery, .request, .sleepInhibitor, .end, .lineFault,
      .pinFault:
      true
    case .proceed: false
    }
  }

  private func step(_ event: Event) -> Effects { watch { engine.step(event, at: now) } }

  private func watch(_ step: () -> Effects) -> Effects {
    steps += 1
    let before = engine.head
    let effects = step()
    let added = engine.head - before
    #expect(added == (effects.appended == nil ? 0 : 1), "one fix a step at most")
    if let pin = effects.pin { pins.append(pin) }
    if let name = effects.appended { appended.append(name) }
    while effects.hasNotices, let notice = engine.nextNotice() {
      clients[notice.client.index].receive(notice.notice, from: engine, at: now)
    }
    return effects
  }
}

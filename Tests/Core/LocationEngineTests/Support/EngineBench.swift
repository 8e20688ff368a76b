import DeferralCache
import GNSSProtocols
import LocationPolicy
import LocationRuntime
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationEngine

/// The engine with a streaming receiver whose messages the tests encode; virtual time.
///
/// Performs the steps of `LocationLoop` and checks the engine's invariants after each step.
final class EngineBench: RequestSink {
  static let home = Coordinate(latitude_e9: 52_520_000_000, longitude_e9: 13_400_000_000)
  /// UTC of boot, as the receiver sends it: 2025-03-01.
  static let base = UTCTime(microseconds: 1_740_787_200_000_000)

  private(set) var now: Instant
  var engine: Engine
  private(set) var plan: Effects
  let setup: EngineSetup
  private(set) var clients: [TestClient] = []
  private let memory: EngineMemory
  private var later: [(ClientID, Request)] = []
  private var isStepping = false
  /// Number of wakes of the board.
  private(set) var hostWakes = 0
  private(set) var steps = 0
  private(set) var pins: [PinCommand] = []
  private(set) var appended: [FixName] = []
  /// Largest number of steps that one event has caused.
  private(set) var longestChain = 0

  // The receiver's output.
  var position = EngineBench.home
  var accuracy_mm: Int32 = 2_000
  var speed_mmps: Int32 = 0
  /// Error of the receiver's UTC: sent minus true time.
  var utcError = Interval.zero
  var hasUTC = true
  var sendsNMEA = false

  static func setup(limit: Int = 1_000) -> EngineSetup {
    var parameters = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: limit,
      timeToFix: TimeToFixTable(cold: .seconds(30)))
    parameters.idle = SleepParameters(
      state: .idle, resumeTime: .milliseconds(2), alarmResolution: .milliseconds(1),
      minimumDuration: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
    return EngineSetup(receiver: ReceiverSetup(family: .passive), parameters: parameters)
  }

  /// - Parameters:
  ///   - limit: The deferral limit N, in fixes.
  ///   - capacity: The ring's capacity R, in fixes; twice N if not given.
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

  /// A bench whose first client is in the background and has called `allowDeferred`.
  static func deferring(
    _ distance: Double = .unlimited, _ timeout: Double = .unlimited, limit: Int = 1_000,
    clients: Int = 1, _ change: (inout EngineSetup) -> Void = { _ in }
  ) -> EngineBench {
    let bench = EngineBench(limit: limit, clients: clients, change)
    bench.background()
    bench.client.defer(untilTraveled: distance, timeout: timeout)
    return bench
  }

  /// Restarts the service with the same ring.
  func restart() {
    engine = memory.makeEngine(setup)
    perform(.time)
  }

  var client: TestClient { clients[0] }
  /// Number of fixes between the first client's cursor and the head.
  var cached: Int { Int(engine.head - engine.withClient(client.id) { $0.cursor.delivered }) }
  var state: Deferral.State { state(of: client) }
  func state(of client: TestClient) -> Deferral.State {
    engine.withClient(client.id) { $0.deferral.state }
  }
  var isDeferralAvailable: Bool { engine.isDeferralAvailable }
  var isReceiverAwake: Bool { engine.isReceiverAwake }
  var canReceiverSleep: Bool { engine.canReceiverSleep }
  var head: UInt64 { engine.head }
  func location(of id: ClientID) -> StoredFix? { engine.location(of: id) }
  var newest: Fix? { engine.stored(at: engine.head &- 1)?.fix }

  func foreground() { client.foreground() }
  func background() { client.background() }
  func inhibit(_ isOn: Bool) { perform(.sleepInhibitor(isOn)) }
  /// Sets the charge that the battery gauge reports, in percent.
  func battery(_ charge: UInt8) { perform(.battery(charge)) }

  // MARK: Requests

  func request(_ request: Request, of client: ClientID) {
    if isStepping { return requestLater(request, of: client) }
    perform(.request(client, request))
  }

  func requestLater(_ request: Request, of client: ClientID) { later.append((client, request)) }

  // MARK: Time

  /// Advances the time; the engine is stepped at its wake times.
  func run(_ seconds: Double) { run(until: now + Interval(seconds: seconds)) }

  func run(until end: Instant) {
    while plan.wake <= end {
      now = max(now, plan.wake)
      perform(.time)
    }
    now = end
  }

  /// Stops the program, or lets the board sleep, without a request of the engine.
  func stop(for time: Interval) {
    now = now + time
    perform(.time)
  }

  // MARK: The receiver

  /// The receiver's current fix.
  var fix: Fix {
    var fix = Fix(acquired: now, coordinate: position)
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

  /// Sends one complete fix now.
  func fix(_ edit: (inout UBXSolution) -> Void = { _ in }) { send(frame(edit)) }

  /// The bytes of an epoch at the current time, which are not sent.
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

  /// Sends an epoch without a position.
  func noFix() {
    fix {
      $0.fixType = 0
      $0.isFixOK = false
    }
  }

  /// Sends `count` fixes, one per `interval`, the first after the first interval.
  func fixes(count: Int, every interval: Interval = .seconds(1), east step: Double = 0) {
    for _ in 0..<count {
      run(until: now + interval)
      position = position.moved(east: step, north: 0)
      speed_mmps = Int32(step / interval.seconds * 1e3)
      fix()
    }
  }

  func send(_ frame: FrameBuffer) {
    var bytes: [UInt8] = []
    for i in 0..<frame.count { bytes.append(frame[i]) }
    send(bytes)
  }

  /// Sends bytes in chunks of `size`, by default the loop's chunk size.
  func send(_ bytes: [UInt8], chunk size: Int = ByteChunk.capacity) {
    var start = 0
    while start < bytes.count {
      let end = min(start + size, bytes.count)
      perform(bytes: ByteChunk(bytes.span.extracting(start..<end)))
      start = end
    }
  }

  /// Sends bytes at `time` without a step for the time alone.
  func sendAt(_ time: Instant, _ bytes: [UInt8]) {
    now = max(now, time)
    send(bytes)
  }

  var repeats: UInt32 { engine.driverCounters.repeats }
  var commands: UInt32 { engine.driverCounters.commands }

  // MARK: Steps

  func perform(_ event: Event) {
    if isWaking(event) { hostWakes += 1 }
    complete { engine.step(event, at: now) }
  }

  func perform(bytes: ByteChunk) {
    if plan.wakesOnInput { hostWakes += 1 }
    complete { engine.step(bytes: bytes.span, at: now) }
  }

  /// Performs a first step and all steps that follow from it.
  private func complete(_ first: () -> Effects) {
    isStepping = true
    var effects = record(first)
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
    #expect(plan.wake > now, "the next wake is in the future")
    let areAllDelivered = !engine.clients.hasNotices
    #expect(areAllDelivered, "every deliverable notice was delivered")
  }

  private func isWaking(_ event: Event) -> Bool {
    switch event {
    case .time, .batchPin, .motion, .battery, .request, .sleepInhibitor, .powerOff,
      .watchSatellites, .end, .lineFault, .pinFault:
      true
    case .proceed: false
    }
  }

  private func step(_ event: Event) -> Effects { record { engine.step(event, at: now) } }

  private func record(_ step: () -> Effects) -> Effects {
    steps += 1
    let before = engine.head
    let effects = step()
    let added = engine.head - before
    #expect(added == (effects.appended == nil ? 0 : 1), "at most one fix per step")
    if let pin = effects.pin { pins.append(pin) }
    if let name = effects.appended { appended.append(name) }
    while effects.hasNotices, let notice = engine.nextNotice() {
      clients[notice.client.index].receive(notice.notice, from: engine, at: now)
    }
    return effects
  }
}

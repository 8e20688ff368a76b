import BoardHardware
import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationHAL
import LocationPolicy
import LocationRuntime
import LocationTypes
import ReceiverDrivers
import SimulatedHAL
import Testing

/// The engine in a `LocationLoop` on a simulated board with a batching receiver; virtual time.
final class BoardBench: RequestSink {
  /// State that the `LocationLoop` and a test's clients share.
  final class Mailbox {
    var clients: [TestClient] = []
    var queue: [(ClientID, Request)] = []
    var appended: [StoredFix] = []
  }

  struct Relay: LocationClients {
    let mailbox: Mailbox

    mutating func didAppend(_ name: FixName, in engine: borrowing Engine, at now: Instant) {
      guard let fix = engine.stored(at: name.sequence) else { return }
      mailbox.appended.append(fix)
    }
    mutating func receive(_ notice: ClientNotice, from engine: borrowing Engine, at now: Instant) {
      mailbox.clients[notice.client.index].receive(notice.notice, from: engine, at: now)
    }
    mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
      mailbox.queue.isEmpty ? nil : mailbox.queue.removeFirst()
    }
  }

  private let memory: EngineMemory
  private var setup: EngineSetup
  private let mailbox = Mailbox()
  private var loop: LocationLoop<SimulatedBoard, Relay>
  private(set) var turns = 0
  private(set) var events: [TimedBoardEvent] = []

  /// - Parameters:
  ///   - limit: The deferral limit N, in fixes.
  ///   - watermark: The watermark W of the receiver's buffer, in entries.
  ///   - speed: The device's speed eastwards, in m/s.
  init(
    limit: Int = 1_000, watermark: UInt16 = 200, clients count: Int = 1, speed: Double = 0,
    hasPin: Bool = true, hasDeepSleep: Bool = true, lineSpeed: UInt32 = 38_400,
    _ change: (inout SimulationSetup, inout EngineSetup) -> Void = { _, _ in }
  ) {
    var board = SimulationSetup()
    board.receiver.timeToFirstFix = TimeToFix(
      afterOff: [.init(off: .zero, fix: .seconds(1))], coldStart: .seconds(5))
    board.receiver.defaultSpeed = 38_400
    board.receiver.hasBatchPin = hasPin
    board.board.idle.resumeTime = .milliseconds(1)
    if !hasDeepSleep { board.board.suspended = nil }
    board.recordsEvents = true
    var setup = BoardBench.engineSetup(limit, watermark, hasPin, hasDeepSleep, lineSpeed)
    change(&board, &setup)
    let track = Track(
      start: Scenario.start,
      points: [
        TrackPoint(offset: .zero, coordinate: Scenario.home, altitude_mm: 40_000),
        TrackPoint(
          offset: .seconds(20_000),
          coordinate: Scenario.home.moved(east: speed * 20_000, north: 0), altitude_mm: 40_000),
      ], gapLimit: .unlimited)
    memory = EngineMemory(capacity: 2 * limit, clients: count)
    self.setup = setup
    loop = LocationLoop(
      engine: memory.makeEngine(setup), board: SimulatedBoard(board, track: track),
      clients: Relay(mailbox: mailbox))
    mailbox.clients = (0..<count).map { TestClient(ClientID($0), self) }
    for client in clients {
      client.connect(in: .background)
      client.start()
    }
  }

  /// A bench whose clients have called `allowDeferred` and whose receiver is batching.
  static func deferring(
    _ distance: Double = .unlimited, _ timeout: Double = .unlimited, limit: Int = 1_000,
    watermark: UInt16 = 200, clients: Int = 1, speed: Double = 0, hasPin: Bool = true
  ) -> BoardBench {
    let bench = BoardBench(
      limit: limit, watermark: watermark, clients: clients, speed: speed, hasPin: hasPin)
    bench.run(10)
    for client in bench.clients {
      client.defer(untilTraveled: distance, timeout: timeout)
    }
    bench.runUntilBatching()
    return bench
  }

  private static func engineSetup(
    _ limit: Int, _ watermark: UInt16, _ hasPin: Bool, _ hasDeepSleep: Bool, _ lineSpeed: UInt32
  ) -> EngineSetup {
    var time = TimeToFixTable(cold: .seconds(5))
    time.append(off: .zero, fix: .seconds(1))
    var parameters = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: limit, timeToFix: time)
    parameters.canStandby = true
    parameters.batch = BatchParameters(capacity: 300, watermark: watermark, hasPin: hasPin)
    parameters.idle = SleepParameters(
      state: .idle, resumeTime: .milliseconds(1), alarmResolution: .milliseconds(1),
      minimumDuration: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
    if hasDeepSleep {
      parameters.deep = SleepParameters(
        state: .suspended, resumeTime: .milliseconds(300), alarmResolution: .seconds(1),
        minimumDuration: .seconds(2), wakesOnPin: true, wakesOnBytes: false)
    }
    parameters.inputBufferTime = .seconds(30)
    var setup = EngineSetup(
      receiver: ReceiverSetup(
        lineSpeed: lineSpeed, defaultLineSpeed: 38_400, hasWakePin: true,
        batch: BatchSetup(capacity: 300, pioWired: hasPin, pioID: 4)), parameters: parameters)
    setup.deliveryHold = .milliseconds(500)
    return setup
  }

  var clients: [TestClient] { mailbox.clients }
  var client: TestClient { clients[0] }
  var now: Instant { loop.board.now }
  func state(of client: TestClient) -> Deferral.State {
    loop.engine.withClient(client.id) { $0.deferral.state }
  }
  var state: Deferral.State { state(of: client) }
  var holdsFixes: Bool { loop.engine.mayReceiverHoldFixes }
  var isReceiverAwake: Bool { loop.engine.isReceiverAwake }
  var receiver: ReceiverPowerState { loop.board.receiverPowerState }
  /// Energy that receiver and board have used, in mJ.
  var used_mJ: Double { loop.board.ledger.total_mJ }
  var shed: ServiceLevelSet { loop.engine.shed }
  var violations: [String] { loop.board.violations.map(\.text) }
  /// UTC of boot.
  var origin: UTCTime { loop.board.utc(at: .boot) }
  var counters: DriverCounters { loop.engine.driverCounters }
  var epochTime: EpochTime? { loop.engine.epochTime }
  /// The fixes appended to the ring, as seconds of the receiver's UTC since the track's start.
  var seconds: [Int] {
    appended.map { Int((($0.fix.utc ?? Scenario.start) - Scenario.start).seconds.rounded()) }
  }
  var appended: [StoredFix] { mailbox.appended }

  func request(_ request: Request, of client: ClientID) { loop.request(request, of: client) }
  func requestLater(_ request: Request, of client: ClientID) {
    mailbox.queue.append((client, request))
  }
  func inhibit(_ isOn: Bool) { loop.inhibitSleep(isOn) }
  func background() { client.background() }
  func foreground() { client.foreground() }

  /// Kills the service and starts it again after `seconds` with the same ring, board and receiver.
  /// The clients are restored from their bookmarks; their programs are not connected.
  func restart(after seconds: Double) {
    let bookmarks = clients.map { loop.engine.bookmark(of: $0.id) }
    let start = now + Interval(seconds: seconds)
    while now < start { _ = loop.board.wait(in: .idle, until: start, wakesOnInput: false) }
    loop.engine = memory.makeEngine(setup)
    for (client, bookmark) in zip(clients, bookmarks) {
      loop.engine.restore(client.id, from: bookmark, startingAt: now)
    }
    loop.poll()
    clearRecords()
  }

  /// Advances the time.
  func run(_ seconds: Double) {
    let end = now + Interval(seconds: seconds)
    loop.board.request(at: end)
    var removed: [TimedBoardEvent] = []
    while now < end {
      _ = loop.turn()
      turns += 1
      loop.board.removeEvents(into: &removed)
      events += removed
    }
  }

  /// Runs for the time in which the receiver measures `count` fixes.
  func fixes(count: Int, every interval: Interval) { run(interval.seconds * Double(count)) }

  /// Runs until the receiver is batching and the deferral is engaged.
  func runUntilBatching() {
    for _ in 0..<60 where !(state == .engaged && receiver == .batching) { run(1) }
    run(2)
    clearRecords()
  }

  func clearRecords() {
    events = []
    for client in clients { client.clearRecords() }
  }

  /// The sleeps since ``clearRecords()``, with their wake reasons. A sleep is a suspend, or an idle
  /// time longer than the driver waits for any answer.
  private var sleeps: [(length: Interval, reason: WakeReason)] {
    var sleeps: [(length: Interval, reason: WakeReason)] = []
    var started: (state: BoardState, time: Instant)?
    for event in events {
      switch event.event {
      case .board(let state, _) where state != .awake: started = (state, event.time)
      case .wake(let reason):
        guard let wait = started else { continue }
        let length = event.time - wait.time
        if wait.state >= .suspended || length > .seconds(3) { sleeps.append((length, reason)) }
        started = nil
      case .board, .receiver, .battery, .batteryEmpty: continue
      }
    }
    return sleeps
  }

  /// Number of wakes from a sleep, except by the test's own requests.
  var hostWakes: Int { sleeps.count { $0.reason != .request } }

  /// Seconds since ``clearRecords()`` outside of sleeps: running code, or waiting for an answer.
  var busySeconds: Double {
    guard let first = events.first, let last = events.last else { return 0 }
    return sleeps.reduce((last.time - first.time).seconds) { $0 - $1.length.seconds }
  }

  /// Seconds awake in the events since ``clearRecords()``.
  var awakeSeconds: Double {
    var sum = 0.0
    var since: Instant?
    for event in events {
      guard case .board(let state, _) = event.event else { continue }
      if let start = since { sum += (event.time - start).seconds }
      since = state == .awake ? event.time : nil
    }
    return sum
  }

  func expectOrdered(_ location: SourceLocation = #_sourceLocation) {
    let utc = seconds
    #expect(utc == utc.sorted() && Set(utc).count == utc.count, sourceLocation: location)
    let times = appended.map(\.fix.acquired)
    #expect(times == times.sorted(), sourceLocation: location)
  }

  func expectWhole(_ location: SourceLocation = #_sourceLocation) {
    let utc = seconds
    #expect(violations.isEmpty, sourceLocation: location)
    guard let first = utc.first, let last = utc.last else { return }
    #expect(utc == Array(first...last), "each once, in order", sourceLocation: location)
    let times = appended.map(\.fix.acquired)
    #expect(times == times.sorted(), sourceLocation: location)
  }
}

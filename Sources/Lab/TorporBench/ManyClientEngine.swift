import CBench
import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationSimulation
import LocationTypes
import ReceiverDrivers
import SimulatedHAL

/// An engine with 32 clients of 20 regions each, moving along a drive and back.
///
/// The first client runs updates in the foreground, so that the receiver streams and every fix passes through all
/// stages; the regions are near the road, so that they are crossed.
struct ManyClientEngine: ~Copyable {
  static let clients = 32
  private static let capacity = 4_096

  private let memory = EngineMemory(
    capacity: ManyClientEngine.capacity, clients: ManyClientEngine.clients)
  private let frames: [ByteChunk]
  private var frameIndex = 0
  private var now = Instant(microseconds: 1_000_000)
  private var engine: Engine
  private var effects: Effects

  init(_ drive: Drive) {
    frames = drive.frames
    engine = memory.makeEngine(.streaming)
    effects = engine.step(.time, at: now)
    for (client, region) in drive.regions {
      let isConnected = engine.withClient(client) { $0.isConnected }
      if !isConnected { send(.connect, of: client) }
      send(.addRegion(region, assuming: .unknown), of: client)
    }
    send(.startUpdating, of: ClientID(0))
    send(.setPausesAutomatically(false), of: ClientID(0))
  }

  /// Number of region notices delivered.
  private(set) var regionNotices = 0
  /// Newest fix that the updating client has not acknowledged.
  private var unacknowledged: FixName?

  /// Sends the engine the next event, as `LocationLoop` would.
  mutating func step() -> UInt64 {
    if effects.needsProceed { return perform(.proceed) }
    if let name = unacknowledged {
      unacknowledged = nil
      return perform(.request(ClientID(0), .acknowledge(name)))
    }
    now = now + .seconds(1)
    frameIndex += 1
    let roundTrip = 2 * frames.count - 2
    if frameIndex == roundTrip { frameIndex = 0 }
    let frame = frames[frameIndex < frames.count ? frameIndex : roundTrip - frameIndex]
    effects = engine.step(bytes: frame.span, at: now)
    return readNotices()
  }

  private mutating func send(_ request: Request, of client: ClientID) {
    _ = perform(.request(client, request))
    while effects.needsProceed { _ = perform(.proceed) }
  }

  private mutating func perform(_ event: Event) -> UInt64 {
    effects = engine.step(event, at: now)
    return readNotices()
  }

  /// Reads the notices of the last step.
  private mutating func readNotices() -> UInt64 {
    while effects.hasNotices, let notice = engine.nextNotice() {
      if case .batch(_, let last) = notice.notice { unacknowledged = engine.stored(at: last)?.name }
      if case .region = notice.notice { regionNotices += 1 }
    }
    return engine.head
  }
}

/// A simulated drive as NAV-PVT frames, and the regions near its road.
struct Drive {
  var frames: [ByteChunk] = []
  var regions: [(ClientID, Region)] = []

  init() {
    let track = Scenario.drive.track(seed: 1)
    var reader = TrackReader(track)
    var frame = FrameBuffer()
    for second in 0..<Int(track.duration.seconds) {
      frame.removeAll()
      frame.appendNavPVT(UBXSolution(Drive.fix(&reader, at: track.start + .seconds(Int64(second)))))
      frames.append(ByteChunk(frame.span))
    }
    var random = SimulationRandom(seed: 1)
    for client in 0..<ManyClientEngine.clients {
      for number in 0..<RegionMonitor.capacity {
        let second = Int(random.next() % UInt64(frames.count))
        let time = track.start + .seconds(Int64(second))
        let center = reader.state(at: time).coordinate.moved(
          east: random.uniform(-1_000, 1_000), north: random.uniform(-1_000, 1_000))
        let kind = number.isMultiple(of: 2) ? RegionKind.region : .condition
        let region = Region(
          RegionIdentifier(kind, UInt32(number)), center: center,
          radius: random.uniform(50, 1_500))
        regions.append((ClientID(client), region))
      }
    }
  }

  private static func fix(_ reader: inout TrackReader, at time: UTCTime) -> Fix {
    let state = reader.state(at: time)
    var fix = Fix(acquired: .boot, coordinate: state.coordinate)
    fix.utc = time
    fix.altitude_mm = state.altitude_mm
    fix.horizontalAccuracy_mm = 2_000
    fix.verticalAccuracy_mm = 4_000
    fix.speed_mmps = Int32(1e3 * state.speed)
    fix.satellites = 12
    fix.quality = .autonomous
    return fix
  }
}

/// One turn is one engine step with 32 clients, in the mix of a drive.
struct ManyClientStepPath: HotPath, ~Copyable {
  let unit = "step"
  let cycle = DriveMeasurement.countedSteps
  private var engine: ManyClientEngine

  init() { engine = ManyClientEngine(Drive()) }

  mutating func run(_ turns: Int) -> UInt64 {
    var last: UInt64 = 0
    for _ in 0..<turns { last = engine.step() }
    return last
  }
}

/// Measures each step of one drive.
struct DriveMeasurement {
  var steps = 0
  /// Mean time of a step in nanoseconds.
  var mean = 0.0
  /// Longest step in nanoseconds. Each step counts with its shortest time of ``runs``, which removes disturbances.
  var worst = 0.0
  var allocations: UInt64 = 0
  /// Number of region crossings and states delivered to clients.
  var regionNotices = 0

  /// Largest mean that is permitted.
  static let budget_ns = 2_000.0
  static let runs = 9
  /// Number of steps: there and back, at three steps per fix.
  static let countedSteps = 30_000

  static func measure() -> DriveMeasurement {
    let drive = Drive()
    var shortest = [UInt64](repeating: .max, count: countedSteps)
    var result = DriveMeasurement()
    result.steps = countedSteps
    for _ in 0..<runs {
      var engine = ManyClientEngine(drive)
      // Start-up is not part of the drive.
      for _ in 0..<64 { sink(engine.step()) }
      let before = heap_allocations_now()
      for step in 0..<countedSteps {
        let begin = bench_now_ns()
        sink(engine.step())
        shortest[step] = min(shortest[step], bench_now_ns() - begin)
      }
      result.allocations += heap_allocations_now() - before
      result.regionNotices = engine.regionNotices
    }
    result.mean = Double(shortest.reduce(0, +)) / Double(countedSteps)
    result.worst = Double(shortest.max() ?? 0)
    return result
  }
}

import DeferralCache
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationSimulation
import LocationTypes
import ReceiverDrivers

extension EngineSetup {
  /// A receiver that streams one epoch per second, on a board that idles between epochs.
  static var streaming: EngineSetup {
    var figures = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 1_000, timeToFix: TimeToFixTable(cold: .seconds(30)))
    figures.idle = SleepParameters(
      state: .idle, resumeTime: .milliseconds(1), alarmResolution: .milliseconds(1),
      minimumDuration: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
    return EngineSetup(receiver: ReceiverSetup(family: .passive), parameters: figures)
  }
}

/// An engine with a background client whose deferral is engaged, at one NAV-PVT per second.
///
/// The receiver streams, so that every fix passes through all stages: bytes, epoch, ring, policy, plan.
private struct DeferringEngine: ~Copyable {
  static let capacity = 4_096
  static let client = ClientID(0)

  private let memory = EngineMemory(capacity: DeferringEngine.capacity, clients: 1)
  private let frames: [ByteChunk]
  private var frame = 0
  private var now = Instant(microseconds: 1_000_000)
  private var engine: Engine
  private var effects: Effects

  init() {
    frames = ByteStream.navPVTChunks()
    engine = memory.makeEngine(.streaming)
    effects = engine.step(.time, at: now)
    send(.connect)
    send(.setExecution(.background))
    send(.startUpdating)
    // The first fix, then a deferral without end whose distance is measured.
    processFix()
    send(.allowDeferred(distance: 1e12, timeout: .infinity))
    for _ in 0..<10 { processFix() }
    precondition(
      engine.withClient(DeferringEngine.client) { $0.deferral.state } == .engaged, "it defers")
  }

  /// Sends the engine the next event, as `LocationLoop` would.
  mutating func step() -> UInt64 {
    if effects.needsProceed { return perform(.proceed) }
    now = now + .seconds(1)
    let chunk = frames[frame]
    frame = frame + 1 == frames.count ? 0 : frame + 1
    effects = engine.step(bytes: chunk.span, at: now)
    return readNotices()
  }

  /// Steps until the next fix is stored and all its effects are executed.
  @discardableResult
  mutating func processFix() -> UInt64 {
    var last = step()
    while effects.needsProceed { last = step() }
    return last
  }

  private mutating func send(_ request: Request) {
    _ = perform(.request(DeferringEngine.client, request))
    while effects.needsProceed { _ = perform(.proceed) }
  }

  private mutating func perform(_ event: Event) -> UInt64 {
    effects = engine.step(event, at: now)
    return readNotices()
  }

  /// Reads the notices of the last step.
  private mutating func readNotices() -> UInt64 {
    var newest: FixName?
    while effects.hasNotices, let notice = engine.nextNotice() {
      if case .batch(_, let last) = notice.notice { newest = engine.stored(at: last)?.name }
    }
    // The client acknowledges each batch immediately.
    if let newest, !effects.needsProceed {
      effects = engine.step(.request(DeferringEngine.client, .acknowledge(newest)), at: now)
    }
    return engine.head
  }
}

/// One turn is one engine step; fixes cause the mix of events.
struct EngineStepPath: HotPath, ~Copyable {
  let unit = "step"
  private var engine = DeferringEngine()

  mutating func run(_ turns: Int) -> UInt64 {
    var last: UInt64 = 0
    for _ in 0..<turns { last = engine.step() }
    return last
  }
}

/// One turn is one fix through all stages of the engine: bytes, ring, policy, plan, notices.
struct EngineFixPath: HotPath, ~Copyable {
  let unit = "fix"
  private var engine = DeferringEngine()

  mutating func run(_ turns: Int) -> UInt64 {
    var last: UInt64 = 0
    for _ in 0..<turns { last = engine.processFix() }
    return last
  }
}

import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationTypes
import SimulatedHAL

/// Switches a simulated board off between two fixes, as `LocationService` does, and starts the service again.
///
/// The client's program is connected only while it handles a notice, which takes no time. At the end of the time off the
/// board boots, and an engine with the same ring continues as the service after a restart: it restores the client's
/// position, resumes its services from the ring and requests them. Its clock continues, unlike that of a board that was off.
struct SimulatedPowerOff {
  private let board: BoardParameters
  private let off: PowerOffParameters
  private let continuesServices: Bool
  private var rule: PowerOffRule<Never>
  /// Whether the engine plans for a board that may be switched off.
  private var isPlanned = false

  /// Nil if the board cannot be switched off. A person has started it.
  init?(_ parameters: PlannerParameters, continuesServices: Bool) {
    guard let board = parameters.unattendedBoard, let off = board.off,
      let rule = PowerOffRule<Never>(board, startedByAlarm: false), !parameters.usesMotionLine
    else { return nil }
    self.board = board
    self.off = off
    self.continuesServices = continuesServices
    self.rule = rule
  }

  /// Time of the next check if nothing happens before; `.distantFuture` if no check is needed.
  func nextCheck(_ loop: borrowing LocationLoop<SimulatedBoard, SimulatedClient>) -> Instant {
    rule.nextCheck(until: SimulatedPowerOff.end(loop), at: loop.board.now) ?? .distantFuture
  }

  /// Switches the board off if the rule permits it after a turn, and returns when the service runs again.
  mutating func handleTurn(
    _ loop: inout LocationLoop<SimulatedBoard, SimulatedClient>, _ memory: EngineMemory,
    _ setup: EngineSetup
  ) {
    if !isPlanned {
      isPlanned = true
      loop.allowPowerOff(true)
    }
    let now = loop.board.now
    let end = SimulatedPowerOff.end(loop)
    let use = ServiceUse(lastLaunch: loop.clients.consumeLaunch() ? now : .boot)
    guard rule.check(use, until: end, at: now), let end else { return }
    SimulatedPowerOff.stop(&loop)
    let bookmark = loop.engine.bookmark(of: SimulatedClient.id)
    let start = loop.board.now
    let alarm = max(end - off.startupTime, loop.board.now + off.shortest)
    _ = loop.board.wait(in: .off, until: alarm, wakesOnInput: false)
    var engine = memory.makeEngine(setup)
    engine.restore(SimulatedClient.id, from: bookmark, startingAt: loop.board.now)
    if continuesServices {
      let timeOff = TimeOff(
        from: start, to: loop.board.now, bootUTC: loop.board.utc(at: .boot))
      engine.resume(SimulatedClient.id, from: bookmark, after: timeOff)
      engine.resumeSpeed(after: timeOff)
    }
    loop.restart(engine)
    loop.clients.restoreServices()
    if let started = PowerOffRule<Never>(board, startedByAlarm: true) { rule = started }
    isPlanned = false
  }

  /// Time at which the service, or the system's timer, must run again; nil if the board must not be off.
  private static func end(
    _ loop: borrowing LocationLoop<SimulatedBoard, SimulatedClient>
  ) -> Instant? {
    guard let planned = loop.powerOffEnd else { return nil }
    let end = min(planned, loop.clients.nextScheduledTime)
    return end < .distantFuture ? end : nil
  }

  /// Ends the service: the receiver sleeps, and the ring is closed and durable.
  private static func stop(_ loop: inout LocationLoop<SimulatedBoard, SimulatedClient>) {
    loop.end()
    let deadline = loop.board.now + .seconds(5)
    while loop.engine.canReceiverSleep,
      loop.engine.isReceiverAwake || !loop.engine.isDriverIdle, loop.board.now < deadline
    {
      _ = loop.turn(atLatest: deadline)
    }
    loop.engine.closeRing()
    for _ in 0..<2 { loop.engine.markSynced(loop.engine.unsynced) }
  }
}

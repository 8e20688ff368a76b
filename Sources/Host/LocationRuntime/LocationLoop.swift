import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationHAL
import LocationPolicy
import LocationTypes

/// The connection between the engine and its clients: delivers notices and provides requests.
///
/// ``LocationLoop`` calls it, never the engine.
public protocol LocationClients: ~Copyable {
  /// A fix was appended to the ring.
  mutating func didAppend(_ name: FixName, in engine: borrowing Engine, at now: Instant)
  /// Delivers a notice; the fixes of a batch are read from the engine (RNG-5).
  mutating func receive(_ notice: ClientNotice, from engine: borrowing Engine, at now: Instant)
  /// The next request; nil if none is pending.
  mutating func nextRequest(at now: Instant) -> (ClientID, Request)?
  /// Whether a client requested that all waiting fixes are delivered now, deferred or not; true once per request.
  mutating func consumeFlushRequest() -> Bool
  /// Whether a client uses the satellites in view (`Engine.satellites(at:)`).
  var watchesSatellites: Bool { get }
  /// Whether a client keeps the board from sleeping deeper than ``BoardState/idle``. Plan and deferrals do not depend
  /// on it.
  var keepsBoardAwake: Bool { get }
  /// A wait has ended.
  mutating func didWake(for reason: WakeReason)
  /// All requests are executed and their notices delivered: answer queries from the engine's state now.
  ///
  /// - Parameter effects: The plan until the next event.
  /// - Returns: Whether another request is pending.
  mutating func finishTurn(_ engine: borrowing Engine, _ effects: Effects, at now: Instant) -> Bool
}

extension LocationClients where Self: ~Copyable {
  /// For clients that query nothing.
  public mutating func finishTurn(
    _ engine: borrowing Engine, _ effects: Effects, at now: Instant
  ) -> Bool { false }

  /// For clients that never request a flush.
  public mutating func consumeFlushRequest() -> Bool { false }

  /// For clients that use no satellites in view.
  public var watchesSatellites: Bool { false }
  /// For clients that never keep the board awake.
  public var keepsBoardAwake: Bool { false }

  /// For clients that do not count wakes.
  public mutating func didWake(for reason: WakeReason) {}
}

/// The event loop that runs an engine on a board: waits, sends the engine its events, executes the effects.
///
/// **Problem.** ``Engine`` is pure: it needs a caller that waits on real or simulated hardware, reports what happened,
/// and executes what the engine decides. The loop is this caller and makes no decisions of its own. It is generic over
/// the board (`LinuxBoard`, `SimulatedBoard`) and the clients (`LocationServer`, `SimulatedClient`). It imports the
/// engine and the HAL, which do not import each other.
///
/// **One turn.** `turn()` waits once and processes the result:
///
/// ```
///              +-----------+  no alarm, receiver off or asleep,
///  turn() ---> |  PLANNED  |  sleepsWhenQuiet == false --> return .quiet
///              +-----------+
///                    |  (no plan yet: perform(.time) first)
///                    v
///              +-----------+
///              |  WAITING  |  board.wait(in:until:wakesOnInput:)
///              +-----------+
///                    | wake report
///                    v
///       receiver not needed: discard input;  suspended: report the resume
///       pulse -> batch pin -> motion -> battery -> bytes, chunk by chunk
///       none of pin, motion, battery, bytes: .time
///                    | each event: perform
///                    v
///              +-----------+ ------- one step -------+
///              | COMPLETING|                         |
///              +-----------+ <-----------------------+
///                    | nothing pending
///                    v
///                PLANNED, return .woke(reason)
/// ```
///
/// **Completing an event.** After an event's step the loop continues until the engine has a plan. It selects the next
/// step in this order:
///
/// 1. `.proceed` while `Effects.needsProceed` is set,
/// 2. the event for a fault of line or pin that an earlier step caused,
/// 3. the next request of a client,
/// 4. the end of a flush: the sleep inhibitor returns to its own value,
/// 5. the start of a flush: the sleep inhibitor is set for one step, which ends the engagement of deferrals, so that
///    all waiting fixes are delivered (DEF-28),
/// 6. the start or end of the interest in satellites in view,
/// 7. none: `finishTurn` lets the clients query the engine; it returns true if a request has arrived.
///
/// **Executing effects.** In each step: store an aiding frame, pin, line speed, output, stored aiding frame to the
/// receiver, then `didAppend`, then the notices. The first hardware fault stops the hardware part of that step. Its
/// event is sent only after all `.proceed` steps, so the driver's retry timeout starts before it sends again.
///
/// **Invariants.**
///
/// - One step of the engine at a time; no callback enters the engine.
/// - The time of steps never decreases, even if an edge has an older timestamp.
/// - Only the first of several pending faults is reported.
/// - `plan` is the result of the last completed event; a wait uses no other.
/// - Discarded input is reported to the engine by `noteDiscardedInput(at:)`, and a resume by `noteResume(byInput:at:)`,
///   immediately after the wait.
///
/// **Who may change what.** The owner (`LocationService`, or the simulation) may access `engine`, `board` and `clients`
/// between turns. After a change that concerns the engine it calls `poll()`, `request(_:of:)`, `inhibitSleep(_:)` or
/// `end()`.
///
/// **Bounds.** Bytes are read in chunks of at most 256. A turn has no limit on the number of requests; clients limit
/// their queue.
public struct LocationLoop<Board: LocationBoard & ~Copyable, Clients: LocationClients & ~Copyable>:
  ~Copyable
{
  /// The engine.
  public var engine: Engine
  /// The board.
  public var board: Board
  /// The clients.
  public var clients: Clients
  /// Storage for the receiver's navigation database while its supply is off. Without capacity by default; a store with
  /// capacity must be declared in the engine's setup (`EngineSetup.enableAidingStore(entries:)`).
  public var aiding = AidingStore()
  // Everything below is inlinable, so that calls of a known board and known clients are direct and input is not copied
  // through buffers of unknown size.
  @usableFromInline var plan: Effects?
  /// Whether the owner's sleep inhibitor is active.
  @usableFromInline var isInhibited = false
  /// Whether the engine collects satellites in view.
  @usableFromInline var isWatchingSatellites = false
  /// Time of the engine's last step.
  @usableFromInline var lastStepTime = Instant.boot
  /// Last bytes read.
  @usableFromInline var input = ByteChunk()
  /// Whether to ignore a receiver that cannot sleep while no client needs it: the board sleeps until a request, and
  /// the input is discarded.
  public var ignoresUnneededReceiver = false

  /// Creates a loop without a plan.
  public init(engine: consuming Engine, board: consuming Board, clients: consuming Clients) {
    self.engine = engine
    self.board = board
    self.clients = clients
    plan = nil
  }

  /// The plan of the last turn: sleep state and wake time; nil before the first one.
  @inlinable public var planned: Effects? { plan }

  /// The result of ``turn(sleepsWhenQuiet:atLatest:)``.
  public enum Turn: Equatable, Sendable {
    /// The board woke for this reason, and all pending input was processed.
    case woke(WakeReason)
    /// Only a request can change anything: the board would sleep without an alarm, and the receiver is off or asleep.
    case quiet
  }

  /// Waits once, in the sleep state and until the time of the plan, and processes the result.
  ///
  /// - Parameters:
  ///   - sleepsWhenQuiet: Whether to wait for a request when nothing else can happen.
  ///   - limit: Latest time at which the call returns, whatever the plan.
  @inlinable public mutating func turn(
    sleepsWhenQuiet: Bool = true, atLatest limit: Instant = .distantFuture
  ) -> Turn {
    let plan = self.plan ?? perform(.time)
    if !sleepsWhenQuiet && plan.wake == .distantFuture && !engine.isReceiverAwake { return .quiet }
    let isUnneeded = ignoresUnneededReceiver && engine.isReceiverUnneeded
    let wake = isUnneeded ? limit : min(plan.wake, limit)
    let report = board.wait(
      in: clients.keepsBoardAwake ? min(plan.board, .idle) : plan.board, until: wake,
      wakesOnInput: plan.wakesOnInput && !isUnneeded)
    clients.didWake(for: report.reason)
    if isUnneeded {
      board.discardInput()
      engine.noteDiscardedInput(at: board.now)
    }
    if report.wasSuspended {
      engine.noteResume(byInput: report.reason == .bytes, at: board.now)
    }
    if let pulse = report.pulse { engine.recordPulse(at: pulse) }
    if let start = report.inputStart { engine.recordInputStart(at: start) }
    if report.batchPinRose { perform(.batchPin) }
    if let level = report.motion { perform(.motion(level), at: report.motionEdge) }
    if let charge = report.battery { perform(.battery(charge)) }
    let hasReport = report.batchPinRose || report.motion != nil || report.battery != nil
    if !readAll() && !hasReport { perform(.time) }
    return .woke(report.reason)
  }

  /// Sends a client's request to the engine.
  @inlinable public mutating func request(_ request: Request, of client: ClientID) {
    perform(.request(client, request))
  }

  /// Executes a step without a wait: for an owner that has changed the clients.
  @inlinable public mutating func poll() { perform(.time) }

  /// Sets or releases the owner's sleep inhibitor (DEF-28).
  @inlinable public mutating func inhibitSleep(_ isOn: Bool) {
    isInhibited = isOn
    perform(.sleepInhibitor(isOn))
  }

  /// Sets whether the owner may switch the board off in a long wait (PWR-14).
  @inlinable public mutating func allowPowerOff(_ isAllowed: Bool) {
    perform(.powerOff(isAllowed: isAllowed))
  }

  /// Time at which the engine must run again if the owner switches the board off now; `.distantFuture` if nothing is
  /// planned, nil if the board must not be off.
  ///
  /// The board may be off if it may sleep, no client keeps it awake (PWR-13), and the receiver is asleep. While it is
  /// off, only the alarm can wake it and motion is not detected, so a board with a motion line in use stays on.
  @inlinable public var powerOffEnd: Instant? {
    guard let plan, plan.board >= .idle, !engine.isSleepInhibited, !clients.keepsBoardAwake,
      !engine.isReceiverAwake, !engine.usesMotionLine
    else { return nil }
    return plan.wake
  }

  /// Replaces the engine, as a restart of the service does: the next turn begins without a plan.
  public mutating func restart(_ engine: consuming Engine) {
    self.engine = engine
    plan = nil
    isInhibited = false
    isWatchingSatellites = false
  }

  /// Ends the service: the following turns put the receiver to sleep.
  @inlinable public mutating func end() { perform(.end) }

  /// Sends the engine an event and continues until it has a plan.
  ///
  /// A fault of line or pin is sent after the event's steps; so is a fault from a request that follows. The driver
  /// waits before it retries and never answers a fault with bytes.
  ///
  /// - Parameter moment: Time of the event if it is known and not now.
  @discardableResult
  @inlinable mutating func perform(_ event: Event, at moment: Instant? = nil) -> Effects {
    var fault: Fault?
    let effects = step(event, &fault, at: moment)
    return complete(effects, &fault)
  }

  /// Sends the engine the last bytes read and continues as ``perform(_:at:)``.
  @inlinable mutating func performInput() {
    var fault: Fault?
    let now = board.now
    lastStepTime = now
    let effects = engine.step(bytes: input.span, at: now)
    handle(effects, &fault, at: now)
    _ = complete(effects, &fault)
  }

  /// Executes steps until the engine has a plan.
  @inlinable mutating func complete(_ first: Effects, _ fault: inout Fault?) -> Effects {
    var effects = first
    var isFlushing = false
    while true {
      if effects.needsProceed {
        effects = step(.proceed, &fault)
      } else if let raised = fault {
        fault = nil
        effects = step(raised.event, &fault)
      } else if let (client, request) = clients.nextRequest(at: board.now) {
        effects = step(.request(client, request), &fault)
      } else if isFlushing {
        isFlushing = false
        effects = step(.sleepInhibitor(isInhibited), &fault)
      } else if clients.consumeFlushRequest() {
        // A sleep inhibitor, even for one step, ends engagement, so all waiting fixes are delivered (DEF-28).
        isFlushing = true
        effects = step(.sleepInhibitor(true), &fault)
      } else if clients.watchesSatellites != isWatchingSatellites {
        isWatchingSatellites.toggle()
        effects = step(.watchSatellites(isWatchingSatellites), &fault)
      } else if !clients.finishTurn(engine, effects, at: board.now) {
        plan = effects
        return effects
      }
    }
  }

  @inlinable mutating func step(
    _ event: Event, _ fault: inout Fault?, at moment: Instant? = nil
  ) -> Effects {
    // The engine's time must not decrease.
    let now = max(moment ?? board.now, lastStepTime)
    lastStepTime = now
    let effects = engine.step(event, at: now)
    handle(effects, &fault, at: now)
    return effects
  }

  /// Executes the effects of a step and delivers its notices.
  @inlinable mutating func handle(_ effects: Effects, _ fault: inout Fault?, at now: Instant) {
    if case .store(let index) = effects.aiding { aiding.store(engine.aidingFrame, at: index) }
    let isForHardware = effects.needsHardware
    if isForHardware, let new = execute(effects), fault == nil { fault = new }
    if let name = effects.appended { clients.didAppend(name, in: engine, at: now) }
    while effects.hasNotices, let notice = engine.nextNotice() {
      clients.receive(notice, from: engine, at: now)
    }
  }

  /// The part of the hardware that failed.
  @usableFromInline enum Fault {
    case line
    case pin(OutputPin)

    @inlinable var event: Event {
      switch self {
      case .line: .lineFault
      case .pin(let pin): .pinFault(pin)
      }
    }
  }

  /// Sets pin, line speed and bytes, in this order; returns the first failure.
  @inlinable mutating func execute(_ effects: Effects) -> Fault? {
    if let command = effects.pin {
      do { try board.set(command) } catch { return .pin(command.pin) }
    }
    do {
      if let speed = effects.lineSpeed { try board.setSpeed(speed) }
      if effects.hasOutput { try board.write(engine.output.span) }
      if case .send(let index) = effects.aiding { try board.write(aiding.entry(at: index).span) }
    } catch {
      return .line
    }
    return nil
  }

  /// Reads all received bytes; false if there were none.
  @inlinable mutating func readAll() -> Bool {
    var hasRead = false
    do {
      while true {
        try board.read(into: &input)
        if input.count == 0 { return hasRead }
        hasRead = true
        performInput()
        // A chunk that is not full was the last one.
        if !input.isFull { return true }
      }
    } catch {
      perform(.lineFault)
      return true
    }
  }
}

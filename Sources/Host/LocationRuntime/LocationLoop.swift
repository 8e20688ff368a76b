import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationHAL
import LocationPolicy
import LocationTypes

/// What stands between the engine and its clients: it hands on notices and brings requests.
///
/// Called by ``LocationLoop`` and never from inside the engine.
public protocol LocationClients: ~Copyable {
  /// A fix went into the ring.
  mutating func appended(_ name: FixName, in engine: borrowing Engine, at now: Instant)
  /// A client must be told something; the fixes of a batch are read from the engine (RNG-5).
  mutating func receive(_ notice: ClientNotice, from engine: borrowing Engine, at now: Instant)
  /// The next thing a client asks; nil when none asks anything now.
  mutating func nextRequest(at now: Instant) -> (ClientID, Request)?
  /// Whether all that waits is to be told now, deferred or not; each time somebody asks, once.
  mutating func takeFlush() -> Bool
  /// A wait has ended.
  mutating func woke(for reason: WakeReason)
  /// All that was asked is done, and all that follows from it told: what clients read of the engine
  /// is read now.
  ///
  /// - Parameter effects: The plan until something happens.
  /// - Returns: Whether there is a next request now.
  mutating func settle(_ engine: borrowing Engine, _ effects: Effects, at now: Instant) -> Bool
}

extension LocationClients where Self: ~Copyable {
  /// Clients that read nothing of the engine.
  public mutating func settle(
    _ engine: borrowing Engine, _ effects: Effects, at now: Instant
  ) -> Bool { false }

  /// Clients of whom nobody asks for it.
  public mutating func takeFlush() -> Bool { false }

  /// Clients that do not count.
  public mutating func woke(for reason: WakeReason) {}
}

/// The loop that lets an engine live on a board: waits, feeds it, does what it says. No decisions.
///
/// One step of the engine at a time; a fault of line or pin goes back in as an event.
public struct LocationLoop<Board: LocationBoard & ~Copyable, Clients: LocationClients & ~Copyable>:
  ~Copyable
{
  /// The engine.
  public var engine: Engine
  /// The board it lives on.
  public var board: Board
  /// Those it serves.
  public var clients: Clients
  /// Where what the receiver knows of the sky is kept while it is cut off; without room unless its owner
  /// gives it some, which the engine's setup must say.
  public var aiding = AidingStore()
  // All that follows is inlinable: a board and clients that are known are called as they are, and what a
  // board has read is not handed on through memory of unknown size.
  @usableFromInline var plan: Effects?
  /// Its owner keeps the board from sleeping.
  @usableFromInline var isInhibited = false
  /// The time of the engine's last step.
  @usableFromInline var stepped = Instant.boot
  /// What was read last.
  @usableFromInline var input = ByteChunk()
  /// Whether a receiver that cannot rest is left to talk while nobody wants anything of it: the board
  /// sleeps until somebody asks, and what came meanwhile is thrown away.
  public var overlooksUnwanted = false

  /// Creates a loop that has not begun yet.
  public init(engine: consuming Engine, board: consuming Board, clients: consuming Clients) {
    self.engine = engine
    self.board = board
    self.clients = clients
    plan = nil
  }

  /// What the last turn came to: how and until when the board is to sleep; nil before the first one.
  @inlinable public var planned: Effects? { plan }

  /// What ended ``turn()``.
  public enum Turn: Equatable, Sendable {
    /// The board woke for this and what there was has been handled.
    case woke(WakeReason)
    /// Nothing but a request can happen any more: the board would sleep without an alarm, and the
    /// receiver is silent.
    case quiet
  }

  /// Waits once, as deeply and as long as the engine allows, and handles what came of it.
  ///
  /// - Parameters:
  ///   - sleepsWhenQuiet: Whether to wait for a request when nothing else can happen.
  ///   - limit: When the owner must have the word again, whatever the engine allows.
  @inlinable public mutating func turn(
    sleepsWhenQuiet: Bool = true, atLatest limit: Instant = .distantFuture
  ) -> Turn {
    let plan = self.plan ?? perform(.time)
    if !sleepsWhenQuiet && plan.wake == .distantFuture && !engine.isReceiverAwake { return .quiet }
    let isUnwanted = overlooksUnwanted && engine.isUnwanted
    let wake = isUnwanted ? limit : min(plan.wake, limit)
    let waking = board.wait(
      in: plan.board, until: wake, listening: plan.listens && !isUnwanted)
    clients.woke(for: waking.reason)
    if isUnwanted {
      board.discardInput()
      engine.overlook(at: board.now)
    }
    if let pulse = waking.pulse { engine.hear(pulse: pulse) }
    if waking.batchPinRose { perform(.batchPin) }
    if let level = waking.motion { perform(.motion(level), at: waking.motionEdge) }
    if let charge = waking.battery { perform(.battery(charge)) }
    let hasTold = waking.batchPinRose || waking.motion != nil || waking.battery != nil
    if !readAll() && !hasTold { perform(.time) }
    return .woke(waking.reason)
  }

  /// Brings a client's request to the engine.
  @inlinable public mutating func request(_ request: Request, of client: ClientID) {
    perform(.request(client, request))
  }

  /// Looks at what there is to do, without a wait: when the owner has changed something of the clients.
  @inlinable public mutating func look() { perform(.time) }

  /// Keeps the board from sleeping, or lets it (DEF-28).
  @inlinable public mutating func inhibitSleep(_ isOn: Bool) {
    isInhibited = isOn
    perform(.sleepInhibitor(isOn))
  }

  /// Ends the service: the receiver is put to rest by the turns that follow.
  @inlinable public mutating func end() { perform(.end) }

  /// Gives the engine an event, and what follows from it, until it has a plan.
  ///
  /// A fault of line or pin is told when the event is through, and so is one of what a client's
  /// request led to after that: the driver waits before it tries again, and never answers a fault
  /// with bytes.
  ///
  /// - Parameter moment: When it happened, if that is known and not now.
  @discardableResult
  @inlinable mutating func perform(_ event: Event, at moment: Instant? = nil) -> Effects {
    var fault: Fault?
    let effects = step(event, &fault, at: moment)
    return follow(effects, &fault)
  }

  /// Gives the engine what was read, and what follows from it, as ``perform(_:)``.
  @inlinable mutating func performBytes() {
    var fault: Fault?
    let now = board.now
    stepped = now
    let effects = engine.step(bytes: input.span, at: now)
    handle(effects, &fault, at: now)
    _ = follow(effects, &fault)
  }

  /// Goes on from a step's effects until there is a plan.
  @inlinable mutating func follow(_ first: Effects, _ fault: inout Fault?) -> Effects {
    var effects = first
    var isFlushing = false
    while true {
      if effects.proceeds {
        effects = step(.proceed, &fault)
      } else if let told = fault {
        fault = nil
        effects = step(told.event, &fault)
      } else if let (client, request) = clients.nextRequest(at: board.now) {
        effects = step(.request(client, request), &fault)
      } else if isFlushing {
        isFlushing = false
        effects = step(.sleepInhibitor(isInhibited), &fault)
      } else if clients.takeFlush() {
        // A board that may not sleep, if only for a moment, ends engagement: all is told (DEF-28).
        isFlushing = true
        effects = step(.sleepInhibitor(true), &fault)
      } else if !clients.settle(engine, effects, at: board.now) {
        plan = effects
        return effects
      }
    }
  }

  @inlinable mutating func step(
    _ event: Event, _ fault: inout Fault?, at moment: Instant? = nil
  ) -> Effects {
    // The engine's time never goes back.
    let now = max(moment ?? board.now, stepped)
    stepped = now
    let effects = engine.step(event, at: now)
    handle(effects, &fault, at: now)
    return effects
  }

  /// Does what a step wants done, and tells the clients.
  @inlinable mutating func handle(_ effects: Effects, _ fault: inout Fault?, at now: Instant) {
    if case .keep(let place) = effects.aiding { aiding.keep(engine.aidingFrame, at: place) }
    let isForHardware = effects.isForHardware
    if isForHardware, let new = execute(effects), fault == nil { fault = new }
    if let name = effects.appended { clients.appended(name, in: engine, at: now) }
    while effects.hasNotices, let notice = engine.nextNotice() {
      clients.receive(notice, from: engine, at: now)
    }
  }

  /// What of the hardware did not obey.
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

  /// Pin, then line speed, then bytes; gives the first that failed.
  @inlinable mutating func execute(_ effects: Effects) -> Fault? {
    if let command = effects.pin {
      do { try board.set(command) } catch { return .pin(command.pin) }
    }
    do {
      if let speed = effects.lineSpeed { try board.setSpeed(speed) }
      if effects.hasOutput { try board.write(engine.output.span) }
      if case .give(let place) = effects.aiding { try board.write(aiding.entry(at: place).span) }
    } catch {
      return .line
    }
    return nil
  }

  /// Reads what has arrived; false if there was nothing.
  @inlinable mutating func readAll() -> Bool {
    var isAny = false
    do {
      while true {
        try board.read(into: &input)
        if input.count == 0 { return isAny }
        isAny = true
        performBytes()
        // One that is not full was all there was.
        if !input.isFull { return true }
      }
    } catch {
      perform(.lineFault)
      return true
    }
  }
}

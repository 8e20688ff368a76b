import CFirmware
import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationHAL
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// What a client was told.
struct Told {
  var batches: Int64 = 0
  var fixes: Int64 = 0
  /// Ends of deferrals without an error, and with one.
  var met: Int64 = 0
  var failed: Int64 = 0
  var failures: Int64 = 0
  var gaps: Int64 = 0
  /// Single fixes, visits, crossings of a region's border, and what else it was told.
  var reports: Int64 = 0
  var visits: Int64 = 0
  var crossings: Int64 = 0
  var others: Int64 = 0
  /// The seconds of the first and the last end without an error.
  var firstMet: Int64 = -1
  var lastMet: Int64 = -1
  /// Every fix told, as one number (FNV-1a).
  var trace = FNV1a()
  /// What it has yet to acknowledge.
  var handled: FixName?

  mutating func note(_ fix: Fix) {
    note(fix.acquired.microseconds)
    note(fix.coordinate.latitude_e9)
    note(fix.coordinate.longitude_e9)
    note(Int64(fix.speed_mmps ?? -1))
  }

  private mutating func note(_ value: Int64) { trace.add(UInt64(bitPattern: value)) }
}

/// The service on the least board there can be: what a firmware's main loop does.
struct FirmwareService: ~Copyable {
  /// Requests come at these seconds.
  typealias Script = InlineArray<23, (second: Int64, client: Int, request: Request)>

  var engine: Engine
  var board: FirmwareBoard
  private(set) var told = InlineArray<3, Told>(repeating: Told())
  private(set) var appended: Int64 = 0
  private(set) var steps: Int64 = 0
  private(set) var spent: UInt64 = 0
  private(set) var longest: UInt64 = 0
  /// Bytes of stack that the loop took.
  private(set) var stack = 0
  private var asked = 0

  init(engine: consuming Engine, board: consuming FirmwareBoard) {
    self.engine = engine
    self.board = board
  }

  /// Waits, reads, asks, until the board's time is over.
  mutating func run(_ script: borrowing Script) {
    firmware_stack_mark()
    var plan = perform(.time)
    while !board.isOver {
      let asks = asked < script.count
      let next = asks ? FirmwareBoard.start + .seconds(script[asked].second) : .distantFuture
      let waking = board.wait(
        in: plan.board, until: min(plan.wake, next), listening: plan.listens)
      if let level = waking.motion { plan = perform(.motion(level)) }
      if let charge = waking.battery { plan = perform(.battery(charge)) }
      var hasRead = false
      while true {
        let chunk = board.read()
        if chunk.count == 0 { break }
        plan = perform(bytes: chunk)
        hasRead = true
      }
      if !hasRead { plan = perform(.time) }
      while asked < script.count, script[asked].second <= board.seconds {
        plan = perform(.request(ClientID(script[asked].client), script[asked].request))
        asked += 1
      }
    }
    stack = firmware_stack_used()
  }

  /// One event and all that follows from it.
  private mutating func perform(_ event: Event) -> Effects { follow(step(event)) }

  /// A chunk and all that follows from it.
  private mutating func perform(bytes: ByteChunk) -> Effects {
    let before = firmware_instructions()
    let effects = engine.step(bytes: bytes.span, at: board.now)
    handle(effects, cost: firmware_instructions() - before)
    return follow(effects)
  }

  private mutating func follow(_ first: Effects) -> Effects {
    var effects = first
    while true {
      if effects.proceeds {
        effects = step(.proceed)
      } else if let (client, name) = nextAcknowledgement() {
        effects = step(.request(client, .acknowledge(name)))
      } else {
        return effects
      }
    }
  }

  private mutating func step(_ event: Event) -> Effects {
    let before = firmware_instructions()
    let effects = engine.step(event, at: board.now)
    handle(effects, cost: firmware_instructions() - before)
    return effects
  }

  private mutating func handle(_ effects: Effects, cost: UInt64) {
    spent += cost
    longest = max(longest, cost)
    steps += 1
    // This board does not fail.
    if let command = effects.pin { try? board.set(command) }
    if let speed = effects.lineSpeed { board.setSpeed(speed) }
    if effects.hasOutput { try? board.write(engine.output.span) }
    if effects.appended != nil { appended += 1 }
    while effects.hasNotices, let notice = engine.nextNotice() { hear(notice) }
  }

  private mutating func hear(_ told: ClientNotice) {
    let i = told.client.index
    switch told.notice {
    case .gap: self.told[i].gaps += 1
    case .finish(.none):
      self.told[i].met += 1
      if self.told[i].met == 1 { self.told[i].firstMet = board.seconds }
      self.told[i].lastMet = board.seconds
    case .finish(.some): self.told[i].failed += 1
    case .failure: self.told[i].failures += 1
    case .report(let stored), .coarse(let stored):
      self.told[i].reports += 1
      self.told[i].note(stored.fix)
    case .visit: self.told[i].visits += 1
    case .region: self.told[i].crossings += 1
    case .authorization, .degraded, .paused, .resumed, .live, .liveRefused:
      self.told[i].others += 1
    case .batch(let first, let last):
      self.told[i].batches += 1
      for sequence in first...last {
        guard let stored = engine.stored(at: sequence) else { continue }
        self.told[i].fixes += 1
        self.told[i].note(stored.fix)
        self.told[i].handled = stored.name
      }
    }
  }

  private mutating func nextAcknowledgement() -> (ClientID, FixName)? {
    for i in told.indices {
      guard let name = told[i].handled else { continue }
      told[i].handled = nil
      return (ClientID(i), name)
    }
    return nil
  }
}

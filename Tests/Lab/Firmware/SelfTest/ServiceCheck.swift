import CFirmware
import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationHAL
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// Totals of the notices of one client.
struct NoticeTotals {
  var batches: Int64 = 0
  var fixes: Int64 = 0
  /// Number of deferrals that ended without an error, and with one.
  var met: Int64 = 0
  var failed: Int64 = 0
  var failures: Int64 = 0
  var gaps: Int64 = 0
  /// Number of single fixes, visits, crossings of a region's border, and other notices.
  var reports: Int64 = 0
  var visits: Int64 = 0
  var crossings: Int64 = 0
  var others: Int64 = 0
  /// Seconds of the first and the last end without an error; -1 for none.
  var firstMet: Int64 = -1
  var lastMet: Int64 = -1
  /// FNV-1a hash of all delivered fixes.
  var trace = FNV1a()
  /// Newest delivered fix that is not acknowledged yet.
  var unacknowledged: FixName?

  mutating func note(_ fix: Fix) {
    note(fix.acquired.microseconds)
    note(fix.coordinate.latitude_e9)
    note(fix.coordinate.longitude_e9)
    note(Int64(fix.speed_mmps ?? -1))
  }

  private mutating func note(_ value: Int64) { trace.add(UInt64(bitPattern: value)) }
}

/// The service on the minimal board, like the main loop of a firmware.
struct FirmwareService: ~Copyable {
  /// Requests with their times, seconds.
  typealias Script = InlineArray<23, (second: Int64, client: Int, request: Request)>

  var engine: Engine
  var board: FirmwareBoard
  private(set) var totals = InlineArray<3, NoticeTotals>(repeating: NoticeTotals())
  private(set) var appended: Int64 = 0
  private(set) var steps: Int64 = 0
  private(set) var instructions: UInt64 = 0
  private(set) var longestStep: UInt64 = 0
  /// Stack used by the loop, bytes.
  private(set) var stack = 0
  private var nextRequest = 0

  init(engine: consuming Engine, board: consuming FirmwareBoard) {
    self.engine = engine
    self.board = board
  }

  /// Waits, reads and sends the script's requests until the run ends.
  mutating func run(_ script: borrowing Script) {
    firmware_stack_mark()
    var plan = perform(.time)
    while !board.isOver {
      let hasRequest = nextRequest < script.count
      let next =
        hasRequest ? FirmwareBoard.start + .seconds(script[nextRequest].second) : .distantFuture
      let report = board.wait(
        in: plan.board, until: min(plan.wake, next), wakesOnInput: plan.wakesOnInput)
      if let level = report.motion { plan = perform(.motion(level)) }
      if let charge = report.battery { plan = perform(.battery(charge)) }
      var hasRead = false
      while true {
        let chunk = board.read()
        if chunk.count == 0 { break }
        plan = perform(bytes: chunk)
        hasRead = true
      }
      if !hasRead { plan = perform(.time) }
      while nextRequest < script.count, script[nextRequest].second <= board.seconds {
        plan = perform(.request(ClientID(script[nextRequest].client), script[nextRequest].request))
        nextRequest += 1
      }
    }
    stack = firmware_stack_used()
  }

  /// Performs an event and all steps that follow from it.
  private mutating func perform(_ event: Event) -> Effects { follow(step(event)) }

  /// Performs a chunk of input and all steps that follow from it.
  private mutating func perform(bytes: ByteChunk) -> Effects {
    let before = firmware_instructions()
    let effects = engine.step(bytes: bytes.span, at: board.now)
    handle(effects, cost: firmware_instructions() - before)
    return follow(effects)
  }

  private mutating func follow(_ first: Effects) -> Effects {
    var effects = first
    while true {
      if effects.needsProceed {
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
    instructions += cost
    longestStep = max(longestStep, cost)
    steps += 1
    // This board has no faults.
    if let command = effects.pin { try? board.set(command) }
    if let speed = effects.lineSpeed { board.setSpeed(speed) }
    if effects.hasOutput { try? board.write(engine.output.span) }
    if effects.appended != nil { appended += 1 }
    while effects.hasNotices, let notice = engine.nextNotice() { receive(notice) }
  }

  private mutating func receive(_ notice: ClientNotice) {
    let i = notice.client.index
    switch notice.notice {
    case .gap: totals[i].gaps += 1
    case .finish(.none):
      totals[i].met += 1
      if totals[i].met == 1 { totals[i].firstMet = board.seconds }
      totals[i].lastMet = board.seconds
    case .finish(.some): totals[i].failed += 1
    case .failure: totals[i].failures += 1
    case .report(let stored), .coarse(let stored):
      totals[i].reports += 1
      totals[i].note(stored.fix)
    case .visit: totals[i].visits += 1
    case .region: totals[i].crossings += 1
    case .authorization, .degraded, .paused, .resumed, .live, .liveRefused:
      totals[i].others += 1
    case .batch(let first, let last):
      totals[i].batches += 1
      for sequence in first...last {
        guard let stored = engine.stored(at: sequence) else { continue }
        totals[i].fixes += 1
        totals[i].note(stored.fix)
        totals[i].unacknowledged = stored.name
      }
    }
  }

  private mutating func nextAcknowledgement() -> (ClientID, FixName)? {
    for i in totals.indices {
      guard let name = totals[i].unacknowledged else { continue }
      totals[i].unacknowledged = nil
      return (ClientID(i), name)
    }
    return nil
  }
}

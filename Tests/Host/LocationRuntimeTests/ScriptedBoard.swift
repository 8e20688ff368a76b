import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationHAL
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationRuntime

/// A board that follows a test's script and records its calls.
struct ScriptedBoard: LocationBoard, ~Copyable {
  /// State shared by a test and the board.
  final class Script {
    /// Result of one wait: it advances the clock by `sleeps`, or to its deadline if that is nil.
    struct Wait {
      var sleeps: Interval?
      var report = WakeReport(reason: .alarm, batchPinRose: false)
      var bytes: [UInt8] = []
    }
    var waits: [Wait] = []
    var pending: [UInt8] = []
    var readFaults: [LineFault] = []
    var writeFaults: [LineFault] = []
    var speedFaults: [LineFault] = []
    var pinFaults: [PinFault] = []
    /// Calls to the line and the pins, in order.
    var calls: [String] = []
    var reads = 0
    var plans: [(state: BoardState, deadline: Instant, wakesOnInput: Bool)] = []
  }

  let script: Script
  private(set) var now = Instant(microseconds: 1_000_000)

  init(_ script: Script) { self.script = script }

  mutating func wait(in state: BoardState, until deadline: Instant, wakesOnInput: Bool)
    -> WakeReport
  {
    script.plans.append((state, deadline, wakesOnInput))
    guard !script.waits.isEmpty else {
      if deadline < .distantFuture { now = max(now, deadline) }
      return WakeReport(reason: .alarm, batchPinRose: false)
    }
    let next = script.waits.removeFirst()
    if let sleeps = next.sleeps { now = now + sleeps } else { now = max(now, deadline) }
    script.pending += next.bytes
    return next.report
  }

  mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {
    script.calls.append("write \(bytes.count)")
    if !script.writeFaults.isEmpty { throw script.writeFaults.removeFirst() }
  }

  mutating func read() throws(LineFault) -> ByteChunk {
    script.reads += 1
    if !script.readFaults.isEmpty { throw script.readFaults.removeFirst() }
    var chunk = ByteChunk()
    while !script.pending.isEmpty && !chunk.isFull { chunk.append(script.pending.removeFirst()) }
    return chunk
  }

  mutating func setSpeed(_ baud: UInt32) throws(LineFault) {
    script.calls.append("speed \(baud)")
    if !script.speedFaults.isEmpty { throw script.speedFaults.removeFirst() }
  }

  mutating func set(_ command: PinCommand) throws(PinFault) {
    script.calls.append("pin \(command.pin) \(command.level)")
    if !script.pinFaults.isEmpty { throw script.pinFaults.removeFirst() }
  }
}

/// Clients that record their notices.
struct ScriptedClients: LocationClients {
  final class Notes {
    var notices: [String] = []
    var appended: [UInt64] = []
    var requests: [Request] = []
    /// Number of appended fixes at each request.
    var fixesAtRequest: [Int] = []
    /// Whether a client keeps the board from sleeping.
    var keepsBoardAwake = false
  }
  let notes: Notes
  var keepsBoardAwake: Bool { notes.keepsBoardAwake }

  mutating func didAppend(_ name: FixName, in engine: borrowing Engine, at now: Instant) {
    notes.appended.append(name.sequence)
    #expect(engine.stored(at: name.sequence)?.name == name)
  }

  mutating func receive(_ notice: ClientNotice, from engine: borrowing Engine, at now: Instant) {
    switch notice.notice {
    case .gap(let gap): notes.notices.append("gap \(gap.count)")
    case .finish(let code): notes.notices.append("finish \(code?.rawValue ?? -1)")
    case .batch(let first, let last): notes.notices.append("batch \(first)...\(last)")
    case .failure(let code): notes.notices.append("fail \(code.rawValue)")
    case .degraded(let shed): notes.notices.append("degraded \(shed.rawValue)")
    case .authorization, .paused, .resumed, .report, .coarse, .visit, .region, .live, .liveRefused:
      notes.notices.append("service")
    }
  }

  mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
    notes.requests.isEmpty ? nil : (ClientID(0), notes.requests.removeFirst())
  }
}

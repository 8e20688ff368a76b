import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationHAL
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationRuntime

/// A board that does what a test wrote down, and writes down what it was asked.
struct ScriptedBoard: LocationBoard, ~Copyable {
  /// What a test and the board share.
  final class Script {
    /// What a wait does: moves the clock by so much, at most to its deadline unless it oversleeps.
    struct Wait {
      var sleeps: Interval?
      var waking = WakeReport(reason: .alarm, batchPinRose: false)
      var bytes: [UInt8] = []
    }
    var waits: [Wait] = []
    var pending: [UInt8] = []
    var readFaults: [LineFault] = []
    var writeFaults: [LineFault] = []
    var speedFaults: [LineFault] = []
    var pinFaults: [PinFault] = []
    /// All that was asked, in order.
    var calls: [String] = []
    var reads = 0
    var plans: [(state: BoardState, deadline: Instant, listens: Bool)] = []
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
    return next.waking
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

/// Clients that write down what they are told.
struct ScriptedClients: LocationClients {
  final class Notes {
    var told: [String] = []
    var appended: [UInt64] = []
    var requests: [Request] = []
    /// Whether a request was asked for while the engine was not done.
    var fixesAtRequest: [Int] = []
  }
  let notes: Notes

  mutating func didAppend(_ name: FixName, in engine: borrowing Engine, at now: Instant) {
    notes.appended.append(name.sequence)
    #expect(engine.stored(at: name.sequence)?.name == name)
  }

  mutating func receive(_ notice: ClientNotice, from engine: borrowing Engine, at now: Instant) {
    switch notice.notice {
    case .gap(let gap): notes.told.append("gap \(gap.count)")
    case .finish(let code): notes.told.append("finish \(code?.rawValue ?? -1)")
    case .batch(let first, let last): notes.told.append("batch \(first)...\(last)")
    case .failure(let code): notes.told.append("fail \(code.rawValue)")
    case .degraded(let givenUp): notes.told.append("degraded \(givenUp.rawValue)")
    case .authorization, .paused, .resumed, .report, .coarse, .visit, .region, .live, .liveRefused:
      notes.told.append("service")
    }
  }

  mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
    notes.requests.isEmpty ? nil : (ClientID(0), notes.requests.removeFirst())
  }
}

import GNSSProtocols
import LocationEngine
import LocationHAL
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationRuntime

@Suite("Location loop")
struct LocationLoopTests {
  /// A loop over a scripted board; the receiver's family decides whether the loop sends commands.
  final class Stage {
    let script = ScriptedBoard.Script()
    let notes = ScriptedClients.Notes()
    private let memory = EngineMemory(capacity: 64, clients: 2)
    var loop: LocationLoop<ScriptedBoard, ScriptedClients>
    private var utc = UTCTime(microseconds: 1_740_787_200_000_000)

    init(
      _ receiver: ReceiverSetup, _ battery: BatteryThresholds = BatteryThresholds(),
      canSuspend: Bool = false
    ) {
      var parameters = PlannerParameters(
        fixInterval: .seconds(1), deferralLimit: 32, timeToFix: TimeToFixTable(cold: .seconds(5)))
      parameters.canStandby = receiver.family == .ubloxM10
      parameters.batch = receiver.batch.map {
        BatchParameters(capacity: $0.capacity, watermark: 20, hasPin: true)
      }
      parameters.idle = SleepParameters(
        state: .idle, resumeTime: .zero, alarmResolution: .zero, minimumDuration: .zero,
        wakesOnPin: true,
        wakesOnBytes: true)
      if canSuspend {
        parameters.deep = SleepParameters(
          state: .suspended, resumeTime: .zero, alarmResolution: .zero, minimumDuration: .zero,
          wakesOnPin: true, wakesOnBytes: true)
      }
      var setup = EngineSetup(receiver: receiver, parameters: parameters)
      setup.battery = battery
      loop = LocationLoop(
        engine: memory.makeEngine(setup), board: ScriptedBoard(script),
        clients: ScriptedClients(notes: notes))
      notes.requests = [.connect, .setExecution(.background), .startUpdating]
    }

    static var streaming: Stage { Stage(ReceiverSetup(family: .passive)) }
    static var m10: Stage {
      Stage(ReceiverSetup(hasWakePin: true, batch: BatchSetup(capacity: 50, pioWired: true)))
    }

    var now: Instant { loop.board.now }
    var losses: UInt32 { loop.engine.driverCounters.losses }
    var isHolding: Bool { loop.engine.mayReceiverHoldFixes }
    func turn(sleepsWhenQuiet: Bool = true) -> LocationLoop<ScriptedBoard, ScriptedClients>.Turn {
      loop.turn(sleepsWhenQuiet: sleepsWhenQuiet)
    }
    func request(_ request: Request) { loop.request(request, of: ClientID(0)) }
    func inhibit(_ isOn: Bool) { loop.inhibitSleep(isOn) }

    func fix() -> [UInt8] {
      utc = utc + .seconds(1)
      return frame {
        $0.appendNavPVT(
          UBXSolution(
            utc: utc, fixType: 3, isFixOK: true, longitude_e7: 134_000_000,
            latitude_e7: 525_200_000, height_mm: 40_000, horizontalAccuracy_mm: 2_000))
      }
    }

    /// A fix from the receiver's batch buffer.
    func entry() -> [UInt8] {
      utc = utc + .seconds(1)
      return frame {
        $0.appendBatchEntry(
          UBXBatchEntry(
            messageCount: 0, hasExtraPVT: true,
            solution: UBXSolution(
              utc: utc, fixType: 3, isFixOK: true, longitude_e7: 134_000_000,
              latitude_e7: 525_200_000, height_mm: 40_000, horizontalAccuracy_mm: 2_000)))
      }
    }

    func frame(_ fill: (inout FrameBuffer) -> Void) -> [UInt8] {
      var frame = FrameBuffer()
      fill(&frame)
      return (0..<frame.count).map { frame[$0] }
    }

    /// Runs a turn whose wait ends with these bytes.
    func receive(
      _ bytes: [UInt8], after interval: Interval = .seconds(1), isPin: Bool = false
    ) {
      script.waits.append(
        ScriptedBoard.Script.Wait(
          sleeps: interval,
          report: WakeReport(reason: isPin ? .batchPin : .bytes, batchPinRose: isPin), bytes: bytes)
      )
      _ = turn()
    }

    /// Answers each command to an M10 until the driver sends no more.
    func answerAll() {
      let version = frame { $0.appendVersion(UBXVersion(software: "ROM", hardware: "00")) }
      let acknowledgement = frame { $0.appendAcknowledgement(of: .cfgVALSET) }
      let empty = frame { $0.appendBatchStatus(UBXBatchStatus(fillLevel: 0)) }
      for _ in 0..<200 {
        let before = script.calls.count
        receive(answer, after: .milliseconds(20))
        answer = script.calls.count > before ? version + acknowledgement + empty : []
      }
    }
    private var answer: [UInt8] = []
  }

  @Test("all received bytes are read in one turn, in chunks")
  func readsAll() {
    let stage = Stage.streaming
    var bytes: [UInt8] = []
    for _ in 0..<5 { bytes += stage.fix() }
    stage.receive(bytes)
    #expect(stage.notes.appended == [0, 1, 2, 3, 4])
    #expect(stage.notes.notices == (0..<5).map { "batch \($0)...\($0)" })
  }

  @Test("PWR-13: a client that keeps the board awake makes it idle, and does not change the plan")
  func keptAwake() {
    let stage = Stage(ReceiverSetup(hasWakePin: true), canSuspend: true)
    stage.notes.requests = []
    stage.answerAll()
    #expect(stage.script.plans.last?.state == .suspended)
    stage.notes.keepsBoardAwake = true
    _ = stage.turn()
    #expect(stage.script.plans.last?.state == .idle)
    #expect(stage.loop.planned?.board == .suspended)
    stage.notes.keepsBoardAwake = false
    _ = stage.turn()
    #expect(stage.script.plans.last?.state == .suspended)
  }

  @Test("a chunk that is not full is the last one of a turn", arguments: 1...3)
  func lastChunk(_ chunks: Int) {
    let stage = Stage.streaming
    let before = stage.script.reads
    stage.receive([UInt8](repeating: 10, count: chunks * ByteChunk.capacity - 1))
    #expect(stage.script.reads - before == chunks)
    stage.receive([UInt8](repeating: 10, count: chunks * ByteChunk.capacity))
    #expect(stage.script.reads - before == chunks * 2 + 1)
  }

  @Test("a motion edge is handled at its own time, but never before the last step")
  func motionEdge() {
    let stage = Stage.streaming
    stage.receive(stage.fix())
    let begin = stage.loop.board.now
    for (edge, counts) in [(begin + .milliseconds(300), begin + .milliseconds(300)), (.boot, nil)] {
      let before = stage.loop.lastStepTime
      stage.script.waits.append(
        .init(
          sleeps: .seconds(1),
          report: WakeReport(
            reason: .motion, batchPinRose: false, motion: .active, motionEdge: edge)))
      _ = stage.turn()
      #expect(stage.loop.lastStepTime == (counts ?? before))
    }
  }

  @Test("STD-7: the time of a pulse becomes the time of the fix that follows it")
  func pulse() {
    let stage = Stage.streaming
    stage.receive(stage.fix())
    let pulse = stage.now + .milliseconds(700)
    var report = WakeReport(reason: .bytes, batchPinRose: false)
    report.pulse = pulse
    stage.script.waits.append(.init(sleeps: .seconds(1), report: report, bytes: stage.fix()))
    _ = stage.turn()
    #expect(stage.loop.engine.newestStored?.fix.acquired == pulse)
  }

  @Test("all requests are handled, each after the engine has finished its steps")
  func requests() {
    let stage = Stage.streaming
    stage.receive(stage.fix())
    #expect(stage.notes.requests.isEmpty && stage.notes.notices == ["batch 0...0"])
    stage.notes.requests = [
      .allowDeferred(distance: .infinity, timeout: .infinity), .disallowDeferred,
    ]
    stage.receive([])
    #expect(stage.notes.notices == ["batch 0...0", "finish 15"])
  }

  @Test("spurious and early wakes do not change the plan")
  func spurious() {
    let stage = Stage.streaming
    stage.receive(stage.fix())
    stage.request(.allowDeferred(distance: .infinity, timeout: 50))
    let due = stage.now + .seconds(50)
    for _ in 0..<20 {
      stage.receive([], after: .milliseconds(300))
      stage.receive([], after: .zero)
    }
    #expect(stage.notes.notices == ["batch 0...0"])
    while stage.now < due { _ = stage.turn() }
    #expect(stage.notes.notices == ["batch 0...0", "finish -1"])
    #expect(stage.now == due)
  }

  @Test("DEF-18: a deadline missed by a late wake is handled in the same turn")
  func late() {
    let stage = Stage.streaming
    stage.receive(stage.fix())
    stage.request(.allowDeferred(distance: .infinity, timeout: 50))
    stage.receive([], after: .seconds(59))
    #expect(stage.notes.notices == ["batch 0...0", "finish -1"])
  }

  @Test("DEF-43: a line that fails on read is reported once, and the loop continues")
  func readFault() {
    let stage = Stage.streaming
    stage.receive(stage.fix())
    stage.request(.allowDeferred(distance: .infinity, timeout: .infinity))
    stage.receive(stage.fix())
    stage.script.readFaults = [.gone, .gone]
    stage.receive([])
    stage.receive([])
    #expect(stage.notes.notices == ["batch 0...0", "finish 11", "batch 1...1", "fail 0"])
    stage.receive(stage.fix())
    #expect(stage.notes.notices.last == "batch 2...2")
  }

  @Test("bytes received before a line fault are not lost")
  func bytesBeforeFault() {
    let stage = Stage.streaming
    stage.receive(stage.fix())
    stage.receive(stage.fix() + stage.fix())
    stage.script.readFaults = [.gone]
    stage.receive(stage.fix())
    stage.receive([])
    #expect(stage.notes.appended == [0, 1, 2, 3])
  }

  @Test("effects are executed in the order pin, speed, bytes")
  func order() {
    let stage = Stage.m10
    for _ in 0..<6 { _ = stage.turn() }
    #expect(stage.script.calls.first == "pin receiverWake active")
    #expect(stage.script.calls.contains("pin receiverWake inactive"))
    let speed = stage.script.calls.firstIndex { $0.hasPrefix("speed") } ?? .max
    let write = stage.script.calls.firstIndex { $0.hasPrefix("write") } ?? -1
    #expect(speed < write)
  }

  @Test(
    "DEF-43: a fault of pin, speed or write is reported to the driver once and retried",
    arguments: [0, 1, 2])
  func outputFault(_ kind: Int) {
    let stage = Stage.m10
    switch kind {
    case 0: stage.script.pinFaults = [.lineLost]
    case 1: stage.script.speedFaults = [.gone]
    default: stage.script.writeFaults = [.full]
    }
    var turns = 0
    while stage.losses == 0 && turns < 20 {
      _ = stage.turn()
      turns += 1
    }
    #expect(stage.losses == 1)
    // A client that starts while the receiver is lost also receives the failure (STD-10).
    #expect(stage.notes.notices == ["fail 0"])
    let calls = stage.script.calls.count
    while stage.script.calls.count == calls && turns < 40 {
      _ = stage.turn()
      turns += 1
    }
    // The driver retries after its back-off.
    #expect(stage.script.calls.count > calls)
    #expect(stage.losses == 1)
    stage.answerAll()
    stage.receive(stage.fix())
    #expect(stage.notes.notices.last == "batch 0...0")
  }

  @Test("after a pin fault neither speed nor bytes are sent")
  func stopsAtFault() {
    let stage = Stage.m10
    stage.script.pinFaults = [.lineLost]
    _ = stage.turn()
    #expect(!stage.script.calls.contains { $0.hasPrefix("write") || $0.hasPrefix("speed") })
  }

  @Test("repeated faults do not cause an endless loop")
  func faultOnFault() {
    let stage = Stage.m10
    stage.script.pinFaults = Array(repeating: .lineLost, count: 50)
    stage.script.writeFaults = Array(repeating: .gone, count: 50)
    stage.script.speedFaults = Array(repeating: .gone, count: 50)
    for _ in 0..<30 { _ = stage.turn() }
    #expect(stage.losses >= 2 && stage.losses <= 31)
    #expect(stage.notes.notices.allSatisfy { $0 == "fail 0" } && stage.notes.notices.count <= 2)
  }

  @Test("DEF-33: with batch pin and bytes together, the drain starts and the bytes are read")
  func pinAndBytes() {
    let stage = Stage.m10
    stage.answerAll()
    stage.receive(stage.fix())
    stage.request(.allowDeferred(distance: .infinity, timeout: .infinity))
    stage.answerAll()
    #expect(stage.isHolding)
    let before = stage.script.calls.count
    let appended = stage.notes.appended.count
    stage.receive(stage.entry(), after: .milliseconds(10), isPin: true)
    #expect(stage.script.calls[before...].contains { $0.hasPrefix("write") })
    #expect(stage.notes.appended.count == appended + 1)
  }

  @Test("a turn returns `quiet` instead of waiting for a request only")
  func quiet() {
    let stage = Stage.m10
    stage.answerAll()
    stage.request(.stopUpdating)
    var turns = 0
    while stage.turn(sleepsWhenQuiet: false) != .quiet && turns < 50 { turns += 1 }
    #expect(turns < 50)
    let waits = stage.script.plans.count
    #expect(stage.turn(sleepsWhenQuiet: false) == .quiet)
    #expect(stage.script.plans.count == waits)
    _ = stage.turn()
    #expect(stage.script.plans.count == waits + 1)
    #expect(stage.script.plans.last?.deadline == .distantFuture)
  }

  @Test("DEF-28: with a sleep inhibitor the board enters no deeper state than idle")
  func inhibitor() {
    let stage = Stage.streaming
    stage.receive(stage.fix())
    stage.inhibit(true)
    _ = stage.turn()
    #expect(stage.script.plans.last?.state == .idle)
    stage.inhibit(false)
    stage.script.waits = [ScriptedBoard.Script.Wait(sleeps: .seconds(3))]
    _ = stage.turn()
    _ = stage.turn()
    #expect(stage.script.plans.last?.state == .idle)
  }

  @Test("PWR-10: a new charge is passed to the engine, with bytes or without")
  func gauge() {
    var thresholds = BatteryThresholds()
    thresholds.updates = 20
    let stage = Stage(ReceiverSetup(family: .passive), thresholds)
    stage.receive(stage.fix())
    for (charge, bytes) in [(19, []), (90, stage.fix())] {
      stage.script.waits.append(
        ScriptedBoard.Script.Wait(
          sleeps: .seconds(1),
          report: WakeReport(reason: .alarm, batchPinRose: false, battery: UInt8(charge)),
          bytes: bytes))
      _ = stage.turn()
    }
    let updates = 1 << ServiceLevel.updates.rawValue
    let degraded = stage.notes.notices.filter { $0.hasPrefix("degraded") }
    #expect(degraded == ["degraded \(updates)", "degraded 0"])
    #expect(stage.notes.appended.count == 2)
  }

  @Test("a turn returns the reason of its wake")
  func reason() {
    let stage = Stage.streaming
    stage.script.waits = [
      ScriptedBoard.Script.Wait(
        sleeps: .zero, report: WakeReport(reason: .request, batchPinRose: false))
    ]
    #expect(stage.turn() == .woke(.request))
  }
}

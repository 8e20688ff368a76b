import BoardHardware
import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("The status report of the service")
struct StatusTests {
  @Test("the status shows an acquiring and a tracking receiver, with the plan")
  func receiver() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    let program = bench.program()
    let first = try status(bench, program)
    #expect(first.receiver?.state == .acquiring && first.receiver?.isAnswering == true)
    #expect(first.receiver?.lastByte == nil && first.plan?.plan.receiver == .tracking)
    bench.fix()
    let second = try status(bench, program)
    #expect(second.receiver?.state == .tracking && second.newest != nil)
    #expect(second.receiver?.lastByte?.acquired == bench.stage.now)
    #expect(second.receiver?.since.acquired == bench.stage.now)
  }

  @Test("the status counts the ring's slots in use, not the names of fixes")
  func slots() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    let program = bench.program()
    bench.fix()
    #expect(try status(bench, program).ringFixes == 1)
    for _ in 0..<ServiceBench.ringCapacity + 5 { bench.fix() }
    let full = try status(bench, program)
    #expect(full.ringFixes == ServiceBench.ringCapacity)
    #expect(full.nextSequence == UInt64(ServiceBench.ringCapacity + 6))
  }

  @Test("DEF-43: a silent receiver is reported as not answering, once in the log")
  func silence() throws {
    let log = LogPipe()
    let bench = try ServiceBench(log: log.log)
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    let program = bench.program()
    bench.stage.now = bench.stage.now + .seconds(4)
    #expect(try status(bench, program).receiver?.isAnswering == true)
    #expect(log.text.isEmpty)
    bench.stage.now = bench.stage.now + .seconds(2)
    let silent = try status(bench, program)
    #expect(silent.receiver?.isAnswering == false && silent.receiver?.state == .lost)
    bench.settle()
    #expect(log.text.split(separator: "\n").count == 1 && log.text.contains("does not answer"))
    let suggestion = try #require(silent.receiver?.suggestion)
    #expect(
      log.text.contains("does not answer: \(suggestion)"), "the same suggestion as the status")
    bench.fix()
    #expect(try status(bench, program).receiver?.isAnswering == true)
    #expect(
      log.text.split(separator: "\n").count == 2 && log.text.hasSuffix("the receiver responds\n"))
  }

  @Test("a receiver that answers again after silence is acquiring until its next fix")
  func answersAgain() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    let program = bench.program()
    #expect(try status(bench, program).receiver?.lastFix == nil)
    bench.fix()
    let fixed = bench.stage.now
    #expect(try status(bench, program).receiver?.lastFix?.acquired == fixed)
    bench.stage.now = fixed + .seconds(60)
    #expect(try status(bench, program).receiver?.state == .lost)
    bench.sendNoFix()
    let report = try #require(try status(bench, program).receiver)
    #expect(report.isAnswering && report.state == .acquiring)
    #expect(report.since.acquired == bench.stage.now)
    #expect(report.lastFix?.acquired == fixed)
    bench.fix()
    #expect(try status(bench, program).receiver?.state == .tracking)
  }

  @Test("DEF-43: an unplugged passive receiver is back with the first bytes it sends")
  func unplugged() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    bench.stage.isUnplugged = true
    bench.settle()
    bench.stage.isUnplugged = false
    let program = bench.program()
    #expect(try status(bench, program).receiver?.state == .lost)
    bench.sendNoFix()
    // The receiver answers within a second and acquires its fix again.
    #expect(try status(bench, program).receiver?.state == .acquiring)
    bench.fix()
    #expect(try status(bench, program).receiver?.state == .tracking)
  }

  @Test("a receiver that sends input without a fix, as in a tunnel, is reported as acquiring")
  func tunnel() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    let program = bench.program()
    for _ in 0..<5 { bench.sendNoFix() }
    #expect(try status(bench, program).receiver?.state == .tracking)
    bench.sendNoFix()
    #expect(try status(bench, program).receiver?.state == .acquiring)
  }

  @Test("a receiver whose input is not needed is not reported as silent")
  func unneeded() throws {
    let bench = try ServiceBench()
    bench.loop.ignoresUnneededReceiver = true
    bench.pass(600)
    #expect(try status(bench, bench.program()).receiver?.isAnswering == true)
    // A client needs the receiver now; the timeout for its answer starts.
    let (control, watch, _) = bench.client("tracker")
    defer { watch.quit() }
    _ = bench.call(.startUpdating, control)
    #expect(try status(bench, bench.program()).receiver?.isAnswering == true)
    bench.pass(600)
    #expect(try status(bench, bench.program()).receiver?.isAnswering == false)
  }

  @Test("the status lists each client's services, needs, and what they keep awake")
  func uses() throws {
    let bench = try ServiceBench()
    let (tracker, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, tracker)
    let (home, homeWatch, _) = bench.client("home")
    let circle = WireRegion(
      .region, name: "home", center: Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11),
      radius: 100)
    _ = bench.call(.addRegion(circle, assuming: .unknown), home)
    _ = bench.call(.startVisits, home)
    let idle = bench.client("idle")
    let reply = try status(bench, bench.program())
    #expect(reply.clients == 3 && reply.demandingClients == 2)
    #expect(reply.uses.map(\.name.name) == ["tracker", "home"])
    let uses = reply.uses
    #expect(uses[0].services == [.updates] && uses[0].need == .everyFix)
    #expect(uses[0].keepsReceiverOn && uses[0].keepsBoardAwake && uses[0].next == nil)
    #expect(uses[1].services == [.visits, .regions] && uses[1].need == .singleFixes)
    #expect(!uses[1].keepsReceiverOn && !uses[1].keepsBoardAwake && uses[1].next != nil)
    watch.quit()
    bench.settle()
    let held = try status(bench, bench.program()).uses[0]
    #expect(
      held.need == .everyFixLater && held.execution == .suspended, "notices are unread (BKG-2)")
    #expect(held.keepsReceiverOn && !held.keepsBoardAwake)
    tracker.quit()
    bench.settle()
    #expect(try status(bench, bench.program()).uses.last?.services == [.visits, .regions])
    withExtendedLifetime((homeWatch, idle)) {}
  }

  @Test("AUT-7: a user without permission sees no fix times, no plan and no reception state")
  func unpermitted() throws {
    let bench = try ServiceBench(policy(.notDetermined))
    let (control, _, _) = bench.client("stranger", of: 1_000)
    _ = bench.call(.startUpdating, control)
    bench.fix()
    for program in [control, bench.program(of: 1_000)] {
      let reply = try status(bench, program)
      #expect(reply.newest == nil && reply.plan == nil && reply.receiver?.state == .on)
      #expect(reply.receiver?.lastFix == nil)
      #expect(bench.call(.getPowerPlan, program) == .error(.notAuthorized))
    }
  }

  @Test("an administrator sees all clients, other users their own clients and the total number")
  func others() throws {
    let bench = try ServiceBench(policy(.always))
    let (other, _, _) = bench.client("theirs", of: 4_711)
    _ = bench.call(.startUpdating, other)
    let (own, _, _) = bench.client("mine", of: 1_000)
    _ = bench.call(.startVisits, own)
    let reply = try status(bench, own)
    #expect(reply.demandingClients == 2 && reply.uses.map(\.name.name) == ["mine"])
    #expect(reply.newest == nil && reply.plan != nil)
    #expect(try status(bench, bench.program(of: 0)).uses.map(\.name.name) == ["theirs", "mine"])
  }

  @Test("energy is reported as times and power per state since the start of the service")
  func energy() throws {
    let bench = try ServiceBench { environment in
      environment.power.receiver = .none
      environment.power.receiver.acquire_mw = 36
      environment.power.receiver.track_mw = 30
      environment.power.awake = 600
      environment.power.idle = 300
      environment.power.suspended = 20
      environment.usage = { _ in BoardUsage() }
    }
    let begin = bench.stage.now
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.stage.now = bench.stage.now + .seconds(9)
    bench.fix()
    bench.stage.now = bench.stage.now + .seconds(5)
    guard case .energy(let energy)? = bench.call(.getEnergy, bench.program()) else {
      Issue.record("no energy")
      return
    }
    #expect(energy.since.acquired == begin && energy.until.acquired == bench.stage.now)
    #expect(energy[.acquiring] == .seconds(10) && energy[.tracking] == .seconds(5))
    #expect(energy.receiver_mJ == 510)
    #expect(energy[BoardState.idle] == .seconds(15) && energy.board_mJ == 4_500)
  }

  @Test("board energy: processor time is awake, clock differences are suspended, the rest is idle")
  func boardEnergy() {
    var power = PowerFigures()
    (power.awake, power.idle, power.suspended) = (600, 300, 20)
    let start = Instant.boot + .seconds(100)
    var energy = ServiceEnergy(
      power, BoardUsage(processor: .seconds(1), suspended: .seconds(7), wakes: 5), at: start)
    energy.recordWake(for: .bytes, wakes: 7)
    energy.recordWake(for: .alarm, wakes: 7)
    energy.recordWake(for: .request, wakes: 8)
    let later = BoardUsage(processor: .seconds(3), suspended: .seconds(27), wakes: 8)
    let ledger = energy.closed(later, at: start + .seconds(60))
    #expect(ledger.time(of: .awake) == .seconds(2) && ledger.time(of: .suspended) == .seconds(20))
    #expect(ledger.time(of: .idle) == .seconds(38))
    #expect(ledger.board_mJ == 13_000)
    #expect(ledger.hostWakes == 3 && ledger.hostWakes(for: .bytes) == 2)
    #expect(ledger.hostWakes(for: .alarm) == 0, "a wait without sleep is not a wake")
  }
}

@Suite("Flushing cached fixes")
struct FlushTests {
  @Test("DEF-28: a flush delivers the deferred fixes and keeps the deferral")
  func flush() throws {
    let bench = try ServiceBench(canIdle: true)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    _ = bench.call(.setExecution(.background), control)
    _ = bench.call(
      .allowDeferred(
        distance: LocationLimits.distanceMax, timeout: LocationLimits.timeIntervalMax), control)
    bench.fix()
    _ = watch.notices()
    for _ in 0..<3 { bench.fix() }
    #expect(watch.fixes().isEmpty)
    let administrator = bench.program()
    #expect(bench.call(.flush, administrator) == .done)
    #expect(watch.fixes().count >= 3)
    for _ in 0..<3 { bench.fix() }
    #expect(watch.fixes().isEmpty, "deferred again")
  }

  @Test("BKG-2: a flush logs which clients keep how many stored fixes, and delivers none of these")
  func unwatched() throws {
    let log = LogPipe()
    let bench = try ServiceBench(canIdle: true, log: log.log)
    let suspended = bench.client("suspended")
    _ = bench.call(.startUpdating, suspended.control)
    let other = bench.client("unwatched")
    _ = bench.call(.startUpdating, other.control)
    bench.fix()
    #expect(suspended.watch.fixes().count == 1)
    _ = bench.call(.acknowledge(FixName(generation: bench.generation, sequence: 0)), other.control)
    _ = bench.call(
      .acknowledge(FixName(generation: bench.generation, sequence: 0)), suspended.control)
    _ = bench.call(.setExecution(.suspended), suspended.control)
    other.watch.quit()
    bench.settle()
    for _ in 0..<3 { bench.fix() }
    _ = log.text
    #expect(bench.call(.flush, bench.program()) == .done)
    #expect(suspended.watch.fixes().isEmpty)
    #expect(log.text.contains("'suspended' of user \(geteuid()) (3 fixes)"), "\(log.text)")
    #expect(log.text.contains("'unwatched' of user \(geteuid()) (3 fixes)"), "\(log.text)")
  }

  @Test("BKG-2: the log of a flush does not count fixes acquired for other clients")
  func otherClients() throws {
    let log = LogPipe()
    let bench = try ServiceBench(canIdle: true, log: log.log)
    let tracker = bench.client("tracker")
    let other = bench.client("other")
    for client in [tracker, other] { _ = bench.call(.startUpdating, client.control) }
    for _ in 0..<2 { bench.fix() }
    // Two fixes stay unacknowledged; three are acquired between two runs of updates.
    _ = bench.call(.stopUpdating, tracker.control)
    for _ in 0..<3 { bench.fix() }
    _ = bench.call(.startUpdating, tracker.control)
    for _ in 0..<2 { bench.fix() }
    _ = bench.call(.setExecution(.suspended), tracker.control)
    #expect(bench.call(.flush, bench.program()) == .done)
    #expect(log.text.contains("'tracker' of user \(geteuid()) (4 fixes)"), "\(log.text)")
  }

  @Test("only an administrator may flush")
  func others() throws {
    let bench = try ServiceBench(AccessPolicy(defaultRights: AccessRights(authorization: .always)))
    #expect(bench.call(.flush, bench.program(of: 1_000)) == .error(.permissionDenied))
  }
}

/// A log that a test can read.
final class LogPipe {
  private let ends: [Int32]
  private var read: [UInt8] = []
  let log: SystemLog

  init() {
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    self.ends = ends
    log = SystemLog(ends[1], journalStream: nil)
  }

  deinit { for end in ends { close(end) } }

  /// Everything that was written.
  var text: String {
    var block = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = unsafe Glibc.read(ends[0], &block, block.count)
      guard count > 0 else { break }
      read += block[..<count]
    }
    return String(decoding: read, as: UTF8.self)
  }
}

import BoardHardware
import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("What the service tells of itself")
struct StatusTests {
  @Test("the receiver searches, tracks, and is told to whoever may know with what it is to do")
  func receiver() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    let asking = bench.program()
    let first = try status(bench, asking)
    #expect(first.receiver?.state == .acquiring && first.receiver?.isAnswering == true)
    #expect(first.receiver?.lastByte == nil && first.plan?.plan.receiver == .tracking)
    bench.fix()
    let second = try status(bench, asking)
    #expect(second.receiver?.state == .tracking && second.newest != nil)
    #expect(second.receiver?.lastByte?.acquired == bench.stage.now)
    #expect(second.receiver?.since.acquired == bench.stage.now)
  }

  @Test("the slots of the ring in use are counted, and not the names of fixes")
  func slots() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    let asking = bench.program()
    bench.fix()
    #expect(try status(bench, asking).ringFixes == 1)
    for _ in 0..<ServiceBench.ringCapacity + 5 { bench.fix() }
    let full = try status(bench, asking)
    #expect(full.ringFixes == ServiceBench.ringCapacity)
    #expect(full.nextSequence == UInt64(ServiceBench.ringCapacity + 6))
  }

  @Test("DEF-43: a receiver that is silent is told as one that does not answer, once in the log")
  func silence() throws {
    let log = LogPipe()
    let bench = try ServiceBench(log: log.log)
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    let asking = bench.program()
    bench.stage.now = bench.stage.now + .seconds(4)
    #expect(try status(bench, asking).receiver?.isAnswering == true)
    #expect(log.text.isEmpty)
    bench.stage.now = bench.stage.now + .seconds(2)
    let silent = try status(bench, asking)
    #expect(silent.receiver?.isAnswering == false && silent.receiver?.state == .lost)
    bench.settle()
    #expect(log.text.split(separator: "\n").count == 1 && log.text.contains("does not answer"))
    let remedy = try #require(silent.receiver?.suggestion)
    #expect(log.text.contains("does not answer: \(remedy)"), "the log says what the status says")
    bench.fix()
    #expect(try status(bench, asking).receiver?.isAnswering == true)
    #expect(
      log.text.split(separator: "\n").count == 2 && log.text.hasSuffix("the receiver responds\n"))
  }

  @Test("a receiver that was silent and is back searches until its next fix")
  func back() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    let asking = bench.program()
    #expect(try status(bench, asking).receiver?.lastFix == nil)
    bench.fix()
    let fixed = bench.stage.now
    #expect(try status(bench, asking).receiver?.lastFix?.acquired == fixed)
    bench.stage.now = fixed + .seconds(60)
    #expect(try status(bench, asking).receiver?.state == .lost)
    bench.talk()
    let back = try #require(try status(bench, asking).receiver)
    #expect(back.isAnswering && back.state == .acquiring && back.since.acquired == bench.stage.now)
    #expect(back.lastFix?.acquired == fixed)
    bench.fix()
    #expect(try status(bench, asking).receiver?.state == .tracking)
  }

  @Test(
    "DEF-43: a receiver that was unplugged and takes no commands is back with the first it says")
  func unplugged() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    bench.stage.isUnplugged = true
    bench.settle()
    bench.stage.isUnplugged = false
    let asking = bench.program()
    #expect(try status(bench, asking).receiver?.state == .lost)
    bench.talk()
    // It is back within a second, and has its fix to find anew.
    #expect(try status(bench, asking).receiver?.state == .acquiring)
    bench.fix()
    #expect(try status(bench, asking).receiver?.state == .tracking)
  }

  @Test("a receiver that talks on without a fix, as in a tunnel, is said to search")
  func tunnel() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    let asking = bench.program()
    for _ in 0..<5 { bench.talk() }
    #expect(try status(bench, asking).receiver?.state == .tracking)
    bench.talk()
    #expect(try status(bench, asking).receiver?.state == .acquiring)
  }

  @Test("a receiver that nobody wants to hear is not said to be silent")
  func overlooked() throws {
    let bench = try ServiceBench()
    bench.loop.ignoresUnneededReceiver = true
    bench.pass(600)
    #expect(try status(bench, bench.program()).receiver?.isAnswering == true)
    // Somebody wants it now, and it has its time to answer.
    let (control, watch, _) = bench.client("tracker")
    defer { watch.quit() }
    _ = bench.ask(.startUpdating, control)
    #expect(try status(bench, bench.program()).receiver?.isAnswering == true)
    bench.pass(600)
    #expect(try status(bench, bench.program()).receiver?.isAnswering == false)
  }

  @Test("who holds what: services, needs and what is kept awake for them")
  func uses() throws {
    let bench = try ServiceBench()
    let (tracker, hearing, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, tracker)
    let (home, listening, _) = bench.client("home")
    let circle = WireRegion(
      .region, name: "home", center: Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11),
      radius: 100)
    _ = bench.ask(.addRegion(circle, assuming: .unknown), home)
    _ = bench.ask(.startVisits, home)
    let idle = bench.client("idle")
    let told = try status(bench, bench.program())
    #expect(told.clients == 3 && told.demandingClients == 2)
    #expect(told.uses.map(\.name.name) == ["tracker", "home"])
    let uses = told.uses
    #expect(uses[0].services == [.updates] && uses[0].need == .everyFix)
    #expect(uses[0].keepsReceiverOn && uses[0].keepsBoardAwake && uses[0].next == nil)
    #expect(uses[1].services == [.visits, .regions] && uses[1].need == .singleFixes)
    #expect(!uses[1].keepsReceiverOn && !uses[1].keepsBoardAwake && uses[1].next != nil)
    hearing.quit()
    bench.settle()
    let held = try status(bench, bench.program()).uses[0]
    #expect(held.need == .everyFixLater && held.execution == .suspended, "nobody hears it (BKG-2)")
    #expect(held.keepsReceiverOn && !held.keepsBoardAwake)
    tracker.quit()
    bench.settle()
    #expect(try status(bench, bench.program()).uses.last?.services == [.visits, .regions])
    withExtendedLifetime((listening, idle)) {}
  }

  @Test(
    "AUT-7: who may not use location is told no time of a fix, no plan, and not whether there is sky"
  )
  func strangers() throws {
    let bench = try ServiceBench(policy(.notDetermined))
    let (control, _, _) = bench.client("stranger", of: 1_000)
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    for program in [control, bench.program(of: 1_000)] {
      let told = try status(bench, program)
      #expect(told.newest == nil && told.plan == nil && told.receiver?.state == .on)
      #expect(told.receiver?.lastFix == nil)
      #expect(bench.ask(.getPowerPlan, program) == .error(.notAuthorized))
    }
  }

  @Test("an administrator sees all clients, others their own user's and the number of all")
  func others() throws {
    let bench = try ServiceBench(policy(.always))
    let (theirs, _, _) = bench.client("theirs", of: 4_711)
    _ = bench.ask(.startUpdating, theirs)
    let (mine, _, _) = bench.client("mine", of: 1_000)
    _ = bench.ask(.startVisits, mine)
    let told = try status(bench, mine)
    #expect(told.demandingClients == 2 && told.uses.map(\.name.name) == ["mine"])
    #expect(told.newest == nil && told.plan != nil)
    #expect(try status(bench, bench.program(of: 0)).uses.map(\.name.name) == ["theirs", "mine"])
  }

  @Test("energy: times by state and their power, from the service's start on")
  func energy() throws {
    let bench = try ServiceBench { facts in
      facts.power.receiver = .none
      facts.power.receiver.acquiring = 36
      facts.power.receiver.tracking = 30
      (facts.power.awake, facts.power.idle, facts.power.suspended) = (600, 300, 20)
      facts.usage = { _ in BoardUsage() }
    }
    let begin = bench.stage.now
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.stage.now = bench.stage.now + .seconds(9)
    bench.fix()
    bench.stage.now = bench.stage.now + .seconds(5)
    guard case .energy(let told)? = bench.ask(.getEnergy, bench.program()) else {
      Issue.record("no energy")
      return
    }
    #expect(told.since.acquired == begin && told.until.acquired == bench.stage.now)
    #expect(told[.acquiring] == .seconds(10) && told[.tracking] == .seconds(5))
    #expect(told.receiver_mJ == 510)
    #expect(told[BoardState.idle] == .seconds(15) && told.board_mJ == 4_500)
  }

  @Test(
    "energy of the board: processor time is awake, what the clocks say suspended, the rest idle")
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
    #expect(ledger.hostWakes(for: .alarm) == 0, "a wait that did not sleep is no wake")
  }
}

@Suite("Telling all that waits")
struct FlushTests {
  @Test("DEF-28: a flush tells what is deferred, and the deferral goes on")
  func flush() throws {
    let bench = try ServiceBench(canIdle: true)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    _ = bench.ask(.setExecution(.background), control)
    _ = bench.ask(
      .allowDeferred(
        distance: LocationLimits.distanceMax, timeout: LocationLimits.timeIntervalMax), control)
    bench.fix()
    _ = watch.notices()
    for _ in 0..<3 { bench.fix() }
    #expect(watch.fixes().isEmpty)
    let administrator = bench.program()
    #expect(bench.ask(.flush, administrator) == .done)
    #expect(watch.fixes().count >= 3)
    for _ in 0..<3 { bench.fix() }
    #expect(watch.fixes().isEmpty, "deferred again")
  }

  @Test("BKG-2: a flush logs whose fixes stay stored, and how many, and delivers none of them")
  func notListening() throws {
    let log = LogPipe()
    let bench = try ServiceBench(canIdle: true, log: log.log)
    let suspended = bench.client("suspended")
    _ = bench.ask(.startUpdating, suspended.control)
    let deaf = bench.client("deaf")
    _ = bench.ask(.startUpdating, deaf.control)
    bench.fix()
    #expect(suspended.watch.fixes().count == 1)
    _ = bench.ask(.acknowledge(FixName(generation: bench.generation, sequence: 0)), deaf.control)
    _ = bench.ask(
      .acknowledge(FixName(generation: bench.generation, sequence: 0)), suspended.control)
    _ = bench.ask(.setExecution(.suspended), suspended.control)
    deaf.watch.quit()
    bench.settle()
    for _ in 0..<3 { bench.fix() }
    _ = log.text
    #expect(bench.ask(.flush, bench.program()) == .done)
    #expect(suspended.watch.fixes().isEmpty)
    #expect(log.text.contains("'suspended' of user \(geteuid()) (3 fixes)"), "\(log.text)")
    #expect(log.text.contains("'deaf' of user \(geteuid()) (3 fixes)"), "\(log.text)")
  }

  @Test("BKG-2: the log of a flush does not count fixes that were made for others")
  func passedOver() throws {
    let log = LogPipe()
    let bench = try ServiceBench(canIdle: true, log: log.log)
    let tracker = bench.client("tracker")
    let other = bench.client("other")
    for client in [tracker, other] { _ = bench.ask(.startUpdating, client.control) }
    for _ in 0..<2 { bench.fix() }
    // Two fixes stay without an acknowledgement; three are made between two runs of updates.
    _ = bench.ask(.stopUpdating, tracker.control)
    for _ in 0..<3 { bench.fix() }
    _ = bench.ask(.startUpdating, tracker.control)
    for _ in 0..<2 { bench.fix() }
    _ = bench.ask(.setExecution(.suspended), tracker.control)
    #expect(bench.ask(.flush, bench.program()) == .done)
    #expect(log.text.contains("'tracker' of user \(geteuid()) (4 fixes)"), "\(log.text)")
  }

  @Test("only an administrator may")
  func others() throws {
    let bench = try ServiceBench(AccessPolicy(defaultRights: AccessRights(authorization: .always)))
    #expect(bench.ask(.flush, bench.program(of: 1_000)) == .error(.permissionDenied))
  }
}

/// A log that a test reads.
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

  /// All that was written.
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

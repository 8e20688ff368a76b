import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LocationService
@testable import ServiceState

@Suite("A service that was killed, and its clients")
struct RestartTests {
  private let me = geteuid()
  private var tracker: WireClientName { WireClientName(user: me, name: "tracker") }

  @Test("BKG-20, RNG-3: what was acknowledged is never told again, what was not comes again")
  func acknowledged() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    for _ in 0..<4 { bench.fix() }
    let told = watch.fixes()
    #expect(bench.ask(.acknowledge(told[1].name), control) == .done)
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.ask(.startUpdating, again)
    next.fix()
    let fixes = listener.fixes()
    #expect(fixes.prefix(2).map(\.name) == told.suffix(2).map(\.name))
    #expect(fixes.count == 3 && fixes[2].name.generation > told[0].name.generation)
  }

  @Test("RNG-3: an acknowledgement without an answer is on the disk when the owner says so")
  func oneway() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    let told = watch.fixes()
    control.send(.acknowledge(told[0].name), oneway: true)
    bench.settle()
    #expect(bench.hasUnkept)
    bench.keep()
    #expect(!bench.hasUnkept)
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.ask(.startUpdating, again)
    #expect(listener.fixes().isEmpty)
  }

  @Test(
    "RNG-4: what was told before anything was acknowledged comes again after a kill",
    arguments: [false, true])
  func firstFixes(isOneway: Bool) throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    control.send(.startUpdating, oneway: isOneway)
    bench.settle()
    for _ in 0..<3 { bench.fix() }
    let told = watch.fixes()
    #expect(told.count == 3)
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.ask(.startUpdating, again)
    #expect(listener.fixes() == told)
  }

  @Test("a client whose updates had ended is owed nothing that was made for others since (BKG-20)")
  func stopped() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    let other = bench.client("other")
    _ = bench.ask(.startUpdating, control)
    _ = bench.ask(.startUpdating, other.control)
    bench.fix()
    let told = watch.fixes()
    _ = bench.ask(.acknowledge(told[0].name), control)
    _ = bench.ask(.stopUpdating, control)
    for _ in 0..<3 { bench.fix() }
    _ = bench.ask(.acknowledge(told[0].name), other.control)
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.ask(.startUpdating, again)
    #expect(listener.fixes().isEmpty)
    let (second, both, _) = next.client("other")
    _ = next.ask(.startUpdating, second)
    #expect(both.fixes().count == 3)
  }

  @Test("RNG-2: names are not used twice, though the ring's file is lost")
  func generations() throws {
    let bench = try ServiceBench()
    let before = bench.generation
    let remains = try bench.killed()
    let blank = ServiceBench.Remains(
      folder: remains.folder, ring: Array(repeating: 0, count: remains.ring.count),
      second: remains.second)
    let next = try ServiceBench(after: blank)
    #expect(next.generation > before)
  }

  @Test(
    "RNG-4: who was owed fixes of a ring, or a state, that is gone is told that they may be lost")
  func lostFiles() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    let remains = try bench.killed()
    let blank = Array(repeating: UInt8(0), count: remains.ring.count)
    for (folder, ring) in [(remains.folder, blank), (TestFolder(), remains.ring)] {
      let next = try ServiceBench(
        after: ServiceBench.Remains(folder: folder, ring: ring, second: remains.second))
      let (again, listener, _) = next.client("tracker")
      _ = next.ask(.startUpdating, again)
      next.fix()
      guard case .gap(let gap)? = listener.notices().first else {
        Issue.record("no gap")
        continue
      }
      #expect(gap.mayBeMore)
    }
  }

  /// Whether a client that starts updates is sent a gap of unknown extent before anything else.
  private func isSentLoss(_ name: String, _ bench: ServiceBench) -> Bool {
    let (control, watch, _) = bench.client(name)
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    guard case .gap(let gap)? = watch.notices().first else { return false }
    return gap.mayBeMore
  }

  @Test(
    "RNG-9: a flipped bit in the log of the state: every client is sent a gap before anything newer"
  )
  func damagedLog() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    for _ in 0..<6 {
      bench.fix()
      let newest = try #require(watch.fixes().last)
      #expect(bench.ask(.acknowledge(newest.name), control) == .done)
    }
    let remains = try bench.killed()
    var log = remains.folder.read("state.db-wal")
    log[32 + 2 * 4_120 + 1_000] ^= 1
    remains.folder.write(log, to: "state.db-wal")
    let next = try ServiceBench(after: remains)
    #expect(isSentLoss("tracker", next))
    #expect(isSentLoss("another", next), "it may have been known before")
    // It is sent once; a client that is not known counts as new only after many more fixes.
    let last = try ServiceBench(after: next.killed())
    #expect(!isSentLoss("tracker", last) && isSentLoss("third", last))
    last.state.setCounter(.clientsLostUntil, 1)
    last.keep()
    let end = try ServiceBench(after: last.killed())
    #expect(!isSentLoss("fourth", end))
  }

  @Test(
    "RNG-9: a row that is not valid is no reason to skip its client's fixes without a gap",
    arguments: ["clients", "cursors"])
  func invalidRow(table: String) throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    let other = bench.client("other")
    _ = bench.ask(.startUpdating, other.control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    bench.keep()
    let remains = try bench.killed()
    let column =
      table == "clients"
      ? "authorization = 9 WHERE name = 'tracker'"
      : "acknowledged_sequence = -1, acknowledged_generation = 1 WHERE client = 1"
    try Database(remains.folder.path + "/state.db", .writing).run("UPDATE \(table) SET \(column)")
    let next = try ServiceBench(after: remains)
    #expect(isSentLoss("tracker", next))
    #expect(!isSentLoss("other", next))
  }

  @Test("RNG-4: after a power cut who was owed all is told that more may be missing, once")
  func powerCut() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    let idle = bench.client("idle")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    _ = bench.ask(.acknowledge(watch.fixes()[0].name), control)
    _ = idle.control
    let off = try ServiceBench(after: bench.killed(), boot: BootIdentity(id: [2]))
    // It does not come back in that boot: nothing is forgotten by a second start.
    let next = try ServiceBench(after: off.killed(), boot: BootIdentity(id: [2]))
    let (again, listener, _) = next.client("tracker")
    #expect(listener.notices().isEmpty)
    _ = next.ask(.startUpdating, again)
    next.fix()
    let notices = listener.notices()
    guard case .gap(let gap)? = notices.first else {
      Issue.record("no gap: \(notices)")
      return
    }
    #expect(gap.mayBeMore && gap.count == 0 && notices.count == 2)
    let (other, quiet, _) = next.client("idle")
    _ = next.ask(.startUpdating, other)
    #expect(!quiet.notices().contains { if case .gap = $0 { true } else { false } })
    next.keep()
    let last = try ServiceBench(after: next.killed(), boot: BootIdentity(id: [2]))
    let (third, silent, _) = last.client("tracker")
    _ = last.ask(.startUpdating, third)
    #expect(!silent.notices().contains { if case .gap = $0 { true } else { false } })
  }

  @Test("AUT-2: what a command decided is kept, and a denial's fixes stay hidden (RNG-6)")
  func decisions() throws {
    let open = AccessPolicy(
      defaultRights: AccessRights(authorization: .always), administrators: [UInt32(me)])
    let bench = try ServiceBench(open)
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    #expect(bench.ask(.denyClient(tracker), bench.program()) == .done)
    let next = try ServiceBench(open, after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.ask(.startUpdating, again)
    next.fix()
    #expect(listener.fixes().isEmpty)
    #expect(next.ask(.getLocation, again) == .error(.notAuthorized))
    #expect(next.ask(.allowClient(tracker, .always), next.program()) == .done)
    #expect(listener.fixes().isEmpty)
    next.fix()
    #expect(listener.fixes().count == 1)
  }

  @Test("RNG-6: who was denied by the file while the service was down is shown nothing of before")
  func deniedMeanwhile() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    bench.keep()
    let nobody = AccessPolicy(defaultRights: AccessRights(authorization: .denied))
    let closed = try ServiceBench(nobody, after: bench.killed())
    closed.keep()
    let next = try ServiceBench(after: closed.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.ask(.startUpdating, again)
    next.fix()
    #expect(listener.fixes().count == 1)
  }

  @Test("REG-11, REG-13: regions come back with names and states, and events until acknowledged")
  func regions() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    #expect(bench.ask(.addRegion(.home(), assuming: .unknown), control) == .done)
    for _ in 0..<3 { bench.fix() }
    let last = try #require(watch.fixes().last)
    #expect(bench.ask(.acknowledge(last.name), control) == .done)
    control.quit()
    bench.settle()
    bench.keep()
    // Inside when it was killed; outside soon after. Nobody is connected.
    let next = try ServiceBench(after: bench.killed())
    for _ in 0..<80 { next.fix() }
    let third = try ServiceBench(after: next.killed())
    let (again, listener, _) = third.client("tracker")
    let events = listener.notices()
    guard case .region(let event, let number)? = events.first, case .exited = event.change else {
      Issue.record("no exit: \(events)")
      return
    }
    #expect(event.name == "home" && number == 1 && events.count == 2, "and its state")
    // A process that dies before it has handled it leaves it to the next one.
    again.quit()
    third.settle()
    let (heir, hearer, _) = third.client("tracker")
    #expect(hearer.notices() == events)
    #expect(third.ask(.acknowledgeEvents(1), heir) == .done)
    #expect(third.ask(.removeRegion(.region, name: "home"), heir) == .done)
    let end = try ServiceBench(after: third.killed())
    let (_, silent, _) = end.client("tracker")
    #expect(silent.notices().isEmpty)
    #expect(end.state.rows.regions.count == 0 && end.state.rows.events.count == 0)
  }

  @Test("REG-11, REG-13: the next process finds its circles, and the last event that was handled")
  func monitoredRegions() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    #expect(bench.ask(.listRegions, control) == .regions([]))
    #expect(bench.ask(.addRegion(.home(), assuming: .unknown), control) == .done)
    let added = WireMonitoredRegion(.home(), state: .unknown, lastEvent: nil)
    #expect(bench.ask(.listRegions, control) == .regions([added]))
    for _ in 0..<80 { bench.fix() }
    let events = watch.notices().compactMap { notice -> WireRegionEvent? in
      guard case .region(let event, let number) = notice, number > 0 else { return nil }
      return event
    }
    let exit = try #require(events.last)
    // Told and not handled: it has not happened for the client yet.
    let untold = WireMonitoredRegion(.home(), state: .unsatisfied, lastEvent: nil)
    #expect(bench.ask(.listRegions, control) == .regions([untold]))
    #expect(bench.ask(.acknowledgeEvents(1), control) == .done)
    let next = try ServiceBench(after: bench.killed())
    let (heir, _, _) = next.client("tracker")
    let handled = WireMonitoredRegion(.home(), state: .unsatisfied, lastEvent: exit)
    #expect(next.ask(.listRegions, heir) == .regions([handled]))
    let (other, _, _) = next.client("other")
    #expect(next.ask(.listRegions, other) == .regions([]))
    #expect(next.ask(.listRegions, next.program()) == .error(.notConnected))
    // Another circle of that name has no history.
    var wider = WireRegion.home()
    wider.radius = 200
    #expect(next.ask(.addRegion(wider, assuming: .unknown), heir) == .done)
    guard case .regions(let again)? = next.ask(.listRegions, heir) else {
      Issue.record("no circles")
      return
    }
    #expect(again.map(\.region) == [wider] && again.map(\.lastEvent) == [nil])
  }

  @Test("SLC-8, BKG-6: a move that nobody heard is told when significant change is started again")
  func significant() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    #expect(bench.ask(.startSignificantChange, control) == .done)
    bench.fix()
    #expect(watch.notices().count == 1)
    let next = try ServiceBench(after: bench.killed())
    for _ in 0..<8 { next.fix() }
    let (again, listener, _) = next.client("tracker")
    #expect(listener.notices().isEmpty)
    #expect(next.ask(.startSignificantChange, again) == .done)
    guard case .report? = listener.notices().first else {
      Issue.record("no report")
      return
    }
    #expect(next.ask(.stopSignificantChange, again) == .done)
    let last = try ServiceBench(after: next.killed())
    #expect(last.state.rows.services.all.first?.significantChange == false)
  }

  @Test("VIS-8: a visit that nobody heard is kept, and told when visits are started again")
  func visits() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    #expect(bench.ask(.startVisits, control) == .done)
    control.quit()
    bench.settle()
    for _ in 0..<60 { bench.fix() }
    bench.stay(600)
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    #expect(listener.notices().isEmpty)
    #expect(next.ask(.startVisits, again) == .done)
    guard case .visit(let visit, 1)? = listener.notices().first else {
      Issue.record("no visit")
      return
    }
    #expect(visit.departure == nil && visit.arrival != nil)
    #expect(next.ask(.acknowledgeEvents(1), again) == .done)
    let last = try ServiceBench(after: next.killed())
    let (third, silent, _) = last.client("tracker")
    _ = last.ask(.startVisits, third)
    #expect(silent.notices().isEmpty)
  }

  @Test("LIV-12: live updates go on after a crash of the service, once they are opened again")
  func live() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.openLive(.default), control)
    bench.fix()
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    next.fix()
    #expect(listener.notices().isEmpty)
    #expect(next.ask(.openLive(.default), again) == .opened(0))
    next.fix()
    next.fix()
    #expect(listener.notices().contains { if case .live = $0 { true } else { false } })
  }

  @Test("names that nobody needs any more make room for others; who is owed something stays")
  func room() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.clientWithFix("owed")
    control.quit()
    bench.settle()
    let visitor = bench.client("visitor")
    _ = bench.ask(.startVisits, visitor.control)
    visitor.control.quit()
    bench.settle()
    for i in 0..<6 { bench.client("guest \(i)").control.quit() }
    bench.settle()
    #expect(bench.state.rows.clients.count == ServiceBench.clients)
    let names = Set(bench.state.rows.clients.all.map(\.name))
    #expect(names.isSuperset(of: ["owed", "visitor"]))
    let (again, listener, _) = bench.client("owed")
    _ = bench.ask(.startUpdating, again)
    #expect(listener.fixes().count == 1)
  }

  @Test("answers come in the order of the calls, whatever they wait for")
  func order() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    control.send(.getStatus)
    control.send(.startVisits)
    control.send(.getLocation)
    control.send(.configure(WireSettings()))
    bench.settle()
    let frames = control.frames().map { String(decoding: $0, as: UTF8.self) }
    #expect(frames.count == 4 && frames[0].contains("\"status\""))
    #expect(frames.dropFirst().allSatisfy { $0 == #"{"parameters":{}}"# })
  }
}

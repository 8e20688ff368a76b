import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LocationService
@testable import ServiceState

@Suite("Clients of a service that was killed")
struct RestartTests {
  private let me = geteuid()
  private var tracker: WireClientName { WireClientName(user: me, name: "tracker") }

  @Test("BKG-20, RNG-3: acknowledged fixes are not delivered again, unacknowledged ones are")
  func acknowledged() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<4 { bench.fix() }
    let sent = watch.fixes()
    #expect(bench.call(.acknowledge(sent[1].name), control) == .done)
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    next.fix()
    let fixes = listener.fixes()
    #expect(fixes.prefix(2).map(\.name) == sent.suffix(2).map(\.name))
    #expect(fixes.count == 3 && fixes[2].name.generation > sent[0].name.generation)
  }

  @Test("RNG-3: a oneway acknowledgement is on disk after the periodic save")
  func oneway() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    let sent = watch.fixes()
    control.send(.acknowledge(sent[0].name), oneway: true)
    bench.settle()
    #expect(bench.hasUnsaved)
    bench.save()
    #expect(!bench.hasUnsaved)
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    #expect(listener.fixes().isEmpty)
  }

  @Test(
    "RNG-4: fixes delivered before the first acknowledgement are delivered again after a kill",
    arguments: [false, true])
  func firstFixes(isOneway: Bool) throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    control.send(.startUpdating, oneway: isOneway)
    bench.settle()
    for _ in 0..<3 { bench.fix() }
    let sent = watch.fixes()
    #expect(sent.count == 3)
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    #expect(listener.fixes() == sent)
  }

  @Test("a client with stopped updates does not receive other clients' fixes later (BKG-20)")
  func stopped() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    let other = bench.client("other")
    _ = bench.call(.startUpdating, control)
    _ = bench.call(.startUpdating, other.control)
    bench.fix()
    let sent = watch.fixes()
    _ = bench.call(.acknowledge(sent[0].name), control)
    _ = bench.call(.stopUpdating, control)
    for _ in 0..<3 { bench.fix() }
    _ = bench.call(.acknowledge(sent[0].name), other.control)
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    #expect(listener.fixes().isEmpty)
    let (second, both, _) = next.client("other")
    _ = next.call(.startUpdating, second)
    #expect(both.fixes().count == 3)
  }

  @Test("RNG-2: names are not reused even if the ring's file is lost")
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

  @Test("RNG-4: a client with undelivered fixes in a lost ring or state is sent a gap")
  func lostFiles() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    let remains = try bench.killed()
    let blank = Array(repeating: UInt8(0), count: remains.ring.count)
    for (folder, ring) in [(remains.folder, blank), (TestFolder(), remains.ring)] {
      let next = try ServiceBench(
        after: ServiceBench.Remains(folder: folder, ring: ring, second: remains.second))
      let (again, listener, _) = next.client("tracker")
      _ = next.call(.startUpdating, again)
      next.fix()
      guard case .gap(let gap)? = listener.notices().first else {
        Issue.record("no gap")
        continue
      }
      #expect(gap.mayBeMore)
    }
  }

  /// Whether a client that starts updates is sent a gap of unknown extent before anything else.
  private func isSentLoss(
    _ name: String, _ bench: ServiceBench, acknowledges: Bool = false
  ) -> Bool {
    let (control, watch, _) = bench.client(name)
    _ = bench.call(.startUpdating, control)
    bench.fix()
    let notices = watch.notices()
    let newest = notices.compactMap { notice -> FixName? in
      if case .fixes(let fixes) = notice { fixes.last?.name } else { nil }
    }.last
    if acknowledges, let newest { _ = bench.call(.acknowledge(newest), control) }
    guard case .gap(let gap)? = notices.first else { return false }
    return gap.mayBeMore
  }

  @Test("RNG-9: after a flipped bit in the state's log every client is sent a gap first")
  func damagedLog() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<6 {
      bench.fix()
      let newest = try #require(watch.fixes().last)
      #expect(bench.call(.acknowledge(newest.name), control) == .done)
    }
    let remains = try bench.killed()
    var log = remains.folder.read("state.db-wal")
    log[32 + 2 * 4_120 + 1_000] ^= 1
    remains.folder.write(log, to: "state.db-wal")
    let next = try ServiceBench(after: remains)
    #expect(isSentLoss("tracker", next, acknowledges: true))
    #expect(isSentLoss("another", next), "it may have been known before")
    // The gap is handled once; an unknown client counts as new only after many more fixes.
    let last = try ServiceBench(after: next.killed())
    #expect(!isSentLoss("tracker", last) && isSentLoss("third", last))
    last.state.setCounter(.clientsLostUntil, 1)
    last.save()
    let end = try ServiceBench(after: last.killed())
    #expect(!isSentLoss("fourth", end))
  }

  @Test(
    "RNG-9: an invalid row does not skip its client's fixes without a gap",
    arguments: ["clients", "cursors"])
  func invalidRow(table: String) throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    let other = bench.client("other")
    _ = bench.call(.startUpdating, other.control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    bench.save()
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

  @Test(
    "RNG-4: after a power cut a client with running updates is sent a gap, until it has handled it")
  func powerCut() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    let idle = bench.client("idle")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    _ = bench.call(.acknowledge(watch.fixes()[0].name), control)
    _ = idle.control
    let afterPowerCut = try ServiceBench(after: bench.killed(), boot: BootIdentity(id: [2]))
    // The client does not connect in that boot: a second start must not drop the gap.
    let next = try ServiceBench(after: afterPowerCut.killed(), boot: BootIdentity(id: [2]))
    let (again, listener, _) = next.client("tracker")
    #expect(listener.notices().isEmpty)
    _ = next.call(.startUpdating, again)
    next.fix()
    let notices = listener.notices()
    guard case .gap(let gap)? = notices.first else {
      Issue.record("no gap: \(notices)")
      return
    }
    #expect(gap.mayBeMore && gap.count == 0 && notices.count == 2)
    let (other, quiet, _) = next.client("idle")
    _ = next.call(.startUpdating, other)
    #expect(!quiet.notices().contains { if case .gap = $0 { true } else { false } })
    next.save()
    // It was written, but the program ended before it had acknowledged a fix after it.
    again.quit()
    next.settle()
    let (second, reader, _) = next.client("tracker")
    _ = next.call(.startUpdating, second)
    #expect(reader.notices().first == .gap(gap))
    next.save()
    let last = try ServiceBench(after: next.killed(), boot: BootIdentity(id: [2]))
    #expect(isSentLoss("tracker", last, acknowledges: true))
    let end = try ServiceBench(after: last.killed(), boot: BootIdentity(id: [2]))
    #expect(!isSentLoss("tracker", end))
  }

  @Test("RNG-4: the gap of a power cut is not handled with a fix that was sent before it")
  func powerCutEarlierFix() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    let sent = watch.fixes()
    _ = bench.call(.acknowledge(sent[1].name), control)
    let next = try ServiceBench(after: bench.killed(), boot: BootIdentity(id: [2]))
    let (again, _, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    #expect(next.call(.acknowledge(sent[1].name), again) == .done)
    let last = try ServiceBench(after: next.killed(), boot: BootIdentity(id: [2]))
    #expect(isSentLoss("tracker", last))
  }

  @Test("RNG-4: the gap of a power cut is not handled with a fix that the power cut has destroyed")
  func powerCutDestroyedFix() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    let sent = watch.fixes()
    bench.destroyFix(2)
    let next = try ServiceBench(after: bench.killed(), boot: BootIdentity(id: [2]))
    let (again, listener, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    // Its number is assigned again.
    next.fix()
    #expect(listener.fixes().map(\.name.sequence) == [0, 1, 2])
    #expect(next.call(.acknowledge(sent[2].name), again) == .done)
    let last = try ServiceBench(after: next.killed(), boot: BootIdentity(id: [2]))
    #expect(isSentLoss("tracker", last, acknowledges: true))
    let end = try ServiceBench(after: last.killed(), boot: BootIdentity(id: [2]))
    #expect(!isSentLoss("tracker", end))
  }

  @Test("RNG-4: a bulk read reports the gap of a power cut until a fix after it is acknowledged")
  func powerCutDrain() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<2 { bench.fix() }
    let sent = watch.fixes()
    let next = try ServiceBench(after: bench.killed(), boot: BootIdentity(id: [2]))
    let (again, _, session) = next.client("tracker")
    for _ in 0..<2 {
      guard case .drain(2, let gap)? = next.call(.drain(session: session), next.program()) else {
        Issue.record("no backlog")
        return
      }
      #expect(gap?.mayBeMore == true)
    }
    #expect(next.call(.acknowledge(sent[1].name), again) == .done)
    #expect(next.call(.drain(session: session), next.program()) == .drain(count: 0, nil))
  }

  @Test("RNG-4: a new notice connection of the same process is sent the gap of a power cut again")
  func powerCutNewWatch() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    let next = try ServiceBench(after: bench.killed(), boot: BootIdentity(id: [2]))
    let (again, first, session) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    guard case .gap? = first.notices().first else {
      Issue.record("no gap")
      return
    }
    let second = next.program()
    second.send(.watch(session: session))
    next.settle()
    guard case .gap? = second.notices().first else {
      Issue.record("no gap")
      return
    }
  }

  @Test("AUT-2: a command's decision is stored, and a denial's fixes stay hidden (RNG-6)")
  func decisions() throws {
    let open = AccessPolicy(
      defaultRights: AccessRights(authorization: .always), administrators: [UInt32(me)])
    let bench = try ServiceBench(open)
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    #expect(bench.call(.denyClient(tracker), bench.program()) == .done)
    let next = try ServiceBench(open, after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    next.fix()
    #expect(listener.fixes().isEmpty)
    #expect(next.call(.getLocation, again) == .error(.notAuthorized))
    #expect(next.call(.allowClient(tracker, .always), next.program()) == .done)
    #expect(listener.fixes().isEmpty)
    next.fix()
    #expect(listener.fixes().count == 1)
  }

  @Test("RNG-6: a client denied by the file while the service was down receives no earlier fix")
  func deniedWhileDown() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    bench.save()
    let denied = AccessPolicy(defaultRights: AccessRights(authorization: .denied))
    let closed = try ServiceBench(denied, after: bench.killed())
    closed.save()
    let next = try ServiceBench(after: closed.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    next.fix()
    #expect(listener.fixes().count == 1)
  }

  @Test("REG-11, REG-13: regions are restored with name and state, events until acknowledged")
  func regions() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    #expect(bench.call(.addRegion(.home(), assuming: .unknown), control) == .done)
    for _ in 0..<3 { bench.fix() }
    let last = try #require(watch.fixes().last)
    #expect(bench.call(.acknowledge(last.name), control) == .done)
    control.quit()
    bench.settle()
    bench.save()
    // The device is inside when the service is killed, and outside soon after the restart.
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
    // If a process exits before it handles the event, the next one receives it.
    again.quit()
    third.settle()
    let (successor, successorWatch, _) = third.client("tracker")
    #expect(successorWatch.notices() == events)
    #expect(third.call(.acknowledgeEvents(1), successor) == .done)
    #expect(third.call(.removeRegion(.region, name: "home"), successor) == .done)
    let end = try ServiceBench(after: third.killed())
    let (_, silent, _) = end.client("tracker")
    #expect(silent.notices().isEmpty)
    #expect(end.state.rows.regions.count == 0 && end.state.rows.events.count == 0)
  }

  @Test("REG-11, REG-13: the next process finds its circles and the last handled event")
  func monitoredRegions() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    #expect(bench.call(.listRegions, control) == .regions([]))
    #expect(bench.call(.addRegion(.home(), assuming: .unknown), control) == .done)
    let added = WireMonitoredRegion(.home(), state: .unknown, lastEvent: nil)
    #expect(bench.call(.listRegions, control) == .regions([added]))
    for _ in 0..<80 { bench.fix() }
    let events = watch.notices().compactMap { notice -> WireRegionEvent? in
      guard case .region(let event, let number) = notice, number > 0 else { return nil }
      return event
    }
    let exit = try #require(events.last)
    // Sent but not handled: not yet the last event of the client.
    let unhandled = WireMonitoredRegion(.home(), state: .unsatisfied, lastEvent: nil)
    #expect(bench.call(.listRegions, control) == .regions([unhandled]))
    #expect(bench.call(.acknowledgeEvents(1), control) == .done)
    let next = try ServiceBench(after: bench.killed())
    let (successor, _, _) = next.client("tracker")
    let handled = WireMonitoredRegion(.home(), state: .unsatisfied, lastEvent: exit)
    #expect(next.call(.listRegions, successor) == .regions([handled]))
    let (other, _, _) = next.client("other")
    #expect(next.call(.listRegions, other) == .regions([]))
    #expect(next.call(.listRegions, next.program()) == .error(.notConnected))
    // Another circle with that name has no last event.
    var wider = WireRegion.home()
    wider.radius = 200
    #expect(next.call(.addRegion(wider, assuming: .unknown), successor) == .done)
    guard case .regions(let again)? = next.call(.listRegions, successor) else {
      Issue.record("no circles")
      return
    }
    #expect(again.map(\.region) == [wider] && again.map(\.lastEvent) == [nil])
  }

  @Test("SLC-8, BKG-6: an undelivered report is sent when significant change is started again")
  func significant() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    #expect(bench.call(.startSignificantChange, control) == .done)
    bench.fix()
    #expect(watch.notices().count == 1)
    let next = try ServiceBench(after: bench.killed())
    for _ in 0..<8 { next.fix() }
    let (again, listener, _) = next.client("tracker")
    #expect(listener.notices().isEmpty)
    #expect(next.call(.startSignificantChange, again) == .done)
    guard case .report? = listener.notices().first else {
      Issue.record("no report")
      return
    }
    #expect(next.call(.stopSignificantChange, again) == .done)
    let last = try ServiceBench(after: next.killed())
    #expect(last.state.rows.services.all.first?.significantChange == false)
  }

  @Test(
    "PWR-14: after a time off a visit lasts, and so does significant change if its reports were received",
    arguments: [true, false])
  func timeOff(isReceived: Bool) throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    #expect(bench.call(.startVisits, control) == .done)
    #expect(bench.call(.startSignificantChange, control) == .done)
    if isReceived {
      bench.fix()
      #expect(watch.notices().count == 1)
    }
    control.quit()
    watch.quit()
    bench.settle()
    for _ in 0..<10 { bench.fix() }
    bench.stay(400)
    bench.save()
    for hasPoweredOff in [true, false] {
      let next = try ServiceBench(after: bench.killed(), hasPoweredOff: hasPoweredOff)
      let visits = next.loop.engine.withClient(ClientID(0)) { $0.services.visits.state }
      #expect(visits == (hasPoweredOff ? .visiting : .underWay))
      let change = next.loop.engine.withClient(ClientID(0)) { $0.services.significant.state }
      #expect(change == (hasPoweredOff && isReceived ? .watching : .first))
    }
  }

  @Test("PWR-14, AUT-6: after a time off, services of a client with reduced accuracy restart")
  func timeOffReduced() throws {
    func policy(isReduced: Bool) -> AccessPolicy {
      let rights = AccessRights(authorization: .always, isReduced: isReduced)
      return AccessPolicy(
        rules: [AccessRule(AccessSubject(client: "tracker"), rights, line: 1)],
        administrators: [me])
    }
    let bench = try ServiceBench(policy(isReduced: false))
    let (control, watch, _) = bench.client("tracker")
    #expect(bench.call(.startSignificantChange, control) == .done)
    bench.fix()
    #expect(watch.notices().count == 1)
    control.quit()
    watch.quit()
    bench.settle()
    bench.stay(400)
    bench.save()
    let next = try ServiceBench(
      policy(isReduced: true), after: bench.killed(), hasPoweredOff: true)
    let change = next.loop.engine.withClient(ClientID(0)) { $0.services.significant }
    #expect(change.state == .first && change.lastReported == nil)
  }

  @Test("VIS-8: an undelivered visit is stored and sent when visits are started again")
  func visits() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    #expect(bench.call(.startVisits, control) == .done)
    control.quit()
    bench.settle()
    for _ in 0..<60 { bench.fix() }
    bench.stay(600)
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    #expect(listener.notices().isEmpty)
    #expect(next.call(.startVisits, again) == .done)
    guard case .visit(let visit, 1)? = listener.notices().first else {
      Issue.record("no visit")
      return
    }
    #expect(visit.departure == nil && visit.arrival != nil)
    #expect(next.call(.acknowledgeEvents(1), again) == .done)
    let last = try ServiceBench(after: next.killed())
    let (third, silent, _) = last.client("tracker")
    _ = last.call(.startVisits, third)
    #expect(silent.notices().isEmpty)
  }

  @Test("LIV-12: live updates continue after a crash of the service once they are opened again")
  func live() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.openLive(.default), control)
    bench.fix()
    let next = try ServiceBench(after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    next.fix()
    #expect(listener.notices().isEmpty)
    #expect(next.call(.openLive(.default), again) == .opened(0))
    next.fix()
    next.fix()
    #expect(listener.notices().contains { if case .live = $0 { true } else { false } })
  }

  @Test("unused names make space for others; a client with undelivered fixes stays")
  func unusedNames() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.clientWithFix("pending")
    control.quit()
    bench.settle()
    let visitor = bench.client("visitor")
    _ = bench.call(.startVisits, visitor.control)
    visitor.control.quit()
    bench.settle()
    for i in 0..<6 { bench.client("guest \(i)").control.quit() }
    bench.settle()
    #expect(bench.state.rows.clients.count == ServiceBench.clients)
    let names = Set(bench.state.rows.clients.all.map(\.name))
    #expect(names.isSuperset(of: ["pending", "visitor"]))
    let (again, listener, _) = bench.client("pending")
    _ = bench.call(.startUpdating, again)
    #expect(listener.fixes().count == 1)
  }

  @Test("replies keep the order of the calls, even if some wait")
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

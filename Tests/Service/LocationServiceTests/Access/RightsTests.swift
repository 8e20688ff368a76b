import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Rights that come and go")
struct RightsTests {
  private let me = geteuid()
  private var name: WireClientName { WireClientName(user: me, name: "tracker") }

  private func policy(
    _ authorization: Authorization, isReduced: Bool = false, background: Bool? = nil,
    command: String? = nil
  ) -> AccessPolicy {
    let terms = AccessRights(
      authorization: authorization, isReduced: isReduced, mayUseBackground: background,
      relaunch: command.map { .command([$0]) })
    return AccessPolicy(
      rules: [AccessRule(AccessSubject(client: "tracker"), terms, line: 1)],
      administrators: [me])
  }

  /// Lets the client leave while it monitors a circle, and the board leave the circle.
  private func leaveRegion(_ bench: ServiceBench) {
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.addRegion(.home(), assuming: .unknown), control)
    for _ in 0..<3 { bench.fix() }
    watch.quit()
    control.quit()
    bench.settle()
    for _ in 0..<60 { bench.fix() }
  }

  @Test("BKG-20: what a file allowed is noted, and no later restart takes what waits")
  func allowedByFile() throws {
    let asked = try ServiceBench(AccessPolicy(administrators: [me]))
    let (first, _, _) = asked.client("tracker")
    _ = asked.ask(.startVisits, first)
    let bench = try ServiceBench(policy(.always), after: asked.killed())
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    #expect(watch.fixes().count == 3)
    bench.keep()
    let next = try ServiceBench(policy(.always), after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.ask(.startUpdating, again)
    #expect(listener.fixes().count == 3)
  }

  @Test("REG-13: a decision that takes nothing away takes no event and no fix")
  func nothingTaken() throws {
    let bench = try ServiceBench(
      AccessPolicy(defaultRights: AccessRights(authorization: .always), administrators: [me]))
    leaveRegion(bench)
    #expect(bench.state.rows.events.count == 1)
    #expect(bench.ask(.allowClient(name, .always), bench.program()) == .done)
    #expect(bench.ask(.allowClient(name, .always), bench.program()) == .done)
    #expect(bench.state.rows.events.count == 1)
    #expect(bench.ask(.denyClient(name), bench.program()) == .done)
    #expect(bench.state.rows.events.count == 0)
  }

  @Test("AUT-6: who was reduced while the service was down is told no event of before")
  func reducedMeanwhile() throws {
    let bench = try ServiceBench(policy(.always))
    leaveRegion(bench)
    let next = try ServiceBench(policy(.always, isReduced: true), after: bench.killed())
    let (_, watch, _) = next.client("tracker")
    #expect(!watch.notices().contains { if case .region = $0 { true } else { false } })
    #expect(next.state.rows.events.count == 0)
  }

  @Test("BKG-19: an event that waited through a restart starts its program")
  func waiting() throws {
    let bench = try ServiceBench(policy(.always))
    leaveRegion(bench)
    let next = try ServiceBench(policy(.always, command: "/bin/tracker"), after: bench.killed())
    next.pass(11)
    #expect(next.started.all.map(\.reason) == [.region])
  }

  @Test("BKG-19: a start that is taken back by a new file is not tried, nor waited for")
  func takenBack() throws {
    for changed in [policy(.always), policy(.denied, command: "/bin/tracker")] {
      let bench = try ServiceBench(policy(.always, command: "/bin/tracker"))
      leaveRegion(bench)
      #expect(bench.started.all.count == 1)
      bench.loop.clients.adopt(changed)
      bench.settle()
      bench.pass(1_000)
      #expect(bench.started.all.count == 1 && bench.deadline == .distantFuture)
    }
  }

  @Test("BKG-19: a program that comes and dies at once is not started without end")
  func crashLoop() throws {
    let bench = try ServiceBench(policy(.always, command: "/bin/tracker"))
    let (control, _, _) = bench.client("tracker")
    _ = bench.ask(.openBackgroundSession, control)
    bench.pass(100)
    control.quit()
    bench.settle()
    #expect(bench.started.all.count == 1)
    for _ in 0..<60 {
      let program = bench.program()
      _ = bench.ask(.connect(name: "tracker"), program)
      _ = bench.ask(.openBackgroundSession, program)
      program.quit()
      bench.pass(5)
    }
    #expect(bench.started.all.count >= 2 && bench.started.all.count <= 4)
  }

  @Test("BKG-18: background updates that a new file takes away end at once")
  func background() throws {
    let bench = try ServiceBench(policy(.whenInUse, background: true))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    var settings = WireSettings()
    settings.allowsBackground = true
    _ = bench.ask(.configure(settings), control)
    _ = bench.ask(.setExecution(.background), control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    bench.loop.clients.adopt(policy(.whenInUse, background: false))
    bench.settle()
    bench.fix()
    #expect(watch.fixes().isEmpty)
  }

  @Test("VIS-8, BKG-2: a suspended client's visits are kept one by one, and told when it runs")
  func suspended() throws {
    let bench = try ServiceBench(policy(.always))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startVisits, control)
    _ = bench.ask(.setExecution(.suspended), control)
    for _ in 0..<2 {
      for _ in 0..<60 { bench.fix() }
      bench.stay(600)
    }
    #expect(watch.notices().isEmpty)
    _ = bench.ask(.setExecution(.foreground), control)
    let visits = watch.notices().compactMap { notice -> Bool? in
      if case .visit(let visit, _) = notice { visit.departure == nil } else { nil }
    }
    #expect(visits == [true, false, true])
  }

  @Test("RNG-4: what a power cut took is told when it is written, and not before")
  func lossIsWritten() throws {
    let bench = try ServiceBench(policy(.always))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    _ = bench.ask(.acknowledge(watch.fixes()[0].name), control)
    let next = try ServiceBench(
      policy(.always), after: bench.killed(), boot: .init(id: [2]))
    // One that dies before it listens has heard nothing.
    let deaf = next.program()
    _ = next.ask(.connect(name: "tracker"), deaf)
    _ = next.ask(.startUpdating, deaf)
    deaf.quit()
    next.settle()
    let (again, listener, _) = next.client("tracker")
    _ = next.ask(.startUpdating, again)
    _ = next.ask(.startUpdating, again)
    let gaps = listener.notices().filter { if case .gap = $0 { true } else { false } }
    #expect(gaps.count == 1)
  }

  @Test("the end of a service is seen by its clients, whose sessions go on with the next one")
  func end() throws {
    let bench = try ServiceBench(policy(.always))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.openBackgroundSession, control)
    bench.close()
    _ = control.frames()
    _ = watch.frames()
    #expect(control.isClosed && watch.isClosed)
    let next = try ServiceBench(policy(.always), after: bench.killed())
    let (again, _, _) = next.client("tracker")
    _ = next.ask(.setExecution(.background), again)
    #expect(next.ask(.openBackgroundSession, again) == .active(true))
  }
}

import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Granted and revoked rights")
struct RightsTests {
  private let me = geteuid()
  private var name: WireClientName { WireClientName(user: me, name: "tracker") }

  private func policy(
    _ authorization: Authorization, isReduced: Bool = false, background: Bool? = nil,
    command: String? = nil
  ) -> AccessPolicy {
    let rights = AccessRights(
      authorization: authorization, isReduced: isReduced, mayUseBackground: background,
      relaunch: command.map { .command([$0]) })
    return AccessPolicy(
      rules: [AccessRule(AccessSubject(client: "tracker"), rights, line: 1)],
      administrators: [me])
  }

  /// The client leaves while it monitors a circle; then the device leaves the circle.
  private func leaveRegion(_ bench: ServiceBench) {
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.addRegion(.home(), assuming: .unknown), control)
    for _ in 0..<3 { bench.fix() }
    watch.quit()
    control.quit()
    bench.settle()
    for _ in 0..<60 { bench.fix() }
  }

  @Test("BKG-20: a permission by file is recorded, and a restart keeps the undelivered fixes")
  func allowedByFile() throws {
    let initial = try ServiceBench(AccessPolicy(administrators: [me]))
    let (first, _, _) = initial.client("tracker")
    _ = initial.call(.startVisits, first)
    let bench = try ServiceBench(policy(.always), after: initial.killed())
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    #expect(watch.fixes().count == 3)
    bench.save()
    let next = try ServiceBench(policy(.always), after: bench.killed())
    let (again, listener, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    #expect(listener.fixes().count == 3)
  }

  @Test("REG-13: a decision that revokes nothing discards no event and no fix")
  func nothingRevoked() throws {
    let bench = try ServiceBench(
      AccessPolicy(defaultRights: AccessRights(authorization: .always), administrators: [me]))
    leaveRegion(bench)
    #expect(bench.state.rows.events.count == 1)
    #expect(bench.call(.allowClient(name, .always), bench.program()) == .done)
    #expect(bench.call(.allowClient(name, .always), bench.program()) == .done)
    #expect(bench.state.rows.events.count == 1)
    #expect(bench.call(.denyClient(name), bench.program()) == .done)
    #expect(bench.state.rows.events.count == 0)
  }

  @Test("AUT-6: a client reduced while the service was down receives no earlier event")
  func reducedWhileDown() throws {
    let bench = try ServiceBench(policy(.always))
    leaveRegion(bench)
    let next = try ServiceBench(policy(.always, isReduced: true), after: bench.killed())
    let (_, watch, _) = next.client("tracker")
    #expect(!watch.notices().contains { if case .region = $0 { true } else { false } })
    #expect(next.state.rows.events.count == 0)
  }

  @Test("BKG-19: an event that is pending across a restart starts its program")
  func waiting() throws {
    let bench = try ServiceBench(policy(.always))
    leaveRegion(bench)
    let next = try ServiceBench(policy(.always, command: "/bin/tracker"), after: bench.killed())
    next.pass(11)
    #expect(next.started.all.map(\.reason) == [.region])
  }

  @Test("BKG-19: a start that a new file revokes is neither tried nor waited for")
  func revokedStart() throws {
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

  @Test("BKG-19: a program that exits right after connecting is not started without limit")
  func crashLoop() throws {
    let bench = try ServiceBench(policy(.always, command: "/bin/tracker"))
    let (control, _, _) = bench.client("tracker")
    _ = bench.call(.openBackgroundSession, control)
    bench.pass(100)
    control.quit()
    bench.settle()
    #expect(bench.started.all.count == 1)
    for _ in 0..<60 {
      let program = bench.program()
      _ = bench.call(.connect(name: "tracker"), program)
      _ = bench.call(.openBackgroundSession, program)
      program.quit()
      bench.pass(5)
    }
    #expect(bench.started.all.count >= 2 && bench.started.all.count <= 4)
  }

  @Test("BKG-18: background updates end immediately when a new file revokes them")
  func background() throws {
    let bench = try ServiceBench(policy(.whenInUse, background: true))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    var settings = WireSettings()
    settings.allowsBackground = true
    _ = bench.call(.configure(settings), control)
    _ = bench.call(.setExecution(.background), control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    bench.loop.clients.adopt(policy(.whenInUse, background: false))
    bench.settle()
    bench.fix()
    #expect(watch.fixes().isEmpty)
  }

  @Test(
    "VIS-8, BKG-2: a suspended client's visits are stored one by one and delivered when it runs")
  func suspended() throws {
    let bench = try ServiceBench(policy(.always))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startVisits, control)
    _ = bench.call(.setExecution(.suspended), control)
    for _ in 0..<2 {
      for _ in 0..<60 { bench.fix() }
      bench.stay(600)
    }
    #expect(watch.notices().isEmpty)
    _ = bench.call(.setExecution(.foreground), control)
    let visits = watch.notices().compactMap { notice -> Bool? in
      if case .visit(let visit, _) = notice { visit.departure == nil } else { nil }
    }
    #expect(visits == [true, false, true])
  }

  @Test("RNG-4: a gap of a power cut is consumed when it is sent, not before")
  func gapIsSent() throws {
    let bench = try ServiceBench(policy(.always))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    _ = bench.call(.acknowledge(watch.fixes()[0].name), control)
    let next = try ServiceBench(
      policy(.always), after: bench.killed(), boot: .init(id: [2]))
    // A process that exits before it watches has received nothing.
    let unwatched = next.program()
    _ = next.call(.connect(name: "tracker"), unwatched)
    _ = next.call(.startUpdating, unwatched)
    unwatched.quit()
    next.settle()
    let (again, listener, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    _ = next.call(.startUpdating, again)
    let gaps = listener.notices().filter { if case .gap = $0 { true } else { false } }
    #expect(gaps.count == 1)
  }

  @Test(
    "clients are disconnected when the service ends, and their sessions continue with the next one")
  func end() throws {
    let bench = try ServiceBench(policy(.always))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.openBackgroundSession, control)
    bench.close()
    _ = control.frames()
    _ = watch.frames()
    #expect(control.isClosed && watch.isClosed)
    let next = try ServiceBench(policy(.always), after: bench.killed())
    let (again, _, _) = next.client("tracker")
    _ = next.call(.setExecution(.background), again)
    #expect(next.call(.openBackgroundSession, again) == .active(true))
  }
}

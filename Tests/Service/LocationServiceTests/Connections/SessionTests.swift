import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Sessions of programs on the socket")
struct SessionTests {
  private let me = geteuid()
  private var name: WireClientName { WireClientName(user: me, name: "tracker") }

  private func policy(
    _ authorization: Authorization = .always, background: Bool? = nil, command: String? = nil
  ) -> AccessPolicy {
    let terms = AccessRights(
      authorization: authorization, mayUseBackground: background,
      relaunch: command.map { .command([$0]) })
    return AccessPolicy(
      rules: [AccessRule(AccessSubject(client: "tracker"), terms, line: 1)],
      administrators: [me])
  }

  private func live(_ notices: [WireNotice]) -> [LiveElement] {
    notices.compactMap { if case .live(let element) = $0 { element } else { nil } }
  }

  @Test("AUT-7: the log has the command that allows a client that asks")
  func allowCommand() throws {
    let log = LogPipe()
    let bench = try ServiceBench(
      AccessPolicy(administrators: [me]), log: log.log)
    let (control, watch, _) = bench.client("my app", of: 4_711)
    _ = bench.ask(.requestAuthorization(.always), control)
    #expect(log.text.contains("`torpor clients allow '4711/my app'`"), "\(log.text)")
    _ = watch
  }

  @Test(
    "BKG-5: a suspended client's receiver rests when N fixes wait, but not with a background session"
  )
  func keepsRunning() throws {
    let bench = try ServiceBench(policy())
    let (control, watch, _) = bench.client("tracker")
    // Somebody listens all the time.
    defer { watch.quit() }
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    #expect(bench.isDemanding)
    _ = bench.ask(.setExecution(.suspended), control)
    for _ in 0..<31 { bench.fix() }
    #expect(bench.isDemanding)
    bench.fix()
    #expect(!bench.isDemanding)
    _ = bench.ask(.setExecution(.foreground), control)
    #expect(bench.ask(.openBackgroundSession, control) == .active(true))
    _ = bench.ask(.setExecution(.suspended), control)
    for _ in 0..<40 { bench.fix() }
    #expect(bench.isDemanding)
    _ = bench.ask(.setExecution(.foreground), control)
    #expect(bench.ask(.closeBackgroundSession, control) == .done)
    _ = bench.ask(.setExecution(.suspended), control)
    for _ in 0..<40 { bench.fix() }
    #expect(!bench.isDemanding)
  }

  @Test("BKG-9, BKG-11, BKG-20: a session survives its process and the service, and is seen")
  func survives() throws {
    let bench = try ServiceBench(policy(command: "/bin/tracker"))
    let (control, _, _) = bench.client("tracker")
    #expect(bench.ask(.openBackgroundSession, control) == .active(true))
    let next = try ServiceBench(policy(command: "/bin/tracker"), after: bench.killed())
    func listed() -> Bool {
      guard case .clients(let clients)? = next.ask(.listClients, next.program()) else {
        return false
      }
      return clients.first?.hasBackgroundSession == true
    }
    #expect(listed())
    guard case .status(let status)? = next.ask(.getStatus, next.program()) else {
      Issue.record("everybody may ask")
      return
    }
    #expect(status.uses.map(\.services) == [[.backgroundSession]])
    // The light follows this.
    #expect(next.hasBackgroundSession)
    // Its process may live: it is given ten seconds to come by itself.
    next.pass(9)
    #expect(next.started.all.isEmpty)
    next.pass(2)
    #expect(next.started.all.map(\.reason) == [.backgroundSession])
    let program = next.program()
    guard case .connected(let session)? = next.ask(.connect(name: "tracker"), program) else {
      Issue.record("it may connect")
      return
    }
    #expect(session.launchReason == .backgroundSession)
    // Relaunched into the background, and within its ten seconds.
    #expect(next.ask(.openBackgroundSession, program) == .active(true))
    program.quit()
    next.settle()
    // It did not stay: the next one waits for its minute.
    #expect(next.started.all.count == 1)
    next.pass(60)
    #expect(next.started.all.count == 2)
    let last = next.program()
    _ = next.ask(.connect(name: "tracker"), last)
    next.pass(11)
    #expect(!listed() && !next.hasBackgroundSession)
    #expect(next.ask(.openBackgroundSession, last) == .active(false))
  }

  @Test(
    "BKG-19: visits, regions and significant change start a program again; updates do not (STD-12)")
  func relaunch() throws {
    let bench = try ServiceBench(policy(command: "/bin/tracker"))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    control.quit()
    bench.settle()
    for _ in 0..<20 { bench.fix() }
    #expect(bench.started.all.isEmpty)
    let (again, _, _) = bench.client("tracker")
    let center = Coordinate(latitude_e9: 48_003_000_000, longitude_e9: 11)
    let region = WireRegion(.region, name: "home", center: center, radius: 150)
    _ = bench.ask(.addRegion(region, assuming: .unknown), again)
    for _ in 0..<3 { bench.fix() }
    again.quit()
    _ = watch
    bench.settle()
    for _ in 0..<80 { bench.fix() }
    #expect(
      bench.started.all.first
        == Launch(client: name, relaunch: .command(["/bin/tracker"]), reason: .region))
    // It does not come: it is started again after a minute, after two more, and not for ever.
    let count = bench.started.all.count
    bench.pass(20_000)
    #expect(bench.started.all.count > count && bench.started.all.count <= 8)
  }

  @Test("BKG-19: who has no way to be started, or may not use location, is not started")
  func notStarted() throws {
    let bench = try ServiceBench(policy())
    let (control, _, _) = bench.client("tracker")
    #expect(bench.ask(.openBackgroundSession, control) == .active(true))
    control.quit()
    bench.settle()
    #expect(bench.started.all.isEmpty)
  }

  @Test("BKG-14, BKG-15: live updates in the background take an always session, and say so")
  func insufficient() throws {
    let bench = try ServiceBench(policy())
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.openLive(.default), control)
    bench.fix()
    #expect(live(watch.notices()).contains { $0.location != nil })
    _ = bench.ask(.setExecution(.background), control)
    bench.fix()
    bench.fix()
    let silent = live(watch.notices())
    #expect(silent.first?.flags.holdsAny(of: .insufficientlyInUse) == true)
    #expect(silent.allSatisfy { $0.location == nil })
    _ = bench.ask(.setExecution(.foreground), control)
    #expect(bench.ask(.openServiceSession(.always, wantsFullAccuracy: true), control) == .opened(0))
    _ = bench.ask(.setExecution(.background), control)
    bench.fix()
    bench.fix()
    let notices = watch.notices()
    #expect(notices.contains(.session(0, SessionDiagnostics())))
    #expect(live(notices).contains { $0.location != nil })
    let explicit = bench.program()
    _ = bench.ask(.connect(name: "other", needsExplicitSessions: true), explicit)
    #expect(bench.ask(.closeServiceSession(5), explicit) == .done)
  }

  @Test("BKG-13, BKG-18: when in use only, the background brings nothing unless it is allowed")
  func whenInUse() throws {
    let bench = try ServiceBench(policy(.whenInUse, background: true))
    let (control, watch, _) = bench.client("tracker")
    let other = bench.client("other")
    _ = bench.ask(.startUpdating, control)
    _ = other
    bench.fix()
    #expect(watch.fixes().count == 1)
    _ = bench.ask(.setExecution(.background), control)
    bench.fix()
    bench.fix()
    #expect(watch.notices().isEmpty)
    _ = bench.ask(.setExecution(.foreground), control)
    bench.fix()
    #expect(watch.fixes().map(\.name.sequence) == [3])
    var settings = WireSettings()
    settings.allowsBackground = true
    #expect(bench.ask(.configure(settings), control) == .done)
    _ = bench.ask(.setExecution(.background), control)
    bench.fix()
    #expect(watch.fixes().map(\.name.sequence) == [4])
    let strict = try ServiceBench(policy(.whenInUse, background: false))
    let program = strict.client("tracker").control
    #expect(strict.ask(.configure(settings), program) == .error(.notAuthorized))
  }

  @Test("AUT-4: a request counts while undetermined and in use; when-in-use asks for always once")
  func requests() throws {
    let open = AccessPolicy(administrators: [me])
    let bench = try ServiceBench(open)
    let (control, _, _) = bench.client("tracker")
    func asks() -> Authorization? {
      guard case .clients(let clients)? = bench.ask(.listClients, bench.program()) else {
        return nil
      }
      return clients.first?.requestedAuthorization
    }
    _ = bench.ask(.setExecution(.background), control)
    _ = bench.ask(.requestAuthorization(.whenInUse), control)
    #expect(asks() == nil)
    _ = bench.ask(.setExecution(.foreground), control)
    _ = bench.ask(.requestAuthorization(.whenInUse), control)
    #expect(asks() == .whenInUse)
    #expect(bench.ask(.allowClient(name, .whenInUse), bench.program()) == .done)
    #expect(asks() == nil)
    _ = bench.ask(.requestAuthorization(.whenInUse), control)
    #expect(asks() == nil)
    _ = bench.ask(.requestAuthorization(.always), control)
    #expect(asks() == .always)
    #expect(bench.ask(.allowClient(name, .whenInUse), bench.program()) == .done)
    _ = bench.ask(.requestAuthorization(.always), control)
    #expect(asks() == nil)
    #expect(bench.ask(.denyClient(name), bench.program()) == .done)
    _ = bench.ask(.requestAuthorization(.always), control)
    #expect(asks() == nil)
  }

  @Test(
    "AUT-1, BKG-7: nothing starts while authorization is undetermined, and live updates say why")
  func undetermined() throws {
    let bench = try ServiceBench(AccessPolicy(administrators: [me]))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    _ = bench.ask(.startVisits, control)
    _ = bench.ask(.openLive(.default), control)
    for _ in 0..<3 { bench.fix() }
    #expect(!bench.isDemanding && watch.fixes().isEmpty)
    let numbers = [Authorization.notDetermined, .restricted, .denied, .always, .whenInUse]
    #expect(numbers.map(\.rawValue) == [0, 1, 2, 3, 4])
  }
}

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
    let rights = AccessRights(
      authorization: authorization, mayUseBackground: background,
      relaunch: command.map { .command([$0]) })
    return AccessPolicy(
      rules: [AccessRule(AccessSubject(client: "tracker"), rights, line: 1)],
      administrators: [me])
  }

  private func live(_ notices: [WireNotice]) -> [LiveElement] {
    notices.compactMap { if case .live(let element) = $0 { element } else { nil } }
  }

  @Test(
    "AUT-7: the log shows the command that allows a requesting client",
    arguments: [
      (ServiceSocket.standardPath, "`torpor clients allow '4711/my app'`"),
      ("/tmp/t.sock", "`torpor clients allow --socket /tmp/t.sock '4711/my app'`"),
    ])
  func allowCommand(_ socket: String, _ command: String) throws {
    let log = LogPipe()
    let policy = AccessPolicy(administrators: [me])
    let bench = try ServiceBench(policy, log: log.log) { $0.socket = socket }
    let (control, watch, _) = bench.client("my app", of: 4_711)
    _ = bench.call(.requestAuthorization(.always), control)
    #expect(log.text.contains(command), "\(log.text)")
    _ = watch
  }

  @Test("BKG-5: the receiver sleeps when N fixes wait for a suspended client without session")
  func keepsRunning() throws {
    let bench = try ServiceBench(policy())
    let (control, watch, _) = bench.client("tracker")
    // A program reads the notices all the time.
    defer { watch.quit() }
    _ = bench.call(.startUpdating, control)
    bench.fix()
    #expect(bench.isDemanding)
    _ = bench.call(.setExecution(.suspended), control)
    for _ in 0..<31 { bench.fix() }
    #expect(bench.isDemanding)
    bench.fix()
    #expect(!bench.isDemanding)
    _ = bench.call(.setExecution(.foreground), control)
    #expect(bench.call(.openBackgroundSession, control) == .active(true))
    _ = bench.call(.setExecution(.suspended), control)
    for _ in 0..<40 { bench.fix() }
    #expect(bench.isDemanding)
    _ = bench.call(.setExecution(.foreground), control)
    #expect(bench.call(.closeBackgroundSession, control) == .done)
    _ = bench.call(.setExecution(.suspended), control)
    for _ in 0..<40 { bench.fix() }
    #expect(!bench.isDemanding)
  }

  @Test("BKG-9, BKG-11, BKG-20: a session survives its process and the service, and is listed")
  func survives() throws {
    let bench = try ServiceBench(policy(command: "/bin/tracker"))
    let (control, _, _) = bench.client("tracker")
    #expect(bench.call(.openBackgroundSession, control) == .active(true))
    let next = try ServiceBench(policy(command: "/bin/tracker"), after: bench.killed())
    func listed() -> Bool {
      guard case .clients(let clients)? = next.call(.listClients, next.program()) else {
        return false
      }
      return clients.first?.hasBackgroundSession == true
    }
    #expect(listed())
    guard case .status(let status)? = next.call(.getStatus, next.program()) else {
      Issue.record("the status needs no permission")
      return
    }
    #expect(status.uses.map(\.services) == [[.backgroundSession]])
    // The session light is on.
    #expect(next.hasBackgroundSession)
    // The client's process may still run: it has ten seconds to connect on its own.
    next.pass(9)
    #expect(next.started.all.isEmpty)
    next.pass(2)
    #expect(next.started.all.map(\.reason) == [.backgroundSession])
    let program = next.program()
    guard case .connected(let session)? = next.call(.connect(name: "tracker"), program) else {
      Issue.record("the connection is permitted")
      return
    }
    #expect(session.launchReason == .backgroundSession)
    // The relaunched program is in the background, and within its ten seconds.
    #expect(next.call(.openBackgroundSession, program) == .active(true))
    program.quit()
    next.settle()
    // The program disconnected: the next start follows after a minute.
    #expect(next.started.all.count == 1)
    next.pass(60)
    #expect(next.started.all.count == 2)
    let last = next.program()
    _ = next.call(.connect(name: "tracker"), last)
    next.pass(11)
    #expect(!listed() && !next.hasBackgroundSession)
    #expect(next.call(.openBackgroundSession, last) == .active(false))
  }

  @Test(
    "BKG-19: visits, regions and significant change relaunch a program, updates do not (STD-12)")
  func relaunch() throws {
    let bench = try ServiceBench(policy(command: "/bin/tracker"))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    control.quit()
    bench.settle()
    for _ in 0..<20 { bench.fix() }
    #expect(bench.started.all.isEmpty)
    let (again, _, _) = bench.client("tracker")
    let center = Coordinate(latitude_e9: 48_003_000_000, longitude_e9: 11)
    let region = WireRegion(.region, name: "home", center: center, radius: 150)
    _ = bench.call(.addRegion(region, assuming: .unknown), again)
    for _ in 0..<3 { bench.fix() }
    again.quit()
    _ = watch
    bench.settle()
    for _ in 0..<80 { bench.fix() }
    #expect(
      bench.started.all.first
        == Launch(client: name, relaunch: .command(["/bin/tracker"]), reason: .region))
    // The program does not connect: it is started again after one minute, two more minutes, and so
    // on, up to a limit.
    let count = bench.started.all.count
    bench.pass(20_000)
    #expect(bench.started.all.count > count && bench.started.all.count <= 8)
  }

  @Test("BKG-19: a program without a relaunch command or without permission is not started")
  func notStarted() throws {
    let bench = try ServiceBench(policy())
    let (control, _, _) = bench.client("tracker")
    #expect(bench.call(.openBackgroundSession, control) == .active(true))
    control.quit()
    bench.settle()
    #expect(bench.started.all.isEmpty)
  }

  @Test(
    "BKG-14, BKG-15: live updates in the background need an always session, and report its lack")
  func insufficient() throws {
    let bench = try ServiceBench(policy())
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.openLive(.default), control)
    bench.fix()
    #expect(live(watch.notices()).contains { $0.location != nil })
    _ = bench.call(.setExecution(.background), control)
    bench.fix()
    bench.fix()
    let silent = live(watch.notices())
    #expect(silent.first?.flags.containsAny(of: .insufficientlyInUse) == true)
    #expect(silent.allSatisfy { $0.location == nil })
    _ = bench.call(.setExecution(.foreground), control)
    #expect(
      bench.call(.openServiceSession(.always, requiresFullAccuracy: true), control) == .opened(0))
    _ = bench.call(.setExecution(.background), control)
    bench.fix()
    bench.fix()
    let notices = watch.notices()
    #expect(notices.contains(.session(0, SessionDiagnostics())))
    #expect(live(notices).contains { $0.location != nil })
    let explicit = bench.program()
    _ = bench.call(.connect(name: "other", needsExplicitSessions: true), explicit)
    #expect(bench.call(.closeServiceSession(5), explicit) == .done)
  }

  @Test("BKG-13, BKG-18: when-in-use delivers in the background only if background is allowed")
  func whenInUse() throws {
    let bench = try ServiceBench(policy(.whenInUse, background: true))
    let (control, watch, _) = bench.client("tracker")
    let other = bench.client("other")
    _ = bench.call(.startUpdating, control)
    _ = other
    bench.fix()
    #expect(watch.fixes().count == 1)
    _ = bench.call(.setExecution(.background), control)
    bench.fix()
    bench.fix()
    #expect(watch.notices().isEmpty)
    _ = bench.call(.setExecution(.foreground), control)
    bench.fix()
    #expect(watch.fixes().map(\.name.sequence) == [3])
    var settings = WireSettings()
    settings.allowsBackground = true
    #expect(bench.call(.configure(settings), control) == .done)
    _ = bench.call(.setExecution(.background), control)
    bench.fix()
    #expect(watch.fixes().map(\.name.sequence) == [4])
    let strict = try ServiceBench(policy(.whenInUse, background: false))
    let program = strict.client("tracker").control
    #expect(strict.call(.configure(settings), program) == .error(.notAuthorized))
  }

  @Test(
    "AUT-4: a request counts while undetermined and in use; when-in-use may request always once")
  func requests() throws {
    let open = AccessPolicy(administrators: [me])
    let bench = try ServiceBench(open)
    let (control, _, _) = bench.client("tracker")
    func requested() -> Authorization? {
      guard case .clients(let clients)? = bench.call(.listClients, bench.program()) else {
        return nil
      }
      return clients.first?.requestedAuthorization
    }
    _ = bench.call(.setExecution(.background), control)
    _ = bench.call(.requestAuthorization(.whenInUse), control)
    #expect(requested() == nil)
    _ = bench.call(.setExecution(.foreground), control)
    _ = bench.call(.requestAuthorization(.whenInUse), control)
    #expect(requested() == .whenInUse)
    #expect(bench.call(.allowClient(name, .whenInUse), bench.program()) == .done)
    #expect(requested() == nil)
    _ = bench.call(.requestAuthorization(.whenInUse), control)
    #expect(requested() == nil)
    _ = bench.call(.requestAuthorization(.always), control)
    #expect(requested() == .always)
    #expect(bench.call(.allowClient(name, .whenInUse), bench.program()) == .done)
    _ = bench.call(.requestAuthorization(.always), control)
    #expect(requested() == nil)
    #expect(bench.call(.denyClient(name), bench.program()) == .done)
    _ = bench.call(.requestAuthorization(.always), control)
    #expect(requested() == nil)
  }

  @Test("AUT-1, BKG-7: no service starts while undetermined; live updates report the reason")
  func undetermined() throws {
    let bench = try ServiceBench(AccessPolicy(administrators: [me]))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    _ = bench.call(.startVisits, control)
    _ = bench.call(.openLive(.default), control)
    for _ in 0..<3 { bench.fix() }
    #expect(!bench.isDemanding && watch.fixes().isEmpty)
    let numbers = [Authorization.notDetermined, .restricted, .denied, .always, .whenInUse]
    #expect(numbers.map(\.rawValue) == [0, 1, 2, 3, 4])
  }
}

import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState
import TestSupport
import Testing

@testable import LocationService

@Suite("Clients for which a new policy has no rule")
struct LostPermissionTests {
  /// A policy without the rule of `Users.friend`.
  private var withoutRule: AccessPolicy { AccessPolicy(administrators: [Users.me]) }

  /// A client of `Users.friend` that monitors a circle and visits; its program has ended.
  private func register(_ bench: ServiceBench, _ name: String = "tracker") {
    let (control, watch, _) = bench.client(name, of: Users.friend)
    _ = bench.call(.addRegion(.home(), assuming: .unknown), control)
    _ = bench.call(.startVisits, control)
    for _ in 0..<3 { bench.fix() }
    control.quit()
    watch.quit()
    bench.settle()
  }

  private func isRegistered(_ bench: ServiceBench) -> Bool {
    bench.state.rows.regions.all.map(\.name) == ["home"]
      && bench.state.rows.services.all.first?.visits == true
  }

  /// The device leaves the circle and stays elsewhere.
  private func travel(_ bench: ServiceBench) {
    for _ in 0..<60 { bench.fix() }
    bench.stay(600)
  }

  @Test(
    "RES-2: the services of a permitted client stay while a policy does not name it",
    arguments: [Authorization.notDetermined, .denied])
  func servicesStay(_ authorization: Authorization) throws {
    let bench = try Users.bench()
    register(bench)
    let permitted = bench.client("mine")
    bench.adopt(
      AccessPolicy(
        defaultRights: AccessRights(authorization: authorization),
        rules: [
          AccessRule(AccessSubject(uid: Users.me), AccessRights(authorization: .always), line: 1)
        ], administrators: [Users.me]))
    bench.settle()
    _ = bench.call(.startUpdating, permitted.control)
    bench.save()
    travel(bench)
    #expect(bench.state.rows.events.count == 0, "no event is stored for it then (RNG-6)")
    // A service that starts with the rule again restores all services, even after a kill.
    let next = try ServiceBench(Users.policy, after: bench.killed())
    #expect(isRegistered(next))
    // The running service restores them as well.
    bench.adopt(Users.policy)
    bench.settle()
    travel(bench)
    #expect(isRegistered(bench))
    let kinds = bench.state.rows.events.all.map { $0.notice.contains("\"visit\"") }
    #expect(kinds.contains(true), "visits are monitored again")
    _ = permitted
  }

  @Test("RES-2: a denial by command or by rule drops the client's services")
  func denied() throws {
    let bench = try Users.bench()
    register(bench)
    bench.adopt(
      AccessPolicy(
        rules: [
          AccessRule(
            AccessSubject(uid: Users.friend), AccessRights(authorization: .denied), line: 1)
        ], administrators: [Users.me]))
    bench.save()
    #expect(try !isRegistered(ServiceBench(Users.policy, after: bench.killed())))
    let other = try Users.bench()
    register(other)
    other.adopt(withoutRule)
    other.settle()
    let name = WireClientName(user: Users.friend, name: "tracker")
    #expect(other.call(.denyClient(name), other.program()) == .done)
    #expect(try !isRegistered(ServiceBench(Users.policy, after: other.killed())))
  }

  @Test("RES-2: a service that starts without the rule drops the services and logs the client")
  func restarted() throws {
    let bench = try Users.bench()
    register(bench)
    let folder = TestFolder()
    let descriptor = unsafe open(folder.path + "/log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    let log = SystemLog(descriptor, journalStream: nil)
    let next = try ServiceBench(withoutRule, after: bench.killed(), log: log)
    #expect(next.state.rows.clients.count == 0 && next.state.rows.regions.count == 0)
    let text = String(decoding: folder.read("log"), as: UTF8.self)
    #expect(text.contains("'tracker' of user 5000: their requests are dropped"), "\(text)")
  }

  @Test("RES-2: a new policy that omits clients logs one warning that names them")
  func warning() throws {
    let folder = TestFolder()
    let descriptor = unsafe open(folder.path + "/log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    let open = AccessPolicy(
      defaultRights: AccessRights(authorization: .always), administrators: [Users.me])
    let bench = try ServiceBench(
      open, clients: 64, log: SystemLog(descriptor, journalStream: nil)
    ) { $0.socket = "/tmp/t.sock" }
    for user in 0..<12 as Range<UInt32> { bench.client("c", of: 6_000 + user).control.quit() }
    bench.settle()
    bench.adopt(withoutRule)
    let lines = String(decoding: folder.read("log"), as: UTF8.self).split(separator: "\n")
    let warnings = lines.filter { $0.contains("no longer permits") }
    #expect(warnings.count == 1)
    let line = try #require(warnings.first, "\(lines)")
    #expect(
      line.contains("12 clients, 'c' of user 6000") && line.contains("and 4 more"), "\(line)")
    #expect(line.contains("run `torpor clients allow --socket /tmp/t.sock 6000/c`"), "\(line)")
  }

  @Test("RES-1: a client that had permission is not one of the 4 that never had any")
  func order() throws {
    let bench = try Users.bench()
    register(bench)
    bench.pass(60)
    bench.adopt(withoutRule)
    bench.settle()
    for number in 0..<8 {
      bench.client("n\(number)", of: Users.friend).control.quit()
      bench.pass(60)
    }
    #expect(bench.clientNames.sorted() == ["n4", "n5", "n6", "n7", "tracker"])
    bench.adopt(Users.policy)
    bench.save()
    #expect(try isRegistered(ServiceBench(Users.policy, after: bench.killed())))
  }

  @Test("RES-2: a policy that omits many clients of a user drops no services")
  func bounded() throws {
    let bench = try Users.bench()
    for number in 0..<8 {
      register(bench, "c\(number)")
      bench.pass(60)
    }
    bench.adopt(withoutRule)
    bench.settle()
    #expect(bench.clientNames.count == 8 && bench.state.rows.regions.count == 8)
    // New clients of other users get slots in addition, up to their own limit.
    for user in 0..<40 as Range<UInt32> { bench.client("n", of: 6_000 + user).control.quit() }
    bench.settle()
    #expect(bench.clientNames.filter { $0.hasPrefix("c") }.count == 8)
    #expect(bench.clientNames.count == 8 + ClientRegistry.unpermittedClients)
    bench.adopt(Users.policy)
    bench.save()
    let next = try ServiceBench(Users.policy, after: bench.killed(), clients: 64)
    #expect(next.state.rows.regions.count == 8)
  }

  @Test("RES-1: alternating policies leave a user at most 8 clients")
  func cycles() throws {
    let bench = try Users.bench()
    for number in 0..<6 { register(bench, "c\(number)") }
    for cycle in 0..<2 {
      bench.adopt(withoutRule)
      bench.settle()
      for number in 0..<4 {
        let program = bench.program(of: Users.friend)
        _ = bench.call(.connect(name: "n\(cycle)-\(number)"), program)
        _ = bench.call(.startVisits, program)
        program.quit()
        bench.pass(60)
      }
      bench.adopt(Users.policy)
      bench.settle()
      // The last two without permission of the first cycle were known, and were permitted since.
      let expected = (0..<6).map { "c\($0)" } + ["n0-2", "n0-3"]
      #expect(bench.clientNames.sorted() == expected, "\(bench.clientNames)")
    }
  }

  @Test("RES-1: a user with 8 clients that lost permission gets no other without permission")
  func full() throws {
    let bench = try Users.bench()
    for number in 0..<8 { register(bench, "c\(number)") }
    bench.adopt(withoutRule)
    bench.settle()
    let refusal = WireError.limitExceeded(what: "clients of a user", limit: 8)
    #expect(bench.call(.connect(name: "n"), bench.program(of: Users.friend)) == .error(refusal))
    #expect(bench.clientNames.count == 8)
    // Known clients connect as before.
    _ = bench.client("c0", of: Users.friend)
    #expect(bench.state.rows.regions.count == 8)
  }

  @Test("RES-1: in a full table an administrator displaces a client that lost permission")
  func fullTable() throws {
    let log = LogPipe()
    let bench = try ServiceBench(
      AccessPolicy(defaultRights: AccessRights(authorization: .always), administrators: [Users.me]),
      clients: 4, log: log.log)
    for number in 0..<4 { register(bench, "c\(number)") }
    bench.adopt(withoutRule)
    bench.settle()
    #expect(bench.clientNames.count == 4)
    _ = bench.client("mine", of: Users.me)
    #expect(bench.clientNames.contains("mine") && bench.clientNames.count == 4)
    #expect(log.text.contains("another client needs its slot"))
  }

  @Test("AUT-10: a refused service does not start with a later permission")
  func refused() throws {
    let bench = try Users.bench()
    let name = WireClientName(user: 4_711, name: "late")
    let (control, watch, _) = bench.client("late", of: 4_711)
    #expect(bench.call(.denyClient(name), bench.program()) == .done)
    _ = bench.call(.startVisits, control)
    _ = bench.call(.startSignificantChange, control)
    #expect(bench.call(.allowClient(name, .always), bench.program()) == .done)
    #expect(bench.state.rows.services.all.allSatisfy { !$0.visits && !$0.significantChange })
    _ = watch
  }
}

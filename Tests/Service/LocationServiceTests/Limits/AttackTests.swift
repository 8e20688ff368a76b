import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState
import TestSupport
import Testing

@testable import LocationService

/// Users in the tests of limits, and their actions.
enum Users {
  static let me = geteuid()
  /// This user may use location.
  static let friend: UInt32 = 5_000

  /// One user may use location; the others are undetermined.
  static var policy: AccessPolicy {
    AccessPolicy(
      rules: [
        AccessRule(AccessSubject(uid: friend), AccessRights(authorization: .always), line: 1)
      ], administrators: [me])
  }

  static func bench(
    clients: Int = 64, log: SystemLog = SystemLog(threshold: .critical),
    subordinates: String = ""
  ) throws -> ServiceBench {
    try ServiceBench(policy, clients: clients, log: log) {
      $0.subordinates = SubordinateFile(SubordinateUsers(text: subordinates) { _ in nil })
    }
  }

  /// For each user, a number of programs start visits and end.
  static func requestVisits(_ bench: ServiceBench, users: Range<UInt32>, programs: Int) {
    for user in users {
      for number in 0..<programs {
        let (control, watch, _) = bench.client("\(user)-\(number)", of: 6_000 + user)
        _ = bench.call(.startVisits, control)
        control.quit()
        watch.quit()
        bench.settle()
      }
    }
  }
}

@Suite("Users without permission cannot displace permitted clients")
struct AttackTests {
  // MARK: Client rows

  @Test("RES-1: of a user's clients without permission the last 4 that connected are known")
  func rowsOfAUser() throws {
    let bench = try Users.bench()
    for number in 0..<6 {
      let (control, watch, _) = bench.client("n\(number)", of: 4_711)
      control.quit()
      watch.quit()
      bench.pass(60)
    }
    #expect(bench.clientNames.sorted() == ["n2", "n3", "n4", "n5"])
    // A client that reconnects is not the next to be dropped.
    bench.client("n2", of: 4_711).control.quit()
    bench.pass(60)
    _ = bench.client("n6", of: 4_711)
    #expect(bench.clientNames.sorted() == ["n2", "n4", "n5", "n6"])
  }

  @Test("RES-1: a user with 4 running clients without permission gets no fifth")
  func runningRows() throws {
    let bench = try Users.bench()
    let running = (0..<4).map { bench.client("n\($0)", of: 4_711) }
    let refusal = WireError.limitExceeded(what: "clients of a user", limit: 4)
    #expect(bench.call(.connect(name: "n4"), bench.program(of: 4_711)) == .error(refusal))
    #expect(running.allSatisfy { !$0.watch.isClosed })
  }

  @Test("RES-1: at most 32 clients without permission; the user with most loses the oldest")
  func rowsOfAll() throws {
    let bench = try Users.bench()
    var running: [Program] = []
    for user in 0..<8 as Range<UInt32> {
      for number in 0..<4 {
        let client = bench.client("u\(user)-\(number)", of: 6_000 + user)
        running += [client.control, client.watch]
        bench.pass(60)
      }
    }
    #expect(bench.clientNames.count == 32)
    // All run; a user without a client still gets a slot, from the user with most clients.
    let victim = bench.client("victim", of: 7_000)
    running += [victim.control, victim.watch]
    #expect(bench.clientNames.count == 32)
    #expect(bench.clientNames.contains("victim") && !bench.clientNames.contains("u0-0"))
    let refusal = WireError.limitExceeded(what: "clients without permission", limit: 32)
    #expect(bench.call(.connect(name: "u0-0"), bench.program(of: 6_000)) == .error(refusal))
    #expect(bench.clientNames.contains("victim"))
    #expect(bench.clientNames.count == 32)
    _ = running[0].frames()
    #expect(running[0].isClosed)
  }

  @Test("RES-1: a client with permission is never displaced and always gets a slot")
  func permittedRows() throws {
    let bench = try Users.bench(clients: 40)
    let permitted = bench.client("mine", of: Users.friend)
    permitted.control.quit()
    bench.pass(3_600)
    Users.requestVisits(bench, users: 0..<64, programs: 4)
    #expect(bench.clientNames.count <= 33 && bench.clientNames.contains("mine"))
    for number in 0..<7 { _ = bench.client("mine \(number)", of: Users.friend) }
    #expect(bench.clientNames.filter { $0.hasPrefix("mine") }.count == 8)
  }

  @Test("RES-3: the subordinate ids of a login user count as that user")
  func subordinates() throws {
    let bench = try Users.bench(subordinates: "4711:100000:65536\n")
    for number in 0..<64 as Range<UInt32> {
      bench.client("n\(number)", of: 100_000 + number).control.quit()
      bench.pass(2)
    }
    #expect(bench.clientNames.count == 4)
    let connections = (0..<80 as Range<UInt32>).compactMap {
      bench.admittedProgram(of: 100_000 + $0)
    }
    #expect(connections.count <= 64)
    #expect(bench.admittedProgram(of: 4_711) == nil)
    #expect(bench.admittedProgram(of: 4_712) != nil)
  }

  @Test("RES-2: only a decision about a client without permission is stored on disk")
  func notDurable() throws {
    let bench = try Users.bench()
    let (control, _, _) = bench.client("stranger", of: 4_711)
    let before = bench.state.statistics.transactions
    #expect(bench.call(.startVisits, control) == .done)
    #expect(bench.call(.addRegion(.home(), assuming: .unknown), control) == .done)
    bench.save()
    #expect(bench.state.statistics.transactions == before)
    let next = try ServiceBench(Users.policy, after: bench.killed())
    #expect(next.state.rows.clients.count == 0 && next.state.rows.regions.count == 0)
    #expect(next.state.rows.services.count == 0)
    // Its services are stored from the time the client is allowed.
    let name = WireClientName(user: 4_711, name: "stranger")
    #expect(bench.call(.allowClient(name, .always), bench.program()) == .done)
    let allowed = try ServiceBench(Users.policy, after: bench.killed())
    #expect(allowed.state.rows.services.all.first?.visits == true)
    #expect(allowed.state.rows.regions.all.first?.name == "home")
    // They are removed when the client is denied.
    #expect(bench.call(.denyClient(name), bench.program()) == .done)
    let denied = try ServiceBench(Users.policy, after: bench.killed())
    #expect(denied.state.rows.clients.all.first?.decision == .denied)
    #expect(denied.state.rows.services.count == 0 && denied.state.rows.regions.count == 0)
    #expect(denied.state.rows.cursors.count == 0 && denied.clientNames.isEmpty)
    guard case .clients(let clients)? = denied.call(.listClients, denied.program()) else {
      Issue.record("no list")
      return
    }
    #expect(clients.map(\.authorization) == [.denied] && clients.map(\.name) == [name])
    // The administrator can change the decision without the client connected.
    #expect(denied.call(.allowClient(name, .always), denied.program()) == .done)
    let (again, watch, _) = denied.client("stranger", of: 4_711)
    _ = denied.call(.startUpdating, again)
    denied.fix()
    #expect(watch.fixes().count == 1)
  }

  @Test("RES-2: a denied client stays denied when it connects again")
  func decisionsStay() throws {
    let bench = try Users.bench()
    let name = WireClientName(user: 4_711, name: "bad")
    bench.client("bad", of: 4_711).control.quit()
    bench.settle()
    #expect(bench.call(.denyClient(name), bench.program()) == .done)
    for number in 0..<8 {
      bench.client("n\(number)", of: 4_711).control.quit()
      bench.pass(60)
    }
    #expect(!bench.clientNames.contains("bad"))
    _ = bench.client("bad", of: 4_711)
    #expect(
      bench.loop.clients.clients.slots.first { $0.name == name }?.access.authorization == .denied)
  }

  @Test("RES-2: 256 hostile names are removed after the attack, and other decisions stay")
  func hostileNames() throws {
    let open = AccessPolicy(
      defaultRights: AccessRights(authorization: .always), administrators: [Users.me])
    let bench = try ServiceBench(open, clients: 256)
    Users.requestVisits(bench, users: 0..<31, programs: 8)
    #expect(bench.clientNames.count == 248)
    bench.adopt(Users.policy)
    bench.settle()
    #expect(bench.clientNames.count == 248, "requests are kept until a restart")
    // The hostile names do not exclude other clients.
    for number in 0..<8 { _ = bench.client("c\(number)", of: Users.friend) }
    for user in 0..<8 as Range<UInt32> { bench.client("n", of: 9_000 + user).control.quit() }
    bench.settle()
    #expect(bench.clientNames.count <= 256)
    #expect((0..<8).allSatisfy { bench.clientNames.contains("c\($0)") })
    #expect(
      bench.clientNames.contains("n"),
      "clients that never had permission displace each other first")
    bench.save()
    let next = try ServiceBench(Users.policy, after: bench.killed(), clients: 256)
    #expect(next.clientNames.allSatisfy { $0.hasPrefix("c") })
    #expect(next.state.rows.clients.count == next.clientNames.count)
  }

  @Test("RES-2: an administrator removes a client and its decision, connected or not")
  func forget() throws {
    let bench = try Users.bench()
    let name = WireClientName(user: Users.friend, name: "tracker")
    let (control, watch, _) = bench.client("tracker", of: Users.friend)
    _ = bench.call(.addRegion(.home(), assuming: .unknown), control)
    #expect(bench.call(.forgetClient(name), control) == .error(.permissionDenied))
    #expect(bench.call(.forgetClient(name), bench.program()) == .done)
    _ = (control.frames(), watch.frames())
    #expect(control.isClosed && watch.isClosed && bench.clientNames.isEmpty)
    #expect(bench.state.rows.clients.count == 0 && bench.state.rows.regions.count == 0)
    #expect(bench.call(.forgetClient(name), bench.program()) == .error(.unknownClient(name)))
    // Its slot is free for another client.
    let (other, listener, _) = bench.client("other", of: Users.friend)
    _ = bench.call(.startUpdating, other)
    bench.fix()
    #expect(listener.fixes().count == 1)
    // A decision about a client that is not connected is removed, too.
    let denied = WireClientName(user: 4_711, name: "bad")
    bench.client("bad", of: 4_711).control.quit()
    bench.settle()
    #expect(bench.call(.denyClient(denied), bench.program()) == .done)
    let next = try ServiceBench(Users.policy, after: bench.killed())
    #expect(next.call(.forgetClient(denied), next.program()) == .done)
    #expect(next.state.client(uid: 4_711, name: "bad") == nil)
  }
}

import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LocationService

@Suite("Accounting by user")
struct UserTests {
  private func bench(_ folder: TestFolder) throws -> ServiceBench {
    try ServiceBench(Users.policy, clients: 64) {
      $0.subordinates = SubordinateFile(path: folder.path + "/subuid")
    }
  }

  @Test("RES-3: subordinate ids that are assigned later count as their user's from then on")
  func laterIDs() throws {
    let folder = TestFolder()
    let bench = try bench(folder)
    let before = (0..<8 as Range<UInt32>).map { bench.client("n", of: 100_000 + $0) }
    #expect(bench.clientNames.count == 8)
    folder.write(Array("4711:100000:65536\n".utf8), to: "subuid")
    bench.pass(2)
    _ = bench.program(of: 4_712)
    #expect(bench.clientNames.count == ClientRegistry.unpermittedClientsPerUser)
    let connections = (0..<80 as Range<UInt32>).compactMap {
      bench.admittedProgram(of: 100_100 + $0)
    }
    #expect(connections.count <= 64)
    #expect(bench.admittedProgram(of: 4_711) == nil)
    _ = before
  }

  @Test("RES-3: the file is checked when a program connects, at most once a second")
  func checked() throws {
    let folder = TestFolder()
    folder.write(Array("4711:100000:10\n".utf8), to: "subuid")
    let bench = try bench(folder)
    func login() -> UInt32 { bench.loop.clients.permissions.account(of: 100_000) }
    _ = bench.program(of: 1)
    folder.write(Array("4712:100000:10\n".utf8), to: "subuid")
    _ = bench.program(of: 1)
    #expect(login() == 4_711)
    bench.pass(5)
    #expect(login() == 4_711, "time alone changes nothing")
    #expect(bench.connectionDeadline > bench.stage.now)
    _ = bench.program(of: 1)
    #expect(login() == 4_712)
    // Reloading the policy checks the file, too.
    folder.write(Array("".utf8), to: "subuid")
    bench.adopt(Users.policy)
    #expect(login() == 100_000)
  }

  @Test("RES-3: a changed file is read in the next turn, not while accepting a connection")
  func notWhileAccepting() throws {
    let folder = TestFolder()
    folder.write(Array("4711:100000:10\n".utf8), to: "subuid")
    let bench = try bench(folder)
    folder.write(Array("4712:100000:10\n".utf8), to: "subuid")
    bench.pass(2)
    let program = Program(bench.path)
    let before = bench.loop.clients.connections.slots.count
    bench.loop.clients.advance(to: bench.stage.now)
    bench.loop.clients.acceptAll()
    #expect(bench.loop.clients.connections.slots.count == before + 1)
    #expect(bench.loop.clients.permissions.account(of: 100_000) == 4_711)
    bench.loop.poll()
    #expect(bench.loop.clients.permissions.account(of: 100_000) == 4_712)
    _ = program
  }

  @Test("RES-3: connecting stays cheap with many clients and connections")
  func manyConnections() throws {
    var lines = ""
    for number in 0..<1_024 { lines += "\(20_000 + number):\(1_000_000 + 65_536 * number):65536\n" }
    // A rule permits each client by name.
    let rules = (0..<8).map { number in
      AccessRule(AccessSubject(client: "c\(number)"), AccessRights(authorization: .always), line: 1)
    }
    let bench = try ServiceBench(
      AccessPolicy(rules: rules, administrators: [Users.me]), clients: 256
    ) {
      $0.subordinates = SubordinateFile(SubordinateUsers(text: lines) { _ in nil })
    }
    func subordinate(_ number: UInt32) -> UInt32 { 1_000_000 + 65_536 * number }
    for user in 0..<30 as Range<UInt32> {
      for number in 0..<8 {
        bench.client("c\(number)", of: subordinate(1_000 - user)).control.quit()
      }
    }
    var programs: [Program] = []
    for user in 0..<250 as Range<UInt32> { programs.append(bench.program(of: subordinate(user))) }
    #expect(bench.connectionCounts.values.reduce(0, +) >= 250)
    let clock = ContinuousClock()
    // The fastest of twenty: other programs delay the others.
    let times = (0..<20).map { _ in
      clock.measure {
        bench.loop.clients.updateStandings()
        _ = bench.program(of: subordinate(900))
      }
    }
    let fastest = try #require(times.min())
    #expect(fastest < .milliseconds(20), "\(fastest)")
    _ = programs
  }
}

import Glibc
import LocationTypes
import LocationWire
import TestSupport
import Testing
import TextFormats

@testable import LocationService

@Suite("Behaviour at the limits")
struct LimitEdgeTests {
  @Test("RES-5: oneway calls, also refused ones, leave no output reserved and no work pending")
  func refusedOneway() throws {
    let bench = try Users.bench()
    let program = bench.program(of: 4_711)
    let refused = Array("{\"method\":\"org.torpor.Location.Watch\",\"oneway\":true}".utf8) + [0]
    program.send((0..<40).flatMap { _ in refused })
    bench.settle()
    #expect(bench.loop.clients.connections.pausedCount == 0)
    #expect(bench.connectionDeadline > bench.stage.now, "no repeated wakes")
    guard case .info? = bench.call(.getInfo, program) else {
      Issue.record("its next call is handled")
      return
    }
  }

  @Test("RES-5: calls handled after a pause reach the engine before they are answered")
  func resumed() throws {
    let bench = try Users.bench()
    let program = bench.program(of: 4_711)
    // The replies to these use up the output; the other calls wait for the next turn.
    for _ in 0..<36 { program.send(.getInfo) }
    program.send(.connect(name: "tool"))
    program.send(.addRegion(.home(), assuming: .unknown))
    program.send(.listRegions)
    bench.settle()
    guard case .regions(let regions)? = program.receive(.listRegions).last?.reply else {
      Issue.record("no list")
      return
    }
    #expect(regions.map(\.region.name) == ["home"])
  }

  @Test("RES-5: output reserved for replies that are never sent is free in the next turn")
  func unansweredCapacity() throws {
    let bench = try Users.bench()
    let program = bench.program(of: 4_711)
    _ = bench.call(.getInfo, program)
    let found = bench.loop.clients.connections.slots.first { $0?.peer.user == 4_711 }
    let connection = try #require(found ?? nil)
    connection.reserveAnswer(Connection.unpermittedHighWater)
    program.send(.getInfo)
    bench.settle()
    #expect(program.receive(.getInfo).count == 1, "the reservation ends with the turn")
  }

  @Test("RES-5: the refusal of a call that closes its connection is not sent on another one")
  func refusedAndClosed() throws {
    let bench = try Users.bench()
    let heavy = bench.program(of: 4_711)
    let light = bench.program(of: 4_711)
    for program in [heavy, light] { _ = bench.call(.getInfo, program) }
    let indices = bench.loop.clients.connections.indices.filter {
      bench.loop.clients.connections[$0]?.peer.user == 4_711
    }
    #expect(indices.count == 2)
    // All of the user's output is used, so the next call must close its connection.
    bench.loop.clients.connections[indices[0]]?.setPurpose(.watch(client: 0))
    bench.loop.clients.connections[indices[0]]?.reserveAnswer(200_000)
    light.send(Array("{\"method\":\"org.torpor.Location.Watch\"}".utf8) + [0])
    let next = Program(bench.path)
    bench.settle()
    _ = light.frames()
    #expect(light.isClosed)
    #expect(next.frames().isEmpty && !next.isClosed)
    guard case .info? = bench.call(.getInfo, next) else {
      Issue.record("its call is answered")
      return
    }
    _ = heavy
  }

  @Test("RES-4: a pipelining client with a partial call is not closed while complete calls arrive")
  func busyPipeline() throws {
    let bench = try Users.bench()
    let program = bench.program()
    var json = JSONOutput()
    CallEncoder.encode(.getInfo, to: &json)
    let call = json.bytes
    program.send(Array(call.prefix(5)))
    bench.settle()
    for second in 0..<30 {
      program.send(Array(call.dropFirst(5) + call.prefix(5)))
      bench.settle()
      #expect(program.receive(.getInfo).count == 1, "after \(second) s")
      bench.pass(1)
    }
    #expect(!program.isClosed)
    bench.pass(11)
    _ = program.frames()
    #expect(program.isClosed, "an incomplete call times out")
  }

  @Test("RES-3: removing a client revokes its user's permission immediately")
  func removedStanding() throws {
    let bench = try Users.bench()
    let (control, watch, _) = bench.client("mine", of: 4_711)
    let name = WireClientName(user: 4_711, name: "mine")
    #expect(bench.call(.allowClient(name, .always), bench.program()) == .done)
    let other = bench.program(of: 4_711)
    _ = bench.call(.getInfo, other)
    let connection = try #require(
      bench.loop.clients.connections.slots.last { $0?.peer.user == 4_711 } ?? nil)
    #expect(connection.standing == .permitted)
    #expect(bench.call(.forgetClient(name), bench.program()) == .done)
    _ = bench.call(.getInfo, other)
    #expect(connection.standing == .unpermitted)
    _ = (control, watch)
  }

  @Test("RES-1: of an administrator's undetermined clients the last 4 that connected are known")
  func undecidedOfAdministrator() throws {
    let bench = try ServiceBench(AccessPolicy(administrators: [Users.me]), clients: 64)
    for number in 0..<8 {
      let (control, watch, _) = bench.client("n\(number)")
      control.quit()
      watch.quit()
      bench.pass(60)
    }
    #expect(bench.clientNames.sorted() == ["n4", "n5", "n6", "n7"])
    // Clients of other users do not count.
    for user in 0..<40 as Range<UInt32> { bench.client("n", of: 6_000 + user).control.quit() }
    bench.settle()
    #expect(bench.clientNames.count == 4 + ClientRegistry.unpermittedClients)
    // Running programs keep their slots, and one more is refused.
    let programs = (0..<4).map { bench.client("r\($0)") }
    let one = bench.program()
    #expect(
      bench.call(.connect(name: "r4"), one)
        == .error(.limitExceeded(what: "clients of a user", limit: 4)))
    let name = WireClientName(user: Users.me, name: "r0")
    #expect(bench.call(.allowClient(name, .always), bench.program()) == .done)
    #expect(bench.call(.connect(name: "r4"), one) != nil)
    #expect(bench.clientNames.contains("r4"))
    _ = programs
  }

  @Test("RES-3: single connections of many users do not exclude a user with permission")
  func oneEach() throws {
    let permittedUsers = 5_000..<5_005 as Range<UInt32>
    let bench = try ServiceBench(
      AccessPolicy(
        rules: permittedUsers.map {
          AccessRule(AccessSubject(uid: $0), AccessRights(authorization: .always), line: 1)
        }, administrators: [Users.me]))
    var programs: [Program] = []
    for user in 0..<256 as Range<UInt32> { programs.append(bench.program(of: 6_000 + user)) }
    for user in permittedUsers.dropLast() {
      for _ in 0..<60 { programs.append(bench.program(of: user)) }
    }
    #expect(bench.connectionCounts.values.reduce(0, +) == 496)
    #expect(bench.admittedProgram(of: 7_000) == nil, "no permission, no displacement")
    let last = try #require(bench.admittedProgram(of: permittedUsers.last!))
    #expect(bench.connectionCounts.values.reduce(0, +) == 496)
    #expect(bench.connectionCounts.count { $0.key >= 6_000 } == 255)
    _ = (last, programs)
  }

  @Test("RES-4: without free descriptors a user without permission loses even its only connection")
  func onlyDescriptor() throws {
    let bench = try Users.bench()
    let unpermitted = [bench.program(of: 6_000), bench.program(of: 6_001)]
    let accept = bench.listener.accept
    var tries = 0
    bench.listener.accept = {
      tries += 1
      return tries == 1 ? -EMFILE : accept()
    }
    let waiting = Program(bench.path)
    bench.settle()
    guard case .info? = bench.call(.getInfo, waiting) else {
      Issue.record("it is served immediately")
      return
    }
    for program in unpermitted { _ = program.frames() }
    #expect(unpermitted.count { $0.isClosed } == 1)
  }

  @Test(
    "RES-4: after a shortage of descriptors the quotas apply to the connections that fit, for 60 s")
  func shortage() throws {
    let bench = try Users.bench()
    var programs: [Program] = []
    for number in 0..<40 as Range<UInt32> {
      programs.append(bench.program(of: 6_000 + number / 20))
    }
    let accept = bench.listener.accept
    var tries = 0
    bench.listener.accept = {
      tries += 1
      return tries == 1 ? -EMFILE : accept()
    }
    // 39 connections fit, one of them reserved; users without permission get 19, and each of them 4.
    let permitted = try #require(bench.admittedProgram(of: Users.friend))
    #expect(bench.connectionCounts.values.reduce(0, +) == 39)
    #expect(bench.admittedProgram(of: 6_000) == nil, "over the quota of its user")
    let third = try #require(bench.admittedProgram(of: 6_002), "a user with less than others")
    #expect(bench.connectionCounts.values.reduce(0, +) == 39)
    // The silent ones time out.
    bench.pass(11)
    for _ in 0..<4 { programs.append(try #require(bench.admittedProgram(of: 6_000))) }
    #expect(bench.admittedProgram(of: 6_000) == nil)
    bench.pass(50)
    for _ in 0..<5 { programs.append(try #require(bench.admittedProgram(of: 6_000))) }
    _ = (permitted, third, programs)
  }

  @Test("RES-6: pending calls of users without permission never keep the board awake")
  func boardSleeps() throws {
    let bench = try Users.bench()
    let (control, watch, _) = bench.client("flood", of: 4_711)
    for _ in 0..<60 { control.send(.startVisits) }
    bench.settle()
    let now = bench.stage.now
    #expect(bench.loop.clients.connections.pausedCount == 1)
    #expect(bench.connectionDeadline > now && bench.connectionDeadline <= now + .seconds(1))
    #expect(bench.deadline == .distantFuture)
    #expect(bench.events.postponableDeadline == bench.connectionDeadline)
    // The board waits for a permitted user.
    let permitted = bench.client("mine", of: Users.friend)
    for _ in 0..<300 { permitted.control.send(.startVisits) }
    bench.settle()
    #expect(bench.loop.clients.connections.pausedCount == 2)
    #expect(bench.deadline > now && bench.deadline <= now + .seconds(1))
    _ = watch
  }
}

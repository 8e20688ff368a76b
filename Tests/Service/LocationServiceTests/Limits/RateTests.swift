import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LocationService

@Suite("A program cannot use up the rate of permitted clients")
struct RateTests {
  @Test("RES-6: a program without permission does not use the rate of its user's clients")
  func container() throws {
    let bench = try Users.bench(subordinates: "5000:100000:65536\n")
    _ = bench.client("first", of: Users.friend)
    let (container, _, _) = bench.client("c", of: 100_000)
    for _ in 0..<200 { container.send(.startVisits) }
    let open = bench.program(of: 100_000)
    for _ in 0..<100 { open.send(.startVisits) }
    bench.settle()
    #expect(bench.loop.clients.connections.pausedCount == 2)
    let (permitted, _, _) = bench.client("mine", of: Users.friend)
    for number in 0..<20 {
      #expect(bench.call(.addRegion(.home("r\(number)"), assuming: .unknown), permitted) == .done)
    }
    #expect(bench.call(.startVisits, permitted) == .done)
    #expect(bench.deadline == .distantFuture, "the board is not kept awake")
  }

  @Test("RES-6: calls without cost are answered while the rate is used up")
  func free() throws {
    let bench = try Users.bench()
    let flood = bench.client("flood", of: Users.friend)
    let permitted = bench.client("mine", of: Users.friend)
    _ = bench.call(.startUpdating, permitted.control)
    bench.fix()
    let fix = try #require(permitted.watch.fixes().first)
    for _ in 0..<300 { flood.control.send(.startVisits) }
    bench.settle()
    #expect(bench.loop.clients.connections.pausedCount == 1)
    #expect(bench.call(.acknowledge(fix.name), permitted.control) == .done)
    guard case .location? = bench.call(.getLocation, permitted.control) else {
      Issue.record("the location is returned")
      return
    }
    permitted.control.send(.startVisits)
    bench.settle()
    #expect(bench.loop.clients.connections.pausedCount == 2, "a change waits")
    bench.pass(3)
    #expect(!permitted.control.frames().isEmpty)
  }

  @Test("RES-6: a waiting call's charge is computed once, and again after permissions change")
  func heldCharges() throws {
    let bench = try Users.bench()
    let flood = bench.client("flood", of: Users.friend)
    for _ in 0..<300 { flood.control.send(.startVisits) }
    bench.settle()
    let late = bench.program(of: Users.friend)
    late.send(.connect(name: "late"))
    bench.settle()
    let connection = try #require(bench.loop.clients.connections.slots.last ?? nil)
    #expect(connection.held?.call != nil)
    // A recomputed charge differs from this one.
    var charge = try #require(connection.held?.charge)
    let size = charge.answerSize
    charge.answerSize = size + 1
    connection.held?.setCharge(charge)
    for _ in 0..<20 { bench.settle() }
    #expect(connection.held?.charge?.answerSize == size + 1)
    bench.adopt(Users.policy)
    bench.settle()
    #expect(connection.held?.charge?.answerSize == size)
    connection.held?.setCharge(charge)
    // A decision about a client without a slot discards the charge, too.
    bench.loop.clients.connections.discardHeldCharges()
    bench.settle()
    #expect(connection.held?.charge?.answerSize == size)
    bench.pass(60)
    #expect(connection.held == nil)
    #expect(bench.clientNames.contains("late"))
  }

  @Test("RES-6: a waiting refusal is sent with its stored charge")
  func refusalCharge() throws {
    let bench = try Users.bench()
    let flood = bench.client("flood", of: 4_711)
    for _ in 0..<100 { flood.control.send(.startVisits) }
    bench.settle()
    let late = bench.program(of: 4_711)
    late.send(Array("{\"method\":\"org.torpor.Location.Nonsense\"}\0".utf8))
    bench.settle()
    let connection = try #require(bench.loop.clients.connections.slots.last ?? nil)
    guard case .refused? = connection.held?.call else {
      Issue.record("it waits for its user's rate")
      return
    }
    // A call without cost is handled immediately; a recomputed charge would have a cost.
    var charge = try #require(connection.held?.charge)
    charge.cost = 0
    connection.held?.setCharge(charge)
    bench.settle()
    #expect(connection.held == nil)
    #expect(late.frames().count == 1)
  }

  @Test("RES-6: all clients of a user can reconnect immediately after a restart of the service")
  func reconnecting() throws {
    let bench = try Users.bench()
    var programs: [Program] = []
    for number in 0..<8 {
      let (control, watch, _) = bench.client("c\(number)", of: Users.friend)
      programs += [control, watch]
      #expect(bench.call(.startUpdating, control) == .done)
      #expect(bench.call(.startVisits, control) == .done)
      for region in 0..<20 {
        let name = "r\(region)"
        #expect(bench.call(.addRegion(.home(name), assuming: .unknown), control) == .done)
      }
    }
    #expect(programs.count == 16)
  }

  @Test("RES-6: connections of a user whose rate is used up are served in turn")
  func turns() throws {
    let bench = try Users.bench()
    let both = ["a", "b"].map { bench.client($0, of: 4_711).control }
    for _ in 0..<100 { for one in both { one.send(.startVisits) } }
    bench.settle()
    var counts = both.map { $0.frames().count }
    let before = counts
    for _ in 0..<20 {
      bench.pass(1)
      for index in counts.indices { counts[index] += both[index].frames().count }
    }
    for index in counts.indices { #expect(counts[index] - before[index] >= 8, "\(counts)") }
  }
}

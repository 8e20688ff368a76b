import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState
import TestSupport
import Testing

@testable import LocationService

@Suite("The number of stored decisions about clients")
struct DecisionTests {
  /// Adds clients with a decision by a command and without a slot.
  private func decide(
    _ authorization: Authorization, _ count: Int, of user: UInt32, _ bench: ServiceBench
  ) throws {
    for number in 0..<count {
      var row = try #require(
        bench.state.addClient(uid: user, name: "d\(number)", isDurable: false))
      row.decision = authorization
      let isPut = bench.state.rows.clients.put(row)
      #expect(isPut)
    }
  }

  @Test("RES-1: decisions about clients use no capacity of clients that may use location")
  func decisions() throws {
    let bench = try Users.bench()
    try decide(.denied, 4, of: 6_000, bench)
    let remainder = StateTable<ClientRecord>.capacity - bench.state.rows.clients.count
    try decide(.denied, remainder, of: 6_001, bench)
    let one = bench.state.addClient(uid: 1, name: "full")
    #expect(one == nil)
    guard case .connected? = bench.call(.connect(name: "mine"), bench.program(of: Users.friend))
    else {
      Issue.record("a permitted client gets a slot")
      return
    }
    guard case .connected? = bench.call(.connect(name: "tool"), bench.program()) else {
      Issue.record("an administrator gets a slot")
      return
    }
    let stored = bench.state.rows.clients.all.filter { $0.decision == .denied }
    #expect(stored.count == LocationServer.decisionsLimit)
    #expect(stored.count { $0.uid == 6_000 } == 4, "the user with most decisions loses them")
    let names = stored.filter { $0.uid == 6_001 }.compactMap { Int($0.name.dropFirst()) }
    #expect(
      names.min() == remainder - (LocationServer.decisionsLimit - 4), "the oldest goes first")
  }

  @Test("RES-1: a connecting client keeps its stored decision, even if it is the oldest")
  func connecting() throws {
    let bench = try Users.bench()
    try decide(.denied, 600, of: 6_001, bench)
    let (_, watch, _) = bench.client("d0", of: 6_001)
    let client = bench.loop.clients.clients.slots.first { $0.name.name == "d0" }
    #expect(client?.access.authorization == .denied)
    #expect(bench.state.client(uid: 6_001, name: "d0")?.decision == .denied)
    #expect(bench.state.rows.clients.count == LocationServer.decisionsLimit)
    _ = watch
  }

  @Test("RES-1: decisions that permit are kept before those that deny")
  func permissions() throws {
    let bench = try Users.bench()
    try decide(.always, 500, of: 6_000, bench)
    try decide(.denied, 100, of: 6_001, bench)
    bench.client("n", of: 7_000).control.quit()
    bench.settle()
    let stored = bench.state.rows.clients.all
    #expect(stored.count { $0.decision == .always } == 500)
    #expect(stored.count { $0.decision == .denied } == LocationServer.decisionsLimit - 500)
  }
}

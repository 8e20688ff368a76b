import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState
import TestSupport
import Testing

@testable import LocationService

@Suite("How many decisions about clients are kept")
struct DecisionTests {
  /// Puts clients into the table about which a command has decided, and who have no place.
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

  @Test("RES-1: decisions about clients take no place from those that may use location")
  func decisions() throws {
    let bench = try Users.bench()
    try decide(.denied, 4, of: 6_000, bench)
    let rest = StateTable<ClientRecord>.capacity - bench.state.rows.clients.count
    try decide(.denied, rest, of: 6_001, bench)
    let one = bench.state.addClient(uid: 1, name: "full")
    #expect(one == nil)
    guard case .connected? = bench.ask(.connect(name: "mine"), bench.program(of: Users.friend))
    else {
      Issue.record("who may use location has a place")
      return
    }
    guard case .connected? = bench.ask(.connect(name: "tool"), bench.program()) else {
      Issue.record("an administrator has a place")
      return
    }
    let kept = bench.state.rows.clients.all.filter { $0.decision == .denied }
    #expect(kept.count == LocationServer.decisionsLimit)
    #expect(kept.count { $0.uid == 6_000 } == 4, "the user who has the most loses them")
    let names = kept.filter { $0.uid == 6_001 }.compactMap { Int($0.name.dropFirst()) }
    #expect(names.min() == rest - (LocationServer.decisionsLimit - 4), "the oldest first")
  }

  @Test("RES-1: who connects keeps what was decided about it, the oldest of all too")
  func connecting() throws {
    let bench = try Users.bench()
    try decide(.denied, 600, of: 6_001, bench)
    let (_, watch, _) = bench.client("d0", of: 6_001)
    let client = bench.loop.clients.clients.first { $0.name.name == "d0" }
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
    let kept = bench.state.rows.clients.all
    #expect(kept.count { $0.decision == .always } == 500)
    #expect(kept.count { $0.decision == .denied } == LocationServer.decisionsLimit - 500)
  }
}

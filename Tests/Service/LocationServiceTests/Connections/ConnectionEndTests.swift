import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Closing a connection does not affect other connections") struct ConnectionEndTests {
  @Test(
    "RES-6, AUT-2: a Connect from a closed connection does not end the running program's session")
  func deadProgram() throws {
    let bench = try Users.bench()
    let filler = bench.program(of: 4_711)
    let flood = bench.client("flood", of: 4_711)
    for _ in 0..<30 { flood.control.send(.startVisits) }
    bench.settle()
    let exited = bench.program(of: 4_711)
    exited.send(.connect(name: "x"), oneway: true)
    exited.send(.startUpdating, oneway: true)
    exited.quit()
    bench.settle()
    // The next program gets a lower index and is handled first.
    filler.quit()
    bench.settle()
    let live = bench.program(of: 4_711)
    live.send(.connect(name: "x"))
    bench.settle()
    bench.pass(1)
    let reply = live.receive(.connect(name: "x")).first?.reply
    guard case .connected? = reply else {
      Issue.record("it is connected: \(String(describing: reply))")
      return
    }
    bench.pass(40)
    _ = live.frames()
    #expect(!live.isClosed)
    _ = flood
  }

  @Test("the reply to a call that closes its own connection is not sent on the next connection")
  func removesItself() throws {
    let bench = try Users.bench()
    let (control, watch, _) = bench.client("me")
    control.send(.forgetClient(WireClientName(user: Users.me, name: "me")))
    let other = Program(bench.path)
    bench.settle()
    #expect(other.frames().isEmpty)
    _ = watch
  }

  @Test("REG-13: the state of a silenced crossing is not sent after its circle was replaced")
  func replacedCircle() throws {
    var home = WireRegion.home()
    home.notifyOnEntry = false
    home.notifyOnExit = false
    let tracker = try Tracker(.addRegion(home, assuming: .unknown), canIdle: false)
    tracker.bench.fix(at: 100, after: 1)
    tracker.bench.fix(at: 100, after: 21)
    #expect(tracker.words() == [])
    tracker.call(.setExecution(.suspended))
    tracker.bench.fix(at: 0, after: 1)
    tracker.bench.fix(at: 0, after: 21)
    var far = home
    far.center = Coordinate(latitude_e9: 10_000_000_000, longitude_e9: 11)
    tracker.call(.addRegion(far, assuming: .unknown))
    #expect(tracker.words() == [])
  }

  @Test("RES-5: the retained output capacity depends on permission and purpose of the connection")
  func keptCapacity() throws {
    let bench = try Users.bench()
    let (control, watch, _) = bench.client("tool", of: Users.friend)
    let spy = bench.program(of: 4_711)
    bench.settle()
    let capacities = bench.loop.clients.connections.slots.compactMap {
      $0.map { $0.output.text.retainedCapacity }
    }
    #expect(
      capacities.sorted() == [
        Connection.unpermittedKeptCapacity, Connection.plainKeptCapacity,
        Connection.batchKeptCapacity,
      ])
    _ = (control, watch, spy)
  }
}

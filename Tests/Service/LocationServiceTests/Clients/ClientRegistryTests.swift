import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState
import TestSupport
import Testing

@testable import LocationService

@Suite("Slots of clients without a server")
struct ClientRegistryTests {
  /// A registry with the durable rows of its clients.
  private struct Bench {
    let folder = TestFolder()
    let persistence: Persistence
    let permissions = Permissions(Users.policy, SubordinateFile())
    var registry: ClientRegistry

    init(capacity: Int = 64) throws {
      let store = try StateStore(
        path: folder.path + "/state.db", at: UTCTime(microseconds: 0))
      persistence = Persistence(store, ServiceLog(SystemLog(threshold: .critical)))
      registry = ClientRegistry(capacity: capacity)
    }

    func allocation(for user: UInt32, isPermitted: Bool = false) -> ClientRegistry.Allocation {
      registry.allocation(
        for: user, isPermitted: isPermitted, permissions, persistence)
    }

    /// Adds a client without a process.
    mutating func add(_ name: String, of user: UInt32) throws -> Int {
      let name = WireClientName(user: user, name: name)
      let access = permissions.access(of: name)
      let row = try #require(
        persistence.store.addClient(
          uid: user, name: name.name, isDurable: access.authorization.isGranted))
      return registry.add(ServedClient(name, of: user, number: row.id, access))
    }
  }

  @Test("RES-1: a further unpermitted client displaces an idle one of the same user")
  func ownShare() throws {
    var bench = try Bench()
    for number in 0..<4 { _ = try bench.add("c\(number)", of: 4_711) }
    #expect(bench.allocation(for: 4_711) == .displacing(0))
    #expect(bench.allocation(for: 4_712) == .granted)
    for index in 0..<4 { bench.registry[index].connect(control: index, session: 1, at: .boot) }
    #expect(
      bench.allocation(for: 4_711)
        == .refused(.limitExceeded(what: "clients of a user", limit: 4)))
  }

  @Test("RES-1: unpermitted clients of all users together are limited")
  func unpermittedShare() throws {
    var bench = try Bench()
    for user in 0..<8 as Range<UInt32> {
      for number in 0..<4 { _ = try bench.add("c\(number)", of: 6_000 + user) }
    }
    guard case .displacing(let index) = bench.allocation(for: 7_000) else {
      Issue.record("one of the users with four clients loses one")
      return
    }
    #expect(bench.registry[index].name.user >= 6_000)
    #expect(bench.allocation(for: Users.friend, isPermitted: true) == .granted)
    #expect(bench.registry.excess(bench.permissions, bench.persistence) == nil)
    _ = try bench.add("late", of: 7_000)
    #expect(bench.registry.excess(bench.permissions, bench.persistence) != nil)
  }

  @Test("RES-1: a full table has a slot for a permitted client, but none for an unpermitted one")
  func full() throws {
    var bench = try Bench(capacity: 4)
    let unpermitted = try bench.add("a", of: 4_711)
    for user in [5_000, 0, 0] as [UInt32] {
      let index = try bench.add("b\(bench.registry.count)", of: user)
      bench.registry[index].connect(control: index, session: 1, at: .boot)
    }
    #expect(bench.allocation(for: Users.friend, isPermitted: true) == .displacing(unpermitted))
    bench.registry[unpermitted].connect(control: 9, session: 1, at: .boot)
    #expect(
      bench.allocation(for: 4_712) == .refused(.limitExceeded(what: "clients", limit: 4)))
  }

  @Test("RES-2: a vacated slot is used for the next client")
  func vacated() throws {
    var bench = try Bench()
    for name in ["a", "b", "c"] { _ = try bench.add(name, of: Users.friend) }
    bench.registry.vacate(1, bench.permissions.vacantAccess)
    #expect(bench.registry.index(of: WireClientName(user: Users.friend, name: "b")) == nil)
    #expect(bench.registry.permittedAccounts == [Users.friend, Users.friend])
    #expect(try bench.add("d", of: Users.friend) == 1)
    #expect(bench.registry.count == 3)
  }

  @Test("AUT-2: a session belongs to one process, and to its user only")
  func sessions() throws {
    var bench = try Bench()
    let index = try bench.add("a", of: Users.friend)
    let session = bench.registry.newSession()
    #expect(bench.registry.index(of: session, user: Users.friend) == nil)
    bench.registry[index].connect(control: 0, session: session, at: .boot)
    #expect(bench.registry.index(of: session, user: Users.friend) == index)
    #expect(bench.registry.index(of: session, user: 4_711) == nil)
    bench.registry[index].disconnect()
    #expect(bench.registry.index(of: session, user: Users.friend) == nil)
    #expect(bench.registry.index(of: 0, user: Users.friend) == nil)
    #expect(bench.registry.newSession() > session)
  }
}

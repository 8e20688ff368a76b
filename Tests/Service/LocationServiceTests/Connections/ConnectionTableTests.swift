import Glibc
import LinuxHAL
import LocationTypes
import TestSupport
import Testing

@testable import LocationService

@Suite("The table of connections without clients")
struct ConnectionTableTests {
  /// A table with real sockets, whose peers are given by the tests.
  private final class Bench {
    let folder = TestFolder()
    let events: EventWait
    let permissions = Permissions(Users.policy, SubordinateFile())
    var table: ConnectionTable
    private var peers: [Int32] = []
    private var now = Instant.boot

    init() throws {
      events = try EventWait()
      table = try ConnectionTable(Listener(path: folder.path + "/socket"), on: events)
    }

    deinit {
      table.removeAll()
      for peer in peers { Glibc.close(peer) }
    }

    /// Adds a connection of a user, one second after the preceding one. Returns its index.
    @discardableResult
    func connect(_ user: UInt32) -> Int {
      var ends: [Int32] = [-1, -1]
      _ = unsafe socketpair(
        AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends)
      peers.append(ends[1])
      now = now + .seconds(1)
      table.admit(ends[0], Peer(user: user, process: 1), permissions, at: now)
      return table.slots.lastIndex { $0?.descriptor == ends[0] } ?? -1
    }

    func admission(of user: UInt32) -> ConnectionTable.Admission {
      table.admission(of: Peer(user: user, process: 1), permissions, at: .boot)
    }
  }

  @Test("RES-3: a user has a share of the connections, by standing")
  func shares() throws {
    let bench = try Bench()
    for _ in 0..<64 { bench.connect(4_711) }
    #expect(bench.admission(of: 4_711) == .refused)
    #expect(bench.admission(of: 4_712) == .granted)
    for user in 0..<3 as Range<UInt32> { for _ in 0..<64 { bench.connect(6_000 + user) } }
    guard case .displacing(let index) = bench.admission(of: 4_712) else {
      Issue.record("the users with the most connections lose one")
      return
    }
    #expect(bench.table[index]?.standing == .unpermitted)
    #expect(bench.admission(of: Users.friend) == .granted)
  }

  @Test("RES-3: a freed index is used again, and free indices at the end are removed")
  func indices() throws {
    let bench = try Bench()
    let all = (0..<3).map { _ in bench.connect(4_711) }
    #expect(all == [0, 1, 2])
    #expect(bench.table.remove(1, at: .boot)?.peer.user == 4_711)
    #expect(bench.table.remove(1, at: .boot) == nil)
    #expect(bench.connect(4_712) == 1)
    _ = bench.table.remove(2, at: .boot)
    _ = bench.table.remove(1, at: .boot)
    bench.table.trim()
    #expect(bench.table.indices == 0..<1)
  }

  @Test("RES-6: the number of paused connections follows each way out of the pause")
  func pausedCount() throws {
    let bench = try Bench()
    for _ in 0..<4 { bench.connect(4_711) }
    for index in 0..<4 {
      let isRegistered = bench.table.pause(index, holding: HeldInput(nil))
      #expect(isRegistered)
    }
    #expect(bench.table.pausedCount == 4)
    _ = bench.table.pause(0, holding: HeldInput(nil))
    #expect(bench.table.pausedCount == 4, "it was paused before")
    #expect(bench.table.resume(0) != nil && bench.table.resume(0) == nil)
    #expect(bench.table.firstResumed == 1 && bench.table.pausedCount == 3)
    bench.table.end(1)
    bench.table.end(1)
    #expect(bench.table.pausedCount == 2)
    #expect(bench.table.linger(2, at: .boot) && bench.table.pausedCount == 2)
    _ = bench.table.remove(2, at: .boot)
    #expect(bench.table.pausedCount == 1 && bench.table.mayExpire(at: .boot))
  }

  @Test("RES-6: at most four connections of a user linger")
  func lingering() throws {
    let bench = try Bench()
    for index in 0...ConnectionTable.lingeringPerUser {
      bench.connect(4_711)
      _ = bench.table.pause(index, holding: HeldInput(nil))
      let mayLinger = bench.table.linger(index, at: .boot)
      #expect(mayLinger == (index < ConnectionTable.lingeringPerUser))
    }
  }

  @Test("RES-4: accepting is paused for a second, or until a connection is closed")
  func accepting() throws {
    let bench = try Bench()
    bench.connect(4_711)
    #expect(bench.table.updateAccepting(at: .boot) == .distantFuture)
    #expect(bench.table.pauseAccepting(at: .boot) && !bench.table.pauseAccepting(at: .boot))
    let end = Instant.boot + ConnectionTable.acceptPause
    #expect(bench.table.acceptsAt == end)
    #expect(bench.table.updateAccepting(at: .boot) == end)
    #expect(bench.table.updateAccepting(at: end) == .distantFuture)
    #expect(bench.table.acceptsAt == nil)
    _ = bench.table.pauseAccepting(at: end)
    _ = bench.table.remove(0, at: end)
    #expect(bench.table.acceptsAt == nil)
  }

  @Test(
    "RES-5: the output of an unpermitted user is bounded; its least useful connection is closed")
  func output() throws {
    let bench = try Bench()
    let (old, new) = (bench.connect(4_711), bench.connect(4_711))
    #expect(bench.table.overOutputQuota(of: 4_711, bench.permissions) == nil)
    bench.table[old]?.reserveAnswer(70_000)
    bench.table[new]?.reserveAnswer(70_000)
    #expect(bench.table.overOutputQuota(of: 4_711, bench.permissions) == old)
    #expect(bench.table.overOutputQuota(of: 4_712, bench.permissions) == nil)
    bench.table[old]?.clearReservations()
    #expect(bench.table.overOutputQuota(of: 4_711, bench.permissions) == nil)
  }
}

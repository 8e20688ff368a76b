import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing
import TextFormats

@testable import LocationService

@Suite("Misbehaving clients")
struct HostileTests {
  @Test(
    "a malformed call closes its connection and nothing else",
    arguments: ["\0", "{}\0", "nonsense\0", "{\"method\":1}\0", "[[[[[[[[[[[[[[[[[[[[[[[[[[\0"])
  func malformed(_ text: String) throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    let bad = bench.program()
    bad.send(Array(text.utf8))
    bench.settle()
    #expect(bad.frames().isEmpty && bad.isClosed)
    bench.fix()
    #expect(watch.fixes().count == 1)
  }

  @Test("a frame that exceeds the limit closes the connection")
  func oversize() throws {
    let bench = try ServiceBench()
    let bad = bench.program()
    for _ in 0..<8 {
      bad.send([UInt8](repeating: UInt8(ascii: "a"), count: 4_096))
      bench.settle()
    }
    _ = bad.frames()
    #expect(bad.isClosed)
  }

  @Test("a client that sends calls without reading replies does not delay other clients")
  func flood() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    let bad = bench.program()
    var json = JSONOutput()
    for _ in 0..<200 {
      CallEncoder.encode(.getInterfaceDescription("org.torpor.Location"), to: &json)
    }
    var delivered = 0
    for _ in 0..<200 {
      bad.send(json.bytes)
      bench.fix()
      delivered += watch.fixes().count
      #expect(
        bench.loop.clients.connections.slots.compactMap { $0 }.allSatisfy {
          $0.output.text.count <= Connection.outputLimit + WireLimits.replyFrame
        })
    }
    #expect(delivered == 200)
  }

  @Test("BKG-2: delivery to a slow reader pauses, then continues with the fixes in the ring")
  func slow() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("slow")
    _ = bench.call(.startUpdating, control)
    var most = 0
    for _ in 0..<2_000 {
      bench.fix()
      for connection in bench.loop.clients.connections.slots {
        most = max(most, connection?.output.text.count ?? 0)
      }
    }
    #expect(bench.loop.clients.clients[0].isDeliveryPaused)
    #expect(most <= Connection.highWater + 2_048)
    var all: [UInt64] = []
    var lost: UInt64 = 0
    for _ in 0..<8 {
      for notice in watch.notices() {
        if case .fixes(let fixes) = notice { all += fixes.map(\.name.sequence) }
        if case .gap(let gap) = notice { lost += gap.count }
      }
      bench.settle()
    }
    #expect(!bench.loop.clients.clients[0].isDeliveryPaused)
    #expect(all == all.sorted() && all.last == 1_999)
    // RNG-4: the missing fixes were reported as lost.
    #expect(UInt64(all.count) + lost == 2_000)
  }

  @Test("BKG-2, BKG-5: a client without a watching connection queues a bounded number of notices")
  func unwatched() throws {
    let bench = try ServiceBench()
    let control = bench.program()
    _ = bench.call(.connect(name: "unwatched"), control)
    #expect(bench.call(.startUpdating, control) == .done)
    for _ in 0..<20 { bench.fix() }
    #expect(bench.loop.clients.clients[0].notices.noticeCount == 0)
    #expect(bench.loop.clients.clients[0].isDeliveryPaused)
    for _ in 0..<4_000 {
      control.send(.allowDeferred(distance: 1, timeout: 1), oneway: true)
      bench.settle()
      let waiting = bench.loop.clients.clients[0].notices.noticeCount
      #expect(waiting <= NoticeQueue.noticeCapacity)
      if bench.loop.clients.clients[0].control == nil { break }
    }
  }

  @Test("a refused oneway call does not consume another call's reply")
  func oneway() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    control.send(.connect(name: "again"), oneway: true)
    bench.settle()
    let program = bench.program()
    program.send(.getStatus)
    control.send(.connect(name: "again"), oneway: true)
    bench.settle()
    #expect(program.receive(.getStatus).count == 1)
  }

  @Test("RNG-6: a denied client does not receive what it had not read before")
  func unread() throws {
    let bench = try ServiceBench(
      AccessPolicy(
        defaultRights: AccessRights(authorization: .always), administrators: [UInt32(geteuid())]))
    let (control, watch, _) = bench.client("slow")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<2_000 { bench.fix() }
    #expect(bench.loop.clients.clients[0].isDeliveryPaused)
    let name = WireClientName(user: geteuid(), name: "slow")
    #expect(bench.call(.denyClient(name), bench.program()) == .done)
    for _ in 0..<8 { bench.settle() }
    // Bytes in the kernel's buffer are still delivered; those in the service are not.
    let newest = watch.fixes().map(\.name.sequence).max() ?? 0
    #expect(newest < 1_999 && watch.isClosed)
    #expect(
      !bench.loop.clients.clients[0].notices.notices.contains {
        if case .batch = $0 { true } else { false }
      })
  }

  @Test("a call is answered after the client has shut down its sending side")
  func halfClosed() throws {
    let bench = try ServiceBench()
    let program = bench.program()
    program.send(.getStatus)
    shutdown(program.descriptor, Int32(SHUT_WR))
    bench.settle()
    #expect(program.receive(.getStatus).count == 1 && program.isClosed)
  }

  @Test("one user's client names do not use up the slots of all users")
  func names() throws {
    let limit = ClientRegistry.unpermittedClientsPerUser
    let bench = try ServiceBench(clients: limit + 4)
    let greedy = (0..<limit).map { bench.client("client \($0)", of: 4_711) }
    let next = bench.program(of: 4_711)
    #expect(
      bench.call(.connect(name: "one more"), next)
        == .error(.limitExceeded(what: "clients of a user", limit: Int64(limit))))
    #expect(bench.client("tracker", of: 4_712).watch.isClosed == false)
    #expect(bench.client("client 0", of: 4_712).watch.isClosed == false, "names are per user")
    #expect(greedy.allSatisfy { !$0.watch.isClosed })
  }

  @Test("REG-2: names of circles are bounded, and a refused one does not use capacity permanently")
  func regionNames() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    func add(_ name: String) -> WireCall {
      let center = Coordinate(latitude_e9: 1, longitude_e9: 1)
      let region = WireRegion(.condition, name: name, center: center, radius: 100)
      return .addRegion(region, assuming: .unknown)
    }
    for number in 0..<RegionMonitor.capacity {
      #expect(bench.call(add("r\(number)"), control) == .done)
    }
    // All in one read: the engine refuses none before the last call is read.
    let more = RegionNames.capacity - RegionMonitor.capacity
    for number in 0...more { control.send(add("s\(number)")) }
    bench.settle()
    let refusal = WireError.limitExceeded(what: "regions", limit: Int64(RegionNames.capacity))
    let answers = control.receive(add("s")).map(\.reply)
    #expect(answers.dropLast().allSatisfy { $0 == .done } && answers.last == .error(refusal))
    #expect(answers.count == more + 1)
    #expect(watch.notices().count == more, "each failure is reported, by name")
    #expect(bench.call(.requestRegionState(.condition, name: "r0"), control) == .done)
    #expect(
      bench.call(.requestRegionState(.condition, name: "never"), control)
        == .error(.invalidParameter("name")))
    for number in 0..<RegionMonitor.capacity {
      #expect(bench.call(.removeRegion(.condition, name: "r\(number)"), control) == .done)
    }
    #expect(
      bench.firstClient?.regionNames.hasConditions == false, "refused conditions do not count")
    #expect(bench.call(add("s1"), control) == .done)
    #expect(bench.firstClient?.regionNames.hasConditions == true)
  }

  @Test("a long batch is delivered in one turn, without another event")
  func longBatch() throws {
    let bench = try ServiceBench()
    let (control, watch, session) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    watch.quit()
    bench.settle()
    let other = bench.client("other")
    _ = bench.call(.startUpdating, other.control)
    for _ in 0..<30 { bench.fix() }
    let again = bench.program()
    again.send(.watch(session: session))
    _ = bench.loop.turn()
    #expect(again.fixes().count == 30)
  }

  @Test("connections are bounded, and a free slot is reused")
  func many() throws {
    let bench = try ServiceBench()
    var programs: [Program] = []
    for _ in 0..<ConnectionTable.capacity { programs.append(bench.program()) }
    let over = bench.program()
    #expect(bench.call(.getStatus, over) == nil && over.isClosed)
    programs.removeFirst().quit()
    bench.settle()
    guard case .status? = bench.call(.getStatus, bench.program()) else {
      Issue.record("a slot is free again")
      return
    }
  }

  @Test("DEF-11: a client that disconnects within a frame does not affect others")
  func halfOpen() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    control.send(Array("{\"method\":\"org.tor".utf8))
    bench.fix()
    #expect(watch.fixes().count == 1)
    control.quit()
    bench.settle()
    #expect(bench.loop.clients.clients[0].control == nil)
    _ = watch.frames()
    #expect(watch.isClosed)
  }
}

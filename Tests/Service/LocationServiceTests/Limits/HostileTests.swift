import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Clients that do harm")
struct HostileTests {
  @Test(
    "what is no call closes the connection and nothing else",
    arguments: ["\0", "{}\0", "nonsense\0", "{\"method\":1}\0", "[[[[[[[[[[[[[[[[[[[[[[[[[[\0"])
  func malformed(_ text: String) throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    let bad = bench.program()
    bad.send(Array(text.utf8))
    bench.settle()
    #expect(bad.frames().isEmpty && bad.isClosed)
    bench.fix()
    #expect(watch.fixes().count == 1)
  }

  @Test("a frame without an end is cut off at its bound")
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

  @Test("who asks without end and takes no answer is let go, and the others are served meanwhile")
  func flood() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    let bad = bench.program()
    var json = JSONOutput()
    for _ in 0..<200 {
      CallEncoder.encode(.getInterfaceDescription("org.torpor.Location"), to: &json)
    }
    var told = 0
    for _ in 0..<200 {
      bad.send(json.bytes)
      bench.fix()
      told += watch.fixes().count
      #expect(
        bench.loop.clients.connections.compactMap { $0 }.allSatisfy {
          $0.output.count <= Connection.outputLimit + WireLimits.replyFrame
        })
    }
    #expect(told == 200)
  }

  @Test("BKG-2: who does not take its fixes is held back, and gets those that the ring still has")
  func slow() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("slow")
    _ = bench.ask(.startUpdating, control)
    var most = 0
    for _ in 0..<2_000 {
      bench.fix()
      for connection in bench.loop.clients.connections {
        most = max(most, connection?.output.count ?? 0)
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
    // RNG-4: what it did not get was told as lost.
    #expect(UInt64(all.count) + lost == 2_000)
  }

  @Test("BKG-2, BKG-5: who asks and does not listen is told nothing, and is let go in the end")
  func deaf() throws {
    let bench = try ServiceBench()
    let control = bench.program()
    _ = bench.ask(.connect(name: "deaf"), control)
    #expect(bench.ask(.startUpdating, control) == .done)
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

  @Test("a refused call without an answer takes no other call's answer")
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

  @Test("RNG-6: what a client did not read before it was denied, it does not get")
  func untold() throws {
    let bench = try ServiceBench(
      AccessPolicy(
        defaultRights: AccessRights(authorization: .always), administrators: [UInt32(geteuid())]))
    let (control, watch, _) = bench.client("slow")
    _ = bench.ask(.startUpdating, control)
    for _ in 0..<2_000 { bench.fix() }
    #expect(bench.loop.clients.clients[0].isDeliveryPaused)
    let name = WireClientName(user: geteuid(), name: "slow")
    #expect(bench.ask(.denyClient(name), bench.program()) == .done)
    for _ in 0..<8 { bench.settle() }
    // What the kernel had taken is on its way; nothing of what was still here.
    let newest = watch.fixes().map(\.name.sequence).max() ?? 0
    #expect(newest < 1_999 && watch.isClosed)
    #expect(
      !bench.loop.clients.clients[0].notices.notices.contains {
        if case .batch = $0 { true } else { false }
      })
  }

  @Test("who says no more after a call is answered")
  func halfClosed() throws {
    let bench = try ServiceBench()
    let program = bench.program()
    program.send(.getStatus)
    shutdown(program.descriptor, Int32(SHUT_WR))
    bench.settle()
    #expect(program.receive(.getStatus).count == 1 && program.isClosed)
  }

  @Test("one user's names do not take the places of all")
  func names() throws {
    let limit = LocationServer.unpermittedClientsPerUser
    let bench = try ServiceBench(clients: limit + 4)
    let greedy = (0..<limit).map { bench.client("client \($0)", of: 4_711) }
    let next = bench.program(of: 4_711)
    #expect(
      bench.ask(.connect(name: "one more"), next)
        == .error(.limitExceeded(what: "clients of a user", limit: Int64(limit))))
    #expect(bench.client("tracker", of: 4_712).watch.isClosed == false)
    #expect(bench.client("client 0", of: 4_712).watch.isClosed == false, "a name of its own")
    #expect(greedy.allSatisfy { !$0.watch.isClosed })
  }

  @Test("REG-2: names of circles are bounded, and one that is refused takes no place for good")
  func regionNames() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    func add(_ name: String) -> WireCall {
      let center = Coordinate(latitude_e9: 1, longitude_e9: 1)
      let region = WireRegion(.condition, name: name, center: center, radius: 100)
      return .addRegion(region, assuming: .unknown)
    }
    for number in 0..<RegionMonitor.capacity {
      #expect(bench.ask(add("r\(number)"), control) == .done)
    }
    // All in what is read at once: none is refused by the engine before the last is asked for.
    let more = ServedClient.namesLimit - RegionMonitor.capacity
    for number in 0...more { control.send(add("s\(number)")) }
    bench.settle()
    let refusal = WireError.limitExceeded(what: "regions", limit: Int64(ServedClient.namesLimit))
    let answers = control.receive(add("s")).map(\.reply)
    #expect(answers.dropLast().allSatisfy { $0 == .done } && answers.last == .error(refusal))
    #expect(answers.count == more + 1)
    #expect(watch.notices().count == more, "each is told to fail, by its name")
    #expect(bench.ask(.requestRegionState(.condition, name: "r0"), control) == .done)
    #expect(
      bench.ask(.requestRegionState(.condition, name: "never"), control)
        == .error(.invalidParameter("name")))
    for number in 0..<RegionMonitor.capacity {
      #expect(bench.ask(.removeRegion(.condition, name: "r\(number)"), control) == .done)
    }
    #expect(bench.firstClient?.hasConditions == false, "those that were refused count no more")
    #expect(bench.ask(add("s1"), control) == .done)
    #expect(bench.firstClient?.hasConditions == true)
  }

  @Test("a long wait of fixes goes out at once to who reads, without another event")
  func longBatch() throws {
    let bench = try ServiceBench()
    let (control, watch, session) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    watch.quit()
    bench.settle()
    let other = bench.client("other")
    _ = bench.ask(.startUpdating, other.control)
    for _ in 0..<30 { bench.fix() }
    let again = bench.program()
    again.send(.watch(session: session))
    _ = bench.loop.turn()
    #expect(again.fixes().count == 30)
  }

  @Test("connections are bounded, and a place that is free again is used again")
  func many() throws {
    let bench = try ServiceBench()
    var programs: [Program] = []
    for _ in 0..<LocationServer.connectionsLimit { programs.append(bench.program()) }
    let over = bench.program()
    #expect(bench.ask(.getStatus, over) == nil && over.isClosed)
    programs.removeFirst().quit()
    bench.settle()
    guard case .status? = bench.ask(.getStatus, bench.program()) else {
      Issue.record("there is room again")
      return
    }
  }

  @Test("DEF-11: a client that goes in the middle of a frame takes nothing with it")
  func halfOpen() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
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

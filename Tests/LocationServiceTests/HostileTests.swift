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
          $0.output.bytes.count <= Connection.limit + WireLimits.replyFrame
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
        most = max(most, connection?.output.bytes.count ?? 0)
      }
    }
    #expect(bench.loop.clients.clients[0].isHeld)
    #expect(most <= Connection.highWater + 2_048)
    var all: [UInt64] = []
    for _ in 0..<8 {
      all += watch.fixes().map(\.name.sequence)
      bench.settle()
    }
    #expect(!bench.loop.clients.clients[0].isHeld)
    #expect(all == all.sorted() && all.last == 1_999)
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

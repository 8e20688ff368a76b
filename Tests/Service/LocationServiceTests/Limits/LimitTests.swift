import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState
import TestSupport
import Testing
import TextFormats

@testable import LocationService

@Suite("Limits for connections, replies, rates and log lines of users")
struct LimitTests {
  // MARK: Connections

  @Test("RES-3: users without permission cannot use up the connections of other users")
  func connections() throws {
    let bench = try Users.bench()
    var hostile: [Program] = []
    for user in 0..<9 as Range<UInt32> {
      for _ in 0..<64 { hostile.append(bench.program(of: 6_000 + user)) }
    }
    #expect(bench.connectionCounts.values.reduce(0, +) <= 256)
    #expect(bench.admittedProgram(of: Users.me) != nil, "an administrator is served")
    #expect(bench.admittedProgram(of: Users.friend) != nil, "so is a permitted user")
    #expect(bench.admittedProgram(of: 7_000) != nil, "so is a user without connections")
    let counts = bench.connectionCounts.filter { $0.key >= 6_000 && $0.key < 6_009 }.values
    #expect(counts.max()! - counts.min()! <= 2, "\(counts)")
    #expect(!hostile.isEmpty)
  }

  @Test("RES-3: connections are reserved for administrators")
  func reserve() throws {
    let open = AccessPolicy(
      defaultRights: AccessRights(authorization: .always), administrators: [Users.me])
    let bench = try ServiceBench(open)
    var programs: [Program] = []
    for user in 0..<9 as Range<UInt32> {
      for _ in 0..<64 { programs.append(bench.program(of: 6_000 + user)) }
    }
    #expect(bench.connectionCounts.values.reduce(0, +) == 496)
    #expect(bench.admittedProgram(of: 7_000) == nil)
    #expect(bench.admittedProgram(of: Users.me) != nil)
    #expect(!programs.isEmpty)
  }

  @Test("RES-4: a connection without a call within 10 s is closed, one with a call is not")
  func silent() throws {
    let bench = try Users.bench()
    let silent = bench.program(of: 4_711)
    let talking = bench.program(of: 4_711)
    _ = bench.call(.getInfo, talking)
    #expect(bench.connectionDeadline == bench.stage.now + .seconds(10))
    bench.pass(9)
    _ = silent.frames()
    #expect(!silent.isClosed)
    bench.pass(2)
    _ = (silent.frames(), talking.frames())
    #expect(silent.isClosed && !talking.isClosed)
    #expect(bench.connectionDeadline == .distantFuture)
    // An incomplete call times out, too.
    talking.send(Array("{\"method\":".utf8))
    bench.settle()
    bench.pass(11)
    _ = talking.frames()
    #expect(talking.isClosed)
  }

  @Test("RES-4: without free descriptors the service pauses accepting")
  func descriptors() throws {
    let bench = try Users.bench()
    let accept = bench.listener.accept
    var tries = 0
    bench.listener.accept = {
      tries += 1
      return -EMFILE
    }
    let waiting = Program(bench.path)
    for _ in 0..<100 { bench.settle() }
    #expect(tries == 1)
    #expect(bench.connectionDeadline == bench.stage.now + ConnectionTable.acceptPause)
    bench.pass(1)
    #expect(tries == 2)
    bench.listener.accept = accept
    bench.pass(2)
    guard case .info? = bench.call(.getInfo, waiting) else {
      Issue.record("it is served when a descriptor is free")
      return
    }
  }

  @Test(
    "RES-4: a closed connection frees a descriptor, and a waiting program is served immediately")
  func descriptorFreed() throws {
    let bench = try Users.bench()
    let other = bench.program()
    let accept = bench.listener.accept
    bench.listener.accept = { -ENFILE }
    let waiting = Program(bench.path)
    bench.settle()
    bench.listener.accept = accept
    other.quit()
    bench.settle()
    guard case .info? = bench.call(.getInfo, waiting) else {
      Issue.record("it is served when a descriptor is free")
      return
    }
  }

  // MARK: Output

  @Test("RES-5: unread replies are bounded per user and in total")
  func unread() throws {
    let bench = try Users.bench()
    var json = JSONOutput()
    for _ in 0..<32 {
      CallEncoder.encode(.getInterfaceDescription("org.torpor.Location"), to: &json)
    }
    var programs: [Program] = []
    for user in 0..<9 as Range<UInt32> {
      for _ in 0..<28 {
        let program = bench.program(of: 6_000 + user)
        program.send(json.bytes)
        programs.append(program)
        #expect(bench.waitingOutput < 1_200_000)
      }
    }
    for _ in 0..<60 { bench.pass(1) }
    #expect(bench.waitingOutput < 1_200_000)
    guard case .status? = bench.call(.getStatus, bench.program()) else {
      Issue.record("an administrator is served")
      return
    }
    #expect(!programs.isEmpty)
  }

  @Test("RES-5: a client with many pipelined calls is answered as fast as it reads, not closed")
  func pipelined() throws {
    let bench = try ServiceBench(clients: 256)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for number in 0..<200 { bench.client("c\(number)").control.quit() }
    let program = bench.program()
    for _ in 0..<50 { program.send(.listClients) }
    var count = 0
    var most = 0
    for _ in 0..<200 where count < 50 {
      bench.fix()
      most = max(most, bench.waitingOutput)
      count += program.receive(.listClients).count
    }
    #expect(count == 50 && !program.isClosed)
    #expect(most < 2 * Connection.highWater)
    #expect(!watch.fixes().isEmpty)
  }

  // MARK: Rates

  /// 200 changes.
  private var changes: [WireCall] {
    (0..<100).flatMap { number in
      [
        WireCall.addRegion(.home("r\(number)"), assuming: .unknown),
        .removeRegion(.region, name: "r\(number)"),
      ]
    }
  }

  @Test("RES-6: the long-term rate of a user without permission is one change a second")
  func flood() throws {
    let bench = try Users.bench()
    let (control, _, _) = bench.client("flood", of: 4_711)
    let permitted = bench.client("mine", of: Users.friend)
    _ = bench.call(.startUpdating, permitted.control)
    let before = bench.state.statistics.transactions
    var answers = 0
    for _ in 0..<60 {
      control.pour(changes)
      bench.fix()
      answers += control.frames().count
    }
    #expect(answers <= 32 + 61 && answers >= 60)
    #expect(permitted.watch.fixes().count == 60, "other clients receive all of their fixes")
    #expect(bench.state.statistics.transactions - before <= 1)
    #expect(!control.isClosed)
  }

  @Test("RES-6: durable changes of a permitted user are bounded, acknowledgements are not")
  func durableFlood() throws {
    let bench = try Users.bench()
    let (control, watch, _) = bench.client("flood", of: Users.friend)
    _ = bench.call(.startUpdating, control)
    bench.fix()
    let fix = try #require(watch.fixes().first)
    for number in 0..<100 {
      #expect(bench.call(.acknowledge(fix.name), control) == .done, "\(number)")
    }
    let before = bench.state.statistics.transactions
    for _ in 0..<60 {
      // One by one: changes of one turn are written together.
      for _ in 0..<40 {
        control.pour([
          .addRegion(.home("r"), assuming: .unknown), .removeRegion(.region, name: "r"),
        ])
        bench.settle()
      }
      bench.fix()
      _ = control.frames()
    }
    #expect(bench.state.statistics.transactions - before <= 256 + 2 * 61)
    #expect(watch.fixes().count == 60)
  }

  @Test("RES-6: an administrator has no rate limit")
  func administrator() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tool")
    for number in 0..<200 {
      #expect(
        bench.call(.addRegion(.home("r"), assuming: .unknown), control) == .done, "\(number)")
      #expect(bench.call(.removeRegion(.region, name: "r"), control) == .done)
    }
  }

  @Test("RES-7: clients cause at most one log line a second, and omitted lines are counted")
  func logLines() throws {
    let folder = TestFolder()
    let path = folder.path + "/log"
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    let bench = try Users.bench(log: SystemLog(descriptor, journalStream: nil))
    func lines() -> [Substring] {
      String(decoding: folder.read("log"), as: UTF8.self).split(separator: "\n")
    }
    let start = lines().count
    for second in 0..<60 {
      for user in 0..<9 as Range<UInt32> {
        let program = bench.program(of: 6_000 + user)
        _ = bench.call(.connect(name: "n\(second)"), program)
        _ = bench.call(.requestAuthorization(second % 2 == 0 ? .always : .whenInUse), program)
        program.quit()
      }
      bench.pass(1)
    }
    #expect(lines().count - start <= 60)
    bench.pass(60)
    let omitted = lines().compactMap { line -> Int? in
      line.firstMatch(of: /([0-9]+) lines/).flatMap { Int($0.output.1) }
    }
    #expect(omitted.reduce(0, +) + lines().count - start >= 200)
  }
}

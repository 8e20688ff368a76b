import AccessPolicy
import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState
import TestSupport
import Testing

@testable import LocationService

@Suite("Users without permission take nothing from the others")
struct AttackTests {
  private let me = geteuid()
  private let friend: UInt32 = 5_000

  /// One user may use location; the others are not decided about.
  private var policy: AccessPolicy {
    AccessPolicy(
      rules: [
        AccessRule(AccessSubject(uid: friend), AccessTerms(authorization: .always), line: 1)
      ], administrators: [me])
  }

  private func bench(
    clients: Int = 64, log: SystemLog = SystemLog(threshold: .critical),
    subordinates: String = ""
  ) throws -> ServiceBench {
    try ServiceBench(policy, clients: clients, log: log) {
      $0.subordinates = SubordinateUsers(text: subordinates) { _ in nil }
    }
  }

  private func region(_ name: String) -> WireRegion {
    WireRegion(
      .region, name: name, center: Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11),
      radius: 150)
  }

  // MARK: Client rows

  @Test("RES-1: of clients without permission 4 of a user are known, the last that connected")
  func rowsOfAUser() throws {
    let bench = try bench()
    for number in 0..<6 {
      let (control, watch, _) = bench.client("n\(number)", of: 4_711)
      control.quit()
      watch.quit()
      bench.pass(60)
    }
    #expect(bench.clientNames.sorted() == ["n2", "n3", "n4", "n5"])
    // The one that comes back is not the one that goes next.
    bench.client("n2", of: 4_711).control.quit()
    bench.pass(60)
    _ = bench.client("n6", of: 4_711)
    #expect(bench.clientNames.sorted() == ["n2", "n4", "n5", "n6"])
  }

  @Test("RES-1: of a user whose 4 clients all run no fifth is known")
  func runningRows() throws {
    let bench = try bench()
    let running = (0..<4).map { bench.client("n\($0)", of: 4_711) }
    let refusal = WireError.limitExceeded(what: "clients of a user", limit: 4)
    #expect(bench.ask(.connect(name: "n4"), bench.program(of: 4_711)) == .error(refusal))
    #expect(running.allSatisfy { !$0.watch.isClosed })
  }

  @Test("RES-1: 32 without permission of all users; the user who has the most loses the oldest")
  func rowsOfAll() throws {
    let bench = try bench()
    var running: [Program] = []
    for user in 0..<8 as Range<UInt32> {
      for number in 0..<4 {
        let client = bench.client("u\(user)-\(number)", of: 6_000 + user)
        running += [client.control, client.watch]
        bench.pass(60)
      }
    }
    #expect(bench.clientNames.count == 32)
    // All of them run; one that has none gets a place all the same, at the cost of who has most.
    let victim = bench.client("victim", of: 7_000)
    running += [victim.control, victim.watch]
    #expect(bench.clientNames.count == 32)
    #expect(bench.clientNames.contains("victim") && !bench.clientNames.contains("u0-0"))
    let refusal = WireError.limitExceeded(what: "clients without permission", limit: 32)
    #expect(bench.ask(.connect(name: "u0-0"), bench.program(of: 6_000)) == .error(refusal))
    #expect(bench.clientNames.contains("victim"))
    #expect(bench.clientNames.count == 32)
    _ = running[0].frames()
    #expect(running[0].isClosed)
  }

  @Test("RES-1: a client with permission is never displaced, and finds a place at any time")
  func permittedRows() throws {
    let bench = try bench(clients: 40)
    let mine = bench.client("mine", of: friend)
    mine.control.quit()
    bench.pass(3_600)
    for user in 0..<64 as Range<UInt32> {
      for number in 0..<4 {
        let (control, watch, _) = bench.client("\(user)-\(number)", of: 6_000 + user)
        _ = bench.ask(.startVisits, control)
        control.quit()
        watch.quit()
        bench.settle()
      }
    }
    #expect(bench.clientNames.count <= 33 && bench.clientNames.contains("mine"))
    for number in 0..<7 { _ = bench.client("mine \(number)", of: friend) }
    #expect(bench.clientNames.filter { $0.hasPrefix("mine") }.count == 8)
  }

  @Test("RES-3: the subordinate ids of a login user count as that user")
  func subordinates() throws {
    let bench = try bench(subordinates: "4711:100000:65536\n")
    for number in 0..<64 as Range<UInt32> {
      bench.client("n\(number)", of: 100_000 + number).control.quit()
      bench.pass(2)
    }
    #expect(bench.clientNames.count == 4)
    let connections = (0..<80 as Range<UInt32>).compactMap {
      bench.admittedProgram(of: 100_000 + $0)
    }
    #expect(connections.count <= 64)
    #expect(bench.admittedProgram(of: 4_711) == nil)
    #expect(bench.admittedProgram(of: 4_712) != nil)
  }

  @Test("RES-2: of a client without permission nothing is on the disk but a decision")
  func notDurable() throws {
    let bench = try bench()
    let (control, _, _) = bench.client("stranger", of: 4_711)
    let before = bench.state.figures.transactions
    #expect(bench.ask(.startVisits, control) == .done)
    #expect(bench.ask(.addRegion(region("home"), assuming: .unknown), control) == .done)
    bench.keep()
    #expect(bench.state.figures.transactions == before)
    let next = try ServiceBench(policy, after: bench.killed())
    #expect(next.state.rows.clients.count == 0 && next.state.rows.regions.count == 0)
    #expect(next.state.rows.services.count == 0)
    // What was asked for is kept from the moment on in which it is allowed.
    let name = WireClientName(user: 4_711, name: "stranger")
    #expect(bench.ask(.allowClient(name, .always), bench.program()) == .done)
    let allowed = try ServiceBench(policy, after: bench.killed())
    #expect(allowed.state.rows.services.all.first?.visits == true)
    #expect(allowed.state.rows.regions.all.first?.name == "home")
    // And no longer when it is denied.
    #expect(bench.ask(.denyClient(name), bench.program()) == .done)
    let denied = try ServiceBench(policy, after: bench.killed())
    #expect(denied.state.rows.clients.all.first?.decision == .denied)
    #expect(denied.state.rows.services.count == 0 && denied.state.rows.regions.count == 0)
    #expect(denied.state.rows.cursors.count == 0 && denied.clientNames.isEmpty)
    guard case .clients(let known)? = denied.ask(.listClients, denied.program()) else {
      Issue.record("no list")
      return
    }
    #expect(known.map(\.authorization) == [.denied] && known.map(\.name) == [name])
    // Nobody has to connect for the administrator to think better of it.
    #expect(denied.ask(.allowClient(name, .always), denied.program()) == .done)
    let (again, watch, _) = denied.client("stranger", of: 4_711)
    _ = denied.ask(.startUpdating, again)
    denied.fix()
    #expect(watch.fixes().count == 1)
  }

  @Test("RES-2: a client that was denied does not come back as one that is not decided about")
  func decisionsStay() throws {
    let bench = try bench()
    let name = WireClientName(user: 4_711, name: "bad")
    bench.client("bad", of: 4_711).control.quit()
    bench.settle()
    #expect(bench.ask(.denyClient(name), bench.program()) == .done)
    for number in 0..<8 {
      bench.client("n\(number)", of: 4_711).control.quit()
      bench.pass(60)
    }
    #expect(!bench.clientNames.contains("bad"))
    _ = bench.client("bad", of: 4_711)
    #expect(bench.loop.clients.clients.first { $0.name == name }?.access.authorization == .denied)
  }

  @Test(
    "RES-2: 256 hostile names are gone after the attack, and what is decided about others stays")
  func hostileNames() throws {
    let open = AccessPolicy(
      standard: AccessTerms(authorization: .always), administrators: [me])
    let bench = try ServiceBench(open, clients: 256)
    for user in 0..<31 as Range<UInt32> {
      for number in 0..<8 {
        let (control, watch, _) = bench.client("\(user)-\(number)", of: 6_000 + user)
        _ = bench.ask(.startVisits, control)
        control.quit()
        watch.quit()
        bench.settle()
      }
    }
    #expect(bench.clientNames.count == 248)
    bench.adopt(policy)
    bench.settle()
    #expect(bench.clientNames.count <= 32)
    #expect(bench.state.rows.clients.count <= 32)
    bench.keep()
    let next = try ServiceBench(policy, after: bench.killed(), clients: 256)
    #expect(next.clientNames.isEmpty && next.state.rows.clients.count == 0)
  }

  @Test("RES-2: an administrator forgets a client, connected or not, and what was decided about it")
  func forget() throws {
    let bench = try bench()
    let name = WireClientName(user: friend, name: "tracker")
    let (control, watch, _) = bench.client("tracker", of: friend)
    _ = bench.ask(.addRegion(region("home"), assuming: .unknown), control)
    #expect(bench.ask(.forgetClient(name), control) == .error(.permissionDenied))
    #expect(bench.ask(.forgetClient(name), bench.program()) == .done)
    _ = (control.frames(), watch.frames())
    #expect(control.isClosed && watch.isClosed && bench.clientNames.isEmpty)
    #expect(bench.state.rows.clients.count == 0 && bench.state.rows.regions.count == 0)
    #expect(bench.ask(.forgetClient(name), bench.program()) == .error(.unknownClient(name)))
    // Its place is free for another one.
    let (other, listener, _) = bench.client("other", of: friend)
    _ = bench.ask(.startUpdating, other)
    bench.fix()
    #expect(listener.fixes().count == 1)
    // A decision about one that is not there goes, too.
    let denied = WireClientName(user: 4_711, name: "bad")
    bench.client("bad", of: 4_711).control.quit()
    bench.settle()
    #expect(bench.ask(.denyClient(denied), bench.program()) == .done)
    let next = try ServiceBench(policy, after: bench.killed())
    #expect(next.ask(.forgetClient(denied), next.program()) == .done)
    #expect(next.state.client(uid: 4_711, name: "bad") == nil)
  }

  // MARK: Connections

  @Test("RES-3: users without permission never take the connections of the others")
  func connections() throws {
    let bench = try bench()
    var hostile: [Program] = []
    for user in 0..<9 as Range<UInt32> {
      for _ in 0..<64 { hostile.append(bench.program(of: 6_000 + user)) }
    }
    #expect(bench.connectionCounts.values.reduce(0, +) <= 256)
    #expect(bench.admittedProgram(of: me) != nil, "an administrator is served")
    #expect(bench.admittedProgram(of: friend) != nil, "so is who may use location")
    #expect(bench.admittedProgram(of: 7_000) != nil, "and who has nothing yet")
    let counts = bench.connectionCounts.filter { $0.key >= 6_000 && $0.key < 6_009 }.values
    #expect(counts.max()! - counts.min()! <= 2, "\(counts)")
    #expect(!hostile.isEmpty)
  }

  @Test("RES-3: places are left for administrators, whoever may use location")
  func reserve() throws {
    let open = AccessPolicy(
      standard: AccessTerms(authorization: .always), administrators: [me])
    let bench = try ServiceBench(open)
    var programs: [Program] = []
    for user in 0..<9 as Range<UInt32> {
      for _ in 0..<64 { programs.append(bench.program(of: 6_000 + user)) }
    }
    #expect(bench.connectionCounts.values.reduce(0, +) == 496)
    #expect(bench.admittedProgram(of: 7_000) == nil)
    #expect(bench.admittedProgram(of: me) != nil)
    #expect(!programs.isEmpty)
  }

  @Test("RES-4: a connection that makes no call within 10 s is closed, and one that has is not")
  func silent() throws {
    let bench = try bench()
    let silent = bench.program(of: 4_711)
    let talking = bench.program(of: 4_711)
    _ = bench.ask(.getInfo, talking)
    #expect(bench.connectionDeadline == bench.stage.now + .seconds(10))
    bench.pass(9)
    _ = silent.frames()
    #expect(!silent.isClosed)
    bench.pass(2)
    _ = (silent.frames(), talking.frames())
    #expect(silent.isClosed && !talking.isClosed)
    #expect(bench.connectionDeadline == .distantFuture)
    // A call that does not end is not waited for either.
    talking.send(Array("{\"method\":".utf8))
    bench.settle()
    bench.pass(11)
    _ = talking.frames()
    #expect(talking.isClosed)
  }

  @Test("RES-4: where no descriptor is left, connecting is not tried without end")
  func descriptors() throws {
    let bench = try bench()
    let accept = bench.listener.accept
    var tries = 0
    bench.listener.accept = {
      tries += 1
      return -EMFILE
    }
    let waiting = Program(bench.path)
    for _ in 0..<100 { bench.settle() }
    #expect(tries == 1)
    #expect(bench.connectionDeadline == bench.stage.now + LocationServer.acceptPause)
    bench.pass(1)
    #expect(tries == 2)
    bench.listener.accept = accept
    bench.pass(2)
    guard case .info? = bench.ask(.getInfo, waiting) else {
      Issue.record("it is served when there is a descriptor again")
      return
    }
  }

  @Test("RES-4: the end of a connection gives a descriptor back, and at once to who waits")
  func descriptorFreed() throws {
    let bench = try bench()
    let other = bench.program()
    let accept = bench.listener.accept
    bench.listener.accept = { -ENFILE }
    let waiting = Program(bench.path)
    bench.settle()
    bench.listener.accept = accept
    other.quit()
    bench.settle()
    guard case .info? = bench.ask(.getInfo, waiting) else {
      Issue.record("it is served when there is a descriptor again")
      return
    }
  }

  // MARK: Output

  @Test("RES-5: answers that nobody reads are bounded for a user and for all of them")
  func unread() throws {
    let bench = try bench()
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
    guard case .status? = bench.ask(.getStatus, bench.program()) else {
      Issue.record("an administrator is served")
      return
    }
    #expect(!programs.isEmpty)
  }

  @Test("RES-5: who asks much at once is answered as fast as it reads, and not cut off")
  func pipelined() throws {
    let bench = try ServiceBench(clients: 256)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
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

  /// Changes, some hundred of them.
  private var changes: [WireCall] {
    (0..<100).flatMap { number in
      [
        WireCall.addRegion(region("r\(number)"), assuming: .unknown),
        .removeRegion(.region, name: "r\(number)"),
      ]
    }
  }

  @Test("RES-6: a user without permission changes nothing faster than once a second for long")
  func flood() throws {
    let bench = try bench()
    let (control, _, _) = bench.client("flood", of: 4_711)
    let mine = bench.client("mine", of: friend)
    _ = bench.ask(.startUpdating, mine.control)
    let before = bench.state.figures.transactions
    var answers = 0
    for _ in 0..<60 {
      control.pour(changes)
      bench.fix()
      answers += control.frames().count
    }
    #expect(answers <= 32 + 61 && answers >= 60)
    #expect(mine.watch.fixes().count == 60, "the others get all of theirs")
    #expect(bench.state.figures.transactions - before <= 1)
    #expect(!control.isClosed)
  }

  @Test("RES-6: durable changes of a user with permission are bounded, acknowledgements are not")
  func durableFlood() throws {
    let bench = try bench()
    let (control, watch, _) = bench.client("flood", of: friend)
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    let fix = try #require(watch.fixes().first)
    for number in 0..<100 {
      #expect(bench.ask(.acknowledge(fix.name), control) == .done, "\(number)")
    }
    let before = bench.state.figures.transactions
    for _ in 0..<60 {
      // One by one: what comes at once is written at once.
      for _ in 0..<40 {
        control.pour([
          .addRegion(region("r"), assuming: .unknown), .removeRegion(.region, name: "r"),
        ])
        bench.settle()
      }
      bench.fix()
      _ = control.frames()
    }
    #expect(bench.state.figures.transactions - before <= 32 + 2 * 61)
    #expect(watch.fixes().count == 60)
  }

  @Test("RES-6: an administrator is not slowed down")
  func administrator() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tool")
    for number in 0..<200 {
      #expect(bench.ask(.addRegion(region("r"), assuming: .unknown), control) == .done, "\(number)")
      #expect(bench.ask(.removeRegion(.region, name: "r"), control) == .done)
    }
  }

  @Test("RES-7: clients cause at most a line a second in the log, and what is left out is counted")
  func logLines() throws {
    let folder = TestFolder()
    let path = folder.path + "/log"
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    let bench = try bench(log: SystemLog(descriptor, journalStream: nil))
    func lines() -> [Substring] {
      String(decoding: folder.read("log"), as: UTF8.self).split(separator: "\n")
    }
    let start = lines().count
    for second in 0..<60 {
      for user in 0..<9 as Range<UInt32> {
        let program = bench.program(of: 6_000 + user)
        _ = bench.ask(.connect(name: "n\(second)"), program)
        _ = bench.ask(.requestAuthorization(second % 2 == 0 ? .always : .whenInUse), program)
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

  // MARK: What is not told

  @Test("AUT-9: who may not use location learns nothing of fixes, searching or moving")
  func leaks() throws {
    let bench = try bench()
    let mine = bench.client("mine", of: friend)
    _ = bench.ask(.startUpdating, mine.control)
    let (control, watch, _) = bench.client("spy", of: 4_711)
    _ = bench.ask(.addRegion(region("home"), assuming: .unknown), control)
    _ = bench.ask(.startUpdating, control)
    func seen() -> [WireReply?] {
      var all: [WireReply?] = []
      if case .status(var status)? = bench.ask(.getStatus, control) {
        status.now = FixTime(acquired: .boot, utc: nil)
        // The wall clock is everybody's.
        if let receiver = status.receiver {
          status.receiver?.since = FixTime(acquired: receiver.since.acquired, utc: nil)
        }
        all.append(.status(status))
      }
      for call in [WireCall.getEnergy, .getPowerPlan, .getLocation, .listRegions] {
        all.append(bench.ask(call, control))
      }
      let generation = bench.generation
      for sequence in [0, 1, 10, 1_000_000] as [UInt64] {
        let name = FixName(generation: generation, sequence: sequence)
        all.append(bench.ask(.acknowledge(name), control))
      }
      all.append(bench.ask(.requestRegionState(.region, name: "home"), control))
      return all
    }
    bench.talk()
    let searching = seen()
    #expect(searching[1] == .error(.notAuthorized))
    for _ in 0..<5 { bench.fix() }
    #expect(mine.watch.fixes().count == 5)
    let fixed = seen()
    bench.talk()
    for (one, other) in zip(searching, fixed) { #expect(one == other) }
    for (one, other) in zip(searching, seen()) { #expect(one == other) }
    let told = watch.notices().filter {
      switch $0 {
      case .failure(.denied), .region: false
      default: true
      }
    }
    #expect(told.isEmpty, "\(told)")
    guard case .status(let status)? = bench.ask(.getStatus, mine.control) else {
      Issue.record("no status")
      return
    }
    #expect(status.nextSequence == 5 && status.receiver?.heard != nil)
  }

  // MARK: Requests

  @Test(
    "AUT-8: what needs permission asks for it by itself, and the administrator sees it",
    arguments: [
      WireCall.openLive(.default), .openServiceSession(.whenInUse, wantsFullAccuracy: false),
      .openServiceSession(.always, wantsFullAccuracy: false), .openBackgroundSession,
      .addRegion(
        WireRegion(
          .condition, name: "home", center: Coordinate(latitude_e9: 1, longitude_e9: 1),
          radius: 100), assuming: .unknown),
    ])
  func implicit(_ call: WireCall) throws {
    let bench = try bench()
    let (control, watch, _) = bench.client("tracker", of: 4_711)
    func asks() -> [Authorization?] {
      guard case .clients(let clients)? = bench.ask(.listClients, bench.program()) else {
        return []
      }
      return clients.map(\.asks)
    }
    #expect(asks() == [nil])
    _ = bench.ask(call, control)
    let wanted: Authorization =
      call == .openServiceSession(.always, wantsFullAccuracy: false) ? .always : .whenInUse
    #expect(asks() == [wanted])
    // Until it is decided, whether its program runs or not.
    control.quit()
    watch.quit()
    bench.settle()
    #expect(asks() == [wanted])
    let name = WireClientName(user: 4_711, name: "tracker")
    #expect(bench.ask(.denyClient(name), bench.program()) == .done)
    #expect(asks() == [nil])
  }

  @Test("AUT-8, BKG-15: with explicit sessions only a session asks")
  func explicit() throws {
    let bench = try bench()
    let control = bench.program(of: 4_711)
    _ = bench.ask(.connect(name: "tracker", needsExplicitSessions: true), control)
    _ = bench.ask(.openLive(.default), control)
    _ = bench.ask(.openBackgroundSession, control)
    #expect(bench.firstClient?.asks == nil)
    _ = bench.ask(.openServiceSession(.whenInUse, wantsFullAccuracy: false), control)
    #expect(bench.firstClient?.asks == .whenInUse)
  }
}

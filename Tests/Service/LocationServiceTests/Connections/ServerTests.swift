import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Clients on the socket")
struct ServerTests {
  @Test("a client receives each fix, and after its acknowledgement only newer ones (RNG-3)")
  func updates() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    #expect(bench.call(.startUpdating, control) == .done)
    bench.fix()
    bench.fix()
    let first = watch.fixes()
    #expect(first.map(\.name.sequence) == [0, 1])
    let last = try #require(first.last)
    #expect(bench.call(.acknowledge(last.name), control) == .done)
    bench.fix()
    #expect(watch.fixes().map(\.name.sequence) == [2])
    #expect(bench.call(.getLocation, control).map(isLocation) == true)
  }

  private func isLocation(_ reply: WireReply) -> Bool {
    if case .location(.some) = reply { true } else { false }
  }

  @Test("RNG-3: acknowledging a fix that never existed is refused")
  func unknownNames() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    func refusal(_ next: UInt64) -> WireReply {
      .error(.unknownFix(generation: bench.generation, first: 0, next: next))
    }
    let first = FixName(generation: bench.generation, sequence: 0)
    #expect(bench.call(.acknowledge(first), control) == refusal(0))
    _ = bench.call(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().map(\.name) == [first])
    let next = FixName(generation: bench.generation, sequence: 1)
    let later = FixName(generation: bench.generation + 1, sequence: 0)
    let none = FixName(generation: 0, sequence: 0)
    for name in [next, later, none] {
      #expect(bench.call(.acknowledge(name), control) == refusal(1))
    }
    #expect(bench.call(.acknowledge(first), control) == .done)
    control.quit()
    bench.settle()
    let again = try ServiceBench(after: bench.killed())
    let (successor, _, _) = again.client("tracker")
    #expect(again.call(.acknowledge(first), successor) == .done, "known from the ring's file, too")
  }

  @Test("RNG-3: unacknowledged fixes are delivered to the next process with the same name")
  func undelivered() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    let sent = watch.fixes()
    #expect(sent.count == 3)
    _ = bench.call(.acknowledge(sent[0].name), control)
    control.quit()
    bench.settle()
    let (next, listener, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, next)
    #expect(listener.fixes().map(\.name.sequence) == [1, 2])
  }

  @Test("BKG-2, DEF-36: without a watching connection fixes wait and are delivered to the next one")
  func unwatched() throws {
    let bench = try ServiceBench()
    let tracker = bench.clientWithFix("tracker")
    tracker.watch.quit()
    bench.settle()
    // Another client keeps the receiver on.
    let other = bench.client("other")
    _ = bench.call(.startUpdating, other.control)
    for _ in 0..<3 { bench.fix() }
    #expect(other.watch.fixes().count == 3)
    let again = bench.program()
    again.send(.watch(session: tracker.session))
    bench.settle()
    #expect(again.fixes().map(\.name.sequence) == [1, 2, 3])
  }

  @Test("AUT-2: a second connection of a name takes over, and the first is notified")
  func takeOver() throws {
    let bench = try ServiceBench()
    let (control, watch, session) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    let second = bench.client("tracker")
    #expect(second.session != session)
    #expect(watch.notices() == [.takenOver])
    _ = control.frames()
    #expect(control.isClosed && watch.isClosed)
    let late = bench.program()
    #expect(bench.call(.watch(session: session), late) == .error(.unknownSession(session)))
  }

  /// Every client is permitted until a decision denies it.
  private var open: AccessPolicy {
    AccessPolicy(
      defaultRights: AccessRights(authorization: .always), administrators: [UInt32(geteuid())])
  }

  @Test(
    "AUT-2, AUT-3: a denied client gets no fix, no location and a notice; others are unaffected")
  func denied() throws {
    let bench = try ServiceBench(open)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    let other = bench.client("other")
    _ = bench.call(.startUpdating, other.control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    let administrator = bench.program()
    let name = WireClientName(user: geteuid(), name: "tracker")
    #expect(bench.call(.denyClient(name), administrator) == .done)
    bench.fix()
    let notices = watch.notices()
    #expect(notices.contains(.failure(.denied)))
    let others = other.watch.notices()
    #expect(others.count == 2)
    #expect(others.allSatisfy { if case .fixes = $0 { true } else { false } })
    #expect(!notices.contains { if case .fixes = $0 { true } else { false } })
    #expect(bench.call(.getLocation, control) == .error(.notAuthorized))
    let unknown = WireClientName(user: geteuid(), name: "nobody")
    #expect(bench.call(.denyClient(unknown), administrator) == .error(.unknownClient(unknown)))
  }

  @Test("AUT-7: without a file no command decides about root and the service's own user")
  func owners() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    let name = WireClientName(user: geteuid(), name: "tracker")
    #expect(bench.call(.denyClient(name), bench.program()) == .error(.decidedByFile(line: nil)))
    #expect(bench.call(.getLocation, control) == .location(nil), "still permitted")
  }

  @Test("AUT-7: an unknown client receives nothing until an administrator allows it")
  func undetermined() throws {
    let bench = try ServiceBench(AccessPolicy(administrators: [UInt32(geteuid())]))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().isEmpty)
    #expect(bench.call(.getLocation, control) == .error(.notAuthorized))
    let name = WireClientName(user: geteuid(), name: "tracker")
    #expect(bench.call(.allowClient(name, .always), bench.program()) == .done)
    bench.fix()
    #expect(watch.fixes().count == 1)
    let listed = WireClient(name, authorization: .always, isReduced: false, execution: .foreground)
    #expect(bench.call(.listClients, bench.program()) == .clients([listed]))
  }

  @Test("AUT-7: a command does not override a rule of the administrator's file")
  func rules() throws {
    let rule = AccessRule(
      AccessSubject(client: "tracker"), AccessRights(authorization: .denied), line: 3)
    let bench = try ServiceBench(
      AccessPolicy(rules: [rule], administrators: [UInt32(geteuid())]))
    let (control, _, _) = bench.client("tracker")
    let name = WireClientName(user: geteuid(), name: "tracker")
    #expect(
      bench.call(.allowClient(name, .always), bench.program())
        == .error(.decidedByFile(line: rule.line)), "the rule has precedence")
    #expect(bench.call(.getLocation, control) == .error(.notAuthorized))
  }

  @Test("AUT-7: without a file only root and the service's own user are permitted")
  func builtIn() {
    let policy = AccessPolicy.builtIn(owner: 1_000)
    #expect(policy.access(uid: 1_000, client: "any").authorization == .always)
    #expect(policy.access(uid: 0, client: "any").authorization == .always)
    #expect(policy.access(uid: 1_001, client: "any").authorization == .notDetermined)
    #expect(policy.isAdministrator(1_000) && policy.isAdministrator(0))
    #expect(!policy.isAdministrator(1_001))
  }

  @Test("regions keep their client's names, and a client has at most four live iterators")
  func names() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    let center = Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11)
    let region = WireRegion(.region, name: "home", center: center, radius: 200)
    #expect(bench.call(.addRegion(region, assuming: .unknown), control) == .done)
    #expect(bench.call(.requestRegionState(.region, name: "home"), control) == .done)
    for _ in 0..<3 { bench.fix() }
    let inside = WireRegionEvent(.region, name: "home", .determined(.inside))
    #expect(watch.notices().contains(.region(inside)))
    #expect(bench.call(.removeRegion(.region, name: "home"), control) == .done)
    for number in 0..<4 { #expect(bench.call(.openLive(.default), control) == .opened(number)) }
    let refusal = WireError.limitExceeded(what: "live", limit: 4)
    #expect(bench.call(.openLive(.default), control) == .error(refusal))
    #expect(bench.call(.closeLive(1), control) == .done)
    #expect(bench.call(.openLive(.default), control) == .opened(1))
  }

  @Test("status, plan and interface are available without a session; requests need one")
  func withoutSession() throws {
    let bench = try ServiceBench()
    let program = bench.program()
    guard case .status(let status)? = bench.call(.getStatus, program) else {
      Issue.record("no status")
      return
    }
    #expect(status.version == "1.2" && status.board == "a board" && status.clients == 0)
    #expect(status.ringCapacity == ServiceBench.ringCapacity && status.nextSequence == 0)
    guard case .plan? = bench.call(.getPowerPlan, program) else {
      Issue.record("no plan")
      return
    }
    #expect(bench.call(.startUpdating, program) == .error(.notConnected))
    #expect(bench.call(.getLocation, program) == .error(.notConnected))
    #expect(
      bench.call(.getInterfaceDescription("org.torpor.Location"), program)
        == .interfaceDescription(LocationInterface.text))
  }

  @Test("the number of clients is limited, and a known name keeps its slot")
  func full() throws {
    let bench = try ServiceBench()
    let programs = (0..<ServiceBench.clients).map { bench.client("client \($0)") }
    let program = bench.program()
    let refusal = WireError.limitExceeded(what: "clients", limit: Int64(ServiceBench.clients))
    #expect(bench.call(.connect(name: "one more"), program) == .error(refusal))
    programs[2].control.quit()
    bench.settle()
    guard case .connected? = bench.call(.connect(name: "client 2"), program) else {
      Issue.record("it is known")
      return
    }
    #expect(bench.call(.connect(name: "client 3"), program) == .error(.alreadyConnected))
  }
}

import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Clients on the socket")
struct ServerTests {
  @Test("a client hears each fix, and after its acknowledgement only newer ones (RNG-3)")
  func updates() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    #expect(bench.ask(.startUpdating, control) == .done)
    bench.fix()
    bench.fix()
    let first = watch.fixes()
    #expect(first.map(\.name.sequence) == [0, 1])
    let last = try #require(first.last)
    #expect(bench.ask(.acknowledge(last.name), control) == .done)
    bench.fix()
    #expect(watch.fixes().map(\.name.sequence) == [2])
    #expect(bench.ask(.getLocation, control).map(isLocation) == true)
  }

  private func isLocation(_ reply: WireReply) -> Bool {
    if case .location(.some) = reply { true } else { false }
  }

  @Test("RNG-3: what never was cannot be acknowledged, and no answer says it was")
  func unknownNames() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    func refusal(_ next: UInt64) -> WireReply {
      .error(.unknownFix(generation: bench.generation, first: 0, next: next))
    }
    let first = FixName(generation: bench.generation, sequence: 0)
    #expect(bench.ask(.acknowledge(first), control) == refusal(0))
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().map(\.name) == [first])
    let next = FixName(generation: bench.generation, sequence: 1)
    let later = FixName(generation: bench.generation + 1, sequence: 0)
    let none = FixName(generation: 0, sequence: 0)
    for name in [next, later, none] {
      #expect(bench.ask(.acknowledge(name), control) == refusal(1))
    }
    #expect(bench.ask(.acknowledge(first), control) == .done)
    control.quit()
    bench.settle()
    let again = try ServiceBench(after: bench.killed())
    let (heir, _, _) = again.client("tracker")
    #expect(again.ask(.acknowledge(first), heir) == .done, "known from the ring's file, too")
  }

  @Test("RNG-3: what a process did not acknowledge is told to the next one of its name")
  func owed() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    let told = watch.fixes()
    #expect(told.count == 3)
    _ = bench.ask(.acknowledge(told[0].name), control)
    control.quit()
    bench.settle()
    let (next, listener, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, next)
    #expect(listener.fixes().map(\.name.sequence) == [1, 2])
  }

  @Test("BKG-2, DEF-36: without a listener nothing is told, and nothing lost when there is one")
  func held() throws {
    let bench = try ServiceBench()
    let tracker = bench.clientWithFix("tracker")
    tracker.watch.quit()
    bench.settle()
    // Another client keeps the receiver on.
    let other = bench.client("other")
    _ = bench.ask(.startUpdating, other.control)
    for _ in 0..<3 { bench.fix() }
    #expect(other.watch.fixes().count == 3)
    let again = bench.program()
    again.send(.watch(session: tracker.session))
    bench.settle()
    #expect(again.fixes().map(\.name.sequence) == [1, 2, 3])
  }

  @Test("AUT-2: a second connection of a name takes over, and the first is told")
  func takeOver() throws {
    let bench = try ServiceBench()
    let (control, watch, session) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    let second = bench.client("tracker")
    #expect(second.session != session)
    #expect(watch.notices() == [.takenOver])
    _ = control.frames()
    #expect(control.isClosed && watch.isClosed)
    let late = bench.program()
    #expect(bench.ask(.watch(session: session), late) == .error(.unknownSession(session)))
  }

  /// Everybody may, until somebody decides.
  private var open: AccessPolicy {
    AccessPolicy(
      defaultRights: AccessRights(authorization: .always), administrators: [UInt32(geteuid())])
  }

  @Test("AUT-2, AUT-3: who is denied gets no fix and no place, and hears it; nobody else does")
  func denied() throws {
    let bench = try ServiceBench(open)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    let other = bench.client("other")
    _ = bench.ask(.startUpdating, other.control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    let administrator = bench.program()
    let name = WireClientName(user: geteuid(), name: "tracker")
    #expect(bench.ask(.denyClient(name), administrator) == .done)
    bench.fix()
    let notices = watch.notices()
    #expect(notices.contains(.failure(.denied)))
    let others = other.watch.notices()
    #expect(others.count == 2)
    #expect(others.allSatisfy { if case .fixes = $0 { true } else { false } })
    #expect(!notices.contains { if case .fixes = $0 { true } else { false } })
    #expect(bench.ask(.getLocation, control) == .error(.notAuthorized))
    let unknown = WireClientName(user: geteuid(), name: "nobody")
    #expect(bench.ask(.denyClient(unknown), administrator) == .error(.unknownClient(unknown)))
  }

  @Test("AUT-7: without a file nobody decides about root and the service's own user")
  func owners() throws {
    let bench = try ServiceBench()
    let (control, _, _) = bench.client("tracker")
    let name = WireClientName(user: geteuid(), name: "tracker")
    #expect(bench.ask(.denyClient(name), bench.program()) == .error(.decidedByFile(line: nil)))
    #expect(bench.ask(.getLocation, control) == .location(nil), "it may still")
  }

  @Test("AUT-7: a stranger hears nothing until an administrator allows it")
  func stranger() throws {
    let bench = try ServiceBench(AccessPolicy(administrators: [UInt32(geteuid())]))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().isEmpty)
    #expect(bench.ask(.getLocation, control) == .error(.notAuthorized))
    let name = WireClientName(user: geteuid(), name: "tracker")
    #expect(bench.ask(.allowClient(name, .always), bench.program()) == .done)
    bench.fix()
    #expect(watch.fixes().count == 1)
    let told = WireClient(name, authorization: .always, isReduced: false, execution: .foreground)
    #expect(bench.ask(.listClients, bench.program()) == .clients([told]))
  }

  @Test("AUT-7: a rule of the administrator's file stands against any command")
  func rules() throws {
    let rule = AccessRule(
      AccessSubject(client: "tracker"), AccessRights(authorization: .denied), line: 3)
    let bench = try ServiceBench(
      AccessPolicy(rules: [rule], administrators: [UInt32(geteuid())]))
    let (control, _, _) = bench.client("tracker")
    let name = WireClientName(user: geteuid(), name: "tracker")
    #expect(
      bench.ask(.allowClient(name, .always), bench.program())
        == .error(.decidedByFile(line: rule.line)), "the rule stands")
    #expect(bench.ask(.getLocation, control) == .error(.notAuthorized))
  }

  @Test("AUT-7: without a file the service's own user and root may all, others nothing")
  func owned() {
    let policy = AccessPolicy.builtIn(owner: 1_000)
    #expect(policy.access(uid: 1_000, client: "any").authorization == .always)
    #expect(policy.access(uid: 0, client: "any").authorization == .always)
    #expect(policy.access(uid: 1_001, client: "any").authorization == .notDetermined)
    #expect(policy.isAdministrator(1_000) && policy.isAdministrator(0))
    #expect(!policy.isAdministrator(1_001))
  }

  @Test("regions keep their client's names, and iterators of live updates are four at most")
  func names() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    let center = Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11)
    let region = WireRegion(.region, name: "home", center: center, radius: 200)
    #expect(bench.ask(.addRegion(region, assuming: .unknown), control) == .done)
    #expect(bench.ask(.requestRegionState(.region, name: "home"), control) == .done)
    for _ in 0..<3 { bench.fix() }
    let inside = WireRegionEvent(.region, name: "home", .determined(.inside))
    #expect(watch.notices().contains(.region(inside)))
    #expect(bench.ask(.removeRegion(.region, name: "home"), control) == .done)
    for number in 0..<4 { #expect(bench.ask(.openLive(.default), control) == .opened(number)) }
    let refusal = WireError.limitExceeded(what: "live", limit: 4)
    #expect(bench.ask(.openLive(.default), control) == .error(refusal))
    #expect(bench.ask(.closeLive(1), control) == .done)
    #expect(bench.ask(.openLive(.default), control) == .opened(1))
  }

  @Test("status, plan and the interface are told to everybody; requests need a session")
  func asked() throws {
    let bench = try ServiceBench()
    let program = bench.program()
    guard case .status(let status)? = bench.ask(.getStatus, program) else {
      Issue.record("no status")
      return
    }
    #expect(status.version == "1.2" && status.board == "a board" && status.clients == 0)
    #expect(status.ringCapacity == ServiceBench.ringCapacity && status.nextSequence == 0)
    guard case .plan? = bench.ask(.getPowerPlan, program) else {
      Issue.record("no plan")
      return
    }
    #expect(bench.ask(.startUpdating, program) == .error(.notConnected))
    #expect(bench.ask(.getLocation, program) == .error(.notConnected))
    #expect(
      bench.ask(.getInterfaceDescription("org.torpor.Location"), program)
        == .interfaceDescription(LocationInterface.text))
  }

  @Test("there is room for so many clients, and a name that was there before keeps its place")
  func full() throws {
    let bench = try ServiceBench()
    let programs = (0..<ServiceBench.clients).map { bench.client("client \($0)") }
    let program = bench.program()
    let refusal = WireError.limitExceeded(what: "clients", limit: Int64(ServiceBench.clients))
    #expect(bench.ask(.connect(name: "one more"), program) == .error(refusal))
    programs[2].control.quit()
    bench.settle()
    guard case .connected? = bench.ask(.connect(name: "client 2"), program) else {
      Issue.record("it is known")
      return
    }
    #expect(bench.ask(.connect(name: "client 3"), program) == .error(.alreadyConnected))
  }
}

import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("A new policy while clients are there")
struct PolicyTests {
  private func policy(_ terms: AccessRights, for name: String) -> AccessPolicy {
    AccessPolicy(
      defaultRights: AccessRights(authorization: .always),
      rules: [AccessRule(AccessSubject(client: name), terms, line: 3)])
  }

  @Test("a rule may name whom the socket lets connect, and nobody else")
  func names() { #expect(AccessSubject.longestClient == WireLimits.clientName) }

  @Test("AUT-7: a policy without rules is logged, at the start and after a reload")
  func empty() throws {
    let log = LogPipe()
    let bench = try ServiceBench(AccessPolicy(), log: log.log)
    let text = "the policy has no rules; its default applies to every user and client"
    func lines() -> [Substring] { log.text.split(separator: "\n").filter { $0.contains(text) } }
    #expect(lines().count == 1 && lines().allSatisfy { $0.contains("\"ask\"") })
    bench.adopt(policy(AccessRights(authorization: .denied), for: "tracker"))
    #expect(lines().count == 1)
    bench.adopt(AccessPolicy(defaultRights: AccessRights(authorization: .always)))
    #expect(lines().count == 2 && lines().last?.contains("\"always\"") == true)
  }

  @Test(
    "AUT-7: the log of a policy without rules excepts clients with a stored decision",
    arguments: [
      (Authorization.denied, "\"deny\", so clients without a decision by `torpor clients` may not"),
      (
        Authorization.always,
        "\"always\", so clients without a decision by `torpor clients` may use location"
      ),
      (
        Authorization.whenInUse,
        "\"when-in-use\", so clients without a decision by `torpor clients` may use location when"
      ),
    ])
  func emptyWithDecision(_ standard: Authorization, _ text: String) throws {
    let log = LogPipe()
    let bench = try ServiceBench(
      AccessPolicy(
        defaultRights: AccessRights(authorization: standard), administrators: [Users.me]),
      log: log.log)
    let name = WireClientName(user: Users.friend, name: "tracker")
    _ = bench.client("tracker", of: Users.friend)
    // The decision is the opposite of the default, and counts.
    let isDenied = standard == .denied
    let call: WireCall = isDenied ? .allowClient(name, .always) : .denyClient(name)
    #expect(bench.ask(call, bench.program()) == .done)
    #expect(bench.firstClient?.access.authorization == (isDenied ? .always : .denied))
    #expect(log.text.contains(text), "\(log.text)")
  }

  @Test("RNG-6: whoever may no longer is told so at once, and no fix any more")
  func revoked() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    let other = bench.client("other")
    for client in [control, other.control] { _ = bench.ask(.startUpdating, client) }
    bench.fix()
    #expect(watch.fixes().count == 1)
    #expect(other.watch.fixes().count == 1)
    bench.adopt(policy(AccessRights(authorization: .denied), for: "tracker"))
    #expect(watch.notices().contains(.authorization(.denied, isReduced: false)))
    #expect(bench.ask(.getLocation, control) == .error(.notAuthorized))
    bench.fix()
    #expect(watch.fixes().isEmpty)
    #expect(other.watch.fixes().count == 1)
  }

  @Test("RNG-6: a fix that was not told yet is not told to whom a new policy forbids it")
  func untold() throws {
    let bench = try ServiceBench()
    let tracker = bench.clientWithFix("tracker")
    tracker.watch.quit()
    bench.settle()
    let other = bench.client("other")
    _ = bench.ask(.startUpdating, other.control)
    bench.fix()
    bench.adopt(policy(AccessRights(authorization: .denied), for: "tracker"))
    bench.adopt(policy(AccessRights(authorization: .always), for: "tracker"))
    let listener = bench.program()
    listener.send(.watch(session: tracker.session))
    bench.settle()
    #expect(listener.fixes().isEmpty)
    bench.fix()
    #expect(listener.fixes().map(\.name.sequence) == [2])
  }

  @Test("AUT-7: a command's decision goes on to count where the new file leaves it open")
  func decided() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    bench.adopt(AccessPolicy())
    #expect(watch.notices().contains(.authorization(.notDetermined, isReduced: false)))
    let name = WireClientName(user: geteuid(), name: "tracker")
    let admin = bench.program()
    #expect(bench.ask(.allowClient(name, .always), admin) == .done)
    bench.adopt(policy(AccessRights(authorization: .denied), for: "other"))
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().count == 1)
  }

  @Test("a new policy that says the same costs a client nothing")
  func same() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    _ = watch.notices()
    bench.adopt(policy(AccessRights(authorization: .denied), for: "other"))
    #expect(watch.notices().isEmpty)
    bench.fix()
    #expect(watch.fixes().count == 1)
  }
}

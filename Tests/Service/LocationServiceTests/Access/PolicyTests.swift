import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Policy changes with connected clients")
struct PolicyTests {
  private func policy(_ rights: AccessRights, for name: String) -> AccessPolicy {
    AccessPolicy(
      defaultRights: AccessRights(authorization: .always),
      rules: [AccessRule(AccessSubject(client: name), rights, line: 3)])
  }

  @Test("AUT-7: a policy without rules is logged, at the start and after a reload")
  func empty() throws {
    let log = LogPipe()
    let bench = try ServiceBench(AccessPolicy(), log: log.log)
    let text = "the policy has no rules; its default applies to every user and client"
    func lines() -> [Substring] { log.text.split(separator: "\n").filter { $0.contains(text) } }
    let effect =
      "\"ask\", so clients without a decision may not use location before `torpor clients"
    #expect(lines().count == 1 && lines().allSatisfy { $0.contains(effect) })
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
  func emptyWithDecision(_ authorization: Authorization, _ text: String) throws {
    let log = LogPipe()
    let bench = try ServiceBench(
      AccessPolicy(
        defaultRights: AccessRights(authorization: authorization), administrators: [Users.me]),
      log: log.log)
    let name = WireClientName(user: Users.friend, name: "tracker")
    _ = bench.client("tracker", of: Users.friend)
    // The decision is the opposite of the default and has precedence.
    let isDenied = authorization == .denied
    let call: WireCall = isDenied ? .allowClient(name, .always) : .denyClient(name)
    #expect(bench.call(call, bench.program()) == .done)
    #expect(bench.firstClient?.access.authorization == (isDenied ? .always : .denied))
    #expect(log.text.contains(text), "\(log.text)")
  }

  @Test("RNG-6: a client that loses permission is notified immediately and receives no more fixes")
  func revoked() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    let other = bench.client("other")
    for client in [control, other.control] { _ = bench.call(.startUpdating, client) }
    bench.fix()
    #expect(watch.fixes().count == 1)
    #expect(other.watch.fixes().count == 1)
    bench.adopt(policy(AccessRights(authorization: .denied), for: "tracker"))
    #expect(watch.notices().contains(.authorization(.denied, isReduced: false)))
    #expect(bench.call(.getLocation, control) == .error(.notAuthorized))
    bench.fix()
    #expect(watch.fixes().isEmpty)
    #expect(other.watch.fixes().count == 1)
  }

  @Test("RNG-6: an undelivered fix is not delivered to a client that a new policy denies")
  func undelivered() throws {
    let bench = try ServiceBench()
    let tracker = bench.clientWithFix("tracker")
    tracker.watch.quit()
    bench.settle()
    let other = bench.client("other")
    _ = bench.call(.startUpdating, other.control)
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

  @Test("AUT-7: a command's decision stays valid if the new file does not decide")
  func decided() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    bench.adopt(AccessPolicy())
    #expect(watch.notices().contains(.authorization(.notDetermined, isReduced: false)))
    let name = WireClientName(user: geteuid(), name: "tracker")
    let admin = bench.program()
    #expect(bench.call(.allowClient(name, .always), admin) == .done)
    bench.adopt(policy(AccessRights(authorization: .denied), for: "other"))
    _ = bench.call(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().count == 1)
  }

  @Test("a new policy with the same rights does not affect a client")
  func same() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    _ = watch.notices()
    bench.adopt(policy(AccessRights(authorization: .denied), for: "other"))
    #expect(watch.notices().isEmpty)
    bench.fix()
    #expect(watch.fixes().count == 1)
  }
}

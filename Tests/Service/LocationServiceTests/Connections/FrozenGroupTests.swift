import Glibc
import TestSupport
import Testing

@testable import LocationService

@Suite("Programs in control groups", .tags(.process))
struct FrozenGroupTests {
  private var policy: AccessPolicy {
    AccessPolicy(
      rules: [
        AccessRule(
          AccessSubject(client: "tracker"), AccessRights(authorization: .always), line: 1)
      ],
      administrators: [geteuid()])
  }

  @Test(
    "BKG-1: a program in a frozen control group is suspended until it thaws",
    .enabled(if: TestGroup.isPossible, TestGroup.missing))
  func frozen() throws {
    let group = try #require(TestGroup())
    let bench = try ServiceBench(policy)
    let child = try group.child(connectingTo: bench.path)
    bench.settle(until: { bench.firstClient?.watch != nil })
    let client = try #require(bench.firstClient)
    #expect(client.process?.isFrozen == false)
    group.freeze(true)
    // The kernel reports the freeze 10 ms later.
    bench.settle(until: { bench.firstClient?.process?.isFrozen == true })
    let process = try #require(bench.firstClient?.process)
    #expect(process.isFrozen && process.isDeliveryPaused)
    group.freeze(false)
    bench.settle(until: { bench.firstClient?.process?.isFrozen == false })
    #expect(bench.firstClient?.process?.isFrozen == false)
    group.end(child)
  }

  @Test(
    "BKG-1: a removed control group is no longer watched",
    .enabled(if: TestGroup.isPossible, TestGroup.missing))
  func groupRemoved() throws {
    let group = try #require(TestGroup())
    let bench = try ServiceBench(policy)
    let child = try group.child(connectingTo: bench.path)
    bench.settle(until: { bench.firstClient?.watch != nil })
    #expect(bench.watchedPrograms > 0)
    group.release(child)
    bench.settle(until: { bench.watchedPrograms == 0 })
    #expect(bench.watchedPrograms == 0 && bench.firstClient?.control != nil)
    group.end(child)
  }
}

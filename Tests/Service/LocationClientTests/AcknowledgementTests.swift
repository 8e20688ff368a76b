import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LocationClient

@Suite("Acknowledgements of a client program", .tags(.realTime))
struct AcknowledgementTests {
  private func name(_ sequence: UInt64) -> FixName { FixName(generation: 1, sequence: sequence) }
  private func second(_ count: Int64) -> Instant { .boot + .seconds(count) }

  @Test("RNG-8: the immediate policy acknowledges each fix as soon as it is handled, once")
  func immediate() {
    var handled = HandledFixes()
    #expect(handled.deadline(.immediate) == .distantFuture)
    handled.add(name(4), at: second(1))
    #expect(handled.consumeDue(.immediate, at: second(1)) == name(4))
    #expect(handled.consumeDue(.immediate, at: second(2)) == nil)
  }

  @Test("RNG-3: the batched policy acknowledges the newest fix after a number of fixes or a time")
  func batched() {
    let policy = AcknowledgementPolicy.batched(fixes: 3, within: .seconds(10))
    var handled = HandledFixes()
    handled.add(name(1), at: second(1))
    handled.add(name(2), at: second(2))
    #expect(handled.consumeDue(policy, at: second(3)) == nil)
    #expect(handled.deadline(policy) == second(11))
    handled.add(name(3), at: second(3))
    #expect(handled.consumeDue(policy, at: second(3)) == name(3))
    handled.add(name(5), at: second(4))
    // Delivered again: it is older than the newest and changes nothing.
    handled.add(name(4), at: second(5))
    #expect(handled.newest == name(5) && handled.consumeDue(policy, at: second(13)) == nil)
    #expect(handled.consumeDue(policy, at: second(14)) == name(5))
    handled.add(FixName(generation: 2, sequence: 0), at: second(15))
    #expect(
      handled.consumeAll() == FixName(generation: 2, sequence: 0) && handled.consumeAll() == nil)
  }

  @Test(
    "a session sends acknowledgements according to its policy while waiting, and the last as a call"
  )
  func session() throws {
    let wireSession = WireSession(
      session: 7, authorization: .always, isReduced: false, isDeferralAvailable: true)
    let service = FakeService { call in
      switch call {
      case .connect: (FakeService.frame(.connected(wireSession)), false)
      case .acknowledge(let name):
        (name.sequence == 9 ? FakeService.frame(.done) : [], false)
      default: ([], false)
      }
    }
    defer { service.stop() }
    var program = try ClientSession(name: "test", path: service.path)
    try program.acknowledge(name(1))
    program.acknowledgementPolicy = .batched(fixes: 100, within: .milliseconds(20))
    try program.subscribe()
    try program.acknowledge(name(2))
    try program.acknowledge(name(3))
    #expect(try program.nextNotice(within: .milliseconds(5)) == nil)
    #expect(try program.nextNotice(within: .seconds(1)) == nil)
    try program.acknowledge(name(9))
    try program.finishAcknowledging()
    try program.finishAcknowledging()
    let acknowledged = service.calls.compactMap {
      if case .acknowledge(let name) = $0 { name.sequence } else { nil }
    }
    #expect(acknowledged == [1, 3, 9])
  }
}

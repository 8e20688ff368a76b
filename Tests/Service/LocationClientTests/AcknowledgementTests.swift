import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LocationClient

@Suite("A program's acknowledgements", .tags(.realTime))
struct AcknowledgementTests {
  private func name(_ sequence: UInt64) -> FixName { FixName(generation: 1, sequence: sequence) }
  private func second(_ count: Int64) -> Instant { .boot + .seconds(count) }

  @Test("RNG-8: at once, each says that it is handled; nothing is said twice")
  func atOnce() {
    var handled = HandledFixes()
    #expect(handled.deadline(.immediate) == .distantFuture)
    handled.add(name(4), at: second(1))
    #expect(handled.consumeDue(.immediate, at: second(1)) == name(4))
    #expect(handled.consumeDue(.immediate, at: second(2)) == nil)
  }

  @Test("RNG-3: relaxed, one counts for all before it: when there are so many, or after so long")
  func relaxed() {
    let pace = AcknowledgementPolicy.batched(fixes: 3, within: .seconds(10))
    var handled = HandledFixes()
    handled.add(name(1), at: second(1))
    handled.add(name(2), at: second(2))
    #expect(handled.consumeDue(pace, at: second(3)) == nil && handled.deadline(pace) == second(11))
    handled.add(name(3), at: second(3))
    #expect(handled.consumeDue(pace, at: second(3)) == name(3))
    handled.add(name(5), at: second(4))
    // Told once more: it is older, and brings nothing back.
    handled.add(name(4), at: second(5))
    #expect(handled.newest == name(5) && handled.consumeDue(pace, at: second(13)) == nil)
    #expect(handled.consumeDue(pace, at: second(14)) == name(5))
    handled.add(FixName(generation: 2, sequence: 0), at: second(15))
    #expect(
      handled.consumeAll() == FixName(generation: 2, sequence: 0) && handled.consumeAll() == nil)
  }

  @Test("a session says them by its pace, while it waits, and the last with an answer")
  func session() throws {
    let known = WireSession(
      session: 7, authorization: .always, isReduced: false, isDeferralAvailable: true)
    let service = FakeService { call in
      switch call {
      case .connect: (FakeService.frame(.connected(known)), false)
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
    let said = service.calls.compactMap {
      if case .acknowledge(let name) = $0 { name.sequence } else { nil }
    }
    #expect(said == [1, 3, 9])
  }
}

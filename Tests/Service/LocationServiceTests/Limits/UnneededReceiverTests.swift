import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("A receiver that sends without demand")
struct UnneededReceiverTests {
  private func idleBench() throws -> ServiceBench {
    let bench = try ServiceBench()
    bench.loop.ignoresUnneededReceiver = true
    bench.fix()
    return bench
  }

  @Test("without a client the board sleeps with buffered input and without an alarm")
  func noClient() throws {
    let bench = try idleBench()
    bench.settle()
    #expect(bench.stage.wakesOnInput == false)
    #expect(bench.stage.deadline == .distantFuture)
    let (control, watch, _) = bench.client("tracker")
    #expect(bench.stage.wakesOnInput == false)
    _ = bench.call(.startUpdating, control)
    #expect(bench.stage.wakesOnInput)
    _ = bench.call(.stopUpdating, control)
    bench.stage.now = bench.stage.now + .seconds(5)
    bench.settle()
    #expect(bench.stage.wakesOnInput == false)
    #expect(watch.notices().isEmpty)
  }

  @Test("RNG-8: the wait for an acknowledgement ends in time without demand for the receiver")
  func acknowledgementWait() throws {
    let bench = try idleBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    _ = bench.call(.stopUpdating, control)
    #expect(bench.stage.deadline < .distantFuture)
    bench.stage.now = bench.stage.now + .seconds(5)
    bench.settle()
    #expect(bench.stage.deadline == .distantFuture)
  }

  @Test("input without demand is discarded, and its absence is not reported (STD-10)")
  func stale() throws {
    let bench = try idleBench()
    let (control, watch, _) = bench.client("tracker")
    let head = bench.loop.engine.head
    for _ in 0..<100 { bench.fix() }
    #expect(bench.loop.engine.head == head)
    _ = bench.call(.startUpdating, control)
    #expect(watch.notices().isEmpty)
    bench.fix()
    let fixes = watch.fixes()
    #expect(fixes.map(\.name.sequence) == [head])
    #expect(fixes.first.map { bench.stage.now - $0.fix.acquired < .seconds(1) } == true)
  }
}

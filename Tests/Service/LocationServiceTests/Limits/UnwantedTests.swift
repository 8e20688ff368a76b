import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("A receiver that talks while nobody asks")
struct UnwantedTests {
  private func restingBench() throws -> ServiceBench {
    let bench = try ServiceBench()
    bench.loop.ignoresUnneededReceiver = true
    bench.fix()
    return bench
  }

  @Test("without a client the board sleeps, deaf and without an alarm")
  func deaf() throws {
    let bench = try restingBench()
    bench.settle()
    #expect(bench.stage.isHeard == false)
    #expect(bench.stage.deadline == .distantFuture)
    let (control, watch, _) = bench.client("tracker")
    #expect(bench.stage.isHeard == false)
    _ = bench.ask(.startUpdating, control)
    #expect(bench.stage.isHeard)
    _ = bench.ask(.stopUpdating, control)
    bench.stage.now = bench.stage.now + .seconds(5)
    bench.settle()
    #expect(bench.stage.isHeard == false)
    #expect(watch.notices().isEmpty)
  }

  @Test("RNG-8: an awaited acknowledgement's end is waited for, though nobody wants the receiver")
  func held() throws {
    let bench = try restingBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    bench.fix()
    #expect(watch.fixes().count == 1)
    _ = bench.ask(.stopUpdating, control)
    #expect(bench.stage.deadline < .distantFuture)
    bench.stage.now = bench.stage.now + .seconds(5)
    bench.settle()
    #expect(bench.stage.deadline == .distantFuture)
  }

  @Test("what came meanwhile is thrown away, and its silence is no lack of a place (STD-10)")
  func stale() throws {
    let bench = try restingBench()
    let (control, watch, _) = bench.client("tracker")
    let head = bench.loop.engine.head
    for _ in 0..<100 { bench.fix() }
    #expect(bench.loop.engine.head == head)
    _ = bench.ask(.startUpdating, control)
    #expect(watch.notices().isEmpty)
    bench.fix()
    let fixes = watch.fixes()
    #expect(fixes.map(\.name.sequence) == [head])
    #expect(fixes.first.map { bench.stage.now - $0.fix.acquired < .seconds(1) } == true)
  }
}

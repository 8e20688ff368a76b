import LocationRuntime
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Parts of a batch, read from the ring")
struct BatchPartTests {
  private func part(
    _ bench: ServiceBench, from first: UInt64, through last: UInt64
  ) -> (gap: Gap?, fixes: [UInt64], next: UInt64) {
    func read(
      _ loop: inout LocationLoop<SocketBoard, LocationServer>
    ) -> (gap: Gap?, fixes: [UInt64], next: UInt64) {
      let part = Delivery().part(ofBatchFrom: first, through: last, loop.engine)
      return (part.gap, part.fixes.map(\.name.sequence), part.next)
    }
    return read(&bench.loop)
  }

  @Test("RNG-4: overwritten fixes become a gap before the remaining ones")
  func overwritten() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("a")
    _ = bench.call(.startUpdating, control)
    for _ in 0..<100 { bench.fix() }
    let first = UInt64(100 - ServiceBench.ringCapacity)
    let part = part(bench, from: 0, through: 99)
    #expect(part.gap?.range == 0..<first && part.fixes.first == first)
    #expect(part.next == min(100, first + UInt64(WireLimits.fixesPerReply)))
    let rest = self.part(bench, from: 98, through: 99)
    #expect(rest.gap == nil && rest.fixes == [98, 99] && rest.next == 100)
    let lost = self.part(bench, from: 0, through: 3)
    #expect(lost.gap?.range == 0..<4 && lost.fixes == [] && lost.next == 4)
    _ = watch
  }
}

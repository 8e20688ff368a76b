import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Replacing a circle by another one of the same name")
struct ReplacedCircleTests {
  @Test(
    "REG-13: a pending event of a replaced circle is not handled for the new one",
    arguments: [true, false])
  func replacedCircle(_ isOther: Bool) throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    #expect(bench.call(.addRegion(.home(), assuming: .unknown), control) == .done)
    for _ in 0..<80 { bench.fix() }
    let sent = watch.notices().compactMap { notice -> UInt32? in
      guard case .region(_, let number) = notice, number > 0 else { return nil }
      return number
    }
    let number = try #require(sent.last)
    var next = WireRegion.home()
    if isOther { next.radius += 1 }
    #expect(bench.call(.addRegion(next, assuming: .unknown), control) == .done)
    #expect(bench.state.rows.events.count == (isOther ? 0 : sent.count))
    #expect(bench.call(.acknowledgeEvents(number), control) == .done)
    guard case .regions(let regions)? = bench.call(.listRegions, control) else {
      Issue.record("no circles")
      return
    }
    #expect(regions.map { $0.lastEvent == nil } == [isOther])
  }
}

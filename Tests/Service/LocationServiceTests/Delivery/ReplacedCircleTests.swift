import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("A circle that replaces another one of its name")
struct ReplacedCircleTests {
  @Test(
    "REG-13: what waits of a circle is not handled for the one that replaces it",
    arguments: [true, false])
  func replacedCircle(_ isOther: Bool) throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    #expect(bench.ask(.addRegion(.home(), assuming: .unknown), control) == .done)
    for _ in 0..<80 { bench.fix() }
    let told = watch.notices().compactMap { notice -> UInt32? in
      guard case .region(_, let number) = notice, number > 0 else { return nil }
      return number
    }
    let number = try #require(told.last)
    var next = WireRegion.home()
    if isOther { next.radius += 1 }
    #expect(bench.ask(.addRegion(next, assuming: .unknown), control) == .done)
    #expect(bench.state.rows.events.count == (isOther ? 0 : told.count))
    #expect(bench.ask(.acknowledgeEvents(number), control) == .done)
    guard case .regions(let regions)? = bench.ask(.listRegions, control) else {
      Issue.record("no circles")
      return
    }
    #expect(regions.map { $0.lastEvent == nil } == [isOther])
  }
}

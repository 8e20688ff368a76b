import Foundation
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Numbers of events") struct EventNumberTests {
  private static let tracker = WireClientName(user: geteuid(), name: "tracker")

  /// The numbers of the events that a program receives.
  private static func numbers(_ notices: [WireNotice]) -> [UInt32] {
    notices.compactMap { notice in
      guard case .region(_, let number) = notice, number > 0 else { return nil }
      return number
    }
  }

  @Test("REG-13: an event is on the disk before it is sent, so that its number has one meaning")
  func durableBeforeSent() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, control)
    #expect(bench.call(.addRegion(.home(), assuming: .unknown), control) == .done)
    var sent: [WireNotice] = []
    for _ in 0..<80 where Self.numbers(sent).isEmpty {
      bench.fix()
      sent += watch.notices()
    }
    #expect(Self.numbers(sent) == [1])
    let next = try ServiceBench(after: bench.killed())
    let (_, listener, _) = next.client("tracker")
    #expect(Self.numbers(listener.notices()) == [1])
  }

  @Test(
    "REG-13: a client that was forgotten and returns has greater numbers", arguments: [false, true])
  func forgotten(restarts: Bool) throws {
    var bench = try ServiceBench()
    let (first, watch, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, first)
    #expect(bench.call(.addRegion(.home(), assuming: .unknown), first) == .done)
    for _ in 0..<80 { bench.fix() }
    #expect(Self.numbers(watch.notices()) == [1])
    #expect(bench.call(.forgetClient(Self.tracker), bench.program()) == .done)
    if restarts { bench = try ServiceBench(after: bench.killed()) }
    let (second, listener, _) = bench.client("tracker")
    _ = bench.call(.startUpdating, second)
    bench.fix()
    let here = try #require(listener.fixes().last).fix.coordinate
    let region = WireRegion(.region, name: "here", center: here, radius: 150)
    #expect(bench.call(.addRegion(region, assuming: .unknown), second) == .done)
    for _ in 0..<80 { bench.fix() }
    #expect(Self.numbers(listener.notices()) == [2])
  }
}

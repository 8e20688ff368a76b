import LocationTypes
import Testing

@testable import LocationPolicy

/// One of the services, as a client turns it on and off.
enum PairedService: String, CaseIterable {
  case updates, deferral, significant, visits, region, live, request

  static let circle = Region(RegionIdentifier(.region, 1), center: equator, radius: 200)

  var on: [Request] {
    switch self {
    case .updates: [.startUpdating]
    case .deferral: [.startUpdating, .allowDeferred(distance: .infinity, timeout: 3_000)]
    case .significant: [.startSignificantChange]
    case .visits: [.startVisits]
    case .region: [.addRegion(Self.circle, assuming: .unknown)]
    case .live: [.openLive(.default)]
    case .request: [.requestLocation]
    }
  }

  var off: [Request] {
    switch self {
    case .updates, .deferral: [.stopUpdating]
    case .significant: [.stopSignificantChange]
    case .visits: [.stopVisits]
    case .region: [.removeRegion(Self.circle.identifier)]
    case .live: [.closeLive(0), .closeLive(1)]
    case .request: [.stopUpdating]
    }
  }

  /// Whether `other` ends it: a call of one cancels the other.
  func isEnded(by other: PairedService) -> Bool {
    switch (self, other) {
    case (.request, .updates), (.request, .deferral), (.updates, .request), (.deferral, .request),
      (.updates, .deferral), (.deferral, .updates):
      true
    case _: self == other
    }
  }
}

@Suite("Every pair of services")
struct ServicePairTests {
  struct Pair: CustomStringConvertible {
    var first: PairedService
    var second: PairedService
    var description: String { "\(first.rawValue) then \(second.rawValue)" }
  }

  static let pairs = PairedService.allCases.flatMap { first in
    PairedService.allCases.map { Pair(first: first, second: $0) }
  }

  static func bench() -> ClientBench {
    let bench = ClientBench(capacity: 4_096)
    bench.limit = 2_000
    bench.send(.connect, .setExecution(.background))
    return bench
  }

  static func hasDemand(_ bench: ClientBench) -> Bool {
    bench.demand != .none || bench.need().isRequired
  }

  @Test(
    "Each of two services sends its notices, and the demand ends with the last service",
    arguments: pairs)
  func pair(_ pair: Pair) {
    let bench = Self.bench()
    var notices: [NoticeValue] = []
    for request in pair.first.on + pair.second.on { notices += bench.send(request) }
    bench.updateEngagement(true)
    #expect(Self.hasDemand(bench), "a demand exists")
    notices += bench.stay(600)
    for step in 1...60 { notices += bench.stay(10, east: Double(step) * 50) }
    notices += bench.stay(600, east: 3_000)
    notices += bench.wait(3_000)
    let calls = [pair.first, pair.second].filter { $0 == .deferral }.count
    let finishes = notices.filter { if case .finish = $0 { true } else { false } }.count
    #expect(finishes == calls, "DEF-8: one finish per call")
    check(notices, pair)

    for request in pair.first.off { notices += bench.send(request) }
    if !pair.second.isEnded(by: pair.first) && pair.second != .request {
      #expect(Self.hasDemand(bench), "\(pair.second) continues")
    }
    for request in pair.second.off { notices += bench.send(request) }
    notices += bench.notices()
    #expect(!Self.hasDemand(bench), "PWR-1: no demand remains")
    #expect(bench.stay(100, east: 9_000) == [], "no notice follows")
  }

  /// Checks that the two services, and no others, sent their notices.
  private func check(_ notices: [NoticeValue], _ pair: Pair) {
    let services = [pair.first, pair.second]
    let hasUpdates = services.contains(.updates) || services.contains(.deferral)
    let batches = notices.filter { if case .batch = $0 { true } else { false } }.count
    #expect((batches > 0) == hasUpdates, "updates: \(batches) batches")
    let reports = notices.filter { if case .report = $0 { true } else { false } }.count
    let expectsReports =
      services.contains(.significant) || (services.contains(.request) && !hasUpdates)
    #expect((reports > 0) == expectsReports, "single fixes: \(reports)")
    let visits = notices.filter { if case .visit = $0 { true } else { false } }.count
    #expect(services.contains(.visits) ? visits >= 2 : visits == 0, "visits: \(visits)")
    let exits = notices.filter { if case .region(.exited) = $0 { true } else { false } }.count
    #expect(exits == (services.contains(.region) ? 1 : 0), "exits: \(exits)")
    let elements = notices.filter { if case .live = $0 { true } else { false } }.count
    #expect((elements > 0) == services.contains(.live), "live updates: \(elements)")
    // The sequence numbers of the batches ascend.
    var last: UInt64?
    for case .batch(let range) in notices {
      if let last { #expect(range.lowerBound > last) }
      last = range.upperBound
    }
  }
}

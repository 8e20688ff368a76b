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

  static func world() -> World {
    let world = World(capacity: 4_096)
    world.limit = 2_000
    world.ask(.connect, .setExecution(.background))
    return world
  }

  static func isWanted(_ world: World) -> Bool { world.demand != .none || world.need().isRequired }

  @Test("each is served, each ends once, and with the last one the demand ends", arguments: pairs)
  func pair(_ pair: Pair) {
    let world = Self.world()
    var told: [Told] = []
    for request in pair.first.on + pair.second.on { told += world.ask(request) }
    world.may(true)
    #expect(Self.isWanted(world), "somebody wants something")
    told += world.stay(600)
    for step in 1...60 { told += world.stay(10, east: Double(step) * 50) }
    told += world.stay(600, east: 3_000)
    told += world.wait(3_000)
    let calls = [pair.first, pair.second].filter { $0 == .deferral }.count
    let finishes = told.filter { if case .finish = $0 { true } else { false } }.count
    #expect(finishes == calls, "DEF-8: one finish a call")
    check(told, pair)

    for request in pair.first.off { told += world.ask(request) }
    if !pair.second.isEnded(by: pair.first) && pair.second != .request {
      #expect(Self.isWanted(world), "\(pair.second) goes on")
    }
    for request in pair.second.off { told += world.ask(request) }
    told += world.told()
    #expect(!Self.isWanted(world), "PWR-1: nothing is wanted any more")
    #expect(world.stay(100, east: 9_000) == [], "and nothing is told any more")
  }

  /// What each of the two must have told, and nobody else.
  private func check(_ told: [Told], _ pair: Pair) {
    let services = [pair.first, pair.second]
    let hasUpdates = services.contains(.updates) || services.contains(.deferral)
    let batches = told.filter { if case .batch = $0 { true } else { false } }.count
    #expect((batches > 0) == hasUpdates, "updates: \(batches) batches")
    let reports = told.filter { if case .report = $0 { true } else { false } }.count
    let expectsReports =
      services.contains(.significant) || (services.contains(.request) && !hasUpdates)
    #expect((reports > 0) == expectsReports, "single fixes: \(reports)")
    let visits = told.filter { if case .visit = $0 { true } else { false } }.count
    #expect(services.contains(.visits) ? visits >= 2 : visits == 0, "visits: \(visits)")
    let exits = told.filter { if case .region(.exited) = $0 { true } else { false } }.count
    #expect(exits == (services.contains(.region) ? 1 : 0), "exits: \(exits)")
    let elements = told.filter { if case .live = $0 { true } else { false } }.count
    #expect((elements > 0) == services.contains(.live), "live updates: \(elements)")
    // In order: sequences of batches rise.
    var last: UInt64?
    for case .batch(let range) in told {
      if let last { #expect(range.lowerBound > last) }
      last = range.upperBound
    }
  }
}

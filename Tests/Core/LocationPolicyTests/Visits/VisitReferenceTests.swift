import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Visits compared with sliding stay points")
struct VisitReferenceTests {
  typealias Stay = SlidingStayPoints.Stay

  static func reference(_ days: GeneratedDays, gap: Double = 900) -> [Stay] {
    SlidingStayPoints.find(
      days.samples.filter(\.hasFix).map(Sphere.sample), gap: gap, haversine: Sphere.haversine)
  }

  /// Numbers of found stays, of stays in the reference, and of matches.
  struct Score {
    var found = 0
    var expected = 0
    var both = 0
    var precision: Double { Double(both) / Double(max(found, 1)) }
    var recall: Double { Double(both) / Double(max(expected, 1)) }

    mutating func add(_ stays: [Stay], _ reference: [Stay]) {
      found += stays.count
      expected += reference.count
      both += SlidingStayPoints.matches(stays, reference)
    }
  }

  @Test("VIS-9: weeks give the reference's stays, with every fix or only the requested ones")
  func weeks() {
    var every = Score()
    var onDemand = Score()
    for seed in 1...2 as ClosedRange<UInt64> {
      let days = GeneratedDays(seed: seed, days: 28, interval: 5)
      let expected = Self.reference(days)
      every.add(VisitRun.everyFix(days, .reference).stays, expected)
      onDemand.add(VisitRun.onDemand(days, .reference, seed: seed).stays, expected)
    }
    #expect(every.expected >= 200)
    #expect(every.precision >= 0.95 && every.recall >= 0.95)
    #expect(onDemand.precision >= 0.9 && onDemand.recall >= 0.9)
  }

  @Test("VIS-9: fixes at 1 Hz give the reference's stays")
  func oneHertz() {
    var every = Score()
    let days = GeneratedDays(seed: 1, days: 10)
    every.add(VisitRun.everyFix(days, .reference).stays, Self.reference(days))
    #expect(every.expected >= 50)
    #expect(every.precision >= 0.95 && every.recall >= 0.95)
  }

  @Test("VIS-11: outages as long as a stay end no visit, like a reference without a gap limit")
  func longOutages() {
    var onDemand = Score()
    let days = GeneratedDays(seed: 11, days: 21, interval: 5, outages: .long)
    onDemand.add(VisitRun.onDemand(days, .reference).stays, Self.reference(days, gap: .infinity))
    #expect(onDemand.expected >= 100)
    #expect(onDemand.precision >= 0.9 && onDemand.recall >= 0.9)
  }

  @Test("VIS-9: the reference restarts a stay after a gap and drops the last one")
  func referenceItself() {
    func at(_ minutes: Double, _ north: Double) -> SlidingStayPoints.Sample {
      SlidingStayPoints.Sample(
        time: minutes * 60, latitude: 47 + north / Sphere.degree, longitude: 8)
    }
    let day = [0, 10, 20, 30, 45, 50, 60, 76, 90, 96].map { at($0, $0 == 50 ? 201 : 0) }
    func find(_ last: Bool) -> [Stay] {
      SlidingStayPoints.find(day, includesLast: last, haversine: Sphere.haversine)
    }
    #expect(find(false) == [Stay(start: 0, end: 3000)])
    #expect(find(true) == [Stay(start: 0, end: 3000), Stay(start: 76 * 60, end: 96 * 60)])
    #expect(SlidingStayPoints.matches([Stay(start: 0, end: 10)], [Stay(start: 5, end: 10)]) == 1)
    #expect(SlidingStayPoints.matches([Stay(start: 0, end: 10)], [Stay(start: 5.1, end: 10)]) == 0)
  }
}

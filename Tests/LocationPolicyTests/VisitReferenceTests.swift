import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Visits against sliding stay points")
struct VisitReferenceTests {
  static func reference(_ days: GeneratedDays, gap: Double = 900) -> [SlidingStayPoints.Stay] {
    SlidingStayPoints.find(
      days.samples.filter(\.hasFix).map(Sphere.sample), gap: gap, haversine: Sphere.haversine)
  }

  /// Precision and recall.
  static func scores(_ found: [SlidingStayPoints.Stay], _ expected: [SlidingStayPoints.Stay])
    -> (precision: Double, recall: Double)
  {
    let both = Double(SlidingStayPoints.matches(found, expected))
    return (both / Double(max(found.count, 1)), both / Double(max(expected.count, 1)))
  }

  @Test("VIS-9: weeks give the reference's stays, fed every fix or those asked for")
  func weeks() {
    let days = GeneratedDays(seed: 1, days: 35, interval: 5)
    let expected = Self.reference(days)
    let every = VisitRun.everyFix(days, .reference).stays
    let asked = VisitRun.asked(days, .reference).stays
    let (a, b) = (Self.scores(every, expected), Self.scores(asked, expected))
    print("expected", expected.count, "every", every.count, a, "asked", asked.count, b)
    #expect(expected.count >= 200)
    #expect(a.precision >= 0.95 && a.recall >= 0.95)
    #expect(b.precision >= 0.9 && b.recall >= 0.9)
  }
}

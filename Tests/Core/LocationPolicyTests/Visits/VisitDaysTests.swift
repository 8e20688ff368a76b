import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Visits on generated days")
struct VisitDaysTests {
  /// Runs with every fix, with the requested fixes only, and with those and a motion line.
  static func runs(_ days: GeneratedDays, seed: UInt64) -> [VisitRun] {
    [
      .everyFix(days), .onDemand(days, seed: seed), .onDemand(days, seed: seed, hasLine: true),
    ]
  }

  @Test("VIS-6: arrivals and departures alternate, and so do their times", arguments: 1...6)
  func alternates(seed: UInt64) throws {
    let outages: [GeneratedDays.Outages] = [.none, .short, .long]
    let days = GeneratedDays(
      seed: seed, days: 3, interval: 10, outages: outages[Int(seed) % 3])
    for run in Self.runs(days, seed: seed) {
      var open: Visit?
      var last = Instant.boot
      #expect(run.reports.count > 10)
      for (at, outcome) in run.reports {
        let reported = Instant(seconds: at)
        switch outcome {
        case .nothing: Issue.record("an empty outcome was reported")
        case .arrived(let visit):
          #expect(open == nil)
          #expect(visit.departure == nil)
          if let arrival = visit.arrival {
            #expect(arrival.acquired >= last)
            #expect(arrival.acquired + VisitParameters().dwell <= reported)
          }
          open = visit
        case .departed(let visit):
          let departure = try #require(visit.departure)
          #expect(visit.coordinate == open?.coordinate)
          #expect(visit.arrival == open?.arrival)
          #expect(departure.acquired >= visit.arrival?.acquired ?? .boot)
          #expect(departure.acquired < reported)
          last = departure.acquired
          open = nil
        }
      }
    }
  }

  /// Delays of the reports after the user reached and left the stays of `days`, seconds.
  static func delays(_ days: GeneratedDays, _ run: VisitRun) -> (
    arrival: [Double], departure: [Double]
  ) {
    let long = days.stays.dropFirst().dropLast().filter { $0.end - $0.start > 660 }
    func delay(_ moment: Double, _ date: (VisitMonitor.Outcome) -> Double?) -> Double {
      let reported = run.reports.first { abs((date($0.outcome) ?? -1e9) - moment) < 600 }
      return reported.map { $0.at - moment } ?? .infinity
    }
    return (
      long.map { delay($0.start, { $0.arrival?.arrival?.acquired.seconds }) },
      long.map { delay($0.end, { $0.departure?.departure?.acquired.seconds }) }
    )
  }

  @Test(
    "VIS-9: arrivals and departures are reported within 10 minutes, with a motion line within 2")
  func bounds() {
    for seed in 1...3 as ClosedRange<UInt64> {
      let days = GeneratedDays(seed: seed, days: 7, interval: 2, outages: .none)
      let onDemand = Self.delays(days, .onDemand(days, seed: seed))
      #expect(onDemand.arrival.count > 25)
      #expect(onDemand.arrival.allSatisfy { $0 <= 600 })
      // Walking 1.5 radii takes 81 s.
      #expect(onDemand.departure.allSatisfy { $0 <= 600 + 81 })
      let line = Self.delays(days, .onDemand(days, seed: seed, hasLine: true))
      #expect(line.arrival.allSatisfy { $0 <= 300 + 120 })
      #expect(line.departure.allSatisfy { $0 <= 81 + 120 })
    }
  }

  @Test(
    "PWR-3: visits request no more fixes in a week than significant change",
    arguments: [false, true])
  func energy(hasLine: Bool) {
    for (seed, outages) in [(UInt64(1), GeneratedDays.Outages.none), (2, .short)] {
      let days = GeneratedDays(seed: seed, days: 7, interval: 5, outages: outages)
      let visits = VisitRun.onDemand(days, seed: seed, hasLine: hasLine)
      var service = SignificantChange()
      _ = service.start(at: .boot, cached: nil)
      var reports = 0
      let acquisitions = OnDemandReceiver(days, seed: seed, delay: 3...30, hasLine: hasLine).run(
        next: { service.nextFix(at: $0, speed: .constant(40), line: $1) }, lineChanged: { _, _ in },
        accept: { sample in
          guard let sample else { return }
          let now = Instant(seconds: sample.time)
          if service.accept(Sphere.fix(sample), at: now) != nil { reports += 1 }
        }, failed: { service.acquisitionFailed(at: $0) })
      #expect(reports > 50)
      #expect(visits.acquisitions <= acquisitions)
      // 8 minutes when stationary, 4 when travelling; with a motion line an hour when stationary,
      // and 40 movements indoors.
      #expect(visits.acquisitions < 7 * (hasLine ? 110 : 220))
      #expect(acquisitions < 7 * (hasLine ? 120 : 300))
    }
  }
}

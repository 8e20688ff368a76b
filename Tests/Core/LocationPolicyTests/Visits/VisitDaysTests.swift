import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Visits on generated days")
struct VisitDaysTests {
  /// Every fix, those asked for, and those with a motion line.
  static func runs(_ days: GeneratedDays, seed: UInt64) -> [VisitRun] {
    [
      .everyFix(days), .asked(days, seed: seed), .asked(days, seed: seed, hasLine: true),
    ]
  }

  @Test("VIS-6: arrival and departure take turns, and their dates too", arguments: 1...6)
  func turns(seed: UInt64) throws {
    let outages: [GeneratedDays.Outages] = [.none, .short, .long]
    let days = GeneratedDays(
      seed: seed, days: 3, interval: 10, outages: outages[Int(seed) % 3])
    for run in Self.runs(days, seed: seed) {
      var open: Visit?
      var last = Instant.boot
      #expect(run.told.count > 10)
      for (at, outcome) in run.told {
        let told = Instant(seconds: at)
        switch outcome {
        case .nothing: Issue.record("nothing is not told")
        case .arrived(let visit):
          #expect(open == nil)
          #expect(visit.departure == nil)
          if let arrival = visit.arrival {
            #expect(arrival.instant >= last)
            #expect(arrival.instant + VisitParameters().dwell <= told)
          }
          open = visit
        case .departed(let visit):
          let departure = try #require(visit.departure)
          #expect(visit.coordinate == open?.coordinate)
          #expect(visit.arrival == open?.arrival)
          #expect(departure.instant >= visit.arrival?.instant ?? .boot)
          #expect(departure.instant < told)
          last = departure.instant
          open = nil
        }
      }
    }
  }

  /// How long after the wearer reached and left the places of `days` it was told, seconds.
  static func delays(_ days: GeneratedDays, _ run: VisitRun) -> (
    arrival: [Double], departure: [Double]
  ) {
    let long = days.stays.dropFirst().dropLast().filter { $0.end - $0.start > 660 }
    func delay(_ moment: Double, _ date: (VisitMonitor.Outcome) -> Double?) -> Double {
      let told = run.told.first { abs((date($0.outcome) ?? -1e9) - moment) < 600 }
      return told.map { $0.at - moment } ?? .infinity
    }
    return (
      long.map { delay($0.start, { $0.arrival?.arrival?.instant.seconds }) },
      long.map { delay($0.end, { $0.departure?.departure?.instant.seconds }) }
    )
  }

  @Test("VIS-9: an arrival is told within 10 minutes and a departure, within 2 by a line")
  func bounds() {
    for seed in 1...3 as ClosedRange<UInt64> {
      let days = GeneratedDays(seed: seed, days: 7, interval: 2, outages: .none)
      let asked = Self.delays(days, .asked(days, seed: seed))
      #expect(asked.arrival.count > 25)
      #expect(asked.arrival.allSatisfy { $0 <= 600 })
      // It takes 81 s to walk over 1.5 radii.
      #expect(asked.departure.allSatisfy { $0 <= 600 + 81 })
      let line = Self.delays(days, .asked(days, seed: seed, hasLine: true))
      #expect(line.arrival.allSatisfy { $0 <= 300 + 120 })
      #expect(line.departure.allSatisfy { $0 <= 81 + 120 })
    }
  }

  @Test(
    "PWR-3: in a week visits ask for fewer fixes than significant change", arguments: [false, true])
  func energy(hasLine: Bool) {
    for (seed, outages) in [(UInt64(1), GeneratedDays.Outages.none), (2, .short)] {
      let days = GeneratedDays(seed: seed, days: 7, interval: 5, outages: outages)
      let visits = VisitRun.asked(days, seed: seed, hasLine: hasLine)
      var service = SignificantChange()
      _ = service.start(at: .boot, cached: nil)
      var told = 0
      let looks = Searches(days, seed: seed, delay: 3...30, hasLine: hasLine).run(
        next: { service.nextFix(at: $0, fastest: 40, line: $1) }, turn: { _, _ in },
        take: { sample in
          guard let sample else { return }
          let now = Instant(seconds: sample.time)
          if service.accept(Sphere.fix(sample), at: now) != .nothing { told += 1 }
        }, miss: { service.acquisitionFailed(at: $0) })
      #expect(told > 50)
      #expect(visits.looks <= looks)
      // 8 minutes at rest, 4 under way; with a line an hour at rest and 40 steps about the house.
      #expect(visits.looks < 7 * (hasLine ? 110 : 220))
      #expect(looks < 7 * (hasLine ? 120 : 300))
    }
  }
}

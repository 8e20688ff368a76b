import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("A client that monitors a region") struct ClientRegionTests {
  static let near = Region(
    RegionIdentifier(.region, 1), center: equator.moved(east: 1_000, north: 0), radius: 200)

  /// A client far outside a circle, with all notices delivered.
  static func watching() -> ClientBench {
    let bench = ClientBench(capacity: 16)
    bench.send(.connect, .addRegion(near, assuming: .unknown))
    bench.fixes(1)
    return bench
  }

  @Test("REG-4: fixes far from its circles give no notice, a crossing gives two")
  func fixes() {
    let bench = Self.watching()
    #expect(bench.fixes(5, east: 300).isEmpty)
    #expect(bench.fixes(25, east: 1_000).count == 2, "entered and its state")
  }

  @Test(
    "LIV-6: a client that was without a location before its live updates start receives the flag")
  func locationUnknown() {
    let bench = Self.watching()
    bench.client.reportLocationUnknown(bench.context)
    let unavailable = LiveFlags.locationUnavailable.rawValue
    #expect(
      bench.send(.openLive(.default)).contains {
        if case .live(_, _, _, let flags) = $0 { flags & unavailable != 0 } else { false }
      })
  }

  @Test("REG-7: the client must be checked when an answer is due")
  func deadline() {
    let bench = ClientBench(capacity: 16)
    bench.send(.connect, .addRegion(Self.near, assuming: .unknown))
    #expect(bench.check == .distantFuture)
    bench.send(.requestRegionState(Self.near.identifier))
    #expect(bench.check == bench.context.now + .seconds(60))
  }

  @Test("RNG-6: after a denial a client ignores fixes of that time")
  func deniedOnce() {
    let bench = Self.watching()
    bench.send(.setAuthorization(.denied))
    bench.now += 100
    bench.send(.setAuthorization(.always))
    bench.fixes(1)
    for second in 1...40 { bench.append(fix(at: 50 + Double(second), east: 1_000)) }
    #expect(bench.notices().isEmpty)
    #expect(bench.fixes(25, east: 1_000).count == 2, "entered and its state")
  }

  @Test("REG-15, AUT-3, PWR-10: regions are inactive as long as one of three causes lasts")
  func inactive() {
    let bench = Self.watching()
    func isInactive() -> Bool { bench.client.services.regions.isInactive }
    let causes: [(ClientBench, Bool) -> Void] = [
      { $0.sendOnly(.setReducedAccuracy($1)) },
      { $0.sendOnly(.setAuthorization($1 ? .denied : .always)) },
      {
        $0.shedLevels = $1 ? ServiceLevelSet(.regions) : .none
        $0.client.elapse($0.context)
      },
    ]
    for first in causes {
      for second in causes {
        #expect(!isInactive())
        first(bench, true)
        #expect(isInactive())
        second(bench, true)
        #expect(isInactive())
        first(bench, false)
        second(bench, false)
      }
    }
    causes[0](bench, true)
    causes[1](bench, true)
    causes[0](bench, false)
    #expect(isInactive())
    causes[2](bench, true)
    causes[1](bench, false)
    #expect(isInactive())
    causes[2](bench, false)
    #expect(!isInactive())
  }

  @Test("BKG-2: a suspended client's crossing is a notice")
  func suspended() {
    let bench = Self.watching()
    bench.send(.setExecution(.suspended))
    for second in 1...25 { bench.append(fix(at: 50 + Double(second), east: 1_000)) }
    #expect(bench.notices().count == 2)
  }

  @Test("RNG-8: a report is acknowledged by its name")
  func unacknowledgedReport() {
    for acknowledges in [true, false] {
      let bench = ClientBench(capacity: 16)
      bench.send(.connect, .startSignificantChange)
      #expect(bench.fixes(1) == [.report(0, accuracy_mm: 3_000)])
      let until = bench.context.now + bench.hold
      #expect(bench.acknowledgementDeadline == until)
      if acknowledges { bench.send(.acknowledge(bench.name(0))) } else { bench.now += 2 }
      #expect(bench.acknowledgementDeadline == (acknowledges ? nil : until))
    }
  }

  @Test("RNG-4: fixes overwritten before updates start are not a gap")
  func noGap() {
    let bench = Self.watching()
    bench.fixes(40, east: 300)
    #expect(bench.send(.startUpdating).isEmpty)
    #expect(bench.fixes(1, east: 300) == [.batch(41...41)])
  }

  @Test("A significant change is checked with each fix and reported")
  func significant() {
    let bench = Self.watching()
    bench.send(.startSignificantChange)
    bench.fixes(1)
    bench.now += 400
    bench.append(fix(at: bench.now, east: -5_000))
    #expect(bench.notices() == [.report(2, accuracy_mm: 3_000)])
  }

  @Test("AUT-6: a waiting change is not reported to a client whose accuracy was reduced since")
  func reducedChange() {
    for isReduced in [false, true] {
      let bench = ClientBench(capacity: 64)
      bench.send(.connect, .startSignificantChange)
      bench.fixes(1)
      bench.fixes(2, east: 1_000)
      if isReduced { bench.send(.setReducedAccuracy(true)) }
      let reports = bench.wait(400).filter { if case .report = $0 { true } else { false } }
      #expect(reports.count == (isReduced ? 0 : 1))
    }
  }
}

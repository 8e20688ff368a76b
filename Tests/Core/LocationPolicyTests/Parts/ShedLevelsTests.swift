import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Shed levels of a client") struct ShedLevelsTests {
  static let none = ServiceLevelSet.none
  static let updates = ServiceLevelSet(.updates)
  static let visits = ServiceLevelSet(.visits)

  static func shed(_ battery: ServiceLevelSet, reported: Bool = false) -> ShedLevels {
    var shed = ShedLevels()
    shed.set(battery: battery, withheld: none, at: Instant(seconds: 1))
    if reported { _ = shed.report(updates) }
    return shed
  }

  @Test("PWR-10: a level is shed for the battery or for lack of use; only the former is reported")
  func levels() {
    var shed = Self.shed(Self.updates)
    #expect(!shed.isGranted(.updates) && shed.isGranted(.visits))
    shed.set(battery: Self.updates, withheld: Self.visits, at: Instant(seconds: 2))
    #expect(!shed.isGranted(.updates) && !shed.isGranted(.visits))
    #expect(shed.battery == Self.updates && shed.current == Self.updates.union(Self.visits))
    #expect(shed.hasUnreported(of: Self.updates) && !shed.hasUnreported(of: Self.visits))
  }

  @Test("PWR-10: every event of one level in every state")
  func everyPair() {
    // Granted; shed; shed and reported; restored, but still reported as shed.
    func state(_ i: Int) -> ShedLevels {
      var shed = Self.shed(i == 0 ? Self.none : Self.updates, reported: i > 1)
      if i == 3 { shed.set(battery: Self.none, withheld: Self.none, at: Instant(seconds: 2)) }
      return shed
    }
    let now = Instant(seconds: 3)
    typealias Row = (name: String, event: (inout ShedLevels) -> Void, unreported: [Bool])
    let rows: [Row] = [
      ("nothing", { _ in }, [false, true, false, true]),
      (
        "shed", { $0.set(battery: Self.updates, withheld: Self.none, at: now) },
        [true, true, false, false]
      ),
      (
        "restored", { $0.set(battery: Self.none, withheld: Self.none, at: now) },
        [false, false, true, true]
      ),
      ("report", { _ = $0.report(Self.updates) }, [false, false, false, false]),
      ("in use", { $0.dropReported(notUsedIn: Self.updates) }, [false, true, false, true]),
      ("not in use", { $0.dropReported(notUsedIn: Self.none) }, [false, true, false, false]),
      ("detach", { $0.detach() }, [false, true, true, false]),
    ]
    for row in rows {
      for (i, expected) in row.unreported.enumerated() {
        var shed = state(i)
        row.event(&shed)
        #expect(shed.hasUnreported(of: Self.updates) == expected, "\(i) \(row.name)")
      }
    }
  }

  @Test("Fixes acquired while updates are shed are not for the client")
  func period() {
    func isFrom(_ shed: ShedLevels, _ times: Double...) -> [Bool] {
      times.map { shed.isFromPeriodWithoutUpdates(fix(at: $0)) }
    }
    var shed = Self.shed(Self.visits)
    #expect(isFrom(shed, 0, 1, 2) == [false, false, false])
    shed.set(battery: Self.updates, withheld: Self.none, at: Instant(seconds: 10))
    #expect(isFrom(shed, 10, 11, 1_000) == [false, true, true])
    shed.set(battery: Self.updates, withheld: Self.updates, at: Instant(seconds: 15))
    #expect(isFrom(shed, 11, 15) == [true, true], "already shed")
    shed.set(battery: Self.none, withheld: Self.none, at: Instant(seconds: 20))
    #expect(isFrom(shed, 10, 20, 21) == [false, true, false])
  }
}

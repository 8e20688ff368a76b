import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Dormancy of a client") struct DormancyStateTests {
  enum State: CaseIterable { case active, dormant, skipping }

  static let end = Instant(seconds: 100)

  static func dormancy(in state: State) -> ClientDormancy {
    var dormancy = ClientDormancy()
    if state == .active { return dormancy }
    dormancy.begin(until: end, .regions)
    if state == .dormant { return dormancy }
    dormancy.noteFix(7)
    dormancy.skip(to: 500, until: Instant(seconds: 50))
    return dormancy
  }

  /// What steps and fixes read: the end, whether fixes are skipped, whether a fix 400 m and 40 s away is needed.
  static func read(_ dormancy: ClientDormancy) -> [String] {
    [
      "until \(dormancy.until.seconds)", "skips \(dormancy.skipsFixes)",
      "needs \(dormancy.needsFix(at: Instant(seconds: 40), 400))",
    ]
  }

  @Test("Every event in every state")
  func everyPair() {
    let active = ["until 0.0", "skips false", "needs true"]
    let dormant = ["until 100.0", "skips false", "needs true"]
    let skipping = ["until 100.0", "skips true", "needs false"]
    typealias Row = (name: String, event: (inout ClientDormancy) -> Void, results: [[String]])
    let rows: [Row] = [
      ("nothing", { _ in }, [active, dormant, skipping]),
      ("begin", { $0.begin(until: Self.end, .nothing) }, [dormant, dormant, dormant]),
      ("end", { $0.end() }, [active, active, active]),
      ("fix", { $0.noteFix(8) }, [active, dormant, skipping]),
      ("skipAll", { $0.skipAll() }, [active, skipping, skipping]),
      (
        "skip", { $0.skip(to: 401, until: Instant(seconds: 41)) }, [active, skipping, skipping]
      ),
    ]
    for row in rows {
      for (state, expected) in zip(State.allCases, row.results) {
        var dormancy = Self.dormancy(in: state)
        row.event(&dormancy)
        #expect(Self.read(dormancy) == expected, "\(state) \(row.name)")
      }
    }
  }

  @Test("A fix is needed from the wake distance and from the wake time on")
  func needsFix() {
    let dormancy = Self.dormancy(in: .skipping)
    let time = Instant(seconds: 49)
    #expect(!dormancy.needsFix(at: time, 499) && dormancy.needsFix(at: time, 500))
    #expect(dormancy.needsFix(at: Instant(seconds: 50), 0))
  }

  @Test("Only a fix that was not handled during dormancy was skipped")
  func hasSkipped() {
    #expect(State.allCases.map { Self.dormancy(in: $0).hasSkipped(8) } == [false, false, true])
    #expect(!Self.dormancy(in: .skipping).hasSkipped(7))
  }
}

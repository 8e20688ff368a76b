import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Failures of a client") struct ClientFailuresTests {
  /// Whether no location is available, and whether that was reported.
  struct State: Equatable { var isUnknown: Bool, isReported: Bool }

  static let available = State(isUnknown: false, isReported: false)
  static let unreported = State(isUnknown: true, isReported: false)
  static let reported = State(isUnknown: true, isReported: true)
  static let ignored = State(isUnknown: false, isReported: true)

  static func failures(in state: State) -> ClientFailures {
    var failures = ClientFailures()
    if state.isReported {
      failures.reportLocationUnknown()
      failures.drop()
    }
    if state.isUnknown { failures.locationBecameUnknown() }
    return failures
  }

  static func state(of failures: ClientFailures) -> State {
    State(isUnknown: failures.isLocationUnknown, isReported: failures.isLocationUnknownReported)
  }

  @Test("STD-10: every event in every state of the location")
  func everyPair() {
    let (none, wait, done, late) = (Self.available, Self.unreported, Self.reported, Self.ignored)
    typealias Row = (name: String, event: (inout ClientFailures) -> Void, results: [State])
    let rows: [Row] = [
      ("unknown", { $0.locationBecameUnknown() }, [wait, wait, done, done]),
      ("report", { $0.reportLocationUnknown() }, [late, done, done, late]),
      ("fix", { $0.accept(isSuspended: false) }, [none, none, none, none]),
      ("allow", { $0.allowReport() }, [none, wait, wait, none]),
      ("failure", { $0.report(.denied) }, [none, wait, done, late]),
      ("drop", { $0.drop() }, [none, wait, done, late]),
    ]
    for row in rows {
      for (state, expected) in zip([none, wait, done, late], row.results) {
        var failures = Self.failures(in: state)
        row.event(&failures)
        #expect(Self.state(of: failures) == expected, "\(state) \(row.name)")
        let isNew = row.name == "report" && !state.isReported
        #expect(
          failures.pending == (isNew ? .locationUnknown : row.name == "failure" ? .denied : nil))
      }
    }
  }

  @Test("A pending failure is replaced, taken once, and withdrawn only with its own code")
  func pending() {
    var failures = ClientFailures()
    func take() -> LocationErrorCode? { failures.takePending() }
    #expect(take() == nil)
    failures.report(.locationUnknown)
    failures.report(.denied)
    failures.withdraw(.locationUnknown)
    #expect(take() == .denied)
    #expect(take() == nil)
    failures.report(.denied)
    failures.withdraw(.denied)
    #expect(failures.pending == nil)
  }

  @Test("A fix withdraws a missing location from a suspended client only")
  func suspended() {
    for isSuspended in [false, true] {
      var failures = ClientFailures()
      failures.reportLocationUnknown()
      failures.accept(isSuspended: isSuspended)
      #expect(failures.pending == (isSuspended ? nil : .locationUnknown))
      failures.report(.denied)
      failures.accept(isSuspended: isSuspended)
      #expect(failures.pending == .denied)
    }
  }
}

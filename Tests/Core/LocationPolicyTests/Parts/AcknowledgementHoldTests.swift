import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Hold for acknowledgements") struct AcknowledgementHoldTests {
  static func name(_ sequence: UInt64, generation: UInt32 = 1) -> FixName {
    FixName(generation: generation, sequence: sequence)
  }

  static func time(_ seconds: Double?) -> Instant? { seconds.map { Instant(seconds: $0) } }

  /// A batch up to 5 is held until 10 s, a report of fix 7 until 20 s.
  static func hold(batch: Bool, report: Bool) -> AcknowledgementHold {
    var hold = AcknowledgementHold()
    if batch { hold.expect(batchUpTo: 5, until: Instant(seconds: 10)) }
    if report { hold.expect(report: name(7), until: Instant(seconds: 20)) }
    return hold
  }

  @Test("RNG-8: every event in every state")
  func everyPair() {
    let late = Instant(seconds: 30)
    typealias Row = (
      name: String, event: (inout AcknowledgementHold) -> Void, deadlines: [Double?]
    )
    // In the order of the states: nothing, a batch, a report, both.
    let rows: [Row] = [
      ("nothing", { _ in }, [nil, 10, 20, 20]),
      ("batch", { $0.expect(batchUpTo: 9, until: late) }, [30, 30, 30, 30]),
      ("report", { $0.expect(report: Self.name(8), until: late) }, [30, 30, 30, 30]),
      ("name of the report", { $0.acknowledge(Self.name(7)) }, [nil, 10, nil, 10]),
      ("older name", { $0.acknowledge(Self.name(6)) }, [nil, 10, 20, 20]),
      ("other generation", { $0.acknowledge(Self.name(7, generation: 2)) }, [nil, 10, 20, 20]),
      ("whole batch", { $0.acknowledge(below: 6) }, [nil, nil, 20, 20]),
      ("part of the batch", { $0.acknowledge(below: 5) }, [nil, 10, 20, 20]),
      (
        "both",
        {
          $0.acknowledge(below: 6)
          $0.acknowledge(Self.name(7))
        }, [nil, nil, nil, nil]
      ),
      ("detach", { $0.removeAll() }, [nil, nil, nil, nil]),
    ]
    let states = [(false, false), (true, false), (false, true), (true, true)]
    for row in rows {
      for (i, state) in states.enumerated() {
        var hold = Self.hold(batch: state.0, report: state.1)
        row.event(&hold)
        #expect(hold.deadline == Self.time(row.deadlines[i]), "\(state) \(row.name)")
      }
    }
  }
}

import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Standard updates of a client") struct ClientUpdatesTests {
  typealias State = ClientUpdates.State

  static func updates(in state: State) -> ClientUpdates {
    var updates = ClientUpdates()
    switch state {
    case .stopped: break
    case .running: updates.start(receiverBuffers: false, at: Instant(seconds: 1))
    case .stopping(let end, let delivers): updates.stop(drainingUntil: end, delivers: delivers)
    }
    return updates
  }

  @Test("Every event in every state")
  func everyPair() {
    let (ten, twenty) = (Instant(seconds: 10), Instant(seconds: 20))
    let draining = State.stopping(at: ten, delivers: true)
    let kept = State.stopping(at: ten, delivers: false)
    let later = State.stopping(at: twenty, delivers: true)
    let (off, on) = (State.stopped, State.running)
    typealias Row = (name: String, event: (inout ClientUpdates) -> Void, results: [State])
    let rows: [Row] = [
      ("start", { $0.start(receiverBuffers: true, at: twenty) }, [on, on, on, on]),
      ("stop", { $0.stop() }, [off, off, off, off]),
      ("drain", { $0.stop(drainingUntil: twenty, delivers: true) }, [later, later, later, later]),
      ("detach", { $0.detach() }, [off, on, kept, kept]),
      ("end", { $0.endStopping() }, [off, on, off, off]),
    ]
    for row in rows {
      for (state, expected) in zip([off, on, draining, kept], row.results) {
        var updates = Self.updates(in: state)
        row.event(&updates)
        #expect(updates.state == expected, "\(state) \(row.name)")
        #expect(updates.isRunning == (expected == .running))
        #expect(updates.isStopping == (expected != .running && expected != .stopped))
      }
    }
  }

  @Test("Which fixes are for updates, in every state")
  func fixes() {
    let draining = State.stopping(at: Instant(seconds: 10), delivers: true)
    let answers = [State.stopped, .running, draining].map { state in
      [10.0, 11].map { Self.updates(in: state).isFor(fix(at: $0)) }
    }
    #expect(answers == [[false, false], [true, true], [true, false]])
  }

  @Test("A start hides buffered fixes of other clients, but not those of its own last updates")
  func hidden() {
    let draining = State.stopping(at: Instant(seconds: 10), delivers: true)
    for (state, receiverBuffers, isHidden) in [
      (State.stopped, true, true), (.stopped, false, false), (draining, true, false),
    ] {
      var updates = Self.updates(in: state)
      updates.start(receiverBuffers: receiverBuffers, at: Instant(seconds: 20))
      #expect(updates.isHidden(fix(at: 20)) == isHidden, "\(state) \(receiverBuffers)")
      #expect(!updates.isHidden(fix(at: 21)))
    }
  }

  @Test("STD-4, STD-5: the filter passes a far, a more accurate, an exempt and the first fix")
  func filter() {
    var updates = Self.updates(in: .running)
    updates.setDistanceFilter(50)
    #expect(updates.awaitsFirstFix && updates.passesFilter(fix(at: 1), 0))
    updates.setFilterOrigin(from: fix(at: 1))
    #expect(!updates.awaitsFirstFix && !updates.passesFilter(fix(at: 2, east: 49), 1))
    #expect(updates.passesFilter(fix(at: 2, east: 51), 1))
    #expect(updates.passesFilter(fix(at: 2, accuracy_mm: 2_999), 1))
    #expect(!updates.passesFilter(fix(at: 2, accuracy_mm: nil), 1))
    updates.exemptFromFilter(1)
    #expect(updates.passesFilter(fix(at: 2), 1) && !updates.passesFilter(fix(at: 2), 2))
    updates.start(receiverBuffers: false, at: Instant(seconds: 3))
    #expect(updates.awaitsFirstFix, "a start has no last delivered fix")
    updates.resetSettings()
    #expect(!updates.settings.hasDistanceFilter)
  }
}

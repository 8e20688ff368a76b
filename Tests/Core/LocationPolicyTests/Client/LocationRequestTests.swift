import DeferralCache
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite("Single location request")
struct LocationRequestTests {
  static func parameters(
    _ accuracy: Double = 10, isUpdating: Bool = false, at now: Double = 0
  ) -> LocationRequestParameters {
    LocationRequestParameters(
      desiredAccuracy: accuracy, isUpdating: isUpdating, at: Instant(seconds: now))
  }

  /// Called at 0 s for 10 m until 30 s; with one fix of 50 m accuracy if `withFix`.
  static func pending(withFix: Bool = false) -> LocationRequest {
    var request = LocationRequest()
    #expect(request.handle(.request(parameters(), recent: nil)) == .nothing)
    if withFix {
      #expect(request.handle(.fix(stored(1, at: 1, accuracy_mm: 50_000))) == .nothing)
    }
    #expect(request.state == .pending)
    return request
  }

  @Test("STD-11, DEF-44: every event has one defined result in every state")
  func everyPair() {
    let good = stored(7, at: 5)
    let poor = stored(8, at: 5, accuracy_mm: 60_000)
    let first = stored(1, at: 1, accuracy_mm: 50_000)
    let early = LocationRequest.Event.time(Instant(microseconds: 29_999_999))
    let late = LocationRequest.Event.time(Instant(seconds: 30))
    typealias Row = (
      LocationRequest.Event, idle: LocationRequest.Outcome, empty: LocationRequest.Outcome,
      some: LocationRequest.Outcome, ends: Bool
    )
    let table: [Row] = [
      (.fix(good), .nothing, .deliver(good), .deliver(good), true),
      (.fix(poor), .nothing, .nothing, .nothing, false),
      (early, .nothing, .nothing, .nothing, false),
      (late, .nothing, .fail(.locationUnknown), .deliver(first), true),
      (.cancel, .nothing, .nothing, .nothing, true),
      (.fail(.denied), .nothing, .fail(.denied), .fail(.denied), true),
      (
        .request(Self.parameters(1e9, at: 9), recent: good), .deliver(good), .nothing, .nothing,
        false
      ),
      (
        .request(Self.parameters(1e9, isUpdating: true), recent: good), .nothing, .nothing,
        .nothing, false
      ),
    ]
    for (event, idle, empty, some, ends) in table {
      var request = LocationRequest()
      #expect(request.handle(event) == idle)
      #expect(request.state == .idle)
      #expect(request.check == .distantFuture)
      for (start, outcome) in [(Self.pending(), empty), (Self.pending(withFix: true), some)] {
        var request = start
        #expect(request.handle(event) == outcome, "\(event)")
        #expect(request.state == (ends ? .idle : .pending))
        #expect((request.parameters == nil) == ends)
        // An ended call leaves no state, not even a position.
        #expect((request == LocationRequest()) == ends)
        #expect(request.check == (ends ? .distantFuture : Instant(seconds: 30)))
      }
    }
  }

  @Test("STD-11: the first fix that is accurate enough is delivered, and no other")
  func goodEnough() {
    var request = Self.pending()
    #expect(request.handle(.fix(stored(1, at: 1, accuracy_mm: 10_001))) == .nothing)
    let good = stored(2, at: 2, accuracy_mm: 10_000)
    #expect(request.handle(.fix(good)) == .deliver(good))
    #expect(request.handle(.fix(stored(3, at: 3, accuracy_mm: 1_000))) == .nothing)
    #expect(request.handle(.time(Instant(seconds: 30))) == .nothing)
  }

  @Test("STD-11: at the timeout the best fix is delivered, the newer of equal ones")
  func best() {
    var request = Self.pending()
    let fixes: [(UInt64, Int32?)] = [
      (1, nil), (2, nil), (3, 40_000), (4, nil), (5, 20_000), (6, 30_000), (7, 20_000), (8, 20_001),
    ]
    let bests: [UInt64] = [1, 2, 3, 3, 5, 5, 7, 7]
    for (number, accuracy_mm) in fixes {
      let candidate = stored(number, at: Double(number), accuracy_mm: accuracy_mm)
      #expect(request.handle(.fix(candidate)) == .nothing)
      var ended = request
      let outcome = ended.handle(.time(Instant(seconds: 30)))
      guard case .deliver(let delivered) = outcome else {
        Issue.record("no fix: \(outcome)")
        continue
      }
      #expect(delivered.name.sequence == bests[Int(number) - 1])
    }
    // A fix at the deadline ends the request too.
    let last = stored(9, at: 30, accuracy_mm: 15_000)
    #expect(request.handle(.fix(last)) == .deliver(last))
  }

  @Test("STD-11: a recent fix is the first candidate")
  func recent() {
    var request = LocationRequest()
    let good = stored(1, at: -5)
    #expect(request.handle(.request(Self.parameters(), recent: good)) == .deliver(good))
    let poor = stored(2, at: -5, accuracy_mm: 99_000)
    #expect(request.handle(.request(Self.parameters(), recent: poor)) == .nothing)
    #expect(request.handle(.time(Instant(seconds: 30))) == .deliver(poor))
    // No candidate remains for the next call.
    #expect(request.handle(.request(Self.parameters(at: 40), recent: nil)) == .nothing)
    #expect(request.check == Instant(seconds: 70))
    #expect(request.handle(.time(Instant(seconds: 70))) == .fail(.locationUnknown))
  }

  @Test("STD-11: a buffered fix from before the call is not a candidate")
  func drained() {
    var request = LocationRequest()
    #expect(request.handle(.request(Self.parameters(at: 40), recent: nil)) == .nothing)
    #expect(request.handle(.fix(stored(1, at: 39.9))) == .nothing)
    #expect(request.handle(.fix(stored(2, at: 40))) == .deliver(stored(2, at: 40)))
  }

  @Test(
    "STD-11: best accuracy means 5 m; positive values are metres",
    arguments: [
      (-1.0, 5.0), (-2, 5), (0, 5), (4.9, 5), (.nan, 5), (5.1, 5.1), (10, 10), (3_000, 3_000),
      (.infinity, .infinity), (-.infinity, 5),
    ])
  func accuracies(_ desired: Double, _ accuracy: Double) {
    #expect(Self.parameters(desired).accuracy == accuracy)
  }

  @Test("STD-11: each call gives exactly one fix or one error")
  func exactlyOne() {
    var random = SplitMix64(seed: 11)
    for _ in 0..<500 {
      var request = LocationRequest()
      var outstanding = 0
      for second in 0..<200 {
        let now = Double(second)
        let event: LocationRequest.Event
        switch Int.random(in: 0..<30, using: &random) {
        case 0, 1:
          event = .request(Self.parameters(at: now), recent: nil)
          if request.state == .idle { outstanding = 1 }
        case 2:
          event = .cancel
          outstanding = 0
        case 3: event = .fail(.locationUnknown)
        case 4...6:
          let accuracy_mm = Int32.random(in: 9_000...99_000, using: &random)
          event = .fix(stored(UInt64(second), at: now, accuracy_mm: accuracy_mm))
        case _: event = .time(Instant(seconds: now))
        }
        switch request.handle(event) {
        case .nothing: break
        case .deliver, .fail:
          #expect(outstanding == 1)
          outstanding = 0
        }
        #expect((request.state == .pending) == (outstanding == 1))
        if let parameters = request.parameters { #expect(now <= parameters.deadline.seconds) }
      }
    }
  }
}

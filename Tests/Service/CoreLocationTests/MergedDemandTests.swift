import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import CoreLocation

/// A demand in virtual time: the test is the managers' program and the service.
struct VirtualDemand {
  var demand = MergedDemand()
  private(set) var now = Instant(seconds: 1_000)
  private var sequence: UInt64 = 0

  /// Creates a demand with a connection and managers with the numbers 1 to `managers`.
  init(managers: Int, connects: Bool = true, _ authorization: Authorization = .always) {
    if connects { connect(authorization) }
    for id in stride(from: 1, through: managers, by: 1) { demand.add(id) }
    _ = demand.takeEffects()
  }

  mutating func connect(_ authorization: Authorization = .always, hasDeferral: Bool = true) {
    demand.connected(
      WireSession(
        session: 1, authorization: authorization, isReduced: false, isDeferralAvailable: hasDeferral
      ), at: now)
  }

  /// Makes fixes a second apart, each `metres` north of the previous one.
  mutating func fixes(_ count: Int, metres: Double = 10) -> [StoredFix] {
    (0..<count).map { _ in
      sequence += 1
      now = now + .seconds(1)
      var fix = Fix(
        acquired: now,
        coordinate: Coordinate(
          latitude_e9: 52_000_000_000 + Int64(Double(sequence) * metres * 8_990),
          longitude_e9: 5_000_000_000))
      fix.horizontalAccuracy_mm = 2_000
      fix.speed_mmps = Int32(metres * 1_000)
      return StoredFix(name: FixName(generation: 1, sequence: sequence), fix: fix)
    }
  }

  /// Receives fixes in one round.
  mutating func receive(_ fixes: [StoredFix]) {
    demand.receive(fixes, at: now)
    demand.endDue(at: now)
  }

  mutating func pass(_ seconds: Int64) { now = now + .seconds(seconds) }

  /// The calls since the last look.
  mutating func calls() -> [WireCall] { demand.takeEffects().calls }

  /// The deliveries to a manager since the last look, as words: numbers of fixes, or the callback.
  mutating func words(_ manager: Int) -> [String] {
    demand.takeEffects().deliveries.filter { $0.manager == manager }.map { entry in
      switch entry.delivery {
      case .fixes(let fixes, _): "\(fixes.count)"
      case .finished(let code): code.map { "finish(\($0.rawValue))" } ?? "finish"
      case .paused: "paused"
      case .resumed: "resumed"
      case .failure(let code): "failure(\(code.rawValue))"
      case .visit: "visit"
      case .authorization: "authorization"
      }
    }
  }
}

@Suite("Managers of one process share one client")
struct MergedDemandTests {
  @Test("STD-2, STD-3: the service is asked for the strictest settings of the running managers")
  func settings() {
    var virtual = VirtualDemand(managers: 2)
    let now = virtual.now
    virtual.demand.change(1, at: now) {
      $0.settings.desiredAccuracy = 100
      $0.settings.distanceFilter = 50
      $0.activity = .fitness
    }
    #expect(virtual.calls().isEmpty, "a manager that does not run wants nothing")
    virtual.demand.start(1, at: now)
    var settings = WireSettings()
    settings.desiredAccuracy = 100
    settings.distanceFilter = 50
    settings.activity = .fitness
    #expect(virtual.calls() == [.configure(settings), .startUpdating])
    virtual.demand.start(1, at: now)
    #expect(virtual.calls().isEmpty, "a repeated start has no effect")
    virtual.demand.start(2, at: now)
    settings = WireSettings()
    settings.desiredAccuracy = -1
    settings.distanceFilter = -1
    settings.activity = .other
    #expect(virtual.calls() == [.configure(settings)])
    virtual.demand.stop(2, at: now)
    virtual.demand.stop(1, at: now)
    #expect(virtual.calls().last == .stopUpdating)
  }

  @Test("PAU-1: updates pause only if all running managers allow it; each gets both callbacks")
  func pauses() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.change(1, at: virtual.now) { $0.pausesAutomatically = false }
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    var settings = WireSettings()
    settings.pausesAutomatically = false
    #expect(virtual.calls().first == .configure(settings))
    virtual.demand.stop(1, at: virtual.now)
    settings.pausesAutomatically = true
    #expect(virtual.calls() == [.configure(settings)])
    virtual.demand.start(1, at: virtual.now)
    _ = virtual.demand.takeEffects()
    virtual.demand.receivePause(at: virtual.now)
    virtual.demand.receiveResume(at: virtual.now)
    #expect(virtual.words(2) == ["paused", "resumed"])
  }

  @Test("STD-4, STD-5: each manager has its own distance filter, with the service's rule")
  func filters() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.change(1, at: virtual.now) { $0.settings.distanceFilter = 25 }
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    _ = virtual.demand.takeEffects()
    var fixes = virtual.fixes(7)
    virtual.receive(Array(fixes[..<6]))
    var words = virtual.demand.takeEffects().deliveries
    #expect(words.count == 2)
    if case .fixes(let batch, _)? = words.first?.delivery {
      // 10, 40 m: the third one after each is the first one 25 m away.
      #expect(batch.map(\.name.sequence) == [1, 4])
    }
    if case .fixes(let batch, _)? = words.last?.delivery { #expect(batch.count == 6) }
    fixes[6].fix.horizontalAccuracy_mm = 1_000
    virtual.receive([fixes[6]])
    words = virtual.demand.takeEffects().deliveries
    #expect(words.count == 2, "a more accurate fix passes")
  }

  @Test("PAU-10: the fix that a manager's filter dropped is delivered before the pause")
  func fixBeforePause() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.change(1, at: virtual.now) { $0.settings.distanceFilter = 1_000 }
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    virtual.receive(virtual.fixes(5))
    _ = virtual.demand.takeEffects()
    virtual.demand.receivePause(at: virtual.now)
    #expect(virtual.words(1) == ["1", "paused"])
  }

  @Test("RNG-3: a fix that arrives again after a reconnection is not delivered again")
  func duplicates() {
    var virtual = VirtualDemand(managers: 1)
    virtual.demand.start(1, at: virtual.now)
    let fixes = virtual.fixes(3)
    virtual.receive(fixes)
    #expect(virtual.words(1) == ["3"])
    virtual.demand.disconnected()
    virtual.connect()
    let calls = virtual.calls()
    #expect(calls == [.startUpdating], "updates start again")
    virtual.receive(fixes + virtual.fixes(1))
    #expect(virtual.words(1) == ["1"])
  }

  @Test("STD-11: a request ends with one fix or one error, for each manager")
  func requests() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.request(1, at: virtual.now)
    virtual.demand.request(1, at: virtual.now)
    virtual.demand.request(2, at: virtual.now)
    #expect(virtual.calls() == [.requestLocation])
    virtual.demand.receiveReport(virtual.fixes(1)[0])
    let effects = virtual.demand.takeEffects()
    #expect(effects.deliveries.map(\.manager) == [1, 2])
    #expect(effects.received.map(\.managers) == [2])
    virtual.demand.request(1, at: virtual.now)
    virtual.demand.receiveFailure(.locationUnknown, at: virtual.now)
    virtual.demand.receiveFailure(.locationUnknown, at: virtual.now)
    #expect(virtual.words(1) == ["failure(0)"])
    // While another manager runs, the request is answered from its stream.
    virtual.demand.start(2, at: virtual.now)
    virtual.demand.request(1, at: virtual.now)
    #expect(virtual.calls() == [.startUpdating])
    virtual.receive(virtual.fixes(2))
    #expect(virtual.words(1) == ["1"])
    virtual.demand.request(2, at: virtual.now)
    #expect(virtual.calls().isEmpty, "a request does nothing while updates run")
    virtual.demand.request(1, at: virtual.now)
    virtual.demand.stop(2, at: virtual.now)
    #expect(
      virtual.calls() == [.stopUpdating, .requestLocation], "the request outlives the updates")
  }

  @Test("DEF-44, STD-11: a deferral cancels the request of its manager, not that of another one")
  func requestsAndDeferrals() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.request(1, at: virtual.now)
    virtual.demand.request(2, at: virtual.now)
    _ = virtual.demand.takeEffects()
    virtual.demand.allowDeferred(1, distance: 500, timeout: 60, at: virtual.now)
    #expect(virtual.calls() == [.allowDeferred(distance: 500, timeout: 60), .requestLocation])
    virtual.demand.receiveFinish(.deferredNotUpdatingLocation, at: virtual.now)
    virtual.demand.receiveReport(virtual.fixes(1)[0])
    let deliveries = virtual.demand.takeEffects().deliveries.map(\.manager)
    #expect(deliveries == [1, 2])
  }

  @Test("STD-11: a request beside a manager that runs ends at its timeout: newest fix or error 0")
  func requestTimeout() {
    var virtual = VirtualDemand(managers: 3)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.request(2, at: virtual.now)
    #expect(virtual.demand.deadline == virtual.now + .seconds(30))
    virtual.pass(30)
    virtual.demand.endDue(at: virtual.now)
    #expect(virtual.words(2) == ["failure(0)"])
    #expect(virtual.demand.deadline == .distantFuture)
    virtual.receive(virtual.fixes(1))
    virtual.demand.request(3, at: virtual.now)
    virtual.pass(30)
    _ = virtual.demand.takeEffects()
    virtual.demand.endDue(at: virtual.now)
    #expect(virtual.demand.effects.received.map(\.managers) == [1])
    #expect(virtual.words(3) == ["1"])
  }

  @Test("DEF-28, STD-11, LIV-1: a loop or a request keeps a process that defers in the foreground")
  func foreground() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.change(1, at: virtual.now) { $0.allowsBackground = true }
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: 500, timeout: 60, at: virtual.now)
    #expect(virtual.calls().last == .setExecution(.background))
    virtual.demand.setLoops(exist: true)
    #expect(virtual.calls() == [.setExecution(.foreground)])
    virtual.demand.setLoops(exist: false)
    #expect(virtual.calls() == [.setExecution(.background)])
    virtual.demand.request(2, at: virtual.now)
    #expect(virtual.calls() == [.setExecution(.foreground)])
  }

  @Test("A lost connection is a failure for each service in use, once")
  func lostConnection() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.setSignificantChange(1, true)
    _ = virtual.demand.takeEffects()
    virtual.demand.disconnected()
    let effects = virtual.demand.takeEffects()
    #expect(effects.deliveries.map(\.manager) == [1])
  }

  @Test(
    "SLC-9, VIS-8: a service is on while any manager wants it, and stops for an earlier process")
  func durableServices() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.setSignificantChange(1, true)
    virtual.demand.setSignificantChange(1, true)
    virtual.demand.setSignificantChange(2, true)
    virtual.demand.setSignificantChange(1, false)
    #expect(virtual.calls() == [.startSignificantChange])
    virtual.demand.setSignificantChange(2, false)
    #expect(virtual.calls() == [.stopSignificantChange])
    virtual.demand.setVisits(1, false)
    #expect(virtual.calls() == [.stopVisits], "an earlier process may have started it")
    virtual.demand.disconnected()
    virtual.demand.setVisits(1, false)
    virtual.demand.setSignificantChange(1, true)
    virtual.connect()
    #expect(virtual.calls() == [.stopVisits, .startSignificantChange])
  }

  @Test("AUT-10: for a refused client each manager's start fails, also of the second one")
  func denied() {
    var virtual = VirtualDemand(managers: 2, .denied)
    virtual.demand.start(1, at: virtual.now)
    #expect(virtual.calls() == [.startUpdating])
    virtual.demand.receiveFailure(.denied, at: virtual.now)
    #expect(virtual.words(1) == ["failure(1)"])
    virtual.demand.start(2, at: virtual.now)
    #expect(virtual.words(2) == ["failure(1)"])
    virtual.demand.request(1, at: virtual.now)
    _ = virtual.demand.takeEffects()
  }

  @Test("RNG-8: a fix waits for every manager that got it")
  func acknowledgements() {
    var ledger = FixLedger()
    let names = (1...4).map { FixName(generation: 1, sequence: $0) }
    for name in names { ledger.add(name, managers: 2) }
    ledger.release(names[0])
    ledger.release(names[1])
    ledger.release(names[1])
    #expect(ledger.consumeHandled() == nil, "the first one is still with a manager")
    ledger.release(names[0])
    #expect(ledger.consumeHandled() == names[1])
    ledger.add(names[0], managers: 1)
    #expect(ledger.consumeHandled() == nil, "an acknowledged fix is not added again")
    ledger.add(FixName(generation: 2, sequence: 1), managers: 0)
    #expect(ledger.consumeHandled() == nil, "the third one is not handled")
    for name in names[2...] {
      ledger.release(name)
      ledger.release(name)
    }
    #expect(ledger.consumeHandled() == FixName(generation: 2, sequence: 1))
  }

  @Test("REG-13: an event is acknowledged with all earlier ones, and arrives once")
  func events() {
    var ledger = EventLedger()
    let arrivals = [
      ledger.recordArrival(1), ledger.recordArrival(2), ledger.recordArrival(0),
      ledger.recordArrival(2),
    ]
    #expect(arrivals == [true, true, true, false], "2 is delivered again after a reconnection")
    ledger.add(1, receivers: 1)
    ledger.add(2, receivers: 1)
    ledger.release(2)
    #expect(ledger.consumeHandled() == nil)
    ledger.release(1)
    #expect(ledger.consumeHandled() == 2)
  }
}

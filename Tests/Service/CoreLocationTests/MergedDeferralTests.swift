import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import CoreLocation

@Suite("Deferrals of the managers of one process")
struct MergedDeferralTests {
  @Test("DEF-8, DEF-12, X1: with one manager the service's finish and batch pass through")
  func forwarded() {
    var virtual = VirtualDemand(managers: 1)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: 500, timeout: 60, at: virtual.now)
    #expect(virtual.calls() == [.startUpdating, .allowDeferred(distance: 500, timeout: 60)])
    for _ in 0..<3 {
      virtual.demand.receiveFinish(nil, at: virtual.now)
      virtual.receive(virtual.fixes(4))
      #expect(virtual.words(1) == ["finish", "4"])
      virtual.demand.allowDeferred(1, distance: 500, timeout: 60, at: virtual.now)
      #expect(virtual.calls() == [.allowDeferred(distance: 500, timeout: 60)])
    }
  }

  @Test("DEF-28: the process is in the background while it may be, and all running managers defer")
  func background() {
    var virtual = VirtualDemand(managers: 1)
    virtual.demand.change(1, at: virtual.now) { $0.allowsBackground = true }
    virtual.demand.start(1, at: virtual.now)
    #expect(!virtual.calls().contains(.setExecution(.background)))
    virtual.demand.allowDeferred(1, distance: 500, timeout: 60, at: virtual.now)
    #expect(virtual.calls().last == .setExecution(.background))
    virtual.demand.receiveFinish(nil, at: virtual.now)
    virtual.receive(virtual.fixes(1))
    #expect(virtual.calls().isEmpty, "between two deferrals it stays there")
    virtual.demand.allowDeferred(1, distance: 500, timeout: 60, at: virtual.now)
    #expect(virtual.calls() == [.allowDeferred(distance: 500, timeout: 60)])
    virtual.demand.disallowDeferred(1, at: virtual.now)
    #expect(virtual.calls() == [.disallowDeferred, .setExecution(.foreground)])
    virtual.demand.backgroundRefused(at: virtual.now)
    virtual.demand.allowDeferred(1, distance: 500, timeout: 60, at: virtual.now)
    #expect(!virtual.calls().contains(.setExecution(.background)), "BKG-18: refused")
  }

  @Test(
    "BKG-18, DEF-28: a process that was undecided may run in the background after its permission")
  func backgroundAfterDecision() {
    var virtual = VirtualDemand(managers: 1, .notDetermined)
    virtual.demand.change(1, at: virtual.now) { $0.allowsBackground = true }
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.backgroundRefused(at: virtual.now)
    _ = virtual.demand.takeEffects()
    virtual.demand.receiveAuthorization(.always, isReduced: false, at: virtual.now)
    var settings = WireSettings()
    settings.allowsBackground = true
    #expect(virtual.calls() == [.configure(settings)])
    virtual.demand.allowDeferred(1, distance: 500, timeout: 60, at: virtual.now)
    #expect(virtual.calls().last == .setExecution(.background))
  }

  @Test(
    "DEF-23: invalid criteria of the only manager reach the service as invalid",
    arguments: [(Double.nan, 60.0), (60, .nan), (-.infinity, 60), (60, -.infinity)])
  func invalidForwarded(distance: Double, timeout: Double) {
    var virtual = VirtualDemand(managers: 1)
    virtual.demand.start(1, at: virtual.now)
    _ = virtual.demand.takeEffects()
    virtual.demand.allowDeferred(1, distance: distance, timeout: timeout, at: virtual.now)
    #expect(virtual.calls() == [.allowDeferred(distance: -1, timeout: -1)])
    virtual.demand.receiveFinish(.deferredFailed, at: virtual.now)
    #expect(virtual.words(1) == ["finish(11)"])
  }

  @Test("DEF-31, DEF-32: a full cache is one batch without a finish; the deferral continues")
  func fullCache() {
    let capacity = MergedDemand.heldCapacity
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 1e6, at: virtual.now)
    virtual.receive(virtual.fixes(capacity - 1))
    #expect(virtual.words(1) == [])
    virtual.receive(virtual.fixes(3))
    #expect(virtual.words(1) == ["\(capacity)"])
    virtual.demand.disallowDeferred(1, at: virtual.now)
    #expect(virtual.words(1) == ["finish(15)", "2"])
  }

  @Test("DEF-16, DEF-35: while another manager is live, a deferral keeps its fixes here")
  func held() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: 50, timeout: .infinity, at: virtual.now)
    #expect(!virtual.calls().contains { if case .allowDeferred = $0 { true } else { false } })
    virtual.receive(virtual.fixes(5))
    #expect(virtual.words(1) == [])
    virtual.receive(virtual.fixes(3))
    // The sixth fix is 50 m from the first one; the remaining ones are delivered normally.
    #expect(virtual.words(1) == ["finish", "6", "2"])
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 10, at: virtual.now)
    virtual.receive(virtual.fixes(9))
    #expect(virtual.words(1) == [])
    #expect(virtual.demand.deadline == virtual.now + .seconds(1))
    virtual.pass(1)
    virtual.demand.endDue(at: virtual.now)
    #expect(virtual.words(1) == ["finish", "9"])
    virtual.demand.endDue(at: virtual.now)
    #expect(virtual.words(1) == [])
  }

  @Test("DEF-29: the service defers while all running managers do, for the shortest remainder")
  func merged() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 100, at: virtual.now)
    _ = virtual.demand.takeEffects()
    virtual.pass(40)
    virtual.demand.allowDeferred(2, distance: 10_000, timeout: 80, at: virtual.now)
    #expect(virtual.calls() == [.allowDeferred(distance: 10_000, timeout: 60)])
    // The service's end is the first manager's; the second one continues.
    let fixes = virtual.fixes(60)
    virtual.demand.receiveFinish(nil, at: virtual.now)
    virtual.demand.receive(fixes, at: virtual.now)
    virtual.demand.endDue(at: virtual.now)
    let effects = virtual.demand.takeEffects()
    #expect(effects.deliveries.map(\.manager) == [1, 1])
    #expect(effects.received.map(\.managers) == Array(repeating: 2, count: 60))
    #expect(effects.calls == [], "the first manager is live now")
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 100, at: virtual.now)
    guard case .allowDeferred(let distance, 20, 0)? = virtual.calls().last else {
      Issue.record("the service is asked again")
      return
    }
    #expect(abs(distance - 9_400) < 100)
  }

  @Test(
    "DEF-8: a second manager that starts during a deferral of the service takes it into the process"
  )
  func converted() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 30, at: virtual.now)
    _ = virtual.demand.takeEffects()
    virtual.demand.start(2, at: virtual.now)
    #expect(virtual.calls() == [.disallowDeferred])
    virtual.demand.receiveFinish(.deferredCanceled, at: virtual.now)
    virtual.receive(virtual.fixes(10))
    #expect(virtual.words(1) == [], "the service's finish is not the manager's")
    virtual.demand.stop(2, at: virtual.now)
    // Again the only running manager: the service defers for the remainder.
    #expect(virtual.calls() == [.allowDeferred(distance: .greatestFiniteMagnitude, timeout: 20)])
    virtual.pass(20)
    virtual.demand.receiveFinish(nil, at: virtual.now)
    virtual.demand.endDue(at: virtual.now)
    #expect(virtual.words(1) == [], "the batch may be read a little later")
    let fixes = virtual.fixes(2)
    virtual.receive(fixes)
    #expect(virtual.words(1) == ["finish", "12"])
  }

  @Test("DEF-34: the end of a deferral of the service without fixes is the finish alone")
  func emptyCache() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 30, at: virtual.now)
    virtual.demand.allowDeferred(2, distance: .infinity, timeout: 60, at: virtual.now)
    virtual.pass(30)
    virtual.demand.receiveFinish(nil, at: virtual.now)
    virtual.demand.endDue(at: virtual.now)
    #expect(virtual.demand.deadline == virtual.now + .milliseconds(100))
    virtual.pass(1)
    virtual.demand.endDue(at: virtual.now)
    #expect(virtual.words(1) == ["finish"])
    #expect(virtual.words(2) == [])
  }

  @Test(
    "DEF-1, DEF-2, DEF-3, DEF-4, DEF-6, DEF-23: preconditions beside a live manager",
    arguments: [
      (13, true, 10.0, -1.0, 60.0), (14, true, -1, 5, 60), (12, false, 10, -1, 60),
      (11, true, -1, -1, -1), (13, true, 10, 5, 60), (11, true, -1, -1, .nan),
    ])
  func preconditions(code: Int, starts: Bool, accuracy: Double, filter: Double, timeout: Double) {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(2, at: virtual.now)
    virtual.demand.change(1, at: virtual.now) {
      $0.settings.desiredAccuracy = accuracy
      $0.settings.distanceFilter = filter
    }
    if starts { virtual.demand.start(1, at: virtual.now) }
    _ = virtual.demand.takeEffects()
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: timeout, at: virtual.now)
    #expect(virtual.words(1) == ["finish(\(code))"])
  }

  @Test("DEF-13, DEF-15, DEF-37, DEF-39: cancellations of a deferral that keeps its fixes here")
  func cancellations() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    func ask() {
      virtual.demand.allowDeferred(1, distance: .infinity, timeout: 60, at: virtual.now)
    }
    ask()
    virtual.receive(virtual.fixes(2))
    ask()
    #expect(virtual.words(1) == ["finish(15)", "2"])
    virtual.receive(virtual.fixes(1))
    virtual.demand.disallowDeferred(1, at: virtual.now)
    #expect(virtual.words(1) == ["finish(15)", "1"])
    virtual.demand.disallowDeferred(1, at: virtual.now)
    #expect(virtual.words(1) == [], "without a deferral there is no callback")
    ask()
    virtual.demand.change(1, at: virtual.now) { $0.settings.desiredAccuracy = 10 }
    #expect(virtual.words(1) == ["finish(13)"])
    virtual.demand.change(1, at: virtual.now) { $0.settings.desiredAccuracy = -1 }
    ask()
    virtual.receive(virtual.fixes(3))
    virtual.demand.stop(1, at: virtual.now)
    virtual.receive(virtual.fixes(3))
    #expect(virtual.words(1) == ["finish(15)", "3"], "then nothing")
  }

  @Test("DEF-37: a stop during a deferral of the service: its finish, its batch, then nothing")
  func stopForwarded() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 60, at: virtual.now)
    let batch = virtual.fixes(600)
    virtual.demand.stop(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    _ = virtual.demand.takeEffects()
    virtual.demand.receiveFinish(.deferredCanceled, at: virtual.now)
    // The batch comes in notices of 256 fixes, each in a round of its own.
    virtual.receive(Array(batch[..<256]))
    virtual.receive(Array(batch[256..<512]))
    let later = virtual.fixes(4)
    virtual.receive(batch[512...] + later)
    virtual.receive(virtual.fixes(4))
    #expect(
      virtual.words(1) == ["finish(15)", "256", "256", "88"], "then nothing: the rest is of 2")
  }

  @Test("DEF-37: no fix of another manager's updates is taken for a final batch without fixes")
  func stopForwardedEmpty() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 60, at: virtual.now)
    virtual.demand.stop(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    _ = virtual.demand.takeEffects()
    virtual.demand.receiveFinish(.deferredCanceled, at: virtual.now)
    virtual.receive(virtual.fixes(4))
    #expect(virtual.words(1) == ["finish(15)"])
  }

  @Test("DEF-35: the batch of a merged deferral is complete with the first notice that is not full")
  func mergedBatchInParts() {
    var virtual = VirtualDemand(managers: 2)
    for id in [1, 2] { virtual.demand.start(id, at: virtual.now) }
    for id in [1, 2] {
      virtual.demand.allowDeferred(id, distance: .infinity, timeout: 300, at: virtual.now)
    }
    let batch = virtual.fixes(300)
    _ = virtual.demand.takeEffects()
    virtual.demand.receiveFinish(nil, at: virtual.now)
    virtual.receive(Array(batch[..<256]))
    #expect(virtual.words(1) == [])
    virtual.receive(Array(batch[256...]))
    #expect(virtual.words(1) == ["finish", "300"])
  }

  @Test("DEF-38: a pause ends a deferral that keeps its fixes here: finish, batch, pause")
  func pause() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 60, at: virtual.now)
    virtual.receive(virtual.fixes(2))
    virtual.demand.receivePause(at: virtual.now)
    #expect(virtual.words(1) == ["finish(12)", "2", "paused"])
  }

  @Test("DEF-40, X7: a revoked authorization erases the fixes that are kept here")
  func revoked() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.start(2, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 60, at: virtual.now)
    virtual.receive(virtual.fixes(2))
    _ = virtual.demand.takeEffects()
    virtual.demand.receiveAuthorization(.denied, isReduced: false, at: virtual.now)
    let released = virtual.demand.effects.released.count
    virtual.demand.receiveFailure(.denied, at: virtual.now)
    #expect(released == 2 && virtual.demand.effects.dropsFixes)
    #expect(virtual.words(1) == ["authorization", "finish(1)", "failure(1)"])
  }

  @Test("RNG-6, RNG-8: fixes that arrive together with a denial do not block the acknowledgements")
  func revokedInTheSameRound() {
    var state = SessionState()
    var virtual = VirtualDemand(managers: 1)
    virtual.demand.start(1, at: virtual.now)
    state.demand = virtual.demand
    let fixes = virtual.fixes(2)
    state.receive(
      [.fixes(fixes), .authorization(.denied, isReduced: false)], at: virtual.now)
    #expect(state.handledFix == fixes[1].name)
  }

  @Test("DEF-43: an end by the service ends the deferrals of all managers, each with its batch")
  func receiverLost() {
    var virtual = VirtualDemand(managers: 2)
    for id in [1, 2] { virtual.demand.start(id, at: virtual.now) }
    for id in [1, 2] {
      virtual.demand.allowDeferred(id, distance: .infinity, timeout: 60, at: virtual.now)
    }
    _ = virtual.demand.takeEffects()
    virtual.demand.receiveFinish(.deferredFailed, at: virtual.now)
    virtual.demand.receive(virtual.fixes(3), at: virtual.now)
    virtual.demand.receiveFailure(.locationUnknown, at: virtual.now)
    #expect(virtual.words(2) == ["finish(11)", "3", "failure(0)"])
  }

  @Test("DEF-8: a lost connection neither loses nor doubles a finish; the deferral continues")
  func reconnection() {
    var virtual = VirtualDemand(managers: 1)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 60, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 90, at: virtual.now)
    _ = virtual.demand.takeEffects()
    virtual.demand.disconnected()
    #expect(virtual.words(1) == ["finish(15)", "failure(0)"])
    virtual.pass(30)
    virtual.connect()
    #expect(
      virtual.calls()
        == [.startUpdating, .allowDeferred(distance: .greatestFiniteMagnitude, timeout: 60)])
    virtual.demand.receiveFinish(nil, at: virtual.now)
    #expect(virtual.words(1) == ["finish"])
    // Without a connection, a second call and a stop end the first call here.
    virtual.demand.disconnected()
    virtual.demand.allowDeferred(1, distance: 5, timeout: 90, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: 6, timeout: 90, at: virtual.now)
    virtual.demand.stop(1, at: virtual.now)
    #expect(virtual.words(1) == ["failure(0)", "finish(15)", "finish(15)"])
    virtual.connect()
    #expect(virtual.calls().isEmpty)
  }

  @Test("DEF-17: without a service, timeouts end deferrals by the process's clock")
  func timeoutsWithoutService() {
    var virtual = VirtualDemand(managers: 2)
    for id in [1, 2] { virtual.demand.start(id, at: virtual.now) }
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 30, at: virtual.now)
    virtual.receive(virtual.fixes(3))
    virtual.demand.disconnected()
    _ = virtual.demand.takeEffects()
    #expect(virtual.demand.deadline == virtual.now + .seconds(27))
    virtual.pass(27)
    virtual.demand.endDue(at: virtual.now)
    #expect(virtual.words(1) == ["finish", "3"])
    // A deferral that is forwarded on the next connection.
    virtual.demand.stop(2, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 30, at: virtual.now)
    #expect(virtual.demand.deadline == virtual.now + .seconds(30))
    virtual.pass(30)
    virtual.demand.endDue(at: virtual.now)
    #expect(virtual.words(1) == ["finish"])
    #expect(virtual.demand.deadline == .distantFuture)
    virtual.connect()
    #expect(virtual.calls() == [.startUpdating], "nothing is left to forward")
  }

  @Test("AUT-2, DEF-8: when the client is taken over, deferrals end, and later ones at once")
  func takenOver() {
    var virtual = VirtualDemand(managers: 2)
    virtual.demand.start(1, at: virtual.now)
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 60, at: virtual.now)
    _ = virtual.demand.takeEffects()
    virtual.demand.close()
    #expect(virtual.words(1) == ["failure(0)", "finish(11)"])
    virtual.demand.allowDeferred(1, distance: .infinity, timeout: 60, at: virtual.now)
    #expect(virtual.words(1) == ["finish(11)"])
    #expect(virtual.demand.deadline == .distantFuture)
  }

  /// Random programs: 3 managers, all operations, losses of the service and of accuracy; counts calls and finishes, and
  /// the managers that have to handle each fix.
  @Test(
    "DEF-8, RNG-8: each call has one finish, each fix is handled, in random programs",
    arguments: 1...60)
  func exactlyOnce(seed: UInt64) {
    var generator = RandomNumbers(state: seed)
    var service = SimulatedFinishes()
    var virtual = VirtualDemand(managers: 3)
    var calls = [0, 0, 0, 0]
    var finishes = [0, 0, 0, 0]
    var outstanding = OutstandingFixes()
    func look() {
      let effects = virtual.demand.takeEffects()
      outstanding.count(effects)
      for call in effects.calls { service.handle(call) }
      for case (let id, .finished) in effects.deliveries { finishes[id] += 1 }
    }
    for _ in 0..<200 {
      let id = Int.random(in: 1...3, using: &generator)
      switch Int.random(in: 0..<12, using: &generator) {
      case 0: virtual.demand.start(id, at: virtual.now)
      case 1: virtual.demand.stop(id, at: virtual.now)
      case 2, 3:
        calls[id] += 1
        let timeout = [5.0, 30, .infinity, -1].randomElement(using: &generator) ?? 5
        virtual.demand.allowDeferred(id, distance: 80, timeout: timeout, at: virtual.now)
      case 4: virtual.demand.disallowDeferred(id, at: virtual.now)
      case 5:
        let accuracy = Bool.random(using: &generator) ? -1.0 : 10
        virtual.demand.change(id, at: virtual.now) { $0.settings.desiredAccuracy = accuracy }
      case 6:
        if virtual.demand.service != nil {
          virtual.demand.disconnected()
          service = SimulatedFinishes()
        } else {
          virtual.connect()
        }
      case 7:
        guard virtual.demand.service != nil else { break }
        look()
        for code in service.take(endsOpen: true) {
          virtual.demand.receiveFinish(code, at: virtual.now)
        }
      case 8:
        guard virtual.demand.service != nil else { break }
        virtual.receive(virtual.fixes(2))
        let isReduced = Bool.random(using: &generator)
        virtual.demand.receiveAuthorization(.always, isReduced: isReduced, at: virtual.now)
      default:
        guard virtual.demand.service != nil else { break }
        look()
        for code in service.take(endsOpen: false) {
          virtual.demand.receiveFinish(code, at: virtual.now)
        }
        virtual.receive(virtual.fixes(3))
      }
      look()
      for id in 1...3 { #expect(finishes[id] <= calls[id]) }
    }
    if virtual.demand.service == nil { virtual.connect() }
    for id in 1...3 {
      virtual.demand.disallowDeferred(id, at: virtual.now)
      look()
      for code in service.take(endsOpen: true) {
        virtual.demand.receiveFinish(code, at: virtual.now)
      }
      virtual.demand.endDue(at: virtual.now)
      look()
    }
    for code in service.take(endsOpen: true) { virtual.demand.receiveFinish(code, at: virtual.now) }
    look()
    #expect(finishes == calls)
    #expect(outstanding.managers.filter { $0.value != 0 } == [:])
  }
}

/// How many managers still have to handle each fix, by its sequence number.
private struct OutstandingFixes {
  private(set) var managers: [UInt64: Int] = [:]

  mutating func count(_ effects: MergedDemand.Effects) {
    for (name, count) in effects.received { managers[name.sequence, default: 0] += count }
    for name in effects.released { managers[name.sequence, default: 0] -= 1 }
    for case (_, .fixes(let fixes, _)) in effects.deliveries {
      for fix in fixes { managers[fix.name.sequence, default: 0] -= 1 }
    }
  }
}

/// The service's side of DEF-8: one finish for each call.
private struct SimulatedFinishes {
  private var isOpen = false
  private var isUpdating = false
  private var ends: [LocationErrorCode?] = []

  mutating func handle(_ call: WireCall) {
    switch call {
    case .startUpdating: isUpdating = true
    case .allowDeferred(_, let timeout, _):
      if isOpen { ends.append(.deferredCanceled) }
      isOpen = isUpdating && timeout >= 0
      if !isOpen { ends.append(timeout >= 0 ? .deferredNotUpdatingLocation : .deferredFailed) }
    case .disallowDeferred: end(.deferredCanceled)
    case .stopUpdating:
      isUpdating = false
      end(.deferredCanceled)
    case .configure(let settings):
      if let accuracy = settings.desiredAccuracy, accuracy > 0 { end(.deferredAccuracyTooLow) }
    default: break
    }
  }

  private mutating func end(_ code: LocationErrorCode?) {
    if isOpen { ends.append(code) }
    isOpen = false
  }

  mutating func take(endsOpen: Bool) -> [LocationErrorCode?] {
    if endsOpen { end(nil) }
    defer { ends = [] }
    return ends
  }
}

/// Reproducible random numbers.
private struct RandomNumbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state ^ state >> 33) &* 0xff51_afd7_ed55_8ccd
  }
}

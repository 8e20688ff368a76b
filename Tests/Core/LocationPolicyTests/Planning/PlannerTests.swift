import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Demands and the plan that serves them")
struct PlannerTests {
  static let idle = SleepParameters(
    state: .idle, resumeTime: .milliseconds(20), alarmResolution: .milliseconds(30),
    minimumDuration: .zero,
    wakesOnPin: true, wakesOnBytes: true)
  static let deep = SleepParameters(
    state: .suspended, resumeTime: .milliseconds(1_500), alarmResolution: .milliseconds(500),
    minimumDuration: .seconds(10), wakesOnPin: true, wakesOnBytes: false)

  static func table() -> TimeToFixTable {
    var table = TimeToFixTable(cold: .seconds(30))
    table.append(off: .seconds(0), fix: .seconds(1))
    table.append(off: .seconds(100), fix: .seconds(3))
    return table
  }

  /// A board that idles and suspends, with a receiver that batches 100 fixes and pins at 60.
  static func figures() -> PlannerParameters {
    var figures = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 1_000, timeToFix: table())
    figures.canStandby = true
    figures.canSwitchOff = true
    figures.batch = BatchParameters(capacity: 100, watermark: 60, hasPin: true)
    figures.idle = idle
    figures.deep = deep
    return figures
  }

  static func situation(_ demands: Demand...) -> PlannerInput {
    var situation = PlannerInput()
    for demand in demands { situation.demand.add(demand) }
    return situation
  }

  static let now = Instant(seconds: 1_000)
  static let deferred = Demand.deferred(check: .distantFuture)

  static func plan(
    _ situation: PlannerInput, _ figures: PlannerParameters = figures(), isInhibited: Bool = false
  ) -> Plan {
    Planner(figures).plan(situation, isInhibited: isInhibited, at: now)
  }

  @Test("BKG-3: a profile may never suspend: without that state the board idles, whatever is asked")
  func neverSuspends() {
    var figures = PlannerTests.figures()
    #expect(PlannerTests.plan(PlannerTests.situation(), figures).board == .suspended)
    figures.deep = nil
    for demands in [[], [PlannerTests.deferred], [.within(metres: 3_000)]] as [[Demand]] {
      var situation = PlannerInput()
      for demand in demands { situation.demand.add(demand) }
      #expect(PlannerTests.plan(situation, figures).board == .idle)
    }
  }

  @Test("the summary counts each kind and keeps the earliest look")
  func summary() {
    var sum = DemandSummary()
    #expect((sum.live, sum.watched, sum.deferred) == (0, 0, 0))
    #expect(sum.check == .distantFuture)
    sum.add(.none)
    #expect(sum == DemandSummary())
    sum.add(.live(isWatched: false))
    sum.add(.live(isWatched: true))
    #expect((sum.live, sum.watched, sum.deferred) == (2, 1, 0))
    sum.add(.deferred(check: Instant(seconds: 9)))
    sum.add(.deferred(check: Instant(seconds: 7)))
    sum.add(.deferred(check: Instant(seconds: 8)))
    #expect((sum.live, sum.watched, sum.deferred) == (2, 1, 3))
    #expect(sum.check == Instant(seconds: 7))
  }

  @Test("PWR-1: the receiver does the least that serves every client")
  func receiver() {
    func receiver(
      _ demands: [Demand], inhibited: Bool = false,
      _ change: (inout PlannerParameters) -> Void = { _ in }
    ) -> PlannedReceiver {
      var figures = Self.figures()
      change(&figures)
      var sum = DemandSummary()
      for demand in demands { sum.add(demand) }
      return Planner(figures).receiver(for: sum, isInhibited: inhibited)
    }
    #expect(receiver([]) == .standby)
    #expect(receiver([.none]) == .standby)
    #expect(receiver([]) { $0.canStandby = false } == .off)
    #expect(receiver([]) { $0.canSwitchOff = false } == .standby)
    #expect(
      receiver([]) {
        $0.canStandby = false
        $0.canSwitchOff = false
      } == .tracking)
    #expect(receiver([.live(isWatched: false)]) == .tracking)
    #expect(receiver([Self.deferred]) == .batching(watermark: 60))
    #expect(receiver([Self.deferred]) { $0.batch = nil } == .tracking)
    #expect(receiver([Self.deferred, .live(isWatched: false)]) == .tracking)
    #expect(receiver([Self.deferred], inhibited: true) == .tracking)
    #expect(receiver([], inhibited: true) == .standby)
  }

  @Test(
    "RNG-1: no more gathers in the receiver than the deferral's limit, DEF-33: or its watermark")
  func watermark() {
    var figures = Self.figures()
    #expect(figures.watermark == 60)
    figures.deferralLimit = 59
    #expect(figures.watermark == 59)
    figures.deferralLimit = 61
    #expect(figures.watermark == 60)
    figures.batch = nil
    #expect(figures.watermark == nil)
  }

  @Test("DEF-28, DEF-29: fixes may stay behind when the board can sleep and nobody needs them now")
  func mayDefer() {
    func may(
      _ demand: Demand, inhibited: Bool = false,
      _ change: (inout PlannerParameters) -> Void = { _ in }
    ) -> Bool {
      var figures = Self.figures()
      change(&figures)
      var sum = DemandSummary()
      sum.add(demand)
      return Planner(figures).mayDefer(sum, isInhibited: inhibited)
    }
    #expect(may(Self.deferred))
    #expect(may(.none))
    #expect(!may(Self.deferred, inhibited: true))
    #expect(!may(.live(isWatched: false)))
    #expect(!may(.live(isWatched: true)))
    #expect(may(Self.deferred) { $0.batch = nil })
    #expect(may(Self.deferred) { $0.idle = nil })
    #expect(
      !may(Self.deferred) {
        $0.batch = nil
        $0.idle = nil
      })
  }

  @Test("nothing wanted: the deepest sleep, without an alarm")
  func nothing() {
    #expect(
      Self.plan(Self.situation())
        == Plan(receiver: .standby, board: .suspended, wake: .distantFuture, wakesOnInput: false))
    var figures = Self.figures()
    // Nothing sends: a sleep that no pin ends will do.
    figures.deep?.wakesOnPin = false
    #expect(Self.plan(Self.situation(), figures).board == .suspended)
    figures.canStandby = false
    #expect(
      Self.plan(Self.situation(), figures)
        == Plan(receiver: .off, board: .suspended, wake: .distantFuture, wakesOnInput: false))
    figures.deep = nil
    #expect(
      Self.plan(Self.situation(), figures)
        == Plan(receiver: .off, board: .idle, wake: .distantFuture, wakesOnInput: true))
    figures.idle = nil
    #expect(
      Self.plan(Self.situation(), figures)
        == Plan(receiver: .off, board: .idle, wake: .distantFuture, wakesOnInput: true))
  }

  @Test("what is in flight, an inhibitor or an awaited acknowledgement lets the board idle at most")
  func held() {
    var situation = Self.situation(Self.deferred)
    let batching = PlannedReceiver.batching(watermark: 60)
    #expect(
      Self.plan(situation, isInhibited: true)
        == Plan(receiver: .tracking, board: .idle, wake: .distantFuture, wakesOnInput: true))
    situation.acknowledgementDeadline = Self.now + .seconds(2)
    #expect(
      Self.plan(situation)
        == Plan(receiver: batching, board: .idle, wake: Self.now + .seconds(2), wakesOnInput: true))
    situation.isBusy = true
    #expect(
      Self.plan(situation)
        == Plan(receiver: batching, board: .idle, wake: .distantFuture, wakesOnInput: true))
    situation.isBusy = false
    situation.acknowledgementDeadline = Self.now
    #expect(Self.plan(situation).board == .suspended)
  }

  @Test("DEF-18: the alarm is set before the moment by resume and the alarm's grain")
  func lead() {
    #expect(Self.deep.alarmLead == .milliseconds(2_000))
    #expect(Self.idle.alarmLead == .milliseconds(50))
    let check = Self.now + .seconds(600)
    var situation = Self.situation(.deferred(check: check))
    #expect(
      Self.plan(situation)
        == Plan(
          receiver: .batching(watermark: 60), board: .suspended, wake: check - .seconds(2),
          wakesOnInput: false))
    // No client waits for a drain: the alarm does not lie before its moment.
    situation.drainDue = Self.now + .seconds(50)
    #expect(Self.plan(situation).wake == Self.now + .seconds(50))
    var figures = Self.figures()
    figures.deep = nil
    #expect(
      Self.plan(situation, figures)
        == Plan(
          receiver: .batching(watermark: 60), board: .idle,
          wake: Self.now + .seconds(50), wakesOnInput: true))
  }

  @Test(
    "the depth of sleep is what the time left is good for",
    arguments: [
      (12_000_000, BoardState.suspended, 10_000_000), (11_999_999, .idle, 11_949_999),
      // Woken early from the deep sleep it waits for the moment itself.
      (2_000_001, .idle, 1_950_001), (2_000_000, .idle, 2_000_000), (1, .idle, 1), (0, .idle, 0),
      (-5, .idle, -5),
    ] as [(Int64, BoardState, Int64)])
  func depth(_ left: Int64, _ board: BoardState, _ wake: Int64) {
    let check = Self.now + Interval(microseconds: left)
    let plan = Self.plan(Self.situation(.deferred(check: check)))
    #expect(plan.receiver == .batching(watermark: 60))
    #expect(plan.board == board)
    #expect(plan.wake == Self.now + Interval(microseconds: wake))
    #expect(plan.wakesOnInput == (board != .suspended))
  }

  @Test("a sleep that the batch pin does not end is not taken while the pin is awaited")
  func pin() {
    var figures = Self.figures()
    figures.deep?.wakesOnPin = false
    #expect(Self.plan(Self.situation(Self.deferred), figures).board == .idle)
    figures.batch?.hasPin = false
    #expect(Self.plan(Self.situation(Self.deferred), figures).board == .suspended)
    figures.deep?.wakesOnPin = true
    figures.batch?.hasPin = true
    #expect(Self.plan(Self.situation(Self.deferred), figures).board == .suspended)
    figures.idle = nil
    figures.deep = nil
    #expect(Self.plan(Self.situation(Self.deferred), figures).board == .idle)
  }

  @Test("PWR-4: a deep sleep that bytes end is listened in: who batches or rests should be silent")
  func deepListening() {
    for wakes in [false, true] {
      var figures = Self.figures()
      figures.deep?.wakesOnBytes = wakes
      for plan in [
        Self.plan(Self.situation(), figures), Self.plan(Self.situation(Self.deferred), figures),
      ] {
        #expect(plan.board == .suspended && plan.wakesOnInput == wakes)
      }
    }
  }

  @Test("a receiver that tells each fix lets the board idle, listening, until the next look")
  func streaming() {
    let live = Self.situation(.live(isWatched: true))
    #expect(
      Self.plan(live)
        == Plan(receiver: .tracking, board: .idle, wake: .distantFuture, wakesOnInput: true))
    var figures = Self.figures()
    figures.batch = nil
    for (left, board, wake) in [
      (50_001, BoardState.idle, 1), (50_000, .idle, 50_000), (5_000_000, .idle, 4_950_000),
    ] as [(Int64, BoardState, Int64)] {
      let check = Self.now + Interval(microseconds: left)
      #expect(
        Self.plan(Self.situation(.deferred(check: check)), figures)
          == Plan(
            receiver: .tracking, board: board, wake: Self.now + Interval(microseconds: wake),
            wakesOnInput: true))
    }
    figures.idle?.wakesOnBytes = false
    #expect(Self.plan(live, figures).board == .idle)
    figures.idle = nil
    #expect(Self.plan(live, figures).board == .idle)
  }

  @Test("nobody wakes for a search that cannot have succeeded, unless somebody watches")
  func search() {
    var figures = Self.figures()
    figures.batch = nil
    figures.inputBufferTime = .seconds(100)
    var situation = Self.situation(.live(isWatched: false))
    func wake(_ seconds: Double) -> Instant { Self.now + Interval(seconds: seconds) }

    // Just begun after 50 s in standby: first one message is heard, so that it is known when the
    // others come.
    situation.acquiringSince = Self.now
    situation.previousOffTime = .seconds(50)
    var plan = Self.plan(situation, figures)
    #expect((plan.board, plan.wakesOnInput, plan.wake) == (.idle, true, wake(1)))
    situation.acquiringSince = Self.now - .seconds(11)
    #expect(!Self.plan(situation, figures).wakesOnInput)
    situation.acquiringSince = Self.now
    situation.lastMessageTime = Self.now
    // 2 s to the fix, at most one more to its epoch, which the message after that tells.
    plan = Self.plan(situation, figures)
    #expect((plan.board, plan.wakesOnInput, plan.wake) == (.idle, false, wake(4.1)))
    // Unknown time off: a cold start.
    situation.previousOffTime = nil
    #expect(Self.plan(situation, figures).wake == wake(32.1))
    // No longer than the line's buffer can gather.
    figures.inputBufferTime = .seconds(20)
    #expect(Self.plan(situation, figures).wake == wake(21.1))
    figures.inputBufferTime = .seconds(100)
    // Overdue: ever more seldom, by a quarter of the time that it took so far.
    situation.acquiringSince = Self.now - Interval(seconds: 30.999)
    #expect(Self.plan(situation, figures).wake == wake(1.1))
    situation.acquiringSince = Self.now - .seconds(31)
    #expect(Self.plan(situation, figures).wake == wake(8.1))
    situation.acquiringSince = Self.now - .seconds(1_000)
    #expect(Self.plan(situation, figures).wake == wake(101.1))
    // The next message comes whole intervals after the last one.
    situation.acquiringSince = Self.now - .seconds(3)
    situation.previousOffTime = .zero
    #expect(Self.plan(situation, figures).wake == wake(1.1))
    situation.lastMessageTime = wake(-0.3)
    #expect(Self.plan(situation, figures).wake == wake(1.8))
    situation.lastMessageTime = wake(5)
    #expect(Self.plan(situation, figures).wake == wake(6.1))
    // A criterion's look comes first.
    situation.demand = DemandSummary()
    situation.demand.add(.deferred(check: wake(0.5)))
    plan = Self.plan(situation, figures)
    #expect((plan.wakesOnInput, plan.wake) == (false, wake(0.45)))
    // Somebody watches.
    situation.demand.add(.live(isWatched: true))
    plan = Self.plan(situation, figures)
    #expect((plan.wakesOnInput, plan.wake) == (true, wake(0.45)))
  }

  @Test("a line whose buffer holds no more than an interval is heard all the time")
  func gather() {
    var figures = Self.figures()
    var situation = Self.situation(.live(isWatched: false))
    situation.lastMessageTime = Self.now
    situation.acquiringSince = Self.now
    for (gather, listens) in [(0, true), (1_000, true), (1_001, false)] as [(Int64, Bool)] {
      figures.inputBufferTime = .milliseconds(gather)
      #expect(Self.plan(situation, figures).wakesOnInput == listens)
    }
    situation.acquiringSince = nil
    #expect(Self.plan(situation, figures).wakesOnInput)
    #expect(Self.plan(situation, figures).wake == .distantFuture)
  }

  @Test("DEF-33: a buffer is drained before it is full, pin or no pin")
  func patience() {
    var figures = Self.figures()
    #expect(Planner(figures).maximumDrainInterval == .seconds(80))
    figures.batch?.hasPin = false
    #expect(Planner(figures).maximumDrainInterval == .seconds(60))
    figures.deferralLimit = 10
    #expect(Planner(figures).maximumDrainInterval == .seconds(10))
    figures.batch = BatchParameters(capacity: 100, watermark: 99, hasPin: true)
    #expect(Planner(figures).maximumDrainInterval == .seconds(55))
    figures.deferralLimit = 1_000
    #expect(Planner(figures).maximumDrainInterval == .seconds(100))
    figures.fixInterval = .milliseconds(500)
    #expect(Planner(figures).maximumDrainInterval == .seconds(50))
    figures.batch = nil
    #expect(Planner(figures).maximumDrainInterval == .zero)
  }

  @Test("new figures are those of a receiver that tracks on a board that never sleeps")
  func plainFigures() {
    let figures = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 5, timeToFix: TimeToFixTable(cold: .seconds(9)))
    #expect(!figures.canStandby && !figures.canSwitchOff && !figures.hasCachingState)
    let plan = Self.plan(Self.situation(), figures)
    #expect(
      plan == Plan(receiver: .tracking, board: .idle, wake: .distantFuture, wakesOnInput: true))
    #expect(figures.plausibleSpeed == 70)
    #expect(figures.plausibleAcceleration == 3)
    #expect(figures.minimumCheckInterval == .seconds(5))
    #expect(figures.inputBufferTime == .zero)
  }
}

import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Plans for demands")
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

  /// A board that idles and suspends, whose receiver batches 100 fixes and sets its pin at 60.
  static func parameters() -> PlannerParameters {
    var parameters = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 1_000, timeToFix: table())
    parameters.canStandby = true
    parameters.canSwitchOff = true
    parameters.batch = BatchParameters(capacity: 100, watermark: 60, hasPin: true)
    parameters.idle = idle
    parameters.deep = deep
    return parameters
  }

  static func input(_ demands: Demand...) -> PlannerInput {
    var input = PlannerInput()
    for demand in demands { input.demand.add(demand) }
    return input
  }

  static let now = Instant(seconds: 1_000)
  static let deferred = Demand.deferred(check: .distantFuture)

  static func plan(
    _ input: PlannerInput, _ parameters: PlannerParameters = parameters(), isInhibited: Bool = false
  ) -> Plan {
    Planner(parameters).plan(input, isInhibited: isInhibited, at: now)
  }

  @Test("BKG-3: a profile without the suspended state idles for every demand")
  func neverSuspends() {
    var parameters = PlannerTests.parameters()
    #expect(PlannerTests.plan(PlannerTests.input(), parameters).board == .suspended)
    parameters.deep = nil
    for demands in [[], [PlannerTests.deferred], [.within(metres: 3_000)]] as [[Demand]] {
      var input = PlannerInput()
      for demand in demands { input.demand.add(demand) }
      #expect(PlannerTests.plan(input, parameters).board == .idle)
    }
  }

  @Test("The summary counts each kind and keeps the earliest check")
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

  @Test("PWR-1: the receiver uses the lowest mode that serves every client")
  func receiver() {
    func receiver(
      _ demands: [Demand], inhibited: Bool = false,
      _ change: (inout PlannerParameters) -> Void = { _ in }
    ) -> ReceiverMode {
      var parameters = Self.parameters()
      change(&parameters)
      var sum = DemandSummary()
      for demand in demands { sum.add(demand) }
      return Planner(parameters).receiver(for: sum, isInhibited: inhibited)
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

  @Test("RNG-1: the receiver buffers no more than the deferral limit, DEF-33: or its watermark")
  func watermark() {
    var parameters = Self.parameters()
    #expect(parameters.watermark == 60)
    parameters.deferralLimit = 59
    #expect(parameters.watermark == 59)
    parameters.deferralLimit = 61
    #expect(parameters.watermark == 60)
    parameters.batch = nil
    #expect(parameters.watermark == nil)
  }

  @Test("DEF-28, DEF-29: deferral is possible if the board can sleep and no client needs fixes now")
  func mayDefer() {
    func may(
      _ demand: Demand, inhibited: Bool = false,
      _ change: (inout PlannerParameters) -> Void = { _ in }
    ) -> Bool {
      var parameters = Self.parameters()
      change(&parameters)
      var sum = DemandSummary()
      sum.add(demand)
      return Planner(parameters).mayDefer(sum, isInhibited: inhibited)
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

  @Test("Without a demand the board uses the deepest sleep without an alarm")
  func nothing() {
    #expect(
      Self.plan(Self.input())
        == Plan(receiver: .standby, board: .suspended, wake: .distantFuture, wakesOnInput: false))
    var parameters = Self.parameters()
    // The receiver sends nothing: a sleep without pin wake-up suffices.
    parameters.deep?.wakesOnPin = false
    #expect(Self.plan(Self.input(), parameters).board == .suspended)
    parameters.canStandby = false
    #expect(
      Self.plan(Self.input(), parameters)
        == Plan(receiver: .off, board: .suspended, wake: .distantFuture, wakesOnInput: false))
    parameters.deep = nil
    #expect(
      Self.plan(Self.input(), parameters)
        == Plan(receiver: .off, board: .idle, wake: .distantFuture, wakesOnInput: true))
    parameters.idle = nil
    #expect(
      Self.plan(Self.input(), parameters)
        == Plan(receiver: .off, board: .idle, wake: .distantFuture, wakesOnInput: true))
  }

  @Test("Pending work, an inhibitor or an awaited acknowledgement limits the board to idle")
  func held() {
    var input = Self.input(Self.deferred)
    let batching = ReceiverMode.batching(watermark: 60)
    #expect(
      Self.plan(input, isInhibited: true)
        == Plan(receiver: .tracking, board: .idle, wake: .distantFuture, wakesOnInput: true))
    input.acknowledgementDeadline = Self.now + .seconds(2)
    #expect(
      Self.plan(input)
        == Plan(receiver: batching, board: .idle, wake: Self.now + .seconds(2), wakesOnInput: true))
    input.isBusy = true
    #expect(
      Self.plan(input)
        == Plan(receiver: batching, board: .idle, wake: .distantFuture, wakesOnInput: true))
    input.isBusy = false
    input.acknowledgementDeadline = Self.now
    #expect(Self.plan(input).board == .suspended)
  }

  @Test("DEF-18: the alarm precedes the due time by resume time and alarm resolution")
  func lead() {
    #expect(Self.deep.alarmLead == .milliseconds(2_000))
    #expect(Self.idle.alarmLead == .milliseconds(50))
    let check = Self.now + .seconds(600)
    var input = Self.input(.deferred(check: check))
    #expect(
      Self.plan(input)
        == Plan(
          receiver: .batching(watermark: 60), board: .suspended, wake: check - .seconds(2),
          wakesOnInput: false))
    // No client waits for the drain: its alarm does not precede the due time.
    input.drainDue = Self.now + .seconds(50)
    #expect(Self.plan(input).wake == Self.now + .seconds(50))
    var parameters = Self.parameters()
    parameters.deep = nil
    #expect(
      Self.plan(input, parameters)
        == Plan(
          receiver: .batching(watermark: 60), board: .idle,
          wake: Self.now + .seconds(50), wakesOnInput: true))
  }

  @Test(
    "The sleep state fits the remaining time",
    arguments: [
      (12_000_000, BoardState.suspended, 10_000_000), (11_999_999, .idle, 11_949_999),
      // After an early wake from deep sleep the board waits for the due time itself.
      (2_000_001, .idle, 1_950_001), (2_000_000, .idle, 2_000_000), (1, .idle, 1), (0, .idle, 0),
      (-5, .idle, -5),
    ] as [(Int64, BoardState, Int64)])
  func depth(_ remaining: Int64, _ board: BoardState, _ wake: Int64) {
    let check = Self.now + Interval(microseconds: remaining)
    let plan = Self.plan(Self.input(.deferred(check: check)))
    #expect(plan.receiver == .batching(watermark: 60))
    #expect(plan.board == board)
    #expect(plan.wake == Self.now + Interval(microseconds: wake))
    #expect(plan.wakesOnInput == (board != .suspended))
  }

  @Test("A sleep without pin wake-up is not used while the batch pin is awaited")
  func pin() {
    var parameters = Self.parameters()
    parameters.deep?.wakesOnPin = false
    #expect(Self.plan(Self.input(Self.deferred), parameters).board == .idle)
    parameters.batch?.hasPin = false
    #expect(Self.plan(Self.input(Self.deferred), parameters).board == .suspended)
    parameters.deep?.wakesOnPin = true
    parameters.batch?.hasPin = true
    #expect(Self.plan(Self.input(Self.deferred), parameters).board == .suspended)
    parameters.idle = nil
    parameters.deep = nil
    #expect(Self.plan(Self.input(Self.deferred), parameters).board == .idle)
  }

  @Test(
    "PWR-4: a deep sleep with byte wake-up wakes on input from a receiver that should be silent")
  func deepByteWake() {
    for wakes in [false, true] {
      var parameters = Self.parameters()
      parameters.deep?.wakesOnBytes = wakes
      for plan in [
        Self.plan(Self.input(), parameters), Self.plan(Self.input(Self.deferred), parameters),
      ] {
        #expect(plan.board == .suspended && plan.wakesOnInput == wakes)
      }
    }
  }

  @Test("A receiver that sends each fix lets the board idle and wake on input until the next check")
  func streaming() {
    let live = Self.input(.live(isWatched: true))
    #expect(
      Self.plan(live)
        == Plan(receiver: .tracking, board: .idle, wake: .distantFuture, wakesOnInput: true))
    var parameters = Self.parameters()
    parameters.batch = nil
    for (remaining, board, wake) in [
      (50_001, BoardState.idle, 1), (50_000, .idle, 50_000), (5_000_000, .idle, 4_950_000),
    ] as [(Int64, BoardState, Int64)] {
      let check = Self.now + Interval(microseconds: remaining)
      #expect(
        Self.plan(Self.input(.deferred(check: check)), parameters)
          == Plan(
            receiver: .tracking, board: board, wake: Self.now + Interval(microseconds: wake),
            wakesOnInput: true))
    }
    parameters.idle?.wakesOnBytes = false
    #expect(Self.plan(live, parameters).board == .idle)
    parameters.idle = nil
    #expect(Self.plan(live, parameters).board == .idle)
  }

  @Test("The board does not wake for a search that cannot be complete, unless a client watches")
  func search() {
    var parameters = Self.parameters()
    parameters.batch = nil
    parameters.inputBufferTime = .seconds(100)
    var input = Self.input(.live(isWatched: false))
    func wake(_ seconds: Double) -> Instant { Self.now + Interval(seconds: seconds) }

    // Just started after 50 s in standby: one message is read first, which gives the times of the
    // others.
    input.acquiringSince = Self.now
    input.previousOffTime = .seconds(50)
    var plan = Self.plan(input, parameters)
    #expect((plan.board, plan.wakesOnInput, plan.wake) == (.idle, true, wake(1)))
    input.acquiringSince = Self.now - .seconds(11)
    #expect(!Self.plan(input, parameters).wakesOnInput)
    input.acquiringSince = Self.now
    input.lastMessageTime = Self.now
    // 2 s to the fix, at most one more to its epoch, which the next message reports.
    plan = Self.plan(input, parameters)
    #expect((plan.board, plan.wakesOnInput, plan.wake) == (.idle, false, wake(4.1)))
    // Unknown off time: a cold start.
    input.previousOffTime = nil
    #expect(Self.plan(input, parameters).wake == wake(32.1))
    // No longer than the input buffer lasts.
    parameters.inputBufferTime = .seconds(20)
    #expect(Self.plan(input, parameters).wake == wake(21.1))
    parameters.inputBufferTime = .seconds(100)
    // Overdue: back-off by a quarter of the time elapsed.
    input.acquiringSince = Self.now - Interval(seconds: 30.999)
    #expect(Self.plan(input, parameters).wake == wake(1.1))
    input.acquiringSince = Self.now - .seconds(31)
    #expect(Self.plan(input, parameters).wake == wake(8.1))
    input.acquiringSince = Self.now - .seconds(1_000)
    #expect(Self.plan(input, parameters).wake == wake(101.1))
    // The next message comes whole intervals after the last one.
    input.acquiringSince = Self.now - .seconds(3)
    input.previousOffTime = .zero
    #expect(Self.plan(input, parameters).wake == wake(1.1))
    input.lastMessageTime = wake(-0.3)
    #expect(Self.plan(input, parameters).wake == wake(1.8))
    input.lastMessageTime = wake(5)
    #expect(Self.plan(input, parameters).wake == wake(6.1))
    // A criterion's check comes first.
    input.demand = DemandSummary()
    input.demand.add(.deferred(check: wake(0.5)))
    plan = Self.plan(input, parameters)
    #expect((plan.wakesOnInput, plan.wake) == (false, wake(0.45)))
    // A client watches.
    input.demand.add(.live(isWatched: true))
    plan = Self.plan(input, parameters)
    #expect((plan.wakesOnInput, plan.wake) == (true, wake(0.45)))
  }

  @Test(
    "PWR-3: messages of a search for a single fix are read at once only if the receiver can sleep after it"
  )
  func searchOfReceiverWithoutSleep() {
    var parameters = Self.parameters()
    parameters.batch = nil
    parameters.deep = nil
    parameters.inputBufferTime = .seconds(100)
    var need = FixNeed()
    need.add(due: Self.now, accuracy: 100)
    var schedule = FixSchedule()
    schedule.handle(.plan(need, isKeptOn: false), parameters, at: Self.now)
    var input = PlannerInput()
    input.schedule = schedule
    input.acquiringSince = Self.now
    input.lastMessageTime = Self.now
    for (canStandby, canSwitchOff) in [(true, false), (false, true), (false, false)] {
      parameters.canStandby = canStandby
      parameters.canSwitchOff = canSwitchOff
      #expect(Self.plan(input, parameters).wakesOnInput == (canStandby || canSwitchOff))
    }
  }

  @Test("Input wakes the board if the input buffer holds no more than one interval")
  func smallInputBuffer() {
    var parameters = Self.parameters()
    var input = Self.input(.live(isWatched: false))
    input.lastMessageTime = Self.now
    input.acquiringSince = Self.now
    let cases: [(Int64, Bool)] = [(0, true), (1_000, true), (1_001, false)]
    for (milliseconds, wakesOnInput) in cases {
      parameters.inputBufferTime = .milliseconds(milliseconds)
      #expect(Self.plan(input, parameters).wakesOnInput == wakesOnInput)
    }
    input.acquiringSince = nil
    #expect(Self.plan(input, parameters).wakesOnInput)
    #expect(Self.plan(input, parameters).wake == .distantFuture)
  }

  @Test("DEF-33: a buffer is drained before it is full, with or without a pin")
  func maximumDrainInterval() {
    var parameters = Self.parameters()
    #expect(Planner(parameters).maximumDrainInterval == .seconds(80))
    parameters.batch?.hasPin = false
    #expect(Planner(parameters).maximumDrainInterval == .seconds(60))
    parameters.deferralLimit = 10
    #expect(Planner(parameters).maximumDrainInterval == .seconds(10))
    parameters.batch = BatchParameters(capacity: 100, watermark: 99, hasPin: true)
    #expect(Planner(parameters).maximumDrainInterval == .seconds(55))
    parameters.deferralLimit = 1_000
    #expect(Planner(parameters).maximumDrainInterval == .seconds(100))
    parameters.fixInterval = .milliseconds(500)
    #expect(Planner(parameters).maximumDrainInterval == .seconds(50))
    parameters.batch = nil
    #expect(Planner(parameters).maximumDrainInterval == .zero)
  }

  @Test("Default parameters describe a tracking receiver on a board that never sleeps")
  func defaults() {
    let parameters = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 5, timeToFix: TimeToFixTable(cold: .seconds(9)))
    #expect(!parameters.canStandby && !parameters.canSwitchOff && !parameters.hasCachingState)
    let plan = Self.plan(Self.input(), parameters)
    #expect(
      plan == Plan(receiver: .tracking, board: .idle, wake: .distantFuture, wakesOnInput: true))
    #expect(parameters.plausibleSpeed == 70)
    #expect(parameters.plausibleAcceleration == 3)
    #expect(parameters.minimumCheckInterval == .seconds(5))
    #expect(parameters.inputBufferTime == .zero)
  }
}

import LocationTypes
import Testing

@testable import LocationPolicy

/// Awake 1 W, idle 100 mW, suspended 10 mW; resumes in 0.5 s, its alarm is up to 1 s late, it sleeps for at least 5 s.
private func suspending() -> BoardParameters {
  BoardParameters(awake_mW: 1_000, idle_mW: 100, sleep_mW: 10, sleep())
}

private func sleep() -> SleepParameters {
  SleepParameters(
    state: .suspended, resumeTime: .milliseconds(500), alarmResolution: .seconds(1),
    minimumDuration: .seconds(5), wakesOnPin: true, wakesOnBytes: true)
}

/// The same, but it resumes in 3 s.
private func slowToResume() -> BoardParameters {
  var slow = sleep()
  slow.resumeTime = .seconds(3)
  return BoardParameters(awake_mW: 1_000, idle_mW: 100, sleep_mW: 10, slow)
}

@Suite("The board's energy in the plan")
struct BoardEnergyTests {
  @Test("energies are above that of the sleep: a resume costs 495 mJ, a second of idling 90 mJ")
  func energies() {
    let board = suspending()
    #expect(board.idle_mW == 90 && board.resume_mJ == 495)
    #expect(board.idle_mJ(.seconds(2)) == 180)
    // 5 s of sleep and 1.5 s of lead.
    #expect(board.wait_mJ(.milliseconds(6_499)) == 90 * 6.499)
    #expect(board.wait_mJ(.milliseconds(6_500)) == 495)
    #expect(board.wait_mJ(.seconds(7_200)) == 495)
  }

  @Test("a board that cannot be suspended, or whose sleep saves nothing, costs nothing")
  func idleOnly() {
    for board in [
      BoardParameters(awake_mW: 1_000, idle_mW: 600, sleep_mW: 600, nil),
      BoardParameters(awake_mW: 1_000, idle_mW: 100, sleep_mW: 100, sleep()),
      BoardParameters(awake_mW: 1_000, idle_mW: 100, sleep_mW: 10, nil),
    ] {
      #expect(board == BoardParameters())
      #expect(board.wait_mJ(.seconds(100)) == 0 && board.search_mJ(.seconds(30)) == 0)
      #expect(!board.sleepsThroughSearch(of: .seconds(30)))
    }
  }

  @Test("the board sleeps through a search if that saves more than a resume costs")
  func search() {
    let board = suspending()
    // 5.5 s of idling cost as much as a resume, and the alarm leads by 1.5 s.
    #expect(!board.sleepsThroughSearch(of: .seconds(7)))
    #expect(board.search_mJ(.seconds(7)) == 630)
    #expect(board.sleepsThroughSearch(of: .milliseconds(7_001)))
    #expect(board.search_mJ(.seconds(30)) == 495 + 135)
  }

  // MARK: Off

  /// A board that idles at 600 mW and is off at 5 mW, for at least 120 s; it boots in 15 s at 1 W.
  private static func switchedOff(_ saved_mW: Double = 595) -> BoardParameters? {
    BoardParameters().whenUnattended(
      saved_mW: saved_mW, boot_mJ: 995 * 15, startupTime: .seconds(16), shortest: .seconds(120))
  }

  @Test(
    "PWR-14: energies are above that of off: a boot and 30 s on cost 32.8 J, a second of idling 595 mJ"
  )
  func off() throws {
    let board = try #require(Self.switchedOff())
    #expect(board.idle_mW == 595 && board.resume_mJ == 0)
    #expect(board.off?.cycle_mJ == 32_775)
    #expect(board.start_mJ == 32_775)
    // 30 s on, 16 s for the boot, and 120 s off.
    #expect(board.wait_mJ(.milliseconds(165_999)) == 595 * 165.999)
    #expect(board.wait_mJ(.seconds(166)) == 32_775)
    #expect(board.wait_mJ(.seconds(7_200)) == 32_775)
    // While the board must be on, it costs nothing above idling.
    #expect(BoardParameters().wait_mJ(.seconds(7_200)) == 0)
  }

  @Test(
    "PWR-14: no wait below the shortest useful one is off, none above it costs more than staying on"
  )
  func shortestUseful() throws {
    for saved in [1.0, 5, 30, 100, 595, 2_980] {
      for board in [BoardParameters(), suspending()] {
        let off = try #require(
          board.whenUnattended(
            saved_mW: saved, boot_mJ: 14_925, startupTime: .seconds(16), shortest: .seconds(120)))
        let cycle = try #require(off.off?.cycle_mJ)
        for seconds in stride(from: 1.0, to: 40_000, by: 7) {
          let time = Interval(seconds: seconds)
          let on = board.wait_mJ(time) + saved * time.seconds
          let least = off.wait_mJ(time)
          let isLong = seconds >= 30 + 16 + 120
          #expect(least <= on + 1e-6, "\(saved) mW, \(seconds) s")
          if !isLong { #expect(abs(least - on) < 1e-6, "\(saved) mW, \(seconds) s") }
          if isLong, off.isOffCheapest(for: time - .seconds(30)) { #expect(least == cycle) }
        }
      }
    }
  }

  @Test("PWR-14: the receiver of a board that may be off does not stay on for a long wait")
  func offBreakEven() throws {
    let off = try #require(Self.switchedOff())
    // The receiver alone, and the board that must stay on, sleep from 3.9 s on.
    #expect(Self.mode(3.8, BoardParameters()) == .none)
    #expect(Self.mode(4, BoardParameters()) != .none)
    // Idling costs the same while it stays on and while it sleeps, until the wait is long enough for off.
    #expect(Self.mode(3.8, off) == .none)
    #expect(Self.mode(600, off) != .none)
  }

  @Test("PWR-14: off times are chosen for the board: long enough to be off, or short")
  func offMovement() throws {
    let off = try #require(Self.switchedOff())
    for speed in [0.1, 0.3, 0.7, 1.5, 8] {
      for time in Self.offTimes(speed: speed, off).suffix(20) where time > 0 {
        let isOff = off.isOffCheapest(for: Interval(seconds: time - 30))
        #expect(isOff == (time >= 166), "\(speed) m/s, \(time) s")
      }
    }
    // A wait of half the shortest useful one costs the idle board more than a boot: none is worth a fix each.
    #expect(Self.offTimes(speed: 0.1, off).suffix(20).allSatisfy { $0 >= 166 })
  }

  /// A receiver with 30 mW acquiring, 25 mW tracking, 0.2 mW in standby, and 0.1 mW off; 3 s to fix.
  private static func receiver(_ board: BoardParameters) -> ReceiverParameters {
    var table = TimeToFixTable(cold: .seconds(30))
    table.append(off: .zero, fix: .seconds(3))
    var receiver = ReceiverParameters(timeToFix: table)
    receiver.track_mW = 25
    receiver.standby_mW = 0.2
    receiver.off_mW = 0.1
    receiver.keepsDataWhenOff = true
    receiver.powerOffTime = .seconds(2)
    receiver.board = board
    return receiver
  }

  private static func mode(_ seconds: Double, _ board: BoardParameters) -> ReceiverSleepMode {
    receiver(board).sleepMode(
      for: Interval(seconds: seconds), warm: .seconds(3), canStandby: true, canSwitchOff: true)
  }

  @Test("PWR-1: the break-even between sleeping and staying on includes the board")
  func breakEven() {
    let board = slowToResume()
    // The receiver alone sleeps from 3.9 s on. This board pays 2,970 mJ for the resume and 288 mJ for the search, or
    // 90 mW for staying on.
    #expect(Self.mode(3.8, BoardParameters()) == .none)
    #expect(Self.mode(4, BoardParameters()) != .none)
    #expect(Self.mode(28, board) == .none)
    #expect(Self.mode(30, board) == .standby)
  }

  @Test("PWR-5: a power-off pays if it saves more than the board's wait for it costs")
  func powerOff() {
    // 0.1 mW less, for 2 s of idling at 90 mW: half an hour.
    #expect(Self.mode(1_700, suspending()) == .standby)
    #expect(Self.mode(1_900, suspending()) == .off)
    #expect(Self.mode(60, BoardParameters()) == .off)
  }

  /// Off times after fixes of a device that moves at `speed`, m/s.
  private static func offTimes(speed: Double, _ board: BoardParameters) -> [Double] {
    var model = MovementModel(within: 200, hasMotionLine: false)
    let receiver = receiver(board)
    return (0..<60).map { n in
      let sample = MovementHistory.Sample(
        time: Double(n) * 10, east: Double(n) * 10 * speed, north: 0, speed: speed, accuracy: 3)
      return model.offTime(
        after: sample, receiver, TimeToFixPredictor(), MovementTuning(hasMotionLine: false))
    }
  }

  @Test("off times are chosen for the board: one that resumes slowly stays awake for short ones")
  func movement() {
    #expect(Self.offTimes(speed: 8, BoardParameters()).suffix(20).allSatisfy { $0 > 9 })
    #expect(Self.offTimes(speed: 8, suspending()).suffix(20).allSatisfy { $0 > 9 })
    #expect(Self.offTimes(speed: 8, slowToResume()).suffix(20).allSatisfy { $0 < 9 })
  }

  // MARK: Schedule and plan

  /// Parameters of a board that suspends, with a receiver of a time to fix of 20 s.
  private static func parameters(fix seconds: Int64 = 20) -> PlannerParameters {
    var table = TimeToFixTable(cold: .seconds(30))
    table.append(off: .zero, fix: .seconds(seconds))
    var parameters = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 100, timeToFix: table)
    parameters.receiver = receiver(suspending())
    parameters.receiver.timeToFix = table
    parameters.canStandby = true
    parameters.idle = PlannerTests.idle
    parameters.deep = sleep()
    return parameters
  }

  private static func need(at seconds: Double) -> FixNeed {
    var need = FixNeed()
    need.add(due: Instant(seconds: seconds), accuracy: 20)
    return need
  }

  /// A schedule that has had a fix and sleeps until the one due at `due` seconds.
  private static func asleep(
    until due: Double, _ parameters: PlannerParameters
  ) -> FixSchedule {
    var schedule = FixSchedule()
    schedule.handle(.plan(need(at: 0), isKeptOn: false), parameters, at: .boot)
    let fix = Instant(seconds: 40)
    schedule.handle(
      .fix(accuracy: 3, measured: fix, need(at: due)), parameters, at: fix)
    // The ephemeris is complete after 30 s.
    for second in 41...75 {
      let now = Instant(seconds: Double(second))
      schedule.handle(.fix(accuracy: 3, measured: now, need(at: due)), parameters, at: now)
      schedule.handle(.plan(need(at: due), isKeptOn: false), parameters, at: now)
    }
    return schedule
  }

  @Test("a receiver starts when the board is awake for it, not later")
  func startsOnWaking() {
    let parameters = Self.parameters(fix: 3)
    var schedule = Self.asleep(until: 500, parameters)
    #expect(schedule.state == .asleep)
    // Due at 500 s, 3 s of acquisition, 0.2 s of start-up, and the alarm's lead of 1.5 s.
    let start = 500 - 3 - 0.2
    for (time, state) in [(start - 1.51, FixSchedule.State.asleep), (start - 1.5, .acquiring)] {
      schedule.handle(
        .plan(Self.need(at: 500), isKeptOn: false), parameters, at: Instant(seconds: time))
      #expect(schedule.state == state)
    }
  }

  @Test(
    "the board is suspended until a long search should succeed, then reads; it idles through a short one"
  )
  func searchPlan() throws {
    for (fix, isSuspended) in [(Int64(20), true), (3, false)] {
      let parameters = Self.parameters(fix: fix)
      var schedule = Self.asleep(until: 500, parameters)
      let begin = try #require(schedule.wake < .distantFuture ? schedule.wake : nil)
      schedule.handle(.plan(Self.need(at: 500), isKeptOn: false), parameters, at: begin)
      #expect(schedule.state == .acquiring)
      let expected = begin + .milliseconds(200) + .seconds(fix)
      #expect(schedule.expectedFixTime(parameters.receiver) == expected)
      var input = PlannerInput()
      input.schedule = schedule
      input.acquiringSince = begin
      let plan = Planner(parameters).plan(input, isInhibited: false, at: begin)
      #expect((plan.board == .suspended) == isSuspended)
      if isSuspended {
        #expect(plan.wake == expected - .milliseconds(1_500) && !plan.wakesOnInput)
        let late = Planner(parameters).plan(input, isInhibited: false, at: plan.wake)
        #expect(late.board == .idle && late.wakesOnInput)
        // An earlier check wakes the board earlier.
        input.demand.addCheck(at: begin + .seconds(12))
        let checked = Planner(parameters).plan(input, isInhibited: false, at: begin)
        #expect(checked.wake == begin + .milliseconds(10_500))
      }
    }
  }

  @Test("PWR-7: a fix that may have come while the board slept lengthens no prediction")
  func lostInput() {
    let parameters = Self.parameters()
    var schedules = [Self.asleep(until: 500, parameters), Self.asleep(until: 500, parameters)]
    for i in schedules.indices {
      let begin = schedules[i].wake
      schedules[i].handle(.plan(Self.need(at: 500), isKeptOn: false), parameters, at: begin)
      // The board slept longer than planned, for another alarm.
      let end = begin + .seconds(35)
      if i == 0 { schedules[i].noteLostInput(at: end) }
      schedules[i].handle(
        .fix(accuracy: 3, measured: end + .seconds(1), Self.need(at: 500)), parameters,
        at: end + .seconds(1))
    }
    #expect(schedules[0].predictor.scale == 1)
    #expect(schedules[1].predictor.scale > 1)
  }
}

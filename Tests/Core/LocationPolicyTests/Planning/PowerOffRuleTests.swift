import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("The rule for powering off the board") struct PowerOffRuleTests {
  private let start = Instant(microseconds: 1_000_000)
  private var rule = PowerOffRuleTests.rule(startedByAlarm: false)

  /// A board that idles at 600 mW, is off at 5 mW for at least 120 s, and boots in 30 s at 1 W.
  private static func rule(startedByAlarm: Bool) -> PowerOffRule<String> {
    let board = BoardParameters().whenUnattended(
      saved_mW: 595, boot_mJ: 995 * 30, startupTime: .seconds(31), shortest: .seconds(120))
    guard let board, let rule = PowerOffRule<String>(board, startedByAlarm: startedByAlarm) else {
      preconditionFailure("the board can be switched off")
    }
    return rule
  }

  private func at(_ seconds: Int64) -> Instant { start + .seconds(seconds) }

  /// Checks the rule, by default without callers.
  private mutating func check(
    _ now: Int64, until end: Int64?, callers: Int = 0, isAttended: Bool = true
  ) -> Bool {
    rule.check(
      ServiceUse(programs: callers, isAttended: callers > 0 && isAttended), until: end.map(at),
      at: at(now))
  }

  @Test("off after the minimum time without callers, if the next event is far enough away")
  mutating func holds() {
    #expect(rule.nextCheck(until: at(9_000), at: at(0)) == nil, "not checked yet")
    let early = (check(0, until: 9_000), check(119, until: 9_000))
    #expect(early == (false, false))
    #expect(rule.nextCheck(until: at(9_000), at: at(119)) == at(120), "one wake for that")
    let near = (check(120, until: 270), check(120, until: 271), check(120, until: nil))
    #expect(near == (false, true, false))
    #expect(rule.nextCheck(until: at(270), at: at(119)) == nil)
  }

  @Test(
    "after a start by the board's own alarm, off after 30 s without callers; after a call of a program that it has not launched the minimum time counts"
  )
  mutating func startedByAlarm() {
    rule = Self.rule(startedByAlarm: true)
    let early = (check(0, until: 9_000), check(29, until: 9_000))
    #expect(early == (false, false))
    #expect(rule.nextCheck(until: at(9_000), at: at(29)) == at(30))
    let isOff = check(30, until: 9_000)
    #expect(isOff)
    let near = check(30, until: 180)
    #expect(!near, "the off time has its minimum in any case")
    // A program that the service has launched changes nothing; another one does.
    _ = check(31, until: 9_000, callers: 1, isAttended: false)
    _ = check(35, until: 9_000)
    let launched = (check(64, until: 9_000), check(65, until: 9_000))
    #expect(launched == (false, true))
    _ = check(70, until: 9_000, callers: 1)
    _ = check(71, until: 9_000)
    let later = (check(190, until: 9_000), check(191, until: 9_000))
    #expect(later == (false, true))
  }

  @Test("PWR-14: a program that was started has 30 s to connect, also on a board started by hand")
  mutating func started() {
    rule = Self.rule(startedByAlarm: true)
    _ = check(0, until: 9_000)
    let use = ServiceUse(lastLaunch: at(29))
    for (now, isDue) in [(30, false), (58, false), (59, true)] as [(Int64, Bool)] {
      let isOff = rule.check(use, until: at(9_000), at: at(now))
      #expect(isOff == isDue, "\(now)")
    }
    #expect(rule.nextCheck(until: at(9_000), at: at(30)) == at(59))
    rule = Self.rule(startedByAlarm: false)
    _ = check(0, until: 9_000)
    for (now, isDue) in [(120, false), (139, false), (140, true)] as [(Int64, Bool)] {
      let isOff = rule.check(ServiceUse(lastLaunch: at(110)), until: at(9_000), at: at(now))
      #expect(isOff == isDue, "\(now)")
    }
  }

  @Test("PWR-14: a call restarts the time")
  mutating func called() {
    _ = check(0, until: 9_000)
    for (now, isDue) in [(120, false), (219, false), (220, true)] as [(Int64, Bool)] {
      let isOff = rule.check(ServiceUse(lastEnd: at(100)), until: at(9_000), at: at(now))
      #expect(isOff == isDue, "\(now)")
    }
  }

  @Test("after the minimum time no wake is scheduled: each turn checks the rule")
  mutating func passed() {
    _ = check(0, until: 9_000)
    // The next event is always too near for a power-off.
    for now in [120, 121, 300, 5_000] as [Int64] {
      #expect(rule.nextCheck(until: at(now + 9_000), at: at(now)) == nil, "\(now)")
      let isDue = check(now, until: now + 100)
      #expect(!isDue)
      #expect(rule.nextCheck(until: at(now + 100), at: at(now)) == nil)
    }
  }

  @Test("a client that connects restarts the time when it disconnects")
  mutating func client() {
    _ = check(0, until: 9_000)
    let connected = check(300, until: 9_000, callers: 1)
    #expect(!connected && rule.nextCheck(until: at(9_000), at: at(300)) == nil)
    _ = check(300, until: 9_000)
    let again = (check(419, until: 9_000), check(420, until: 9_000))
    #expect(again == (false, true))
  }

  @Test("PWR-4: a refusal is retried after 1, 2, 4 … 60 minutes and reported once")
  mutating func refused() {
    _ = check(0, until: 99_000)
    var now: Int64 = 120
    for pause in [60, 120, 240, 480, 960, 1_920, 3_600, 3_600] as [Int64] {
      let isDue = check(now, until: 99_000)
      #expect(isDue)
      let isNew = rule.recordRefusal("apt", at: at(now))
      #expect(isNew == (now == 120))
      let soon = check(now + pause - 1, until: 99_000)
      #expect(!soon && rule.refusal == "apt")
      #expect(rule.nextCheck(until: at(99_000), at: at(now)) == at(now + pause))
      now += pause
    }
    let isOther = rule.recordRefusal("the alarm is too near", at: at(now))
    #expect(isOther)
  }

  @Test("a refusal is forgotten when the board may not be off or a program calls")
  mutating func forgotten() {
    for hasCaller in [true, false] {
      rule = Self.rule(startedByAlarm: false)
      _ = check(0, until: 9_000)
      _ = check(120, until: 9_000)
      _ = rule.recordRefusal("apt", at: at(120))
      _ = check(130, until: hasCaller ? 9_000 : nil, callers: hasCaller ? 1 : 0)
      #expect(rule.refusal == nil)
      let later = check(140, until: 9_000)
      // A caller restarts the minimum time.
      #expect(later == !hasCaller)
      let isNew = rule.recordRefusal("apt", at: at(140))
      #expect(isNew)
    }
  }

  @Test("PWR-14: a board that suspends is switched off only if that saves more than a boot costs")
  mutating func suspends() throws {
    // Suspended at 15 mW and off at 5 mW: boot and time on cost 8.2 J more than a resume, saved at 10 mW in 820 s.
    let sleep = SleepParameters(
      state: .suspended, resumeTime: .milliseconds(500), alarmResolution: .seconds(1),
      minimumDuration: .seconds(5), wakesOnPin: true, wakesOnBytes: true)
    let board = BoardParameters(awake_mW: 400, idle_mW: 300, sleep_mW: 15, sleep)
    let unattended = try #require(
      board.whenUnattended(
        saved_mW: 10, boot_mJ: 395 * 20, startupTime: .seconds(21), shortest: .seconds(120)))
    rule = try #require(PowerOffRule(unattended, startedByAlarm: true))
    _ = check(0, until: 9_000)
    // 7,900 mJ for the boot, 30 s × 10 mW after it; a resume costs 192.5 mJ in both cases.
    let wait: Int64 = 8_200_000 / 10_000
    let near = (check(30, until: 30 + wait), check(30, until: 31 + wait))
    #expect(near == (false, true))
    #expect(rule.nextCheck(until: at(30 + wait), at: at(29)) == nil)
    #expect(rule.nextCheck(until: at(31 + wait), at: at(29)) == at(30))
  }

  @Test("PWR-4: after a power-off that failed, the next attempt follows after an hour")
  mutating func failed() {
    rule.recordFailure(at: at(0))
    let early = (check(0, until: 9_000), check(3_599, until: 9_000))
    #expect(early == (false, false))
    #expect(rule.nextCheck(until: at(9_000), at: at(130)) == at(3_600))
    let isDue = check(3_600, until: 9_000)
    #expect(isDue)
  }

  @Test("a board that saves nothing while off, or that no alarm can switch on, has no rule")
  func neverOff() {
    #expect(PowerOffRule<String>(BoardParameters(), startedByAlarm: false).map { _ in 0 } == nil)
    let board = BoardParameters().whenUnattended(
      saved_mW: 0, boot_mJ: 1, startupTime: .zero, shortest: .zero)
    #expect(board == nil)
  }
}

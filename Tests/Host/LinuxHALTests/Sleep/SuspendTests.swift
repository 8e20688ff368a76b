import Glibc
import LocationHAL
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("A board that is suspended", .tags(.realTime)) struct SuspendTests {
  private let terminal = Terminal()
  private let events: EventWait
  private let kernel = FakeKernel()
  private let request = EventWait.Token.firstFree

  init() throws { events = try EventWait() }

  private func board(_ suspender: BoardSuspender) throws -> LinuxBoard<NoPins> {
    LinuxBoard(
      events, line: try SerialLine(opening: terminal.path, speed: 9_600, in: events),
      pins: NoPins(), suspender: suspender)
  }

  /// The terminal's switch for waking.
  private var wakeSwitch: String {
    "/sys/class/tty/\(terminal.path.split(separator: "/").last!)/power/wakeup"
  }

  @Test("the deepest way to suspend is read from the kernel")
  func states() {
    #expect(SleepStates(kernel.files).description == "mem (deep)")
    let light = FakeKernel(states: "freeze\n", depth: nil)
    #expect(SleepStates(light.files).description == "freeze")
    let none = FakeKernel(states: "disk\n", depth: nil)
    #expect(SleepStates(none.files).mode == nil)
    #expect(BoardSuspender.quick(none).blocker == .suspendUnsupported)
  }

  @Test("an alarm ends it: armed before, gone after, and what is left of the time is idled")
  func alarm() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    kernel.whileSuspended = {
      #expect(kernel.text("/sys/class/rtc/rtc0/wakealarm") != "")
      usleep(35_000)
    }
    let end = soon(50)
    #expect(board.wait(in: .suspended, until: end, wakesOnInput: false).reason == .alarm)
    #expect(board.now >= end)
    #expect(kernel.suspends == 1 && suspender.suspendCount == 1)
    #expect(kernel.text("/sys/class/rtc/rtc0/wakealarm") == "")
    #expect(events.suspendedTime >= .milliseconds(35) && events.suspendedTime < .seconds(5))
  }

  @Test("PWR-9: what happens between the look and the sleep keeps the board awake")
  func eventOnTheWay() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    var isFirst = true
    // After the count was read: nobody has seen it but the kernel.
    kernel.before["wakeup_count"] = { [kernel] in
      if isFirst { kernel.wake() }
      isFirst = false
    }
    kernel.whileSuspended = { usleep(100_000) }
    #expect(board.wait(in: .suspended, until: soon(100), wakesOnInput: false).reason == .alarm)
    let order = kernel.written.filter { !$0.hasPrefix("wakealarm") }
    #expect(order == ["wakeup_count=1", "state=mem"], "the second try is let in, not the first")
  }

  @Test("PWR-9: what happens after the count was written back breaks the suspend off")
  func eventLater() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    kernel.before["state"] = { [kernel] in kernel.wake() }
    #expect(board.wait(in: .suspended, until: soon(25), wakesOnInput: false).reason == .alarm)
    #expect(kernel.suspends == 0 && suspender.blocker == .eventOccurred)
  }

  @Test("PWR-9: a byte, a request and a signal that wait already are not slept over")
  func waiting() throws {
    kernel.make(wakeSwitch, "disabled\n")
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    terminal.send("x")
    usleep(5_000)
    #expect(board.wait(in: .suspended, until: soon(1_000), wakesOnInput: true).reason == .bytes)
    #expect(try board.read().count == 1 && kernel.suspends == 0)
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    defer { for descriptor in ends { close(descriptor) } }
    try events.add(ends[0], as: request, for: .readable)
    _ = unsafe write(ends[1], [1], 1)
    #expect(board.wait(in: .suspended, until: soon(1_000), wakesOnInput: false).reason == .request)
    #expect(kernel.suspends == 0)
  }

  @Test("what may be put off ends a wait, but no suspend, and is done at the next wake")
  func postponable() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    events.postponableDeadline = soon(20)
    #expect(board.wait(in: .idle, until: soon(60_000), wakesOnInput: false).reason == .request)
    #expect(board.now >= events.postponableDeadline && kernel.suspends == 0)
    kernel.whileSuspended = { usleep(60_000) }
    events.postponableDeadline = soon(30)
    #expect(board.wait(in: .suspended, until: soon(60_000), wakesOnInput: false).reason == .request)
    #expect(board.now >= events.postponableDeadline && kernel.suspends == 1)
  }

  @Test("an alarm that is near is not tried, and one that the kernel finds too near is idled for")
  func nearAlarm() throws {
    var pace = BoardSuspender.Timing()
    #expect(pace.minimumAlarmDistance == .seconds(2))
    pace.initialRetryDelay = .milliseconds(20)
    let suspender = BoardSuspender([], kernel.files, pace, usesTimer: false)
    var board = try board(suspender)
    #expect(board.wait(in: .suspended, until: soon(30), wakesOnInput: false).reason == .alarm)
    #expect(kernel.written.isEmpty && suspender.blocker == .alarmTooNear)
    kernel.refuses["state"] = EBUSY
    let quick = BoardSuspender.quick(kernel)
    var other = LinuxBoard(
      events, line: SerialLine(noneIn: events), pins: NoPins(), suspender: quick)
    #expect(other.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
    #expect(quick.blocker == .eventOccurred && quick.suspendCount == 0)
  }

  @Test("what hinders is tried again after pauses that double, up to the longest")
  func hinderedForLong() throws {
    var tries = 0
    kernel.before["state"] = { tries += 1 }
    kernel.refuses["state"] = EBUSY
    var pace = BoardSuspender.Timing()
    pace.minimumAlarmDistance = .milliseconds(1)
    pace.initialRetryDelay = .milliseconds(2)
    func count(_ longest: Interval) throws -> Int {
      pace.maximumRetryDelay = longest
      tries = 0
      let suspender = BoardSuspender([], kernel.files, pace, usesTimer: false)
      var board = LinuxBoard(
        events, line: SerialLine(noneIn: events), pins: NoPins(), suspender: suspender)
      #expect(board.wait(in: .suspended, until: soon(400), wakesOnInput: false).reason == .alarm)
      // The last look may be nearer to the alarm than what is still tried.
      #expect([.eventOccurred, .alarmTooNear].contains(suspender.blocker) && kernel.suspends == 0)
      return tries
    }
    // 2, 4, 8 … 256 ms; and every 10 ms from the fourth on.
    #expect((2...9).contains(try count(.seconds(3_600))))
    #expect(try count(.milliseconds(10)) > 12)
  }

  @Test("what came on the line while it was suspended is thrown away; the wait goes on")
  func lostBytes() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    kernel.whileSuspended = { [terminal] in
      terminal.send("half a sentence")
      usleep(5_000)
    }
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
    #expect(try board.read().count == 0)
    terminal.send("$")
    usleep(5_000)
    #expect(board.wait(in: .idle, until: soon(1_000), wakesOnInput: true).reason == .bytes)
    #expect(try board.read().count == 1)
  }

  @Test("bytes wake a board that listens, where the profile has them: the line is told so, or not")
  func serialWake() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: true).reason == .alarm)
    #expect(suspender.blocker == .notPermitted(path: "power/wakeup"), "bytes would not wake it")
    kernel.make(wakeSwitch, "disabled\n")
    kernel.whileSuspended = { [terminal] in
      terminal.send("x")
      usleep(5_000)
    }
    #expect(board.wait(in: .suspended, until: soon(1_000), wakesOnInput: true).reason == .bytes)
    #expect(kernel.text(wakeSwitch) == "enabled\n" && kernel.suspends == 1)
    #expect(try board.read().count == 0, "its first bytes are lost: none is trusted")
    kernel.whileSuspended = { usleep(60_000) }
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
    #expect(kernel.text(wakeSwitch) == "disabled\n")
    let written = kernel.written.count { $0.hasPrefix("wakeup=") }
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
    #expect(kernel.written.count { $0.hasPrefix("wakeup=") } == written, "told once")
  }

  @Test("a board that was woken for somebody else gives it time, then is suspended again")
  func foreignWake() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    var moments: [Instant] = []
    kernel.whileSuspended = { moments.append(SystemClock().now) }
    #expect(board.wait(in: .suspended, until: soon(120), wakesOnInput: false).reason == .alarm)
    #expect(moments.count >= 2)
    for (a, b) in zip(moments, moments.dropFirst()) { #expect(b - a >= .milliseconds(30)) }
  }

  @Test(
    "a lock of systemd's against sleep is respected; one that only wants to be told is not waited for"
  )
  func inhibitors() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    let lock = "/run/systemd/inhibit/1"
    kernel.make(lock, "WHAT=shutdown:sleep\nMODE=block\nWHO=Backup of the disk\nWHY=x\n")
    // Its owner is told at once of one that he does not know yet (DEF-28), and once.
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .request)
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
    #expect(suspender.blocker == .inhibited(by: "Backup of the disk") && kernel.suspends == 0)
    #expect(suspender.checkInhibitors() == "Backup of the disk")
    #expect(suspender.consumeLogMessage()?.contains("Backup of the disk") == true)
    #expect(suspender.consumeLogMessage() == nil, "told once")
    kernel.whileSuspended = { usleep(60_000) }
    for text in ["WHAT=sleep\nMODE=delay\nWHO=a\n", "WHAT=handle-lid-switch\nMODE=block\nWHO=b\n"] {
      kernel.make(lock, text)
      let before = kernel.suspends
      #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
      #expect(kernel.suspends == before + 1, "\(text)")
    }
    #expect(suspender.consumeLogMessage() == "the board suspends again")
    kernel.make(lock, "WHAT=idle\nMODE=block\nWHO=c\n")
    #expect(suspender.checkInhibitors() == "c")
    #expect(
      board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm,
      "it is known")
    #expect(suspender.blocker == .inhibited(by: "c"))
    let before = kernel.suspends
    kernel.remove(lock)
    #expect(suspender.checkInhibitors() == nil && suspender.blocker?.isInhibitorLock == false)
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
    #expect(kernel.suspends == before + 1)
  }

  @Test("PWR-4: a kernel that refuses is asked again after pauses that double, and it is told")
  func refused() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    var tries: [Instant] = []
    kernel.before["state"] = { tries.append(SystemClock().now) }
    kernel.refuses["state"] = EIO
    #expect(board.wait(in: .suspended, until: soon(200), wakesOnInput: false).reason == .alarm)
    #expect(suspender.blocker == .refused(code: EIO))
    #expect((2...4).contains(tries.count))
    for (a, b) in zip(tries, tries.dropFirst()) { #expect(b - a >= .milliseconds(20)) }
    #expect(suspender.consumeLogMessage()?.contains("Input/output error") == true)
    let before = tries.count
    _ = board.wait(in: .suspended, until: soon(30), wakesOnInput: false)
    #expect(tries.count == before, "a new wait is no reason to ask at once")
  }

  @Test("a board that only motion is to wake has an alarm all the same, hours away")
  func fallback() throws {
    let suspender = BoardSuspender.quick(kernel)
    var alarm: Int64?
    kernel.whileSuspended = { [kernel] in
      alarm = Int64(kernel.text("/sys/class/rtc/rtc0/wakealarm").dropLast())
    }
    let outcome = suspender.suspend(
      until: .distantFuture, wakesOnInput: false, line: SerialLine(noneIn: events), events
    ) { false }
    #expect(outcome == .resumed && alarm.map { (22_500...22_700).contains($0) } == true)
  }

  @Test("a board that nothing would wake is not suspended")
  func noEnd() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    defer { for descriptor in ends { close(descriptor) } }
    try events.add(ends[0], as: request, for: .readable)
    let suspender = BoardSuspender.quick(kernel, [])
    var board = try board(suspender)
    let sender = Sender(ends[1], [(after_ms: 20, bytes: [1])])
    #expect(
      board.wait(in: .suspended, until: .distantFuture, wakesOnInput: false).reason == .request)
    sender.join()
    #expect(kernel.suspends == 0 && suspender.blocker == .noWakeTime)
    // Motion would wake it, but programs have their time after the start.
    var pace = BoardSuspender.Timing()
    pace.startupTime = .seconds(60)
    let early = BoardSuspender([.motion], kernel.files, pace, usesTimer: false)
    #expect(
      early.suspend(
        until: .distantFuture, wakesOnInput: false, line: SerialLine(noneIn: events), events
      ) { false } == .notSuspended)
    #expect(early.blocker == .noWakeTime)
    kernel.remove("/sys/class/rtc/rtc0/wakealarm")
    let blind = BoardSuspender.quick(kernel)
    var other = LinuxBoard(
      events, line: SerialLine(noneIn: events), pins: NoPins(), suspender: blind)
    #expect(other.wait(in: .suspended, until: soon(40), wakesOnInput: false).reason == .request)
    #expect(kernel.suspends == 0)
  }

  @Test(
    "the clock's one alarm: cleared before it is set, never later than somebody else's, put back")
  func wakealarm() throws {
    let clock = try #require(RealTimeClock(kernel.files))
    #expect(clock.name == "rtc0" && clock.now == 1_000 && clock.alarm == nil)
    #expect(clock.setEarliest(in: .milliseconds(2_500)).code == 0 && clock.alarm == 1_003)
    #expect(
      clock.setEarliest(in: .seconds(10)) == (0, 1_003) && clock.alarm == 1_003, "the earliest wins"
    )
    let alarm = try #require(SuspendAlarm(kernel.files, usesTimer: false))
    let now = SystemClock().now
    #expect(alarm.set(to: now + .seconds(1), at: now) == 0 && clock.alarm == 1_002)
    alarm.clear()
    #expect(clock.alarm == 1_003, "somebody else's is as it was")
    kernel.make("/sys/class/rtc/rtc0/since_epoch", "2000\n")
    #expect(
      clock.set(in: .seconds(1), shortest: .zero) == 0 && clock.alarm == 2_002,
      "one of the past is not kept")
    kernel.make("/sys/class/rtc/rtc0/device/power/wakeup", "disabled\n")
    #expect(RealTimeClock(kernel.files) == nil)
  }

  @Test("a kernel that keeps its reader waiting is not waited for")
  func busyKernel() throws {
    kernel.remove("/sys/power/wakeup_count")
    let path = kernel.folder.path + "/sys/power/wakeup_count"
    try #require(unsafe mkfifo(path, 0o600) == 0)
    let other = unsafe open(path, O_RDWR)
    defer { close(other) }
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    #expect(kernel.files.readBounded(SleepStates.wakeupCountPath) == nil)
    #expect(board.wait(in: .suspended, until: soon(300), wakesOnInput: false).reason == .alarm)
    #expect(suspender.blocker != nil && kernel.suspends == 0)
  }

  /// Pins that count, and whose sensor says at last what it said before.
  private struct CountingPins: LinuxPins {
    final class Count {
      var rearms = 0
      var motion: PinLevel?
      var releases = 0
    }
    let count: Count
    mutating func consumePulses() -> Int64? { nil }
    mutating func prepareForSuspend() { count.releases += 1 }
    mutating func set(_ command: PinCommand) throws(PinFault) { throw .notWired }
    mutating func consumeChanges(from events: EventWait) -> PinChanges {
      var news = PinChanges()
      guard count.rearms > 0 else { return news }
      news.motion = count.motion
      count.motion = nil
      return news
    }
    mutating func setSessionLight(_ isOn: Bool) -> Bool { true }
    mutating func rearm() { count.rearms += 1 }
  }

  @Test("lines are heard anew after a suspend, and what they say then ends the wait")
  func rearm() throws {
    let count = CountingPins.Count()
    var board = LinuxBoard(
      events, line: SerialLine(noneIn: events), pins: CountingPins(count: count),
      suspender: .quick(kernel))
    kernel.whileSuspended = { count.motion = .active }
    let waking = board.wait(in: .suspended, until: soon(5_000), wakesOnInput: false)
    #expect(waking.reason == .motion && waking.motion == .active && waking.motionEdge == nil)
    #expect(count.rearms == 1 && kernel.suspends == 1 && count.releases == 1)
    // A wall clock that is set is no suspend.
    events.watchClock(changingAt: 1)
    #expect(board.wait(in: .idle, until: soon(30), wakesOnInput: false).reason == .alarm)
    #expect(count.rearms == 1)
  }

  @Test("an edge's stamp is put on the boot clock by the suspends that were between")
  func stamps() {
    let before = ClockOffset(monotonic_us: 5_000_000, boot: Instant(microseconds: 8_000_000))
    let after = ClockOffset(monotonic_us: 6_000_000, boot: Instant(microseconds: 109_000_000))
    #expect(after.wasSuspended(since: before) && !before.wasSuspended(since: before))
    func moment(_ ms: Int64) -> Instant {
      after.bootTime(monotonic_ns: ms * 1_000_000, before: before)
    }
    #expect(moment(4_000) == Instant(microseconds: 7_000_000), "before it was suspended for 100 s")
    #expect(moment(5_500) == Instant(microseconds: 108_500_000), "after it")
    let now = ClockOffset()
    #expect(!ClockOffset().wasSuspended(since: now))
  }

  @Test("PWR-9: a guard is put over the wait for each try, and taken away")
  func guarded() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    defer { for descriptor in ends { close(descriptor) } }
    try events.add(ends[0], as: request, for: .readable)
    for _ in 0..<3 {
      events.blockSuspend(true, wakesOnInput: false)
      events.blockSuspend(false, wakesOnInput: false)
    }
    _ = unsafe write(ends[1], [1], 1)
    #expect(
      events.wait(until: .boot, wakesOnInput: false) && events.conditions(of: request) == .readable)
  }
}

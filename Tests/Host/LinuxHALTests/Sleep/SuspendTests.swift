import Glibc
import LocationHAL
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Suspend", .tags(.realTime)) struct SuspendTests {
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

  /// The path of the terminal's wakeup attribute.
  private var wakeSwitch: String {
    "/sys/class/tty/\(terminal.path.split(separator: "/").last!)/power/wakeup"
  }

  @Test("the deepest available sleep mode is used")
  func states() {
    #expect(SleepStates(kernel.files).description == "mem (deep)")
    let light = FakeKernel(states: "freeze\n", depth: nil)
    #expect(SleepStates(light.files).description == "freeze")
    let none = FakeKernel(states: "disk\n", depth: nil)
    #expect(SleepStates(none.files).mode == nil)
    #expect(BoardSuspender.quick(none).blocker == .suspendUnsupported)
  }

  @Test("the alarm is set before and cleared after; the remaining time is spent idle")
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

  @Test("PWR-9: an event between the check and the suspend keeps the board awake")
  func eventBeforeSuspend() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    var isFirst = true
    // After the count was read: only the kernel has counted this event.
    kernel.before["wakeup_count"] = { [kernel] in
      if isFirst { kernel.wake() }
      isFirst = false
    }
    kernel.whileSuspended = { usleep(100_000) }
    #expect(board.wait(in: .suspended, until: soon(100), wakesOnInput: false).reason == .alarm)
    let order = kernel.written.filter { !$0.hasPrefix("wakealarm") }
    #expect(order == ["wakeup_count=1", "state=mem"], "only the second attempt is accepted")
  }

  @Test("PWR-9: an event after the count was written back aborts the suspend")
  func eventLater() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    kernel.before["state"] = { [kernel] in kernel.wake() }
    #expect(board.wait(in: .suspended, until: soon(25), wakesOnInput: false).reason == .alarm)
    #expect(kernel.suspends == 0 && suspender.blocker == .eventOccurred)
  }

  @Test("PWR-9: a pending byte or request prevents the suspend")
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

  @Test("postponable work ends a wait but no suspend, and is done at the next wake")
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

  @Test("the board idles if the alarm is too near, also by the kernel's decision")
  func nearAlarm() throws {
    var timing = BoardSuspender.Timing()
    #expect(timing.minimumAlarmDistance == .seconds(2))
    timing.initialRetryDelay = .milliseconds(20)
    let suspender = BoardSuspender([], kernel.files, timing, usesTimer: false)
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

  @Test("an interrupted suspend is retried with delays that double up to a maximum")
  func retriesWithBackOff() throws {
    var tries = 0
    kernel.before["state"] = { tries += 1 }
    kernel.refuses["state"] = EBUSY
    var timing = BoardSuspender.Timing()
    timing.minimumAlarmDistance = .milliseconds(1)
    timing.initialRetryDelay = .milliseconds(2)
    func count(_ longest: Interval) throws -> Int {
      timing.maximumRetryDelay = longest
      tries = 0
      let suspender = BoardSuspender([], kernel.files, timing, usesTimer: false)
      var board = LinuxBoard(
        events, line: SerialLine(noneIn: events), pins: NoPins(), suspender: suspender)
      #expect(board.wait(in: .suspended, until: soon(400), wakesOnInput: false).reason == .alarm)
      // The last check may be too near to the alarm for another attempt.
      #expect([.eventOccurred, .alarmTooNear].contains(suspender.blocker) && kernel.suspends == 0)
      return tries
    }
    // 2, 4, 8 … 256 ms; and every 10 ms from the fourth on.
    #expect((2...9).contains(try count(.seconds(3_600))))
    #expect(try count(.milliseconds(10)) > 12)
  }

  @Test("bytes received during a suspend are discarded; the wait continues")
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

  @Test("bytes wake the board only with `wakesOnInput`: the wakeup attribute follows it")
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
    #expect(try board.read().count == 0, "the first bytes are lost, so all are discarded")
    kernel.whileSuspended = { usleep(60_000) }
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
    #expect(kernel.text(wakeSwitch) == "disabled\n")
    let written = kernel.written.count { $0.hasPrefix("wakeup=") }
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
    #expect(kernel.written.count { $0.hasPrefix("wakeup=") } == written, "written once")
  }

  @Test("after another program's wake event the board stays awake briefly, then suspends")
  func otherWake() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    var times: [Instant] = []
    kernel.whileSuspended = { times.append(SystemClock().now) }
    #expect(board.wait(in: .suspended, until: soon(120), wakesOnInput: false).reason == .alarm)
    #expect(times.count >= 2)
    for (a, b) in zip(times, times.dropFirst()) { #expect(b - a >= .milliseconds(30)) }
  }

  @Test("a systemd inhibitor lock with mode block prevents the suspend; mode delay does not")
  func inhibitors() throws {
    let suspender = BoardSuspender.quick(kernel)
    var board = try board(suspender)
    let lock = "/run/systemd/inhibit/1"
    kernel.make(lock, "WHAT=shutdown:sleep\nMODE=block\nWHO=Backup of the disk\nWHY=x\n")
    // A new lock is reported immediately, and once (DEF-28).
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .request)
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
    #expect(suspender.blocker == .inhibited(by: "Backup of the disk") && kernel.suspends == 0)
    #expect(suspender.checkInhibitors() == "Backup of the disk")
    #expect(suspender.consumeLogMessage()?.contains("Backup of the disk") == true)
    #expect(suspender.consumeLogMessage() == nil, "logged once")
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
      "it was reported")
    #expect(suspender.blocker == .inhibited(by: "c"))
    let before = kernel.suspends
    kernel.remove(lock)
    #expect(suspender.checkInhibitors() == nil && suspender.blocker?.isInhibitorLock == false)
    #expect(board.wait(in: .suspended, until: soon(60), wakesOnInput: false).reason == .alarm)
    #expect(kernel.suspends == before + 1)
  }

  @Test("PWR-4: a refused suspend is logged and retried with doubling delays")
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
    #expect(tries.count == before, "a new wait does not retry immediately")
  }

  @Test("a board that only motion wakes still has an alarm some hours away")
  func fallback() throws {
    let suspender = BoardSuspender.quick(kernel)
    var alarm: Int64?
    kernel.whileSuspended = { [kernel] in
      alarm = Int64(kernel.text("/sys/class/rtc/rtc0/wakealarm").dropLast())
    }
    let result = suspender.suspend(
      until: .distantFuture, wakesOnInput: false, line: SerialLine(noneIn: events), events
    ) { false }
    #expect(result == .resumed && alarm.map { (22_500...22_700).contains($0) } == true)
  }

  @Test("a board without a wake source is not suspended")
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
    // Motion would wake it, but after the start programs get time to connect.
    var timing = BoardSuspender.Timing()
    timing.startupTime = .seconds(60)
    let early = BoardSuspender([.motion], kernel.files, timing, usesTimer: false)
    #expect(
      early.suspend(
        until: .distantFuture, wakesOnInput: false, line: SerialLine(noneIn: events), events
      ) { false } == .notSuspended)
    #expect(early.blocker == .noWakeTime)
    kernel.remove("/sys/class/rtc/rtc0/wakealarm")
    let withoutAlarm = BoardSuspender.quick(kernel)
    var other = LinuxBoard(
      events, line: SerialLine(noneIn: events), pins: NoPins(), suspender: withoutAlarm)
    #expect(other.wait(in: .suspended, until: soon(40), wakesOnInput: false).reason == .request)
    #expect(kernel.suspends == 0)
  }

  @Test("the RTC's only alarm is shared: the earliest wins, and the other is restored")
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
    #expect(clock.alarm == 1_003, "the other program's alarm is restored")
    kernel.make("/sys/class/rtc/rtc0/since_epoch", "2000\n")
    #expect(
      clock.set(in: .seconds(1), minimumDistance: .zero) == 0 && clock.alarm == 2_002,
      "a passed alarm is replaced")
    kernel.make("/sys/class/rtc/rtc0/device/power/wakeup", "disabled\n")
    #expect(RealTimeClock(kernel.files) == nil)
  }

  @Test("a kernel file that blocks its reader does not block the board")
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

  /// Pins that count their calls and report motion only after a rearm.
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
      var changes = PinChanges()
      guard count.rearms > 0 else { return changes }
      changes.motion = count.motion
      count.motion = nil
      return changes
    }
    mutating func setSessionLight(_ isOn: Bool) -> Bool { true }
    mutating func rearm() { count.rearms += 1 }
  }

  @Test("lines are rearmed after a suspend, and a changed level ends the wait")
  func rearm() throws {
    let count = CountingPins.Count()
    var board = LinuxBoard(
      events, line: SerialLine(noneIn: events), pins: CountingPins(count: count),
      suspender: .quick(kernel))
    kernel.whileSuspended = { count.motion = .active }
    let report = board.wait(in: .suspended, until: soon(5_000), wakesOnInput: false)
    #expect(report.reason == .motion && report.motion == .active && report.motionEdge == nil)
    #expect(count.rearms == 1 && kernel.suspends == 1 && count.releases == 1)
    // Setting the wall clock does not count as a suspend.
    events.watchClock(changingAt: 1)
    #expect(board.wait(in: .idle, until: soon(30), wakesOnInput: false).reason == .alarm)
    #expect(count.rearms == 1)
  }

  @Test("an edge's monotonic timestamp is converted to the boot clock")
  func stamps() {
    let before = ClockOffset(monotonic_us: 5_000_000, boot: Instant(microseconds: 8_000_000))
    let after = ClockOffset(monotonic_us: 6_000_000, boot: Instant(microseconds: 109_000_000))
    #expect(after.wasSuspended(since: before) && !before.wasSuspended(since: before))
    func bootTime(_ ms: Int64) -> Instant {
      after.bootTime(monotonic_ns: ms * 1_000_000, before: before)
    }
    #expect(bootTime(4_000) == Instant(microseconds: 7_000_000), "before the suspend of 100 s")
    #expect(bootTime(5_500) == Instant(microseconds: 108_500_000), "after the suspend")
    let now = ClockOffset()
    #expect(!ClockOffset().wasSuspended(since: now))
    // Readings are exact to a microsecond, whatever interrupts them.
    let offsets = (0..<1_000).map { _ in ClockOffset().offset.microseconds }
    #expect((offsets.max() ?? 0) - (offsets.min() ?? 0) <= 100)
  }

  @Test("PWR-9: a suspend block is set for each attempt and removed after it")
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

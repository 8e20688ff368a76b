import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Power-off of the board") struct PowerOffTests {
  /// The registers of a Witty Pi 4 with a stopped clock.
  private final class FakeHAT: ByteRegisters {
    var registers: [UInt8: UInt8] = [:]
    var ignoresWrites = false

    /// 27 February 2028, 23:59:50, in a leap year.
    init() {
      registers = [0: 0x26, 58: 0x50, 59: 0x59, 60: 0x23, 61: 0x27, 62: 7, 63: 0x02, 64: 0x28]
    }

    func read(_ register: UInt8) -> UInt8? { registers[register] ?? 0 }

    func write(_ value: UInt8, to register: UInt8) -> Bool {
      if !ignoresWrites { registers[register] = value }
      return true
    }

    /// Day, hours, minutes and seconds of the alarm, as BCD.
    var alarm: [UInt8] { [30, 29, 28, 27].map { registers[$0] ?? 0 } }
  }

  private let folder = TestFolder()
  private let kernel = FakeKernel()
  private let boot = BootIdentity(id: [1])
  private let other = BootIdentity(id: [2])
  private let start = Instant(microseconds: 1_000_000_000)
  private let utc = UTCTime(microseconds: 1_800_000_000_000_000)

  private var intent: WakeIntent {
    WakeIntent(
      boot: boot, off: start, offUTC: utc, offClock_s: 5_000, until: start + .seconds(3_600),
      alarm: "rtc0")
  }

  private func powerOff(_ alarm: (any PowerOnAlarm)?, boot: BootIdentity? = nil) -> BoardPowerOff {
    BoardPowerOff(
      alarm, minimumOffTime: .seconds(120), lead: .seconds(31), record: folder.file("wake-intent"),
      boot: boot ?? self.boot, kernel.files)
  }

  @Test("RNG-8: the wake record stores the deadline as boot identity, boot time and UTC")
  func deadline() throws {
    let parsed = try #require(WakeIntent(text: intent.text))
    #expect(parsed == intent)
    #expect(parsed.untilUTC == utc + .seconds(3_600))
  }

  @Test("RNG-8: the start cause follows from the record, the clocks and the alarm's status")
  func startCause() {
    func start(_ after_s: Int64, _ hasPoweredOn: Bool? = nil) -> WakeIntent.StartCause {
      intent.startCause(
        on: other, clock_s: 5_000 + after_s, slack: .seconds(60), hasPoweredOn: hasPoweredOn)
    }
    #expect(start(3_590) == .byAlarm && start(3_650) == .byAlarm)
    #expect(start(600) == .early(.seconds(3_000)) && start(600, false) == .early(.seconds(3_000)))
    #expect(start(600, true) == .byAlarm, "one of the clocks is wrong")
    #expect(start(4_000) == .late(.seconds(400)))
    #expect(start(-5) == .unknown && start(0, true) == .byAlarm)
    #expect(intent.startCause(on: boot, clock_s: 8_600, slack: .zero) == .sameBoot)
    #expect(intent.startCause(on: other, clock_s: nil, slack: .zero) == .unknown)
    #expect(start(.max - 5_000) == .unknown)
  }

  @Test("STD-13, RNG-8: a step of the wall clock by 56 years does not change the start cause")
  func steppedWallClock() {
    var intent = intent
    for off in [0, 1_771_000_000_000_000] as [Int64] {
      intent.offUTC = UTCTime(microseconds: off)
      #expect(intent.startCause(on: other, clock_s: 8_610, slack: .seconds(60)) == .byAlarm)
    }
  }

  @Test("RNG-8: a record of an earlier version, without the alarm's clock, is read")
  func earlierRecord() throws {
    let text = intent.text.replacing("off_clock_s=5000\n", with: "")
    let parsed = try #require(WakeIntent(text: text))
    #expect(parsed.offClock_s == nil && parsed.until == intent.until)
    #expect(parsed.startCause(on: other, clock_s: 8_600, slack: .zero) == .unknown)
    #expect(
      parsed.startCause(on: other, clock_s: 8_600, slack: .zero, hasPoweredOn: true) == .byAlarm)
  }

  @Test("PWR-4: an alarm that a new time of its clock has removed is set again, and recorded")
  func clockSetBeforePowerOff() throws {
    let clock = try #require(RealTimeClock(kernel.files))
    let due = SystemClock().now + .seconds(1_000)
    let service = powerOff(clock)
    #expect(service.confirmAlarm() == 0 && clock.alarm == nil, "nothing is prepared")
    #expect(service.prepare(until: due, at: SystemClock().now) == nil)
    let alarm = try #require(clock.alarm)
    #expect(service.confirmAlarm() == 0 && clock.alarm == alarm, "the clock runs on")
    // As the kernel does when it copies the system clock: the alarm is of the past, and is removed.
    kernel.make("/sys/class/rtc/rtc0/since_epoch", "900000000\n")
    #expect(clock.set(nil) == 0)
    #expect(service.confirmAlarm() == 0)
    #expect(clock.alarm.map { (900_000_960...900_000_972).contains($0) } == true)
    #expect(WakeIntent.read(folder.file("wake-intent"))?.offClock_s == 900_000_000)
    kernel.make("/sys/class/rtc/rtc0/since_epoch", "1000\n")
    kernel.refuses["wakealarm"] = EINVAL
    #expect(service.confirmAlarm() == EINVAL)
  }

  @Test("RNG-8: the record is written before the power-off, read once, and ignored if damaged")
  func record() throws {
    let clock = try #require(RealTimeClock(kernel.files))
    let due = SystemClock().now + .seconds(1_000)
    #expect(powerOff(clock).prepare(until: due, at: SystemClock().now) == nil)
    #expect(clock.alarm.map { (1_969...1_972).contains($0) } == true, "early enough to boot")
    let stored = try #require(WakeIntent.read(folder.file("wake-intent")))
    #expect(stored.until == due && stored.boot == boot && stored.alarm == "rtc0")
    #expect(folder.names == ["wake-intent"])
    #expect(powerOff(clock, boot: other).consumeIntent()?.intent == stored)
    #expect(powerOff(clock, boot: other).consumeIntent() == nil && folder.names.isEmpty)
    let latest = Int64.max
    for text in [
      "", "torpor wake intent 1\n", intent.text.replacing("until_us=", with: "until_us=x"),
      intent.text.replacing("until_us=\(intent.until.microseconds)", with: "until_us=\(latest)"),
      intent.text.replacing(
        "off_utc_us=\(intent.offUTC.microseconds)", with: "off_utc_us=\(latest)"),
      intent.text.replacing(
        "off_utc_us=\(intent.offUTC.microseconds)", with: "off_utc_us=-\(latest)"),
    ] {
      #expect(text != intent.text)
      folder.write(Array(text.utf8), to: "wake-intent")
      #expect(powerOff(clock).consumeIntent() == nil, "\(text)")
    }
  }

  @Test(
    "PWR-14: the time off is that of the alarm's clock; without it that of the wall clock, at least the planned one"
  )
  func timeOff() {
    func length(_ boot: BootIdentity, clock_s: Int64?, utc_s: Int64) -> Interval {
      intent.timeSince(
        on: boot, clock_s: clock_s, at: start + .seconds(200), utc: utc + .seconds(utc_s))
    }
    #expect(length(other, clock_s: 8_000, utc_s: -9) == .seconds(3_000))
    #expect(length(other, clock_s: nil, utc_s: 9_000) == .seconds(9_000))
    #expect(length(other, clock_s: 4_000, utc_s: -9) == .seconds(3_600))
    #expect(length(boot, clock_s: 8_000, utc_s: 0) == .seconds(200), "the board stayed on")
  }

  @Test("no power-off with a lock, a near alarm, no alarm or an unwritable record")
  func blockers() throws {
    let clock = try #require(RealTimeClock(kernel.files))
    let now = SystemClock().now
    #expect(powerOff(nil).prepare(until: now + .seconds(1_000), at: now) == .noAlarm)
    #expect(powerOff(clock).prepare(until: now + .seconds(140), at: now) == .alarmTooNear)
    kernel.make("/run/systemd/inhibit/4", "WHAT=shutdown\nMODE=block\nWHO=apt\n")
    #expect(powerOff(clock).prepare(until: now + .seconds(1_000), at: now) == .inhibited(by: "apt"))
    kernel.remove("/run/systemd/inhibit/4")
    #expect(clock.alarm == nil)
    let withoutFolder = BoardPowerOff(
      clock, minimumOffTime: .zero, lead: .zero, record: folder.file("none/wake-intent"),
      boot: boot,
      kernel.files)
    #expect(withoutFolder.prepare(until: now + .seconds(1_000), at: now) == .refused(code: ENOENT))
    #expect(clock.alarm == nil, "no alarm is set for a board that stays on")
    kernel.refuses["wakealarm"] = EINVAL
    #expect(
      powerOff(clock).prepare(until: now + .seconds(1_000), at: now) == .refused(code: EINVAL))
    #expect(folder.names.isEmpty)
  }

  @Test("PWR-4: without an alarm, or with one that may fire too early, the board stays on")
  func alarmsOfOthers() throws {
    let clock = try #require(RealTimeClock(kernel.files))
    let due = SystemClock().now + .seconds(1_000)
    // Another program's alarm would fire during the shutdown, and ours would not be set.
    #expect(clock.set(1_005) == 0)
    #expect(powerOff(clock).prepare(until: due, at: SystemClock().now) == .alarmTooNear)
    #expect(clock.alarm == 1_005 && folder.names.isEmpty, "the other program's alarm is kept")
    // An earlier alarm of another program also powers the board on; it is restored.
    #expect(clock.set(1_500) == 0)
    let service = powerOff(clock)
    #expect(service.prepare(until: due, at: SystemClock().now) == nil && clock.alarm == 1_500)
    service.cancel()
    #expect(clock.alarm == 1_500)
    // The record of the failed power-off remains for the next start.
    #expect(powerOff(clock).consumeIntent()?.cause == .sameBoot && folder.names.isEmpty)
    #expect(clock.alarm == 1_500)
    // A new process in the same boot: the power-off did not happen, so the alarm is cleared.
    #expect(clock.set(nil) == 0)
    #expect(powerOff(clock).prepare(until: due, at: SystemClock().now) == nil && clock.alarm != nil)
    #expect(powerOff(clock).consumeIntent()?.cause == .sameBoot && clock.alarm == nil)
    // Another program's alarm is restored.
    #expect(clock.set(1_500) == 0)
    #expect(powerOff(clock).prepare(until: due, at: SystemClock().now) == nil)
    #expect(powerOff(clock).consumeIntent()?.cause == .sameBoot && clock.alarm == 1_500)
    #expect(clock.set(nil) == 0)
    kernel.ignoresWrites.insert("wakealarm")
    #expect(
      powerOff(clock).prepare(until: due, at: SystemClock().now) == .refused(code: EIO),
      "the alarm was not stored")
  }

  @Test("PWR-4: SIGTERM confirms the power-off; without it the board counts as on")
  func ending() {
    #expect(!BoardPowerOff.waitForTermination(within: .milliseconds(5)))
    var signals = sigset_t()
    var before = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGTERM)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
    pthread_kill(pthread_self(), SIGTERM)
    #expect(BoardPowerOff.waitForTermination(within: .seconds(1)))
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  @Test("control characters in names of other programs are replaced")
  func printable() {
    #expect(KernelText.printable("gps\u{1B}]0;x\u{7}d\u{9B}\nü".utf8) == "gps?]0;x?d?\nü")
  }

  @Test("a Witty Pi 4's alarm is set in BCD by its own clock, across the end of a month")
  func wittyPi() throws {
    let hat = FakeHAT()
    let alarm = try #require(WittyPi4(hat))
    hat.registers[39] = 1
    #expect(alarm.set(in: .milliseconds(19_500), minimumDistance: .zero) == 0)
    #expect(hat.alarm == [0x28, 0x00, 0x00, 0x10] && hat.registers[39] == 0)
    #expect(
      alarm.set(in: .seconds(2 * 86_400), minimumDistance: .zero) == 0
        && hat.alarm == [0x29, 0x23, 0x59, 0x50])
    #expect(
      alarm.set(in: .seconds(90 * 86_400), minimumDistance: .zero) == 0
        && hat.alarm == [0x25, 0x23, 0x59, 0x50])
    alarm.restore(nil)
    #expect(hat.alarm == [0, 0, 0, 0])
    for (reason, hasPoweredOn) in [1: true, 8: true, 3: false, 4: false] as [UInt8: Bool] {
      hat.registers[11] = reason
      #expect(alarm.hasPoweredOn == hasPoweredOn)
    }
    hat.ignoresWrites = true
    #expect(alarm.set(in: .seconds(60), minimumDistance: .zero) == EIO)
    hat.registers[63] = 0x13
    #expect(alarm.set(in: .seconds(60), minimumDistance: .zero) == EIO, "invalid month")
    hat.registers[0] = 0x37
    #expect(WittyPi4(hat) == nil, "another model")
    #expect(I2CDevice(bus: 9_999, address: WittyPi4.address) == nil)
  }
}

import CLinux
import Glibc
import LocationTypes

/// Switches the board off until an alarm, and determines the cause of the next start (RNG-8).
public final class BoardPowerOff {
  /// Alarm that can switch the board on again.
  public enum Alarm: Equatable, Sendable {
    /// The board's own real-time clock.
    case clock
    /// UUGear's Witty Pi 4 on the I²C bus with that number.
    case wittyPi4(bus: Int)
  }

  /// Minimum time until the alarm for which switching off saves energy.
  public let minimumOffTime: Interval
  /// Time from the alarm until the service runs, including the alarm's possible delay.
  public let startupLead: Interval

  private let alarm: (any PowerOnAlarm)?
  private let path: String
  private let boot: BootIdentity
  private let inhibitors: SleepInhibitors
  /// Setting of the alarm before this instance changed it.
  private var previousAlarm: Int64?
  /// The prepared power-off; nil without one.
  private var prepared: WakeIntent?
  /// Difference between the times that the alarm's clock and the boot clock show, above which the former was set.
  private static let clockTolerance = Interval.seconds(3)

  /// - Parameters:
  ///   - path: Path of the ``WakeIntent`` record.
  ///   - boot: The current boot.
  public convenience init(
    _ alarm: Alarm, minimumOffTime: Interval, lead: Interval, record path: String,
    boot: BootIdentity
  ) {
    let files = KernelFiles()
    let found: (any PowerOnAlarm)? =
      switch alarm {
      case .clock: RealTimeClock(files)
      case .wittyPi4(let bus):
        I2CDevice(bus: bus, address: WittyPi4.address).flatMap { WittyPi4($0) }
      }
    self.init(found, minimumOffTime: minimumOffTime, lead: lead, record: path, boot: boot, files)
  }

  init(
    _ alarm: (any PowerOnAlarm)?, minimumOffTime: Interval, lead: Interval, record path: String,
    boot: BootIdentity, _ files: KernelFiles
  ) {
    self.alarm = alarm
    self.minimumOffTime = minimumOffTime
    self.startupLead = lead
    self.path = path
    self.boot = boot
    inhibitors = SleepInhibitors(files)
  }

  /// Whether the board has an alarm, without which it cannot be switched off.
  public var isPossible: Bool { alarm != nil }

  /// Sets the alarm so that the service runs again at `due`, and stores the record.
  ///
  /// - Returns: What prevents it; nil if the board may be switched off now.
  public func prepare(until due: Instant, at now: Instant) -> SleepBlocker? {
    guard let alarm else { return .noAlarm }
    guard due - startupLead - now >= minimumOffTime else { return .alarmTooNear }
    if let holder = inhibitors.holder(of: .powerOff) { return .inhibited(by: holder) }
    previousAlarm = alarm.setting
    let code = alarm.set(in: due - startupLead - now, minimumDistance: minimumOffTime)
    guard code == 0 else {
      if code != EBUSY { alarm.restore(previousAlarm) }
      return code == EBUSY ? .alarmTooNear : .refused(code: code)
    }
    let intent = WakeIntent(
      boot: boot, off: now, offUTC: SystemClock().wallTime, offClock_s: alarm.time_s, until: due,
      alarm: alarm.name, previousAlarm: previousAlarm)
    let written = intent.write(to: path)
    guard written == 0 else {
      alarm.restore(previousAlarm)
      return .refused(code: written)
    }
    prepared = intent
    return nil
  }

  /// Sets the alarm again, and corrects the record, if the alarm's clock was set since ``prepare(until:at:)``.
  ///
  /// The kernel removes an alarm that a new time of its clock makes one of the past, for example when the system clock
  /// was synchronised just now and is copied to the real-time clock.
  ///
  /// - Returns: 0, or an error number: nothing will switch the board on.
  public func confirmAlarm() -> Int32 {
    guard let alarm, var intent = prepared, let clock_s = alarm.time_s,
      let elapsed = intent.elapsed(at: clock_s)
    else { return 0 }
    let now = SystemClock().now
    let change = elapsed - (now - intent.off)
    guard abs(change.microseconds) > BoardPowerOff.clockTolerance.microseconds else { return 0 }
    (intent.off, intent.offClock_s, intent.offUTC) = (now, clock_s, SystemClock().wallTime)
    prepared = intent
    let code = alarm.set(in: intent.until - startupLead - now, minimumDistance: .zero)
    return code == 0 ? intent.write(to: path) : code
  }

  /// Cancels the preparation: the board stays on. The record remains, so that the next start of the service knows that
  /// the power-off failed (``WakeIntent/StartCause/sameBoot``).
  public func cancel() {
    alarm?.restore(previousAlarm)
    previousAlarm = nil
    prepared = nil
  }

  /// Reads and removes the record of the last power-off, and determines how this start came about; nil without a
  /// record.
  public func consumeIntent() -> BoardStart? {
    guard let intent = WakeIntent.read(path) else { return nil }
    _ = unsafe unlink(path)
    let clock_s = alarm?.time_s
    let clock = SystemClock()
    let cause = intent.startCause(
      on: boot, clock_s: clock_s, slack: startupLead + .seconds(60),
      hasPoweredOn: alarm?.hasPoweredOn)
    // The power-off failed: the alarm would switch the board on after a later, unrelated power-off.
    if cause == .sameBoot { alarm?.restore(intent.previousAlarm) }
    return BoardStart(
      intent: intent, cause: cause,
      timeOff: intent.timeSince(on: boot, clock_s: clock_s, at: clock.now, utc: clock.wallTime))
  }

  /// Waits for `SIGTERM`, which a system that shuts down sends to this program.
  ///
  /// - Returns: Whether it was received; if not, the board stays on (PWR-4).
  public static func waitForTermination(within timeout: Interval = .seconds(90)) -> Bool {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGTERM)
    var before = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var limit = timespec(
      tv_sec: Int(timeout.microseconds / 1_000_000),
      tv_nsec: Int(timeout.microseconds % 1_000_000) * 1_000)
    return unsafe sigtimedwait(&signals, nil, &limit) == SIGTERM
  }

  /// Switches the board off: through systemd, which stops all units in order; under another init, by syncing the disks
  /// and calling the kernel.
  ///
  /// - Returns: An error number on failure; else 0, or does not return.
  public static func powerOff() -> Int32 {
    let isSystemd = unsafe access("/run/systemd/system", F_OK) == 0
    return -clinux_power_off(isSystemd ? 1 : 0)
  }
}

/// A start of the service after it had switched the board off, or tried to.
public struct BoardStart: Sendable {
  /// The record of the power-off.
  public let intent: WakeIntent
  /// How the board started.
  public let cause: WakeIntent.StartCause
  /// Time since the power-off.
  public let timeOff: Interval
}

extension WakeIntent.StartCause: CustomStringConvertible {
  /// How the board started, as text.
  public var description: String {
    switch self {
    case .sameBoot: "the board was to be switched off, but stayed on"
    case .byAlarm: "the board was off, and its alarm switched it on"
    case .early(let by):
      "the board was off, and was switched on \(Int(by.seconds)) s before its alarm"
    case .late(let by): "the board was off, and started \(Int(by.seconds)) s later than planned"
    case .unknown: "the board was off; its alarm's clock does not show for how long"
    }
  }
}

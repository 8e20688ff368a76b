import CLinux
import Glibc
import LocationTypes

/// Switches the board off until an alarm, and knows after it why that was (RNG-8).
public final class BoardPowerOff {
  /// What can switch the board on again.
  public enum Alarm: Equatable, Sendable {
    /// The board's own clock.
    case clock
    /// UUGear's Witty Pi 4 on an I²C bus of that number.
    case wittyPi4(bus: Int)
  }

  /// An alarm nearer than this is not worth it.
  public let shortest: Interval
  /// From the alarm until the service runs, and how late the alarm may be.
  public let lead: Interval

  private let alarm: (any PowerOnAlarm)?
  private let path: String
  private let boot: BootIdentity
  private let inhibitors: SleepInhibitors
  /// What the alarm was before we set it.
  private var before: Int64?

  /// - Parameters:
  ///   - path: Where the record of why it is off is kept.
  ///   - boot: This boot.
  public convenience init(
    _ alarm: Alarm, shortest: Interval, lead: Interval, record path: String, boot: BootIdentity
  ) {
    let files = KernelFiles()
    let found: (any PowerOnAlarm)? =
      switch alarm {
      case .clock: RealTimeClock(files)
      case .wittyPi4(let bus):
        I2CDevice(bus: bus, address: WittyPi4.address).flatMap { WittyPi4($0) }
      }
    self.init(found, shortest: shortest, lead: lead, record: path, boot: boot, files)
  }

  init(
    _ alarm: (any PowerOnAlarm)?, shortest: Interval, lead: Interval, record path: String,
    boot: BootIdentity, _ files: KernelFiles
  ) {
    self.alarm = alarm
    self.shortest = shortest
    self.lead = lead
    self.path = path
    self.boot = boot
    inhibitors = SleepInhibitors(files)
  }

  /// Whether the board can be switched off at all.
  public var isPossible: Bool { alarm != nil }

  /// Sets the alarm so that the service runs again at `due`, and notes that on the disk.
  ///
  /// - Returns: What is against it; nil if the board may be switched off now.
  public func prepare(until due: Instant) -> SleepHindrance? {
    guard let alarm else { return .noAlarm }
    let clock = SystemClock()
    let now = clock.now
    guard due - lead - now >= shortest else { return .alarmNear }
    if let who = inhibitors.holder(of: .powerOff) { return .inhibited(by: who) }
    before = alarm.setting
    let code = alarm.set(in: due - lead - now, shortest: shortest)
    guard code == 0 else {
      if code != EBUSY { alarm.restore(before) }
      return code == EBUSY ? .alarmNear : .refused(code: code)
    }
    let intent = WakeIntent(
      boot: boot, off: now, offUTC: clock.wall, until: due, alarm: alarm.name, before: before)
    let written = intent.write(to: path)
    guard written == 0 else {
      alarm.restore(before)
      return .refused(code: written)
    }
    return nil
  }

  /// The board stays on after all.
  public func cancel() {
    alarm?.restore(before)
    before = nil
    _ = unsafe unlink(path)
  }

  /// What the last start has left, and how this one came about; removes it. nil where nothing was left.
  public func takeIntent() -> (intent: WakeIntent, start: WakeIntent.Start)? {
    guard let intent = WakeIntent.read(path) else { return nil }
    _ = unsafe unlink(path)
    let start = intent.start(
      on: boot, utc: SystemClock().wall, slack: lead + .seconds(60),
      hasSwitchedOn: alarm?.hasSwitchedOn)
    // The board was to be off and is on: its alarm would switch it on when somebody else has it off.
    if start == .sameBoot { alarm?.restore(intent.before) }
    return (intent, start)
  }

  /// Waits until this program is told to end, as it is where the board is being switched off.
  ///
  /// - Returns: Whether it was; else the board stays on (PWR-4).
  public static func isEnding(within patience: Interval = .seconds(90)) -> Bool {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGTERM)
    var before = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var limit = timespec(
      tv_sec: Int(patience.microseconds / 1_000_000),
      tv_nsec: Int(patience.microseconds % 1_000_000) * 1_000)
    return unsafe sigtimedwait(&signals, nil, &limit) == SIGTERM
  }

  /// Switches the board off: systemd is asked, which ends everything in order; where the first process is
  /// another, the disks are synced and the kernel is told.
  ///
  /// - Returns: An error number where that is refused; else 0, or nothing ever.
  public static func powerOff() -> Int32 {
    let isSystemd = unsafe access("/run/systemd/system", F_OK) == 0
    return -clinux_power_off(isSystemd ? 1 : 0)
  }
}

extension WakeIntent.Start: CustomStringConvertible {
  /// How the board came on, in words.
  public var description: String {
    switch self {
    case .sameBoot: "the board was to be switched off, and was not"
    case .byAlarm: "the board was off, and its alarm has switched it on"
    case .early(let by):
      "the board was off, and was switched on \(Int(by.seconds)) s before its alarm"
    case .late(let by): "the board was off, and is on \(Int(by.seconds)) s later than it should"
    case .unknown: "the board was off; for how long its clock does not tell"
    }
  }
}

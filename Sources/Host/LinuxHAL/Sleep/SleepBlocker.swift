/// Why a board that should be suspended or off is not.
public enum SleepBlocker: Equatable, Sendable {
  /// The kernel cannot suspend this board.
  case suspendUnsupported
  /// This process may not write a file that it must write.
  case notPermitted(path: String)
  /// No alarm can wake the board: it has no clock with an alarm, or this process may not set it.
  case noAlarm
  /// No wake time and no other wakeup source.
  case noWakeTime
  /// A program holds a systemd inhibitor lock.
  case inhibited(by: String)
  /// The alarm is so near that the kernel would refuse.
  case alarmTooNear
  /// Bytes to the receiver are still being sent.
  case sending
  /// An event occurred on the way to suspend (PWR-9).
  case eventOccurred
  /// The kernel is handling a wakeup event of unknown duration.
  case kernelBusy
  /// The kernel refused; `code` is its error number.
  case refused(code: Int32)
  /// The board was woken for another program, which gets time to run.
  case wokenByOther

  /// Whether the reason ends by itself within seconds and need not be logged.
  public var isTransient: Bool {
    switch self {
    case .alarmTooNear, .sending, .eventOccurred, .kernelBusy, .wokenByOther: true
    case .suspendUnsupported, .notPermitted, .noAlarm, .noWakeTime, .inhibited, .refused: false
    }
  }

  /// Whether the reason is a systemd inhibitor lock.
  public var isInhibitorLock: Bool {
    if case .inhibited = self { return true }
    return false
  }

  /// Whether the reason lasts as long as the service runs.
  public var isPermanent: Bool {
    switch self {
    case .suspendUnsupported, .notPermitted, .noAlarm: true
    case .noWakeTime, .inhibited, .alarmTooNear, .sending, .eventOccurred, .kernelBusy, .refused,
      .wokenByOther:
      false
    }
  }
}

extension SleepBlocker: CustomStringConvertible {
  /// The reason and how to fix it, in one line.
  public var description: String {
    switch self {
    case .suspendUnsupported: "the kernel cannot suspend this board (/sys/power/state)"
    case .notPermitted(let path):
      "this user may not write '\(path)': see packaging/torpord-sleep.conf"
    case .noAlarm:
      "no alarm can wake the board: it needs a real-time clock with an alarm"
        + " (/sys/class/rtc) and the capability to set it (CAP_WAKE_ALARM)"
    case .noWakeTime: "nothing would wake the board: there is no wake time"
    case .inhibited(let who): "'\(who)' holds an inhibitor lock (see systemd-inhibit --list)"
    case .alarmTooNear: "the wake time is too near"
    case .sending: "bytes to the receiver are still being sent"
    case .eventOccurred: "an event occurred before the board was suspended"
    case .kernelBusy: "the kernel is handling an event that wakes the board"
    case .refused(let code): "the kernel refused: \(SystemError.reason(code))"
    case .wokenByOther: "the board was woken for another program"
    }
  }
}

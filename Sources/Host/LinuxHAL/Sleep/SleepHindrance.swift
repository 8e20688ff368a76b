/// Why a board that should be suspended, or off, is not.
public enum SleepHindrance: Equatable, Sendable {
  /// The kernel cannot suspend this board.
  case noState
  /// This process may not write a file that it must write.
  case notPermitted(path: String)
  /// Nothing can wake the board at a moment: no clock with an alarm, or none that this process may set.
  case noAlarm
  /// There is no moment to wake at, and nothing else that would wake the board.
  case noEnd
  /// A program has a lock of systemd's against it.
  case inhibited(by: String)
  /// The alarm is so near that the kernel would refuse.
  case alarmNear
  /// Bytes to the receiver are still on their way.
  case sending
  /// Something happened on the way to sleep (PWR-9).
  case eventCame
  /// The kernel is busy with something that wakes the board, and does not say for how long.
  case busy
  /// The kernel refused, by its error number.
  case refused(code: Int32)
  /// The board was woken for somebody else, who is given time.
  case wokenByOther

  /// It passes by itself within seconds, and nobody need be told.
  public var isPassing: Bool {
    switch self {
    case .alarmNear, .sending, .eventCame, .busy, .wokenByOther: true
    case .noState, .notPermitted, .noAlarm, .noEnd, .inhibited, .refused: false
    }
  }

  /// It is a lock of systemd's.
  public var isLock: Bool {
    if case .inhibited = self { return true }
    return false
  }

  /// It stays so as long as the service runs.
  public var isForGood: Bool {
    switch self {
    case .noState, .notPermitted, .noAlarm: true
    case .noEnd, .inhibited, .alarmNear, .sending, .eventCame, .busy, .refused, .wokenByOther:
      false
    }
  }
}

extension SleepHindrance: CustomStringConvertible {
  /// Why, and what helps, in one line.
  public var description: String {
    switch self {
    case .noState: "the kernel cannot suspend this board (/sys/power/state)"
    case .notPermitted(let path):
      "'\(path)' cannot be written by this user: see packaging/torpord-sleep.conf"
    case .noAlarm:
      "nothing can wake it at a given time: it needs a real-time clock with an alarm"
        + " (/sys/class/rtc) and the right to set it (CAP_WAKE_ALARM)"
    case .noEnd: "nothing would wake it: there is no moment to wake at"
    case .inhibited(let who): "'\(who)' has a lock against it (systemd-inhibit --list)"
    case .alarmNear: "it would have to wake at once"
    case .sending: "bytes to the receiver are on their way"
    case .eventCame: "something happened on the way to sleep"
    case .busy: "the kernel is busy with something that wakes the board"
    case .refused(let code): "the kernel refused: \(SystemError.reason(code))"
    case .wokenByOther: "it was woken for something else"
    }
  }
}

import LocationTypes

/// What the kernel reports about suspend on this board, and one trial suspend, for `torpor doctor`.
public struct SleepSurvey {
  /// Result of a trial.
  public enum Trial: Equatable, Sendable {
    /// The board was suspended for that time and resumed `late` after its alarm was due; negative if another wakeup
    /// source ended it.
    case suspended(Interval, late: Interval)
    /// The board was not suspended.
    case blocked(SleepBlocker)
  }

  /// Maximum number of tries when an event interferes, and the time between two of them.
  private static let maximumTries = 3
  private static let retryDelay = Interval.milliseconds(2_500)

  private let files: KernelFiles
  private let usesTimer: Bool

  /// Creates a survey of the files below `root`, which is empty for the system's own.
  public init(root: String = "") { self.init(KernelFiles(root: root)) }

  init(_ files: KernelFiles, usesTimer: Bool = true) {
    self.files = files
    self.usesTimer = usesTimer
  }

  /// Suspend mode of the board, as `mem (deep)`; nil if the kernel cannot suspend it.
  public var mode: String? {
    let states = SleepStates(files)
    return states.mode == nil ? nil : states.description
  }

  /// Whether the kernel has a wakeup count; without it the service does not suspend the board (PWR-9).
  public var hasWakeupCount: Bool { SleepStates(files).hasWakeupCount }

  /// Name of the clock that can wake the board, `rtc0`; nil if none exists.
  public var clock: String? { RealTimeClock(files)?.name }

  /// Whether this process may set an alarm that wakes the board.
  public var maySetAlarm: Bool { SuspendAlarm(files, usesTimer: usesTimer) != nil }

  /// Why this process could not suspend the board now or at all; nil if no reason is known.
  public var blocker: SleepBlocker? {
    if let blocker = suspender(.init()).blocker { return blocker }
    if !maySetAlarm { return .noAlarm }
    return SleepInhibitors(files).holder(of: .suspend).map { .inhibited(by: $0) }
  }

  private func suspender(_ timing: BoardSuspender.Timing) -> BoardSuspender {
    BoardSuspender([], files, timing, usesTimer: usesTimer)
  }

  /// Suspends the board once, with an alarm `time` from now.
  ///
  /// - Precondition: `time` is at least 3 s, because the kernel refuses a nearer alarm.
  public func trial(for time: Interval) throws(SystemError) -> Trial {
    precondition(time >= .seconds(3), "the kernel refuses an alarm within 3 seconds")
    return try trial(for: time, timing: BoardSuspender.Timing(), retryDelay: SleepSurvey.retryDelay)
  }

  func trial(
    for time: Interval, timing: BoardSuspender.Timing, retryDelay: Interval
  ) throws(SystemError) -> Trial {
    let events = try EventWait()
    let line = SerialLine(noneIn: events)
    let suspender = suspender(timing)
    for attempt in 1...SleepSurvey.maximumTries {
      let begin = SystemClock().now
      let end = begin + time
      let outcome = suspender.suspend(
        until: end, wakesOnInput: false, line: line, events, hasPendingEvent: { false })
      let now = SystemClock().now
      if outcome == .resumed { return .suspended(now - begin, late: now - end) }
      guard suspender.blocker?.isTransient == true, attempt < SleepSurvey.maximumTries else {
        break
      }
      events.wait(until: now + retryDelay)
    }
    return .blocked(suspender.blocker ?? .eventOccurred)
  }
}

import LocationTypes

/// What the kernel reports about suspend on this board, and one trial suspend, for `torpor doctor`.
public struct SleepSurvey {
  /// Result of a trial.
  public enum Trial: Equatable, Sendable {
    /// The board was suspended for that time and resumed `late` after its alarm was due; negative if another wakeup
    /// source ended it.
    case slept(Interval, late: Interval)
    /// The board was not suspended.
    case hindered(SleepHindrance)
  }

  /// Maximum number of tries when an event interferes, and the time between two of them.
  private static let tries = 3
  private static let pause = Interval.milliseconds(2_500)

  private let files: KernelFiles
  private let usesTimer: Bool

  /// Creates a survey of the files below `root`, which is empty for the system's own.
  public init(root: String = "") { self.init(KernelFiles(root: root)) }

  init(_ files: KernelFiles, usesTimer: Bool = true) {
    self.files = files
    self.usesTimer = usesTimer
  }

  /// Suspend mode of the board, as `mem (deep)`; nil if the kernel cannot suspend it.
  public var state: String? {
    let states = SleepStates(files)
    return states.word == nil ? nil : states.description
  }

  /// Whether the kernel has a wakeup count; without it the service does not suspend the board (PWR-9).
  public var countsWakeups: Bool { SleepStates(files).countsWakeups }

  /// Name of the clock that can wake the board, `rtc0`; nil if there is none.
  public var clock: String? { RealTimeClock(files)?.name }

  /// Whether this process may set an alarm that wakes the board.
  public var maySetAlarm: Bool { SuspendAlarm(files, usesTimer: usesTimer) != nil }

  /// Why this process could not suspend the board now or at all; nil if no reason is known.
  public var hindrance: SleepHindrance? {
    if let hindrance = suspender(.init()).hindrance { return hindrance }
    if !maySetAlarm { return .noAlarm }
    return SleepInhibitors(files).holder(of: .suspend).map { .inhibited(by: $0) }
  }

  private func suspender(_ pace: BoardSuspender.Pace) -> BoardSuspender {
    BoardSuspender([], files, pace, usesTimer: usesTimer)
  }

  /// Suspends the board once, with an alarm `time` from now.
  ///
  /// - Precondition: `time` is at least 3 s, because the kernel refuses a nearer alarm.
  public func trial(for time: Interval) throws(SystemError) -> Trial {
    precondition(time >= .seconds(3), "the kernel refuses an alarm within 3 seconds")
    return try trial(for: time, pace: BoardSuspender.Pace(), pause: SleepSurvey.pause)
  }

  func trial(
    for time: Interval, pace: BoardSuspender.Pace, pause: Interval
  ) throws(SystemError) -> Trial {
    let events = try EventWait()
    let line = SerialLine(noneIn: events)
    let suspender = suspender(pace)
    for attempt in 1...SleepSurvey.tries {
      let begin = SystemClock().now
      let end = begin + time
      let outcome = suspender.suspend(
        until: end, listening: false, line: line, events, look: { false })
      let now = SystemClock().now
      if outcome == .resumed { return .slept(now - begin, late: now - end) }
      guard suspender.hindrance?.isPassing == true, attempt < SleepSurvey.tries else { break }
      events.wait(until: now + pause)
    }
    return .hindered(suspender.hindrance ?? .eventCame)
  }
}

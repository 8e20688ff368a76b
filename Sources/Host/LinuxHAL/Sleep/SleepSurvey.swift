import LocationTypes

/// What of a board's sleep the kernel tells, for whoever looks whether it can sleep; and one try of it.
public struct SleepSurvey {
  /// What came of a try.
  public enum Trial: Equatable, Sendable {
    /// The board was suspended for so long, and was back so long after its alarm was due: below zero where
    /// something else woke it.
    case slept(Interval, late: Interval)
    /// It was not suspended.
    case hindered(SleepHindrance)
  }

  /// Tries where something comes in between, and the time between two of them.
  private static let tries = 3
  private static let pause = Interval.milliseconds(2_500)

  private let files: KernelFiles
  private let usesTimer: Bool

  /// Looks below `root`, which is empty for the system's own files.
  public init(root: String = "") { self.init(KernelFiles(root: root)) }

  init(_ files: KernelFiles, usesTimer: Bool = true) {
    self.files = files
    self.usesTimer = usesTimer
  }

  /// How the kernel suspends the board, `mem (deep)`; nil where it cannot.
  public var state: String? {
    let states = SleepStates(files)
    return states.word == nil ? nil : states.description
  }

  /// Whether the kernel tells of what happens on the way to sleep; without that it is not slept (PWR-9).
  public var countsWakeups: Bool { SleepStates(files).countsWakeups }

  /// The clock that can wake the board, `rtc0`; nil where there is none.
  public var clock: String? { RealTimeClock(files)?.name }

  /// Whether this process may have it wake the board.
  public var maySetAlarm: Bool { SuspendAlarm(files, usesTimer: usesTimer) != nil }

  /// Why this process could not suspend the board, now or ever; nil where nothing is known to be against it.
  public var hindrance: SleepHindrance? {
    if let hindrance = suspender(.init()).hindrance { return hindrance }
    if !maySetAlarm { return .noAlarm }
    return SleepInhibitors(files).holder(of: .suspend).map { .inhibited(by: $0) }
  }

  private func suspender(_ pace: BoardSuspender.Pace) -> BoardSuspender {
    BoardSuspender([], files, pace, usesTimer: usesTimer)
  }

  /// Suspends the board once, really, with an alarm `time` from now.
  ///
  /// - Precondition: at least 3 s, for the kernel refuses an alarm that is near.
  public func trial(for time: Interval) throws(SystemError) -> Trial {
    precondition(time >= .seconds(3), "an alarm that is near is refused")
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

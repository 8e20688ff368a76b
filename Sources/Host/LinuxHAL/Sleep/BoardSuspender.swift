import Glibc
import LocationTypes

/// Suspends the board without a race: an event on the way to suspend keeps the board awake (PWR-9).
///
/// Follows the kernel's protocol for `/sys/power/wakeup_count`: set the alarm; read the wakeup count; check for
/// pending events; write the count back, which the kernel refuses if a wakeup event came since it was read. After that
/// write, a wakeup event aborts the suspend. What the board supports is read from the kernel, never derived from the
/// board's name.
///
/// The write to `/sys/power/state` returns when the board has resumed. One instance is shared by the board, which
/// suspends with it, and by the service, which reports why the board does not suspend.
public final class BoardSuspender {
  /// Wakeup sources of the board's profile, in addition to the alarm.
  public struct WakeSources: OptionSet, Sendable {
    /// One bit for each source.
    public let rawValue: UInt8
    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Bytes on the receiver's line. The first bytes are lost.
    public static let bytes = WakeSources(rawValue: 1)
    /// The motion sensor's line, which may become active at any time.
    public static let motion = WakeSources(rawValue: 2)
  }

  /// Times and delays; tests use shorter ones.
  struct Pace {
    /// Minimum distance of an alarm; the kernel refuses a nearer one (EBUSY).
    var nearest = Interval.seconds(2)
    /// Initial and maximum delay after a failed try. Each failure doubles the delay, so that the lost time stays in
    /// proportion to the time blocked.
    var firstPause = Interval.seconds(2)
    var longestPause = Interval.seconds(3_600)
    /// Initial delay while bytes to the receiver are being sent, doubled as well.
    var sendingPause = Interval.milliseconds(100)
    /// Time after the start during which a board without a wake time stays awake, so that programs can connect.
    var startTime = Interval.seconds(120)
    /// Maximum length of a suspend: if the wakeup source fails, nothing else can reach the board.
    var longest = Interval.seconds(6 * 3_600)
    /// Time for which the board stays awake after a wakeup for another program.
    var grace = Interval.seconds(5)
  }

  /// Result of a try.
  enum Outcome: Equatable {
    /// The board was suspended and has resumed.
    case resumed
    /// A pending event ends the wait.
    case found
    /// The board was not suspended.
    case stayed
  }

  /// The kernel's suspend modes on this board.
  let states: SleepStates
  /// Why the last request to suspend failed; nil if it succeeded.
  public private(set) var hindrance: SleepHindrance?
  /// Number of suspends.
  public private(set) var count: UInt64 = 0

  let files: KernelFiles
  /// Reason that prevents suspend for as long as the service runs; nil if there is none.
  private let lasting: SleepHindrance?
  private let sources: WakeSources
  private let pace: Pace
  private let alarm: SuspendAlarm?
  private let inhibitors: SleepInhibitors
  /// Whether the current inhibitor lock was reported.
  private var isLockKnown = false
  private let begin = SystemClock().now
  private var pause: Interval
  private var sendingPause: Interval
  /// Earliest time of the next try.
  private var notBefore = Instant.boot
  /// Reason that was logged last.
  private var told: SleepHindrance?
  private var hasToldSleep = false

  /// Reads from the kernel what the board supports.
  public convenience init(_ sources: WakeSources) {
    self.init(sources, KernelFiles(), Pace())
  }

  init(_ sources: WakeSources, _ files: KernelFiles, _ pace: Pace, usesTimer: Bool = true) {
    self.sources = sources
    self.files = files
    self.pace = pace
    pause = pace.firstPause
    sendingPause = pace.sendingPause
    states = SleepStates(files)
    alarm = SuspendAlarm(files, usesTimer: usesTimer)
    inhibitors = SleepInhibitors(files)
    if states.word == nil || !states.countsWakeups {
      lasting = .noState
    } else {
      let closed = [SleepStates.state, SleepStates.count].first { !files.isWritable($0) }
      lasting = closed.map { .notPermitted(path: $0) }
    }
    hindrance = lasting
  }

  /// Holder of a systemd inhibitor lock against suspend; nil if there is none. Updates `blocker` accordingly. Always
  /// nil for a board that cannot suspend.
  public func lookForLock() -> String? {
    guard lasting == nil else { return nil }
    let holder = inhibitors.holder(of: .suspend)
    if let holder {
      hindrance = .inhibited(by: holder)
      isLockKnown = true
    } else {
      forgetLock()
    }
    return holder
  }

  /// Whether a lock was found during a try and not reported yet; marks it as reported.
  func takeLock() -> Bool {
    guard case .inhibited = hindrance, !isLockKnown else { return false }
    isLockKnown = true
    return true
  }

  private func forgetLock() {
    isLockKnown = false
    // Until the next try, the cause is unknown; this one is transient and not logged.
    if case .inhibited = hindrance { hindrance = .eventCame }
  }

  /// Resets the retry delay at the start of a wait, because the previous reason may be over; but a request that the
  /// kernel refused is not repeated before its retry time (PWR-4).
  func beginWait() {
    if case .refused = hindrance { return }
    notBefore = .boot
    pause = pace.firstPause
    sendingPause = pace.sendingPause
  }

  /// Time of the next useful try while the board only idles; `.distantFuture` for none.
  func nextTry(until deadline: Instant) -> Instant {
    guard let hindrance, !hindrance.isForGood, deadline - notBefore > pace.nearest else {
      return .distantFuture
    }
    return notBefore
  }

  /// Whether `suspend(until:wakesOnInput:line:_:hasPendingEvent:)` would try at all.
  func isTryDue(at now: Instant) -> Bool { lasting == nil && now >= notBefore }

  /// Suspends the board, if nothing prevents it.
  ///
  /// - Parameters:
  ///   - deadline: Time at which the board must be awake; `.distantFuture` if only motion is to end the suspend, with
  ///     a fallback alarm after hours. The board may resume up to a second early.
  ///   - wakesOnInput: Whether bytes end the suspend, if they are a wakeup source in the profile.
  ///   - line: The receiver's line.
  ///   - events: The wait, which records the suspend.
  ///   - hasPendingEvent: Returns whether an event is pending.
  func suspend(
    until deadline: Instant, listening: Bool, line: borrowing SerialLine, _ events: EventWait,
    look: () -> Bool
  ) -> Outcome {
    let clock = SystemClock()
    let now = clock.now
    guard now >= notBefore else { return .stayed }
    if let new = hindrance(until: deadline, line, at: now) ?? prepare(listening, line) {
      return stay(new, at: now)
    }
    defer { alarm?.clear() }
    if let code = alarm?.set(to: min(deadline, now + pace.longest), at: now), code != 0 {
      return stay(.refused(code: code), at: now)
    }
    events.guardAgainstSleep(true, listening: listening)
    defer { events.guardAgainstSleep(false, listening: listening) }
    guard let count = files.readBounded(SleepStates.count) else {
      return look() ? .found : stay(.busy, at: now)
    }
    if look() { return .found }
    switch files.write(count, to: SleepStates.count) {
    case 0: break
    case EINVAL: return stay(.eventCame, at: now)
    case let code: return stay(.refused(code: code), at: now)
    }
    let begin = clock.now
    let code = files.write(states.word?.rawValue ?? "", to: SleepStates.state)
    guard code == 0 else {
      return stay(code == EBUSY ? .eventCame : .refused(code: code), at: clock.now)
    }
    events.noteSuspend(for: clock.now - begin)
    self.count += 1
    hindrance = nil
    pause = pace.firstPause
    return .resumed
  }

  /// Keeps the board awake for a while after a wakeup that was not for this service, so that the other program can
  /// run.
  func wokenByOther(at now: Instant) {
    hindrance = .wokenByOther
    notBefore = now + pace.grace
  }

  /// The reason against a suspend that is known without changing anything.
  private func hindrance(
    until deadline: Instant, _ line: borrowing SerialLine, at now: Instant
  ) -> SleepHindrance? {
    if let lasting { return lasting }
    guard alarm != nil else { return .noAlarm }
    if deadline == .distantFuture {
      guard sources.contains(.motion), now - begin >= pace.startTime else { return .noEnd }
    } else {
      guard deadline - now > pace.nearest else { return .alarmNear }
    }
    if line.isSending { return .sending }
    guard let holder = inhibitors.holder(of: .suspend) else {
      forgetLock()
      return nil
    }
    return .inhibited(by: holder)
  }

  /// Sets whether bytes on the line wake the board.
  private func prepare(_ listening: Bool, _ line: borrowing SerialLine) -> SleepHindrance? {
    guard line.isOpen else { return nil }
    let isWanted = listening && sources.contains(.bytes)
    // The path is resolved each time, because a device that was plugged in again has a new name. Failing to switch a
    // wakeup off is no reason against suspend: it only costs wakes.
    guard let path = SerialWake(line.path, files).set(isWanted), isWanted else { return nil }
    return .notPermitted(path: path)
  }

  private func stay(_ hindrance: SleepHindrance, at now: Instant) -> Outcome {
    self.hindrance = hindrance
    if hindrance == .sending {
      notBefore = now + sendingPause
      sendingPause = min(sendingPause * 2, pace.longestPause)
    } else {
      notBefore = now + pause
      pause = min(pause * 2, pace.longestPause)
    }
    return .stayed
  }

  // MARK: Log

  /// The next log line about suspend since the last call; nil if there is none.
  public func takeNews() -> String? {
    if hindrance == nil, count > 0, !hasToldSleep || told != nil {
      defer { (told, hasToldSleep) = (nil, true) }
      return told == nil ? "the board suspends: \(states.description)" : "the board suspends again"
    }
    guard let hindrance, !hindrance.isPassing, hindrance != told else { return nil }
    told = hindrance
    return "the board idles instead of suspending: \(hindrance)"
  }
}

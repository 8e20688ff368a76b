import BoardHardware
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
  /// Times and delays; tests use shorter ones.
  struct Timing {
    /// Minimum distance of an alarm; the kernel refuses a nearer one (EBUSY).
    var minimumAlarmDistance = Interval.seconds(2)
    /// Initial and maximum delay after a failed try. Each failure doubles the delay, so that the lost time stays in
    /// proportion to the time blocked.
    var initialRetryDelay = Interval.seconds(2)
    var maximumRetryDelay = Interval.seconds(3_600)
    /// Initial delay while bytes to the receiver are being sent, doubled as well.
    var sendingRetryDelay = Interval.milliseconds(100)
    /// Time after the start during which a board without a wake time stays awake, so that programs can connect.
    var startupTime = Interval.seconds(120)
    /// Maximum length of a suspend: if the wakeup source fails, nothing else can reach the board.
    var maximumSuspend = Interval.seconds(6 * 3_600)
    /// Time for which the board stays awake after a wakeup for another program.
    var otherWakeTime = Interval.seconds(5)
  }

  /// Result of a try.
  enum SuspendResult: Equatable {
    /// The board was suspended and has resumed.
    case resumed
    /// A pending event ends the wait.
    case eventPending
    /// The board was not suspended.
    case notSuspended
  }

  /// The kernel's suspend modes on this board.
  let states: SleepStates
  /// Why the last request to suspend failed; nil if it succeeded.
  public private(set) var blocker: SleepBlocker?
  /// Number of suspends.
  public private(set) var suspendCount: UInt64 = 0

  let files: KernelFiles
  /// Reason that prevents suspend for as long as the service runs; nil if none exists.
  private let permanentBlocker: SleepBlocker?
  private let sources: WakeSources
  private let timing: Timing
  private let alarm: SuspendAlarm?
  private let inhibitors: SleepInhibitors
  /// Whether the current inhibitor lock was reported.
  private var isLockReported = false
  private let startTime = SystemClock().now
  private var retry: RetryBackoff
  private var sendingRetry: RetryBackoff
  /// Earliest time of the next try.
  private var earliestRetry = Instant.boot
  /// Reason that was logged last.
  private var loggedBlocker: SleepBlocker?
  private var hasLoggedSuspend = false

  /// Reads from the kernel what the board supports. Of the sources, `bytes` decides whether bytes on the line wake the
  /// board, and `motion` permits a suspend without an alarm; the others need no setting here.
  public convenience init(_ sources: WakeSources) {
    self.init(sources, KernelFiles(), Timing())
  }

  init(_ sources: WakeSources, _ files: KernelFiles, _ timing: Timing, usesTimer: Bool = true) {
    self.sources = sources
    self.files = files
    self.timing = timing
    retry = RetryBackoff(initial: timing.initialRetryDelay, longest: timing.maximumRetryDelay)
    sendingRetry = RetryBackoff(
      initial: timing.sendingRetryDelay, longest: timing.maximumRetryDelay)
    states = SleepStates(files)
    alarm = SuspendAlarm(files, usesTimer: usesTimer)
    inhibitors = SleepInhibitors(files)
    if states.mode == nil || !states.hasWakeupCount {
      permanentBlocker = .suspendUnsupported
    } else {
      let unwritable = [SleepStates.statePath, SleepStates.wakeupCountPath].first {
        !files.isWritable($0)
      }
      permanentBlocker = unwritable.map { .notPermitted(path: $0) }
    }
    blocker = permanentBlocker
  }

  /// Holder of a systemd inhibitor lock against suspend; nil if none exists. Updates `blocker` accordingly. Always
  /// nil for a board that cannot suspend.
  public func checkInhibitors() -> String? {
    guard permanentBlocker == nil else { return nil }
    let holder = inhibitors.holder(of: .suspend)
    if let holder {
      blocker = .inhibited(by: holder)
      isLockReported = true
    } else {
      clearLock()
    }
    return holder
  }

  /// Whether a lock was found during a try and not reported yet; marks it as reported.
  func consumeNewLock() -> Bool {
    guard case .inhibited = blocker, !isLockReported else { return false }
    isLockReported = true
    return true
  }

  private func clearLock() {
    isLockReported = false
    // The reason is unknown until the next try; `eventOccurred` is transient and not logged.
    if case .inhibited = blocker { blocker = .eventOccurred }
  }

  /// Resets the retry delay at the start of a wait, because the previous reason may be over; but a request that the
  /// kernel refused is not repeated before its retry time (PWR-4).
  func beginWait() {
    if case .refused = blocker { return }
    earliestRetry = .boot
    retry.reset()
    sendingRetry.reset()
  }

  /// Time of the next useful try while the board only idles; `.distantFuture` for none.
  func nextRetry(until deadline: Instant) -> Instant {
    guard let blocker, !blocker.isPermanent, deadline - earliestRetry > timing.minimumAlarmDistance
    else {
      return .distantFuture
    }
    return earliestRetry
  }

  /// Whether `suspend(until:wakesOnInput:line:_:hasPendingEvent:)` would try at all.
  func isRetryDue(at now: Instant) -> Bool { permanentBlocker == nil && now >= earliestRetry }

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
    until deadline: Instant, wakesOnInput: Bool, line: borrowing SerialLine, _ events: EventWait,
    hasPendingEvent: () -> Bool
  ) -> SuspendResult {
    let clock = SystemClock()
    let now = clock.now
    guard now >= earliestRetry else { return .notSuspended }
    if let new = currentBlocker(until: deadline, line, at: now)
      ?? configureSerialWake(wakesOnInput, line)
    {
      return postpone(new, at: now)
    }
    defer { alarm?.clear() }
    if let code = alarm?.set(to: min(deadline, now + timing.maximumSuspend), at: now), code != 0 {
      return postpone(.refused(code: code), at: now)
    }
    events.blockSuspend(true, wakesOnInput: wakesOnInput)
    defer { events.blockSuspend(false, wakesOnInput: wakesOnInput) }
    guard let count = files.readBounded(SleepStates.wakeupCountPath) else {
      return hasPendingEvent() ? .eventPending : postpone(.kernelBusy, at: now)
    }
    if hasPendingEvent() { return .eventPending }
    switch files.write(count, to: SleepStates.wakeupCountPath) {
    case 0: break
    case EINVAL: return postpone(.eventOccurred, at: now)
    case let code: return postpone(.refused(code: code), at: now)
    }
    let begin = clock.now
    let code = files.write(states.mode?.rawValue ?? "", to: SleepStates.statePath)
    guard code == 0 else {
      return postpone(code == EBUSY ? .eventOccurred : .refused(code: code), at: clock.now)
    }
    events.recordSuspend(for: clock.now - begin)
    self.suspendCount += 1
    blocker = nil
    retry.reset()
    return .resumed
  }

  /// Keeps the board awake for a while after a wakeup that was not for this service, so that the other program can
  /// run.
  func recordOtherWake(at now: Instant) {
    blocker = .wokenByOther
    earliestRetry = now + timing.otherWakeTime
  }

  /// The reason against a suspend that is known without changing anything.
  private func currentBlocker(
    until deadline: Instant, _ line: borrowing SerialLine, at now: Instant
  ) -> SleepBlocker? {
    if let permanentBlocker { return permanentBlocker }
    guard alarm != nil else { return .noAlarm }
    if deadline == .distantFuture {
      guard sources.contains(.motion), now - startTime >= timing.startupTime else {
        return .noWakeTime
      }
    } else {
      guard deadline - now > timing.minimumAlarmDistance else { return .alarmTooNear }
    }
    if line.isSending { return .sending }
    guard let holder = inhibitors.holder(of: .suspend) else {
      clearLock()
      return nil
    }
    return .inhibited(by: holder)
  }

  /// Sets whether bytes on the line wake the board.
  private func configureSerialWake(
    _ wakesOnInput: Bool, _ line: borrowing SerialLine
  ) -> SleepBlocker? {
    guard line.isOpen else { return nil }
    let isEnabled = wakesOnInput && sources.contains(.bytes)
    // The path is resolved each time, because a device that was plugged in again has a new name. A wakeup that cannot
    // be switched off only costs wakes and does not prevent suspend.
    guard let path = SerialWake(line.path, files).set(isEnabled), isEnabled else { return nil }
    return .notPermitted(path: path)
  }

  private func postpone(_ blocker: SleepBlocker, at now: Instant) -> SuspendResult {
    self.blocker = blocker
    earliestRetry =
      blocker == .sending ? sendingRetry.recordFailure(at: now) : retry.recordFailure(at: now)
    return .notSuspended
  }

  // MARK: Log

  /// The next log line about suspend since the last call; nil if none exists.
  public func consumeLogMessage() -> String? {
    if blocker == nil, suspendCount > 0, !hasLoggedSuspend || loggedBlocker != nil {
      defer { (loggedBlocker, hasLoggedSuspend) = (nil, true) }
      return loggedBlocker == nil
        ? "the board suspends: \(states.description)" : "the board suspends again"
    }
    guard let blocker, !blocker.isTransient, blocker != loggedBlocker else { return nil }
    loggedBlocker = blocker
    return "the board idles instead of suspending: \(blocker)"
  }
}

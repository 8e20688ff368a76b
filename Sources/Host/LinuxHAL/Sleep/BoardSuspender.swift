import Glibc
import LocationTypes

/// Suspends the board, free of races: what comes on the way to sleep keeps it awake (PWR-9).
///
/// The order is that of the kernel's own rules. The alarm is set; the count of wake-ups is read; only then
/// is looked whether anything waits; the count is written back, which the kernel refuses if something came
/// since it was read, and after which it breaks off a suspend that something comes into. What the board can
/// do is read from the kernel, never told by the board's name.
///
/// Writing to `/sys/power/state` returns when the board is back. Shared by the board, which sleeps by it,
/// and by whoever tells why it does not.
public final class BoardSuspender {
  /// What, of the board's profile, ends a suspend beside the alarm.
  public struct WakeSources: OptionSet, Sendable {
    /// One bit a source.
    public let rawValue: UInt8
    /// Creates a set of its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Bytes on the receiver's line, the first of which are lost.
    public static let bytes = WakeSources(rawValue: 1)
    /// The motion sensor's line, which may rise although nobody asked for anything.
    public static let motion = WakeSources(rawValue: 2)
  }

  /// Times; tests have shorter ones.
  struct Pace {
    /// With an alarm so near, or nearer, the kernel refuses (EBUSY).
    var nearest = Interval.seconds(2)
    /// How long after a vain try the next one comes; doubled by each that is vain too, so that no more
    /// time is lost than was hindered, up to the longest.
    var firstPause = Interval.seconds(2)
    var longestPause = Interval.seconds(3_600)
    /// The pause while bytes to the receiver are on their way, doubled as well.
    var sendingPause = Interval.milliseconds(100)
    /// So long after the start a board that nothing has to wake stays on, for programs to come.
    var startTime = Interval.seconds(120)
    /// No suspend is longer: whatever was to end it may have failed, and nobody can reach the board then.
    var longest = Interval.seconds(6 * 3_600)
    /// How long the board stays awake for somebody else whom it was woken for.
    var grace = Interval.seconds(5)
  }

  /// What came of a try.
  enum Outcome: Equatable {
    /// It was suspended, and is back.
    case resumed
    /// Something waits that ends the wait.
    case found
    /// It was not suspended.
    case stayed
  }

  /// How the kernel suspends this board.
  let states: SleepStates
  /// Why the board was not suspended when that was asked for last; nil if it was.
  public private(set) var hindrance: SleepHindrance?
  /// How often it was.
  public private(set) var count: UInt64 = 0

  let files: KernelFiles
  /// What is against it for as long as the service runs.
  private let lasting: SleepHindrance?
  private let sources: WakeSources
  private let pace: Pace
  private let alarm: SuspendAlarm?
  private let inhibitors: SleepInhibitors
  /// The owner knows of the lock that there is.
  private var isLockKnown = false
  private let begin = SystemClock().now
  private var pause: Interval
  private var sendingPause: Interval
  /// No try before this.
  private var notBefore = Instant.boot
  /// What was told last of why it does not sleep.
  private var told: SleepHindrance?
  private var hasToldSleep = false

  /// Asks the kernel what the board can do.
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

  /// Looks who has a lock of systemd's against it; nil where nobody has. It is what hinders from then on, and no
  /// longer where there is none. A board that cannot be suspended has none.
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

  /// Whether a lock was met on the way to sleep of which its owner does not know yet; he does then.
  func takeLock() -> Bool {
    guard case .inhibited = hindrance, !isLockKnown else { return false }
    isLockKnown = true
    return true
  }

  private func forgetLock() {
    isLockKnown = false
    // What comes next is not told before it is there.
    if case .inhibited = hindrance { hindrance = .eventCame }
  }

  /// A new wait begins: what hindered the last one may be over. A kernel that refused is not asked again
  /// before its time (PWR-4).
  func beginWait() {
    if case .refused = hindrance { return }
    notBefore = .boot
    pause = pace.firstPause
    sendingPause = pace.sendingPause
  }

  /// When the next try is worth it, while the board only idles; `.distantFuture` for never.
  func nextTry(until deadline: Instant) -> Instant {
    guard let hindrance, !hindrance.isForGood, deadline - notBefore > pace.nearest else {
      return .distantFuture
    }
    return notBefore
  }

  /// Whether ``suspend(until:listening:line:_:look:)`` would try at all.
  func isTryDue(at now: Instant) -> Bool { lasting == nil && now >= notBefore }

  /// Suspends the board, if nothing is against it.
  ///
  /// - Parameters:
  ///   - deadline: When to be back; `.distantFuture` where only motion is to end it, and a fallback after
  ///     hours. The board may be back a second before.
  ///   - listening: Whether bytes are to end it, where the profile has them do so.
  ///   - line: The receiver's line.
  ///   - events: Counts it.
  ///   - look: Says whether anything waits.
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

  /// It was woken, and not for us: somebody else gets the time to do what he wants.
  func wokenByOther(at now: Instant) {
    hindrance = .wokenByOther
    notBefore = now + pace.grace
  }

  /// What is against it, before anything is touched.
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

  /// Has bytes wake the board, or not.
  private func prepare(_ listening: Bool, _ line: borrowing SerialLine) -> SleepHindrance? {
    guard line.isOpen else { return nil }
    let isWanted = listening && sources.contains(.bytes)
    // Looked for each time: a device that was unplugged comes back under another name. A line that wakes
    // although it need not costs wakes, and nothing else.
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

  // MARK: Telling

  /// What there is to tell of the board's sleep since the last call; nil for nothing.
  public func takeNews() -> String? {
    if hindrance == nil, count > 0, !hasToldSleep || told != nil {
      defer { (told, hasToldSleep) = (nil, true) }
      return told == nil ? "the board suspends: \(states.description)" : "the board suspends again"
    }
    guard let hindrance, !hindrance.isPassing, hindrance != told else { return nil }
    told = hindrance
    return "the board idles where it could be suspended: \(hindrance)"
  }
}

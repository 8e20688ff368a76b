import LocationPolicy
import LocationTypes
import LocationWire

/// A program to start, as ``LocationServer`` passes it to ``ClientStarter``.
public struct Launch: Equatable, Sendable {
  /// Client of the program.
  public var client: WireClientName
  /// Command or unit, from the policy.
  public var relaunch: Relaunch
  /// Why it is started.
  public var reason: LaunchReason
}

/// Back-off state of starting a client's program, until it connects and stays connected.
struct PendingLaunch {
  /// Delay before the program is started again, doubled after each start. Also the connection time below which the
  /// program does not count as running.
  static let baseDelay = Interval.seconds(60)
  /// Maximum number of starts for one reason.
  static let attemptsLimit = 8

  /// Pending reason; nil without one.
  private(set) var reason: LaunchReason?
  /// Reason for which the running process was started; nil if it started by itself.
  private(set) var runningReason: LaunchReason?
  /// Whether the program that has connected last was started by the service, or followed such a one within
  /// ``PowerOffParameters/unattendedTime``: a script connects once for each of its commands.
  private(set) var isLaunched = false
  /// When a program with ``isLaunched`` has disconnected last; nil before.
  private var launchedEnd: Instant?
  /// Time of the next start; nil without one.
  private(set) var nextStart: Instant?
  /// Number of starts for the pending reason; ``retry`` counts those since the program last stayed connected.
  private var reasonStarts = 0
  private var retry = RetryBackoff(
    initial: PendingLaunch.baseDelay,
    longest: PendingLaunch.baseDelay * (1 << Int64(PendingLaunch.attemptsLimit - 1)))
  private var connectedAt = Instant.boot

  /// Requests a start, unless one is pending.
  mutating func request(_ reason: LaunchReason, at time: Instant) {
    guard nextStart == nil else { return }
    self.reason = reason
    reasonStarts = 0
    nextStart = max(time, retry.nextTime)
  }

  /// Records a start and computes the time of the next one; none after ``attemptsLimit`` starts.
  mutating func recordStart(at now: Instant) {
    reasonStarts += 1
    retry.recordFailure(at: now)
    nextStart = reasonStarts < PendingLaunch.attemptsLimit ? retry.nextTime : nil
  }

  /// Records that the program has connected. Returns whether it was started for a reason.
  mutating func recordConnect(at now: Instant) -> Bool {
    runningReason = reasonStarts > 0 ? reason : nil
    let follows = launchedEnd.map { now - $0 <= PowerOffParameters.unattendedTime } ?? false
    isLaunched = runningReason != nil || follows
    connectedAt = now
    cancel()
    return runningReason != nil
  }

  /// Records that the program has ended or disconnected. The back-off is reset if it stayed connected long enough.
  mutating func recordEnd(at now: Instant) {
    if isLaunched { launchedEnd = now }
    guard now - connectedAt >= PendingLaunch.baseDelay else { return }
    retry.reset()
  }

  /// Cancels the pending start.
  mutating func cancel() {
    reason = nil
    nextStart = nil
    reasonStarts = 0
  }
}

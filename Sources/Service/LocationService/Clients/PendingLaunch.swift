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
  /// Whether the last session counts as one of a program that the service has started: it began within
  /// ``PowerOffParameters/unattendedTime`` of the start, or of the end of such a session, because a script connects once
  /// for each of its commands.
  private(set) var isLaunched = false
  /// Until when a session that begins counts as such; nil before a start.
  private var launchedUntil: Instant?
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

  /// Records an attempt to start it and computes the time of the next one; none after ``attemptsLimit`` starts.
  mutating func recordStart(at now: Instant) {
    reasonStarts += 1
    retry.recordFailure(at: now)
    nextStart = reasonStarts < PendingLaunch.attemptsLimit ? retry.nextTime : nil
  }

  /// Records that the program was started, or that a session that counts as its own has ended.
  mutating func recordUse(at now: Instant) {
    launchedUntil = now + PowerOffParameters.unattendedTime
  }

  /// Records that the program has connected. Returns whether it was started for a reason.
  mutating func recordConnect(at now: Instant) -> Bool {
    runningReason = reasonStarts > 0 ? reason : nil
    isLaunched = launchedUntil.map { now <= $0 } ?? false
    connectedAt = now
    cancel()
    return runningReason != nil
  }

  /// Records that the program has ended or disconnected. The back-off is reset if it stayed connected long enough.
  mutating func recordEnd(at now: Instant) {
    if isLaunched { recordUse(at: now) }
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

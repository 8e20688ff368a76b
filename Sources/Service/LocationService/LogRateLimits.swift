import LocationTypes

/// Rate limits of log lines per login user and of all users together (RES-7). ``ServiceLog`` applies them.
struct LogRateLimits {
  /// Rate of log lines caused by one user.
  static let linesPerUser = RateLimit(burst: 4, perSecond: 0.1)
  /// Rate of log lines caused by all users together.
  static let lines = RateLimit(burst: 8, perSecond: 0.5)
  /// Largest number of buckets.
  static let capacity = 64

  /// Buckets by user; nil for lines of the service itself.
  private var userLines = TokenBucketTable<UInt32?>(capacity: capacity)
  private var allLines = TokenBucket(LogRateLimits.lines, at: .boot)
  /// Number of lines omitted since the last one that was written.
  private(set) var suppressedLines = 0

  /// Consumes one line of a user's rate. Returns the number of lines omitted before; nil if the line must be omitted.
  /// Lines of the service itself (nil) have their own rate and do not count against that of all users.
  mutating func consumeLine(of user: UInt32?, at now: Instant) -> Int? {
    let isCounted = user != nil
    guard userLines.nextTime(of: user, at: now) <= now,
      !isCounted || allLines.level(at: now) >= 1
    else {
      suppressedLines += 1
      return nil
    }
    userLines.consume(1, of: user, LogRateLimits.linesPerUser, at: now)
    if isCounted { allLines.consume(1, at: now) }
    defer { suppressedLines = 0 }
    return suppressedLines
  }

  /// The number of omitted lines, if it may be logged now. Resets the number.
  mutating func consumeSuppressedLines(at now: Instant) -> Int? {
    guard suppressedLines > 0, deadline(at: now) <= now else { return nil }
    allLines.consume(1, at: now)
    defer { suppressedLines = 0 }
    return suppressedLines
  }

  /// Time at which the number of omitted lines is logged unless another line reports it before: when the common bucket
  /// is full again.
  func deadline(at now: Instant) -> Instant {
    suppressedLines > 0
      ? allLines.time(reaching: LogRateLimits.lines.burst, at: now) : .distantFuture
  }
}

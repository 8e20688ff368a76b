import LinuxHAL
import LocationTypes

/// The service's log, with rate limits for lines that clients cause (RES-7).
///
/// Clients of mutually distrusting users must not fill the journal, nor hide each other's lines. So a line caused by a
/// client counts against the rate of its login user and against that of all users; a line of the service itself about
/// its shared state has its own rate. Lines over a rate are counted, and the next line that is written contains the
/// count; without one, the count is written when the common rate permits it. Lines about start, end and hardware are
/// not limited: no client causes them.
///
/// A class, because each part of ``LocationServer`` writes lines; the rates are changed here only. Bounded as
/// ``LogRateLimits``.
final class ServiceLog {
  private let log: SystemLog
  private var rates = LogRateLimits()

  /// Creates a log that writes to `log`.
  init(_ log: SystemLog) { self.log = log }

  /// Writes a line that no client causes, without a limit.
  func write(_ priority: SystemLog.Priority, _ text: String) { log.write(priority, text) }

  /// Writes a line within the rates of a user and of all users, or counts it as omitted.
  ///
  /// - Parameter account: Login user who caused the line; nil for a line of the service itself.
  func write(
    _ priority: SystemLog.Priority, of account: UInt32?, at now: Instant,
    _ text: @autoclosure () -> String
  ) {
    guard let omitted = rates.consumeLine(of: account, at: now) else { return }
    log.write(priority, omitted > 0 ? "\(text()) (\(omitted) lines were omitted before)" : text())
  }

  /// Writes the number of omitted lines once the rate of all users permits it.
  func writeSuppressedCount(at now: Instant) {
    guard let omitted = rates.consumeSuppressedLines(at: now) else { return }
    log.write(.notice, "\(omitted) lines about clients were omitted because of the rate limit")
  }

  /// Whether lines were omitted that no line has reported yet.
  var hasSuppressedLines: Bool { rates.suppressedLines > 0 }

  /// Time at which ``writeSuppressedCount(at:)`` is due; `.distantFuture` if no line was omitted.
  func deadline(at now: Instant) -> Instant { rates.deadline(at: now) }
}

import Glibc
import LinuxHAL
import LocationTypes
import TextFormats

/// The file with the service's metrics, for node_exporter's textfile collector.
///
/// # Problem
///
/// A collector polls, and a poll of the service would wake the board. So the service writes a file instead, and only in
/// turns that happen anyway: no timer runs for it, and after a long sleep it is as old as the last wake. A wake has
/// several turns, for example an alarm, bytes of the receiver and an acknowledgement; the file must show the last one,
/// and writing it in each would wear out a flash memory.
///
/// # States
///
///     WRITTEN ──turn: begins the delay──▶ PENDING ──turn before a sleep, `shortestInterval` passed: writes──▶ WRITTEN
///                                         PENDING ──turn, `longestDelay` passed: writes──▶ WRITTEN
///
/// After a pause of `longestDelay` the delay begins again, once: the turn is the first one of another wake.
///
/// The file is replaced as a whole, because the collector may read it at any time. The collector ignores the temporary
/// file, whose name does not end in `.prom`.
///
/// A failure, for example a full disk, changes nothing else: it is logged once, and the next write is attempted as after
/// a success.
///
/// Owner: ``LocationServer``. Bounded: one file, one log line for each change of the reason of a failure.
struct MetricsFile {
  /// Shortest time between two writes.
  static let shortestInterval = Interval.seconds(15)
  /// Longest time from the first turn that was not written to the write, if turns follow.
  static let longestDelay = Interval.seconds(60)
  /// Name in the folder.
  static let name = "torpor.prom"

  private let path: String
  private var lastWrite: Instant?
  /// Time of the first turn since the last write.
  private var pendingSince: Instant?
  private var lastTurn = Instant.boot
  /// Whether the delay has begun again since the last write.
  private var hasRestarted = false
  private var lastFailure: Int32 = 0

  /// - Parameter folder: Folder that the collector reads.
  init(folder: String) { path = "\(folder)/\(MetricsFile.name)" }

  /// Whether to write in this turn.
  ///
  /// - Parameter isLast: Whether the board sleeps after this turn.
  mutating func isDue(isLast: Bool, at now: Instant) -> Bool {
    guard let lastWrite else { return true }
    if !hasRestarted, pendingSince != nil, now - lastTurn >= MetricsFile.longestDelay {
      hasRestarted = true
      pendingSince = now
    }
    lastTurn = now
    let since = pendingSince ?? now
    pendingSince = since
    guard now - lastWrite >= MetricsFile.shortestInterval else { return false }
    return isLast || now - since >= MetricsFile.longestDelay
  }

  /// Replaces the file.
  ///
  /// - Returns: The line to log if this failed for another reason than the last time; nil otherwise.
  mutating func write(_ text: String, at now: Instant) -> String? {
    lastWrite = now
    pendingSince = nil
    hasRestarted = false
    let failure = TextFile.replace(path, with: Array(text.utf8), for: .all)
    defer { lastFailure = failure }
    guard failure != 0, failure != lastFailure else { return nil }
    let reason = SystemError.reason(failure)
    return "'\(path)' cannot be written: \(reason); \(MetricsFile.suggestion(failure))"
  }

  private static func suggestion(_ failure: Int32) -> String {
    switch failure {
    case ENOSPC, EDQUOT: "free space there, or name another folder with --metrics"
    case ENOENT, ENOTDIR: "create the folder, or name another one with --metrics"
    default:
      "give the service write access (the unit's ReadWritePaths= and the folder's group), "
        + "or name its own folder: --metrics /run/torpor"
    }
  }
}

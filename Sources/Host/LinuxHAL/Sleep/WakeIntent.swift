import Glibc
import LocationTypes

/// Record of when, and until when, the board was switched off, for the next start (RNG-8).
///
/// Stored in a file that is synced before power-off. The boot clock restarts with each boot, and the wall clock may be
/// years off at the start and stepped at any time. So the length of the power-off is measured by the alarm's own clock,
/// which runs meanwhile. Each time is also stored on the boot clock of an identified boot, and as UTC of the wall clock.
public struct WakeIntent: Equatable, Sendable {
  /// How the board started, compared with the record.
  public enum StartCause: Equatable, Sendable {
    /// The board was never off.
    case sameBoot
    /// The alarm switched the board on.
    case byAlarm
    /// Something else switched the board on, that long before the planned time.
    case early(Interval)
    /// The board started that much later than planned.
    case late(Interval)
    /// Unknown, because the alarm's clock is not usable.
    case unknown
  }

  /// The boot that ended.
  public var boot: BootIdentity
  /// Time at which the board was switched off.
  public var off: Instant
  /// The same time on the wall clock, for the reader of the record only.
  public var offUTC: UTCTime
  /// The same time on the alarm's clock, s; nil if it could not be read.
  public var offClock_s: Int64?
  /// Time at which the service is to run again.
  public var until: Instant
  /// Name of the alarm that is to switch the board on.
  public var alarm: String
  /// Previous setting of the alarm, from another program, in the alarm's own format; nil if there was none.
  public var previousAlarm: Int64?

  /// Time at which the service was to run again, on the wall clock.
  public var untilUTC: UTCTime { offUTC + (until - off) }

  /// Determines how this start came about.
  ///
  /// - Parameters:
  ///   - clock_s: The alarm's clock now, s; nil if it cannot be read.
  ///   - slack: Maximum delay that counts as punctual.
  ///   - hasPoweredOn: Whether the alarm reports that it has switched the board on; nil if unknown.
  public func startCause(
    on boot: BootIdentity, clock_s: Int64?, slack: Interval, hasPoweredOn: Bool? = nil
  ) -> StartCause {
    if boot == self.boot { return .sameBoot }
    // A clock that stopped while the board was off, or was set back, shows no elapsed time.
    guard let elapsed = elapsed(at: clock_s), elapsed > .zero else {
      return hasPoweredOn == true ? .byAlarm : .unknown
    }
    let lateness = elapsed - (until - off)
    if hasPoweredOn != true, lateness < .zero - slack { return .early(.zero - lateness) }
    return lateness > slack ? .late(lateness) : .byAlarm
  }

  /// Time since the power-off: by the boot clock if the board stayed on, else by the alarm's clock. If that is not
  /// usable, by the wall clock, but at least the planned time.
  ///
  /// - Parameters:
  ///   - boot: The present boot.
  ///   - clock_s: The alarm's clock now, s; nil if it cannot be read.
  ///   - now: The boot clock now.
  ///   - utc: The wall clock now.
  func timeSince(
    on boot: BootIdentity, clock_s: Int64?, at now: Instant, utc: UTCTime
  ) -> Interval {
    if boot == self.boot { return max(.zero, now - off) }
    if let elapsed = elapsed(at: clock_s), elapsed > .zero { return elapsed }
    return max(until - off, utc - offUTC)
  }

  /// Time since the power-off by the alarm's clock; nil if unknown or absurd.
  func elapsed(at clock_s: Int64?) -> Interval? {
    guard let clock_s, let offClock_s else { return nil }
    let (elapsed_s, isOverflow) = clock_s.subtractingReportingOverflow(offClock_s)
    return isOverflow || elapsed_s.magnitude > 1 << 40 ? nil : .seconds(elapsed_s)
  }
}

// MARK: File

extension WakeIntent {
  private static let title = "torpor wake intent 1"
  /// Bound of the UTC in a record, 36,000 years from 1970: no sum or difference with another time overflows.
  private static let latestUTC_us: UInt64 = 1 << 60

  /// Text of the record, one line for each value.
  var text: String {
    """
    \(WakeIntent.title)
    boot=\(boot.number)
    off_us=\(off.microseconds)
    off_utc_us=\(offUTC.microseconds)
    until_us=\(until.microseconds)
    until_utc_us=\(untilUTC.microseconds)
    alarm=\(alarm)
    \(offClock_s.map { "off_clock_s=\($0)\n" } ?? "")\(previousAlarm.map { "before=\($0)\n" } ?? "")
    """
  }

  /// Parses the text of a record; nil if it is invalid.
  init?(text: String) {
    let lines = text.split(separator: "\n")
    guard lines.first == WakeIntent.title[...] else { return nil }
    func value(_ key: String) -> Substring? {
      lines.first { $0.hasPrefix("\(key)=") }?.dropFirst(key.utf8.count + 1)
    }
    func number(_ key: String) -> Int64? { value(key).flatMap { Int64($0) } }
    guard let boot = number("boot"), let off = number("off_us"), let utc = number("off_utc_us"),
      let until = number("until_us"), let alarm = value("alarm"), boot > 0, off >= 0, until >= off,
      until <= Instant.distantFuture.microseconds, utc.magnitude <= WakeIntent.latestUTC_us
    else { return nil }
    self.init(
      boot: BootIdentity(number: boot), off: Instant(microseconds: off),
      offUTC: UTCTime(microseconds: utc), offClock_s: number("off_clock_s"),
      until: Instant(microseconds: until), alarm: String(alarm), previousAlarm: number("before"))
  }

  /// Reads the record of a file; nil if it is missing or invalid.
  static func read(_ path: String) -> WakeIntent? {
    KernelFiles().read(path).flatMap { WakeIntent(text: $0) }
  }

  /// Writes the record atomically and durably; returns 0 or an error number.
  func write(to path: String) -> Int32 {
    let draft = path + ".new"
    let code = WakeIntent.writeNew(text, in: draft)
    guard code == 0 else { return code }
    guard unsafe rename(draft, path) == 0 else { return errno }
    return FolderSync.sync(folderOf: path)
  }

  private static func writeNew(_ text: String, in path: String) -> Int32 {
    // Removes any existing entry, so that a link is not followed and a FIFO does not block.
    _ = unsafe unlink(path)
    let descriptor = unsafe open(
      path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var text = text
    let count = text.withUTF8 { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    guard count == text.utf8.count else { return count < 0 ? errno : ENOSPC }
    return fsync(descriptor) == 0 ? 0 : errno
  }
}

import Glibc
import LocationTypes

/// Why and until when the board was switched off: what the next start must know and no clock tells (RNG-8).
///
/// Kept in a file, synced before the board goes. The boot clock begins anew with each boot, so each moment
/// is kept by both: by the boot clock of a named boot, and by UTC as the board's wall clock had it.
public struct WakeIntent: Equatable, Sendable {
  /// What a start has to do with it.
  public enum Start: Equatable, Sendable {
    /// The board was never off.
    case sameBoot
    /// Its alarm has switched it on.
    case byAlarm
    /// Somebody or something else did, so long before the alarm.
    case early(Interval)
    /// It came so long after it should have.
    case late(Interval)
    /// The wall clock tells nothing.
    case unknown
  }

  /// The boot that ended.
  public var boot: BootIdentity
  /// When it was switched off.
  public var off: Instant
  /// The same by the wall clock.
  public var offUTC: UTCTime
  /// When the service is to run again.
  public var until: Instant
  /// What was to switch it on.
  public var alarm: String
  /// What that was set to before, by somebody else, in words of its own; nil for nothing.
  public var before: Int64?

  /// Creates an intent of this moment.
  public init(
    boot: BootIdentity, off: Instant, offUTC: UTCTime, until: Instant, alarm: String,
    before: Int64? = nil
  ) {
    self.before = before
    self.boot = boot
    self.off = off
    self.offUTC = offUTC
    self.until = until
    self.alarm = alarm
  }

  /// When the service was to run again, by the wall clock.
  public var untilUTC: UTCTime { offUTC + (until - off) }

  /// How this start came about.
  ///
  /// - Parameters:
  ///   - slack: How much later than it should the service may run, and count as punctual.
  ///   - hasSwitchedOn: What the alarm itself says.
  public func start(
    on boot: BootIdentity, utc: UTCTime, slack: Interval, hasSwitchedOn: Bool? = nil
  ) -> Start {
    if boot == self.boot { return .sameBoot }
    // A clock that did not run meanwhile says that no time has passed.
    guard utc > offUTC else { return hasSwitchedOn == true ? .byAlarm : .unknown }
    let lateness = utc - untilUTC
    if hasSwitchedOn != true, lateness < .zero - slack { return .early(.zero - lateness) }
    return lateness > slack ? .late(lateness) : .byAlarm
  }

  // MARK: The file

  private static let title = "torpor wake intent 1"

  /// As it is kept: a line for each value.
  var text: String {
    """
    \(WakeIntent.title)
    boot=\(boot.number)
    off_us=\(off.microseconds)
    off_utc_us=\(offUTC.microseconds)
    until_us=\(until.microseconds)
    until_utc_us=\(untilUTC.microseconds)
    alarm=\(alarm)
    \(before.map { "before=\($0)\n" } ?? "")
    """
  }

  /// nil where the text is no such record.
  init?(text: String) {
    let lines = text.split(separator: "\n")
    guard lines.first == WakeIntent.title[...] else { return nil }
    func value(_ key: String) -> Substring? {
      lines.first { $0.hasPrefix("\(key)=") }?.dropFirst(key.utf8.count + 1)
    }
    func number(_ key: String) -> Int64? { value(key).flatMap { Int64($0) } }
    guard let boot = number("boot"), let off = number("off_us"), let utc = number("off_utc_us"),
      let until = number("until_us"), let alarm = value("alarm"), boot > 0, off >= 0, until >= off
    else { return nil }
    self.init(
      boot: BootIdentity(number: boot), off: Instant(microseconds: off),
      offUTC: UTCTime(microseconds: utc), until: Instant(microseconds: until),
      alarm: String(alarm), before: number("before"))
  }

  /// The record of a file, if there is one that can be read.
  static func read(_ path: String) -> WakeIntent? {
    KernelFiles().read(path).flatMap { WakeIntent(text: $0) }
  }

  /// Writes it so that it is there, whole, when this returns 0; else an error number.
  func write(to path: String) -> Int32 {
    let draft = path + ".new"
    let code = WakeIntent.put(text, in: draft)
    guard code == 0 else { return code }
    guard unsafe rename(draft, path) == 0 else { return errno }
    return WakeIntent.sync(
      String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]), O_DIRECTORY)
  }

  private static func put(_ text: String, in path: String) -> Int32 {
    // Whatever else is there, a link or a FIFO, is neither followed nor waited for.
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

  private static func sync(_ path: String, _ flags: Int32) -> Int32 {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | flags)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 ? 0 : errno
  }
}

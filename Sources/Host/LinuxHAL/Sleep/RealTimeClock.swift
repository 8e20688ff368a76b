import Glibc
import LocationTypes

/// A real-time clock that can wake the board, `/sys/class/rtc/rtc0`.
///
/// It has one alarm, in whole seconds of its own time, which need not be UTC; times are given as an interval from now.
struct RealTimeClock {
  private static let folder = "/sys/class/rtc"

  private let files: KernelFiles
  private let path: String

  /// Finds the first clock with an alarm that may wake the board; nil if none exists.
  init?(_ files: KernelFiles) {
    let names = files.names(in: RealTimeClock.folder)
    let found = names.first { name in
      let path = "\(RealTimeClock.folder)/\(name)"
      return files.exists("\(path)/wakealarm")
        && files.read("\(path)/device/power/wakeup") != "disabled"
    }
    guard let found else { return nil }
    self.files = files
    path = "\(RealTimeClock.folder)/\(found)"
  }

  /// Name of the clock, `rtc0`.
  var name: String { String(path.dropFirst(RealTimeClock.folder.count + 1)) }

  /// Time of the clock, s; nil if it cannot be read.
  var now: Int64? { files.read("\(path)/since_epoch").flatMap { Int64($0) } }

  /// Time of the alarm on this clock, s; nil if none is set.
  var alarm: Int64? {
    files.read("\(path)/wakealarm").flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Whether this process may set the alarm.
  var isWritable: Bool { files.isWritable("\(path)/wakealarm") }

  /// Sets the alarm, or clears it with nil; returns 0 or an error number.
  ///
  /// Clears a previous alarm first, because the kernel refuses to replace one (EBUSY).
  func set(_ alarm: Int64?) -> Int32 {
    let cleared = files.write("0", to: "\(path)/wakealarm")
    guard cleared == 0, let alarm else { return cleared }
    return files.write("\(alarm)", to: "\(path)/wakealarm")
  }

  /// Sets the alarm to `interval` from now, within a second because the clock has whole seconds, unless another
  /// program's alarm comes sooner.
  ///
  /// - Returns: 0 or an error number; and the previous alarm.
  func setEarliest(in interval: Interval) -> (code: Int32, before: Int64?) {
    let before = alarm
    guard let now else { return (ENODEV, before) }
    // The next second may start before this is written.
    let target = now + max(2, (interval.microseconds + 999_999) / 1_000_000)
    if let before, before > now, before <= target { return (0, before) }
    let code = set(target)
    if code != 0 { restore(before) }
    return (code, before)
  }

  /// Restores the previous alarm; clears it if that one has passed.
  func restore(_ before: Int64?) {
    guard let before, let now, before > now else {
      _ = set(nil)
      return
    }
    if alarm != before { _ = set(before) }
  }
}

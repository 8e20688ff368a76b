import Glibc
import LocationTypes

/// A clock that runs while the board does not, and can switch it on: `/sys/class/rtc/rtc0`.
///
/// It has one alarm, in whole seconds of its own time, which need not be UTC: moments are told to it as
/// so long from now.
struct RealTimeClock {
  private static let folder = "/sys/class/rtc"

  private let files: KernelFiles
  private let path: String

  /// The first clock that has an alarm which the kernel lets wake the board; nil where there is none.
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

  /// The clock's name, `rtc0`.
  var name: String { String(path.dropFirst(RealTimeClock.folder.count + 1)) }

  /// Its time, in seconds; nil where it cannot be read.
  var now: Int64? { files.read("\(path)/since_epoch").flatMap { Int64($0) } }

  /// When its alarm is set to, in its own time; nil for none.
  var alarm: Int64? {
    files.read("\(path)/wakealarm").flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Whether this process may set the alarm.
  var isWritable: Bool { files.isWritable("\(path)/wakealarm") }

  /// Sets the alarm, or clears it; gives 0 or an error number.
  ///
  /// One that is set already has the kernel refuse another (EBUSY): it is cleared first.
  func set(_ alarm: Int64?) -> Int32 {
    let cleared = files.write("0", to: "\(path)/wakealarm")
    guard cleared == 0, let alarm else { return cleared }
    return files.write("\(alarm)", to: "\(path)/wakealarm")
  }

  /// Sets the alarm to `interval` from now, less than a second before or after (a clock tells only its whole
  /// seconds), but leaves one of somebody else that comes sooner.
  ///
  /// - Returns: 0 or an error number; and what the alarm was before.
  func setEarliest(in interval: Interval) -> (code: Int32, before: Int64?) {
    let before = alarm
    guard let now else { return (ENODEV, before) }
    // The next second may begin before this is written.
    let target = now + max(2, (interval.microseconds + 999_999) / 1_000_000)
    if let before, before > now, before <= target { return (0, before) }
    let code = set(target)
    if code != 0 { restore(before) }
    return (code, before)
  }

  /// Puts the alarm back to what it was; one that has passed is none.
  func restore(_ before: Int64?) {
    guard let before, let now, before > now else {
      _ = set(nil)
      return
    }
    if alarm != before { _ = set(before) }
  }
}

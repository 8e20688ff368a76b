import Glibc
import LocationTypes

/// An alarm that switches on a board that is powered off: the board's own clock, or a clock on a HAT.
///
/// The clock's time need not be UTC and has whole seconds; times are given as an interval from now.
protocol PowerOnAlarm {
  /// Name for the log.
  var name: String { get }

  /// The alarm's own clock, s; nil if it cannot be read.
  var time_s: Int64? { get }

  /// Current setting in the alarm's own format; nil if none exists or it cannot be read.
  var setting: Int64? { get }

  /// Sets the alarm, unless another program's alarm comes sooner, and reads it back, so that no board is switched off
  /// without a working alarm.
  ///
  /// - Parameter minimumDistance: Minimum distance of another program's alarm. A nearer one may go off while the board is
  ///   still shutting down, and nothing would switch the board on again.
  /// - Returns: 0 or an error number; EBUSY for such an alarm.
  func set(in interval: Interval, minimumDistance: Interval) -> Int32

  /// Restores the previous setting.
  func restore(_ before: Int64?)

  /// Whether the alarm caused this power-on; nil if the alarm does not report it reliably.
  var hasPoweredOn: Bool? { get }
}

extension RealTimeClock: PowerOnAlarm {
  var time_s: Int64? { now }

  var setting: Int64? { alarm }

  func set(in interval: Interval, minimumDistance: Interval) -> Int32 {
    if let before = alarm, let now, before > now,
      before - now < (minimumDistance.microseconds + 999_999) / 1_000_000
    {
      return EBUSY
    }
    let (code, _) = setEarliest(in: interval)
    guard code == 0 else { return code }
    guard let now, let armed = alarm, armed > now else { return EIO }
    return 0
  }

  /// The kernel has no interface for it, and some boards report a wrong cause.
  var hasPoweredOn: Bool? { nil }
}

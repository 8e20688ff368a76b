import Glibc
import LocationTypes

/// What switches a board on that is powered off: the board's own clock, or one on a HAT.
///
/// Such a clock has a time of its own, which need not be UTC, and counts whole seconds: moments are told to
/// it as so long from now.
protocol PowerOnAlarm {
  /// What it is called, for the log.
  var name: String { get }

  /// What it is set to now, in words of its own; nil for nothing, and where it cannot be read.
  var setting: Int64? { get }

  /// Sets it, unless one that somebody else has set comes sooner, and reads it back: a board is not
  /// switched off for an alarm that is not there.
  ///
  /// - Parameter shortest: One of somebody else's that is nearer than this may go off while the board is
  ///   still being switched off, and then nothing switches it on.
  /// - Returns: 0 or an error number; EBUSY for such an alarm.
  func set(in interval: Interval, shortest: Interval) -> Int32

  /// Takes it back: it is set to what it was.
  func restore(_ before: Int64?)

  /// Whether it has switched the board on this time; nil where it does not say, or cannot be believed.
  var hasSwitchedOn: Bool? { get }
}

extension RealTimeClock: PowerOnAlarm {
  var setting: Int64? { alarm }

  func set(in interval: Interval, shortest: Interval) -> Int32 {
    if let before = alarm, let now, before > now,
      before - now < (shortest.microseconds + 999_999) / 1_000_000
    {
      return EBUSY
    }
    let (code, _) = setEarliest(in: interval)
    guard code == 0 else { return code }
    guard let now, let armed = alarm, armed > now else { return EIO }
    return 0
  }

  /// The kernel has no word for it, and what some boards say of it is wrong.
  var hasSwitchedOn: Bool? { nil }
}

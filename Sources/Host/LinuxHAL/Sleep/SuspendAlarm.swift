import CLinux
import Glibc
import LocationTypes

/// What ends a suspend at a moment of the boot clock.
///
/// A timer of the kernel's on `CLOCK_BOOTTIME_ALARM`, which shares the board's clock with those of others,
/// where this process may have one (CAP_WAKE_ALARM); else the clock's own alarm, where it may be written.
/// Either may go off up to a second early, for such a clock counts whole seconds.
final class SuspendAlarm {
  private let timer: Int32
  private let clock: RealTimeClock?
  /// The clock's own alarm was set by us; what it was before.
  private var replaced: (alarm: Int64?, Void)?

  /// The board's alarm; nil where nothing could wake it.
  ///
  /// - Parameter usesTimer: Whether a timer is tried; without it, as without the right to one.
  init?(_ files: KernelFiles, usesTimer: Bool = true) {
    // Without such a clock the timer is made all the same, and wakes nobody.
    guard let clock = RealTimeClock(files) else { return nil }
    let opened = usesTimer ? clinux_alarm_open() : -1
    guard opened >= 0 || clock.isWritable else { return nil }
    timer = opened
    self.clock = opened < 0 ? clock : nil
  }

  deinit {
    clear()
    if timer >= 0 { close(timer) }
  }

  /// Sets it; gives 0 or an error number.
  func set(to moment: Instant, at now: Instant) -> Int32 {
    guard let clock else { return -clinux_alarm_set(timer, max(1, moment.microseconds)) }
    let (code, before) = clock.setEarliest(in: moment - now)
    if code == 0 { replaced = (before, ()) }
    return code
  }

  /// Takes it back: nothing goes off any more, and somebody else's alarm is as it was.
  func clear() {
    if timer >= 0 { _ = clinux_alarm_set(timer, 0) }
    guard let clock, let replaced else { return }
    self.replaced = nil
    clock.restore(replaced.alarm)
  }
}

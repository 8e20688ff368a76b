import CLinux
import Glibc
import LocationTypes

/// Alarm that ends a suspend at a time of the boot clock.
///
/// Uses a kernel timer on `CLOCK_BOOTTIME_ALARM`, which shares the real-time clock with other programs, if this
/// process may create one (CAP_WAKE_ALARM); else the clock's own alarm, if it is writable. Either may go off up to a
/// second early, because the clock has whole seconds.
final class SuspendAlarm {
  private let timer: Int32
  private let clock: RealTimeClock?
  /// Previous setting of the clock's own alarm, if this instance replaced it.
  private var replaced: (alarm: Int64?, Void)?

  /// Creates the board's alarm; nil if nothing can wake the board.
  ///
  /// - Parameter usesTimer: Whether a kernel timer is tried; false has the same effect as a missing capability.
  init?(_ files: KernelFiles, usesTimer: Bool = true) {
    // Without a real-time clock the timer can be created, but wakes nothing.
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

  /// Sets the alarm; returns 0 or an error number.
  func set(to moment: Instant, at now: Instant) -> Int32 {
    guard let clock else { return -clinux_alarm_set(timer, max(1, moment.microseconds)) }
    let (code, before) = clock.setEarliest(in: moment - now)
    if code == 0 { replaced = (before, ()) }
    return code
  }

  /// Cancels the alarm, and restores the previous one of another program.
  func clear() {
    if timer >= 0 { _ = clinux_alarm_set(timer, 0) }
    guard let clock, let replaced else { return }
    self.replaced = nil
    clock.restore(replaced.alarm)
  }
}

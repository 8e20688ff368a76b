import BoardHardware
import LocationHAL
import LocationTypes

/// The line of the receiver's pulse per second.
///
/// No wait includes it, so that a pulse never wakes the service. The kernel stamps each pulse and queues sixteen (the
/// newest; with libgpiod version 1 the oldest) until the service reads an epoch.
struct PulseLine {
  private let place: GPIOChips.Place
  /// nil while the line is lost, or released for a suspend.
  private var request: GPIORequest?
  private var nextTry = Instant.boot
  private var pause = PulseLine.firstPause

  /// Initial and maximum delay between requests of a lost line.
  private static let firstPause = Interval.seconds(1)
  private static let longestPause = Interval.seconds(300)

  /// Finds and requests the line.
  init(_ line: GPIOLine, _ chips: GPIOChips) throws(GPIOFault) {
    place = try chips.find(line)
    request = try GPIORequest(place, for: .pulses)
  }

  /// Time of the newest pulse since the last call, on `CLOCK_MONOTONIC` in nanoseconds; nil without a pulse. A lost
  /// line gives nil and is requested again.
  mutating func take() -> Int64? {
    guard let request else {
      if SystemClock().now >= nextTry { hear() }
      return nil
    }
    do throws(PinFault) { return try request.takePulse() } catch {
      self.request = nil
      return nil
    }
  }

  /// Releases the line: on some boards an edge of a requested line ends a suspend.
  mutating func release() { request = nil }

  /// Requests the line again, also after a suspend in which a driver may have forgotten the edge detection.
  mutating func hear() {
    // Release first: the kernel refuses a second request for the same line.
    request = nil
    request = try? GPIORequest(place, for: .pulses)
    if request == nil {
      nextTry = SystemClock().now + pause
      pause = min(pause * 2, PulseLine.longestPause)
    } else {
      pause = PulseLine.firstPause
    }
  }
}

import BoardHardware
import LocationHAL
import LocationTypes

/// The line of the receiver's pulse per second.
///
/// No wait includes it, so that a pulse never wakes the service. The kernel stamps each pulse and queues sixteen (the
/// newest; with libgpiod version 1 the oldest) until the service reads an epoch.
struct PulseLine {
  private let resolved: GPIOChips.ResolvedLine
  /// nil while the line is lost, or released for a suspend.
  private var request: GPIORequest?
  private var retry = RetryBackoff.lostPin

  /// Finds and requests the line.
  init(_ line: GPIOLine, _ chips: GPIOChips) throws(GPIOFault) {
    resolved = try chips.find(line)
    request = try GPIORequest(resolved, for: .pulses)
  }

  /// Time of the newest pulse since the last call, on `CLOCK_MONOTONIC` in nanoseconds; nil without a pulse. A lost
  /// line gives nil and is requested again.
  mutating func consumePulses() -> Int64? {
    guard let request else {
      if !retry.isWaiting(at: SystemClock().now) { requestLine() }
      return nil
    }
    do throws(PinFault) { return try request.consumePulses() } catch {
      self.request = nil
      return nil
    }
  }

  /// Releases the line: on some boards an edge of a requested line ends a suspend.
  mutating func release() { request = nil }

  /// Requests the line again, also after a suspend in which a driver may have forgotten the edge detection.
  mutating func requestLine() {
    // Release first: the kernel refuses a second request for the same line.
    request = nil
    request = try? GPIORequest(resolved, for: .pulses)
    if request == nil {
      retry.recordFailure(at: SystemClock().now)
    } else {
      retry.reset()
    }
  }
}

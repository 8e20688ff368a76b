import BoardHardware
import LocationHAL
import LocationTypes

/// The line of the receiver's pulse per second.
///
/// It is in no wait, so that no pulse wakes the service: the kernel stamps each and keeps the last sixteen
/// (with version 1 of libgpiod the first), until the service reads an epoch anyway.
struct PulseLine {
  private let place: GPIOChips.Place
  /// nil where the line could not be had again, or was let go for a suspend.
  private var request: GPIORequest?
  private var nextTry = Instant.boot
  private var pause = PulseLine.firstPause

  /// The time before a line that could not be had again is asked for the next time, and the longest one.
  private static let firstPause = Interval.seconds(1)
  private static let longestPause = Interval.seconds(300)

  /// Begins to hear it.
  init(_ line: GPIOLine, _ chips: GPIOChips) throws(GPIOFault) {
    place = try chips.find(line)
    request = try GPIORequest(place, for: .pulses)
  }

  /// When the last pulse was since the last call, by `CLOCK_MONOTONIC` in nanoseconds; nil where there was
  /// none. A line that is lost tells nothing, and is asked for anew.
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

  /// Lets it go: on some boards a line whose edges are heard ends a suspend.
  mutating func release() { request = nil }

  /// Asks for it anew, after a suspend in which a driver may have forgotten that it is to tell of edges.
  mutating func hear() {
    // It is given back before it is asked for again, for nobody can have it twice.
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

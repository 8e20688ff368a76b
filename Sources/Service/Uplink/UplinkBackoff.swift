import LocationPolicy
import LocationTypes
import UplinkPayload

/// When a failed upload is repeated: after 1 to 2 minutes, then after twice that time, up to an hour.
///
/// After a failure of the broker all its boards would come back at the same time. Each delay is therefore extended by up to
/// its own length, by a part that follows from the name of the board and the number of failures.
struct UplinkBackoff {
  private static let parts: Int64 = 4_096

  private let device: DeviceName
  private var retry = RetryBackoff(initial: .seconds(60), longest: .seconds(1_800))
  /// The delay after the last failure.
  private(set) var delay = Interval.zero
  /// Earliest time of the next attempt; the time of boot if there was no failure.
  private(set) var nextTime = Instant.boot

  /// Creates a back-off without failures.
  init(_ device: DeviceName) { self.device = device }

  /// Number of failures in a row.
  var failures: Int64 { retry.failures }

  /// Records a failed attempt.
  mutating func recordFailure(at now: Instant) {
    retry.recordFailure(at: now)
    var hash = FNV1a()
    for byte in device.description.utf8 { hash.add(byte) }
    hash.add(UInt64(retry.failures))
    let part = Int64((hash.value >> 24) % UInt64(UplinkBackoff.parts))
    delay = retry.delay * (UplinkBackoff.parts + part) / UplinkBackoff.parts
    nextTime = now + delay
  }

  /// An attempt succeeded.
  mutating func reset() { self = UplinkBackoff(device) }
}

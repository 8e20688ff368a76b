import LocationTypes

/// When the distance of a client's deferral is checked, and until when the receiver keeps batching for its next call. A
/// part of ``Client``, next to ``Deferral``.
///
/// # States
///
///     deferral   time that is used   set by                              cleared by
///     armed or   ``distanceCheck``   ``scheduleCheck(at:)``, while the   ``cancelCheck()``: a drain, an end, or no
///     engaged                        receiver holds fixes (DEF-21)       distance
///     idle       ``rearmDeadline``   ``awaitCall(until:)``: an end is    ``endAwait()``: the next call, a stop, a
///                                    reported (X1)                       pause, or no updates
///
/// Only the functions of this file write the properties; ``Client`` calls them. All are O(1).
struct DeferralTimes: Sendable {
  /// Earliest time at which the deferral's distance can have been travelled, as far as known; `.distantFuture` if no
  /// check is scheduled.
  private(set) var distanceCheck = Instant.distantFuture
  /// Until then the handler may call again, and the receiver keeps batching.
  private(set) var rearmDeadline = Instant.boot

  /// Schedules the next check of the distance.
  mutating func scheduleCheck(at time: Instant) { distanceCheck = time }

  /// No check is needed.
  mutating func cancelCheck() { distanceCheck = .distantFuture }

  /// The handler may call again until then.
  mutating func awaitCall(until time: Instant) { rearmDeadline = time }

  /// No further call is awaited.
  mutating func endAwait() { rearmDeadline = .boot }
}

import LocationTypes

/// The failure that is reported to a client next, and whether a location is available. A part of ``Client``.
///
/// # States
///
/// Of the failure: none or one pending; a new one replaces it. Of the location, two independent values:
///
///     available ── locationBecameUnknown ──→ unknown
///               ←───────── accept ──────────
///
///     unreported ── reportLocationUnknown ──→ reported
///                ←── accept, allowReport ────
///
/// A missing location is reported once until a fix is available again, or until a service starts (STD-10).
///
/// Only the functions of this file write the properties; ``Client`` calls them. All are O(1).
struct ClientFailures: Sendable {
  /// The unreported failure; nil if none exists.
  private(set) var pending: LocationErrorCode?
  /// Whether no location is available now (STD-10).
  private(set) var isLocationUnknown = false
  /// Whether that was reported to the client.
  private(set) var isLocationUnknownReported = false

  /// A failure must be reported.
  mutating func report(_ code: LocationErrorCode) { pending = code }

  /// Removes and returns the unreported failure.
  mutating func takePending() -> LocationErrorCode? {
    guard let code = pending else { return nil }
    pending = nil
    return code
  }

  /// Drops an unreported failure: the process detaches or stops updates.
  mutating func drop() { pending = nil }

  /// Drops an unreported failure with this code: its cause ended before a suspended client was notified.
  mutating func withdraw(_ code: LocationErrorCode) { if pending == code { pending = nil } }

  /// No fix was acquired for a long time.
  mutating func locationBecameUnknown() { isLocationUnknown = true }

  /// Reports the missing location, if it was not reported yet.
  mutating func reportLocationUnknown() {
    guard !isLocationUnknownReported else { return }
    isLocationUnknownReported = true
    report(.locationUnknown)
  }

  /// A fix is available. A suspended client has not received the failure yet, so it is withdrawn.
  mutating func accept(isSuspended: Bool) {
    isLocationUnknown = false
    isLocationUnknownReported = false
    if isSuspended { withdraw(.locationUnknown) }
  }

  /// A missing location is reported again, for example because a service starts.
  mutating func allowReport() { isLocationUnknownReported = false }
}

/// The board's light that is on while any client has a background session (BKG-11).
///
/// Owner: ``LocationService``, which retries a failed switch in every turn.
struct SessionLight {
  /// Whether the light is on.
  private(set) var isOn = false
  /// Whether the last switch has failed.
  private var hasFailed = false

  /// Records an attempt to switch the light.
  ///
  /// - Returns: Whether to log a failure: the first one since the last success.
  mutating func record(_ isOn: Bool, isSwitched: Bool) -> Bool {
    defer { hasFailed = !isSwitched }
    if isSwitched { self.isOn = isOn }
    return !isSwitched && !hasFailed
  }
}

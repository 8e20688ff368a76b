/// Operating mode of the receiver: chosen by `Planner`, commanded by `Engine`, reached by a `ReceiverDriver`.
@frozen public enum ReceiverMode: Equatable, Sendable {
  /// Lowest power that the wiring allows: supply switched off, else standby.
  case off
  /// Standby; the receiver keeps the data for a fast next start.
  case standby
  /// Continuous tracking: one fix per interval, sent immediately.
  case tracking
  /// Tracking with the receiver's own duty cycle: less power, less accuracy.
  case powersave
  /// Tracking with the fixes stored in the receiver's own buffer. Its pin, if it has one, is asserted at `watermark`
  /// fixes.
  case batching(watermark: UInt16)

  /// Whether the receiver acquires or tracks satellites.
  public var isAwake: Bool {
    switch self {
    case .off, .standby: false
    case .tracking, .powersave, .batching: true
    }
  }
}

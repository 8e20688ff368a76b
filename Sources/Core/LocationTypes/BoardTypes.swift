// Types that `LocationEngine` and `LocationHAL` share: board states, wake reasons, pins and pin commands. Neither of
// these modules imports the other.

/// Sleep state of the board, ordered by depth.
@frozen public enum BoardState: UInt8, Sendable, Comparable {
  /// Running code.
  case awake = 0
  /// CPU idle, clocks running; any byte, edge or timer wakes it.
  case idle = 1
  /// Suspended (`s2idle` or `mem`); the wake sources of the profile wake it.
  case suspended = 2
  /// Powered off until an RTC alarm switches it on.
  case off = 3

  /// Whether `a` is a lighter sleep state than `b`.
  @inlinable public static func < (a: BoardState, b: BoardState) -> Bool {
    a.rawValue < b.rawValue
  }
}

/// Reason why the board woke from sleep.
@frozen public enum WakeReason: UInt8, Sendable {
  /// The wake alarm expired.
  case alarm = 0
  /// The receiver sent bytes.
  case bytes = 1
  /// The receiver asserted its batch pin: its buffer reached the watermark.
  case batchPin = 2
  /// A client or the administrator sent a request.
  case request = 3
  /// The motion sensor's line changed its level.
  case motion = 4
}

/// Digital output of the board to the receiver.
@frozen public enum OutputPin: UInt8, Sendable {
  /// Wakes the receiver from standby with an edge (EXTINT).
  case receiverWake = 0
  /// Switches the receiver's supply.
  case receiverSupply = 1
}

/// Logical level of a line. The profile sets the polarity.
@frozen public enum PinLevel: UInt8, Sendable {
  /// Not asserted.
  case inactive = 0
  /// Asserted.
  case active = 1
}

/// Command of `Engine` to set one output line.
@frozen public struct PinCommand: Equatable, Sendable {
  /// Line to set.
  public var pin: OutputPin
  /// New level.
  public var level: PinLevel

  /// Creates a command.
  @inlinable public init(_ pin: OutputPin, _ level: PinLevel) {
    self.pin = pin
    self.level = level
  }
}

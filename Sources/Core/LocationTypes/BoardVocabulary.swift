// The words in which the engine says what it wants of a board and a board says what it did. Engine
// and HAL do not know each other; this is all they share.

/// How deeply the board sleeps.
@frozen public enum BoardState: UInt8, Sendable, Comparable {
  /// Running code.
  case awake = 0
  /// Waiting for an event, clocks running; any byte, edge or timer wakes it.
  case idle = 1
  /// Suspended (s2idle or mem); wakes by what the profile says.
  case suspended = 2
  /// Powered off until an alarm switches it on.
  case off = 3

  /// Whether `a` is the lighter sleep.
  @inlinable public static func < (a: BoardState, b: BoardState) -> Bool {
    a.rawValue < b.rawValue
  }
}

/// Why a sleeping board woke.
@frozen public enum WakeReason: UInt8, Sendable {
  /// The alarm's time came.
  case alarm = 0
  /// Bytes came on the receiver's line.
  case bytes = 1
  /// The receiver's batch pin rose: its buffer reached the watermark.
  case batchPin = 2
  /// A client or the administrator wants something.
  case request = 3
  /// The motion sensor's line changed.
  case motion = 4
}

/// A line from the receiver or a sensor to the board.
@frozen public enum InputPin: UInt8, Sendable {
  /// The receiver's PIO that says its batch buffer reached the watermark.
  case batchReady = 0
  /// The motion sensor's interrupt: active while it sees motion.
  case motion = 1
}

/// A line from the board to the receiver.
@frozen public enum OutputPin: UInt8, Sendable {
  /// Wakes the receiver from standby by an edge (EXTINT).
  case receiverWake = 0
  /// Switches the receiver's supply.
  case receiverSupply = 1
}

/// Logical level of a line; polarity is the profile's business.
@frozen public enum PinLevel: UInt8, Sendable {
  /// Not asserted.
  case inactive = 0
  /// Asserted.
  case active = 1
}

/// What the engine wants done to one line.
@frozen public struct PinCommand: Equatable, Sendable {
  /// Which line.
  public var pin: OutputPin
  /// What it is to become.
  public var level: PinLevel

  /// Creates a command.
  @inlinable public init(_ pin: OutputPin, _ level: PinLevel) {
    self.pin = pin
    self.level = level
  }
}

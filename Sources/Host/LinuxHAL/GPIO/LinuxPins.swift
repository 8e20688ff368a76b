import LocationHAL
import LocationTypes

/// What the pins to the board said during a wait.
public struct PinNews: Equatable, Sendable {
  /// The batch pin rose since the last wait.
  public var batchPinRose = false
  /// The motion sensor's line, if it says something that was not told before.
  public var motion: PinLevel?
  /// When that line's last edge was, by `CLOCK_MONOTONIC` in nanoseconds; nil where none was heard.
  public var motionEdge_ns: Int64?
  /// The line that says whether the battery is low, if it says something that was not told before.
  public var isBatteryLow: Bool?

  /// Nothing new.
  public init() {}

  /// Adds what came later.
  mutating func add(_ later: PinNews) {
    batchPinRose = batchPinRose || later.batchPinRose
    if let level = later.motion { (motion, motionEdge_ns) = (level, later.motionEdge_ns) }
    isBatteryLow = later.isBatteryLow ?? isBatteryLow
  }
}

/// The pins of a board on Linux: those it drives, and those it hears.
///
/// An implementation adds its descriptors to the board's `EventWait`, with tokens below
/// `EventWait.Token.firstFree`.
public protocol LinuxPins: PinBank, ~Copyable {
  /// What is new, looked up in what the last wait found ready; clears what it tells.
  mutating func takeNews(from events: EventWait) -> PinNews

  /// When the receiver's last pulse per second was since the last call, by `CLOCK_MONOTONIC` in nanoseconds;
  /// nil where there was none. No pulse ends a wait.
  mutating func takePulse() -> Int64?

  /// The board is about to be suspended: what is not to end that is let go, and heard again when it is
  /// asked for next, or by ``rearm()``.
  mutating func prepareForSuspend()

  /// Switches the light of background sessions (BKG-11), where there is one.
  ///
  /// - Returns: Whether it obeyed; true where there is none.
  mutating func showSession(_ isOn: Bool) -> Bool

  /// The board was suspended: what is heard must be heard anew.
  mutating func rearm()
}

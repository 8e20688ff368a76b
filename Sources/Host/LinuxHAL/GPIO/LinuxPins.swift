import LocationHAL
import LocationTypes

/// Changes of the board's inputs during a wait. Made by `LinuxPins`, used by `LinuxBoard`.
public struct PinChanges: Equatable, Sendable {
  /// Whether the batch pin became active since the last wait.
  public var batchPinRose = false
  /// Level of the motion sensor's line, if it changed.
  public var motion: PinLevel?
  /// Time of that line's last edge on `CLOCK_MONOTONIC`, ns; nil if no edge was detected.
  public var motionEdge_ns: Int64?
  /// Whether the battery is low, if that changed.
  public var isBatteryLow: Bool?

  /// Creates a value without changes.
  public init() {}

  /// Merges later changes into these.
  mutating func merge(_ later: PinChanges) {
    batchPinRose = batchPinRose || later.batchPinRose
    if let level = later.motion { (motion, motionEdge_ns) = (level, later.motionEdge_ns) }
    isBatteryLow = later.isBatteryLow ?? isBatteryLow
  }
}

/// The pins of a board on Linux: its outputs and its inputs.
///
/// An implementation adds its descriptors to the board's `EventWait`, with tokens below `EventWait.Token.firstFree`.
public protocol LinuxPins: PinBank, ~Copyable {
  /// Returns the changes that the last wait found, and clears them.
  mutating func consumeChanges(from events: EventWait) -> PinChanges

  /// Time of the receiver's newest pulse per second since the last call, on `CLOCK_MONOTONIC` in nanoseconds; nil
  /// without a pulse. A pulse ends no wait.
  mutating func consumePulses() -> Int64?

  /// Releases lines that must not end the suspend that is about to start. They are requested again when they are next
  /// read, or by ``rearm()``.
  mutating func prepareForSuspend()

  /// Sets the light of background sessions (BKG-11), if there is one.
  ///
  /// - Returns: Whether the light was set; true without a light.
  mutating func setSessionLight(_ isOn: Bool) -> Bool

  /// Requests the inputs again after a suspend.
  mutating func rearm()
}

import LocationHAL
import LocationTypes

@testable import LinuxHAL

/// The pins of a board without wired pins.
struct NoPins: LinuxPins {
  /// Creates the pins.
  init() {}

  /// Fails.
  ///
  /// - Throws: `PinFault.notWired`.
  mutating func set(_ command: PinCommand) throws(PinFault) { throw .notWired }

  /// Never reports a change.
  mutating func consumeChanges(from events: EventWait) -> PinChanges { PinChanges() }

  /// Never reports a pulse.
  mutating func consumePulses() -> Int64? { nil }

  /// Does nothing: no line is held.
  mutating func prepareForSuspend() {}

  /// Succeeds: no light is wired.
  mutating func setSessionLight(_ isOn: Bool) -> Bool { true }

  /// Does nothing: no line is monitored.
  mutating func rearm() {}
}

import LocationHAL
import LocationTypes

@testable import LinuxHAL

/// A board none of whose pins is wired.
struct NoPins: LinuxPins {
  /// Creates it.
  init() {}

  /// Refuses.
  ///
  /// - Throws: `PinFault.notWired`.
  mutating func set(_ command: PinCommand) throws(PinFault) { throw .notWired }

  /// Nothing, ever.
  mutating func consumeChanges(from events: EventWait) -> PinChanges { PinChanges() }

  /// None, ever.
  mutating func consumePulses() -> Int64? { nil }

  /// Nothing is held.
  mutating func prepareForSuspend() {}

  /// There is no light.
  mutating func setSessionLight(_ isOn: Bool) -> Bool { true }

  /// Nothing is heard.
  mutating func rearm() {}
}

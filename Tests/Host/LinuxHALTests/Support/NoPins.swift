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
  mutating func takeNews(from events: EventWait) -> PinNews { PinNews() }

  /// None, ever.
  mutating func takePulse() -> Int64? { nil }

  /// Nothing is held.
  mutating func prepareForSuspend() {}

  /// There is no light.
  mutating func showSession(_ isOn: Bool) -> Bool { true }

  /// Nothing is heard.
  mutating func rearm() {}
}

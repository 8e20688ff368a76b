import LocationHAL
import LocationTypes

/// What the pins to the board said during a wait.
public struct PinNews: Equatable, Sendable {
  /// The batch pin rose since the last wait.
  public var batchPinRose = false
  /// The motion sensor's line, if it says something that was not told before.
  public var motion: PinLevel?

  /// Nothing new.
  public init() {}
}

/// The pins of a board on Linux: those it drives, and those it hears.
///
/// An implementation adds its descriptors to the board's `EventWait`, with tokens below
/// `EventWait.Token.firstFree`.
public protocol LinuxPins: PinBank, ~Copyable {
  /// What is new, looked up in what the last wait found ready; clears what it tells.
  mutating func takeNews(from events: EventWait) -> PinNews
}

/// A board none of whose pins is wired.
public struct NoPins: LinuxPins {
  /// Creates it.
  public init() {}

  /// Refuses.
  ///
  /// - Throws: `PinFault.notWired`.
  public mutating func set(_ command: PinCommand) throws(PinFault) { throw .notWired }

  /// Nothing, ever.
  public mutating func takeNews(from events: EventWait) -> PinNews { PinNews() }
}

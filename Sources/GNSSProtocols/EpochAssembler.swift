import LocationTypes

/// Puts the messages of one epoch together.
public struct EpochAssembler: Sendable {
  private var options: EpochOptions

  /// Creates an assembler at the start of a stream.
  public init(_ options: EpochOptions = EpochOptions()) { self.options = options }

  /// Adds a message.
  public mutating func add(_ message: GNSSMessage, at now: Instant) -> Epoch? { nil }

  /// Gives the epoch that the last message completed beside the one that ``add(_:at:)`` gave.
  public mutating func next() -> Epoch? { nil }

  /// Closes the epoch in the making.
  public mutating func close() -> Epoch? { nil }

  /// Whether messages of an unfinished epoch are held.
  public var isOpen: Bool { false }
}

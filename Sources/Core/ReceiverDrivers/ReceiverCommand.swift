import GNSSProtocols

/// A command to a receiver, encoded to bytes on demand.
///
/// A command consists of one or more parts, each with its own answer. Command, part number and setup determine the
/// bytes and the answer. The static members are the commands that every driver uses; each driver has more.
protocol ReceiverCommand: Equatable, Sendable {
  associatedtype Answer: CommandAnswer

  /// No command.
  static var none: Self { get }
  /// Query to which the receiver answers in any state; shows that it is connected.
  static var probe: Self { get }
  /// Sets the receiver's baud rate.
  static func lineSpeed(_ speed: UInt32) -> Self
  /// Sends the receiver to standby until it is woken.
  static var standby: Self { get }

  /// Number of parts for this receiver, at least 1.
  func partCount(for setup: ReceiverSetup) -> UInt8
  /// Expected answer to a part; nil if the receiver sends none, or none that can be distinguished.
  func answer(part: UInt8, for setup: ReceiverSetup) -> Answer?
  /// Bytes of a part for the receiver of `setup`.
  func frame(part: UInt8, for setup: ReceiverSetup) -> FrameBuffer
}

/// Answer of a receiver to a part of a command.
protocol CommandAnswer: Equatable, Sendable {
  /// Type of the answer, by which `StaleAnswers` matches late answers.
  var kind: UInt16 { get }
}

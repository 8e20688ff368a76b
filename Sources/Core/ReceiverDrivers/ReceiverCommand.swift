import GNSSProtocols

/// A command as a machine names it; its bytes are made when they are asked for.
///
/// It is of parts, each with an answer of its own: how many, which and in which bytes is a function of the
/// command, the part and the setup. Here is what every machine says, each has more.
protocol ReceiverCommand: Equatable, Sendable {
  associatedtype Answer: CommandAnswer

  /// Nothing to say.
  static var none: Self { get }
  /// Any answer will do.
  static var probe: Self { get }
  /// Talk at this speed from now on, baud.
  static func lineSpeed(_ speed: UInt32) -> Self
  /// Go to standby until woken.
  static var standby: Self { get }

  /// Of how many parts it consists for this receiver; at least 1.
  func parts(for setup: ReceiverSetup) -> UInt8
  /// What answers one of its parts; nil where nothing does, or nothing that could be told from others.
  func answer(part: UInt8, for setup: ReceiverSetup) -> Answer?
  /// The bytes of one of its parts for the receiver of `setup`.
  func frame(part: UInt8, for setup: ReceiverSetup) -> FrameBuffer
}

/// What a receiver answers to a part of a command.
protocol CommandAnswer: Equatable, Sendable {
  /// Tells answers apart that may come late.
  var kind: UInt16 { get }
}

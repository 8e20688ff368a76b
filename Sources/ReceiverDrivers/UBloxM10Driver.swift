import GNSSProtocols
import LocationTypes

/// Drives a u-blox M10 (MAX-M10S and kin): configuration, standby, wake-up, batching. Pure.
public struct UBloxM10Driver: Sendable {
  let setup: ReceiverSetup
  /// What has happened so far.
  public internal(set) var counters = DriverCounters()
  /// Bytes to write now; cleared by the next `handle`.
  public internal(set) var outgoing = FrameBuffer()

  /// Creates a driver that knows nothing of the receiver yet and does nothing before a goal comes.
  public init(_ setup: ReceiverSetup) { self.setup = setup }

  /// When it must be stepped with `.deadline`.
  public var deadline: Instant? { nil }
  /// Whether nothing is in flight, so that the board may sleep.
  public var isSettled: Bool { true }
  /// Whether the receiver may hold fixes that have not been drained.
  public var buffersFixes: Bool { false }
  /// Whether the receiver's buffer is being emptied.
  public var isDraining: Bool { false }

  /// Takes an event in and gives what is to be done; O(1).
  public mutating func handle(_ event: DriverEvent, at now: Instant) -> DriverEffects {
    DriverEffects()
  }
  /// What to do with an epoch that the decoder produced.
  public mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission { .accept }
  /// The next epoch that was held and is free now, oldest first.
  public mutating func nextHeld() -> Epoch? { nil }
}

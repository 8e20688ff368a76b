import BoardHardware
import LocationTypes

/// The simulated receiver without a board, for a host other than ``SimulatedBoard``: `torpor receiver` and the virtual
/// board (TorporBoard). The caller supplies the clock, bytes and pin edges.
public struct VirtualReceiver: Sendable {
  private var receiver: SimulatedReceiver

  /// Creates a receiver that follows `track`, which begins at boot. It has power from the start, unless the setup has
  /// a supply switch.
  public init(_ setup: SimulationSetup, track: Track) {
    receiver = SimulatedReceiver(setup, track: track)
    if !setup.receiver.hasSupplySwitch { receiver.setSupply(true, at: .boot) }
  }

  /// Time of the next event or the arrival of the next unread byte; `.distantFuture` for never.
  public var nextEventTime: Instant {
    min(receiver.nextEvent, receiver.line.firstArrival ?? .distantFuture)
  }

  /// Present line speed, baud.
  public var speed: UInt32 { receiver.speed }

  /// Present power state.
  public var state: ReceiverPowerState { receiver.state }

  /// Whether the batch pin is asserted.
  public var isBatchPinActive: Bool { receiver.isBatchPinActive }

  /// Executes all events up to `now`. O(events).
  public mutating func advance(to now: Instant) {
    while case let next = receiver.nextEvent, next <= now { receiver.handle(at: next) }
    // Violations are recorded only for a simulated board.
    _ = receiver.removeViolations()
  }

  /// Sends bytes to the receiver that arrive at `now` at a line speed; without power they are ignored.
  public mutating func write(_ bytes: [UInt8], at now: Instant, speed: UInt32) {
    advance(to: now)
    guard receiver.isSupplied, !bytes.isEmpty else { return }
    receiver.accept(bytes.span, due: now, speed: speed)
    advance(to: now)
  }

  /// Returns the bytes that have arrived by `now` and are unread; garbled if `speed` differs from the receiver's
  /// speed.
  public mutating func read(at now: Instant, speed: UInt32) -> [UInt8] {
    advance(to: now)
    var all: [UInt8] = []
    var chunk = ByteChunk()
    while true {
      receiver.read(into: &chunk, at: now, speed: speed)
      if chunk.count == 0 { return all }
      for i in 0..<chunk.count { all.append(chunk[i]) }
    }
  }

  /// Switches the receiver's power.
  public mutating func setSupply(_ isOn: Bool, at now: Instant) {
    advance(to: now)
    receiver.setSupply(isOn, at: now)
  }

  /// Signals an edge on the wake pin.
  public mutating func wake(at now: Instant) {
    advance(to: now)
    if receiver.isSupplied { receiver.wakeEdge(at: now) }
  }
}

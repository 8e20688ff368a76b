import BoardHardware
import LocationTypes

/// The simulated receiver alone, for a board that is none of ours: whoever owns it has the clock, and
/// brings bytes and edges to it.
public struct VirtualReceiver: Sendable {
  private var receiver: SimulatedReceiver

  /// Creates a receiver that moves along `track`, which begins at boot. It has supply from the start,
  /// unless the setup says that the board switches it.
  public init(_ setup: SimulationSetup, track: Track) {
    receiver = SimulatedReceiver(setup, track: track)
    if !setup.receiver.hasSupplySwitch { receiver.setSupply(true, at: .boot) }
  }

  /// When something happens in it, or a byte of it has arrived; `.distantFuture` for never.
  public var next: Instant {
    min(receiver.nextEvent, receiver.line.firstArrival ?? .distantFuture)
  }

  /// The speed that it talks at now, baud.
  public var speed: UInt32 { receiver.active.speed }

  /// What it draws power for.
  public var state: ReceiverPowerState { receiver.state }

  /// Whether its batch pin is asserted.
  public var isBatchPinActive: Bool { receiver.isBatchPinActive }

  /// Lets everything happen up to `now`. O(events).
  public mutating func advance(to now: Instant) {
    while case let next = receiver.nextEvent, next <= now { receiver.handle(at: next) }
    // Whoever owns it has no books to keep them in.
    receiver.violations.removeAll()
  }

  /// Brings it bytes that arrived at `now` at a speed; one without supply hears nothing.
  public mutating func write(_ bytes: [UInt8], at now: Instant, speed: UInt32) {
    advance(to: now)
    guard receiver.isSupplied, !bytes.isEmpty else { return }
    receiver.accept(bytes.span, due: now, speed: speed)
    advance(to: now)
  }

  /// The bytes that have arrived by `now` and were not read; at another speed than its own, rubbish.
  public mutating func read(at now: Instant, speed: UInt32) -> [UInt8] {
    advance(to: now)
    var all: [UInt8] = []
    var chunk = ByteChunk()
    while true {
      receiver.line.read(into: &chunk, at: now, speed: speed)
      if chunk.count == 0 { return all }
      for i in 0..<chunk.count { all.append(chunk[i]) }
    }
  }

  /// Switches its supply.
  public mutating func setSupply(_ isOn: Bool, at now: Instant) {
    advance(to: now)
    receiver.setSupply(isOn, at: now)
  }

  /// An edge on its wake pin.
  public mutating func wake(at now: Instant) {
    advance(to: now)
    if receiver.isSupplied { receiver.wakeEdge(at: now) }
  }
}

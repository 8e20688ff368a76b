import GNSSProtocols
import LocationHAL
import LocationTypes

extension SimulatedBoard {
  /// Queues `bytes` for the receiver, all or nothing.
  ///
  /// To a receiver without supply nothing is written, and it is a violation.
  ///
  /// - Throws: `LineFault.gone`; `LineFault.full` with more than 4,096 bytes waiting.
  public mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {
    try mustBeThere()
    guard receiver.isSupplied else {
      return violate(
        .wroteWithoutSupply, "\(bytes.count) bytes were written to a receiver without supply")
    }
    let start = max(now, outputFreeAt)
    let waiting = (start - now).microseconds * Int64(hostSpeed) / 10_000_000
    if waiting + Int64(bytes.count) > 4_096 { throw .full }
    guard !bytes.isEmpty else { return }
    let time = (Int64(bytes.count) * 10_000_000 + Int64(hostSpeed) - 1) / Int64(hostSpeed)
    outputFreeAt = start + Interval(microseconds: time)
    burst.wrote(at: now)
    receiver.accept(bytes, due: outputFreeAt, speed: hostSpeed)
  }

  /// The next bytes that have arrived, at most 256; empty when there are none. O(bytes).
  ///
  /// - Throws: `LineFault.gone`.
  public mutating func read() throws(LineFault) -> ByteChunk {
    var chunk = ByteChunk()
    try read(into: &chunk)
    return chunk
  }

  /// The same, in place of what is in `chunk`.
  public mutating func read(into chunk: inout ByteChunk) throws(LineFault) {
    try mustBeThere()
    receiver.line.read(into: &chunk, at: now, speed: hostSpeed)
  }

  /// Sets the line's speed in baud; what came at another speed and was not read is lost.
  ///
  /// - Throws: `LineFault.gone`.
  public mutating func setSpeed(_ baud: UInt32) throws(LineFault) {
    precondition(baud > 0, "a line has a speed")
    try mustBeThere()
    receiver.line.loseGarbled(by: now, speed: hostSpeed)
    hostSpeed = baud
    burst = BurstTiming()
    burst.wrote(at: now)
  }

  /// Who had the device open before it went and came back has to open it anew: is told so once.
  private mutating func mustBeThere() throws(LineFault) {
    guard receiver.isGone || lineChanged else { return }
    lineChanged = false
    throw .gone
  }

  /// Drives a pin.
  ///
  /// - Throws: `PinFault.notWired`; `PinFault.lineLost` while the supply switch is stuck.
  public mutating func set(_ command: PinCommand) throws(PinFault) {
    switch command.pin {
    case .receiverWake:
      guard setup.receiver.hasWakePin else { throw .notWired }
      guard command.level != wakePin else { return }
      wakePin = command.level
      if !receiver.isSupplied {
        // Where there is no receiver at all, none is driven.
        guard command.level == .active, !receiver.isGone else { return }
        return violate(.droveWithoutSupply, "a pin was driven into a receiver without supply")
      }
      receiver.wakeEdge(at: now)
    case .receiverSupply:
      guard setup.receiver.hasSupplySwitch else { throw .notWired }
      if setup.faults.supplySwitchStuck.contains(where: { $0.contains(now) }) { throw .lineLost }
      if command.level == .inactive, receiver.isSupplied {
        if receiver.isStandbyPending {
          violate(.cutBeforeStandby, "the supply was cut before the receiver was in standby")
        }
        if wakePin == .active {
          violate(.droveWithoutSupply, "the supply was cut with a pin driven into the receiver")
        }
      }
      receiver.setSupply(command.level == .active, at: now)
    }
    look(at: now)
  }
}

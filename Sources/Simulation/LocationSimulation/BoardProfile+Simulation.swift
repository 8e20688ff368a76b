import BoardProfiles
import LocationTypes
import SimulatedHAL

// Converts a board profile to the parameters of the simulation.

extension BoardProfile {
  /// Processor time of torpord per wake, as measured in Docs/Reference/service-cost.md: a fix with its
  /// acknowledgement needs 258 µs in 3.0 wakes (sentences in pieces), 178 µs in 2.0 (sentences of an epoch in one
  /// piece), or 184 µs in 1.9 (NAV-PVT). Measured on x86_64; a small Arm core needs several times as long.
  static let processorTimePerWake = Interval(microseconds: 90)

  /// Number of bytes that a UART's FIFO delivers at a time, as in the measurement of Docs/Reference/service-cost.md.
  static let fifoTriggerLevel = 16

  /// Setup of a simulated board and receiver with this profile, without noise and faults.
  public var simulationSetup: SimulationSetup {
    var setup = SimulationSetup()
    setup.board.awake_mW = board.awake_mw
    setup.board.processorTimePerWake = BoardProfile.processorTimePerWake
    setup.board.fifoTriggerLevel = BoardProfile.fifoTriggerLevel
    setup.board.delaysReads = true
    setup.board.idle = board.idle
    setup.board.suspended = board.suspended
    setup.board.suspended?.wakeSources.insert(.request)
    setup.board.off = board.off
    if let receiver { setup.receiver = simulatedReceiver(receiver) }
    return setup
  }

  private func simulatedReceiver(_ receiver: Receiver) -> SimulatedReceiverParameters {
    var figures = SimulatedReceiverParameters()
    figures.family = receiver.family
    figures.output = receiver.output
    figures.defaultSpeed = UInt32(receiver.defaultLineSpeed_baud)
    figures.interval = receiver.fixInterval
    figures.power = receiver.power
    figures.timeToFirstFix = receiver.timeToFix
    figures.batchCapacity = receiver.batch.map {
      BatchCapacity(
        basic: $0.capacity, odometer: $0.capacity, extraPVT: $0.capacity, both: $0.capacity)
    }
    figures.hasWakePin = receiver.hasWakePin
    figures.hasBatchPin = receiver.batch?.isPinWired ?? false
    figures.hasSupplySwitch = receiver.hasSupplySwitch
    figures.hasBackupSupply = receiver.hasBackupSupply
    return figures
  }
}

import BoardHardware
import GNSSProtocols
import LocationTypes

// Inputs of a simulated run besides its track: properties of the receiver, of the board and of its sleep states,
// combined in ``SimulationSetup``. `BoardProfile.simulationSetup` (LocationSimulation) makes them from a board profile.

/// Number of epochs that fit into a receiver's batch buffer, by entry format.
public struct BatchCapacity: Equatable, Sendable {
  /// Entries in the basic format.
  public var basic: Int
  /// Entries with odometer data.
  public var odometer: Int
  /// Entries with the extra PVT fields.
  public var extraPVT: Int
  /// Entries with odometer data and the extra PVT fields.
  public var both: Int

  /// Creates capacities; the defaults are those of the u-blox M10.
  public init(basic: Int = 600, odometer: Int = 443, extraPVT: Int = 309, both: Int = 261) {
    self.basic = basic
    self.odometer = odometer
    self.extraPVT = extraPVT
    self.both = both
  }
}

/// Properties of the simulated receiver.
public struct SimulatedReceiverParameters: Equatable, Sendable {
  /// Receiver family.
  public var family = ReceiverFamily.ubloxM10
  /// Protocol of a streaming receiver: NAV-PVT, or the NMEA sentences RMC, GGA, GSA, GSV, GST, VTG and ZDA.
  public var output = ReceiverOutput.ubx
  /// Line speed after power-on, baud; a streaming receiver always uses it.
  public var defaultSpeed: UInt32 = 38_400
  /// Time between two fixes of a streaming receiver. Receivers of other families start with 1 s.
  public var interval = Interval.seconds(1)
  /// Shortest fix interval that a receiver with its configuration in flash stores; it stores this one instead of a
  /// shorter one, and acknowledges the command.
  public var shortestStoredInterval = Interval.zero
  /// Power in each state.
  public var power = ReceiverPower()
  /// Time to first fix.
  public var timeToFirstFix = TimeToFix()
  /// Capacity of the receiver's batch buffer; nil if it has none.
  public var batchCapacity: BatchCapacity? = BatchCapacity()
  /// Time from power-on or wake-up until the receiver accepts commands.
  public var bootTime = Interval.milliseconds(250)
  /// Time from the last byte of a command until the receiver executes and answers it.
  public var commandLatency = Interval.milliseconds(20)
  /// Time from an epoch until its first byte is sent.
  public var outputLatency = Interval.milliseconds(50)
  /// Whether the acknowledgement of a new line speed is sent at the old speed.
  public var acknowledgesAtOldSpeed = false
  /// Whether RXM-PMREQ is acknowledged before execution. The protocol specifies acknowledgements only for CFG
  /// messages.
  public var acknowledgesPowerRequest = false
  /// Whether LOG-RETRIEVEBATCH is acknowledged. The protocol specifies acknowledgements only for CFG messages.
  public var acknowledgesRetrieval = false
  /// Whether the board can wake the receiver with an edge (EXTINT).
  public var hasWakePin = true
  /// Whether a pin signals the batch watermark to the board.
  public var hasBatchPin = true
  /// Whether the board can switch the receiver's power.
  public var hasSupplySwitch = false
  /// Whether the backup domain keeps its power while the main power is off.
  public var hasBackupSupply = true
  /// Number of entries in the navigation database of a u-blox receiver.
  public var databaseEntries: UInt8 = 40
  /// Time since the last fix at the start of the run; nil for a cold start.
  public var offBeforeStart: Interval?
  /// Whether GSA and GSV name the satellites of a simulated sky; otherwise GSV are empty and GSA count satellites from 1.
  /// NAV-SAT always names them.
  public var hasSky = false
  /// Geoid separation: height of mean sea level above the ellipsoid, mm.
  public var geoidSeparation_mm: Int32 = 40_000

  /// Creates the parameters of a u-blox MAX-M10S.
  public init() {}

  /// Whether each setting has a CFG message of its own, as with an M8.
  var hasSeparateMessages: Bool { family.has(.separateMessages) }
}

/// Properties of the simulated board.
public struct SimulatedBoardParameters: Equatable, Sendable {
  /// Power while code runs, mW.
  public var awake_mW = 600.0
  /// The idle state, in which the board waits for events.
  public var idle = BoardSleepState(power_mw: 375)
  /// The suspended state; nil if the board cannot suspend.
  public var suspended: BoardSleepState? = BoardSleepState(
    power_mw: 20, resumeTime: .milliseconds(300), wakeSources: [.alarm, .batchPin, .request],
    alarmResolution: .seconds(1), minimumDuration: .seconds(2))
  /// The state in which the board is off until an alarm; nil if the board cannot power itself on.
  public var off: BoardSleepState?
  /// Processor time of the service per wake. The board spends it awake, after the resume time.
  public var processorTimePerWake = Interval.zero
  /// Number of bytes that the serial driver collects before it delivers them, unless the burst ends earlier.
  public var fifoTriggerLevel = 1
  /// Whether the board delays the read until the whole epoch has arrived, as `LinuxBoard` does (`BurstTiming`).
  public var delaysReads = false

  /// Creates the parameters of a small board that can suspend.
  public init() {}

  /// Returns the parameters of a sleep state; nil if the board does not support it, or for `awake`.
  public func sleepState(_ state: BoardState) -> BoardSleepState? {
    switch state {
    case .awake: nil
    case .idle: idle
    case .suspended: suspended
    case .off: off
    }
  }

  /// Returns the power in a state, mW.
  public func mW(in state: BoardState) -> Double { sleepState(state)?.power_mw ?? awake_mW }
}

/// All inputs of a simulated run besides its track. The same setup and track give the same run.
public struct SimulationSetup: Sendable {
  /// Properties of the receiver.
  public var receiver = SimulatedReceiverParameters()
  /// Properties of the board.
  public var board = SimulatedBoardParameters()
  /// Errors of the receiver's solutions; nil for none, apart from the protocol's resolution.
  public var noise: NoiseParameters?
  /// Whether times to first fix are sampled from a distribution instead of being its median.
  public var samplesTimeToFirstFix = false
  /// Periods in which the motion sensor's line is active, ascending and disjoint; nil for a board without a sensor.
  public var motionPeriods: [Range<Instant>]?
  /// Battery that supplies board and receiver; nil for an unlimited supply without a gauge.
  public var battery: SimulatedBattery?
  /// Faults to inject.
  public var faults = FaultPlan()
  /// Seed of all random numbers of the run.
  public var seed: UInt64 = 1
  /// Whether events are recorded for ``SimulatedBoard/removeEvents(into:)``.
  public var recordsEvents = false
  /// Whether the bytes that the receiver sends are recorded for ``SimulatedBoard/removeSentBytes()``.
  public var recordsBytes = false

  /// Creates a setup: an M10 receiver, a board that can suspend, no noise, no faults.
  public init() {}
}

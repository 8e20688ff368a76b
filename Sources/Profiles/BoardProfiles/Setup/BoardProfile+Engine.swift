import GNSSProtocols
import LocationEngine
import LocationPolicy
import LocationTypes
import ReceiverDrivers

// Converts a profile into the parameters of the engine. Contains no decisions and no parameters of its own, except the
// start-up time and the length of the line buffer below.

extension BoardProfile {
  /// Parameters of the engine for this board.
  public var engineSetup: EngineSetup {
    var setup = EngineSetup(receiver: receiver.map(receiverSetup), parameters: plannerParameters)
    setup.deliveryHold = board.deliveryHold
    if let battery { setup.battery = batteryThresholds(battery) }
    if let receiver {
      setup.epochs.rangeError_mm = Int32((receiver.rangeError_m * 1_000).rounded())
      setup.receiverSilenceTimeout = receiver.silenceTimeout
      setup.assumedAccuracy_mm = Int32((receiver.assumedAccuracy_m * 1_000).rounded())
    }
    return setup
  }

  private func batteryThresholds(_ battery: Battery) -> BatteryThresholds {
    var thresholds = BatteryThresholds()
    thresholds.everyFix = UInt8(clamping: battery.everyFix ?? 0)
    thresholds.accuracy = UInt8(clamping: battery.accuracy ?? 0)
    thresholds.updates = UInt8(clamping: battery.updates ?? 0)
    thresholds.visits = UInt8(clamping: battery.visits ?? 0)
    thresholds.regions = UInt8(clamping: battery.regions ?? 0)
    thresholds.significantChange = UInt8(clamping: battery.significantChange ?? 0)
    thresholds.hysteresis = UInt8(clamping: battery.margin)
    return thresholds
  }

  /// Parameters of the engine for a receiver that accepts no commands, as in a replay.
  public var passiveSetup: EngineSetup {
    var setup = engineSetup
    setup.receiver = receiver.map {
      ReceiverSetup(family: .passive, lineSpeed: UInt32($0.lineSpeed_baud))
    }
    setup.parameters.batch = nil
    setup.parameters.receiver.powersave_mW = nil
    setup.parameters.canStandby = false
    setup.parameters.canSwitchOff = false
    setup.parameters.inputBufferTime = .zero
    return setup
  }

  private func receiverSetup(_ receiver: Receiver) -> ReceiverSetup {
    var setup = ReceiverSetup(
      family: receiver.family,
      lineSpeed: UInt32(receiver.lineSpeed_baud),
      defaultLineSpeed: UInt32(receiver.defaultLineSpeed_baud),
      interval_ms: UInt16(clamping: receiver.fixInterval.microseconds / 1_000),
      output: receiver.output,
      hasWakePin: receiver.hasWakePin, hasSupplySwitch: receiver.hasSupplySwitch,
      batch: receiver.batch.map(batchSetup),
      hasPowerSave: receiver.power.powersave_mw != nil, ackTimeout: receiver.acknowledgeTimeout,
      powerSettle: receiver.supplySettle, wakeSettle: receiver.wakeSettle)
    setup.trustsSleep = board.suspended != nil
    return setup
  }

  private func batchSetup(_ batch: Batch) -> BatchSetup {
    BatchSetup(
      capacity: UInt16(clamping: batch.capacity), extraPVT: batch.hasExtraPVT,
      pioWired: batch.isPinWired, pioID: UInt8(clamping: batch.pio ?? 0),
      pioActiveLow: batch.isActiveLow)
  }

  private var plannerParameters: PlannerParameters {
    var parameters = PlannerParameters(
      fixInterval: receiver?.fixInterval ?? .seconds(1), deferralLimit: cache.deferralLimit,
      timeToFix: timeToFixTable)
    parameters.plausibleSpeed = policy.plausibleSpeed_mps
    parameters.minimumCheckInterval = policy.minimumCheckInterval
    parameters.hasMotionLine = motion != nil
    parameters.idle = sleepParameters(.idle)
    parameters.deep = sleepParameters(.suspended)
    parameters.unattendedBoard = unattendedBoard
    guard let receiver else { return parameters }
    parameters.receiver = receiverParameters(receiver)
    parameters.canSwitchOff = receiver.hasSupplySwitch
    parameters.canStandby = receiver.canStandby
    parameters.batch = receiver.batch.map {
      BatchParameters(
        capacity: UInt16(clamping: $0.capacity), watermark: UInt16(clamping: $0.watermark),
        hasPin: $0.isPinWired)
    }
    parameters.inputBufferTime = inputBufferTime(receiver)
    return parameters
  }

  private func receiverParameters(_ receiver: Receiver) -> LocationPolicy.ReceiverParameters {
    var parameters = LocationPolicy.ReceiverParameters(timeToFix: timeToFixTable)
    parameters.acquire_mW = receiver.power.acquire_mw
    parameters.track_mW = receiver.power.track_mw
    parameters.powersave_mW =
      receiverSetup(receiver).canSavePower ? receiver.power.powersave_mw : nil
    parameters.standby_mW = receiver.power.standby_mw
    parameters.off_mW =
      receiver.hasBackupSupply ? receiver.power.backup_mw : receiver.power.off_mw
    // Time to wake the receiver, poll it and write its configuration.
    parameters.startUp = receiver.wakeSettle + .milliseconds(50)
    parameters.spread = receiver.timeToFix.p90Ratio
    parameters.ephemerisLifetime = receiver.timeToFix.ephemerisLifetime
    parameters.ephemerisDownload = receiver.timeToFix.ephemerisDownload
    parameters.ephemerisHoldLimit = policy.receiverHold
    parameters.acquisitionTimeout = policy.acquisitionTimeout
    parameters.keepsDataWhenOff = receiver.hasBackupSupply
    parameters.powerOffTime = receiverSetup(receiver).powerOffTime
    parameters.board = attendedBoard
    return parameters
  }

  /// Power of the board's deepest sleep.
  private var sleep_mW: Double { board.suspended?.power_mw ?? board.idle.power_mw }

  /// What the board pays while it may not be switched off.
  private var attendedBoard: BoardParameters {
    BoardParameters(
      awake_mW: board.awake_mw, idle_mW: board.idle.power_mw, sleep_mW: sleep_mW,
      sleepParameters(.suspended))
  }

  /// What the board pays while it may be switched off; nil if it cannot be. No key gives the energy of the shutdown,
  /// which counts as a part of the time off.
  private var unattendedBoard: BoardParameters? {
    board.off.flatMap {
      attendedBoard.whenUnattended(
        saved_mW: sleep_mW - $0.power_mw,
        boot_mJ: max(board.awake_mw - $0.power_mw, 0) * $0.resumeTime.seconds,
        startupTime: $0.alarmLead, shortest: $0.minimumDuration)
    }
  }

  /// Time for which the serial line's input buffer of 4,096 bytes is sufficient, with a reserve of one epoch. An epoch
  /// is at most as long as ``ReceiverFamily/epochLength(_:)`` states.
  private func inputBufferTime(_ receiver: Receiver) -> Interval {
    let bytes = Int64(receiver.family.epochLength(receiver.output).most)
    return receiver.fixInterval * (4_096 / bytes - 1)
  }

  private func sleepParameters(_ state: BoardState) -> LocationPolicy.SleepParameters? {
    board.sleep(state).map {
      var parameters = LocationPolicy.SleepParameters(
        state: state, resumeTime: $0.resumeTime, alarmResolution: $0.alarmResolution,
        minimumDuration: $0.minimumDuration, wakesOnPin: $0.wakeSources.contains(.batchPin),
        wakesOnBytes: $0.wakeSources.contains(.bytes))
      parameters.wakesOnMotion = $0.wakeSources.contains(.motion)
      return parameters
    }
  }

  private var timeToFixTable: TimeToFixTable {
    guard let time = receiver?.timeToFix else { return TimeToFixTable(cold: .seconds(30)) }
    var table = TimeToFixTable(cold: time.coldStart)
    for point in time.afterOff.prefix(TimeToFixTable.capacity) {
      table.append(off: point.off, fix: point.fix)
    }
    return table
  }
}

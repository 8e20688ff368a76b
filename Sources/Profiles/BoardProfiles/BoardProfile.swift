import BoardHardware
import GNSSProtocols
import LocationTypes

/// The properties of one board: its sleep states, receiver, battery and cache, in the units of the key names.
///
/// Read from `Boards/<name>/profile.toml`; no other file depends on a particular board. Every value is in the
/// range of ``ProfileSchema`` and consistent with the others (``ProfileRules``).
public struct BoardProfile: Equatable, Sendable {
  /// Name of the board and of its folder.
  public var name: String
  /// Description of the board in one sentence.
  public var summary: String
  /// Power and sleep states of the board without its receiver.
  public var board: Board
  /// The receiver; nil on a board without one (DEF-1).
  public var receiver: Receiver?
  /// The motion sensor; nil on a board without one.
  public var motion: Motion?
  /// The battery and the charges below which services are shed; nil if the board has none or sheds nothing.
  public var battery: Battery?
  /// The ring and the deferral limit.
  public var cache: Cache
  /// Assumptions and limits of the planner.
  public var policy: Policy
}

extension BoardProfile {
  /// Power and sleep of the board alone.
  public struct Board: Equatable, Sendable {
    /// Maximum time that the board waits for the acknowledgement of a delivery before it is suspended (RNG-8).
    public var deliveryHold = Interval.zero
    /// GPIO line of an indicator light that is on during a background session (BKG-11).
    public var sessionLightLine: String?
    /// Power while running code, milliwatts.
    public var awake_mw = 0.0
    /// The idle state, waiting for an event; every board has it.
    public var idle = BoardSleepState()
    /// The state suspended to memory; nil if the board cannot suspend.
    public var suspended: BoardSleepState?
    /// The powered-off state, which an alarm ends; nil if nothing can switch the board on again.
    public var off: BoardSleepState?
    /// The alarm that switches the board on again.
    public var offAlarm = PowerOnAlarm.rtc
    /// Number of the I²C bus of a HAT with that alarm.
    public var i2cBus = 1

    /// The parameters of `state`; nil for ``BoardState/awake`` and for a state that the board does not have.
    public func sleep(_ state: BoardState) -> BoardSleepState? {
      switch state {
      case .awake: nil
      case .idle: idle
      case .suspended: suspended
      case .off: off
      }
    }
  }

  /// The alarm that switches on a board that is powered off.
  public enum PowerOnAlarm: String, CaseIterable, Sendable {
    /// The board's real-time clock, through the kernel.
    case rtc = "rtc"
    /// UUGear's Witty Pi 4.
    case wittyPi4 = "witty-pi-4"
  }

  /// The receiver and how it is wired.
  public struct Receiver: Equatable, Sendable {
    /// Command set of the receiver.
    public var family = ReceiverFamily.passive
    /// Output protocol of the receiver.
    public var output = ReceiverOutput.nmea
    /// Name of the part, for display.
    public var model: String?
    /// Path of the serial device on Linux.
    public var device: String?
    /// Line speed in operation, baud.
    public var lineSpeed_baud = 9_600
    /// Line speed after power-on, before any configuration, baud.
    public var defaultLineSpeed_baud = 9_600
    /// Time between two fixes.
    public var fixInterval = Interval.seconds(1)
    /// GPIO line that wakes the receiver from standby (EXTINT); nil if not wired.
    public var wakeLine: String?
    /// GPIO line of the pulse per second (TIMEPULSE, 1PPS); nil if not wired.
    public var pulseLine: String?
    /// GPIO line that switches the supply; nil if the receiver is always supplied.
    public var supplyLine: String?
    /// Whether a backup supply keeps clock and ephemeris while the supply is off.
    public var hasBackupSupply = false
    /// Horizontal accuracy at HDOP 1, metres (LOC-4).
    public var rangeError_m = 5.0
    /// Horizontal accuracy of a fix for which the receiver reports none, metres.
    public var assumedAccuracy_m = 30.0
    /// Timeout for the acknowledgement of a command.
    public var acknowledgeTimeout = Interval.seconds(1)
    /// Time from the wake edge until the receiver accepts commands.
    public var wakeSettle = Interval.milliseconds(300)
    /// Time from switching the supply on until the receiver accepts commands.
    public var supplySettle = Interval.milliseconds(250)
    /// Time without input after which the receiver counts as lost (DEF-43).
    public var silenceTimeout = Interval.seconds(5)
    /// Power in each state.
    public var power = ReceiverPower.none
    /// Batching in the receiver; nil if the receiver cannot batch or must not.
    public var batch: Batch?
    /// Time to first fix after a time off.
    public var timeToFix = TimeToFix(
      afterOff: [], coldStart: .zero, ephemerisLifetime: .zero, ephemerisDownload: .seconds(30),
      p90Ratio: 1)

    /// Whether an edge on EXTINT can wake the receiver.
    public var hasWakePin: Bool { wakeLine != nil }
    /// Whether the receiver can be put to standby and woken.
    public var canStandby: Bool { family.canStandby(hasWakePin: hasWakePin) }
    /// Whether the supply can be switched off.
    public var hasSupplySwitch: Bool { supplyLine != nil }
  }

  /// Batching in the receiver.
  public struct Batch: Equatable, Sendable {
    /// Capacity of the receiver's buffer, in fixes.
    public var capacity = 2
    /// Number of fixes at which the board is woken to drain the buffer: W of RNG-1.
    public var watermark = 1
    /// Whether entries carry the extra PVT fields (accuracies, satellites, velocity).
    public var hasExtraPVT = true
    /// GPIO line that is connected to the batch pin; nil if not wired.
    public var line: String?
    /// The receiver's PIO number of the batch pin.
    public var pio: Int?
    /// Whether the pin is low while the watermark is reached.
    public var isActiveLow = false

    /// Whether the watermark can wake the board.
    public var isPinWired: Bool { line != nil }
  }

  /// A sensor that signals motion on a GPIO line, for example the interrupt of an accelerometer.
  public struct Motion: Equatable, Sendable {
    /// GPIO line that is active during motion.
    public var line = ""
    /// Time from the last motion until the line becomes inactive.
    public var stillAfter = Interval.seconds(10)
  }

  /// The monitored battery, and the services that are shed when its charge is low (PWR-10).
  ///
  /// Each threshold is the charge, in percent, below which a service is shed; nil if it is never shed.
  public struct Battery: Equatable, Sendable {
    /// Valid values of a charge, percent.
    public static let chargeRange = 0...100

    /// Name of the gauge on Linux, below `/sys/class/power_supply`.
    public var gauge: String?
    /// GPIO line that is asserted while the battery is low.
    public var lowLine: String?
    /// Charge that is assumed while the line is asserted, percent.
    public var lowCharge = 5
    /// Threshold for every fix, and for accuracies better than 100 m.
    public var everyFix: Int?
    /// Threshold for accuracies better than 1 km.
    public var accuracy: Int?
    /// Threshold for all updates.
    public var updates: Int?
    /// Threshold for visits.
    public var visits: Int?
    /// Threshold for regions and monitor conditions.
    public var regions: Int?
    /// Threshold for significant change.
    public var significantChange: Int?
    /// Hysteresis: how far above its threshold the charge must be to restore a service, percentage points.
    public var margin = 3
  }

  /// The deferral cache.
  public struct Cache: Equatable, Sendable {
    /// Valid values of ``capacity``: capacities with which a ring can be opened.
    public static let capacityRange = 2...1_048_576
    /// Valid values of ``deferralLimit``: half of the smallest ring to half of the largest (RNG-1).
    public static let deferralLimitRange = 1...524_288

    /// Capacity of the ring, in fixes: R of RNG-1.
    public var capacity = 2
    /// Maximum number of undelivered fixes of a deferring client: N of RNG-1, at most R / 2.
    public var deferralLimit = 1
    /// Maximum time between two syncs of the ring to disk.
    public var syncInterval = Interval.seconds(60)
  }

  /// Assumptions and limits of the planner.
  public struct Policy: Equatable, Sendable {
    /// Maximum plausible speed of the device, m/s (DEF-21, SLC-6, REG-16).
    public var plausibleSpeed_mps = 50.0
    /// Minimum time between two polls of a receiver that batches (DEF-21).
    public var minimumCheckInterval = Interval.seconds(10)
    /// Maximum time for which the receiver stays on after the last demand ended, to complete its ephemeris (PWR-1).
    public var receiverHold = Interval.seconds(20)
    /// Time after which an acquisition without a fix ends (PWR-7).
    public var acquisitionTimeout = Interval.seconds(120)
  }
}

extension BoardProfile {
  /// The same board without any GPIO line, only with the receiver's serial line: for a receiver on USB or a
  /// simulated one.
  public var withoutGPIOLines: BoardProfile {
    var profile = self
    profile.motion = nil
    profile.battery?.lowLine = nil
    profile.board.sessionLightLine = nil
    profile.board.suspended?.wakeSources.subtract([.batchPin, .motion])
    profile.receiver?.wakeLine = nil
    profile.receiver?.supplyLine = nil
    profile.receiver?.pulseLine = nil
    profile.receiver?.batch?.line = nil
    profile.receiver?.batch?.pio = nil
    return profile
  }

  /// The wired GPIO lines: display name, path of the profile key, and value of the key.
  public var gpioLines: [(name: String, path: String, text: String)] { ProfileDraft(self).lines }
}

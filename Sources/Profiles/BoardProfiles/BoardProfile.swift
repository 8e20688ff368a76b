import LocationTypes

/// What is known of one board: its sleep, its receiver, its cache, in the units of the key names.
///
/// Read from `Boards/<name>/profile.toml`; the only place where a board is named. Every value lies in
/// the range of ``ProfileSchema`` and agrees with the others (``ProfileRules``).
public struct BoardProfile: Equatable, Sendable {
  /// The board's name, also its folder's.
  public var name: String
  /// One sentence for people.
  public var summary: String
  /// The board without its receiver.
  public var board: Board
  /// The receiver; nil on a board without one (DEF-1).
  public var receiver: Receiver?
  /// A sensor that tells of motion; nil on a board without one.
  public var motion: Motion?
  /// The battery, and what is given up when it is low; nil where there is none, or nothing is.
  public var battery: Battery?
  /// The ring and the deferral limit.
  public var cache: Cache
  /// What the planner may assume.
  public var policy: Policy
}

extension BoardProfile {
  /// Power and sleep of the board alone.
  public struct Board: Equatable, Sendable {
    /// After a delivery the board is not suspended before the acknowledgement, for at most this long (RNG-8).
    public var deliveryHold = Interval.zero
    /// GPIO line of a light that is on during a background session (BKG-11).
    public var sessionLightLine: String?
    /// Power while running code, milliwatts.
    public var awake_mw = 0.0
    /// Waiting for an event; every board can.
    public var idle = Sleep(wakesOn: .all)
    /// Suspended to memory; nil where the board cannot.
    public var suspended: Sleep?
    /// Powered off until an alarm; nil where the board cannot.
    public var off: Sleep?
    /// What switches it on again.
    public var offAlarm = PowerOnAlarm.rtc
    /// The I²C bus of a HAT that does.
    public var i2cBus = 1

    /// The figures of `state`; nil for ``BoardState/awake`` and for a state the board does not have.
    public func sleep(_ state: BoardState) -> Sleep? {
      switch state {
      case .awake: nil
      case .idle: idle
      case .suspended: suspended
      case .off: off
      }
    }
  }

  /// One sleep state of the board.
  public struct Sleep: Equatable, Sendable {
    /// Power in this state, milliwatts.
    public var power_mw = 0.0
    /// From the wake event until code runs.
    public var resume = Interval.zero
    /// How late the alarm may be.
    public var alarmResolution = Interval.zero
    /// An alarm nearer than this is waited for in a lighter state.
    public var shortest = Interval.zero
    /// What ends this state.
    public var wakesOn: WakeSources
  }

  /// What switches a board on that is powered off.
  public enum PowerOnAlarm: String, CaseIterable, Sendable {
    /// The board's real-time clock, as the kernel has it.
    case rtc = "rtc"
    /// UUGear's Witty Pi 4.
    case wittyPi4 = "witty-pi-4"
  }

  /// What can wake a sleeping board.
  public struct WakeSources: OptionSet, Hashable, Sendable {
    /// One bit a source.
    public var rawValue: UInt8
    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A timer or clock.
    public static let alarm = WakeSources(rawValue: 1)
    /// Bytes on the receiver's line; the first ones are lost unless the board only idles.
    public static let bytes = WakeSources(rawValue: 2)
    /// The receiver's batch pin.
    public static let batchPin = WakeSources(rawValue: 4)
    /// The motion sensor's line.
    public static let motion = WakeSources(rawValue: 8)
    /// All of them.
    public static let all: WakeSources = [.alarm, .bytes, .batchPin, .motion]
  }

  /// The receiver and how it is wired.
  public struct Receiver: Equatable, Sendable {
    /// How a receiver is spoken to.
    public enum Family: String, CaseIterable, Sendable {
      /// u-blox M10: configured by CFG-VALSET, sleeps by RXM-PMREQ, can batch.
      case ubloxM10 = "ublox-m10"
      /// u-blox 8 and M8: a configuration message for each matter, else the same; batches with
      /// protocol 23.01.
      case ubloxM8 = "ublox-m8"
      /// MediaTek MT3333 and MT3339: `$PMTK` sentences.
      case mtk = "mtk"
      /// Airoha AG3335 and AG3352: `$PAIR` sentences.
      case airoha = "airoha"
      /// CASIC AT6558 and kin: `$PCAS` sentences.
      case casic = "casic"
      /// Anything that streams NMEA; never written to.
      case nmea = "nmea"

      /// Whether it takes commands, so that it can be put to sleep by one.
      public var takesCommands: Bool { self != .nmea }

      /// Whether it speaks UBX, and may batch.
      public var isUBlox: Bool {
        switch self {
        case .ubloxM10, .ubloxM8: true
        case .mtk, .airoha, .casic, .nmea: false
        }
      }
    }

    /// What a receiver sends.
    public enum Output: String, CaseIterable, Sendable {
      /// UBX-NAV-PVT, one frame an epoch.
      case ubx = "ubx"
      /// NMEA sentences.
      case nmea = "nmea"
    }

    /// How it is spoken to.
    public var family = Family.nmea
    /// What it sends.
    public var output = Output.nmea
    /// The part's name, for people.
    public var model: String?
    /// The serial device on Linux.
    public var device: String?
    /// Speed at which the line is used, baud.
    public var lineSpeed_baud = 9_600
    /// Speed after power-on, before any configuration, baud.
    public var defaultLineSpeed_baud = 9_600
    /// From one fix to the next.
    public var fixInterval = Interval.seconds(1)
    /// The GPIO line that wakes it from standby (EXTINT); nil when not wired.
    public var wakeLine: String?
    /// The GPIO line of its pulse per second (TIMEPULSE, 1PPS); nil when not wired.
    public var pulseLine: String?
    /// The GPIO line that switches its supply; nil when it is always supplied.
    public var supplyLine: String?
    /// Whether a backup supply keeps its clock and ephemeris when the supply is cut.
    public var hasBackupSupply = false
    /// Accuracy that goes with HDOP 1, metres (LOC-4).
    public var rangeError_m = 5.0
    /// Accuracy of a fix whose receiver says nothing of it, metres.
    public var assumedAccuracy_m = 30.0
    /// How long a command's acknowledgement may take.
    public var acknowledgeTimeout = Interval.seconds(1)
    /// From the wake edge until it takes commands.
    public var wakeSettle = Interval.milliseconds(100)
    /// From supply on until it takes commands.
    public var supplySettle = Interval.milliseconds(250)
    /// Silence after which it counts as gone (DEF-43).
    public var silenceTimeout = Interval.seconds(5)
    /// Power by state.
    public var power = ReceiverPower()
    /// Batching inside the receiver; nil when it cannot or shall not.
    public var batch: Batch?
    /// How long until the first fix.
    public var timeToFix = TimeToFix()

    /// Whether an edge on EXTINT can wake it.
    public var hasWakePin: Bool { wakeLine != nil }
    /// Whether its supply can be cut.
    public var hasSupplySwitch: Bool { supplyLine != nil }
  }

  /// Power of the receiver by state, milliwatts.
  public struct ReceiverPower: Equatable, Sendable {
    /// Searching for satellites.
    public var acquire_mw = 0.0
    /// Tracking, a fix every interval.
    public var track_mw = 0.0
    /// Its own duty cycle; nil where it has none.
    public var powersave_mw: Double?
    /// Asleep by command, supply on, wakes by an edge or a byte.
    public var standby_mw = 0.0
    /// Supply cut, backup supply on.
    public var backup_mw = 0.0
    /// No supply at all.
    public var off_mw = 0.0
  }

  /// Batching inside the receiver.
  public struct Batch: Equatable, Sendable {
    /// Fixes its buffer holds.
    public var capacity = 2
    /// Fixes at which the board is woken to drain it: W of RNG-1.
    public var watermark = 1
    /// Whether entries carry the extra PVT fields (accuracies, satellites, velocity).
    public var hasExtraPVT = true
    /// Power while it batches, milliwatts.
    public var power_mw = 0.0
    /// The GPIO line on which the batch pin arrives; nil when not wired.
    public var line: String?
    /// The receiver's own number of that pin.
    public var pio: Int?
    /// Whether the pin is low while the watermark is reached.
    public var isActiveLow = false

    /// Whether the watermark can wake the board.
    public var isPinWired: Bool { line != nil }
  }

  /// How long after being off the first fix comes.
  public struct TimeToFix: Equatable, Sendable {
    /// Median by time off; the time off grows from 0, linear between two points, the last one goes on.
    ///
    /// Two points with the same time off make a step: at that very moment the first one holds.
    public var afterOff: [TimeToFixPoint] = []
    /// Age at which the ephemeris is of no more use; then ``cold`` holds.
    public var ephemeris = Interval.zero
    /// How long the receiver must track before it has a new ephemeris.
    public var ephemerisDownload = Interval.seconds(30)
    /// Median without ephemeris.
    public var cold = Interval.zero
    /// The 90th percentile as a multiple of the median, at least 1.
    public var p90Ratio = 1.0

    /// The median after `off` without fixes, its ephemeris being `age` old.
    ///
    /// O(points).
    public func median(off: Interval, ephemerisAge age: Interval) -> Interval {
      guard age <= ephemeris, var last = afterOff.first else { return cold }
      for point in afterOff {
        guard off > point.off else {
          let width = point.off - last.off
          guard width > .zero else { return point.fix }
          let share = (off - last.off).seconds / width.seconds
          return last.fix + Interval(seconds: (point.fix - last.fix).seconds * share)
        }
        last = point
      }
      return last.fix
    }
  }

  /// One point of ``TimeToFix/afterOff``.
  public struct TimeToFixPoint: Equatable, Sendable {
    /// How long the receiver was off.
    public var off: Interval
    /// Median time from switching on to the first fix.
    public var fix: Interval
  }

  /// A sensor that tells of motion by a line, an accelerometer's interrupt for instance.
  public struct Motion: Equatable, Sendable {
    /// The GPIO line on which it tells.
    public var line = ""
    /// How long after the last motion it says still.
    public var stillAfter = Interval.seconds(10)
  }

  /// A battery that is watched, and which promises go when it is low (PWR-10).
  ///
  /// Each figure is the charge, in percent, below which a promise is given up; nil for never.
  public struct Battery: Equatable, Sendable {
    /// What a charge may be.
    public static let charges = 0...100

    /// The gauge's name on Linux, below `/sys/class/power_supply`.
    public var gauge: String?
    /// GPIO line that is asserted while the battery is low.
    public var lowLine: String?
    /// The charge that is taken to be there while it is, percent.
    public var lowCharge = 5
    /// Every fix, and positions nearer than 100 m.
    public var everyFix: Int?
    /// Positions nearer than 1 km.
    public var accuracy: Int?
    /// All updates.
    public var updates: Int?
    /// Visits.
    public var visits: Int?
    /// Regions and monitor conditions.
    public var regions: Int?
    /// Significant change.
    public var significantChange: Int?
    /// How far above its figure the charge must be before a promise holds again, percentage points.
    public var margin = 3
  }

  /// The deferral cache.
  public struct Cache: Equatable, Sendable {
    /// What ``capacity`` may be: what a ring can be opened with.
    public static let capacityRange = 2...1_048_576
    /// What ``deferralLimit`` may be: half of the least ring to half of the largest (RNG-1).
    public static let deferralLimitRange = 1...524_288

    /// Fixes the ring holds: R of RNG-1.
    public var capacity = 2
    /// Fixes an engaged client may leave in it: N of RNG-1, at most R / 2.
    public var deferralLimit = 1
    /// How often the ring is synced to disk at least.
    public var syncInterval = Interval.seconds(60)
  }

  /// What the planner may assume.
  public struct Policy: Equatable, Sendable {
    /// Nobody who carries this board is faster, m/s (DEF-21, SLC-6, REG-16).
    public var plausibleSpeed_mps = 50.0
    /// A receiver that batches is never polled more often than this (DEF-21).
    public var shortestPoll = Interval.seconds(10)
    /// How long the receiver goes on after its last demand ended, to complete its ephemeris (PWR-1).
    public var receiverHold = Interval.seconds(20)
    /// A search that finds nothing ends after this (PWR-7).
    public var searchLimit = Interval.seconds(120)
  }
}

extension BoardProfile {
  /// The same board with nothing but the receiver's line: no GPIO line at all, as on a desk where a
  /// receiver hangs on USB, or a simulated one plays it.
  public var unwired: BoardProfile {
    var profile = self
    profile.motion = nil
    profile.battery?.lowLine = nil
    profile.board.sessionLightLine = nil
    profile.board.suspended?.wakesOn.subtract([.batchPin, .motion])
    profile.receiver?.wakeLine = nil
    profile.receiver?.supplyLine = nil
    profile.receiver?.pulseLine = nil
    profile.receiver?.batch?.line = nil
    profile.receiver?.batch?.pio = nil
    return profile
  }

  /// The lines that are wired: what each is called, the key that names it, and its text.
  public var gpioLines: [(name: String, path: String, text: String)] {
    let all: [(String, String, String?)] = [
      ("wake_line", "receiver.wake_line", receiver?.wakeLine),
      ("supply_line", "receiver.supply_line", receiver?.supplyLine),
      ("pulse_line", "receiver.pulse_line", receiver?.pulseLine),
      ("batch line", "receiver.batch.line", receiver?.batch?.line),
      ("motion line", "motion.line", motion?.line),
      ("low_line", "battery.low_line", battery?.lowLine),
      ("session_light_line", "board.session_light_line", board.sessionLightLine),
    ]
    return all.compactMap { name, path, text in text.map { (name, path, $0) } }
  }
}

import BoardHardware
import LocationTypes

/// Which family of receivers is played.
public enum SimulatedFamily: Equatable, Sendable {
  /// u-blox M10: starts with the factory's configuration and obeys UBX commands.
  case ubloxM10
  /// u-blox M8: the same, told by a CFG message for each matter.
  case ubloxM8
  /// MediaTek: obeys `$PMTK`, acknowledges, forgets its configuration without supply.
  case mtk
  /// Airoha: obeys `$PAIR`, acknowledges; a new line speed comes with the next start.
  case airoha
  /// CASIC: obeys `$PCAS` without a word, and names its firmware when asked.
  case casic
  /// Sends its solution from power-on and listens to nothing.
  case streaming

  /// Whether it is commanded by UBX.
  var isUBlox: Bool {
    switch self {
    case .ubloxM10, .ubloxM8: true
    case .mtk, .airoha, .casic, .streaming: false
    }
  }

  /// Whether it is commanded by sentences.
  var takesSentences: Bool {
    switch self {
    case .mtk, .airoha, .casic: true
    case .ubloxM10, .ubloxM8, .streaming: false
    }
  }
}

/// What a receiver of the streaming family sends.
public enum SimulatedOutput: Equatable, Sendable {
  /// UBX-NAV-PVT.
  case ubx
  /// RMC, GGA, GSA, GSV, GST, VTG, ZDA.
  case nmea
}

/// Time to first fix by the time since the last one.
public struct TimeToFirstFix: Equatable, Sendable {
  /// One row of the table.
  public struct Row: Equatable, Sendable {
    /// Seconds since the last fix.
    public var off_s: Double
    /// Median seconds to the next one.
    public var fix_s: Double

    /// Creates a row.
    public init(off_s: Double, fix_s: Double) {
      self.off_s = off_s
      self.fix_s = fix_s
    }
  }

  /// Rows in order of `off_s`; between two a straight line, beyond the last one its value.
  public var table: [Row]
  /// Seconds to a fix with nothing known, or only an ephemeris older than `ephemerisLifetime`.
  public var cold_s: Double
  /// How long an ephemeris serves.
  public var ephemerisLifetime: Interval
  /// How long the receiver must track before it has downloaded a new ephemeris.
  public var ephemerisDownload: Interval
  /// 90th percentile over median, at least 1; used where times are sampled.
  public var spread: Double

  /// Creates a model.
  public init(
    table: [Row] = [Row(off_s: 0, fix_s: 1), Row(off_s: 60, fix_s: 3), Row(off_s: 600, fix_s: 10)],
    cold_s: Double = 29, ephemerisLifetime: Interval = .seconds(14_400),
    ephemerisDownload: Interval = .seconds(20), spread: Double = 2.7
  ) {
    self.table = table
    self.cold_s = cold_s
    self.ephemerisLifetime = ephemerisLifetime
    self.ephemerisDownload = ephemerisDownload
    self.spread = spread
  }

  /// The median of a start `off` after the last fix, with an ephemeris of that age (nil: none).
  public func median_s(off: Interval?, ephemerisAge: Interval?) -> Double {
    guard let off, let ephemerisAge, ephemerisAge <= ephemerisLifetime else { return cold_s }
    guard let first = table.first, let last = table.last else { return cold_s }
    let seconds = off.seconds
    if seconds <= first.off_s { return first.fix_s }
    for (a, b) in zip(table, table.dropFirst()) where seconds <= b.off_s {
      let width = b.off_s - a.off_s
      return width > 0
        ? a.fix_s + (b.fix_s - a.fix_s) * (seconds - a.off_s) / width : b.fix_s
    }
    return last.fix_s
  }
}

/// How many epochs a receiver's own batch buffer holds.
public struct BatchCapacity: Equatable, Sendable {
  /// Of the basic kind.
  public var basic: Int
  /// With the odometer.
  public var odometer: Int
  /// With the extra PVT fields.
  public var extraPVT: Int
  /// With both.
  public var both: Int

  /// Creates capacities; the defaults are those of the u-blox M10.
  public init(basic: Int = 600, odometer: Int = 443, extraPVT: Int = 309, both: Int = 261) {
    self.basic = basic
    self.odometer = odometer
    self.extraPVT = extraPVT
    self.both = both
  }
}

/// What the simulation must know of the receiver.
public struct ReceiverFigures: Equatable, Sendable {
  /// How it behaves.
  public var family = SimulatedFamily.ubloxM10
  /// What a streaming receiver sends.
  public var output = SimulatedOutput.ubx
  /// Speed after power-on, baud; for a streaming receiver, always.
  public var defaultSpeed: UInt32 = 38_400
  /// Time between two fixes of a streaming receiver; an M10 has 1 s until configured otherwise.
  public var interval = Interval.seconds(1)
  /// Power in each state.
  public var power = ReceiverPower()
  /// Time to first fix.
  public var timeToFirstFix = TimeToFirstFix()
  /// Its own batch buffer; nil if it has none.
  public var batch: BatchCapacity? = BatchCapacity()
  /// From supply or waking until it runs and takes commands.
  public var boot = Interval.milliseconds(250)
  /// From a command's last byte until it is carried out and answered.
  public var answer = Interval.milliseconds(20)
  /// From an epoch's moment until its first byte leaves.
  public var outputLatency = Interval.milliseconds(50)
  /// The acknowledgement of a new speed comes at the old one.
  public var acknowledgesAtOldSpeed = false
  /// RXM-PMREQ is acknowledged before it is obeyed; the protocol promises that for CFG alone.
  public var acknowledgesPowerRequest = false
  /// LOG-RETRIEVEBATCH is acknowledged; the protocol promises that for CFG alone.
  public var acknowledgesRetrieval = false
  /// The board can wake it by an edge (EXTINT).
  public var hasWakePin = true
  /// The board hears of the batch watermark by a pin.
  public var hasBatchPin = true
  /// The board switches its supply.
  public var hasSupplySwitch = false
  /// A cut supply leaves the backup domain fed.
  public var hasBackupSupply = true
  /// How many entries its navigation database has, where it is a u-blox receiver.
  public var databaseEntries: UInt8 = 40
  /// Time since the last fix before the run began; nil for a cold start.
  public var offBeforeStart: Interval?
  /// Height of mean sea level over the ellipsoid, mm.
  public var geoidSeparation_mm: Int32 = 40_000

  /// Creates the figures of a u-blox MAX-M10S.
  public init() {}
}

/// Which things wake a sleeping board.
public struct WakeSources: OptionSet, Sendable {
  /// One bit for each ``WakeReason``.
  public let rawValue: UInt8
  /// Creates a set from bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// The alarm.
  public static let alarm = WakeSources(rawValue: 1)
  /// A byte on the receiver's line; it and what comes until the board runs again are lost.
  public static let bytes = WakeSources(rawValue: 2)
  /// The batch pin's edge.
  public static let batchPin = WakeSources(rawValue: 4)
  /// Somebody wants something.
  public static let request = WakeSources(rawValue: 8)
  /// An edge of the motion sensor's line.
  public static let motion = WakeSources(rawValue: 16)
  /// Everything.
  public static let all: WakeSources = [.alarm, .bytes, .batchPin, .request, .motion]
}

/// One way for the board to sleep.
public struct SleepFigures: Equatable, Sendable {
  /// Power while asleep.
  public var mW: Double
  /// From the event that wakes until code runs; spent awake.
  public var resume: Interval
  /// What wakes.
  public var wakeSources: WakeSources
  /// Alarms happen at whole multiples of this; zero for any moment.
  public var alarmResolution: Interval
  /// An alarm nearer than this, or just so near, cannot be slept for.
  public var minimum: Interval

  /// Creates figures.
  public init(
    mW: Double, resume: Interval = .zero, wakeSources: WakeSources = .all,
    alarmResolution: Interval = .zero, minimum: Interval = .zero
  ) {
    self.mW = mW
    self.resume = resume
    self.wakeSources = wakeSources
    self.alarmResolution = alarmResolution
    self.minimum = minimum
  }
}

/// What the simulation must know of the board.
public struct BoardFigures: Equatable, Sendable {
  /// Power while running code.
  public var awake_mW = 600.0
  /// Waiting for events.
  public var idle = SleepFigures(mW: 375)
  /// Suspended; nil if it cannot.
  public var suspended: SleepFigures? = SleepFigures(
    mW: 20, resume: .milliseconds(300), wakeSources: [.alarm, .batchPin, .request],
    alarmResolution: .seconds(1), minimum: .seconds(2))
  /// Powered off until an alarm; nil if it cannot.
  public var off: SleepFigures?
  /// Processor time that the service takes for what one wake brings, spent awake after the resume time.
  public var processorTimePerWake = Interval.zero
  /// How many bytes the line's driver gathers before it hands them on, unless the burst ends before.
  public var bytesPerPiece = 1
  /// Whether the board lets an epoch's bytes gather before it hands them on, as `LinuxBoard` does
  /// (`BurstTiming`).
  public var gathersEpochs = false

  /// Creates the figures of a small board that can suspend.
  public init() {}

  /// The figures of a sleep; nil if the board has it not or it is no sleep.
  public func sleep(_ state: BoardState) -> SleepFigures? {
    switch state {
    case .awake: nil
    case .idle: idle
    case .suspended: suspended
    case .off: off
    }
  }

  /// Power in one state.
  public func mW(in state: BoardState) -> Double { sleep(state)?.mW ?? awake_mW }
}

/// Everything a simulated run depends on; the same setup and track give the same run.
public struct SimulationSetup: Sendable {
  /// The receiver.
  public var receiver = ReceiverFigures()
  /// The board.
  public var board = BoardFigures()
  /// The receiver's errors.
  public var noise = SimulatedNoise.none
  /// Times to first fix are drawn from a distribution instead of being its median.
  public var samplesTimeToFirstFix = false
  /// When a motion sensor's line is active, in order and apart; nil on a board without one.
  public var motion: [Range<Instant>]?
  /// The battery it lives on; nil for a supply without end and without a gauge.
  public var battery: SimulatedBattery?
  /// What goes wrong.
  public var faults = FaultPlan()
  /// Reproduces a run.
  public var seed: UInt64 = 1
  /// Keeps a list of events for ``SimulatedBoard/takeEvents()``.
  public var recordsEvents = false
  /// Keeps every byte the receiver sent for ``SimulatedBoard/takeSentBytes()``.
  public var recordsBytes = false

  /// Creates a setup: an M10 receiver, a board that suspends, no noise, no faults.
  public init() {}
}

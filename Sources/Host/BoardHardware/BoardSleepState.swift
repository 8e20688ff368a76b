import LocationTypes

/// Events that can wake a sleeping board.
public struct WakeSources: OptionSet, Hashable, Sendable {
  /// One bit for each ``WakeReason``.
  public let rawValue: UInt8
  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// A timer, or an alarm of the real-time clock.
  public static let alarm = WakeSources(rawValue: 1)
  /// A byte on the receiver's line. Bytes that arrive in a suspend or while the board is off, and until its code runs
  /// again, are lost.
  public static let bytes = WakeSources(rawValue: 2)
  /// An edge of the receiver's batch pin.
  public static let batchPin = WakeSources(rawValue: 4)
  /// A client's request, in the simulation. A profile lists no requests for the suspended state.
  public static let request = WakeSources(rawValue: 8)
  /// An edge of the motion sensor's line.
  public static let motion = WakeSources(rawValue: 16)
  /// All sources.
  public static let all: WakeSources = [.alarm, .bytes, .batchPin, .request, .motion]
}

/// Properties of one sleep state of the board.
public struct BoardSleepState: Equatable, Sendable {
  /// Power in this state, milliwatts.
  public var power_mw: Double
  /// Time from the wake event until code runs. The board counts as awake during it.
  public var resumeTime: Interval
  /// Events that end this state.
  public var wakeSources: WakeSources
  /// Maximum delay of the alarm. In the simulation, an alarm occurs at a whole multiple of it; zero for any time.
  public var alarmResolution: Interval
  /// Minimum time until the next alarm for which this state is used; for a nearer one the board uses a lighter state.
  public var minimumDuration: Interval

  /// Creates the properties of a sleep state.
  public init(
    power_mw: Double = 0, resumeTime: Interval = .zero, wakeSources: WakeSources = .all,
    alarmResolution: Interval = .zero, minimumDuration: Interval = .zero
  ) {
    self.power_mw = power_mw
    self.resumeTime = resumeTime
    self.wakeSources = wakeSources
    self.alarmResolution = alarmResolution
    self.minimumDuration = minimumDuration
  }

  /// How long before a due time the alarm is set, so that the service runs in time.
  public var alarmLead: Interval { resumeTime + alarmResolution }
}

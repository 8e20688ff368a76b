import LocationTypes

/// Faults that a simulated run injects.
public struct FaultPlan: Equatable, Sendable {
  /// Bytes on the line that the receiver did not send.
  public struct Garbage: Equatable, Sendable {
    /// Time of the first byte.
    public var time: Instant
    /// Number of bytes, 1 to 4,096.
    public var count: Int

    /// Creates a burst of random bytes.
    public init(time: Instant, count: Int) {
      self.time = time
      self.count = min(max(count, 1), 4_096)
    }
  }

  /// A charge that the battery gauge reports regardless of the battery's actual charge.
  public struct GaugeFault: Equatable, Sendable {
    /// Start time.
    public var time: Instant
    /// Reported charge, percent.
    public var charge: UInt8

    /// Creates a gauge fault.
    public init(time: Instant, charge: UInt8) {
      self.time = time
      self.charge = charge
    }
  }

  /// Probability, 0 to 1, that the acknowledgement of an executed command is lost.
  public var acknowledgementLoss = 0.0
  /// Number of acknowledgements, from the first one, that are always lost.
  public var firstAcknowledgementsLost = 0
  /// Probability, 0 to 1, that a command does not reach the receiver.
  public var commandLoss = 0.0
  /// Times at which the receiver restarts and loses its whole configuration, including the battery-backed layer.
  public var configurationLosses: [Instant] = []
  /// Periods without usable satellite signals.
  public var signalOutages: [Range<Instant>] = []
  /// Bursts of random bytes on the line.
  public var garbage: [Garbage] = []
  /// Periods in which the receiver's device does not exist. The receiver has no power during them. The ranges must be
  /// disjoint and in ascending order.
  public var deviceAbsent: [Range<Instant>] = []
  /// Periods in which the board cannot switch the receiver's power; it keeps its state (PWR-4).
  public var supplySwitchStuck: [Range<Instant>] = []
  /// Whether half of the alarms from a deep sleep occur too early, by up to the board's alarm resolution.
  ///
  /// Linux may wake for CLOCK_BOOTTIME_ALARM up to 0.7 s early, so the woken process must check the clock.
  public var alarmsMayBeEarly = false
  /// Periods in which an M10 rejects enabling batching (NAK).
  public var batchingRejected: [Range<Instant>] = []
  /// Charges that the gauge reports, each from its time until that of the next one; in ascending order of time. With
  /// them, a board without a battery has a gauge as well.
  public var gaugeFaults: [GaugeFault] = []
  /// Periods in which an M10 rejects its power mode, like a receiver without that key (NAK).
  public var powerModeRejected: [Range<Instant>] = []
  /// Whether an M10 rejects polls of its configuration (NAK).
  public var rejectsConfigurationPoll = false
  /// Whether a u-blox receiver ignores requests for standby without an end time, as some without EXTINT do, and a
  /// receiver with sentences all requests for standby, as a CASIC whose firmware lacks the command does.
  public var ignoresUnlimitedStandby = false

  /// Creates a plan without faults.
  public init() {}
}

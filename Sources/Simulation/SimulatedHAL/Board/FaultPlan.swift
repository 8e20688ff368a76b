import LocationTypes

/// What goes wrong in a simulated run, and when.
public struct FaultPlan: Equatable, Sendable {
  /// Bytes on the line that the receiver did not send.
  public struct Garbage: Equatable, Sendable {
    /// When the first one comes.
    public var time: Instant
    /// How many, 1 to 4,096.
    public var count: Int

    /// Creates garbage.
    public init(time: Instant, count: Int) {
      self.time = time
      self.count = min(max(count, 1), 4_096)
    }
  }

  /// Something that the battery's gauge says whatever the battery holds.
  public struct GaugeFault: Equatable, Sendable {
    /// From when on.
    public var time: Instant
    /// What, percent.
    public var charge: UInt8

    /// Creates one.
    public init(time: Instant, charge: UInt8) {
      self.time = time
      self.charge = charge
    }
  }

  /// Chance, 0 to 1, that a command is obeyed and its acknowledgement lost.
  public var acknowledgementLoss = 0.0
  /// So many acknowledgements, from the first one, are lost for certain.
  public var acknowledgementsLostFirst = 0
  /// Chance, 0 to 1, that a command does not reach the receiver.
  public var commandLoss = 0.0
  /// Moments at which the receiver restarts and all its configuration is gone, backup layer too.
  public var configurationLosses: [Instant] = []
  /// Times without a usable sky.
  public var noSky: [Range<Instant>] = []
  /// Garbage on the line.
  public var garbage: [Garbage] = []
  /// Times in which the receiver's device does not exist; it has no supply then.
  public var gone: [Range<Instant>] = []
  /// Times in which the board cannot drive the supply switch: it stays as it is (PWR-4).
  public var supplySwitchStuck: [Range<Instant>] = []
  /// Half of the alarms out of a deep sleep come up to the board's alarm resolution too early.
  ///
  /// Linux wakes for CLOCK_BOOTTIME_ALARM up to 0.7 s early: whoever wakes must look at the clock.
  public var alarmsMayBeEarly = false
  /// Times in which an M10 refuses to switch batching on (NAK).
  public var batchingRefused: [Range<Instant>] = []
  /// What the gauge says from a moment on, each until the next; in order of time. A board without a
  /// battery gets a gauge by it.
  public var gauge: [GaugeFault] = []
  /// Times in which an M10 does not take its power mode, as one without that key (NAK).
  public var powerModeRefused: [Range<Instant>] = []
  /// A u-blox receiver does not obey a request for standby until woken, as some do without EXTINT; nor
  /// does a CASIC, whose firmware may not know it.
  public var ignoresEndlessStandby = false

  /// Creates a plan in which nothing goes wrong.
  public init() {}
}

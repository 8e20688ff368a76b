import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// The configuration of an engine, from the board's profile.
public struct EngineSetup: Sendable {
  /// Configuration of the receiver; nil if the board has none (DEF-1).
  public var receiver: ReceiverSetup?
  /// Parameters of the planner.
  public var parameters: PlannerParameters
  /// Which of the receiver's sentences are used.
  public var decoding = DecoderOptions()
  /// How epochs are assembled and become fixes.
  public var epochs = EpochOptions()
  /// Horizontal accuracy of a fix for which the receiver reports none, mm.
  public var assumedAccuracy_mm: Int32 = 10_000
  /// Whether the receiver is on USB or Bluetooth; its fixes are then marked as coming from an accessory (LOC-8).
  public var isAccessory = false
  /// How long a delivery keeps the board awake for its acknowledgement (RNG-8), and how long the receiver keeps its
  /// state after the end of a deferral, because the handler may start the next one (X1).
  public var deliveryHold = Interval.seconds(2)
  /// Delay between two reads while an epoch or a drain is in progress, so that one step handles more bytes.
  public var readDelay = Interval.milliseconds(10)
  /// The same delay for a receiver whose epochs end with a known message; upper bound of the latency that the delay
  /// adds to a fix.
  public var readDelayToKnownEnd = Interval.milliseconds(40)
  /// Which service levels are shed at which battery charge (PWR-10); none by default.
  public var battery = BatteryThresholds()
  /// Time without a fix after which clients receive `locationUnknown` (STD-10).
  public var locationUnknownTimeout = Interval.seconds(60)
  /// Silence after which a receiver that should send counts as not responding.
  public var receiverSilenceTimeout = Interval.seconds(5)

  /// Creates a configuration with defaults for a receiver on a UART.
  public init(receiver: ReceiverSetup?, parameters: PlannerParameters) {
    self.receiver = receiver
    self.parameters = parameters
    epochs.detectsEpochEnd = true
  }
}

extension EngineSetup {
  /// Declares that the engine's caller has an ``AidingStore`` with space for `entries` entries. This changes the setup
  /// only where it is useful: for a u-blox receiver whose supply is switched and that has no backup supply (PWR-8).
  ///
  /// - Returns: Whether it is useful; if not, the caller needs no memory.
  public mutating func enableAidingStore(entries: UInt8) -> Bool {
    guard let receiver, receiver.family.has(.databaseTransfer), receiver.hasSupplySwitch,
      parameters.canSwitchOff,
      !parameters.receiver.keepsDataWhenOff
    else { return false }
    self.receiver?.aiding = AidingSetup(
      capacity: entries, lifetime: parameters.receiver.ephemerisLifetime)
    parameters.receiver.keepsDataWhenOff = true
    parameters.receiver.saveTime = receiver.aidingSaveTime(entries: entries)
    parameters.receiver.restoreTime = receiver.aidingRestoreTime(entries: entries)
    return true
  }
}

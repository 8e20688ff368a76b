import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// All that an engine must know before it starts; comes from the board's profile.
public struct EngineSetup: Sendable {
  /// The receiver; nil where the board has none (DEF-1).
  public var receiver: ReceiverSetup?
  /// What the planner calculates with.
  public var figures: PlannerFigures
  /// What of the receiver's sentences counts.
  public var decoding = DecoderOptions()
  /// How epochs become fixes.
  public var epochs: EpochOptions
  /// Horizontal accuracy of a fix whose receiver tells none, mm.
  public var assumedAccuracy_mm: Int32
  /// The receiver is on USB or Bluetooth, and its fixes say so (LOC-8).
  public var isAccessory = false
  /// How long a delivery keeps the board awake for its acknowledgement (RNG-8), and how long
  /// after the end of a deferral nothing is torn down, for its handler may call again (X1).
  public var deliveryHold: Interval
  /// How long the board lets bytes gather once the first has come.
  public var gather: Interval
  /// The same within an epoch whose last message is known: a fix is late by it at most.
  public var gatherToEnd: Interval
  /// Which promises a low battery takes back, and when (PWR-10); none, if nothing else is said.
  public var battery = BatteryTerms()
  /// The time without a fix after which clients are told `locationUnknown` (STD-10).
  public var unknownAfter: Interval

  /// The silence after which a receiver that should talk counts as one that does not answer.
  public var receiverSilence = Interval.seconds(5)

  /// Creates a setup; what is not given is what suits a receiver on a UART.
  public init(receiver: ReceiverSetup?, figures: PlannerFigures) {
    self.receiver = receiver
    self.figures = figures
    epochs = EpochOptions()
    epochs.learnsEnd = true
    assumedAccuracy_mm = 10_000
    deliveryHold = .seconds(2)
    gather = .milliseconds(10)
    gatherToEnd = .milliseconds(40)
    unknownAfter = .seconds(60)
  }
}

extension EngineSetup {
  /// Says that the engine's owner has an ``AidingStore`` for so many entries, which changes the setup only
  /// where that is of use: with a u-blox receiver whose supply is switched, and that no backup supply feeds
  /// meanwhile (PWR-8).
  ///
  /// - Returns: Whether it is of use; else the owner needs no memory.
  public mutating func keepAiding(entries: UInt8) -> Bool {
    guard let receiver, receiver.family.isUBlox, receiver.hasSupplySwitch, figures.canSwitchOff,
      !figures.receiver.keepsDataWhenCut
    else { return false }
    self.receiver?.aiding = AidingSetup(
      capacity: entries, lifetime: figures.receiver.ephemerisLifetime)
    figures.receiver.keepsDataWhenCut = true
    figures.receiver.saving = receiver.savingTime(entries: entries)
    figures.receiver.restoring = receiver.restoringTime(entries: entries)
    return true
  }
}

import GNSSProtocols
import LocationTypes

/// Configuration of the receiver's batch buffer.
@frozen public struct BatchSetup: Equatable, Sendable {
  /// Configured buffer size in epochs, 1 to 65,535. An M10 stores up to 600 epochs without the extra fields.
  public var capacity: UInt16
  /// Whether entries contain the extra PVT fields: altitude, accuracies, satellites. An M10 then stores up to 309.
  public var extraPVT: Bool
  /// Whether the receiver's PIO for "watermark reached" is wired to the board.
  public var pioWired: Bool
  /// Number of that PIO at the receiver.
  public var pioID: UInt8
  /// Whether that PIO is active-low.
  public var pioActiveLow: Bool

  /// Creates the configuration of a buffer of `capacity` epochs, at least 1.
  public init(
    capacity: UInt16, extraPVT: Bool = true, pioWired: Bool = false, pioID: UInt8 = 0,
    pioActiveLow: Bool = false
  ) {
    precondition(capacity > 0, "a batch buffer holds at least one epoch")
    self.capacity = capacity
    self.extraPVT = extraPVT
    self.pioWired = pioWired
    self.pioID = pioID
    self.pioActiveLow = pioActiveLow
  }
}

/// Storage that the engine's caller provides for a receiver's navigation database (assistance data, PWR-8).
@frozen public struct AidingSetup: Equatable, Sendable {
  /// Maximum number of stored entries, at least 1.
  public var capacity: UInt8
  /// Age from which stored entries are not sent back.
  public var lifetime: Interval

  /// Creates a setup; the default lifetime is 4 hours.
  public init(capacity: UInt8, lifetime: Interval = .seconds(14_400)) {
    precondition(capacity > 0, "the assistance data storage needs at least one entry")
    self.capacity = capacity
    self.lifetime = lifetime
  }
}

/// Receiver and wiring, from the board's profile.
@frozen public struct ReceiverSetup: Equatable, Sendable {
  /// Receiver family.
  public var family: ReceiverFamily
  /// Baud rate of the line in operation.
  public var lineSpeed: UInt32
  /// Baud rate of the receiver without our configuration.
  public var defaultLineSpeed: UInt32
  /// Time between epochs, milliseconds, 25 to 65,535.
  public var interval_ms: UInt16
  /// Protocol of the live epochs.
  public var output: ReceiverOutput
  /// Whether EXTINT is wired, so that an edge wakes the receiver. Otherwise bytes on its RX wake it.
  public var hasWakePin: Bool
  /// Whether the board can switch the receiver's supply.
  public var hasSupplySwitch: Bool
  /// Configuration of the batch buffer; nil if it is not used.
  public var batch: BatchSetup?
  /// Whether the receiver's own duty cycle is enabled.
  public var hasPowerSave: Bool
  /// Storage for assistance data while the receiver is powered off; nil if the receiver has a backup supply, or if the
  /// data is not stored.
  public var aiding: AidingSetup?
  /// Maximum time from the end of a command's transmission to its answer.
  public var ackTimeout: Interval
  /// Time from power-on until the receiver accepts commands.
  public var powerSettle: Interval
  /// Length of the pulse on the wake pin.
  public var wakePulse: Interval
  /// Time from the wake-up edge or bytes until the receiver accepts commands.
  public var wakeSettle: Interval
  /// Whether the board may be suspended as soon as the standby command is sent (PWR-4): set it for boards that can be
  /// suspended.
  public var trustsSleep = true
  /// Writes to the receiver's flash by earlier drivers.
  public var flash = FlashRecord()

  /// Creates a setup; the defaults suit a MAX-M10S on a UART.
  public init(
    family: ReceiverFamily = .ubloxM10, lineSpeed: UInt32 = 9_600,
    defaultLineSpeed: UInt32 = 9_600, interval_ms: UInt16 = 1_000,
    output: ReceiverOutput = .ubx, hasWakePin: Bool = false, hasSupplySwitch: Bool = false,
    batch: BatchSetup? = nil, hasPowerSave: Bool = false,
    ackTimeout: Interval = .milliseconds(500),
    powerSettle: Interval = .milliseconds(300), wakePulse: Interval = .milliseconds(10),
    wakeSettle: Interval = .milliseconds(500)
  ) {
    precondition(lineSpeed > 0 && defaultLineSpeed > 0, "a baud rate must be positive")
    precondition(interval_ms >= 25, "the interval must be at least 25 ms")
    precondition(ackTimeout > .zero, "the acknowledgement timeout must be positive")
    self.family = family
    self.lineSpeed = lineSpeed
    self.defaultLineSpeed = defaultLineSpeed
    self.interval_ms = interval_ms
    self.output = output
    self.hasWakePin = hasWakePin
    self.hasSupplySwitch = hasSupplySwitch
    self.batch = batch
    self.hasPowerSave = hasPowerSave
    aiding = nil
    self.ackTimeout = ackTimeout
    self.powerSettle = powerSettle
    self.wakePulse = wakePulse
    self.wakeSettle = wakeSettle
  }
}

extension ReceiverSetup {
  /// Whether the receiver's duty cycle can be used.
  ///
  /// u-blox cyclic tracking supports periods of 0.5 s and of 1 to 10 whole seconds (integration manuals of MIA-M10Q
  /// and MAX-M10, *cyclic tracking*). Duty cycles of other makers do not output a fix at each interval, and their
  /// receivers accept no command during the off phase.
  public var canSavePower: Bool {
    let isPeriod = interval_ms == 500 || (interval_ms % 1_000 == 0 && interval_ms <= 10_000)
    return hasPowerSave && family.has(.dutyCycle) && isPeriod
  }
}

extension ReceiverSetup {
  /// Typical number of navigation database entries, and their typical size in bytes, with four GNSS in view. The
  /// maxima are over 100 entries and 172 bytes.
  static let typicalEntries: Int64 = 40
  static let typicalEntryBytes: Int64 = 100
  /// Typical time from a message to its answer, without the transmission time.
  static let typicalAnswerTime = Interval.milliseconds(25)

  /// Typical time to read out the receiver's navigation database into a storage of this capacity.
  public func aidingSaveTime(entries: UInt8) -> Interval {
    ReceiverSetup.typicalAnswerTime * 2
      + DriverTimeouts.transmissionTime(
        typicalCount(entries) * ReceiverSetup.typicalEntryBytes, at: lineSpeed)
  }

  /// Typical time to send stored entries back, each with its 16-byte answer.
  public func aidingRestoreTime(entries: UInt8) -> Interval {
    let timePerEntry =
      DriverTimeouts.transmissionTime(ReceiverSetup.typicalEntryBytes + 16, at: lineSpeed)
    // Two more messages: the request for acknowledgements, and the time.
    return (timePerEntry + ReceiverSetup.typicalAnswerTime) * (typicalCount(entries) + 2)
  }

  private func typicalCount(_ entries: UInt8) -> Int64 {
    min(Int64(entries), ReceiverSetup.typicalEntries)
  }
}

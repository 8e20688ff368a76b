import LocationTypes

/// Which receiver sits on the line, as far as commands go.
@frozen public enum ReceiverFamily: UInt8, Sendable {
  /// Streams by itself and takes no commands: plain NMEA parts, recordings.
  case passive = 0
  /// u-blox M10 with CFG-VALSET and data batching (protocol 34 and later).
  case ubloxM10 = 1
  /// u-blox 8 and M8 with a CFG message for each matter; data batching from protocol 23.01 on.
  case ubloxM8 = 2
  /// MediaTek MT3333 and MT3339, with `$PMTK` sentences.
  case mtk = 3
  /// Airoha AG3335 and AG3352, with `$PAIR` sentences.
  case airoha = 4
  /// CASIC AT6558 and kin, with `$PCAS` sentences.
  case casic = 5

  /// Whether it is spoken to in UBX.
  @inlinable public var isUBlox: Bool {
    switch self {
    case .ubloxM8, .ubloxM10: true
    case .passive, .mtk, .airoha, .casic: false
    }
  }
}

/// Which protocol carries the live epochs.
@frozen public enum ReceiverOutput: UInt8, Sendable {
  /// UBX-NAV-PVT: one frame per epoch, NMEA switched off.
  case ubx = 0
  /// The receiver's NMEA sentences; commands and batches are UBX all the same.
  case nmea = 1
}

/// How the receiver's own batch buffer is used.
@frozen public struct BatchSetup: Equatable, Sendable {
  /// Epochs the buffer is told to hold, 1 to 65,535; 600 fit an M10 without the extra fields.
  public var capacity: UInt16
  /// Ask for the extra PVT fields: altitude, accuracies, satellites; 309 epochs fit an M10 then.
  public var extraPVT: Bool
  /// The receiver's PIO that says "watermark reached" is wired to the board.
  public var pioWired: Bool
  /// Which PIO of the receiver that is.
  public var pioID: UInt8
  /// The PIO is low, not high, while the watermark is reached.
  public var pioActiveLow: Bool

  /// Creates a setup of a buffer of `capacity` epochs.
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

/// Memory of the driver's owner for what a receiver knows of the sky (PWR-8).
@frozen public struct AidingSetup: Equatable, Sendable {
  /// How many entries of its navigation database there is room for, at least 1.
  public var capacity: UInt8
  /// Age at which they are of no more use.
  public var lifetime: Interval

  /// Creates a setup.
  public init(capacity: UInt8, lifetime: Interval = .seconds(14_400)) {
    precondition(capacity > 0, "room for no entry is no memory")
    self.capacity = capacity
    self.lifetime = lifetime
  }
}

/// All that a driver must know of the receiver and its wiring; comes from the board's profile.
@frozen public struct ReceiverSetup: Equatable, Sendable {
  /// Which commands it understands.
  public var family: ReceiverFamily
  /// Speed at which the line is to run, baud.
  public var lineSpeed: UInt32
  /// Speed at which the receiver talks after it has lost its configuration, baud.
  public var defaultLineSpeed: UInt32
  /// Time between epochs, milliseconds, 25 to 65,535.
  public var interval_ms: UInt16
  /// What carries the live epochs.
  public var output: ReceiverOutput
  /// EXTINT is wired: an edge wakes the receiver. Else bytes on its RX do.
  public var hasWakePin: Bool
  /// The board can switch the receiver's supply.
  public var hasSupplySwitch: Bool
  /// The receiver's own buffer; nil where it is not to be used.
  public var batch: BatchSetup?
  /// It has a duty cycle of its own, which is to be used.
  public var hasPowerSave: Bool
  /// Where what it knows of the sky is kept while its supply is cut; nil where nobody keeps it, or a
  /// backup supply does.
  public var aiding: AidingSetup?
  /// How long an answer may take once the command has left.
  public var ackTimeout: Interval
  /// From supply on until the receiver takes commands.
  public var powerSettle: Interval
  /// Length of the pulse on the wake pin.
  public var wakePulse: Interval
  /// From the wake-up edge or bytes until the receiver takes commands.
  public var wakeSettle: Interval

  /// Creates a setup; what is not given is what a MAX-M10S on a UART wants.
  public init(
    family: ReceiverFamily = .ubloxM10, lineSpeed: UInt32 = 9_600,
    defaultLineSpeed: UInt32 = 9_600, interval_ms: UInt16 = 1_000,
    output: ReceiverOutput = .ubx, hasWakePin: Bool = false, hasSupplySwitch: Bool = false,
    batch: BatchSetup? = nil, hasPowerSave: Bool = false,
    ackTimeout: Interval = .milliseconds(500),
    powerSettle: Interval = .milliseconds(300), wakePulse: Interval = .milliseconds(10),
    wakeSettle: Interval = .milliseconds(500)
  ) {
    precondition(lineSpeed > 0 && defaultLineSpeed > 0, "a line has a speed")
    precondition(interval_ms >= 25, "the receiver navigates at most 40 times a second")
    precondition(ackTimeout > .zero, "an answer takes time")
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
  /// Whether the duty cycle can be used: u-blox's cyclic tracking knows periods of 0.5 s and of whole
  /// seconds up to ten (integration manuals of MIA-M10Q and MAX-M10, *cyclic tracking*). Those of
  /// other makers give no fix at each interval, and hear no command while they are off.
  public var canSavePower: Bool {
    let isPeriod = interval_ms == 500 || (interval_ms % 1_000 == 0 && interval_ms <= 10_000)
    return hasPowerSave && family.isUBlox && isPeriod
  }
}

extension ReceiverSetup {
  /// Entries of a navigation database, as they are usually: some 40 of 100 bytes for four systems in the
  /// sky; 172 bytes and over a hundred at the most.
  static let usualEntries: Int64 = 40
  static let usualEntryBytes: Int64 = 100
  /// From a message until it is answered, beside the time on the line.
  static let usualAnswer = Interval.milliseconds(25)

  /// How long reading out what the receiver knows takes, usually, where there is room for so many entries.
  public func savingTime(entries: UInt8) -> Interval {
    ReceiverSetup.usualAnswer * 2
      + Patience.transmission(usual(entries) * ReceiverSetup.usualEntryBytes, at: lineSpeed)
  }

  /// How long giving it back takes, usually, each entry with its answer of 16 bytes.
  public func restoringTime(entries: UInt8) -> Interval {
    let each = Patience.transmission(ReceiverSetup.usualEntryBytes + 16, at: lineSpeed)
    // Two messages more: that answers are wanted, and the time.
    return (each + ReceiverSetup.usualAnswer) * (usual(entries) + 2)
  }

  private func usual(_ entries: UInt8) -> Int64 {
    min(Int64(entries), ReceiverSetup.usualEntries)
  }
}

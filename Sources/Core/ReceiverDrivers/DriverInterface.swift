import GNSSProtocols
import LocationTypes

// Interface between the engine and a receiver driver: goals and events in, effects, observations and status out.

/// Input of a driver.
public enum DriverEvent: Sendable {
  /// The engine sets a new goal, which replaces the previous one. Allowed at any time.
  case goal(ReceiverMode)
  /// The engine requests all epochs in the receiver's batch buffer.
  case drain
  /// The engine uses satellites in view from a receiver that tracks, or no longer uses them.
  case satellites(Bool)
  /// The receiver sent a message. Precedes ``ReceiverDriver/admit(_:at:)`` of its epoch.
  case message(GNSSMessage)
  /// The driver's deadline expired.
  case deadline
  /// The receiver asserted its batch pin.
  case batchPin
  /// The serial line was disconnected, or a write to it failed.
  case lineFault
  /// A pin could not be driven. Arrives before the next deadline (PWR-4).
  case pinFault(OutputPin)
}

/// Report of a driver to the engine.
@frozen public enum DriverObservation: Equatable, Sendable {
  /// Nothing to report.
  case none
  /// The receiver reached this goal. Reported once for each `.goal` and after each recovery.
  case reached(ReceiverMode)
  /// Every epoch that was in the batch buffer at the time of the drain request was delivered.
  ///
  /// One report answers all drain requests since the last `.drained`.
  case drained
  /// The receiver does not answer; the driver keeps retrying (DEF-43). Ends a pending drain.
  case lost
  /// The receiver works again, after `.lost` or after a loss of its configuration.
  case recovered
  /// The receiver does not support this goal, or has rejected it, and tracks instead.
  case refused(ReceiverMode)
}

/// Output of a driver. Execute it in this order: pin, line speed, the bytes of `outgoing`, aiding.
@frozen public struct DriverEffects: Equatable, Sendable {
  /// Pin to set.
  public var pin: PinCommand?
  /// Baud rate to set on the host's serial port before the write; nil for no change.
  public var lineSpeed: UInt32?
  /// Operation on the stored assistance data.
  public var aiding = AidingOperation.none
  /// Report to the engine. Further reports follow one per step; `deadline` is then the current time.
  public var observation = DriverObservation.none

  /// Creates empty effects.
  @inlinable public init() {}
}

/// Current activity of a receiver, as far as its driver can determine it.
@frozen public enum ReceiverActivity: UInt8, Sendable {
  /// Powered off.
  case off = 0
  /// Asleep, or falling asleep.
  case standby = 1
  /// Being woken and configured.
  case starting = 2
  /// Tracking, sending epochs.
  case running = 3
  /// Tracking with its own duty cycle, sending epochs.
  case powersave = 4
  /// Tracking, storing epochs in its batch buffer.
  case batching = 5
  /// Not answering.
  case lost = 6
}

/// Decision of a driver about an epoch from the decoder.
@frozen public enum Admission: UInt8, Sendable {
  /// Use the epoch now.
  case accept = 0
  /// The driver holds the epoch. `nextReleasedEpoch()` returns it later, unless the batch buffer contains it, too.
  case hold = 1
  /// Discard the epoch: a duplicate, or measured without our configuration (PWR-6).
  case drop = 2
}

/// State of a driver that the engine needs between two events.
@frozen public struct DriverStatus: Equatable, Sendable {
  /// Current activity of the receiver, as far as known.
  public var activity: ReceiverActivity
  /// Time at which the driver must be stepped with `.deadline`; nil if it waits for other events only.
  public var deadline: Instant?
  /// Whether `outgoing` is not empty; cheaper than encoding it.
  public var hasOutgoing: Bool
  /// Whether no command is in flight, so that the board may sleep until `deadline`.
  public var isQuiescent: Bool
  /// Whether the receiver's batch buffer may contain epochs that were not drained.
  public var mayBufferFixes: Bool
  /// Whether a drain of the batch buffer is in progress.
  public var isDraining: Bool
  /// Whether `nextReleasedEpoch()` may return an epoch.
  public var hasReleasedEpoch: Bool
  /// Number of batch entries that follow the one being handled. Each was measured at least one interval after the
  /// previous one.
  public var remainingEntries: Int
  /// Whether the receiver sends epochs, which are accepted, but answers no commands (PWR-12).
  public var isStreaming: Bool
  /// Time at which the board must be awake to observe a receiver that was trusted to sleep (PWR-4); nil if it need not.
  public var sleepCheck: Instant?
}

/// Event counters of a driver since its creation; each saturates at its maximum.
@frozen public struct DriverCounters: Equatable, Sendable {
  /// Commands sent, including repetitions.
  public var commands: UInt32 = 0
  /// Commands sent again after a timeout.
  public var repeats: UInt32 = 0
  /// Commands that the receiver rejected (NAK).
  public var refusals: UInt32 = 0
  /// Times the driver declared the receiver lost.
  public var losses: UInt32 = 0
  /// Times the receiver was found without our configuration.
  public var configurationsLost: UInt32 = 0
  /// Times the receiver did not fall asleep, or woke unexpectedly.
  public var failedStandbys: UInt32 = 0
  /// Batch entries received.
  public var batchEntries: UInt32 = 0
  /// Batch entries that the receiver sent but that did not arrive intact: gaps in `msgCnt`.
  public var batchEntriesMissing: UInt32 = 0
  /// Epochs that the receiver dropped because its batch buffer was full (UBX-MON-BATCH).
  public var batchDrops: UInt32 = 0
  /// Epochs that the driver dropped because they were already delivered.
  public var duplicates: UInt32 = 0
  /// Live epochs that arrived while the receiver was not configured (PWR-6).
  public var unconfiguredEpochs: UInt32 = 0
  /// Entries of the receiver's navigation database that were stored.
  public var aidingStored: UInt32 = 0
  /// Stored entries that the receiver accepted back.
  public var aidingRestored: UInt32 = 0

  /// Creates counters at zero.
  @inlinable public init() {}
}

#if REACHED
  extension DriverEvent {
    static let columns =
      "goal drain message deadline batchPin lineFault wakeFault supplyFault satellites"

    var column: Int {
      switch self {
      case .goal: 0
      case .drain: 1
      case .message: 2
      case .deadline: 3
      case .batchPin: 4
      case .lineFault: 5
      case .pinFault(.receiverWake): 6
      case .pinFault(.receiverSupply): 7
      case .satellites: 8
      }
    }
  }
#endif

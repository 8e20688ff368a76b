import GNSSProtocols
import LocationTypes

// What the engine and a driver say to each other.

/// What the engine wants of the receiver.
@frozen public enum ReceiverGoal: Equatable, Sendable {
  /// The least that wiring allows: supply cut, else standby.
  case off
  /// Asleep, with what makes the next start short kept.
  case standby
  /// Awake, every epoch sent as it is made.
  case tracking
  /// The same in the receiver's own duty cycle: cheaper and less accurate.
  case powersave
  /// Awake, epochs kept in the receiver's own buffer; the pin rises at `watermark` entries.
  case batching(watermark: UInt16)
}

/// What happens to a driver.
public enum DriverEvent: Sendable {
  /// The engine wants this from now on; the latest goal wins, at any moment.
  case goal(ReceiverGoal)
  /// The engine wants everything that the receiver has buffered.
  case drain
  /// The receiver said something. Comes before ``ReceiverDriver/admit(_:at:)`` of its epoch.
  case message(GNSSMessage)
  /// The driver's deadline has come.
  case deadline
  /// The receiver's batch pin rose.
  case batchPin
  /// The line went away, or could not take what was written.
  case lineFault
  /// A pin could not be driven; comes before the next deadline (PWR-4).
  case pinFault(OutputPin)
}

/// What a driver has to tell.
@frozen public enum DriverObservation: Equatable, Sendable {
  /// Nothing.
  case none
  /// The receiver does what this goal asks; told once for each `.goal` and after each recovery.
  case settled(ReceiverGoal)
  /// All that was buffered when the drain was asked for has been handed on.
  ///
  /// Told once for the drains that were asked for since the last `.drained`.
  case drained
  /// The receiver does not answer; the driver keeps trying (DEF-43). Ends a drain that was asked for.
  case lost
  /// The receiver does its work again, after `.lost` or after it had lost its configuration.
  case recovered
  /// The receiver cannot do this; it does the nearest it can: tracking for batching and powersave.
  case refused(ReceiverGoal)
}

/// What a driver wants done, in this order: pin, line speed, then the bytes of `outgoing`.
@frozen public struct DriverEffects: Equatable, Sendable {
  /// A line to drive first.
  public var pin: PinCommand?
  /// Set the line to this speed, baud, before writing.
  public var lineSpeed: UInt32?
  /// What is to be done with the memory of the receiver's navigation database, after the bytes.
  public var aiding = AidingWork.none
  /// What there is to tell; several come one step after the other, `deadline` being now.
  public var observation: DriverObservation

  /// No effect at all.
  @inlinable public init() {
    pin = nil
    lineSpeed = nil
    observation = .none
  }
}

/// What a receiver does, as far as its driver knows.
@frozen public enum ReceiverActivity: UInt8, Sendable {
  /// Its supply is cut.
  case off = 0
  /// Asleep, or about to be.
  case standby = 1
  /// It is being woken and configured.
  case starting = 2
  /// It runs and sends what it works out.
  case running = 3
  /// The same in its own duty cycle.
  case saving = 4
  /// It runs and keeps what it works out in its own buffer.
  case batching = 5
  /// It does not answer.
  case lost = 6
}

/// What becomes of an epoch that the decoder produced.
@frozen public enum Admission: UInt8, Sendable {
  /// It counts: use it now.
  case accept = 0
  /// The driver keeps it; it comes back through `nextHeld()`, or not, if the buffer has it too.
  case hold = 1
  /// It does not count: a duplicate, or made without our configuration (PWR-6).
  case drop = 2
}

/// What whoever owns a driver must know of it between two events.
@frozen public struct DriverStatus: Equatable, Sendable {
  /// What the receiver does, as far as is known.
  public var activity: ReceiverActivity
  /// When it must be stepped with `.deadline`; nil when only events move it.
  public var deadline: Instant?
  /// Whether there is anything in `outgoing`; cheaper than making it.
  public var hasOutgoing: Bool
  /// Whether nothing is in flight, so that the board may sleep until `deadline`.
  public var isSettled: Bool
  /// Whether the receiver may hold fixes that have not been drained.
  public var buffersFixes: Bool
  /// Whether the receiver's buffer is being emptied.
  public var isDraining: Bool
  /// Whether `nextHeld()` may have an epoch.
  public var hasHeld: Bool
  /// How many entries of the receiver's buffer come after the one that is being handled: each was
  /// made an interval or more after the one before.
  public var entriesBehind: Int
  /// Whether the receiver sends epochs, which are accepted, and answers no command (PWR-12).
  public var isStreaming: Bool
}

/// What has happened to a driver since it was made; each counter stops at its largest value.
@frozen public struct DriverCounters: Equatable, Sendable {
  /// Commands sent, repetitions included.
  public var commands: UInt32 = 0
  /// Commands sent again because no answer came.
  public var repeats: UInt32 = 0
  /// Commands the receiver refused (NAK).
  public var refusals: UInt32 = 0
  /// Times the receiver was given up as lost.
  public var losses: UInt32 = 0
  /// Times the receiver was found without its configuration.
  public var configurationsLost: UInt32 = 0
  /// Times the receiver did not go to sleep, or woke by itself.
  public var failedStandbys: UInt32 = 0
  /// Batch entries handed on.
  public var batchEntries: UInt32 = 0
  /// Batch entries that were sent but did not arrive whole: gaps in msgCnt.
  public var batchEntriesMissing: UInt32 = 0
  /// Epochs the receiver itself dropped because its buffer was full (MON-BATCH).
  public var batchDrops: UInt32 = 0
  /// Epochs not admitted because they had been handed on before.
  public var duplicates: UInt32 = 0
  /// Live epochs not admitted because the receiver was not configured (PWR-6).
  public var unconfigured: UInt32 = 0
  /// Entries of the receiver's navigation database that were handed out to be kept.
  public var aidingKept: UInt32 = 0
  /// Entries that it took back.
  public var aidingGiven: UInt32 = 0

  /// Creates counters at zero.
  @inlinable public init() {}
}

#if REACHED
  extension DriverEvent {
    static let columns = "goal drain message deadline batchPin lineFault wakeFault supplyFault"

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
      }
    }
  }
#endif

import GNSSProtocols
import LocationTypes

/// A driver of whichever family the profile names.
///
/// Use: `handle` each event; execute the effects (pin, then line speed, then write `outgoing`, which
/// the next `handle` clears); call `nextHeld()` until nil; look at `deadline`. An epoch is asked for
/// by `admit` after its message was handled. Holds both drivers, so that a step moves no memory.
public struct ReceiverDriver: Sendable {
  private let family: ReceiverFamily
  private var ubloxM10: UBloxM10Driver
  private var passive: PassiveDriver

  /// Creates the driver of the setup's family.
  public init(_ setup: ReceiverSetup) {
    family = setup.family
    ubloxM10 = UBloxM10Driver(setup)
    passive = PassiveDriver(setup)
  }

  /// When it must be stepped with `.deadline`; nil when only events move it.
  public var deadline: Instant? {
    switch family {
    case .ubloxM10: ubloxM10.deadline
    case .passive: passive.deadline
    }
  }

  /// Whether there is anything in `outgoing`; cheaper than making it.
  public var hasOutgoing: Bool {
    switch family {
    case .ubloxM10: ubloxM10.hasOutgoing
    case .passive: passive.hasOutgoing
    }
  }

  /// Bytes to write now; cleared by the next `handle`.
  public var outgoing: FrameBuffer {
    switch family {
    case .ubloxM10: ubloxM10.outgoing
    case .passive: passive.outgoing
    }
  }

  /// Whether the receiver may hold fixes that have not been drained.
  public var buffersFixes: Bool {
    switch family {
    case .ubloxM10: ubloxM10.buffersFixes
    case .passive: passive.buffersFixes
    }
  }

  /// Whether nothing is in flight, so that the board may sleep until `deadline`.
  public var isSettled: Bool {
    switch family {
    case .ubloxM10: ubloxM10.isSettled
    case .passive: passive.isSettled
    }
  }

  /// Whether the receiver's buffer is being emptied.
  public var isDraining: Bool {
    switch family {
    case .ubloxM10: ubloxM10.isDraining
    case .passive: passive.isDraining
    }
  }

  /// How many entries of the receiver's buffer come after the one that is being handled: each was
  /// made an interval or more after the one before.
  public var entriesBehind: Int {
    switch family {
    case .ubloxM10: ubloxM10.entriesBehind
    case .passive: passive.entriesBehind
    }
  }

  /// What has happened so far.
  public var counters: DriverCounters {
    switch family {
    case .ubloxM10: ubloxM10.counters
    case .passive: passive.counters
    }
  }

  /// Takes an event in and gives what is to be done; O(1).
  public mutating func handle(_ event: DriverEvent, at now: Instant) -> DriverEffects {
    switch family {
    case .ubloxM10: ubloxM10.handle(event, at: now)
    case .passive: passive.handle(event, at: now)
    }
  }

  /// What to do with an epoch that the decoder produced, as the assembler gave it.
  public mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    switch family {
    case .ubloxM10: ubloxM10.admit(epoch, at: now)
    case .passive: passive.admit(epoch, at: now)
    }
  }

  /// The next epoch that was held and is free now, oldest first.
  public mutating func nextHeld() -> Epoch? {
    switch family {
    case .ubloxM10: ubloxM10.nextHeld()
    case .passive: passive.nextHeld()
    }
  }
}

import GNSSProtocols
import LocationTypes

/// A driver of whichever family the profile names.
///
/// Use: `handle` each event; execute the effects (pin, then line speed, then write `outgoing`, which
/// the next `handle` clears); call `nextHeld()` until nil; look at ``status``. An epoch is asked for
/// by `admit` after its message was handled. Holds both drivers, so that a step moves no memory.
public struct ReceiverDriver: ~Copyable, Sendable {
  private let family: ReceiverFamily
  /// Whether what the receiver says can mean anything to it: to a receiver that takes no commands there
  /// is nothing to say, and ``DriverEvent/message(_:)`` may be left out.
  public let hearsMessages: Bool
  private var ubloxM10: UBloxM10Driver
  private var passive: PassiveDriver
  /// What its owner must know of it; made anew by each of the calls that change it.
  ///
  /// It is kept and not computed, for whoever looks from another module would copy the whole driver
  /// for each look.
  public private(set) var status: DriverStatus

  /// Creates the driver of the setup's family.
  public init(_ setup: ReceiverSetup) {
    family = setup.family
    hearsMessages = setup.family != .passive
    ubloxM10 = UBloxM10Driver(setup)
    passive = PassiveDriver(setup)
    switch family {
    case .ubloxM10: status = ubloxM10.status
    case .passive: status = passive.status
    }
  }

  /// Bytes to write now; cleared by the next `handle`.
  public var outgoing: FrameBuffer {
    switch family {
    case .ubloxM10: ubloxM10.outgoing
    case .passive: passive.outgoing
    }
  }

  /// What the receiver does, as far as is known.
  public var activity: ReceiverActivity {
    switch family {
    case .ubloxM10: ubloxM10.activity
    case .passive: passive.activity
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
    case .ubloxM10:
      let effects = ubloxM10.handle(event, at: now)
      status = ubloxM10.status
      return effects
    case .passive:
      let effects = passive.handle(event, at: now)
      status = passive.status
      return effects
    }
  }

  /// What to do with an epoch that the decoder produced, as the assembler gave it.
  public mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    switch family {
    case .ubloxM10:
      let admission = ubloxM10.admit(epoch, at: now)
      status = ubloxM10.status
      return admission
    case .passive: return passive.admit(epoch, at: now)
    }
  }

  /// The next epoch that was held and is free now, oldest first.
  public mutating func nextHeld() -> Epoch? {
    guard status.hasHeld else { return nil }
    switch family {
    case .ubloxM10:
      let epoch = ubloxM10.nextHeld()
      status = ubloxM10.status
      return epoch
    case .passive: return passive.nextHeld()
    }
  }
}

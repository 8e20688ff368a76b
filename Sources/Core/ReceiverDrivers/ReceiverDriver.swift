import GNSSProtocols
import LocationTypes

/// A driver of whichever family the profile names.
///
/// Use: `handle` each event; execute the effects (pin, then line speed, then write `outgoing`, which
/// the next `handle` clears); call `nextHeld()` until nil; look at ``status``. An epoch is asked for
/// by `admit` after its message was handled. Holds a driver of each kind, so that a step
/// moves no memory.
public struct ReceiverDriver: ~Copyable, Sendable {
  private let family: ReceiverFamily
  /// Whether what the receiver says can mean anything to it: to a receiver that takes no commands there
  /// is nothing to say, and ``DriverEvent/message(_:)`` may be left out.
  public let hearsMessages: Bool
  private var ublox: UBloxDriver
  private var sentences: SentenceDriver
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
    ublox = UBloxDriver(setup)
    sentences = SentenceDriver(setup)
    passive = PassiveDriver(setup)
    switch family {
    case .ubloxM8, .ubloxM10: status = ublox.status
    case .mtk, .airoha, .casic: status = sentences.status
    case .passive: status = passive.status
    }
  }

  /// Bytes to write now; cleared by the next `handle`.
  public var outgoing: FrameBuffer {
    switch family {
    case .ubloxM8, .ubloxM10: ublox.outgoing
    case .mtk, .airoha, .casic: sentences.outgoing
    case .passive: passive.outgoing
    }
  }

  /// What has happened so far.
  public var counters: DriverCounters {
    switch family {
    case .ubloxM8, .ubloxM10: ublox.counters
    case .mtk, .airoha, .casic: sentences.counters
    case .passive: passive.counters
    }
  }

  /// Takes an event in and gives what is to be done; O(1).
  public mutating func handle(_ event: DriverEvent, at now: Instant) -> DriverEffects {
    switch family {
    case .ubloxM8, .ubloxM10:
      let effects = ublox.handle(event, at: now)
      status = ublox.status
      return effects
    case .mtk, .airoha, .casic:
      let effects = sentences.handle(event, at: now)
      status = sentences.status
      return effects
    case .passive:
      let effects = passive.handle(event, at: now)
      status = passive.status
      return effects
    }
  }

  /// Tells where UTC lies on the boot clock, µs of UTC at its zero: a receiver that was cut off is told
  /// the time by it (PWR-8). Never told, it is given nothing back.
  public mutating func setClock(bootUTC_us: Int64) { ublox.aiding.bootUTC_us = bootUTC_us }

  /// Notes that an earlier run of the service may have left fixes in the receiver's buffer, which somebody is owed. To be
  /// called before the first event.
  public mutating func expectBufferedFixes() {
    switch family {
    case .ubloxM8, .ubloxM10:
      ublox.expectBufferedFixes()
      status = ublox.status
    case .mtk, .airoha, .casic, .passive: break
    }
  }

  /// What to do with an epoch that the decoder produced, as the assembler gave it.
  public mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    switch family {
    case .ubloxM8, .ubloxM10:
      let admission = ublox.admit(epoch, at: now)
      status = ublox.status
      return admission
    case .mtk, .airoha, .casic: return sentences.admit(epoch, at: now)
    case .passive: return passive.admit(epoch, at: now)
    }
  }

  /// The next epoch that was held and is free now, oldest first.
  public mutating func nextHeld() -> Epoch? {
    guard status.hasHeld else { return nil }
    switch family {
    case .ubloxM8, .ubloxM10:
      let epoch = ublox.nextHeld()
      status = ublox.status
      return epoch
    case .mtk, .airoha, .casic: return nil
    case .passive: return passive.nextHeld()
    }
  }
}

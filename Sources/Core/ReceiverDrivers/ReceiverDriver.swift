import GNSSProtocols
import LocationTypes

/// Driver for the receiver family in the board's profile: configures, wakes, drains and powers off the receiver.
///
/// Use: call `handle` for each event; execute the effects (pin, line speed, then write `outgoing`, which the next
/// `handle` clears); call `nextReleasedEpoch()` until it returns nil; read ``status``. For each decoded epoch, call
/// `admit` after `handle` of its message. Stores one driver of each kind instead of an enum with payloads, so that a
/// step copies no driver.
public struct ReceiverDriver: ~Copyable, Sendable {
  private let family: ReceiverFamily
  /// Whether the driver uses ``DriverEvent/message(_:)``. If false, the caller may omit these events.
  public let usesMessages: Bool
  private var ublox: UBloxDriver
  private var sentences: SentenceDriver
  private var passive: PassiveDriver
  /// Current status, updated by every mutating method.
  ///
  /// Stored, because the engine reads it several times in a step.
  public private(set) var status: DriverStatus

  /// Creates a driver for the receiver family in `setup`.
  public init(_ setup: ReceiverSetup) {
    family = setup.family
    usesMessages = setup.family != .passive
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

  /// Event counters since creation.
  public var counters: DriverCounters {
    switch family {
    case .ubloxM8, .ubloxM10: ublox.counters
    case .mtk, .airoha, .casic: sentences.counters
    case .passive: passive.counters
    }
  }

  /// Handles an event and returns the effects to execute. O(1).
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

  /// Sets UTC at the zero of the boot clock, in µs since 1970. The driver sends the time to a receiver that was
  /// powered off (PWR-8). Without it, the driver restores no assistance data.
  public mutating func setClock(bootUTC_us: Int64) { ublox.aiding.bootUTC_us = bootUTC_us }

  /// Records that an earlier run of the service may have left undelivered fixes in the receiver's batch buffer. Call it
  /// before the first event.
  public mutating func expectBufferedFixes() {
    switch family {
    case .ubloxM8, .ubloxM10:
      ublox.expectBufferedFixes()
      status = ublox.status
    case .mtk, .airoha, .casic, .passive: break
    }
  }

  /// Decides whether an epoch from the assembler is accepted, held or dropped.
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

  /// Removes and returns the oldest held epoch that is released; nil if none is.
  public mutating func nextReleasedEpoch() -> Epoch? {
    guard status.hasReleasedEpoch else { return nil }
    switch family {
    case .ubloxM8, .ubloxM10:
      let epoch = ublox.nextReleasedEpoch()
      status = ublox.status
      return epoch
    case .mtk, .airoha, .casic: return nil
    case .passive: return passive.nextReleasedEpoch()
    }
  }
}
